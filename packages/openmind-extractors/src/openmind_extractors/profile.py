"""What the columns of a table hold: kind, range, and values that repeat."""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:  # pandas takes seconds to import; only a process that profiles a table pays for it
    import pandas as pd

PROFILE_FROM_ROWS = 20
"""Smaller tables are their own summary."""

PROFILE_ROWS = 1_000
PROFILE_CELLS = 100_000
"""A profile looks at the first rows only: it tells what a column is about, and must not cost more than reading."""

MAX_VALUES_SHOWN = 12
_MAX_VALUE_CHARS = 60
_MAX_PROFILED_COLUMNS = 60
_KIND_SAMPLE = 200
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
        import pandas as pd

        columns = [pd.Series(cells, dtype=object) for cells in zip_longest(*rows, fillvalue="")]
        width = max(len(row) for row in self._rows)
        seen = f"first {len(rows):,} of " if len(rows) < total else ""
        lines = [f"Columns of the table ({width} columns, {seen}{total:,} rows):"]
        names = self.names(len(columns))
        lines.extend(f"{name}: {_column(cells)}" for name, cells in zip(names, columns, strict=True))
        return "\n".join(lines)


def _column(cells: "pd.Series[str]") -> str:
    """Describe a column."""
    counts = cells.value_counts()
    gaps = int(counts.pop("")) if "" in counts.index else 0
    if counts.empty:
        return "empty"
    told = [_kind(counts), f"{len(counts):,} distinct value{'s' if len(counts) > 1 else ''}"]
    if gaps:
        told.append(f"{gaps:,} empty")
    if len(counts) < len(cells) - gaps and len(counts) <= MAX_VALUES_SHOWN * 2:
        shown = [" ".join(str(value).split())[:_MAX_VALUE_CHARS] for value in counts.index[:MAX_VALUES_SHOWN]]
        told.append(f"values {', '.join(shown)}")
    return "; ".join(told)


def _kind(counts: "pd.Series[int]") -> str:
    """Name the kind of a column's values, with their range. Some values decide, all make the range."""
    values = [str(value).strip() for value in counts.index]
    sample = values[:: max(1, len(values) // _KIND_SAMPLE)]
    if _share(_NUMBER, sample) >= _MOST and not any(_LEADING_ZERO.match(value) for value in sample):
        return _number(counts, values)
    if _share(_ISO_DATE, sample) >= _MOST:
        dates = [value for value in values if _ISO_DATE.fullmatch(value)]
        return f"date, {min(dates)} to {max(dates)}"
    return "date" if _share(_DATE, sample) >= _MOST else "text"


def _share(pattern: re.Pattern[str], values: list[str]) -> float:
    return sum(bool(pattern.fullmatch(value)) for value in values) / len(values)


def _number(counts: "pd.Series[int]", values: list[str]) -> str:
    import pandas as pd

    decimal = any("," in value or "." in value for value in values)
    figures = pd.to_numeric(pd.Series([value.replace(",", ".") for value in values]), errors="coerce")
    times = pd.Series(counts.to_numpy())[figures.notna()]
    known = figures.dropna()
    mean = float((known * times).sum() / times.sum())
    return f"{'number' if decimal else 'whole number'}, {known.min():.15g} to {known.max():.15g}, mean {mean:.6g}"
