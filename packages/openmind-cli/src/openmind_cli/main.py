"""The entry point of the `openmind` command."""

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments after the program's name; None takes them from the command line.

    Returns:
        The exit code: 0 done, 1 partly done, refused or provider failed, 2 usage, 130 interrupted.
    """
    # Not at the top: worker processes import the main module again and need nothing of the command line.
    from openmind_cli.guard import guarded
    from openmind_cli.terminal import accept_any_text

    os.umask(0o077)  # whatever is written from here on is for its owner only
    accept_any_text(sys.stdout, sys.stderr)
    return guarded(list(sys.argv[1:] if argv is None else argv))
