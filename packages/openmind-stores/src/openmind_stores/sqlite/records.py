"""Rows become records: the one place where a value that cannot be there becomes a failure that can be told.

SQLite keeps any value in any column, and whoever opens the file with another program can write one. The types of a row
are compared with those that may stand there, all at once; what its values mean, `make` finds out.
"""

from collections.abc import Callable, Iterator
from itertools import product
from types import NoneType
from typing import Final, Generic, TypeVar

from attrs import frozen
from openmind.domain.errors import CatalogDamaged

from openmind_stores.sqlite.connection import Link, Parameters, Row
from openmind_stores.sqlite.errors import damaged

T = TypeVar("T")

Types = tuple[type, ...]
"""What a column may hold."""

TEXT: Final[Types] = (str,)
WHOLE: Final[Types] = (int,)
REAL: Final[Types] = (float,)
BYTES: Final[Types] = (bytes,)


def or_null(types: Types) -> Types:
    """Let a column hold nothing, too."""
    return (*types, NoneType)


@frozen
class Form(Generic[T]):
    """What the rows of a table look like, and what is made of one."""

    table: str
    every: str
    """A statement that selects all of them, as `make` takes them."""
    shapes: frozenset[Types]
    """The types of a row, in each way that they may come together."""
    make: Callable[[Row], T]
    """Raises `KeyError` or `ValueError` where a value is none of those that have a meaning."""

    def read(self, row: Row, link: Link) -> T:
        """Make a record of a row.

        Raises:
            CatalogDamaged: it holds what cannot be there; the message does not show it.
        """
        if tuple(map(type, row)) not in self.shapes:
            raise self._damage(link)
        try:
            return self.make(row)
        except (KeyError, ValueError):
            raise self._damage(link) from None  # the cause would show what is stored

    def _damage(self, link: Link) -> CatalogDamaged:
        return damaged(link.path, f"a record of the table {self.table} holds a value that cannot be there")


def shapes(*columns: Types) -> frozenset[Types]:
    """List the types that a row may have, given those of each column."""
    return frozenset(product(*columns))


@frozen
class Session:
    """What every group of catalog methods works on. Serves one thread at a time."""

    link: Link

    def one(self, form: Form[T], sql: str, parameters: Parameters = ()) -> T | None:
        """Read the first record; None when there is none."""
        row = self.link.row(sql, parameters)
        return None if row is None else form.read(row, self.link)

    def sole(self, form: Form[T], sql: str) -> T:
        """Read the record of a table that has one row, always."""
        row = self.link.row(sql)
        return form.read(() if row is None else row, self.link)

    def all(self, form: Form[T], sql: str, parameters: Parameters = ()) -> tuple[T, ...]:
        """Read all records."""
        return tuple(form.read(row, self.link) for row in self.link.rows(sql, parameters))

    def each(self, form: Form[T], sql: str, parameters: Parameters = ()) -> Iterator[T]:
        """Read records one by one."""
        return (form.read(row, self.link) for row in self.link.stream(sql, parameters))
