from collections.abc import Iterator

import pytest
from openmind.application.indexing.preparation import InProcessPreparer
from openmind.domain import packing
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.preparation import PreparationFailure, PreparationRequest, PreparedFile
from openmind.ports.extractor import Blob


class NamedAfterItsFault:
    """An extractor that fails, or makes a later step fail, as the name of the file says."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        if blob.name == "unread":
            raise ExtractionFailed("it is broken", reason=FileReason.DAMAGED)
        if blob.name == "unpackable":
            yield DocumentFacts(metadata={"no JSON": object()})
        yield Segment(text=f"All of {blob.name}")


@pytest.fixture
def preparer() -> InProcessPreparer:
    return InProcessPreparer(extractor=lambda _: NamedAfterItsFault(), read=lambda _, name: Blob(name=name, data=b""))


def test_a_file_that_fails_at_any_step_costs_the_others_of_its_group_nothing(preparer: InProcessPreparer) -> None:
    names = [b"one", b"unread", b"two", b"unpackable", b"three", b"kept", b"four"]
    requests = [
        PreparationRequest(
            ticket=ticket, path_bytes=name, extractor="any", packed=b"damaged" if name == b"kept" else None
        )
        for ticket, name in enumerate(names)
    ]

    outcomes = list(preparer.prepare_group(requests))

    assert [outcome.ticket for outcome in outcomes] == list(range(len(names)))
    failed = {each.ticket: each.reason for each in outcomes if isinstance(each, PreparationFailure)}
    assert failed == {1: FileReason.DAMAGED, 3: FileReason.CRASHED, 5: FileReason.DAMAGED}
    texts = {each.ticket: next(iter(each.passages)).text for each in outcomes if isinstance(each, PreparedFile)}
    assert texts == {0: "All of one", 2: "All of two", 4: "All of three", 6: "All of four"}


def test_text_that_was_kept_is_not_packed_again(preparer: InProcessPreparer) -> None:
    kept = packing.pack(ExtractedDocument(segments=(Segment(text="What was kept"),)))

    [outcome] = preparer.prepare_group([PreparationRequest(ticket=1, path_bytes=b"file", packed=kept)])

    assert isinstance(outcome, PreparedFile)
    assert (outcome.packed, next(iter(outcome.passages)).text) == (None, "What was kept")


def test_bytes_that_are_at_hand_are_read_in_place_of_the_file() -> None:
    class Plain:
        def extract(self, blob: Blob) -> Iterator[Segment]:
            yield Segment(text=blob.read().decode())

    def refuse(path: bytes, name: str) -> Blob:
        raise AssertionError(f"{name} was opened once more")

    preparer = InProcessPreparer(extractor=lambda _: Plain(), read=refuse)
    asked = [PreparationRequest(ticket=n, path_bytes=b"/gone", extractor="any", data=b"%d herons" % n) for n in (1, 2)]

    outcomes = preparer.prepare_group(asked)

    assert [next(iter(each.passages)).text for each in outcomes if isinstance(each, PreparedFile)] == [
        "1 herons",
        "2 herons",
    ]
