from pathlib import Path

import pytest
from openmind.ports.catalog import Catalog
from openmind.testing.contracts.catalog import CatalogContract
from openmind_stores.sqlite.catalog import SqliteCatalog


class TestSqliteCatalog(CatalogContract):
    @pytest.fixture
    def catalog(self, tmp_path: Path) -> Catalog:
        catalog = SqliteCatalog(tmp_path, lock_timeout_s=60)
        catalog.initialise(written_by=lambda: "0.1.0")
        return catalog

    @pytest.fixture
    def impatient_catalog(self, tmp_path: Path) -> Catalog:
        catalog = SqliteCatalog(tmp_path, lock_timeout_s=0.05)
        catalog.initialise(written_by=lambda: "0.1.0")
        return catalog
