"""Brings both stores together at the start of a run: whatever happened before, what follows starts from the truth."""

from collections.abc import Collection, Iterator
from itertools import islice

import attrs
from attrs import frozen

from openmind.application.indexing.embedding import input_hash
from openmind.application.models.embedders import BUILTIN
from openmind.application.recovering.differences import Difference, differences, is_dead
from openmind.application.recovering.kept_texts import read_damaged_again
from openmind.application.recovering.suspicion import SUSPECT, seal_key
from openmind.application.recovering.sweeping import VERSION_AGE_S
from openmind.domain.errors import StoreDamaged
from openmind.domain.ids import FileId, Generation
from openmind.domain.index import IndexTable, TableState, Visibility
from openmind.domain.packing import stored_input
from openmind.domain.soundness import fault_of_passage
from openmind.ports.catalog import Catalog, CatalogReader
from openmind.ports.chunk_store import ChunkStore, TableChanges

PAGE = 5_000
"""Differences that are settled at once."""
SAVED = 500
"""Vectors that are saved at once."""


@frozen(kw_only=True)
class Recovery:
    """Repairs. Needs the index lock."""

    catalog: Catalog
    chunks: ChunkStore

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
            seal = seals[table.id]
            changes = self.chunks.compare(table.name, seal, closely=closely)
            if changes or closely:
                told += self._reconcile(table, changes, seal=seal, thoroughly=suspected)
                self.chunks.clean(table.name, older_than_s=VERSION_AGE_S)  # what a killed writer left has been salvaged
        if suspected:
            reread = read_damaged_again(self.catalog)
            if reread:
                told.append(f"The kept text of {reread:,} files was damaged; they are read again.")
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

    def _reconcile(self, table: IndexTable, changes: TableChanges, *, seal: str, thoroughly: bool) -> Iterator[str]:
        """Mend a table; one that cannot be read is made again as a whole."""
        try:
            yield from self._mend(table, changes, seal=seal, thoroughly=thoroughly)
        except StoreDamaged:
            self._rebuild(table, seal=seal)
            yield "The index could not be read. It is made again from the kept text."

    def _mend(self, table: IndexTable, changes: TableChanges, *, seal: str, thoroughly: bool) -> Iterator[str]:
        """Mend the indexes of a table, then compare, row for row, what the catalog says is there with what is there."""
        if self.chunks.mend(table.name, changes, thoroughly=thoroughly):
            yield "Parts of the index were damaged and have been made anew."
        counts = self.chunks.counts(table.name)
        lost = 0
        with self.catalog.reading() as snapshot:
            visibility = snapshot.visibility(table.id)
            found = differences(counts, expected(snapshot, table))
            while some := list(islice(found, PAGE)):
                lost += self._settle(table, some, visibility, seal=seal)
        if lost and table.state is not TableState.FILLING:
            yield f"The index had lost passages of {lost:,} files; they are made again from the kept text."
        unsound = self._replace_unsound(table, seal=seal) if thoroughly or changes.changed else 0
        if unsound and table.state is not TableState.FILLING:
            yield f"Passages of {unsound:,} files made no sense; they are made again from the kept text."

    def _replace_unsound(self, table: IndexTable, *, seal: str) -> int:
        """Give up what the engine reads and nobody understands; returns of how many files that is.

        Reads every row, so it is done only once somebody met damage, or a file holds something else than was written.
        """
        replaced, dimension = 0, table.identity.embedder.dimension
        with self.catalog.reading() as snapshot:
            visibility = snapshot.visibility(table.id)
            versions = expected(snapshot, table)
            while some := list(islice(versions, SAVED)):
                rows = self.chunks.read_generations(table.name, [generation for generation, *_ in some])
                unsound = {row.generation for row in rows if fault_of_passage(row, dimension)}
                found = [Difference(*version, version[2]) for version in some if version[0] in unsound]
                replaced += self._settle(table, found, visibility, seal=seal)
        return replaced

    def _settle(self, table: IndexTable, found: list[Difference], visibility: Visibility, *, seal: str) -> int:
        """Delete the rows that should not be there, or not in that number; returns of how many files some are missing.

        Those files lose their generation: the next plan makes their passages again.
        """
        strangers = {each.generation for each in found if each.rows and not is_dead(each.generation, visibility)}
        if strangers:
            self.chunks.delete(table.name, strangers)
        lost = [each for each in found if each.expected]
        self._save_vectors(table, {each.generation for each in lost}, seal=seal)
        with self.catalog.writing() as session:
            if table.state is TableState.FILLING:
                session.unmark_filled(table.id, [each.generation for each in lost])
            elif lost:
                records = session.files([each.file_id for each in lost]).values()
                session.record([attrs.evolve(record, live_generation=None) for record in records], at=0.0)
        return len(lost)

    def _rebuild(self, table: IndexTable, *, seal: str) -> None:
        with self.catalog.reading() as snapshot:
            generations = {generation for generation, *_ in expected(snapshot, table)}
        self._save_vectors(table, generations, seal=seal)
        self.chunks.quarantine(table.name)
        self.chunks.create(table.name, dimension=table.identity.embedder.dimension)
        with self.catalog.writing() as session:
            session.empty_table(table.id, at=0.0)

    def _save_vectors(self, table: IndexTable, generations: Collection[Generation], *, seal: str) -> None:
        """Journal the vectors of rows that are given up and can still be read: a server makes none of them again."""
        embedder = table.identity.embedder
        if not generations or embedder.provider == BUILTIN:
            return  # workers that share the work make its vectors again as soon as they could be looked up here
        salvaged = self.chunks.salvage(table.name, generations, seal=seal)
        rows = (row for row in salvaged if not fault_of_passage(row, embedder.dimension))
        while some := list(islice(rows, SAVED)):
            vectors = {input_hash(stored_input(row)): row.vector for row in some if row.vector is not None}
            with self.catalog.writing() as session:
                session.keep_vectors(embedder.key, vectors)


def expected(snapshot: CatalogReader, table: IndexTable) -> Iterator[tuple[Generation, FileId, int]]:
    """What the catalog says is in a table, in ascending order."""
    filling = table.state is TableState.FILLING
    return snapshot.filled_generations(table.id) if filling else snapshot.live_generations()
