"""Doctor, coverage, flush, uninstall and logs, as a person uses them."""

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

Write = Callable[[str, str], Path]
SECRET = "zanzibarquartz"


@pytest.fixture
def memory(openmind, write: Write, tmp_path: Path):
    write("a.md", f"Heliotropes and {SECRET} in the garden.")
    write("b.txt", "Chrysanthemums on the balcony.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")
    return openmind


def test_a_sound_memory_is_told_to_be_sound(memory) -> None:
    told = memory.done("doctor")

    assert "Everything is as it should be." in told.out
    assert memory.done("doctor", "--json").object["sound"] is True
    assert "nothing to mend" in memory.done("doctor", "--repair").out


def test_what_is_broken_is_named_mended_and_sound_afterwards(memory, tmp_path: Path) -> None:
    shutil.rmtree(memory.home / "lancedb")
    (tmp_path / "notes").rename(tmp_path / "unplugged")

    broken = memory("doctor", "--json")
    assert broken.code == 1
    assert {finding["code"] for finding in broken.object["findings"]} == {"table.unreadable"}
    assert "--repair" in memory("doctor").out

    assert "mended" in memory.done("doctor", "--repair").out
    assert "garden" in memory.done("search", "heliotropes").out
    assert memory.done("doctor").code == 0


def test_coverage_says_what_can_be_found_and_what_not(memory, write: Write) -> None:
    write("c.txt", "")
    write("film.mkv", "x" * 2_000)
    memory("index")
    write("d.txt", "Zinnias.")

    told = memory.done("status", "--coverage").out

    assert "searchable       2 files (40 %)" in told
    assert "not read yet     1 file" in told
    assert "not what is read 1 file" in told
    [source] = memory.done("status", "--coverage", "--json").object["sources"]
    assert source["not_searchable"]["empty"] == {"files": 1, "bytes": 0}


def test_a_flush_asks_shows_and_leaves_what_is_yours(memory, tmp_path: Path) -> None:
    shown = memory.done("flush", "--dry-run").out
    assert "2 files, 2 of them searchable" in shown
    assert memory.done("search", "heliotropes").out
    told = memory("flush")
    assert told.code == 2
    assert "--yes" in told.err

    memory.done("flush", "--yes")

    assert memory.done("search", "heliotropes").out == ""
    assert memory.done("status", "--json").object["files"] == 0
    assert len(memory.done("source", "list", "--json").object["sources"]) == 1
    assert (tmp_path / "notes" / "a.md").exists()
    assert not [path for path in memory.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    done = memory.done("flush", "--yes", "--include-sources", "--json").object
    assert (done["done"], done["sources_deleted"], done["user_files_deleted"]) == (True, True, False)
    assert memory.done("source", "list", "--json").object["sources"] == []


def test_an_uninstall_asks_shows_and_leaves_what_is_yours(memory, tmp_path: Path) -> None:
    (memory.home / "thesis.docx").write_text("mine")
    planned = memory.done("uninstall", "--dry-run", "--json").object
    assert planned["done"] is False
    assert planned["kept"] == [str(memory.home / "thesis.docx")]
    assert "openmind-core" in planned["packages"]["names"]
    assert (memory.home / "openmind.sqlite").exists()
    assert memory("uninstall").code == 2

    told = memory.done("uninstall", "--yes")

    assert [path.name for path in memory.home.iterdir()] == ["thesis.docx"]
    assert "thesis.docx (not made by OpenMind)" in told.out
    assert " ".join(planned["packages"]["commands"][0][-3:]) in told.out
    assert (tmp_path / "notes" / "a.md").exists()


def test_a_memory_goes_to_another_home_as_one_file(memory, tmp_path: Path) -> None:
    archive = tmp_path / "memory.zip"
    told = memory.done("export", str(archive))
    assert "2 files" in told.out
    memory("export", str(archive)).refused(2, "already", "--overwrite")
    assert memory.done("export", str(archive), "--overwrite", "--json").object["files"] == 2
    memory("import", str(archive)).refused(1, "flush --include-sources")
    memory("import", str(tmp_path / "nothing.zip")).refused(2, "no file")

    memory.done("flush", "--yes", "--include-sources")
    report = memory.done("import", str(archive), "--json").object

    assert (report["files_read"], report["disabled_sources"]) == (2, [])
    assert "garden" in memory.done("search", "heliotropes").out
    for path in (memory.home / "lancedb" / "chunks.lance" / "data").glob("*.lance"):
        path.write_bytes(b"")
    lacking = memory("export", str(archive), "--overwrite")
    assert (lacking.code, "damaged of 2 files" in lacking.out, "b.txt" in lacking.out) == (1, True, True)
    archive.write_text("no archive")
    memory.done("flush", "--yes", "--include-sources")
    memory("import", str(archive)).refused(1, "memory.zip")


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_person_at_a_terminal_is_asked_and_no_means_no(memory) -> None:
    pexpect = pytest.importorskip("pexpect")
    for answer, deleted in (("n", False), ("y", True)):
        asked = pexpect.spawn(
            sys.executable,
            ["-m", "openmind_cli", "flush"],
            env=memory.environment({"TERM": "xterm-256color"}),
            encoding="utf-8",
            timeout=240,
        )
        asked.expect("Empty the memory\\?")
        asked.send(answer)
        asked.expect(pexpect.EOF)
        asked.close()
        assert asked.exitstatus == (0 if deleted else 1)
        assert (memory.done("status", "--json").object["files"] == 0) is deleted


def test_what_must_not_be_deleted_is_refused(memory, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("mine")

    for home, words in (("/", "no folder to delete"), (str(tmp_path / "photos"), "not made by OpenMind")):
        told = memory("uninstall", "--yes", env={"OPENMIND_HOME": home})
        assert told.code == 1
        assert words in told.err
    inside = subprocess.run(
        [sys.executable, "-m", "openmind_cli", "uninstall", "--yes"],
        env=memory.environment(),
        cwd=memory.home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert inside.returncode == 1
    assert "current folder" in inside.stderr
    assert (memory.home / "openmind.sqlite").exists()


def test_without_a_home_uninstalling_says_that_there_is_none(openmind) -> None:
    told = openmind.done("uninstall", "--yes")

    assert "There is no such folder" in told.out
    assert not openmind.home.exists()


def test_logs_tell_what_happened_and_nothing_that_was_written(memory) -> None:
    memory.done("search", f"{SECRET} heliotropes")
    memory.done("ask", f"Where is the {SECRET}?")

    lines = memory.done("dev", "logs", "--no-follow").out.splitlines()

    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == [
        "source.added",
        "index.began",
        "index.ended",
        "search",
        "search",
        "answer",
    ]
    assert events[2]["indexed"] == 2
    logs = list((memory.home / "logs").iterdir())
    assert logs
    for path in logs:
        assert SECRET not in path.read_text()
        assert "heliotropes" not in path.read_text().lower()
    assert memory.done("dev", "logs", "--no-follow", "--lines", "1").out.count("\n") == 1
    assert memory.done("dev", "logs", "--no-follow", "--log", "index").out == ""


def test_logs_are_followed_until_ctrl_c(memory) -> None:
    pexpect = pytest.importorskip("pexpect")
    watch = pexpect.spawn(
        sys.executable, ["-m", "openmind_cli", "dev", "logs"], env=memory.environment(), encoding="utf-8", timeout=240
    )
    watch.expect("index.ended")

    memory.done("search", "heliotropes")

    watch.expect('"event": "search"')
    watch.sendintr()
    watch.expect(pexpect.EOF)
    watch.close()
    assert watch.exitstatus == 0


def test_without_lms_the_log_of_lm_studio_is_told_to_be_missing(openmind, tmp_path: Path) -> None:
    openmind("dev", "logs", "--lm-studio", env={"PATH": str(tmp_path)}).refused(2, "lms", "LM Studio")


def modes_below(folder: Path) -> dict[Path, int]:
    """Who may do what with a folder and all that is in it, while somebody makes and deletes files there."""
    modes: dict[Path, int] = {}
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (".", *folders, *files)):
            with contextlib.suppress(FileNotFoundError):
                modes[path] = stat.S_IMODE(path.lstat().st_mode)
    return modes


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_nobody_else_may_look_into_anything(memory, tmp_path: Path) -> None:
    """A reader keeps the write-ahead log alive, so that its mode is looked at, too."""
    import sqlite3

    reader = sqlite3.connect(f"{(memory.home / 'openmind.sqlite').as_uri()}?mode=ro", uri=True)
    reader.execute("SELECT COUNT(*) FROM files").fetchone()
    memory.done("search", "heliotropes")
    (tmp_path / "notes" / "more.txt").write_text("More.")
    memory.done("index", "start")

    modes = modes_below(memory.home)

    names = {path.name for path in modes}
    assert {"openmind.sqlite-wal", "openmind.sqlite-shm", "openmind.log", "index.lock"} <= names
    assert [path for path, mode in modes.items() if mode & 0o077] == []
    reader.close()
    memory("index", "stop")
