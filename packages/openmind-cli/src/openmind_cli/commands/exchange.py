"""`openmind export` and `openmind import`."""

from pathlib import Path

from openmind import open_memory
from openmind.bootstrap import open_empty_memory
from openmind.domain.errors import UsageError

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.amounts import count, size
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.upkeep import damaged_lines, export_object, import_object


def export_memory(file: Path, /, *, overwrite: Switch = False, json: Json = False) -> int:
    """Write everything that is remembered to one file: text, places, metadata, and vectors with their model.

    The file is a zip file of Parquet tables, readable by other programs and by you only. Your own files are not in it,
    but the text that was read from them is. Exit code 1 means that something is damaged and was left out.

    Parameters
    ----------
    file
        The file to write, such as memory.zip.
    overwrite
        Replace a file that is there.
    """
    target = file.expanduser().absolute()
    if target.exists() and not overwrite:
        raise UsageError(f"{one_line(str(target))} is there already", hint="Add --overwrite to replace it.")
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {one_line(str(target.parent))}", hint="Check the path.")
    with open_memory(create=False) as memory:
        report = memory.maintenance.export(target)
    written = target.stat().st_size
    if json:
        print_object({"file": str(target), "bytes": written, **export_object(report)})
    else:
        manifest = report.manifest
        told = f"{count(manifest.files, 'file')}, {count(manifest.passages, 'passage')}, {size(written)}"
        print_lines([line(f"Wrote {one_line(str(target))}: {told}"), *damaged_lines(report)])
        note("It holds the text of your files: keep it where only you can read it.")
    return FAILED if report.damaged_files else OK


def import_memory(file: Path, /, *, enable_missing: Switch = False, json: Json = False) -> int:
    """Read a memory from a file that `openmind export` wrote, into an empty memory.

    No file is read and no text embedded. Sources whose folder is not on this machine come in disabled.

    Parameters
    ----------
    file
        The file to read.
    enable_missing
        Search what came from folders that are not here all the same.
    """
    archive = file.expanduser().absolute()
    if not archive.is_file():
        raise UsageError(f"There is no file {one_line(str(archive))}", hint="Check the path.")
    with open_empty_memory() as memory:
        report = memory.maintenance.import_(archive, enable_missing=enable_missing)
    if json:
        print_object(import_object(report))
        return OK
    print_lines([line(f"Read {count(report.files, 'file')}, {count(report.passages, 'passage')}.")])
    for path in report.disabled_sources:
        note(f"{path} is not here; what was read from it is kept and not searched.")
    if report.disabled_sources:
        note("Once a folder is back, `openmind source set FOLDER --enable` has it searched and read again.")
    return OK
