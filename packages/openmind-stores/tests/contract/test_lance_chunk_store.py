from pathlib import Path

import pytest
from openmind.ports.chunk_store import ChunkStore
from openmind.testing.contracts.chunk_store import ChunkStoreContract
from openmind_stores.lance.chunk_store import LanceChunkStore


class TestLanceChunkStore(ChunkStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> ChunkStore:
        return LanceChunkStore(tmp_path / "lancedb")
