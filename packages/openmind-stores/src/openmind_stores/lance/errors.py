"""What goes wrong in Lance, said in OpenMind's words.

Lance raises `OSError`, `RuntimeError` and `ValueError` alike; only the text tells a full disk from a lost file.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from openmind.domain.errors import OpenMindError, StoreDamaged, StoreError, StoreFull, StoreReadOnly

from openmind_stores.lance.room import has_room

FULL = (
    "no space left",
    "os error 28",
    "storagefull",
    "quota exceeded",
    "os error 122",
    "file too large",
    "filetoolarge",
    "os error 27)",
    "not enough space",
    "os error 112",
)
READ_ONLY = (
    "read-only",
    "readonlyfilesystem",
    "os error 30",
    "permission denied",
    "permissiondenied",
    "os error 13)",
    "operation not permitted",
    "os error 1)",
    "access is denied",
    "os error 5)",
)
LOST = ("not found", "notfound", "no such file", "os error 2)", "cannot find the", "does not exist")
BROKEN = ("corrupt", "magic", "fill whole buffer", "invalid seek", "too small", "invalid range", "unexpected end")
INTERRUPTED = re.compile(r"(^|External error: )KeyboardInterrupt\b", re.MULTILINE)
"""How Arrow tells of Ctrl-C while it streams: in a search, and where Lance asks for the next rows to write."""
REPAIR = "Run `openmind index`: it rebuilds the passages from the text OpenMind has kept."


def reading(table: str) -> AbstractContextManager[None]:
    """Let whatever fails while a table is read come out as `StoreDamaged`, unless the text says better."""
    return translated(table, otherwise=StoreDamaged)


@contextmanager
def writing(table: str, folder: Path | None = None) -> Iterator[None]:
    """Let whatever fails while a table is written come out as a `StoreError`.

    Lance sometimes tells of a full disk by what it could not read back. With the folder that is written to, the disk
    itself is asked.
    """
    try:
        with translated(table, otherwise=StoreError):
            yield
    except StoreDamaged as error:
        if folder is None or has_room(folder):
            raise
        raise full(table) from error


@contextmanager
def translated(table: str, *, otherwise: type[StoreError]) -> Iterator[None]:
    """Let what fails in Lance come out as a `StoreError`, and Ctrl-C as `KeyboardInterrupt`, in whatever shape."""
    try:
        yield
    except OpenMindError:
        raise
    except BaseException as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        if not is_from_lance(error):
            raise
        raise translate(table, error, otherwise=otherwise) from error


def is_from_lance(error: BaseException) -> bool:
    """Tell whether something failed in Lance: never so when a person broke it off, however Lance tells of that."""
    # A panic in Rust arrives as a class that is no `Exception` and that cannot be imported.
    failed = isinstance(error, OSError | RuntimeError | ValueError | LookupError) or is_panic(error)
    return failed and not is_interrupt(error)


def is_interrupt(error: BaseException) -> bool:
    """Tell whether a person pressed Ctrl-C: where rows stream through Arrow, only the text of a failure says so."""
    return isinstance(error, KeyboardInterrupt) or INTERRUPTED.search(str(error)) is not None


def is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def is_out_of_reach(error: BaseException) -> bool:
    """Tell whether the disk refused: trying something else there would fail as well."""
    said = str(error).lower()
    return any(mark in said for mark in (*FULL, *READ_ONLY))


def is_lost_file(error: BaseException) -> bool:
    """Tell whether a file was missing: what a reader sees whose version was cleaned away."""
    return isinstance(error, FileNotFoundError) or any(mark in str(error).lower() for mark in LOST)


def translate(table: str, error: BaseException, *, otherwise: type[StoreError]) -> StoreError:
    said = str(error).lower()
    if any(mark in said for mark in FULL):
        return full(table)
    if any(mark in said for mark in READ_ONLY):
        return StoreReadOnly(
            f"The passages (table {table}) cannot be written: the folder is read-only or belongs to someone else.",
            hint="Check the owner and the permissions of OpenMind's home, then try again.",
        )
    broken = is_panic(error) or is_lost_file(error) or any(mark in said for mark in BROKEN)
    if otherwise is StoreDamaged or broken:
        return StoreDamaged(f"The passages (table {table}) cannot be read: {first_line(error)}", hint=REPAIR)
    return otherwise(f"The passages (table {table}) could not be written: {first_line(error)}", hint=REPAIR)


def full(table: str) -> StoreFull:
    return StoreFull(
        f"There is no space left to write passages (table {table}).",
        hint="Free some disk space, then run `openmind index` again; nothing that was indexed is lost.",
    )


def first_line(error: BaseException) -> str:
    """Shorten what Lance says: the source position at its end helps nobody."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0].split(", /")[0].split(", rust/")[0][:200]
