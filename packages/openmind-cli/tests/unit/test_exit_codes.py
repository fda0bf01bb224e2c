"""Every error has its exit code."""

from collections.abc import Iterator

import pytest
from openmind.domain import errors
from openmind_cli.exit_codes import EXIT_CODES, FAILED, USAGE, exit_code_of


def leaves(kind: type[errors.OpenMindError]) -> Iterator[type[errors.OpenMindError]]:
    children = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    if not children:
        yield kind
    for child in children:
        yield from leaves(child)


@pytest.mark.parametrize("kind", list(leaves(errors.OpenMindError)), ids=lambda kind: kind.__name__)
def test_every_error_has_an_exit_code_by_its_family(kind: type[errors.OpenMindError]) -> None:
    assert any(family in EXIT_CODES for family in kind.__mro__)
    assert exit_code_of(kind) in {FAILED, USAGE}


def test_only_usage_errors_are_usage() -> None:
    assert exit_code_of(errors.EmptyQuery) == USAGE
    assert exit_code_of(errors.ProviderUnreachable) == FAILED
    assert exit_code_of(errors.SourceOverlaps) == FAILED
