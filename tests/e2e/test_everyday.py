"""What a person meets on an ordinary day: slips of the pen, files that stay broken, a home in disorder."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

sys.path.append(str(Path(__file__).parents[1]))

from lmstudio_server import ScriptedServer, steps
from lmstudio_server.server import Exchange

pytestmark = pytest.mark.e2e
EMBEDDINGS = "/v1/embeddings"
PATIENCE_S = 240

Write = Callable[[str, str], Path]


@pytest.fixture
def memory(openmind, write: Write, tmp_path: Path):
    """A memory of a note, its twin, and a file that cannot be read."""
    write("rent.md", "The rent goes up in April, the landlord writes.\n")
    write("twin/rent.md", "The rent goes up in April, the landlord writes.\n")
    write("pump.md", "# Pump\n\nDrain the pump before the first frost.\n\n- close the valve\n- open the *drain*\n")
    write("broken.pdf", "%PDF-1.4 and nothing more")
    openmind.done("source", "add", str(tmp_path / "notes"))
    assert openmind("index").code == 1
    return openmind


def test_a_file_that_failed_before_is_listed_again(memory) -> None:
    told = memory("index")
    again = memory("index", "--json")

    assert told.code == again.code == 1
    assert "broken.pdf: It is cut off" in told.out
    assert ".." not in told.out
    [failure] = again.object["failures"]
    assert (Path(failure["path"]).name, failure["code"]) == ("broken.pdf", "damaged")
    assert (again.object["failed_files"], again.object["failures_total"]) == (1, 1)


def test_a_provider_that_is_not_there_is_told_with_what_there_is(memory) -> None:
    (memory.home / "config.toml").write_text('[provider]\nname = "nosuch"\n')

    for arguments in (["index"], ["search", "rent"], ["ask", "rent?"], ["status"]):
        told = memory(*arguments)
        assert "There is no provider “nosuch”. Installed: builtin" in told.out + told.err, arguments
    assert memory("index").code == 1
    assert memory.done("search", "rent", "--json").object["notices"]
    assert memory.done("status", "--json").object["trouble"]


def test_the_status_names_the_model_that_is_used(memory) -> None:
    (memory.home / "config.toml").write_text('[models]\nembedding_model = "nosuch"\n')

    told = memory("index")
    status = memory.done("status")

    assert told.code == 1
    assert told.out.count("has no model “nosuch”") == 1
    assert "embedding model  builtin" in status.out
    assert "nosuch is the chosen embedding model" in status.out
    assert memory.done("status", "--json").object["embedding_model_in_use"] == "builtin"


def test_init_says_what_is_next_for_the_memory_that_is_there(memory) -> None:
    told = memory.done("init").err

    assert "It knows 3 files of 1 folder: `openmind status`" in told
    assert "source add" not in told


def test_a_filter_that_no_file_meets_is_named(memory, tmp_path: Path) -> None:
    folder = memory("search", "rent", "--folder", str(tmp_path / "nots"))
    extension = memory("search", "rent", "--ext", "mdd")
    real = memory("search", "rent", "--folder", str(tmp_path / "notes"), "--ext", "md")

    assert folder.err.startswith(f"No searchable file is below {tmp_path / 'nots'}.")
    assert "No searchable file has the extension .mdd." in extension.err
    assert folder.out == extension.out == ""
    assert "No searchable file" not in real.err


@pytest.mark.parametrize("arguments", [["search", "x", "--limit", "1.5"], ["ask", "x", "--limit", "2.0"]])
def test_a_limit_is_a_whole_number(openmind, arguments: list[str]) -> None:
    openmind(*arguments).refused(2, "whole number", arguments[-1])


def test_both_files_with_one_passage_are_shown_through_a_pipe(memory) -> None:
    lines = memory.done("search", "rent").out.splitlines()

    [line] = [line for line in lines if "rent.md" in line]
    assert line.count("rent.md") == 2
    assert "/twin/rent.md" in line


def test_passages_through_a_pipe_stand_as_in_the_file(memory) -> None:
    out = memory.done("ask", "how do I drain the pump?").out

    assert "    - close the valve\n    - open the *drain*\n" in out
    assert "\\" not in out


def test_a_file_in_the_place_of_the_home_is_told_alike_by_all(openmind) -> None:
    openmind.home.write_text("mine")

    for arguments in (["index"], ["source", "add", "."], ["search", "x"], ["config", "get"]):
        openmind(*arguments).refused(1, "is not a folder", "OPENMIND_HOME")


def test_a_lost_catalog_is_told_and_can_be_begun_anew(memory, tmp_path: Path) -> None:
    (memory.home / "openmind.sqlite").unlink()

    for command in (["search", "rent"], ["index"], ["source", "add", str(tmp_path / "notes")]):
        memory(*command).refused(1, "openmind.sqlite is gone", "backup")

    (memory.home / "lancedb").rename(memory.home / "lancedb.before")
    memory.done("source", "add", str(tmp_path / "notes"))
    assert memory("index").code == 1
    assert "rent.md" in memory.done("search", "rent").out


def test_a_file_in_the_place_of_the_passages_is_told_until_it_is_moved(memory) -> None:
    shutil.rmtree(memory.home / "lancedb")
    (memory.home / "lancedb").write_text("not mine")

    memory("index").refused(1, "lancedb is not a folder", "Move it away")
    (memory.home / "lancedb").unlink()
    assert memory("index").code == 1

    assert "rent.md" in memory.done("search", "rent").out


def test_a_home_of_a_newer_version_asks_for_the_version_that_wrote_it(memory) -> None:
    with sqlite3.connect(memory.home / "openmind.sqlite") as catalog:
        catalog.execute("PRAGMA user_version = 9999")
        catalog.execute("UPDATE settings SET value = '7.8.9' WHERE name = 'written_by'")
    catalog.close()
    memory("status").refused(1, "Install OpenMind 7.8.9 or newer")

    with sqlite3.connect(memory.home / "openmind.sqlite") as catalog:
        catalog.execute("DELETE FROM settings WHERE name = 'written_by'")
    catalog.close()
    memory("status").refused(1, "Install the newest OpenMind")


def test_a_setting_of_the_wrong_type_is_named_by_its_key(memory) -> None:
    (memory.home / "config.toml").write_text('[indexing]\nworkers = "many"\n')

    memory("status").refused(1, "indexing.workers must be a whole number")


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are no text")
def test_a_name_that_is_no_text_is_valid_json_and_can_be_told_apart(openmind, write: Write, tmp_path: Path) -> None:
    folder = write("a.md", "Alpha.").parent
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("The kettle whistles.")
    openmind.done("source", "add", str(folder))
    openmind.done("index")

    [hit] = openmind.done("search", "kettle", "--json").object["results"]

    assert hit["path"].endswith(r"caf\xe9.md")
    assert json.loads(json.dumps(hit)) == hit
    assert "/caf%E9.md" in openmind.done("ask", "what whistles, the kettle?").out


def test_hundreds_of_files_are_read_by_workers_and_none_stays_behind(openmind, write: Write, tmp_path: Path) -> None:
    for number in range(330):
        write(f"{number % 7}/note-{number}.md", f"# Note {number}\n\nThe word of this note is zebra{number}quagga.\n")
    openmind.home.mkdir()
    (openmind.home / ".openmind-home").write_text("")
    openmind.done("source", "add", str(tmp_path / "notes"))
    seen = threading.Event()

    def once_the_workers_were_seen(exchange: Exchange) -> None:
        seen.wait(PATIENCE_S)
        exchange.answer_normally()

    with ScriptedServer() as server:
        server.script(EMBEDDINGS, steps.normal)  # the model says who it is
        server.always(EMBEDDINGS, once_the_workers_were_seen)
        (openmind.home / "config.toml").write_text(
            f'[indexing]\nworkers = 2\n[provider]\nname = "lmstudio"\nbase_url = "{server.base_url}"\n'
            '[models]\nembedding_model = "text-embedding-acme"\n'
        )
        command = [sys.executable, "-m", "openmind_cli", "index", "--json"]
        process = subprocess.Popen(command, env=openmind.environment(), stdout=subprocess.PIPE, text=True)
        until(lambda: len(server.posts(EMBEDDINGS)) >= 2)
        workers = psutil.Process(process.pid).children(recursive=True)
        seen.set()
        out, _ = process.communicate(timeout=PATIENCE_S)

        assert json.loads(out)["indexed_files"] == 330
        assert workers, "no worker was used"
        until(lambda: not any(map(is_at_work, workers)))
        for number in (0, 150, 329):
            assert f"note-{number}.md" in openmind.done("search", f"zebra{number}quagga").out


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_at_work(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
