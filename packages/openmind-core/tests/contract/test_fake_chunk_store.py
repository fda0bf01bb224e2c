import pytest
from openmind.domain.errors import StoreDamaged
from openmind.ports.chunk_store import ChunkStore
from openmind.testing.contracts.chunk_store import ChunkStoreContract
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, counted
from openmind.testing.fakes.chunk_store import MemoryChunkStore


class TestMemoryChunkStore(ChunkStoreContract):
    @pytest.fixture
    def store(self) -> ChunkStore:
        return MemoryChunkStore()

    def test_a_damaged_table_cannot_be_used_until_it_is_put_aside(self, store: MemoryChunkStore) -> None:
        store.damage(TABLE)

        with pytest.raises(StoreDamaged):
            store.counts(TABLE)
        with pytest.raises(StoreDamaged):
            store.create(TABLE, dimension=3)
        store.quarantine(TABLE)
        store.create(TABLE, dimension=3)
        assert counted(store) == {}
