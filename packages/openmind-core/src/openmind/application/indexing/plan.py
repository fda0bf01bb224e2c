"""The plan of a run, read page by page: it may name millions of files."""

from collections.abc import Callable, Iterable, Iterator

import attrs
from attrs import frozen

from openmind.domain.changes import ChangeKind
from openmind.domain.ids import RunId
from openmind.ports.catalog import Catalog, PlannedChange

PAGE = 1_000
"""Lines that are in memory at once."""
PUT_OFF = 1_000
"""More than the effort of any line that discovery writes."""
ALL_BUT_GONE = tuple(kind for kind in ChangeKind if kind is not ChangeKind.GONE)


@frozen
class Plan:
    """What discovery found to be done."""

    catalog: Catalog
    run_id: RunId

    def changes(self, kinds: tuple[ChangeKind, ...], *, after: int = 0) -> Iterator[PlannedChange]:
        """Give the lines of some kinds, in the order of the plan; `after` is the position of the last one seen."""
        for page in self.pages(kinds, after=after):
            yield from page

    def pages(self, kinds: tuple[ChangeKind, ...], *, after: int = 0) -> Iterator[tuple[PlannedChange, ...]]:
        """Give the same lines, page by page; no snapshot is held between two pages."""
        while True:
            with self.catalog.reading() as snapshot:
                page = snapshot.next_changes(self.run_id, after=after, limit=PAGE, kinds=kinds)
            if not page:
                return
            yield page
            after = page[-1].position

    def thin(
        self,
        kinds: tuple[ChangeKind, ...],
        done: Callable[[tuple[PlannedChange, ...]], Iterable[PlannedChange]],
    ) -> None:
        """Take lines out that have come to nothing.

        Args:
            kinds: of the lines.
            done: is given them page by page, and says which of a page to take out.
        """
        out: list[PlannedChange] = []
        for page in self.pages(kinds):
            self._take_out(out)  # only now: the page was looked for behind the last line of the one before
            out = list(done(page))
        self._take_out(out)

    def _take_out(self, changes: list[PlannedChange]) -> None:
        if changes:
            with self.catalog.writing() as session:
                session.unplan(self.run_id, changes)

    def put_off(self, changes: Iterable[PlannedChange]) -> None:
        """Let lines come once more, after all others."""
        with self.catalog.writing() as session:
            session.plan(self.run_id, [attrs.evolve(change, effort=PUT_OFF) for change in changes])

    def drop(self) -> None:
        """Leave nothing of it."""
        with self.catalog.writing() as session:
            session.drop_plan(self.run_id)
