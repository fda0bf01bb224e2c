"""Brings both stores together at the start of a run: whatever happened before, what follows starts from the truth."""

import time
from collections.abc import Callable, Iterator
from itertools import islice

import attrs
from attrs import frozen

from openmind.domain.errors import StoreDamaged
from openmind.domain.ids import FileId, Generation
from openmind.domain.index import IndexTable, TableState
from openmind.ports.catalog import Catalog, GarbageEntry
from openmind.ports.chunk_store import ChunkStore

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


def fingerprint_key(table: IndexTable) -> str:
    """Name of the setting that says what the files of a table looked like when the last run ended."""
    return f"fingerprint:{table.name}"


@frozen(kw_only=True)
class Recovery:
    """Repairs and sweeps. Needs the index lock."""

    catalog: Catalog
    chunks: ChunkStore
    clock: Callable[[], float] = time.time

    def recover(self) -> tuple[str, ...]:
        """Give up what was begun, compare the stores if anything but a finished run touched them.

        Returns:
            A sentence for each thing that had to be mended.
        """
        with self.catalog.reading() as snapshot:
            begun = bool(snapshot.intents())
            tables = snapshot.tables()
            prints = {table.id: snapshot.setting(fingerprint_key(table)) for table in tables}
        if begun:
            with self.catalog.writing() as session:
                session.abandon_all(at=0.0)
        told = []
        self.drop_dead()
        for table in tables:
            if table.state is TableState.DEAD:
                continue
            if self.chunks.fingerprint(table.name) != (prints[table.id] or ""):
                told += self._reconcile(table)
        return tuple(told)

    def drop_dead(self) -> None:
        """Delete the tables that nobody searches or fills any more."""
        with self.catalog.reading() as snapshot:
            dead = [table for table in snapshot.tables() if table.state is TableState.DEAD]
        for table in dead:
            self.chunks.drop(table.name)
            with self.catalog.writing() as session:
                session.forget_table(table.id)
                session.set_setting(fingerprint_key(table), None)

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

    def sweep_if_crowded(self) -> None:
        """Sweep when so much is dead that keeping it out of every search costs time."""
        with self.catalog.reading() as snapshot:
            live = snapshot.live_table()
            crowded = live is not None and len(snapshot.visibility(live.id).dead) > MOST_DEAD
        if crowded:
            self.sweep()

    def seal(self) -> None:
        """Note what the tables look like now, as the last thing a run does."""
        with self.catalog.reading() as snapshot:
            tables = [table for table in snapshot.tables() if table.state is not TableState.DEAD]
            noted = {table.name: snapshot.setting(fingerprint_key(table)) for table in tables}
        prints = {table: self.chunks.fingerprint(table.name) for table in tables}
        if any(noted[table.name] != print_ for table, print_ in prints.items()):
            with self.catalog.writing() as session:
                for table, print_ in prints.items():
                    session.set_setting(fingerprint_key(table), print_)

    def sweep(self, *, grace_s: float = GRACE_S) -> int:
        """Delete the passages that nobody may see for so long; returns how many generations.

        The text of files that a person removed is taken off the disk, too; that of replaced passages goes when the
        files of the table are written anew.
        """
        swept = 0
        removed: set[str] = set()
        while entries := self._due(grace_s):
            by_table: dict[int, list[Generation]] = {}
            for entry in entries:
                by_table.setdefault(entry.table_id, []).append(entry.generation)
            with self.catalog.reading() as snapshot:
                names = {table.id: table.name for table in snapshot.tables()}
            for table_id, generations in by_table.items():
                if table_id in names:
                    self.chunks.delete(names[table_id], generations)
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

    def _reconcile(self, table: IndexTable) -> list[str]:
        """Compare, row for row, what the catalog says is there with what is there."""
        try:
            counts = self.chunks.counts(table.name)
        except StoreDamaged:
            return self._rebuild(table)
        with self.catalog.reading() as snapshot:
            garbage = {entry.generation for entry in snapshot.garbage(died_before=float("inf"), limit=10_000_000)}
            if table.state is TableState.FILLING:
                lost = _compare(counts, snapshot.filled_generations(table.id))
            else:
                lost = _compare(counts, snapshot.live_generations())
        strangers = {generation for generation, _ in counts} - garbage
        if strangers:
            self.chunks.delete(table.name, strangers)
        if table.state is TableState.FILLING:
            with self.catalog.writing() as session:
                session.unmark_filled(table.id, [generation for generation, _ in lost])
            return []
        self._unpublish([file_id for _, file_id in lost])
        if not lost:
            return []
        return [f"The index had lost passages of {len(lost)} files; they are made again from the kept text."]

    def _unpublish(self, lost: list[FileId]) -> None:
        """Let files lose their generation: the next plan makes their passages again."""
        remaining = iter(lost)
        while part := list(islice(remaining, 1_000)):
            with self.catalog.writing() as session:
                records = [attrs.evolve(record, live_generation=None) for record in session.files(part).values()]
                session.record(records, at=0.0)

    def _rebuild(self, table: IndexTable) -> list[str]:
        self.chunks.quarantine(table.name)
        self.chunks.create(table.name, dimension=table.identity.embedder.dimension)
        with self.catalog.writing() as session:
            session.empty_table(table.id, at=0.0)
        return ["The index could not be read. It was moved aside and is made again from the kept text."]


def _compare(
    counts: dict[tuple[Generation, FileId], int], expected: Iterator[tuple[Generation, FileId, int]]
) -> list[tuple[Generation, FileId]]:
    """Take what is as it should be out of `counts`; return those of which passages are missing or doubled."""
    lost = []
    for generation, file_id, chunks in expected:
        if counts.get((generation, file_id), 0) == chunks:
            counts.pop((generation, file_id))
        else:
            lost.append((generation, file_id))
    return lost
