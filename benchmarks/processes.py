"""What whole processes cost: CPU seconds of a command and its children, compared in turns."""

import os
import resource
import subprocess
from collections.abc import Mapping, Sequence

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Python keeps what it compiled, as it does for people; else each process would compile all that it imports anew."""


def cpu_seconds(commands: Mapping[str, Sequence[str]], *, runs: int, **environment: str) -> dict[str, float]:
    """Return the least CPU seconds of each command.

    All run once before anything counts, so that what they import is compiled; then they take turns, so that a busy
    minute of the machine falls on all of them.
    """
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(1 + runs):
        for name, command in commands.items():
            spent[name].append(_once(command, ENVIRONMENT | environment))
    return {name: min(taken[1:]) for name, taken in spent.items()}


def _once(command: Sequence[str], environment: Mapping[str, str]) -> float:
    before = children_cpu_s()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return children_cpu_s() - before


def children_cpu_s() -> float:
    """CPU seconds of all processes that were started here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
