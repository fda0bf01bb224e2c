import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import pytest
from openmind.domain.errors import IndexingBusy, StoreError
from openmind.domain.ids import JobId
from openmind.domain.jobs import IndexJob, JobState
from openmind.plugins.manager import load_plugins
from openmind_stores.storage import LocalStorage

STATUS = """
import sys
from pathlib import Path
from openmind.plugins.registries import StoreRegistry
from openmind_stores.plugin import openmind_register_stores

registry = StoreRegistry()
openmind_register_stores(registry)
registered = set(sys.modules)
storage = registry.find("local")(Path(sys.argv[1]))
storage.initialise()
with storage.catalog.reading() as snapshot:
    snapshot.counts()
    snapshot.sources()
storage.size_bytes()
storage.close()
print(sorted({name.partition(".")[0] for name in registered}))
print(sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path / "home")
    storage.initialise()
    return storage


def test_building_storage_touches_nothing(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "home")
    storage.close()

    assert list(tmp_path.iterdir()) == []


def test_initialising_makes_the_home_and_is_harmless_when_repeated(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "a" / "home")

    storage.initialise()
    storage.initialise()

    with storage.catalog.reading() as snapshot:
        assert snapshot.sources() == ()


def test_a_home_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError):
        LocalStorage(tmp_path / "file" / "home").initialise()


def test_storage_is_registered_under_its_name(tmp_path: Path) -> None:
    factory = load_plugins().stores.find("local")

    factory(tmp_path / "home").initialise()

    assert (tmp_path / "home" / "openmind.sqlite").exists()


def test_threads_share_one_chunk_store(storage: LocalStorage) -> None:
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: storage.chunks, range(16)))

    assert len({id(store) for store in stores}) == 1


def test_the_size_is_that_of_everything_that_is_remembered(storage: LocalStorage) -> None:
    before = storage.size_bytes()
    folder = storage.home / "lancedb" / "chunks.lance" / "data"
    folder.mkdir(parents=True)
    (folder / "1.lance").write_bytes(b"x" * 12_345)
    (storage.home / "config.toml").write_bytes(b"x" * 999)

    assert before == (storage.home / "openmind.sqlite").stat().st_size
    assert storage.size_bytes() == before + 12_345


def test_a_home_without_anything_in_it_has_no_size(tmp_path: Path) -> None:
    assert LocalStorage(tmp_path / "nowhere").size_bytes() == 0


def test_closing_twice_is_harmless(storage: LocalStorage) -> None:
    storage.close()
    storage.close()


def test_the_catalog_notes_the_version_that_made_it(storage: LocalStorage) -> None:
    with storage.catalog.reading() as snapshot:
        assert snapshot.setting("written_by") == version("openmind-stores")


def test_the_note_of_the_version_outlives_a_clearing(storage: LocalStorage) -> None:
    with storage.catalog.writing() as session:
        session.clear(sources=True)

    with storage.catalog.reading() as snapshot:
        assert snapshot.setting("written_by")


def test_a_status_imports_nothing_heavy(storage: LocalStorage) -> None:
    command = [sys.executable, "-c", STATUS, str(storage.home)]
    child = subprocess.run(command, capture_output=True, text=True, check=True)

    registered, used = (set(line.strip("[]").replace("'", "").split(", ")) for line in child.stdout.splitlines())
    heavy = {"lance", "lancedb", "pyarrow", "pandas", "numpy", "filelock", "httpx", "litestar", "onnxruntime", "email"}
    assert not heavy & used
    assert "sqlite3" not in registered
    assert "sqlite3" in used


def test_who_meets_the_lock_of_a_paused_job_learns_how_to_let_it_go_on(tmp_path: Path) -> None:
    first, second = LocalStorage(tmp_path), LocalStorage(tmp_path)
    first.initialise()
    with first.catalog.writing() as session:
        session.add_job(IndexJob(id=JobId("job_1"), state=JobState.PAUSED))

    with first.index_lock(), pytest.raises(IndexingBusy, match="paused") as refused, second.index_lock():
        pass

    assert "openmind index resume" in refused.value.hint
    assert "openmind index stop" in refused.value.hint
