"""The documentation of the command line is complete."""

import inspect
import re
from pathlib import Path

import pytest
from cyclopts import App
from openmind.domain.answers import AnswerState
from openmind.domain.files import FileReason
from openmind.domain.search import SearchState
from openmind_cli.commands import COMMANDS
from openmind_cli.dispatch import build_app

DOCS = Path(__file__).parents[4] / "docs" / "cli.md"


def options() -> list[tuple[str, str]]:
    """Every command with each of its options, as a person types them."""

    def walk(app: App, chain: str) -> list[tuple[str, str]]:
        own = [(chain, "")] if chain else []
        if app.default_command:
            for argument in app.assemble_argument_collection():
                if argument.field_info.kind is not inspect.Parameter.VAR_POSITIONAL:
                    own += [(chain, name) for name in argument.names if name.startswith("--")]
        for name, command in app.resolved_commands().items():
            if not name.startswith("-"):
                own += walk(command, f"{chain} {name}".strip())
        return own

    return walk(build_app({}), "")


@pytest.mark.parametrize(("command", "option"), options())
def test_every_command_and_option_is_documented(command: str, option: str) -> None:
    text = DOCS.read_text(encoding="utf-8")
    heading = next(
        (line for line in text.splitlines() if line.startswith("#") and f"`openmind {command}" in line), None
    )

    assert heading is not None, f"no heading for openmind {command}"
    section = text.split(heading, 1)[1].split("\n#", 1)[0]
    if option not in {"", "--json"}:
        assert f"`{option}" in section, f"openmind {command} {option}"
    elif option == "--json":
        assert "--json" in section, f"openmind {command} --json"


def test_every_command_takes_json_save_those_that_the_page_names() -> None:
    without = re.search(r"Every command but `(.+?)` and `(.+?)` takes `--json`", DOCS.read_text(encoding="utf-8"))
    assert without is not None
    known = options()
    chains = {chain for chain, _ in known}
    groups = {chain for chain in chains if any(other.startswith(f"{chain} ") for other in chains)}

    assert {chain for chain in chains - groups if (chain, "--json") not in known} == set(without.groups())


def test_every_command_and_option_that_is_documented_exists() -> None:
    known = set(options())
    for section in re.split(r"^#+ (?=`openmind )", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        words = section.removeprefix("`openmind ").partition("`")[0].split()
        command = " ".join(word for word in words if word.islower())
        rows = re.findall(r"^\| `(--.*?) \|", section.split("\n#")[0], re.MULTILINE)
        named = {(command, option) for row in rows for option in re.findall(r"--[a-z][a-z-]*", row)}

        assert any(chain.startswith(command) for chain, _ in known), f"there is no openmind {command}"
        assert named <= known, named - known


@pytest.mark.parametrize("code", ["0", "1", "2", "130"])
def test_every_exit_code_is_documented(code: str) -> None:
    assert f"\n| {code} |" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "word", [*SearchState, *FileReason, *(state for state in AnswerState if state is not AnswerState.PROVIDER_FAILED)]
)
def test_every_word_a_program_can_meet_is_documented(word: str) -> None:
    assert f"`{word}`" in DOCS.read_text(encoding="utf-8")


def test_the_table_of_commands_is_the_command_line() -> None:
    found = {command.split()[0] for command, option in options() if not option}

    assert found == {name for name, _, _ in COMMANDS}
