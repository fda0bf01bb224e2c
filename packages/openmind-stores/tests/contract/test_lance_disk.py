"""What happens when the disk is full or must not be written."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, ask, keys, row
from openmind_stores.lance.chunk_store import LanceChunkStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of POSIX")

PRELUDE = """
import os, sys
from pathlib import Path
from openmind.domain.errors import StoreError
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, ask, row
from openmind_stores.lance.chunk_store import LanceChunkStore

store = LanceChunkStore(Path(sys.argv[1]))

def outcome(act):
    try:
        act()
    except StoreError as error:
        return error.code
    return "ok"
"""
WRITES = """
print(outcome(lambda: store.add(TABLE, [row(2, i, "beta " + os.urandom(64).hex()) for i in range(1_000)])))
print(outcome(lambda: store.delete(TABLE, [1])))
print(outcome(lambda: store.create("chunks_2", dimension=3)))
print(outcome(lambda: store.counts(TABLE)))
print(len(ask(store, "alpha").words))
"""


def store_with_a_row(folder: Path) -> LanceChunkStore:
    store = LanceChunkStore(folder)
    store.create(TABLE, dimension=3)
    store.add(TABLE, [row(1, 0, "alpha")])
    store.fold(TABLE)
    return store


@pytest.fixture
def store(tmp_path: Path) -> LanceChunkStore:
    return store_with_a_row(tmp_path / "lancedb")


READ_BACK = "OSError: LanceError(IO): failed to fill whole buffer"


def test_what_cannot_be_read_back_is_a_full_disk_only_where_the_disk_takes_no_more(tmp_path: Path) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))\n"
    write = f"""
from openmind_stores.lance.errors import writing
def act():
    with writing(TABLE, Path(sys.argv[1])):
        raise OSError({READ_BACK!r})
print(outcome(act))
print(len(os.listdir(sys.argv[1])))
"""

    assert in_child(limit + write, tmp_path) == ["store.full", "0"]
    assert in_child(write, tmp_path) == ["store.damaged", "0"]


@pytest.fixture
def public_store() -> Iterator[LanceChunkStore]:
    """A store in a folder that other users can reach; pytest's own is private."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield store_with_a_row(Path(folder) / "lancedb")


def in_child(code: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code, str(folder)], capture_output=True, text=True, timeout=300
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_a_full_disk_is_said_and_costs_no_row(store: LanceChunkStore) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))\n"

    assert in_child(limit + WRITES, store.folder) == ["store.full", "store.full", "store.full", "ok", "1"]

    store.create("chunks_2", dimension=3)
    store.add(TABLE, [row(2, 0, "alpha")])
    store.fold(TABLE)
    assert sorted(keys(ask(store, "alpha").words)) == [(1, 0), (2, 0)]


def test_a_folder_that_must_not_be_written_can_still_be_searched(public_store: LanceChunkStore) -> None:
    store = public_store
    before = sorted(path for path in store.folder.rglob("*"))
    for path in [store.folder, *before]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    # Rights mean nothing to root, who becomes another user. Modules are loaded first, since that one may not read them.
    limit = "import ctypes\nask(store, 'alpha')\nos.setgid(65534)\nos.setuid(65534)\n" if os.geteuid() == 0 else ""

    try:
        answers = in_child(limit + WRITES, store.folder)
    finally:
        for path in [store.folder, *before]:
            path.chmod(0o700 if path.is_dir() else 0o600)

    assert answers == ["store.read_only", "store.read_only", "store.read_only", "ok", "1"]
    assert sorted(path for path in store.folder.rglob("*")) == before
