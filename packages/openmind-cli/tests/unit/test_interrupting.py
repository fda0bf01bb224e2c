import signal
from pathlib import Path

import openmind
import pytest
from openmind_cli.commands import index
from openmind_cli.main import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a memory with one source."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("heliotrope", encoding="utf-8")
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path / "home"))
    with openmind.open_memory() as memory:
        memory.sources.add(tmp_path / "notes")
    return tmp_path / "home"


@pytest.mark.usefixtures("home")
def test_a_run_that_is_interrupted_while_it_opens_its_memory_ends_with_a_summary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> openmind.OpenMind:
        signal.raise_signal(signal.SIGINT)
        return openmind.open_memory()

    monkeypatch.setattr(index, "open_memory", interrupted)

    code = main(["index"])

    out, err = capsys.readouterr()
    assert code == 130
    assert "Interrupted. What was finished is kept" in err
    assert "stopped" in out.lower()


def test_an_interruption_of_the_start_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("openmind_cli.terminal.prepare_streams", interrupted)

    assert main(["status"]) == 130
    assert capsys.readouterr().err == "openmind: Interrupted\n"
