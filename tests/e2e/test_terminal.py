"""What a person sees at a terminal."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect")
pytestmark = [pytest.mark.e2e, pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")]

Write = Callable[[str, str], Path]


def seen(openmind, *arguments: str, columns: int = 100, terminal: str = "xterm-256color") -> str:
    """Everything that the command shows at a terminal."""
    environment = openmind.environment({"TERM": terminal, "LC_ALL": "C.UTF-8"})
    environment.pop("NO_COLOR", None)
    child = pexpect.spawn(
        sys.executable,
        ["-m", "openmind_cli", *arguments],
        env=environment,
        cwd=str(openmind.folder),
        dimensions=(40, columns),
        encoding="utf-8",
        timeout=240,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    assert isinstance(child.before, str)
    return child.before


@pytest.fixture
def memory(openmind, write: Write, tmp_path: Path):
    write("harbour.md", "# Harbour\n\n## Tides\n\nThe ferry leaves an hour before high water [b]always[/b].\n")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")
    return openmind


def test_a_hit_shows_its_place_its_score_and_the_words_marked(memory) -> None:
    shown = seen(memory, "search", "ferry")

    assert "harbour.md" in shown
    assert "Tides" in shown
    assert "score 0." in shown or "score 1." in shown
    assert "\x1b[1;33mferry\x1b[0m" in shown
    assert "[b]always[/b]" in shown


def test_an_answer_is_followed_by_its_sources(memory) -> None:
    shown = seen(memory, "ask", "When does the ferry leave?")

    assert "an hour before high water" in shown
    assert shown.index("Sources") > shown.index("high water")
    assert f"{Path(memory.folder.parent / 'notes' / 'harbour.md').as_uri()}\r\n" in shown


def test_indexing_shows_a_bar_and_then_the_summary(openmind, write: Write, tmp_path: Path) -> None:
    for number in range(40):
        write(f"{number}.md", f"Note {number}.")
    openmind.done("source", "add", str(tmp_path / "notes"))

    shown = seen(openmind, "index")

    assert "40/40" in shown or "0/40" in shown
    assert "Done: 40 files" in shown


def test_a_dumb_terminal_is_told_line_by_line_how_far_indexing_is(openmind, write: Write, tmp_path: Path) -> None:
    write("harbour.md", "The ferry leaves at noon.")
    openmind.done("source", "add", str(tmp_path / "notes"))

    assert "running: 0 of 1 file (0 %)" in seen(openmind, "index", terminal="dumb")


def test_status_and_sources_are_set_out_for_reading(memory, tmp_path: Path) -> None:
    assert "searchable       \x1b[0m1 file, " in seen(memory, "status")
    assert "with subfolders" in seen(memory, "source", "list")


@pytest.mark.parametrize("terminal", ["xterm-256color", "dumb"])
def test_a_narrow_terminal_loses_nothing(memory, terminal: str) -> None:
    [source] = memory.done("source", "list", "--json").object["sources"]
    shown = [seen(memory, *words, columns=40, terminal=terminal) for words in (["source", "list"], ["search", "ferry"])]

    assert source["id"] in shown[0]
    assert source["path"] in shown[0]
    assert "leaves an hour before high water" not in shown[1]  # it is broken into lines that fit
    assert "hour" in shown[1]


def test_an_answer_without_a_model_keeps_its_lists(openmind, write: Write, tmp_path: Path) -> None:
    write("pump.md", "# Pump\n\nBefore the frost:\n\n- close the valve\n- open the *drain*\n")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")

    shown = seen(openmind, "ask", "what to do before the frost?")

    assert "    - close the valve\r\n    - open the *drain*\r\n" in shown
