"""What the catalog leaves on disk: modes, space, traces; and disks that cannot be written to."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil
import pytest
from openmind.domain.errors import StoreError
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, SourceId
from openmind.domain.sources import Source
from openmind_stores.sqlite.catalog import WAL_STEP, SqliteCatalog
from openmind_stores.sqlite.connection import open_writer
from openmind_stores.storage import LocalStorage

MARKER = "xylophonquark"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path / "home")
    storage.initialise()
    with storage.catalog.writing() as session:
        session.add_source(Source(id=SourceId("src_a"), path_bytes=b"/a", created_at="2026-01-01T00:00:00+00:00"))
    return storage


def record(number: int, *, name: str = "note", title: str = "") -> FileRecord:
    return FileRecord(
        id=FileId(f"file_{number:06}"),
        source_id=SourceId("src_a"),
        path_bytes=f"/a/{name}-{number:06}.md".encode(),
        stat=FileStat(size=1, mtime_ns=1),
        scanned_ns=1,
        content_hash=f"{number:064x}",
        reason=FileReason.OK,
        extractor="plain/1",
        title=title,
    )


def catalog_files(storage: LocalStorage) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in storage.home.glob("openmind.sqlite*")}


def wal_size(storage: LocalStorage) -> int:
    return catalog_files(storage).get("openmind.sqlite-wal", 0)


@pytest.fixture
def generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous_umask")
def test_every_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "deep" / "home")
    storage.initialise()

    with storage.index_lock(), storage.catalog.reading(), storage.catalog.writing() as session:
        session.set_setting("a", "b")
        modes = {path.name: path.stat().st_mode & 0o777 for path in storage.home.iterdir()}

    names = ("catalog.lock", "index.lock", "openmind.sqlite", "openmind.sqlite-shm", "openmind.sqlite-wal")
    assert modes == dict.fromkeys(names, 0o600)
    assert storage.home.stat().st_mode & 0o777 == 0o700


def test_between_sessions_the_catalog_is_one_file_that_nobody_holds(storage: LocalStorage) -> None:
    with storage.catalog.reading() as snapshot, storage.catalog.writing() as session:
        session.set_setting("a", "b")
        assert snapshot.setting("a") is None
    with storage.catalog.writing() as session:
        session.set_setting("c", "d")

    assert set(catalog_files(storage)) == {"openmind.sqlite"}
    held = [Path(file.path) for file in psutil.Process().open_files()]
    assert not [path for path in held if path.is_relative_to(storage.home)]


def test_sessions_that_fail_hold_no_files_either(storage: LocalStorage) -> None:
    for _ in range(20):
        with pytest.raises(ZeroDivisionError), storage.catalog.writing():
            _ = 1 / 0
        with pytest.raises(ZeroDivisionError), storage.catalog.reading():
            _ = 1 / 0

    held = [Path(file.path) for file in psutil.Process().open_files()]
    assert not [path for path in held if path.is_relative_to(storage.home)]


def test_a_stream_that_is_not_read_to_its_end_holds_nothing_after_the_session(storage: LocalStorage) -> None:
    with storage.catalog.writing() as session:
        session.record([record(number) for number in range(1_000)], at=1.0)

    with storage.catalog.reading() as snapshot:
        read = snapshot.known_files(SourceId("src_a"))
        next(read)
    with suppress(ZeroDivisionError), storage.catalog.writing() as session:
        changed = session.known_files(SourceId("src_a"))
        next(changed)
        _ = 1 / 0

    held = [Path(file.path) for file in psutil.Process().open_files()]
    assert not [path for path in held if path.is_relative_to(storage.home)]
    for stream in (read, changed):
        with pytest.raises(StoreError):
            next(stream)


def test_a_home_can_be_replaced_under_a_catalog_that_has_been_used(storage: LocalStorage, tmp_path: Path) -> None:
    storage.home.rename(tmp_path / "before")
    storage.initialise()

    with storage.catalog.writing() as session:
        session.set_setting("new", "home")

    with storage.catalog.reading() as snapshot:
        assert snapshot.sources() == ()
        assert snapshot.setting("new") == "home"


def test_the_log_stays_bounded_while_readers_come_and_go(storage: LocalStorage) -> None:
    catalog = SqliteCatalog(storage.home, lock_timeout_s=60, wait_for_readers_s=60)  # no reader dawdles for so long
    reading, done = threading.Event(), threading.Event()

    def read_without_a_gap() -> None:
        """Leave each snapshot after the next has begun: the log is in use at every moment."""
        with ExitStack() as sessions:
            while not done.is_set():
                earlier = sessions.pop_all()
                sessions.enter_context(catalog.reading()).counts()
                earlier.close()
                reading.set()
                done.wait(0.005)

    reader = threading.Thread(target=read_without_a_gap)
    reader.start()
    sizes = []
    try:
        assert reading.wait(60)
        for number in range(24):
            with catalog.writing() as session:
                session.keep_text(f"{number:064x}", "plain/1", os.urandom(1_500_000))
            sizes.append(wal_size(storage))
    finally:
        done.set()
        reader.join()

    assert max(sizes) < WAL_STEP, sizes


def test_after_waiting_for_readers_a_connection_that_stays_open_is_as_patient_with_others_as_before(
    storage: LocalStorage,
) -> None:
    catalog = SqliteCatalog(storage.home, wait_for_readers_s=0)
    with catalog.reading() as snapshot, closing(open_writer(catalog.path)) as link:
        link.run("DELETE FROM settings")
        assert not catalog._empty_log(link)
        assert snapshot.counts().files == 0
        assert link.value("PRAGMA busy_timeout") == 5_000


def test_the_log_stays_bounded_while_vectors_are_journalled(storage: LocalStorage) -> None:
    sizes = []
    with storage.catalog.journalling("served") as keep:
        for number in range(60):
            keep({bytes([number, row]): bytes(16_384) for row in range(16)})
            sizes.append(wal_size(storage))

    assert max(sizes) < WAL_STEP, sizes
    assert list(catalog_files(storage)) == ["openmind.sqlite"]


def test_a_log_that_a_long_reader_kept_growing_shrinks_after_it(storage: LocalStorage) -> None:
    with storage.catalog.reading() as snapshot:
        for number in range(8):
            with storage.catalog.writing() as session:
                session.keep_text(f"{number:064x}", "plain/1", os.urandom(1_500_000))
        assert snapshot.counts().text_bytes == 0
        assert wal_size(storage) > 8_000_000
    with storage.catalog.writing() as session:
        session.set_setting("a", "b")

    assert wal_size(storage) == 0
    with storage.catalog.reading() as snapshot:
        assert snapshot.counts().text_bytes == 12_000_000


def test_tidying_gives_space_back(storage: LocalStorage) -> None:
    with storage.catalog.writing() as session:
        for number in range(400):
            session.keep_text(f"{number:064x}", "plain/1", os.urandom(50_000))
    full = storage.size_bytes()
    with storage.catalog.writing() as session:
        assert session.drop_unused_texts() == 400

    assert storage.catalog.tidy()

    assert full > 20_000_000
    assert storage.size_bytes() < 500_000


def test_tidying_says_when_a_reader_is_in_the_way(storage: LocalStorage) -> None:
    with storage.catalog.writing() as session:
        session.keep_text("a" * 64, "plain/1", MARKER.encode())

    with storage.catalog.reading() as snapshot:
        with storage.catalog.writing() as session:
            session.drop_unused_texts()
        assert not storage.catalog.tidy()
        assert snapshot.text("a" * 64, "plain/1") == MARKER.encode()

    assert storage.catalog.tidy()


def occurrences(storage: LocalStorage, marker: str) -> list[str]:
    """Name the files of the home that hold a marker."""
    return [path.name for path in storage.home.rglob("*") if path.is_file() and marker.encode() in path.read_bytes()]


def remember_markers(storage: LocalStorage) -> None:
    """Remember files that hold the marker wherever they can, between others that do not."""
    with storage.catalog.writing() as session:
        session.record([record(number) for number in range(500)], at=1.0)
        for number in range(500):
            session.keep_text(f"{number:064x}", "plain/1", b"harmless words " * 20)
    with storage.catalog.writing() as session:
        session.record([record(number, name=MARKER, title=MARKER) for number in range(600, 640)], at=1.0)
        for number in range(600, 640):
            session.keep_text(f"{number:064x}", "plain/1", f"{MARKER} ".encode() * (1 + 40 * (number % 10)))
            session.keep_vectors("static", {number.to_bytes(32): MARKER.encode() * 50})


def test_what_was_forgotten_is_nowhere_in_the_files(storage: LocalStorage) -> None:
    remember_markers(storage)
    assert occurrences(storage, MARKER) == ["openmind.sqlite"]

    with storage.catalog.writing() as session:
        assert session.forget([FileId(f"file_{number:06}") for number in range(600, 640)], at=1.0) == 40
        assert session.drop_unused_texts() == 40
        session.drop_vectors("static")
    assert storage.catalog.tidy()

    assert occurrences(storage, MARKER) == []
    with storage.catalog.reading() as snapshot:
        assert snapshot.counts().files == 500


def test_what_was_renamed_is_nowhere_in_the_files(storage: LocalStorage) -> None:
    remember_markers(storage)

    with storage.catalog.writing() as session:
        session.record([record(number) for number in range(600, 640)], at=1.0)
        session.drop_vectors("static")
        for number in range(600, 640):
            session.forget([FileId(f"file_{number:06}")], at=1.0)
        session.drop_unused_texts()
    assert storage.catalog.tidy()

    assert occurrences(storage, MARKER) == []


def test_what_was_cleared_is_nowhere_in_the_files(storage: LocalStorage) -> None:
    remember_markers(storage)

    with storage.catalog.writing() as session:
        session.clear(sources=True)
    assert storage.catalog.tidy()

    assert occurrences(storage, MARKER) == []
    assert storage.size_bytes() < 500_000


LIMITED = """
import os, resource, sys
from pathlib import Path
from openmind.domain.errors import StoreFull
from openmind_stores.storage import LocalStorage

storage = LocalStorage(Path(sys.argv[1]))
limit = storage.size_bytes() + 200_000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with storage.catalog.writing() as session:
        for number in range(1_000):
            session.keep_text(f"{number:064x}", "plain/1", os.urandom(100_000))
except StoreFull as error:
    print("full:", error.message, error.hint)
with storage.catalog.reading() as snapshot:
    print("sources:", len(snapshot.sources()), "text:", snapshot.counts().text_bytes)
with storage.catalog.writing() as session:
    session.set_setting("small", "fits")
with storage.catalog.reading() as snapshot:
    print("small:", snapshot.setting("small"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
def test_a_full_disk_is_an_error_and_keeps_what_there_is(storage: LocalStorage) -> None:
    child = subprocess.run(
        [sys.executable, "-c", LIMITED, str(storage.home)], capture_output=True, text=True, check=False
    )

    assert child.stderr == ""
    full, sources, small = child.stdout.splitlines()
    assert full.startswith("full: There is no space left")
    assert sources == "sources: 1 text: 0"
    assert small == "small: fits"
    with storage.catalog.writing() as session:
        session.keep_text("a" * 64, "plain/1", os.urandom(1_000_000))


NO_ROOM_FOR_A_READER = """
import resource, sys
from pathlib import Path
from openmind.domain.errors import StoreFull
from openmind_stores.storage import LocalStorage

storage = LocalStorage(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
storage.initialise()
with storage.catalog.reading() as snapshot:
    print("sources:", len(snapshot.sources()))
try:
    with storage.catalog.writing() as session:
        session.set_setting("a", "b")
except StoreFull:
    print("full")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
def test_a_disk_without_room_for_a_readers_bookkeeping_can_be_read(storage: LocalStorage) -> None:
    child = subprocess.run(
        [sys.executable, "-c", NO_ROOM_FOR_A_READER, str(storage.home)], capture_output=True, text=True, check=False
    )

    assert child.stderr == ""
    assert child.stdout.splitlines() == ["sources: 1", "full"]


READ_ONLY = """
import os, sys
from pathlib import Path
from openmind.domain.errors import StoreError
from openmind_stores.storage import LocalStorage

home = Path(sys.argv[1])
spare = LocalStorage(home.parent / "spare")  # so that everything is imported while it still can be
spare.initialise()
with spare.index_lock():
    pass
os.setgroups([])
os.setgid(65_534)
os.setuid(65_534)

def read():
    with storage.catalog.reading() as snapshot:
        return len(snapshot.sources())

def write():
    with storage.catalog.writing() as session:
        session.set_setting("a", "b")

def index():
    with storage.index_lock():
        pass

storage = LocalStorage(home)
for attempt in (storage.initialise, read, write, storage.catalog.tidy, index):
    try:
        print(attempt())
    except StoreError as error:
        print(error.code)
"""
KILLED_WITH_A_LOG = """
import os, signal, sys
from pathlib import Path
from openmind.domain.ids import SourceId
from openmind.domain.sources import Source
from openmind_stores.storage import LocalStorage

catalog = LocalStorage(Path(sys.argv[1])).catalog
with catalog.reading():
    with catalog.writing() as session:
        session.add_source(Source(id=SourceId("src_b"), path_bytes=b"/b", created_at="2026"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def attempts_of_another_user(home: Path) -> list[str]:
    """Let a user try who may read the home and write nothing."""
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return attempts_without_rights(home)


def attempts_without_rights(home: Path) -> list[str]:
    child = subprocess.run([sys.executable, "-c", READ_ONLY, str(home)], capture_output=True, text=True, check=False)
    assert child.stderr == ""
    return child.stdout.splitlines()


only_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)


@pytest.fixture
def public_storage() -> Iterator[LocalStorage]:
    """Storage in a folder that other users can reach; pytest's own is private."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        storage = LocalStorage(Path(folder) / "home")
        storage.initialise()
        with storage.catalog.writing() as session:
            session.add_source(Source(id=SourceId("src_a"), path_bytes=b"/a", created_at="2026-01-01T00:00:00+00:00"))
        yield storage


@only_root
def test_a_home_of_somebody_else_is_an_error(public_storage: LocalStorage) -> None:
    attempts = attempts_without_rights(public_storage.home)

    assert len(attempts) == 5
    assert set(attempts) <= {"store", "store.read_only"}


@only_root
def test_a_read_only_home_can_be_read(public_storage: LocalStorage) -> None:
    assert attempts_of_another_user(public_storage.home) == ["None", "1", *["store.read_only"] * 3]


@only_root
def test_a_read_only_home_can_be_read_after_a_crash(public_storage: LocalStorage) -> None:
    subprocess.run([sys.executable, "-c", KILLED_WITH_A_LOG, str(public_storage.home)], check=False)
    assert wal_size(public_storage) > 0

    assert attempts_of_another_user(public_storage.home)[:3] == ["None", "2", "store.read_only"]


@only_root
def test_a_read_only_home_whose_log_cannot_be_read_is_not_read_without_it(public_storage: LocalStorage) -> None:
    subprocess.run([sys.executable, "-c", KILLED_WITH_A_LOG, str(public_storage.home)], check=False)
    (public_storage.home / "openmind.sqlite-shm").unlink()

    assert set(attempts_of_another_user(public_storage.home)) == {"store.read_only"}
