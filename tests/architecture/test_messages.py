"""One rule for what a person is told: messages are sentences without a full stop, hints whole sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from openmind.domain import errors
from openmind.domain.errors import OpenMindError
from openmind.domain.sentences import as_message, as_sentence

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in ROOT.glob("packages/*/src/**/*.py") if "testing" not in path.parts)
KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, OpenMindError) and kind is not OpenMindError
}
BARE_COMMAND = re.compile(r"(?<![`\w/.-])(openmind|pip|npx|uv) [a-z]")


def told(node: ast.expr | None) -> str | None:
    """The text of a literal; what is filled in later is `{}`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def raised() -> Iterator[tuple[str, str | None, str | None]]:
    """Where an error is made, its message and its hint, as far as they are written there."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                hint = next((keyword.value for keyword in node.keywords if keyword.arg == "hint"), None)
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                yield where, told(node.args[0]) if node.args else None, told(hint)


def test_every_kind_of_error_keeps_its_message_in_one_form() -> None:
    made = [
        kind("the file is gone.", index=1) if kind is errors.PassageRefused else kind("the file is gone.")
        for kind in KINDS.values()
    ]

    assert {error.message for error in made} == {"The file is gone"} == {str(error) for error in made}


def test_every_kind_of_error_has_a_title_and_a_code_of_its_own() -> None:
    assert [name for name, kind in KINDS.items() if not (kind.__doc__ or "").strip()] == []
    codes = [kind.code for kind in KINDS.values()]
    assert sorted(codes) == sorted(set(codes))


def test_hints_are_whole_sentences_with_commands_in_backquotes() -> None:
    hints = [(where, hint) for where, _, hint in raised() if hint]

    assert len(hints) > 100
    assert [each for each in hints if not each[1].endswith((".", "!", "?", "{}"))] == []
    assert [each for each in hints if each[1][0].islower()] == []
    assert [each for each in hints if BARE_COMMAND.search(each[1])] == []


def test_messages_hold_no_stop_that_would_be_doubled() -> None:
    messages = [(where, message) for where, message, _ in raised() if message]

    assert len(messages) > 150
    assert [each for each in messages if "..." in each[1] or ".." in each[1]] == []


@pytest.mark.parametrize(
    ("text", "message", "sentence"),
    [
        ("the file is gone.", "The file is gone", "The file is gone."),
        ("The file is gone", "The file is gone", "The file is gone."),
        ("http://x.example is no address", "http://x.example is no address", "http://x.example is no address."),
        ("openmind is running", "openmind is running", "openmind is running."),
        ("nomic-embed-text is out of reach", "nomic-embed-text is out of reach", "nomic-embed-text is out of reach."),
        ("/home/me is a file", "/home/me is a file", "/home/me is a file."),
        ("a.b is no key", "a.b is no key", "a.b is no key."),
        ("who knows?", "Who knows?", "Who knows?"),
        ("it broke. it stays broken.", "It broke. it stays broken.", "It broke. it stays broken."),
        ("and so on …", "And so on …", "And so on …"),
        ("  ", "", ""),
    ],
)
def test_a_message_reads_as_a_sentence(text: str, message: str, sentence: str) -> None:
    assert as_message(text) == message
    assert as_sentence(text) == sentence
    assert as_message(message) == message
