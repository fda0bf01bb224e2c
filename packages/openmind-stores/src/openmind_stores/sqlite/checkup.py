"""Looks for damage in the catalog, and tells whose a catalog is."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from openmind.domain.errors import CatalogDamaged, HomeForeign, HomeNewer, StoreError

from openmind_stores.sqlite import legacy
from openmind_stores.sqlite.connection import Link, open_reader, size_of
from openmind_stores.sqlite.migration import version_of
from openmind_stores.sqlite.records import Form
from openmind_stores.sqlite.tables.files import FILES, TALLY, TEXT_BYTES
from openmind_stores.sqlite.tables.generations import GARBAGE, INTENTS, NEWEST
from openmind_stores.sqlite.tables.index_tables import TABLES
from openmind_stores.sqlite.tables.plans import CHANGES
from openmind_stores.sqlite.tables.runs import JOBS, RUNS
from openmind_stores.sqlite.tables.settings import SETTINGS
from openmind_stores.sqlite.tables.sources import SOURCES
from openmind_stores.sqlite.tables.texts import TEXTS, VECTORS

MOST_TOLD: Final = 10
ENGINE_VERSION: Final = sqlite3.sqlite_version


def damage_of(path: Path) -> tuple[str, ...]:
    """A sentence for each thing that is wrong with the catalog; empty when it is sound."""
    try:
        link = open_reader(path)
    except StoreError as error:
        return (error.message,)
    try:
        found = [str(row[0]) for row in link.rows(f"PRAGMA quick_check({MOST_TOLD})")]
        told = [f"{path}: {sentence}" for sentence in found if sentence != "ok"]
        told += [f"{path}: records of the table {row[0]} point nowhere" for row in _strays(link.rows(_FOREIGN))]
        garbled = list(_garbled(link))
        told += [f"{path}: records of the table {name} hold text that is none" for name in garbled]
        told += [
            f"{path}: records of the table {name} hold values that cannot be there"
            for name in _impossible(link)
            if name not in garbled
        ]
        return tuple(told[:MOST_TOLD])
    except StoreError as error:
        return (error.message,)
    finally:
        link.close()


_OF_ONE_ROW: Final[tuple[Form[Any], ...]] = (NEWEST, TEXT_BYTES)
_FORMS: Final[tuple[Form[Any], ...]] = (
    *_OF_ONE_ROW,
    *(SOURCES, FILES, TALLY, TABLES, INTENTS, GARBAGE, TEXTS, VECTORS, CHANGES, RUNS, JOBS, SETTINGS),
)
_FOREIGN: Final = "PRAGMA foreign_key_check"
_TEXTS: Final = "SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'"


def _strays(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """One row a table."""
    return list({row[0]: row for row in rows}.values())[:MOST_TOLD]


def _garbled(link: Link) -> Iterator[str]:
    """Name the tables with text that nobody can read; SQLite itself takes any bytes for text."""
    tables = [str(name) for (name,) in link.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        columns = ", ".join(f'"{name}"' for (name,) in link.rows(_TEXTS, (table,)))
        try:
            for _ in link.stream(f'SELECT {columns} FROM "{table}"') if columns else ():
                pass
        except CatalogDamaged:
            yield table


def _impossible(link: Link) -> list[str]:
    """Name the tables with a record that cannot be read as one."""
    return list(dict.fromkeys(form.table for form in _FORMS if not _is_sound(form, link)))


def _is_sound(form: Form[Any], link: Link) -> bool:
    try:
        for row in link.stream(form.every):
            form.read(row, link)
    except CatalogDamaged:
        return False
    return form not in _OF_ONE_ROW or link.row(form.every) is not None


def is_ours(path: Path) -> bool:
    """Whether OpenMind made the catalog, of whatever version; False when there is none.

    Raises:
        StoreError: it cannot be read.
    """
    if not size_of(path):
        return False
    link = open_reader(path)
    try:
        if version_of(link) == 0:
            legacy.require_ours(link)
            return legacy.has_tables(link)
    except HomeNewer:
        return True
    except HomeForeign:
        return False
    finally:
        link.close()
    return True
