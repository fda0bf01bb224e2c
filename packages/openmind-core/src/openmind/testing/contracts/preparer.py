"""The promises of `Preparer`."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from openmind.domain import packing
from openmind.domain.documents import ExtractedDocument, Segment
from openmind.domain.files import FileReason
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest, PreparedFile
from openmind.ports.preparer import Preparer

LARGE = 64 * 1_048_576


class Enough(Exception):
    """What a caller raises that has lost interest."""


def kept(ticket: int, *, size: int = 0) -> PreparationRequest:
    """Ask for text that was read before: it needs no file."""
    packed = packing.pack(ExtractedDocument(segments=(Segment(text=f"The heron {ticket} stands. " * 40),)))
    return PreparationRequest(ticket=ticket, path_bytes=b"/notes/%d.txt" % ticket, packed=packed, size=size)


def wait() -> None:
    """Have nothing else to do."""


def stop() -> None:
    raise Enough


def tickets(outcomes: Sequence[Preparation]) -> list[int]:
    return [outcome.ticket for outcome in outcomes]


class PreparerContract:
    """Subclass in an adapter's tests and give the fixtures; every promise is checked.

    `preparer` may serve all tests, one after the other. `closable` is one of its own for each test. `failing` are
    requests that cannot go well, in all the ways that there are; their tickets are from 100 on.
    """

    def test_no_requests_no_outcomes(self, preparer: Preparer) -> None:
        assert list(preparer.prepare([], while_waiting=wait)) == []

    def test_there_is_one_outcome_for_each_request_in_their_order(self, preparer: Preparer) -> None:
        asked = [kept(ticket, size=ticket * 5_000) for ticket in (*range(40, 0, -1), 7, 7)]

        outcomes = list(preparer.prepare(iter(asked), while_waiting=wait))

        assert tickets(outcomes) == [request.ticket for request in asked]
        for outcome in outcomes:
            assert isinstance(outcome, PreparedFile)
            assert all(f"heron {outcome.ticket} " in passage.text for passage in outcome.passages)
            assert outcome.passages
            assert outcome.packed is None

    def test_a_failure_is_an_outcome_and_costs_no_other_file(
        self, preparer: Preparer, failing: Sequence[PreparationRequest]
    ) -> None:
        asked = [kept(1), *failing, kept(2)]

        first, *failed, last = preparer.prepare(asked, while_waiting=wait)

        assert isinstance(first, PreparedFile)
        assert isinstance(last, PreparedFile)
        assert tickets([first, *failed, last]) == [request.ticket for request in asked]
        for outcome in failed:
            assert isinstance(outcome, PreparationFailure)
            assert outcome.reason is not FileReason.OK
            assert outcome.message

    def test_requests_are_read_by_the_calling_thread(self, preparer: Preparer) -> None:
        readers: set[int] = set()

        def requests() -> Iterator[PreparationRequest]:
            for ticket in range(20):
                readers.add(threading.get_ident())
                yield kept(ticket)

        assert len(list(preparer.prepare(requests(), while_waiting=wait))) == 20
        assert readers == {threading.get_ident()}

    def test_large_files_are_not_all_read_ahead(self, preparer: Preparer) -> None:
        read: list[int] = []

        def requests() -> Iterator[PreparationRequest]:
            for ticket in range(100):
                read.append(ticket)
                yield kept(ticket, size=LARGE)

        outcomes = preparer.prepare(requests(), while_waiting=wait)

        assert next(outcomes).ticket == 0
        assert len(read) < 50
        assert tickets(list(outcomes)) == list(range(1, 100))

    def test_what_is_raised_while_waiting_ends_the_work_and_the_next_is_done(self, preparer: Preparer) -> None:
        with preparer.standing_still(), pytest.raises(Enough):
            list(preparer.prepare([kept(1), kept(2)], while_waiting=stop))

        assert tickets(list(preparer.prepare([kept(3)], while_waiting=wait))) == [3]

    def test_after_standing_still_the_work_goes_on(self, preparer: Preparer) -> None:
        outcomes = preparer.prepare([kept(ticket) for ticket in range(40)], while_waiting=wait)
        first = next(outcomes)

        with preparer.standing_still():
            pass

        assert tickets([first, *outcomes]) == list(range(40))

    def test_closing_twice_is_safe_also_while_something_is_under_way(self, closable: Preparer) -> None:
        outcomes = closable.prepare([kept(ticket) for ticket in range(40)], while_waiting=wait)
        next(outcomes)

        closable.close()
        closable.close()
