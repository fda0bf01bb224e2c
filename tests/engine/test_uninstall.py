"""Taking OpenMind off the machine, and nothing else."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from openmind import open_memory
from openmind.adapters.processes import this_process
from openmind.adapters.serve_lock import sole_server
from openmind.application.maintenance.uninstalling import UninstallService
from openmind.domain.errors import (
    HomeForeign,
    HomeServed,
    HomeUnsafe,
    HomeUnusable,
    IndexingBusy,
    JobActive,
    PluginError,
)
from openmind.domain.jobs import IndexJob, JobState
from openmind.uninstall import uninstall_service


@pytest.fixture
def home(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("heliotrope")
    with open_memory(tmp_path / "home") as memory:
        memory.sources.add(notes)
        memory.index()
    return tmp_path / "home"


def service(folder: Path, **changes: object) -> UninstallService:
    return attrs.evolve(uninstall_service(folder), **changes)


def test_everything_of_openmind_goes_and_the_files_stay(home: Path) -> None:
    uninstalling = service(home)
    plan = uninstalling.plan()
    assert plan.contents.size_bytes > 0
    assert {Path(entry.path).name for entry in plan.contents.own} >= {"openmind.sqlite", "chunks.lance"}
    assert (home / "openmind.sqlite").exists()

    left = uninstalling.uninstall(plan)

    assert left.strangers == ()
    assert not home.exists()
    assert (home.parent / "notes" / "a.txt").read_text() == "heliotrope"


def test_a_stranger_s_file_stays_and_is_named(home: Path) -> None:
    (home / "thesis.docx").write_text("mine")
    (home / "logs" / "diary.txt").write_text("mine")
    uninstalling = service(home)
    plan = uninstalling.plan()
    assert [Path(path).name for path in plan.contents.strangers] == ["diary.txt", "thesis.docx"]

    left = uninstalling.uninstall(plan)

    assert {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()} == {
        "thesis.docx",
        "logs/diary.txt",
    }
    assert left.own == ()
    assert len(left.strangers) == 2


def test_without_a_home_there_is_nothing_to_delete(tmp_path: Path) -> None:
    uninstalling = service(tmp_path / "nowhere")

    plan = uninstalling.plan()

    assert not plan.exists
    uninstalling.uninstall(plan)
    assert not (tmp_path / "nowhere").exists()


def test_a_home_that_cannot_be_looked_into_is_told_and_not_taken_for_a_stranger_s(tmp_path: Path) -> None:
    with pytest.raises(HomeUnusable, match="cannot be read"):
        service(tmp_path / ("x" * 300)).plan()


@pytest.mark.skipif(os.name == "nt" or not os.geteuid(), reason="everything is open to root")
def test_a_home_that_is_closed_to_the_person_is_told(home: Path) -> None:
    home.chmod(0)
    try:
        with pytest.raises(HomeUnusable, match="cannot be read"):
            service(home).plan()
    finally:
        home.chmod(0o700)


def test_a_home_that_is_served_stays_until_its_server_ends(home: Path) -> None:
    uninstalling = service(home)
    with sole_server(home / "serve.lock") as server:
        server.announce("http://127.0.0.1:8765")
        plan = uninstalling.plan()
        assert plan.server == "at http://127.0.0.1:8765"
        with pytest.raises(HomeServed, match=r"http://127\.0\.0\.1:8765"):
            uninstalling.uninstall(plan)
    assert (home / "openmind.sqlite").exists()

    assert uninstalling.plan().server == ""
    uninstalling.uninstall(plan)

    assert not home.exists()


def test_folders_that_must_never_be_deleted_are_refused(home: Path, tmp_path: Path) -> None:
    inner = home / "tmp"
    link = tmp_path / "link"
    link.symlink_to(home)
    for changes in (
        {"person_folder": lambda: home},
        {"person_folder": lambda: inner},
        {"current_folder": lambda: home},
        {"current_folder": lambda: inner},
        {"home": link, "current_folder": lambda: home},
        {"home": Path(home.anchor), "is_marked": True},
    ):
        with pytest.raises(HomeUnsafe):
            service(home, **changes).plan()
    assert (home / "openmind.sqlite").exists()


def test_a_home_that_holds_an_approved_folder_is_refused(home: Path) -> None:
    inside = os.fsencode(home / "documents")
    with closing(sqlite3.connect(home / "openmind.sqlite")) as connection, connection:
        connection.execute("UPDATE sources SET path = ?, path_bytes = ?", (os.fsdecode(inside), inside))

    with pytest.raises(HomeUnsafe, match="documents"):
        service(home).plan()


def test_a_folder_that_openmind_did_not_make_is_refused(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "config.toml").write_text("mine")
    database = tmp_path / "other"
    database.mkdir()
    with closing(sqlite3.connect(database / "openmind.sqlite")) as connection:
        connection.execute("CREATE TABLE photos (id)")

    for stranger in (folder, database):
        with pytest.raises(HomeForeign):
            service(stranger).plan()


def test_a_home_from_before_the_marker_is_recognised_by_its_tables(home: Path) -> None:
    (home / ".openmind-home").unlink()
    uninstalling = service(home)

    uninstalling.uninstall(uninstalling.plan())

    assert not home.exists()


def test_a_home_whose_catalog_cannot_be_read_goes_all_the_same(home: Path) -> None:
    (home / "openmind.sqlite").write_bytes(b"no database at all" * 500)
    for companion in home.glob("openmind.sqlite-*"):
        companion.unlink()
    uninstalling = service(home)
    plan = uninstalling.plan()
    assert plan.unread

    uninstalling.uninstall(plan)

    assert not home.exists()


def test_a_job_that_does_not_stop_keeps_everything(home: Path) -> None:
    with open_memory(home) as memory:
        at = memory.jobs.now().isoformat()
        job = IndexJob(id="job_1", state=JobState.RUNNING, started_at=at, updated_at=at, process=this_process())
        with memory.storage.catalog.writing() as session:
            session.add_job(job)
    uninstalling = service(home)
    plan = uninstalling.plan()
    assert plan.active_job is not None

    with pytest.raises(JobActive):
        uninstalling.uninstall(plan, wait_s=0.3)

    assert (home / "openmind.sqlite").exists()


def test_somebody_who_indexes_keeps_everything(home: Path) -> None:
    uninstalling = service(home)
    plan = uninstalling.plan()

    with open_memory(home) as memory, memory.storage.index_lock(), pytest.raises(IndexingBusy):
        uninstalling.uninstall(plan, wait_s=0.2)

    assert (home / "openmind.sqlite").exists()


def test_packages_go_only_when_asked_and_last(home: Path) -> None:
    removed = []

    def remove(plan) -> None:
        removed.append((plan.names, home.exists()))

    service(home, remove_packages=remove).uninstall(service(home).plan())
    assert removed == []

    uninstalling = service(home, remove_packages=remove)
    uninstalling.uninstall(uninstalling.plan(packages=True))

    [(names, was_there)] = removed
    assert {"openmind-core", "openmind-cli", "openmind-stores"} <= set(names)
    assert not was_there


def test_packages_that_cannot_be_removed_are_told_after_the_home_is_gone(home: Path) -> None:
    def refuse(_) -> None:
        raise PluginError("pip did not remove the packages")

    uninstalling = service(home, remove_packages=refuse)
    with pytest.raises(PluginError, match="deleted already"):
        uninstalling.uninstall(uninstalling.plan(packages=True))

    assert not home.exists()


def test_packages_that_nothing_here_can_remove_are_told_before_anything_is_deleted(home: Path) -> None:
    def refuse(_) -> None:
        raise PluginError("the packages are managed by uv, and no program uv is found on the PATH")

    with pytest.raises(PluginError):
        service(home, require_remover=refuse).plan(packages=True)

    assert service(home, require_remover=refuse).plan().exists
