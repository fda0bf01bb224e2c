"""Brings both stores together at the start of a run: whatever happened before, what follows starts from the truth."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

import attrs
from attrs import frozen

from openmind.application.differences import Difference, differences, is_dead
from openmind.domain.errors import OpenMindError, StoreDamaged
from openmind.domain.index import IndexTable, TableState, Visibility
from openmind.ports.catalog import Catalog, CatalogReader, GarbageEntry
from openmind.ports.chunk_store import ChunkStore, TableChanges

GRACE_S = 60.0
"""Replaced passages stay this long: a search that began before the change may still need them."""
VERSION_AGE_S = 300.0
"""Old versions of a table are deleted after this long: a reader in another process may have one open."""
MOST_DEAD = 1_000
"""Ranges of dead generations that a search carries along without getting slower."""
CLEAN_AFTER = "clean_after"
"""Name of the setting that says when (POSIX seconds) the versions of the last change are old enough to go."""
SWEEP = 5_000
"""Generations that are swept at once."""


SUSPECT = "suspect"
"""Name of the setting that says that somebody met damage: the next run then takes nothing for granted."""


def seal_key(table: IndexTable) -> str:
    """Name of the setting that says what the files of a table looked like when the last run ended."""
    return f"seal:{table.name}"


def suspect(catalog: Catalog) -> None:
    """Let the next run look closely; where that cannot be written down, no run can mend anything either."""
    with suppress(OpenMindError):
        with catalog.reading() as snapshot:
            known = snapshot.setting(SUSPECT) is not None
        if not known:
            with catalog.writing() as session:
                session.set_setting(SUSPECT, "1")


def damage(snapshot: CatalogReader, chunks: ChunkStore) -> str:
    """Say in a sentence that the index is damaged, as far as its files tell; empty when they look well.

    Starts no engine. While a run is under way its files change, and nothing can be said.
    """
    tables = [table for table in snapshot.tables() if table.state is TableState.LIVE]
    seals = {table.name: snapshot.setting(seal_key(table)) or "" for table in tables}
    if snapshot.setting(SUSPECT) is None and not any(
        chunks.compare(name, seal).damaged for name, seal in seals.items()
    ):
        return ""
    return "The index is damaged; the next `openmind index` mends it."


@frozen(kw_only=True)
class Recovery:
    """Repairs and sweeps. Needs the index lock."""

    catalog: Catalog
    chunks: ChunkStore
    clock: Callable[[], float] = time.time

    def recover(self, *, closely: bool = False) -> tuple[str, ...]:
        """Give up what was begun, compare the stores if anything but a finished run touched them.

        Args:
            closely: compare the stores in any case, and look at every byte on the disk.

        Returns:
            A sentence for each thing that had to be mended.
        """
        with self.catalog.reading() as snapshot:
            begun = bool(snapshot.intents())
            tables = snapshot.tables()
            seals = {table.id: snapshot.setting(seal_key(table)) or "" for table in tables}
            suspected = snapshot.setting(SUSPECT) is not None
        closely |= suspected
        if begun:
            with self.catalog.writing() as session:
                session.abandon_all(at=0.0)
        told: list[str] = []
        self.drop_dead()
        for table in tables:
            if table.state is TableState.DEAD:
                continue
            changes = self.chunks.compare(table.name, seals[table.id], closely=closely)
            if changes or closely:
                told += self._reconcile(table, changes, thoroughly=suspected)
        if suspected:
            with self.catalog.writing() as session:
                session.set_setting(SUSPECT, None)
        return tuple(told)

    def drop_dead(self) -> None:
        """Delete the tables that nobody searches or fills any more."""
        with self.catalog.reading() as snapshot:
            dead = [table for table in snapshot.tables() if table.state is TableState.DEAD]
        for table in dead:
            self.chunks.drop(table.name)
            with self.catalog.writing() as session:
                session.forget_table(table.id)
                session.set_setting(seal_key(table), None)

    def clean(self, *, touched: bool = True) -> None:
        """Give back the space of old versions, which hold what was deleted.

        Args:
            touched: whether something was written now. If not, there is only something to do when versions of an
                earlier change have become old enough; looking for that starts no engine.
        """
        with self.catalog.reading() as snapshot:
            due = snapshot.setting(CLEAN_AFTER)
            tables = [table for table in snapshot.tables() if table.state is not TableState.DEAD]
        if not touched and (due is None or self.clock() < float(due)):
            return
        for table in tables:
            self.chunks.clean(table.name, older_than_s=VERSION_AGE_S)
        with self.catalog.writing() as session:
            session.set_setting(CLEAN_AFTER, str(self.clock() + VERSION_AGE_S) if touched else None)

    def erase(self, *, grace_s: float = GRACE_S) -> None:
        """Take off the disk at once what a person removed, old versions of the tables included.

        A search in another process that still reads an old version opens the newest one instead.

        Args:
            grace_s: how old what was merely replaced must be to go, too.
        """
        self.recover()  # before anything is sealed as the truth
        swept = self.sweep(grace_s=grace_s)
        with self.catalog.reading() as snapshot:
            due = snapshot.setting(CLEAN_AFTER)
            tables = [table for table in snapshot.tables() if table.state is not TableState.DEAD]
        if swept or due is not None:
            for table in tables:
                self.chunks.clean(table.name, older_than_s=0.0)
            with self.catalog.writing() as session:
                session.set_setting(CLEAN_AFTER, None)
        self.seal()

    def sweep_if_crowded(self) -> None:
        """Sweep when so much is dead that keeping it out of every search costs time."""
        with self.catalog.reading() as snapshot:
            live = snapshot.live_table()
            crowded = live is not None and len(snapshot.visibility(live.id).dead) > MOST_DEAD
        if crowded:
            self.sweep()

    def seal(self) -> None:
        """Note what the tables look like now, as the last thing a run does.

        What was moved aside goes: it may hold what a person removed, and what it held was made again or will be.
        """
        self.chunks.discard_quarantined()
        with self.catalog.reading() as snapshot:
            tables = [table for table in snapshot.tables() if table.state is not TableState.DEAD]
            noted = {table.id: snapshot.setting(seal_key(table)) or "" for table in tables}
        seals = {table.id: self.chunks.seal(table.name, former=noted[table.id]) for table in tables}
        if seals != noted:
            with self.catalog.writing() as session:
                for table in tables:
                    session.set_setting(seal_key(table), seals[table.id])

    def sweep(self, *, grace_s: float = GRACE_S) -> int:
        """Delete the passages that nobody may see for so long; returns how many generations.

        The text of files that a person removed is taken off the disk, too; that of replaced passages goes when the
        files of the table are written anew.
        """
        swept = 0
        removed: set[str] = set()
        while entries := self._due(grace_s):
            by_table: dict[int, list[GarbageEntry]] = {}
            for entry in entries:
                by_table.setdefault(entry.table_id, []).append(entry)
            with self.catalog.reading() as snapshot:
                names = {table.id: table.name for table in snapshot.tables()}
            for table_id, dead in by_table.items():
                if table_id in names:
                    self.chunks.delete(names[table_id], [entry.generation for entry in dead])
            removed |= {names[entry.table_id] for entry in entries if not entry.died_at and entry.table_id in names}
            with self.catalog.writing() as session:
                session.drop_garbage(entries)
            swept += len(entries)
        for name in removed:
            self.chunks.purge(name)
        return swept

    def _due(self, grace_s: float) -> tuple[GarbageEntry, ...]:
        with self.catalog.reading() as snapshot:
            return snapshot.garbage(died_before=self.clock() - grace_s, limit=SWEEP)

    def _reconcile(self, table: IndexTable, changes: TableChanges, *, thoroughly: bool) -> Iterator[str]:
        """Mend the indexes of a table, then compare, row for row, what the catalog says is there with what is there."""
        try:
            mended = self.chunks.mend(table.name, changes, thoroughly=thoroughly)
            counts = self.chunks.counts(table.name)
        except StoreDamaged:
            self._rebuild(table)
            yield "The index could not be read. It was moved aside and is made again from the kept text."
            return
        if mended:
            yield "Parts of the index were damaged and have been made anew."
        lost = 0
        with self.catalog.reading() as snapshot:
            visibility = snapshot.visibility(table.id)
            filling = table.state is TableState.FILLING
            expected = snapshot.filled_generations(table.id) if filling else snapshot.live_generations()
            found = differences(counts, expected)
            while some := list(islice(found, SWEEP)):
                lost += self._settle(table, some, visibility)
        if lost and not filling:
            yield f"The index had lost passages of {lost:,} files; they are made again from the kept text."

    def _settle(self, table: IndexTable, found: list[Difference], visibility: Visibility) -> int:
        """Delete the rows that should not be there, or not in that number; returns of how many files some are missing.

        Those files lose their generation: the next plan makes their passages again.
        """
        strangers = {each.generation for each in found if each.rows and not is_dead(each.generation, visibility)}
        if strangers:
            self.chunks.delete(table.name, strangers)
        lost = [each for each in found if each.expected]
        with self.catalog.writing() as session:
            if table.state is TableState.FILLING:
                session.unmark_filled(table.id, [each.generation for each in lost])
            elif lost:
                records = session.files([each.file_id for each in lost]).values()
                session.record([attrs.evolve(record, live_generation=None) for record in records], at=0.0)
        return len(lost)

    def _rebuild(self, table: IndexTable) -> None:
        self.chunks.quarantine(table.name)
        self.chunks.create(table.name, dimension=table.identity.embedder.dimension)
        with self.catalog.writing() as session:
            session.empty_table(table.id, at=0.0)
