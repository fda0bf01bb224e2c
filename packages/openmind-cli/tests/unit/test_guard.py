"""Whatever happens ends in a sentence and an exit code."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from openmind.domain.errors import EmptyQuery, OpenMindError, SourceMissing
from openmind_cli.guard import guarded, wants_json

Run = Callable[[list[str]], int]


def failing(error: BaseException) -> Run:
    def run(_: list[str]) -> int:
        raise error

    return run


def test_the_code_of_the_command_is_the_exit_code() -> None:
    assert guarded([], lambda _: 0) == 0
    assert guarded([], lambda _: 1) == 1


def test_an_error_is_a_sentence_and_a_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    code = guarded(["source"], failing(SourceMissing("There is no folder /a\x1b[2J.", hint="Check the path.")))

    out, err = capsys.readouterr()
    assert code == 1
    assert out == ""
    assert err.splitlines() == ["openmind: There is no folder /a\\x1b[2J", "  Check the path."]


def test_with_json_an_error_is_the_error_object_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code = guarded(["search", "--json"], failing(EmptyQuery("The query is empty.", hint="Type some words.")))

    out, err = capsys.readouterr()
    assert code == 2
    assert err == ""
    assert json.loads(out) == {
        "type": "urn:openmind:error:usage.empty_query",
        "title": "The query or question holds no text",
        "status": 422,
        "code": "usage.empty_query",
        "detail": "The query is empty",
        "hint": "Type some words.",
    }


@pytest.mark.parametrize("error", [BaseException("panic"), GeneratorExit(), SystemExit("bye")])
def test_nothing_whatever_gets_past_it(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert guarded(["search", "--json"], failing(error)) == 1

    assert json.loads(capsys.readouterr().out)["code"] == "internal"


def test_an_interruption_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded([], failing(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "openmind: Interrupted\n"
    assert guarded([], failing(KeyboardInterrupt("Interrupted while somebody was waited for"))) == 130
    assert "while somebody was waited for" in capsys.readouterr().err


def test_a_bug_is_one_sentence_and_its_details_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".openmind-home").touch()
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path))

    code = guarded([], failing(KeyError("a secret word")))

    err = capsys.readouterr().err
    log = tmp_path / "logs" / "openmind.log"
    entry = json.loads(log.read_text())
    assert code == 1
    assert "this is a bug in openmind (keyerror)" in err.lower()
    assert "Traceback" not in err
    assert str(log) in err
    assert entry["errors"][0]["type"] == "builtins.KeyError"
    assert "test_guard.py" in entry["errors"][0]["frames"][-1]
    assert "a secret word" not in log.read_text()


@pytest.mark.skipif(os.name == "nt", reason="file modes are those of POSIX")
def test_the_log_of_a_bug_is_for_its_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".openmind-home").touch()
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path))

    guarded([], failing(ZeroDivisionError()))

    assert stat.S_IMODE((tmp_path / "logs" / "openmind.log").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700


def test_without_a_home_a_bug_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("OPENMIND_HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert guarded([], failing(ZeroDivisionError())) == 1

    assert not home.exists()
    assert [path.name[:15] for path in tmp_path.iterdir()] == ["openmind-crash-"]


def test_an_error_of_a_plugin_that_derives_from_ours_is_told_like_ours(capsys: pytest.CaptureFixture[str]) -> None:
    class Odd(OpenMindError):
        code = "odd"

    assert guarded([], failing(Odd("It is odd."))) == 1
    assert capsys.readouterr().err == "openmind: It is odd\n"


def test_json_after_the_double_dash_is_text() -> None:
    assert wants_json(["search", "x", "--json"])
    assert not wants_json(["search", "--", "--json"])
    assert not wants_json(["search", "json"])
