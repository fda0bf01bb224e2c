"""What the columns of a table hold: kind, range, and values that repeat."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from attrs import define, field

PROFILE_FROM_ROWS = 20
"""Smaller tables are their own summary."""

PROFILE_ROWS = 1_000
PROFILE_CELLS = 100_000
"""A profile looks at the first rows only: it tells what a column is about, and must not cost more than reading."""

MAX_VALUES_SHOWN = 12
_MAX_VALUE_CHARS = 60
_MAX_PROFILED_COLUMNS = 60
_KIND_SAMPLE = 60
_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d{0,14})(?:[.,]\d+)?")
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
_DATE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_MOST = 0.95


@define
class Profile:
    """Gathers the first rows of a table, and describes its columns."""

    names: Callable[[int], Sequence[str]]
    _rows: list[Sequence[str]] = field(factory=list)
    _cells: int = 0

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        """Take rows of data into account."""
        if len(self._rows) < PROFILE_ROWS and self._cells < PROFILE_CELLS:
            self._rows.extend(rows)
            self._cells += sum(map(len, rows))

    def describe(self, total: int) -> str:
        """Describe the columns of a table of so many rows; empty for a small table."""
        rows = [row[:_MAX_PROFILED_COLUMNS] for row in self._rows if row]
        if len(rows) < PROFILE_FROM_ROWS:
            return ""
        columns = list(zip_longest(*rows, fillvalue=""))
        width = max(map(len, self._rows))
        seen = f"first {len(rows):,} of " if len(rows) < total else ""
        lines = [f"Columns of the table ({width} columns, {seen}{total:,} rows):"]
        names = self.names(len(columns))
        lines.extend(f"{name}: {_column(cells)}" for name, cells in zip(names, columns, strict=True))
        return "\n".join(lines)


def _column(cells: Sequence[str]) -> str:
    """Describe a column."""
    counts = Counter(cells)
    gaps = counts.pop("", 0)
    if not counts:
        return "empty"
    told = [_kind(cells, counts), f"{len(counts):,} distinct value{'s' if len(counts) > 1 else ''}"]
    if gaps:
        told.append(f"{gaps:,} empty")
    if len(counts) < len(cells) - gaps and len(counts) <= MAX_VALUES_SHOWN * 2:
        shown = [" ".join(value.split())[:_MAX_VALUE_CHARS] for value, _ in counts.most_common(MAX_VALUES_SHOWN)]
        told.append(f"values {', '.join(shown)}")
    return "; ".join(told)


def _kind(cells: Sequence[str], counts: Mapping[str, int]) -> str:
    """Name the kind of a column's values, with their range. Some values decide, all make the range."""
    values = list(counts)
    sample = [value.strip() for value in values[:: max(1, len(values) // _KIND_SAMPLE)]]
    if _share(_NUMBER, sample) >= _MOST and not any(_LEADING_ZERO.match(value) for value in sample):
        return _number(cells)
    if _share(_ISO_DATE, sample) >= _MOST:
        dates = [value.strip() for value in values if _ISO_DATE.fullmatch(value.strip())]
        return f"date, {min(dates)} to {max(dates)}"
    return "date" if _share(_DATE, sample) >= _MOST else "text"


def _share(pattern: re.Pattern[str], values: list[str]) -> float:
    return sum(bool(pattern.fullmatch(value)) for value in values) / len(values)


def _number(cells: Sequence[str]) -> str:
    """Describe a column of numbers."""
    import pandas as pd

    decimal = any("," in cell or "." in cell for cell in cells)
    figures = pd.to_numeric(pd.Series([cell.replace(",", ".") for cell in cells], dtype=object), errors="coerce")
    least, most, mean = float(figures.min()), float(figures.max()), float(figures.mean())
    return f"{'number' if decimal else 'whole number'}, {least:.15g} to {most:.15g}, mean {mean:.6g}"
