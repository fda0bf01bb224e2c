from pathlib import Path

from attrs import define
from openmind.ports.chunk_store import CandidateQuery, ChunkFilter, WordsQuery
from openmind.testing.contracts.chunk_store_promises.samples import EVERYTHING, TABLE, keys, row
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.engine import Caches
from openmind_stores.lance.policy import UpkeepPolicy
from openmind_stores.lance.reading_memory import GROWTH_PART, LEAST_GROWTH, WARM_SEARCHES, ReadingMemory
from openmind_stores.lance.table import Table
from openmind_stores.lance.upkeep import Upkeep
from openmind_stores.lance.view import LanceChunkView

WARM = 100 * LEAST_GROWTH


class Counted(Caches):
    """Caches that say they hold what a test wants them to."""

    held = 0

    @property
    def index_bytes(self) -> int:
        return self.held


@define
class Readers:
    """Searches one after the other, each of which leaves the caches with so many bytes."""

    memory: ReadingMemory

    def search(self, *, held: int, times: int = 1) -> Caches:
        caches = self.memory.caches()
        assert isinstance(caches, Counted)
        caches.held = held
        self.memory.searched(caches)
        return caches if times == 1 else self.search(held=held, times=times - 1)


def readers() -> Readers:
    return Readers(ReadingMemory(Counted))


def test_what_every_search_needs_is_kept_however_much_it_is() -> None:
    asked = readers()

    first = asked.search(held=WARM // 2)

    assert asked.search(held=WARM, times=3 * WARM_SEARCHES) is first


def test_caches_that_words_asked_for_once_have_filled_are_let_go_of() -> None:
    asked = readers()
    first = asked.search(held=WARM, times=WARM_SEARCHES)

    asked.search(held=WARM + WARM // GROWTH_PART + 1)

    assert asked.memory.caches() is not first


def test_growth_within_the_bound_keeps_the_caches() -> None:
    asked = readers()
    first = asked.search(held=WARM, times=WARM_SEARCHES)

    asked.search(held=WARM + WARM // GROWTH_PART)

    assert asked.memory.caches() is first


def test_a_small_memory_does_not_warm_up_again_for_a_few_words() -> None:
    asked = readers()
    first = asked.search(held=10, times=WARM_SEARCHES)

    asked.search(held=10 + LEAST_GROWTH)

    assert asked.memory.caches() is first


def test_new_caches_have_time_to_warm_up() -> None:
    asked = readers()
    asked.search(held=WARM, times=WARM_SEARCHES)
    asked.search(held=2 * WARM)
    second = asked.search(held=1)

    assert asked.search(held=2 * WARM, times=WARM_SEARCHES - 1) is second
    assert asked.memory.caches() is second


def test_searches_that_end_with_caches_let_go_of_count_for_nothing() -> None:
    asked = readers()
    first = asked.search(held=WARM, times=WARM_SEARCHES)
    asked.search(held=2 * WARM)
    second = asked.search(held=WARM, times=WARM_SEARCHES - 1)

    asked.memory.searched(first)
    asked.search(held=2 * WARM)  # the last that may warm them up

    assert asked.memory.caches() is second


def test_a_search_under_way_goes_on_with_the_caches_that_are_let_go_of(tmp_path: Path) -> None:
    LanceChunkStore(tmp_path).create(TABLE, dimension=4)
    LanceChunkStore(tmp_path).add(TABLE, [row(1, 0, "alpha"), row(2, 0, "beta")])
    memory = ReadingMemory(Counted)

    def opened() -> LanceChunkView:
        return LanceChunkView(
            Table(TABLE, tmp_path / f"{TABLE}.lance", memory.caches(), Upkeep(UpkeepPolicy())), memory
        )

    alpha = CandidateQuery(words=WordsQuery(terms=("alpha",)), filter=ChunkFilter(visible=EVERYTHING), limit=5)
    under_way = opened()
    for _ in range(WARM_SEARCHES):
        opened().candidates(alpha)
    first = memory.caches()
    assert isinstance(first, Counted)
    first.held = 2 * LEAST_GROWTH

    after = opened()

    assert memory.caches() is not first
    assert keys(under_way.candidates(alpha).words) == keys(after.candidates(alpha).words) == [(1, 0)]
    assert len(under_way.passages([each.key for each in under_way.candidates(alpha).words])) == 1
