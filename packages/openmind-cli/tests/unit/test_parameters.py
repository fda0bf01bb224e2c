"""What the options of several commands take."""

from pathlib import Path

import pytest
from openmind.domain.errors import UsageError
from openmind_cli.commands.demo import first_steps
from openmind_cli.commands.search import extensions
from openmind_cli.dispatch import dispatch


def test_a_bad_date_is_told_with_the_form_of_a_good_one() -> None:
    with pytest.raises(UsageError, match="a date such as 2026-01-31 or 2026-01-31T09:30, not foo"):
        dispatch(["search", "rent", "--after", "foo"])


def test_an_empty_extension_is_refused_rather_than_taken_for_no_filter() -> None:
    assert extensions(["PDF", ".md,txt,"]) == (".pdf", ".md", ".txt")
    with pytest.raises(UsageError, match="without an extension"):
        extensions([""])


def test_the_demo_names_the_program_where_the_shell_would_not_find_it(tmp_path: Path) -> None:
    [alias] = first_steps({"PATH": str(tmp_path), "UV": "/usr/bin/uv"})

    assert alias.startswith("alias openmind=")
    assert alias.endswith("/openmind")
