"""Files of kinds that nothing reads, in words."""

from collections.abc import Iterable

from openmind.domain.paths import displayable
from openmind.domain.unread import OTHER, Kinds, UnreadFile, kind_of

from openmind_cli.render.amounts import count
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_lines

SHOWN = 6
"""Kinds that are named; the others are added up."""


def kinds_text(kinds: Kinds) -> str:
    """`20 .jpg, 10 .doc, 7 others`: the most frequent kinds first."""
    named = [(kind, number) for kind, number in kinds.items() if kind != OTHER][:SHOWN]
    others = sum(kinds.values()) - sum(number for _, number in named)
    told = [f"{number:,} {one_line(kind)}" for kind, number in named]
    return ", ".join(told + ([f"{count(others, 'other')}"] if others else []))


def summary(kinds: Kinds) -> str:
    """`37 files of kinds that are not read: 30 .jpg, 7 .doc`; empty when there are none."""
    return f"{count(sum(kinds.values()), 'file')} of kinds that are not read: {kinds_text(kinds)}" if kinds else ""


def print_unread(files: Iterable[UnreadFile]) -> None:
    """Print the files, one a line; on standard error, what can be done about each kind that was met."""
    hints: dict[str, list[str]] = {}
    for file in files:
        kind = kind_of(file.extension)
        print_lines([line(f"{one_line(displayable(file.path_bytes))}: not read ({one_line(kind)})")])
        kinds = hints.setdefault(file.hint, [])
        if file.hint and kind not in kinds:
            kinds.append(kind)
    for hint, kinds in hints.items():
        if hint:
            note(f"{one_line(', '.join(sorted(kinds)))}: {hint}")
