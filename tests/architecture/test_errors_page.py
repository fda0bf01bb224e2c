"""Every kind of error has its row, as the code has it."""

from collections.abc import Iterator
from pathlib import Path

from openmind.domain import errors
from openmind.domain.problems import status_of
from openmind_cli.exit_codes import exit_code_of

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def kinds(family: type[errors.OpenMindError] = errors.OpenMindError) -> Iterator[type[errors.OpenMindError]]:
    """The family, from the root down."""
    yield family
    for child in family.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from kinds(child)


def row(kind: type[errors.OpenMindError]) -> str:
    meaning = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return f"| `{kind.code}` | `{kind.__name__}` | {meaning} | {status_of(kind)} | {exit_code_of(kind)} |"


def test_every_kind_of_error_has_its_row_and_no_other() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    assert rows == [row(kind) for kind in kinds()]
