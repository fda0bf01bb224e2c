import pytest
from openmind.ports.catalog import Catalog
from openmind.testing.contracts.catalog import CatalogContract
from openmind.testing.fakes.catalog import MemoryCatalog


class TestMemoryCatalog(CatalogContract):
    @pytest.fixture
    def catalog(self) -> Catalog:
        return MemoryCatalog(timeout_s=60)

    @pytest.fixture
    def impatient_catalog(self) -> Catalog:
        return MemoryCatalog(timeout_s=0.05)
