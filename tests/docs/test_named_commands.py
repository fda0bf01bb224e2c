"""Whatever tells a person to run `openmind …` names a command, and options, that exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App
from openmind_cli.dispatch import build_app, plugin_commands

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in ROOT.glob("packages/*/src/**/*.py") if "testing" not in path.parts)
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/README.md")])
COMMAND_LINE = re.compile(r"(?:`|^|\$ |uv run )openmind ([a-z-][^`\n|#;]*)", re.MULTILINE)
FENCED = re.compile(r"^ *```(?:console|sh|bash|text)?\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`openmind [^`\n]+`")
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


@pytest.fixture(scope="module")
def app() -> App:
    return build_app(plugin_commands())


def strings(path: Path) -> Iterator[str]:
    """The strings of a module; what is filled in later is a word of its own."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "FILLED" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def shown(page: Path) -> Iterator[str]:
    """The command lines of a page."""
    text = page.read_text(encoding="utf-8")
    yield from FENCED.findall(text)
    yield from INLINE.findall(FENCED.sub("", text))


def unknown(app: App, line: str) -> str:
    """What a command line names that is not there; empty when all of it is."""
    words, command = QUOTED.sub("TEXT", line).split(), app
    while words and not words[0].startswith("-") and words[0] in command.resolved_commands():
        command = command.resolved_commands()[words.pop(0)]
    if command is app and words and not words[0].startswith(("-", "FILLED", "COMMAND")):
        return f"the command {words[0]}"
    if command.default_command is None and words and words[0].isalpha() and words[0].islower():
        return f"the command {words[0]}"
    given = set(OPTION.findall(" ".join(words).split(" -- ")[0])) - {"--help", "--version"}
    if command.default_command is None:
        return ", ".join(given)
    known = {name for argument in command.assemble_argument_collection() for name in argument.names}
    return ", ".join(sorted(given - known))


def wrong(app: App, texts: Iterator[str]) -> list[str]:
    found = [line.strip() for text in texts for line in COMMAND_LINE.findall(text)]
    return [f"openmind {line}: {missing}" for line in found if (missing := unknown(app, line))]


def test_messages_name_commands_that_exist(app: App) -> None:
    named = {path: wrong(app, strings(path)) for path in SOURCES}

    assert {str(path.relative_to(ROOT)): lines for path, lines in named.items() if lines} == {}


def test_the_documentation_names_commands_that_exist(app: App) -> None:
    named = {path: wrong(app, shown(path)) for path in PAGES}

    assert {str(path.relative_to(ROOT)): lines for path, lines in named.items() if lines} == {}


@pytest.mark.parametrize("line", ["indx", "source ad PATH", "index --now", "source list --all", "source --json"])
def test_what_does_not_exist_is_noticed(app: App, line: str) -> None:
    assert unknown(app, line)
