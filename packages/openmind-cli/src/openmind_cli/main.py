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
    os.umask(0o077)  # whatever is written from here on is for its owner only
    try:
        # Not at the top: worker processes import the main module again and need nothing of the command line.
        from openmind_cli.guard import guarded
        from openmind_cli.terminal import prepare_streams

        prepare_streams()
        return guarded(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130  # while it started, or for the second time: there is nothing to tell
