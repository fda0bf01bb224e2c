from collections.abc import Callable
from pathlib import Path

import pytest
from openmind.ports.storage import Storage
from openmind.testing.contracts.storage import StorageContract
from openmind_stores.storage import LocalStorage


class TestLocalStorage(StorageContract):
    @pytest.fixture
    def make_storage(self) -> Callable[[Path], Storage]:
        return LocalStorage
