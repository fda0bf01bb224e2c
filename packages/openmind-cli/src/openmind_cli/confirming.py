"""Asks before something is deleted."""

import sys

from openmind.domain.errors import UsageError

from openmind_cli.terminal import is_terminal


def agreed(question: str, *, yes: bool, quiet: bool = False) -> bool:
    """Whether the person agrees; the answer that Enter gives is no.

    Args:
        question: what is asked.
        yes: whether they have agreed already, by an option.
        quiet: whether nobody may be asked, terminal or not.

    Raises:
        UsageError: nobody can be asked here.
    """
    if yes:
        return True
    if quiet or not (is_terminal(sys.stdin) and is_terminal()):
        raise UsageError(
            "Nobody can be asked here whether that is meant",
            hint="Add --yes to do it, or --dry-run to see what it would delete.",
        )
    from openmind_cli.prompts import TerminalPrompter  # loads a library of prompts

    return TerminalPrompter().confirm(question, default=False)
