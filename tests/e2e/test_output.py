"""What commands print: for a person, for `grep`, for a program, in any locale."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

Write = Callable[[str, str], Path]
TEXT = "# Überblick\n\nDer Käse reift im Keller — 熟成 takes twelve weeks [b]at least[/b].\n"
SEARCH = ("search", "Käse Keller")


@pytest.fixture
def memory(openmind, write: Write, tmp_path: Path):
    """A memory of a few files."""
    write("Käse.md", TEXT)
    for number in range(12):
        write(f"log/{number}.txt", f"Entry {number}: the cheese was turned and brushed.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")
    return openmind


def test_a_search_through_a_pipe_is_one_line_a_passage(memory, tmp_path: Path) -> None:
    told = memory.done("search", "cheese turned", "--limit", "10", "--per-file", "0")

    lines = told.out.splitlines()
    assert len(lines) == 10
    assert all(line.startswith(f"{tmp_path}/notes/") and line.count("cheese") == 1 for line in lines)
    assert "\x1b" not in told.out


def test_explain_shows_both_ranks(memory) -> None:
    told = memory.done(*SEARCH, "--explain")

    assert "words: rank 1" in told.out
    assert "coverage" in told.out
    [first, *_] = memory.done(*SEARCH, "--explain", "--json").object["results"]
    assert first["explanation"]["words_rank"] == 1


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_a_poor_locale_breaks_nothing(memory, locale: dict[str, str]) -> None:
    for arguments in ([*SEARCH], [*SEARCH, "--json"], ["ask", "Was reift im Keller?"], ["status"], ["source", "list"]):
        told = memory(*arguments, env=locale)
        assert told.code == 0, told
        assert told.out.isascii()
        assert "Traceback" not in told.err


def test_json_is_one_object_that_any_locale_can_carry(memory) -> None:
    told = memory.done(*SEARCH, "--json")

    [first, *_] = told.object["results"]
    assert told.out.isascii()
    assert first["file_name"] == "Käse.md"
    assert first["source_type"] == "md"
    assert "熟成" in first["snippet"]
    assert first["location"]
    assert told.object["degraded"] is False


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["status"], {"status", "version", "provider", "indexed_files", "indexing_state", "watcher_state"}),
        (["index"], {"job_id", "state", "progress", "failures", "already_indexed_files"}),
        (["source", "list"], {"sources"}),
        (["ask", "Käse"], {"format", "session_id", "answer", "sources", "reasoning", "state"}),
        (["status", "--files", "indexed"], {"files"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_command_prints_its_object(memory, arguments: list[str], fields: set[str]) -> None:
    assert set(memory.done(*arguments, "--json").object) >= fields


def test_an_answer_without_a_model_holds_passages_without_paths(memory) -> None:
    answer = memory.done("ask", "What happened to the cheese?", "--json").object

    assert answer["state"] == "evidence_only"
    assert "brushed" in answer["answer"]
    assert "/notes/" not in answer["answer"]
    assert answer["sources"]


def test_files_are_listed_by_status(memory, tmp_path: Path) -> None:
    assert len(memory.done("status", "--files", "indexed").out.splitlines()) == 13
    assert memory.done("status", "--files", "failed").out == ""
    listed = memory.done("status", "--files", "ok", "--json").object["files"]
    assert {file["status"] for file in listed} == {"indexed"}


def test_a_reader_that_has_enough_is_no_error(memory) -> None:
    command = f"'{sys.executable}' -m openmind_cli status --files indexed | head -n 1; echo ${{PIPESTATUS[0]}}"

    ran = subprocess.run(["bash", "-c", command], env=memory.environment(), capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "0"
    assert ran.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="file modes are those of POSIX")
def test_everything_in_the_home_is_for_its_owner_only(memory) -> None:
    for path in [memory.home, *memory.home.rglob("*")]:
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is a device of Linux")
@pytest.mark.parametrize("command", [["status"], ["search", "cheese", "--json"]])
def test_output_that_cannot_be_written_is_told(memory, command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "openmind_cli", *command],
            env=memory.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert ran.returncode == 1
    assert ran.stderr.startswith("openmind: The output cannot be written")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_break_nothing(memory, closed: str) -> None:
    command = f"'{sys.executable}' -m openmind_cli search cheese {closed}"

    ran = subprocess.run(["bash", "-c", command], env=memory.environment(), capture_output=True, text=True, check=False)

    assert ran.returncode == 0
    assert "Traceback" not in ran.stdout + ran.stderr
