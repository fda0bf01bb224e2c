"""Files of kinds that nothing reads, in words."""

from collections.abc import Iterable

from openmind.domain.paths import displayable
from openmind.domain.unread import NO_FILES, OTHER, Kinds, UnreadFile, hint_for

from openmind_cli.render.amounts import count
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_lines

SHOWN = 6
"""Kinds that are named; the others are added up."""


def kinds_text(kinds: Kinds) -> str:
    """`10 .doc, 2 links, 400 .o, 7 others`: kinds that something can be done about come first, frequent before rare."""
    known = sorted((kind for kind in kinds if kind != OTHER), key=lambda kind: (not hint_for(kind), -kinds[kind]))
    named = [(kind, kinds[kind]) for kind in known[:SHOWN]]
    others = sum(kinds.values()) - sum(number for _, number in named)
    told = [count(number, kind) if kind in NO_FILES else f"{number:,} {one_line(kind)}" for kind, number in named]
    return ", ".join(told + ([f"{count(others, 'other')}"] if others else []))


def summary(kinds: Kinds) -> str:
    """`37 files of kinds that are not read: 30 .jpg, 7 .doc`; empty when there are none."""
    return f"{count(sum(kinds.values()), 'file')} of kinds that are not read: {kinds_text(kinds)}" if kinds else ""


def print_unread(files: Iterable[UnreadFile]) -> None:
    """Print the files, one a line; on standard error, what can be done about each kind that was met."""
    hints: dict[str, list[str]] = {}
    for file in files:
        print_lines([line(f"{one_line(displayable(file.path_bytes))}: not read ({one_line(file.kind)})")])
        kinds = hints.setdefault(file.hint, [])
        if file.hint and file.kind not in kinds:
            kinds.append(file.kind)
    for hint, kinds in hints.items():
        if hint:
            note(f"{one_line(', '.join(sorted(kinds)))}: {hint}")
