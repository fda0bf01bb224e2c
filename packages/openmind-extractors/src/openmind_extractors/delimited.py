"""Rows of delimited text, exactly as written: whatever the separator, the quoting and the damage."""

import csv
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice

from attrs import define, field, frozen

DELIMITERS = ("\t", ";", "|", ",")
"""In order of trust: a comma is often part of a number or a sentence."""

SAMPLE_LINES = 50
"""Lines that are looked at to find the delimiter and the header."""

MAX_RECORD_LINES = 1_000
"""A record of more lines is one whose quotation mark was never closed."""

MAX_FIELD_CHARS = 1_000_000
"""A larger field is not a field; its line is divided at the delimiters alone."""

MAX_REPAIRS = 20
"""After so many broken records quotation marks mean nothing in this file."""

BLOCK_ROWS = 250
"""Rows are handled in blocks, so that per row little more is done than reading it."""

Lines = Callable[[int], Iterator[str]]
"""Opens the text anew, after so many of its lines; line ends are kept."""

Row = list[str]
Rows = list[Row]


@frozen
class Dialect:
    """How a file writes its rows."""

    delimiter: str
    skip: int = 0
    """Lines before the first row: the one that says `sep=;`."""


def find_dialect(lines: Sequence[str], *, tabs: bool = False) -> Dialect:
    """Choose the delimiter that gives most rows the same number of fields.

    Args:
        lines: the first lines of the file.
        tabs: whether the file's name promises tabs.
    """
    first = lines[0].strip().lstrip("\ufeff") if lines else ""
    if len(first) == 5 and first[:4].lower() == "sep=":
        return Dialect(first[4], 1)
    if lines and lines[0].strip("\r\n ").lower() == "sep=":
        return Dialect("\t", 1)
    scores = {delimiter: _evenness(lines, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
    if scores[best] == 0 or (tabs and scores["\t"] > 0):
        return Dialect("\t" if tabs else ",")
    return Dialect(best)


def _evenness(lines: Sequence[str], delimiter: str) -> int:
    """Count the rows that have the most frequent number of fields, when that is more than one."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        rows = [line.split(delimiter) for line in lines]
    counts = Counter(len(row) for row in rows if row)
    several = {width: count for width, count in counts.items() if width > 1}
    return max(several.values(), default=0)


def read_rows(lines: Lines, dialect: Dialect) -> Iterator[Rows]:
    """Read all rows, in blocks; an empty line is an empty row.

    No row is lost to a quotation mark that is never closed.
    """
    csv.field_size_limit(MAX_FIELD_CHARS)
    done = dialect.skip
    fast, is_all = yield from _one_line_rows(lines(done), dialect)
    if is_all:
        return
    done += fast
    for _ in range(MAX_REPAIRS):
        sound = yield from _any_rows(lines, done, dialect)
        if sound is None:
            return
        done += sound
        line = next(lines(done), None)
        if line is None:
            return
        yield [_divide(line, dialect)]
        done += 1
    rest = lines(done)
    while block := [_divide(line, dialect) for line in islice(rest, BLOCK_ROWS)]:
        yield block


def _one_line_rows(lines: Iterator[str], dialect: Dialect) -> Generator[Rows, None, tuple[int, bool]]:
    """Read fast while each row takes one line; return how many lines that were, and whether they were all."""
    reader = csv.reader(lines, delimiter=dialect.delimiter)
    done = 0
    try:
        while block := list(islice(reader, BLOCK_ROWS)):
            if reader.line_num - done != len(block):
                return done, False
            done = reader.line_num
            yield block
    except csv.Error:
        return done, False
    return done, True


def _any_rows(lines: Lines, start: int, dialect: Dialect) -> Generator[Rows, None, int | None]:
    """Read rows one by one; return how many lines are sound before a broken record, or None when all are."""
    record = _Recorder(lines(start))
    done = 0
    block: list[Row] = []
    try:
        for row in csv.reader(record, delimiter=dialect.delimiter):
            if len(record.seen) > 1 and _is_broken(record.seen, dialect):
                yield block
                return done
            done += len(record.seen)
            record.seen.clear()
            block.append(row)
            if len(block) == BLOCK_ROWS:
                yield block
                block = []
    except csv.Error:
        yield block
        return done
    yield block
    return None


@define
class _Recorder:
    """Passes lines on and remembers them, until they are cleared."""

    _lines: Iterator[str]
    seen: list[str] = field(factory=list)

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.seen.append(line)
            yield line


def _is_broken(record: Sequence[str], dialect: Dialect) -> bool:
    """Whether a record of several lines is one that a stray quotation mark made."""
    if len(record) > MAX_RECORD_LINES:
        return True
    try:
        list(csv.reader(record, delimiter=dialect.delimiter, strict=True))
    except csv.Error:
        return True
    return False


def _divide(line: str, dialect: Dialect) -> Row:
    text = line.rstrip("\r\n")
    return text.split(dialect.delimiter) if text else []
