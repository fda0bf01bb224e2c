"""The catalog between processes: turns, snapshots, and what a killed process leaves behind."""

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from openmind.domain.errors import IndexingBusy, StoreBusy, StoreError
from openmind.domain.ids import SourceId
from openmind.domain.index import IndexIdentity
from openmind.domain.models import EmbedderIdentity
from openmind.domain.sources import Source
from openmind_stores.sqlite.catalog import SqliteCatalog
from openmind_stores.sqlite.locks import hold_index_lock
from openmind_stores.storage import LocalStorage

PRELUDE = """
import os, sys, time
from pathlib import Path
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.ports.catalog import Publication
from openmind_stores.sqlite.catalog import SqliteCatalog
from openmind_stores.storage import LocalStorage

storage = LocalStorage(Path(sys.argv[1]))
catalog = SqliteCatalog(storage.home, lock_timeout_s=60)  # whoever holds the lock may be held up itself

def say(word):
    print(word, flush=True)

def record(number, generation=None):
    return FileRecord(
        id=f"file_{number:06}", source_id="src_a", path_bytes=b"/a/%d" % number,
        stat=FileStat(size=1, mtime_ns=1), scanned_ns=1, content_hash="%064x" % number, reason=FileReason.OK,
        extractor="plain/1", live_generation=generation, chunk_count=3,
    )
"""

HOLD_UNTIL_TOLD = """
with catalog.writing() as session:
    session.set_setting("holder", "was here")
    say("holding")
    sys.stdin.readline()
"""
COUNT_UP = """
for _ in range(60):
    with catalog.writing() as session:
        session.set_setting("count", str(int(session.setting("count") or 0) + 1))
say("done")
"""
RECORD_AND_HANG = """
with catalog.writing() as session:
    session.record((record(number) for number in range(5_000)), at=1.0)
    session.set_setting("half", "done")
    say("holding")
    time.sleep(600)
"""
PUBLISH_FOREVER = """
with catalog.reading() as snapshot:
    table = snapshot.live_table()
    number = snapshot.counts().files
while True:
    with catalog.writing() as session:
        generations = session.begin([table.id], 50)
    publications = [Publication(record=record(number + at, new)) for at, new in enumerate(generations)]
    with catalog.writing() as session:
        for publication in publications:
            session.keep_text(publication.record.content_hash, "plain/1", os.urandom(2_000))
        session.publish(publications, table_ids=[table.id], at=1.0)
    number += 50
    say("published")
"""
HOLD_INDEX_LOCK = """
from openmind.domain.errors import IndexingBusy
try:
    with storage.index_lock():
        say("holding")
        sys.stdin.readline()
except IndexingBusy:
    say("busy")
"""

Start = Callable[[str], "subprocess.Popen[str]"]


def source() -> Source:
    return Source(id=SourceId("src_a"), path_bytes=b"/a", created_at="2026-01-01T00:00:00+00:00")


def identity() -> IndexIdentity:
    embedder = EmbedderIdentity(provider="builtin", model="static", dimension=4)
    return IndexIdentity(embedder=embedder, chunking=1, analyser=1)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path / "home")
    storage.initialise()
    return storage


@pytest.fixture
def start(storage: LocalStorage, request: pytest.FixtureRequest) -> Start:
    """Start a process that works on the same home; it ends with the test, whatever happens."""

    def start(script: str) -> "subprocess.Popen[str]":
        child = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + script, str(storage.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        request.addfinalizer(lambda: finish(child))
        return child

    return start


def finish(child: "subprocess.Popen[str]") -> None:
    child.kill()
    child.communicate()


def hear(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def tell(child: "subprocess.Popen[str]") -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def integrity(storage: LocalStorage) -> str:
    with closing(sqlite3.connect(storage.home / "openmind.sqlite")) as connection:
        found: str = connection.execute("PRAGMA integrity_check").fetchone()[0]
    return found


def test_processes_that_write_take_turns(storage: LocalStorage, start: Start) -> None:
    children = [start(COUNT_UP), start(COUNT_UP)]

    assert [hear(child) for child in children] == ["done", "done"]

    with storage.catalog.reading() as snapshot:
        assert snapshot.setting("count") == "120"
    assert integrity(storage) == "ok"


def test_a_reader_answers_while_another_process_holds_a_transaction(storage: LocalStorage, start: Start) -> None:
    holder = start(HOLD_UNTIL_TOLD)
    assert hear(holder) == "holding"

    with storage.catalog.reading() as snapshot:  # one that waits gives up: the holder goes on only when it is told
        assert snapshot.setting("holder") is None
        assert snapshot.counts().files == 0

    tell(holder)
    holder.wait(60)
    with storage.catalog.reading() as snapshot:
        assert snapshot.setting("holder") == "was here"


def test_a_writer_waits_for_another_process(storage: LocalStorage, start: Start) -> None:
    holder = start(HOLD_UNTIL_TOLD)
    assert hear(holder) == "holding"
    child = start(COUNT_UP)
    time.sleep(0.5)
    assert child.poll() is None

    tell(holder)

    assert hear(child) == "done"


def test_a_writer_gives_up_after_the_timeout(storage: LocalStorage, start: Start) -> None:
    holder = start(HOLD_UNTIL_TOLD)
    assert hear(holder) == "holding"
    impatient = SqliteCatalog(storage.home, lock_timeout_s=0.1)

    with pytest.raises(StoreBusy) as caught, impatient.writing():
        pass  # never reached

    assert "Another process" in caught.value.message
    assert caught.value.hint


def test_a_writer_waits_for_a_program_that_knows_no_lock_file(storage: LocalStorage) -> None:
    catalog = SqliteCatalog(storage.home, lock_timeout_s=60)
    with closing(sqlite3.connect(catalog.path, isolation_level=None, check_same_thread=False)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        later = threading.Timer(0.5, lambda: stranger.execute("COMMIT"))
        later.start()

        with catalog.writing() as session:
            session.set_setting("a", "b")

        later.join()
    with storage.catalog.reading() as snapshot:
        assert snapshot.setting("a") == "b"


def test_a_transaction_that_is_killed_leaves_nothing_behind(storage: LocalStorage, start: Start) -> None:
    with storage.catalog.writing() as session:
        session.add_source(source())
    child = start(RECORD_AND_HANG)
    assert hear(child) == "holding"

    child.send_signal(signal.SIGKILL)
    child.wait()

    with storage.catalog.reading() as snapshot:
        assert snapshot.counts().files == 0
        assert snapshot.setting("half") is None
    with storage.catalog.writing() as session:
        session.set_setting("after", "works")
    assert integrity(storage) == "ok"


def test_processes_that_are_killed_at_any_moment_lose_nothing_that_was_published(
    storage: LocalStorage, start: Start
) -> None:
    with storage.catalog.writing() as session:
        session.add_source(source())
        table = session.add_table("chunks", identity())
    chance = random.Random(7)
    files = 0
    for _ in range(8):
        child = start(PUBLISH_FOREVER)
        assert hear(child) == "published"
        time.sleep(chance.uniform(0.0, 0.25))
        child.send_signal(signal.SIGKILL)
        child.wait()

        with storage.catalog.reading() as snapshot:
            counts = snapshot.counts()
            known = list(snapshot.known_files(SourceId("src_a")))
            begun = snapshot.intents()
            texts = [snapshot.text(found.content_hash, "plain/1") for found in known]
            visible = snapshot.visibility(table.id)
        assert counts.files == len(known) >= files
        assert counts.files % 50 == 0
        assert counts.chunks == 3 * counts.files
        assert all(text is not None for text in texts)
        assert len(begun) in (0, 50)
        generations = {found.live_generation for found in known}
        assert len(generations) == len(known)
        assert not any(first <= found <= last for found in generations if found for first, last in visible.dead)

        with storage.catalog.writing() as session:
            assert session.abandon_all(at=1.0) == len(begun)
        files = counts.files
    assert files >= 8 * 50
    assert integrity(storage) == "ok"


def test_only_one_process_at_a_time_holds_the_index_lock(storage: LocalStorage, start: Start) -> None:
    holder = start(HOLD_INDEX_LOCK)
    assert hear(holder) == "holding"

    with pytest.raises(IndexingBusy, match=f"The process {holder.pid} ") as caught, storage.index_lock():
        pass  # never reached
    assert caught.value.hint

    tell(holder)
    holder.wait(60)
    with storage.index_lock():
        pass


def test_of_many_processes_that_start_at_once_one_holds_the_index_lock(storage: LocalStorage, start: Start) -> None:
    children = [start(HOLD_INDEX_LOCK) for _ in range(8)]

    assert sorted(map(hear, children)) == ["busy"] * 7 + ["holding"]


def test_the_index_lock_dies_with_its_holder(storage: LocalStorage, start: Start) -> None:
    holder = start(HOLD_INDEX_LOCK)
    assert hear(holder) == "holding"

    holder.send_signal(signal.SIGKILL)
    holder.wait()

    with storage.index_lock():
        assert (storage.home / "index.lock").exists()
    assert (storage.home / "index.lock").exists()


def test_the_index_lock_excludes_threads_of_one_process_too(storage: LocalStorage) -> None:
    with storage.index_lock(), pytest.raises(IndexingBusy), storage.index_lock():
        pass  # never reached


def test_writing_goes_on_while_the_index_lock_is_held(storage: LocalStorage, start: Start) -> None:
    holder = start(HOLD_INDEX_LOCK)
    assert hear(holder) == "holding"

    with storage.catalog.writing() as session:
        session.add_source(source())

    with storage.catalog.reading() as snapshot:
        assert len(snapshot.sources()) == 1


def test_nothing_is_made_where_there_is_no_home(tmp_path: Path) -> None:
    home = tmp_path / "nowhere"
    catalog = SqliteCatalog(home)

    for session in (catalog.reading, catalog.writing, lambda: hold_index_lock(home / "index.lock")):
        with pytest.raises(StoreError) as caught, session():
            pass  # never reached
        assert caught.value.hint

    assert not home.exists()
