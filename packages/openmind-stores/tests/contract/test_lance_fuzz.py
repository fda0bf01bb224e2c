"""Whatever is asked for: the same rows as in memory, and never an error."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openmind.domain.ids import Generation, SourceId
from openmind.domain.index import Visibility, as_ranges
from openmind.ports.chunk_store import ChunkFilter, ChunkStore
from openmind.testing.contracts.chunk_store_promises.samples import EVERYTHING, TABLE, ask, row, unit
from openmind.testing.fakes.chunk_store import MemoryChunkStore
from openmind_stores.lance.chunk_store import LanceChunkStore

WHATEVER_IT_TAKES = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
FOLDERS = ("/a", "/a'b", "/a%", "/a_", '/a"', "/a\\", "/数据", "/a b", "/A", "/a\n", "/a;--", "/a%%/b")
EXTENSIONS = (".txt", ".TXT", ".md", "", ".o'k", ".数")
SOURCES = ("src_a", "src'b", "src_c", "SRC_A", "")
ROWS = [
    row(
        n,
        0,
        f"alpha w{n}",
        source=SOURCES[n % len(SOURCES)],
        path=f"{FOLDERS[n % len(FOLDERS)]}/file{n}{EXTENSIONS[n % len(EXTENSIONS)]}",
        vector=unit(1, n, 0),
        modified_at=n * 0.5 - 10,
    )
    for n in range(120)
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ChunkStore, ChunkStore]]:
    lance, memory = LanceChunkStore(tmp_path_factory.mktemp("fuzz")), MemoryChunkStore()
    for store in (lance, memory):
        store.create(TABLE, dimension=3)
        store.add(TABLE, ROWS[:100])
        store.fold(TABLE)
        store.add(TABLE, ROWS[100:])
    return lance, memory


def generations(*, most: int) -> st.SearchStrategy[Generation]:
    return st.integers(0, most).map(Generation)


FILTERS = st.builds(
    ChunkFilter,
    visible=st.builds(
        Visibility,
        newest=generations(most=130),
        dead=st.sets(generations(most=125), max_size=40).map(lambda dead: as_ranges(sorted(dead))),
    ),
    source_ids=st.none() | st.lists(st.sampled_from(SOURCES).map(SourceId), max_size=3).map(tuple),
    path_prefix=st.none() | st.sampled_from([*FOLDERS, "", "/", "/zz", "%", "/a'b/file1"]),
    extensions=st.lists(st.sampled_from(EXTENSIONS), max_size=3).map(tuple),
    modified_after=st.none() | st.floats(-20, 60) | st.sampled_from([1e300, -1e300, 0.0, -0.0, 5e-324]),
    modified_before=st.none() | st.floats(-20, 60),
)


@settings(deadline=None, max_examples=150, suppress_health_check=WHATEVER_IT_TAKES)
@given(where=FILTERS)
def test_filters_mean_the_same_as_in_memory(stores: tuple[ChunkStore, ChunkStore], where: ChunkFilter) -> None:
    lance, memory = (ask(store, "alpha", vector=unit(0, 1, 0), where=where, limit=500) for store in stores)

    expected = sorted(candidate.key for candidate in memory.words)
    assert sorted(candidate.key for candidate in lance.words) == expected
    assert sorted(candidate.key for candidate in lance.vectors) == expected
    assert (lance.words_error, lance.vectors_error) == ("", "")


TERMS = st.lists(
    st.text(min_size=1, max_size=12) | st.sampled_from(["alpha", "w7", "w8", "\x00", "\ud800"]), max_size=6
)


@settings(deadline=None, max_examples=150, suppress_health_check=WHATEVER_IT_TAKES)
@given(terms=TERMS, phrases=st.lists(TERMS.map(tuple), max_size=2), prefix=st.none() | st.text(max_size=6))
def test_no_words_and_no_folder_are_an_error(
    stores: tuple[ChunkStore, ChunkStore], terms: list[str], phrases: list[tuple[str, ...]], prefix: str | None
) -> None:
    where = ChunkFilter(visible=EVERYTHING, path_prefix=prefix)
    lance, _ = stores

    found = ask(lance, *terms, phrases=tuple(phrases), where=where)

    assert found.words_error == ""
    with lance.open(TABLE) as view:
        assert all(0 <= share <= 1 for share in view.document_share(terms))
