import pytest
from openmind.ports.archive import Archive
from openmind.testing.contracts.archive import ArchiveContract
from openmind_stores.archive.parquet import ParquetArchive


class TestParquetArchive(ArchiveContract):
    @pytest.fixture
    def archive(self) -> Archive:
        return ParquetArchive()
