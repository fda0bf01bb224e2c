from collections.abc import Callable
from pathlib import Path

import pytest
from openmind.ports.archive import Archive
from openmind.ports.storage import Storage
from openmind.testing.contracts.archive import ArchiveContract
from openmind.testing.contracts.storage import StorageContract
from openmind.testing.fakes.archive import MemoryArchive
from openmind.testing.fakes.storage import MemoryStorages


class TestMemoryStorage(StorageContract):
    @pytest.fixture
    def make_storage(self) -> Callable[[Path], Storage]:
        return MemoryStorages().at


class TestMemoryArchive(ArchiveContract):
    @pytest.fixture
    def archive(self) -> Archive:
        return MemoryArchive()
