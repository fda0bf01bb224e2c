"""Lines with a little style: printed in colour at a terminal, plain anywhere else."""

import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from attrs import frozen

from openmind_cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.console import Console


@frozen
class Span:
    """A stretch of text in one style; the text is printed as it is, `[b]` means nothing in it."""

    text: str
    style: str = ""


@frozen(kw_only=True)
class Line:
    """A line of text."""

    spans: tuple[Span, ...]
    indent: int = 0
    wraps: bool = False
    """Whether a terminal may break it between words, below its own indent; paths and links stay whole."""

    @property
    def plain(self) -> str:
        return (" " * self.indent + "".join(span.text for span in self.spans)).rstrip()


def line(*parts: str | Span, indent: int = 0, wraps: bool = False) -> Line:
    """Make a line of texts and spans."""
    spans = tuple(part if isinstance(part, Span) else Span(part) for part in parts)
    return Line(spans=spans, indent=indent, wraps=wraps)


BLANK = line()
WIDE = 16
"""Columns that a cell of several lines needs at least."""


def print_lines(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print lines to standard output, or to the stream."""
    target = stream or sys.stdout
    if is_terminal(target):
        _print_styled(lines, target)
        return
    for each in lines:
        target.write(each.plain + "\n")


def print_columns(rows: Sequence[Sequence[str]], *, heads: Sequence[str], wide: Collection[str]) -> None:
    """Print a table: aligned under its heads at a terminal, else one line a row with tabs between the cells.

    Args:
        rows: the cells.
        heads: what stands over the columns.
        wide: the columns whose cells may take several lines.
    """
    if not is_terminal():
        for row in rows:
            sys.stdout.write("\t".join(row) + "\n")
        return
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    console = console_on(sys.stdout)
    widths = [max(map(cell_len, cells)) for cells in zip(heads, *rows, strict=True)]
    needed = sum(min(width, WIDE) if head in wide else width for head, width in zip(heads, widths, strict=True))
    if needed + len(heads) - 1 > console.width:
        _print_cards(rows, heads)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, overflow="fold", no_wrap=head not in wide)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _print_cards(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> None:
    """Print a table that the terminal is too narrow for: every row on several lines."""
    room = max(map(len, heads))
    for row in rows:
        cells = zip(heads, row, strict=True)
        print_lines([*(line(Span(f"{head:<{room}}  ", "bold"), cell) for head, cell in cells), BLANK])


def note(text: str) -> None:
    """Tell a person something that is not the result: it goes to standard error."""
    print_lines([line(Span(text, "dim"), wraps=True)], sys.stderr)


def console_on(stream: TextIO) -> "Console":
    """A console that takes no text for markup, an emoji or something to highlight."""
    from rich.console import Console, ConsoleDimensions

    console = Console(file=stream, markup=False, emoji=False, highlight=False)
    if console.is_dumb_terminal:  # Rich takes all of those to have 80 columns
        columns, rows = shutil.get_terminal_size()
        console.size = ConsoleDimensions(columns, rows)
    return console


def _print_styled(lines: Iterable[Line], stream: TextIO) -> None:
    from rich.text import Text

    console = console_on(stream)
    for each in lines:
        text = Text.assemble(*((span.text, span.style) for span in each.spans))
        if each.wraps:
            for row in text.wrap(console, max(console.width - each.indent, 1)):
                row.rstrip()
                console.print(Text(" " * each.indent) + row, soft_wrap=True)
        else:
            console.print(Text(" " * each.indent) + text, soft_wrap=True)
