import attrs
import pytest
from openmind.domain.changes import ChangeKind, Reader, classify, deletions_need_consent
from openmind.domain.files import RACY_NS, FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, Generation, SourceId

STAT = FileStat(size=10, mtime_ns=1_000_000_000_000)
TODAY = Reader(extractor="text/1", layout="1.1", max_bytes=1_000)
KNOWN = FileRecord(
    id=FileId("file_0"),
    source_id=SourceId("src_0"),
    path_bytes=b"/notes/a.txt",
    stat=STAT,
    scanned_ns=STAT.mtime_ns + RACY_NS + 1,
    content_hash="00",
    reason=FileReason.OK,
    extractor="text/1",
    layout="1.1",
    live_generation=Generation(1),
    chunk_count=1,
)


def test_a_file_without_a_record_is_new() -> None:
    assert classify(STAT, None, TODAY) is ChangeKind.NEW


def test_a_file_that_looks_as_before_needs_nothing() -> None:
    assert classify(STAT, KNOWN, TODAY) is None


@pytest.mark.parametrize("stat", [attrs.evolve(STAT, size=11), attrs.evolve(STAT, mtime_ns=STAT.mtime_ns - 1)])
def test_another_size_or_date_is_a_change(stat: FileStat) -> None:
    assert classify(stat, KNOWN, TODAY) is ChangeKind.CHANGED


def test_another_time_of_change_is_a_change_unless_none_was_noted() -> None:
    dated = attrs.evolve(KNOWN, stat=attrs.evolve(STAT, ctime_ns=5))

    assert classify(attrs.evolve(STAT, ctime_ns=6), dated, TODAY) is ChangeKind.CHANGED
    assert classify(attrs.evolve(STAT, ctime_ns=5), dated, TODAY) is None
    assert classify(attrs.evolve(STAT, ctime_ns=6), KNOWN, TODAY) is None
    assert classify(STAT, dated, TODAY) is None


def test_a_file_changed_just_before_it_was_looked_at_is_suspect() -> None:
    racy = attrs.evolve(KNOWN, scanned_ns=STAT.mtime_ns + RACY_NS)

    assert classify(STAT, racy, TODAY) is ChangeKind.SUSPECT


@pytest.mark.parametrize("reason", [FileReason.DENIED, FileReason.VANISHED, FileReason.PROVIDER])
def test_a_failure_that_may_pass_is_tried_again(reason: FileReason) -> None:
    assert classify(STAT, attrs.evolve(KNOWN, reason=reason), TODAY) is ChangeKind.RETRY


@pytest.mark.parametrize("reason", [FileReason.CRASHED, FileReason.TIMEOUT])
def test_a_failure_for_want_of_time_or_memory_is_tried_again_when_a_person_asks(reason: FileReason) -> None:
    assert classify(STAT, attrs.evolve(KNOWN, reason=reason), TODAY, retry=True) is ChangeKind.RETRY


@pytest.mark.parametrize("reason", [FileReason.DAMAGED, FileReason.CRASHED, FileReason.TIMEOUT, FileReason.ENCRYPTED])
def test_a_failure_of_the_content_is_not_tried_again(reason: FileReason) -> None:
    failed = attrs.evolve(KNOWN, reason=reason, live_generation=None, chunk_count=0)

    assert classify(STAT, failed, TODAY) is None


@pytest.mark.parametrize(
    ("known", "today", "alike"),
    [
        ("image/1", "image/1", True),
        ("image/1", "image/1+eyes", False),
        ("image/1+eyes", "image/1+eyes", True),
        ("image/1+eyes", "image/1+other", False),
        ("image/1+eyes", "image/1", True),
        ("image/1+eyes", "image/2", False),
        ("image/10", "image/1", False),
        ("image/1+a+b", "image/1+a", False),
    ],
)
def test_a_description_is_wanted_anew_only_of_another_model(known: str, today: str, alike: bool) -> None:
    record = attrs.evolve(KNOWN, extractor=known)

    assert (classify(STAT, record, attrs.evolve(TODAY, extractor=today)) is None) is alike


def test_a_newer_extractor_reads_failed_files_again() -> None:
    failed = attrs.evolve(KNOWN, reason=FileReason.DAMAGED, live_generation=None, chunk_count=0)

    assert classify(STAT, failed, attrs.evolve(TODAY, extractor="text/2")) is ChangeKind.REREAD


@pytest.mark.parametrize("known", [attrs.evolve(KNOWN, live_generation=None), attrs.evolve(KNOWN, layout="1.0")])
def test_passages_that_were_lost_or_are_laid_out_otherwise_are_made_again(known: FileRecord) -> None:
    assert classify(STAT, known, TODAY) is ChangeKind.REREAD


def test_a_few_deletions_need_no_consent() -> None:
    assert not deletions_need_consent(gone=50, known=60, found=10, device_changed=False)
    assert not deletions_need_consent(gone=300, known=1_000, found=700, device_changed=False)


def test_many_deletions_at_once_need_consent() -> None:
    assert deletions_need_consent(gone=301, known=1_000, found=699, device_changed=False)


def test_an_emptied_folder_or_another_disk_needs_consent_even_for_one_file() -> None:
    assert deletions_need_consent(gone=1, known=1, found=0, device_changed=False)
    assert deletions_need_consent(gone=1, known=100, found=99, device_changed=True)


def test_nothing_gone_needs_no_consent() -> None:
    assert not deletions_need_consent(gone=0, known=0, found=0, device_changed=True)


def test_a_file_that_was_too_big_is_read_when_the_limit_was_raised() -> None:
    big = attrs.evolve(KNOWN, reason=FileReason.TOO_BIG, live_generation=None, chunk_count=0, extractor="")

    assert classify(STAT, big, attrs.evolve(TODAY, max_bytes=9)) is None
    assert classify(STAT, big, attrs.evolve(TODAY, max_bytes=10)) is ChangeKind.REREAD
