"""`openmind source`: the folders that OpenMind may read."""

from collections.abc import Callable
from typing import Annotated

from cyclopts import App, Parameter
from openmind import open_memory
from openmind.domain.contract import removal_object, source_object
from openmind.domain.errors import UsageError
from openmind.domain.sources import Source

from openmind_cli.exit_codes import FAILED, INTERRUPTED, OK
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.amounts import count
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_columns, print_lines
from openmind_cli.render.objects import print_list, print_object
from openmind_cli.render.status import UNERASED
from openmind_cli.sources import find_source

STOP_S = 30.0
"""How long a job is given to stop."""

app = App(name="source", help="Say which folders OpenMind may read.")


@app.command
def add(path: str, /, *, recursive: bool = True, ocr: bool = True, code: bool = False, json: Json = False) -> int:
    """Let OpenMind read a folder.

    Nothing is read yet: `openmind index` does that.

    Parameters
    ----------
    path
        The folder.
    recursive
        Read the folders inside it too.
    ocr
        Read scanned pages and pictures by text recognition.
    code
        Read source code and JSON too.
    """
    with open_memory() as memory:
        source = memory.sources.add(path, recursive=recursive, ocr=ocr, code=code)
    if json:
        print_object(source_object(source))
        return OK
    print_lines([line(f"Added {one_line(source.path)} as {source.id}")])
    note("Next: `openmind index` reads it.")
    return OK


@app.command(name="list")
def list_sources(*, json: Json = False) -> int:
    """List the folders that OpenMind may read."""
    with open_memory(create=False) as memory:
        sources = memory.sources.list()
    if json:
        print_list("sources", map(source_object, sources))
        return OK
    rows = [
        (
            source.id,
            one_line(source.path),
            "with subfolders" if source.recursive else "this folder only",
            "enabled" if source.enabled else "disabled",
            _reads(source),
        )
        for source in sources
    ]
    if rows:
        print_columns(rows, heads=("id", "path", "depth", "state", "reads"), wide=("path",))
    else:
        note("There is no source yet. `openmind source add FOLDER` names a folder to read.")
    return OK


def _reads(source: Source) -> str:
    """`text`, and what else is read: `text, scans, code`."""
    return ", ".join(["text", *(["scans"] if source.ocr else []), *(["code"] if source.code else [])])


@app.command(name="set")
def set_reading(
    source: str,
    /,
    *,
    ocr: bool | None = None,
    code: bool | None = None,
    enable: Annotated[bool | None, Parameter(negative="--disable")] = None,
    json: Json = False,
) -> int:
    """Change how a folder is read, and whether.

    The next `openmind index` reads what is concerned, and forgets code that is left out. What was recognised stays.

    Parameters
    ----------
    source
        The id of the source, or its path.
    ocr
        Read scanned pages and pictures by text recognition.
    code
        Read source code and JSON too.
    enable
        Read and search it; what is remembered of a disabled one stays, and is neither found nor brought up to date.
    """
    if ocr is None and code is None and enable is None:
        raise UsageError(
            "Nothing was said to change", hint="Give --ocr, --no-ocr, --code, --no-code, --enable or --disable."
        )
    with open_memory(create=False) as memory:
        changed = memory.sources.change(find_source(memory, source), ocr=ocr, code=code, enabled=enable)
    if json:
        print_object(source_object(changed))
        return OK
    print_lines([line(f"{one_line(changed.path)}: {_reads(changed) if changed.enabled else 'disabled'}")])
    if changed.enabled:
        note("Next: `openmind index` reads what is concerned.")
    return OK


@app.command
def remove(source: str, /, *, stop_job: Switch = False, json: Json = False) -> int:
    """Forget a folder and everything that was read from it.

    The folder and its files stay as they are.

    Parameters
    ----------
    source
        The id of the source, or its path.
    stop_job
        Stop a background job first; without that, one that is under way is in the way.
    """
    with open_memory(create=False) as memory:
        if stop_job:
            memory.jobs.halt(within_s=STOP_S)
        report = memory.sources.forget(find_source(memory, source), make_room=True)
        interrupted = _is_interrupted(memory.sources.sweep)
        erased = memory.sources.is_erased()
    if json:
        print_object(removal_object(report))
    else:
        files, passages = count(report.files_removed, "file"), count(report.chunks_removed, "passage")
        print_lines(
            [
                line(f"Forgot {one_line(report.source_path)}: {files}, {passages}"),
                line("The folder and its files are as they were."),
            ]
        )
    if erased:
        return OK
    note(f"{'Interrupted: ' if interrupted else 'Not all is done: '}{UNERASED}.")
    note("Next: `openmind index` takes it off.")
    return INTERRUPTED if interrupted else FAILED


def _is_interrupted(sweep: Callable[[], None]) -> bool:
    """Whether Ctrl-C was pressed before the end; what was done until then is done."""
    try:
        sweep()
    except KeyboardInterrupt:
        return True
    return False
