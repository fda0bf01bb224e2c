"""Brings a catalog to the schema of today: from nothing, from an older version, from before there were versions."""

import os
from pathlib import Path
from typing import Final

from openmind.domain.errors import HomeForeign, HomeNewer, StoreError

from openmind_stores.sqlite import legacy
from openmind_stores.sqlite.connection import Link, open_reader, open_writer, size_of
from openmind_stores.sqlite.errors import not_local, translate_os
from openmind_stores.sqlite.schema import APPLICATION_ID, MIGRATIONS, VERSION

FILE_MODE: Final = 0o600

_PAGE_BYTES: Final = 8_192
"""Kept texts have some kilobytes: on smaller pages a quarter of the file is the room beside them."""
_INCREMENTAL: Final = 2

_WROTE: Final = "SELECT value FROM settings WHERE name = 'written_by'"


def is_current(path: Path) -> bool:
    """Whether the catalog is there and has the schema of today.

    Raises:
        HomeNewer, HomeForeign, CatalogDamaged, StoreError
    """
    try:
        link = open_reader(path)
    except StoreError:
        if size_of(path):
            raise
        return False
    try:
        return version_of(link) == VERSION
    finally:
        link.close()


def version_of(link: Link) -> int:
    """Read the version of the schema in the current transaction.

    Raises:
        HomeNewer: this OpenMind does not know it.
        HomeForeign: the file belongs to another program.
    """
    version: int = link.value("PRAGMA user_version")
    owner: int = link.value("PRAGMA application_id")
    if owner not in {0, APPLICATION_ID} or (owner == 0 and version != 0):
        raise HomeForeign(
            f"{link.path} is the database of another program", hint="Choose another folder as OpenMind's home."
        )
    if version > VERSION:
        raise _newer(link)
    return version


def require_current(link: Link) -> None:
    """Refuse a catalog that `migrate` has to see first.

    Raises:
        HomeNewer, HomeForeign
        StoreError: it is older than this OpenMind.
    """
    if version_of(link) != VERSION:
        raise StoreError(
            f"{link.path} was written by an older OpenMind and has not been brought up to date",
            hint="Run `openmind init` once.",
        )


def migrate(path: Path, *, written_by: str) -> None:
    """Create the catalog or bring it up to date, in one transaction. The caller holds the catalog lock."""
    try:
        _create_private(path)
    except OSError as error:
        raise translate_os(error, path) from error
    link = open_writer(path)
    try:
        legacy.require_ours(link)
        _prepare(link)
        link.run("BEGIN IMMEDIATE")
        _apply(link, written_by)
        link.run("COMMIT")
    finally:
        link.close()  # what was not committed did not happen


def _prepare(link: Link) -> None:
    """Set what cannot be set in a transaction; none of it changes what the catalog holds."""
    link.run("PRAGMA foreign_keys = OFF")  # tables change places in a migration; checked before the commit
    link.run(f"PRAGMA page_size = {_PAGE_BYTES}")  # taken by a new database only
    link.run("PRAGMA auto_vacuum = INCREMENTAL")
    if link.value("PRAGMA auto_vacuum") != _INCREMENTAL:
        link.run("VACUUM")  # a database that has tables changes its kind only as a whole
    if link.value("PRAGMA journal_mode = WAL") != "wal":
        raise not_local(link.path)


def _apply(link: Link, written_by: str) -> None:
    version = version_of(link)
    if version == VERSION:
        return
    left = legacy.set_aside(link) if version == 0 else ()
    for number in range(version, VERSION):
        for statement in MIGRATIONS[number]:
            link.run(statement)
        if number == 0:
            legacy.take_over(link, left)
    link.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('written_by', ?)", (written_by,))
    if link.rows("PRAGMA foreign_key_check"):
        raise StoreError(f"{link.path} has records that point nowhere")
    link.run(f"PRAGMA application_id = {APPLICATION_ID}")
    link.run(f"PRAGMA user_version = {VERSION}")


def _create_private(path: Path) -> None:
    """Create the file with private permissions; SQLite gives its companions the same ones.

    Only a file that is not there is opened: closing a second handle to a database in use would drop the locks of the
    first.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE_MODE))
    except FileExistsError:
        path.chmod(FILE_MODE)


def _newer(link: Link) -> HomeNewer:
    """Say which version wrote a newer catalog, and so can read it."""
    from importlib.metadata import version  # costs as much as a whole command

    own = version("openmind-stores")
    try:
        wrote = link.value(_WROTE)
    except StoreError:  # its settings look different
        wrote = None
    if wrote is None or wrote == own:
        told = f"a version of OpenMind that is newer than this one, {own}"
        return HomeNewer(f"{link.path.parent} was written by {told}", hint="Install the newest OpenMind.")
    return HomeNewer(
        f"{link.path.parent} was written by OpenMind {wrote}; this one is {own} and too old to read it",
        hint=f"Install OpenMind {wrote} or newer.",
    )
