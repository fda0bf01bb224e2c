"""`openmind status`."""

from collections.abc import Iterator

from openmind import OpenMind, open_memory
from openmind.domain.contract import file_object, status_object, unread_object
from openmind.domain.coverage import SourceCoverage
from openmind.domain.errors import UsageError
from openmind.domain.files import FileReason, FileRecord, FileStatus

from openmind_cli.exit_codes import OK
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.lines import print_lines
from openmind_cli.render.objects import print_list, print_object
from openmind_cli.render.status import print_file, print_hints, print_status
from openmind_cli.render.unread import print_unread

PAGE = 500
UNREAD = "unread"
"""Files of kinds that nothing reads: the catalog does not know them."""


def status(*, files: str | None = None, coverage: Switch = False, json: Json = False) -> int:
    """Show what is in memory and what goes on.

    Parameters
    ----------
    files
        List the files of a status (indexed, skipped, failed) or of a reason, such as too_big; `unread` lists the
        files of kinds that nothing reads.
    coverage
        Look at the folders and say, for each source, how much of it can be found and why the rest cannot.
    """
    unread = files is not None and _word(files) == UNREAD
    reasons = reasons_of(files) if files is not None and not unread else frozenset[FileReason]()
    with open_memory(create=False) as memory:
        if coverage:
            print_coverage(memory.maintenance.coverage(), json=json)
        elif unread:
            found_files = memory.maintenance.unread()
            (print_list("files", map(unread_object, found_files)) if json else print_unread(found_files))
        elif not reasons:
            found = memory.status()
            (print_object(status_object(found)) if json else print_status(found))
        elif json:
            print_list("files", map(file_object, _files(memory, reasons)))
        else:
            met = set()
            for record in _files(memory, reasons):
                print_file(record)
                met.add(record.reason)
            print_hints(met)
    return OK


def print_coverage(found: Iterator[SourceCoverage], *, json: bool) -> None:
    """Print how much of each source can be found."""
    from openmind_cli.render.upkeep import coverage_lines, coverage_object

    if json:
        print_list("sources", map(coverage_object, found))
        return
    for each in found:
        print_lines(coverage_lines(each))


def reasons_of(word: str) -> frozenset[FileReason]:
    """The reasons that a word stands for: a status stands for all of its reasons.

    Raises:
        UsageError: it is neither a status nor a reason.
    """
    wanted = _word(word)
    found = frozenset(reason for reason in FileReason if wanted in {reason.value, reason.status.value})
    if not found:
        known = ", ".join([*FileStatus, *FileReason, UNREAD])
        raise UsageError(f"“{word}” is no status of a file", hint=f"There are: {known}.")
    return found


def _word(typed: str) -> str:
    return typed.strip().lower().replace("-", "_").replace(" ", "_")


def _files(memory: OpenMind, reasons: frozenset[FileReason]) -> Iterator[FileRecord]:
    """All files with one of the reasons, page by page."""
    after = b""
    while page := memory.documents.list(reasons=reasons, after=after, limit=PAGE):
        yield from page
        after = page[-1].path_bytes
