"""Every statement compiles, and those that run often or on much use an index."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.paths import displayable
from openmind_stores.sqlite import legacy, values
from openmind_stores.sqlite.catalog import SqliteCatalog
from openmind_stores.sqlite.schema import MIGRATIONS
from openmind_stores.sqlite.tables import (
    file_changes,
    files,
    generations,
    index_tables,
    plans,
    runs,
    sources,
    texts,
)
from openmind_stores.sqlite.tables import (
    settings as remembered,
)
from openmind_stores.sqlite.tables.paths import shown

MODULES = (file_changes, files, generations, index_tables, plans, runs, remembered, sources, texts)
VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE")


def statements(module: ModuleType) -> Iterator[tuple[str, str]]:
    """List the SQL constants of a module."""
    for name, value in vars(module).items():
        several = value if isinstance(value, tuple) else (value,)
        for sql in several:
            if isinstance(sql, str) and sql.split() and sql.split()[0] in VERBS and " " in sql:
                yield f"{module.__name__.rpartition('.')[2]}.{name}", sql.replace("({})", "(?)")


ALL = [found for module in MODULES for found in statements(module)]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    catalog = SqliteCatalog(tmp_path)
    catalog.initialise(written_by=lambda: "0.1.0")
    with closing(sqlite3.connect(catalog.path)) as connection:
        connection.execute(file_changes._INCOMING)
        yield connection


def plan(connection: sqlite3.Connection, sql: str) -> list[str]:
    """Ask SQLite how it would run a statement; parameters do not matter for that."""
    parameters = dict.fromkeys(re.findall(r":(\w+)", sql)) or (None,) * sql.count("?")
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
    return [row[3] for row in rows]


def test_there_are_statements_to_look_at() -> None:
    assert len(ALL) > 60


@pytest.mark.parametrize(("name", "sql"), ALL, ids=[name for name, _ in ALL])
def test_every_statement_compiles(connection: sqlite3.Connection, name: str, sql: str) -> None:
    plan(connection, sql)


READS_EVERY_FILE = {
    "file_changes._FORGET_SOURCE_PLANS",
    "files._TALLY",
    "index_tables._BURY_LIVE",
    "index_tables._UNLIVE",
    "settings._CLEAR",
}
"""What is asked once, or is about every file."""


@pytest.mark.parametrize(("name", "sql"), ALL, ids=[name for name, _ in ALL])
def test_no_statement_looks_for_a_file_by_reading_all_of_them(
    connection: sqlite3.Connection, name: str, sql: str
) -> None:
    if name in READS_EVERY_FILE:
        return

    scans = [step for step in plan(connection, sql) if step.startswith(("SCAN files", "SCAN changes", "SCAN vectors"))]

    assert not [step for step in scans if "USING" not in step]


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (files._KNOWN, "files_in_order (source_id=?)"),
        (files._TALLY, "SEARCH file_totals USING PRIMARY KEY (source_id=?)"),
        (files._BY_CONTENT, "files_by_content (content_hash=?)"),
        (files._WITHOUT_VECTORS, "files_without_vectors (id>?)"),
        (files._PAGE, "sqlite_autoindex_files_3 (path_bytes>?)"),
        (files._SOURCE_PAGE, "files_in_order (source_id=? AND path_bytes>?)"),
        (files._SOURCE_TEXT_BYTES, "sqlite_autoindex_texts_1 (content_hash=? AND extractor=?)"),
        (files._JOURNAL_ROWS, "COVERING INDEX"),
        (plans._PAGE, "changes_in_order (run_id=? AND (effort,size,path_bytes)>(?,?,?))"),
        (plans._GONE, "changes_gone (run_id=? AND content_hash=?)"),
        (texts._DROP_UNUSED, "COVERING INDEX files_by_content (content_hash=? AND extractor=?)"),
        (generations._LIVE, "files_by_generation"),
        (generations._GARBAGE, "garbage_by_age (died_at<?)"),
        (file_changes._BURY_REPLACED, "sqlite_autoindex_files_1 (id=?)"),
        (file_changes._BURY_UNPUBLISHED, "files_by_generation (live_generation=?)"),
    ],
)
def test_what_runs_often_uses_the_index_made_for_it(connection: sqlite3.Connection, sql: str, index: str) -> None:
    steps = plan(connection, sql)

    assert any(index in step for step in steps), steps


@pytest.mark.parametrize(
    "sql",
    [files._KNOWN, files._PAGE, files._SOURCE_PAGE, files._UNFILLED, plans._PAGE, generations._LIVE],
)
def test_what_streams_is_not_sorted_first(connection: sqlite3.Connection, sql: str) -> None:
    assert not [step for step in plan(connection, sql) if "TEMP B-TREE" in step]


def test_a_legacy_catalog_is_taken_over_table_by_table() -> None:
    assert legacy._COPY.keys() == legacy._SET_ASIDE.keys() == legacy._KNOWN.keys()


@settings(deadline=None, max_examples=200)
@given(st.lists(st.binary(min_size=1, max_size=6).map(lambda name: name.replace(b"a", b"\\xff")), unique=True))
def test_no_two_paths_are_shown_alike(paths: list[bytes]) -> None:
    looks: dict[str, bytes] = {}
    for path in paths:
        looks[shown(path, lambda look: look in looks)] = path

    assert sorted(looks.values()) == sorted(paths)


@given(st.text())
def test_a_path_that_can_be_displayed_is_shown_as_it_is(path: str) -> None:
    encoded = path.encode("utf-8", "surrogatepass")

    assert shown(encoded, lambda look: False) == displayable(encoded)


@given(st.integers())
def test_numbers_are_brought_into_what_the_database_takes(number: int) -> None:
    stored = values.integer(number)

    assert -(2**63) <= stored < 2**63
    assert stored == number or abs(number) >= 2**63 - 1


@given(st.text(alphabet=st.characters()))
def test_text_is_brought_into_what_the_database_takes(text: str) -> None:
    stored = values.text(text)

    stored.encode("utf-8")
    assert len(stored) == len(text)


@given(st.lists(st.integers()), st.integers(min_value=1, max_value=7))
def test_batches_hold_everything_in_order(numbers: list[int], size: int) -> None:
    batches = list(values.batches(iter(numbers), size))

    assert [number for batch in batches for number in batch] == numbers
    assert all(len(batch) == size for batch in batches[:-1])
    assert all(batches)


CHANGES = st.tuples(
    st.sampled_from(
        (
            "INSERT OR IGNORE INTO files VALUES (:id, :source, :id, '', '', 0, 0, '', '', '', '', CAST(:id AS BLOB), "
            "0, 0, :reason, '', '', NULL, :chunks, 1, '', '', NULL)",
            "UPDATE files SET live_generation = :chunks WHERE id = :id "
            "AND NOT EXISTS (SELECT 1 FROM files WHERE live_generation = :chunks)",
            "UPDATE files SET live_generation = NULL, missing_vectors = 0 WHERE reason = :reason",
            "UPDATE files SET reason = :reason, chunk_count = :chunks WHERE id = :id",
            "UPDATE files SET missing_vectors = 0",
            "DELETE FROM files WHERE id = :id",
            "DELETE FROM files WHERE source_id = :source",
            "DELETE FROM files",
        )
    ),
    st.fixed_dictionaries(
        {
            "id": st.sampled_from("abc"),
            "source": st.sampled_from("st"),
            "reason": st.sampled_from(["ok", "empty"]),
            "chunks": st.integers(1, 3),
        }
    ),
)
COUNTED = """
SELECT source_id, reason, COUNT(*), SUM(IIF(live_generation IS NULL, 0, chunk_count)),
    SUM(IIF(live_generation IS NULL, 0, missing_vectors))
FROM files GROUP BY source_id, reason ORDER BY source_id, reason
"""


@given(changes=st.lists(CHANGES, max_size=30))
@settings(deadline=None, max_examples=50)
def test_the_totals_are_what_counting_the_files_gives(changes: list[tuple[str, dict[str, object]]]) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in (step for migration in MIGRATIONS for step in migration):
            connection.execute(statement)

        for sql, values_of in changes:
            connection.execute(sql, values_of)

        totals = connection.execute("SELECT * FROM file_totals WHERE files <> 0 ORDER BY source_id, reason").fetchall()
        assert totals == connection.execute(COUNTED).fetchall()
