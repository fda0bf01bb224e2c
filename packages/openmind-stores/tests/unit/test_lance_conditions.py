from openmind.domain.chunks import ChunkKey
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import ChunkFilter
from openmind_stores.lance.conditions import matching, of_keys, quote

ALL = Visibility(newest=Generation(7))


def test_a_quote_is_doubled_and_nothing_else_is_changed() -> None:
    assert quote("o'neill \\ % _ \" 数据 \n") == "'o''neill \\ % _ \" 数据 \n'"


def test_text_that_is_no_unicode_can_be_asked_for() -> None:
    assert quote("a\ud800b") == "'a?b'"


def test_only_what_may_be_seen_matches() -> None:
    assert matching(ChunkFilter(visible=ALL)) == "generation <= 7"


def test_without_newer_rows_nothing_has_to_be_asked_of_each_row() -> None:
    assert matching(ChunkFilter(visible=ALL), bounded=False) == ""
    assert matching(ChunkFilter(visible=ALL, extensions=(".md",)), bounded=False) == "extension IN ('.md')"


def test_short_ranges_of_dead_generations_are_listed_since_each_range_costs_as_much_as_fifty_names() -> None:
    dead = ((Generation(1), Generation(1)), (Generation(3), Generation(5)), (Generation(10), Generation(60)))

    where = matching(ChunkFilter(visible=Visibility(newest=Generation(70), dead=dead)))

    assert where == "generation <= 70 AND generation NOT IN (1, 3, 4, 5) AND NOT (generation BETWEEN 10 AND 60)"


def test_all_conditions_hold_together() -> None:
    where = matching(
        ChunkFilter(
            visible=ALL,
            source_ids=(SourceId("b"), SourceId("a'"), SourceId("b")),
            path_prefix="/it's/",
            extensions=(".md",),
            modified_after=1.5,
            modified_before=2e9,
        )
    )

    assert where == (
        "generation <= 7 AND source_id IN ('a''', 'b') AND extension IN ('.md') AND starts_with(path, '/it''s/')"
        " AND modified_at >= 1.5 AND modified_at <= 2000000000.0"
    )


def test_no_source_lets_nothing_through() -> None:
    assert matching(ChunkFilter(visible=ALL, source_ids=())) == "false"


def test_keys_are_looked_up_by_numbers() -> None:
    keys = [ChunkKey(generation=Generation(n), file_id=FileId("f"), index=n % 2) for n in (3, 1, 2)]

    assert of_keys(keys) == "generation IN (1, 2, 3) AND chunk_index IN (0, 1)"
