"""What every chunk store promises.

Subclass `ChunkStoreContract` and give a fixture `store`, which is empty.
"""

import pytest

from openmind.ports.chunk_store import ChunkStore
from openmind.testing.contracts.chunk_store_promises.filters import FilterPromises
from openmind.testing.contracts.chunk_store_promises.ranking import RankingPromises
from openmind.testing.contracts.chunk_store_promises.reading import ReadingPromises
from openmind.testing.contracts.chunk_store_promises.samples import DIMENSION, TABLE
from openmind.testing.contracts.chunk_store_promises.tables import TablePromises
from openmind.testing.contracts.chunk_store_promises.writing import WritingPromises


class ChunkStoreContract(TablePromises, WritingPromises, RankingPromises, FilterPromises, ReadingPromises):
    """One test for each promise of `openmind.ports.chunk_store`."""

    @pytest.fixture(autouse=True)
    def an_empty_table(self, store: ChunkStore) -> None:
        store.create(TABLE, dimension=DIMENSION)
