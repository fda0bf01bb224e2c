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
        from openmind_cli.guard import guarded, wants_json
        from openmind_cli.terminal import keep_output_apart, prepare_streams

        arguments = list(sys.argv[1:] if argv is None else argv)
        prepare_streams()
        if argv is None and wants_json(arguments):  # with arguments given, the process is somebody else's
            keep_output_apart()
        return guarded(arguments)
    except KeyboardInterrupt:  # while it started, or for the second time
        print("openmind: Interrupted", file=sys.stderr)
        return 130
