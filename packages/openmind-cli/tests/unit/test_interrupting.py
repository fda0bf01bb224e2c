import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import openmind
import pytest
from openmind.domain.control import Wish
from openmind_cli.commands import index
from openmind_cli.interrupting import DEAF_S, CtrlC
from openmind_cli.main import main

RealTerminal = Callable[[], AbstractContextManager[int]]


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
@pytest.mark.parametrize(("name", "expected"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_run_that_is_told_to_end_while_it_opens_its_memory_ends_with_a_summary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, expected: int
) -> None:
    if not hasattr(signal, name):
        pytest.skip(f"there is no {name} here")
    number = getattr(signal, name)
    former = signal.getsignal(number)

    def interrupted() -> openmind.OpenMind:
        signal.raise_signal(number)
        return openmind.open_memory()

    monkeypatch.setattr(index, "open_memory", interrupted)

    code = main(["index"])

    out, err = capsys.readouterr()
    assert code == expected
    assert signal.getsignal(number) is former
    with openmind.open_memory() as memory:
        assert memory.status().last_run.state.value == "stopped"
    assert "Interrupted. What was finished is kept" in err
    assert "stopped" in out.lower()


@pytest.mark.usefixtures("home")
def test_a_run_whose_terminal_is_closed_ends_in_order_although_nobody_can_be_told(
    real_terminal: RealTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hung_up() -> openmind.OpenMind:
        os.close(reader)
        signal.raise_signal(signal.SIGHUP)
        return openmind.open_memory()

    monkeypatch.setattr(index, "open_memory", hung_up)

    with real_terminal() as reader:
        assert main(["index"]) == 129

    with openmind.open_memory() as memory:
        assert memory.status().last_run.state.value == "stopped"


def test_who_presses_ctrl_c_while_nobody_listens_is_told_to_press_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 1.0 + DEAF_S])
    control = CtrlC(clock=times.__next__)
    assert control.wish() is Wish.GO

    control.press(signal.SIGINT, None)

    assert "Ctrl-C once more ends it at once" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        control.press(signal.SIGINT, None)


def test_who_presses_ctrl_c_while_somebody_listens_needs_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 100.0, 100.5])
    control = CtrlC(clock=times.__next__)
    control.wish()

    control.press(signal.SIGINT, None)

    assert capsys.readouterr().err == ""


def test_an_interruption_of_the_start_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("openmind_cli.terminal.prepare_streams", interrupted)

    assert main(["status"]) == 130
    assert capsys.readouterr().err == "openmind: Interrupted\n"
