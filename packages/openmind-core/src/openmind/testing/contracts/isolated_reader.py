"""The promises of `IsolatedReader`."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest
from attrs import evolve

from openmind.domain.errors import OpenMindError
from openmind.domain.files import FileReason
from openmind.domain.recognition import PageNews, PageText
from openmind.ports.isolated_reader import IsolatedReader, ReadOutcome, ReadRequest


class Enough(Exception):
    """What a caller raises that has lost interest."""


def wait() -> None:
    """Have nothing else to do."""


def stop() -> None:
    raise Enough


def ignore(ticket: int, news: PageNews) -> None:
    """Let pages go by."""


def read(reader: IsolatedReader, *requests: ReadRequest) -> list[ReadOutcome]:
    return list(reader.read(requests, while_waiting=wait, recognised=ignore))


def numbered(request: ReadRequest, number: int) -> list[ReadRequest]:
    return [evolve(request, ticket=ticket) for ticket in range(number, 0, -1)]


class IsolatedReaderContract:
    """Subclass in an adapter's tests and give the fixtures; every promise is checked.

    `reader` may serve all tests, one after the other. `closable` is one of its own for each test. `good` asks for a
    file with text; `deadly` for files that crash, hang and swell; `scan` for one with several pages that OCR reads.
    """

    def test_no_requests_no_outcomes(self, reader: IsolatedReader) -> None:
        assert read(reader) == []

    def test_a_file_comes_back_with_its_text(self, reader: IsolatedReader, good: ReadRequest) -> None:
        [outcome] = read(reader, good)

        assert outcome.ticket == good.ticket
        assert outcome.reason is FileReason.OK
        assert outcome.document is not None
        assert any(segment.text for segment in outcome.document.segments)

    def test_what_kills_its_reader_ends_that_one_file_with_a_reason(
        self, reader: IsolatedReader, good: ReadRequest, deadly: Sequence[ReadRequest]
    ) -> None:
        asked = [evolve(each, ticket=100 - at) for at, each in enumerate([good, *deadly, good])]

        first, *ended, last = outcomes = read(reader, *asked)

        assert [outcome.ticket for outcome in outcomes] == [request.ticket for request in asked]
        for outcome in (first, last):
            assert outcome.document is not None
            assert outcome.document.facts.reason is FileReason.OK
        for outcome in ended:
            if outcome.document is None:
                assert outcome.reason is not FileReason.OK
                assert outcome.message
            else:
                assert outcome.document.facts.reason is FileReason.PARTIAL
                assert outcome.document.facts.note

    def test_requests_are_read_by_the_calling_thread(self, reader: IsolatedReader, good: ReadRequest) -> None:
        readers: set[int] = set()

        def requests() -> Iterator[ReadRequest]:
            for request in numbered(good, 20):
                readers.add(threading.get_ident())
                yield request

        outcomes = list(reader.read(requests(), while_waiting=wait, recognised=ignore))

        assert [outcome.ticket for outcome in outcomes] == list(range(20, 0, -1))
        assert readers == {threading.get_ident()}

    def test_pages_are_told_by_the_calling_thread_before_the_outcome(
        self, reader: IsolatedReader, scan: ReadRequest
    ) -> None:
        told: list[tuple[int, int, PageNews]] = []

        def hear(ticket: int, news: PageNews) -> None:
            told.append((threading.get_ident(), ticket, news))

        asked = numbered(scan, 3)
        for outcome in reader.read(asked, while_waiting=wait, recognised=hear):
            of_this = [news for _, ticket, news in told if ticket == outcome.ticket]
            texts = [news.read.text for news in of_this if news.read]
            assert outcome.document is not None
            assert texts == [segment.text for segment in outcome.document.segments]
            assert [news.read is None for news in of_this] == [True, False] * len(texts)
            assert texts

        heard = len(told)
        assert {thread for thread, _, _ in told} == {threading.get_ident()}
        assert {ticket for _, ticket, _ in told} == {request.ticket for request in asked}
        read(reader, scan)
        assert len(told) == heard

    def test_a_page_that_is_known_is_told_and_not_read_again(self, reader: IsolatedReader, scan: ReadRequest) -> None:
        before = self.pages(reader, scan)
        corrected = tuple(evolve(page, text=f"{page.text}, as it was read") for page in before)

        assert self.pages(reader, evolve(scan, recognised=corrected)) == list(corrected)

    def test_a_file_that_needs_recognition_is_put_off_when_that_is_wished(
        self, reader: IsolatedReader, scan: ReadRequest, good: ReadRequest
    ) -> None:
        put_off, whole = read(reader, evolve(scan, defer_ocr=True), evolve(good, defer_ocr=True))

        assert put_off.deferred
        assert put_off.document is None
        assert not whole.deferred
        assert whole.document is not None

    def test_nothing_is_recognised_where_that_is_not_allowed(self, reader: IsolatedReader, scan: ReadRequest) -> None:
        assert self.pages(reader, evolve(scan, ocr=False)) == []

    def test_what_is_raised_while_waiting_ends_the_work_and_the_next_is_done(
        self, reader: IsolatedReader, good: ReadRequest
    ) -> None:
        with reader.standing_still(), pytest.raises(Enough):
            list(reader.read(numbered(good, 3), while_waiting=stop, recognised=ignore))

        assert [outcome.ticket for outcome in read(reader, evolve(good, ticket=9))] == [9]

    def test_nothing_goes_on_while_it_stands_still_and_everything_after(
        self, reader: IsolatedReader, good: ReadRequest
    ) -> None:
        waited = 0

        with ExitStack() as still:

            def wait_twice() -> None:
                nonlocal waited
                waited += 1
                if waited == 2:
                    still.close()

            still.enter_context(reader.standing_still())
            outcomes = list(reader.read(numbered(good, 3), while_waiting=wait_twice, recognised=ignore))

        assert waited >= 2
        assert [outcome.ticket for outcome in outcomes] == [3, 2, 1]

    def test_closing_twice_is_safe_also_while_something_is_under_way(
        self, closable: IsolatedReader, good: ReadRequest
    ) -> None:
        outcomes = closable.read(numbered(good, 20), while_waiting=wait, recognised=ignore)
        next(outcomes)

        closable.close()
        closable.close()

    def test_closing_ends_what_is_under_way(self, closable: IsolatedReader, good: ReadRequest) -> None:
        with closable.standing_still(), pytest.raises(OpenMindError):
            list(closable.read([good], while_waiting=closable.close, recognised=ignore))

    def pages(self, reader: IsolatedReader, request: ReadRequest) -> list[PageText]:
        told: list[PageText] = []

        def hear(ticket: int, news: PageNews) -> None:
            if news.read is not None:
                told.append(news.read)

        list(reader.read([request], while_waiting=wait, recognised=hear))
        return told
