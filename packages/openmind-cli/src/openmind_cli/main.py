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
        from openmind_cli import brief

        arguments = list(sys.argv[1:] if argv is None else argv)
        own_process = argv is None  # with arguments given, it is somebody else's
        is_brief = own_process and not brief.BRIEF.isdisjoint(arguments[:1])
        if is_brief:
            brief.begin()
        # Not at the top: worker processes import the main module again and need nothing of the command line.
        from openmind_cli.guard import guarded, wants_json
        from openmind_cli.terminal import keep_output_apart, prepare_streams

        prepare_streams()
        if own_process and wants_json(arguments):
            keep_output_apart()
        code = guarded(arguments)
        if is_brief:
            brief.end(code)
        return code
    except KeyboardInterrupt:  # while it started, or for the second time
        print("openmind: Interrupted", file=sys.stderr)
        return 130
