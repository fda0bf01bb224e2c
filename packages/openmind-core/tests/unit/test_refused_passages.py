"""What a record says of passages that were refused."""

import attrs
import pytest
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, SourceId
from openmind.domain.refused_passages import RefusedPassages, is_given_up, is_marked, marked

FILE = FileRecord(
    id=FileId("f1"),
    source_id=SourceId("s1"),
    path_bytes=b"/notes/a.txt",
    stat=FileStat(size=1, mtime_ns=1),
    scanned_ns=1,
    reason=FileReason.OK,
)
SOME, NONE = RefusedPassages(2, "it is too long"), RefusedPassages(0)


@pytest.mark.parametrize(("reason", "error"), [(FileReason.OK, ""), (FileReason.PARTIAL, "Page 3 could not be read")])
def test_a_mark_comes_and_goes_and_leaves_what_was_said_before(reason: FileReason, error: str) -> None:
    record = attrs.evolve(FILE, reason=reason, error=error)

    told = marked(marked(record, RefusedPassages(1, "it crashed")), SOME)

    assert (told.reason, is_marked(told)) == (FileReason.PARTIAL, True)
    assert told.error.removeprefix(error).lstrip(". ") == (
        "The embedding model fails at 2 of its passages, found by words alone: it is too long"
    )
    assert marked(told, NONE) == record


def test_a_partial_file_without_a_mark_stays_as_it_is() -> None:
    record = attrs.evolve(FILE, reason=FileReason.PARTIAL)

    assert marked(record, NONE) == record


@pytest.mark.parametrize("reason", [reason for reason in FileReason if reason not in {"ok", "partial"}])
def test_a_file_of_which_worse_is_told_is_left_alone(reason: FileReason) -> None:
    record = attrs.evolve(FILE, reason=reason, error="It is damaged")

    assert marked(record, SOME) == marked(record, NONE) == record


@pytest.mark.parametrize(
    ("refused", "missing", "given_up"),
    [(1, 1, True), (2, 2, True), (1_234, 1_234, True), (2, 3, False), (0, 1, False), (2, 0, False)],
)
def test_a_file_is_given_up_when_every_missing_vector_was_refused(refused: int, missing: int, given_up: bool) -> None:
    record = marked(attrs.evolve(FILE, missing_vectors=missing), RefusedPassages(refused, "it crashed"))

    assert is_given_up(record) is given_up
