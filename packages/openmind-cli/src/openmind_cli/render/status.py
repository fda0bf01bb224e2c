"""The state of the memory, in words."""

from collections.abc import Collection, Iterator

from openmind.domain.files import FileReason, FileRecord, FileStatus
from openmind.domain.jobs import IndexRun, JobState
from openmind.domain.paths import displayable
from openmind.domain.sentences import as_sentence
from openmind.domain.status import MemoryStatus

from openmind_cli.render.amounts import count, duration, moment, size
from openmind_cli.render.clean import one_line
from openmind_cli.render.jobs import now
from openmind_cli.render.lines import Line, Span, line, note, print_lines
from openmind_cli.render.unread import summary

WIDTH = 17
UNERASED = "text of a folder that was removed is still on the disk, where no search finds it"


def print_status(status: MemoryStatus) -> None:
    """Print the state of the memory."""
    print_lines(status_lines(status))


def print_file(record: FileRecord) -> None:
    """Print a file with its status on one line."""
    told = f": {one_line(record.error)}" if record.error else ""
    print_lines([line(f"{one_line(displayable(record.path_bytes))}: {reason_text(record.reason)}{told}")])


def print_hints(reasons: Collection[FileReason]) -> None:
    """Print what can be done about files with these reasons, on standard error: the list is all that a pipe gets."""
    for reason in FileReason:
        if reason in reasons and reason.hint:
            note(f"{reason.words}: {reason.hint}")


def reason_text(reason: FileReason) -> str:
    """`skipped, too big`, `indexed`."""
    if reason is FileReason.OK:
        return FileStatus.INDEXED.value
    return f"{reason.status.value}, {reason.words}"


def status_lines(status: MemoryStatus) -> Iterator[Line]:
    """The state of the memory, line by line: what it holds, then what wants attention."""
    yield _pair("home", status.home)
    yield _pair("sources", f"{status.sources:,}")
    yield _pair("searchable", f"{count(status.indexed_files, 'file')}, {count(status.indexed_chunks, 'passage')}")
    for reason, number in sorted(status.by_reason.items(), key=lambda counted: counted[0].urgency):
        if reason is not FileReason.OK and number:
            yield _pair("", f"{number:,} {reason_text(reason)}")
    if status.unread_kinds:
        yield _pair("", summary(status.unread_kinds))
    yield _pair("indexing", _indexing(status))
    if why := _trouble(status):
        yield _pair("", why)
    yield _pair("provider", status.provider)
    yield _pair("embedding model", status.searched_by or status.embedding_model)
    yield _pair("chat model", status.chat_model or "none: `ask` shows passages")
    yield _pair("image model", status.image_model or "none")
    yield _pair("cached text", size(status.text_bytes))
    yield _pair("size on disk", size(status.disk_bytes))
    yield _pair("version", status.version)
    yield from _warnings(status)


def _indexing(status: MemoryStatus) -> str:
    run = status.last_run
    if status.indexing_state is not None:
        still_s = run.still_s(now()) if run is not None else 0.0
        still = f"; nothing was finished for {duration(still_s)}, see `openmind index status`" if still_s else ""
        return f"{status.indexing_state.value.replace('_', ' ')}{_how_far(run)}{still}"
    if not status.sources:
        return "nothing to read; `openmind source add FOLDER` names a folder"
    if run is None:
        return "never done; `openmind index` reads the sources"
    told = "" if run.state is JobState.COMPLETED else f"{_how_far(run)}; `openmind index` goes on from there"
    ended = moment(run.finished_at or run.heartbeat_at or run.started_at)
    word = "finished" if run.state is JobState.COMPLETED else run.state.value.replace("_", " ")
    return f"last run {word} {ended}{told}"


def _trouble(status: MemoryStatus) -> str:
    """Why the run rests, or what was wrong with the last one."""
    run, state = status.last_run, status.indexing_state
    told = run is not None and status.sources and (state is None or state is JobState.PAUSED)
    return as_sentence(run.error) if run is not None and told else ""


def _how_far(run: IndexRun | None) -> str:
    if run is None or not run.tally.total:
        return ""
    return f", {run.tally.processed:,} of {count(run.tally.total, 'file')} ({run.tally.progress:.0f} %)"


def _warnings(status: MemoryStatus) -> Iterator[Line]:
    if status.trouble:
        yield _warning(status.trouble)
    if status.rebuilding:
        yield _warning(status.rebuilding)
    elif status.searched_by not in {"", status.embedding_model}:
        yield _warning(
            f"{status.embedding_model} is the chosen embedding model, but the passages are found by "
            f"{status.searched_by}; `openmind index` changes over, or says why it cannot"
        )
    if status.missing_vectors:
        yield _warning(f"{count(status.missing_vectors, 'passage')} found by words only: vectors are missing")
    for path in status.missing_sources:
        yield _warning(
            f"{path} is not there now; what was read from it is kept. "
            "Bring the folder back, or forget it with `openmind source remove PATH`"
        )
    for path in status.unread_sources:
        yield _warning(f"{path} was not read yet; `openmind index` reads it")
    for path in status.disabled_sources:
        yield _warning(f"{path} is disabled: neither read nor searched until `openmind source set PATH --enable`")
    if status.waiting_deletions:
        yield _warning(
            f"{count(status.waiting_deletions, 'file')} gone from disk, or left out now, but kept in memory; "
            "`openmind index --accept-deletions` forgets them"
        )
    if status.removal_unfinished:
        yield _warning(f"{UNERASED}; `openmind index` takes it off")
    for name in status.broken_plugins:
        yield _warning(f"the plugin {name} is broken; `openmind plugins` says why")


def _pair(name: str, value: str) -> Line:
    return line(Span(f"{name:<{WIDTH}}", "dim"), one_line(value))


def _warning(text: str) -> Line:
    return line(Span("note: ", "bold yellow"), one_line(text))
