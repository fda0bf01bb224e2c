"""The state of the memory, in words."""

import pytest
from openmind.domain.errors import UsageError
from openmind.domain.files import FileReason, FileRecord, FileStat, FileStatus
from openmind.domain.ids import FileId, RunId, SourceId
from openmind.domain.jobs import IndexRun, IndexTally, JobState
from openmind.domain.status import MemoryStatus
from openmind.domain.unread import UnreadFile, hint_for, kind_of
from openmind_cli.commands.status import reasons_of
from openmind_cli.render.status import print_file, print_hints, status_lines
from openmind_cli.render.unread import print_unread


def a_status(**changes: object) -> MemoryStatus:
    values: dict[str, object] = {
        "version": "0.1.0",
        "home": "/home/me/.openmind",
        "provider": "builtin",
        "chat_model": None,
        "embedding_model": "builtin",
        "image_model": None,
        "sources": 1,
        "files": 3,
        "indexed_files": 2,
        "indexed_chunks": 1_234,
        "missing_vectors": 0,
    }
    return MemoryStatus(**(values | changes))


def shown(status: MemoryStatus) -> str:
    return "\n".join(line.plain for line in status_lines(status))


def test_the_status_says_what_is_searchable_and_what_is_not() -> None:
    text = shown(a_status(by_reason={FileReason.OK: 2, FileReason.TOO_BIG: 1}))

    assert "searchable       2 files, 1,234 passages" in text
    assert "1 skipped, too big" in text
    assert "never done" in text


def test_the_status_counts_the_files_of_kinds_that_are_not_read() -> None:
    assert "3 files of kinds that are not read: 2 .doc, 1 .zip" in shown(a_status(unread_kinds={".doc": 2, ".zip": 1}))


def test_a_listed_file_has_its_kind_and_each_hint_comes_once(capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        UnreadFile(
            source_id=SourceId("src_1"),
            path_bytes=path,
            stat=FileStat(size=1, mtime_ns=1),
            extension=extension,
            kind=kind_of(extension),
            hint=hint_for(extension),
        )
        for path, extension in ((b"/a.doc", ".doc"), (b"/b.rtf", ".rtf"), (b"/c\n.doc", ".doc"), (b"/d", ""))
    ]

    print_unread(files)

    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "/a.doc: not read (.doc)",
        "/b.rtf: not read (.rtf)",
        "/c\\n.doc: not read (.doc)",
        "/d: not read (no extension)",
    ]
    assert err.split(".doc, .rtf: ")[1].startswith("Save it as .docx")
    assert err.count("Save it as") == 1


def test_a_run_under_way_shows_how_far_it_is() -> None:
    run = IndexRun(id=RunId("run_1"), started_at="2026-01-02T03:04:05Z", tally=IndexTally(indexed=50, total=200))

    text = shown(a_status(indexing_state=JobState.RUNNING, last_run=run))

    assert "running, 50 of 200 files (25 %)" in text


def test_the_last_run_says_how_it_ended() -> None:
    run = IndexRun(
        id=RunId("run_1"),
        started_at="2026-01-02T03:04:05+00:00",
        finished_at="2026-01-02T03:05:05+00:00",
        state=JobState.FAILED,
        error="The disk is full.",
    )

    assert "last run failed 2026-01-02" in shown(a_status(last_run=run))
    assert "`openmind index` goes on from there\n" in shown(a_status(last_run=run))
    assert f"\n{'':17}The disk is full.\n" in shown(a_status(last_run=run))


def test_a_job_that_waits_for_its_provider_says_why() -> None:
    run = IndexRun(
        id=RunId("run_1"), started_at="", state=JobState.COMPLETED, error="LM Studio is away", tally=IndexTally(total=9)
    )

    text = shown(a_status(indexing_state=JobState.PAUSED, last_run=run))

    assert f"9 files (0 %)\n{'':17}LM Studio is away." in text


def test_where_there_is_nothing_to_read_the_status_says_how_to_add_a_folder() -> None:
    run = IndexRun(id=RunId("run_1"), started_at="2026-01-02T03:04:05+00:00", state=JobState.STOPPED)

    for last in (None, run):
        text = shown(a_status(sources=0, last_run=last))

        assert "`openmind source add FOLDER`" in text
        assert "openmind index" not in text


def test_a_folder_that_was_added_since_the_last_run_is_named() -> None:
    assert "/new was not read yet; `openmind index` reads it" in shown(a_status(unread_sources=("/new",)))


def test_a_run_that_was_stopped_says_how_far_it_got() -> None:
    run = IndexRun(
        id=RunId("run_1"),
        started_at="2026-01-02T03:04:05+00:00",
        state=JobState.STOPPED,
        tally=IndexTally(indexed=242, total=1_500),
    )

    assert "242 of 1,500 files (16 %); `openmind index` goes on from there" in shown(a_status(last_run=run))


def test_what_wants_attention_is_told_with_the_command_for_it() -> None:
    text = shown(
        a_status(
            waiting_deletions=3,
            removal_unfinished=True,
            missing_sources=("/mnt/usb",),
            missing_vectors=7,
            rebuilding="The index is being rebuilt.",
            broken_plugins=("acme",),
        )
    )

    assert "3 files gone from disk, or left out now, but kept in memory; `openmind index --accept-deletions`" in text
    assert "/mnt/usb is not there now" in text
    assert "still on the disk, where no search finds it; `openmind index` takes it off" in text
    assert "7 passages found by words only" in text
    assert "The index is being rebuilt." in text
    assert "the plugin acme is broken; `openmind plugins`" in text


def test_a_file_is_listed_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    record = FileRecord(
        id=FileId("file_1"),
        source_id=SourceId("src_1"),
        path_bytes=b"/a\n\xff.pdf",
        stat=FileStat(size=1, mtime_ns=1),
        scanned_ns=1,
        reason=FileReason.NEEDS_OCR,
        error="The pages are pictures.",
    )

    print_file(record)

    assert capsys.readouterr().out == "/a\\n\\xff.pdf: skipped, needs recognition: The pages are pictures.\n"


def test_what_can_be_done_is_told_once_for_each_reason_and_not_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    print_hints([FileReason.EMPTY, FileReason.NEEDS_OCR, FileReason.ENCRYPTED])

    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(":")[0] for line in err.splitlines()] == ["needs recognition", "encrypted"]
    assert "openmind source set ID --ocr" in err


def test_a_status_stands_for_all_of_its_reasons() -> None:
    assert reasons_of("failed") == {reason for reason in FileReason if reason.status is FileStatus.FAILED}
    assert reasons_of("Too-Big") == {FileReason.TOO_BIG}


def test_a_word_that_is_neither_is_refused_with_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        reasons_of("lost")

    assert "needs_ocr" in caught.value.hint
