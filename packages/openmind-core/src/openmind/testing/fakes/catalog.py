"""A catalog in memory."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from attrs import define, evolve, field

from openmind.domain.errors import SourceExists, SourceNotFound, StoreBusy, StoreError
from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId, Generation, RunId, SourceId
from openmind.domain.index import IndexIdentity, IndexTable, TableState
from openmind.domain.jobs import IndexJob, IndexRun, JobState
from openmind.domain.recognition import KEPT_AS
from openmind.domain.sources import Source
from openmind.ports.catalog import GarbageEntry, PlannedChange, Publication
from openmind.testing.fakes.catalog_contents import Contents, content_key
from openmind.testing.fakes.catalog_reading import MemoryReader

DUE_AT_ONCE = 0.0


class MemoryWriter(MemoryReader):
    """Changes contents that nobody else sees before the transaction ends."""

    def add_source(self, source: Source) -> None:
        for other in self.contents.sources.values():
            if source.id == other.id or source.path_bytes == other.path_bytes:
                raise SourceExists(f"{source.path} is a source already")
        self.contents.sources[source.id] = source

    def update_source(self, source: Source) -> None:
        if source.id not in self.contents.sources:
            raise SourceNotFound(f"there is no source {source.id}")
        path_bytes = self.contents.sources[source.id].path_bytes
        self.contents.sources[source.id] = evolve(source, path_bytes=path_bytes)

    def delete_source(self, source_id: SourceId) -> None:
        self.forget([r.id for r in self.contents.in_order() if r.source_id == source_id], at=DUE_AT_ONCE)
        self.contents.sources.pop(source_id, None)
        lines = self.contents.lines
        self.contents.lines = {at: line for at, line in lines.items() if line[1].source_id != source_id}

    def begin(self, table_ids: Sequence[int], count: int) -> list[Generation]:
        first = self.contents.reserved + 1
        self.contents.reserved += count
        generations = [Generation(number) for number in range(first, first + count)]
        self.contents.intents.update((table_id, number) for number in generations for table_id in table_ids)
        return generations

    def publish(self, publications: Iterable[Publication], *, table_ids: Sequence[int], at: float) -> int:
        records = [publication.record for publication in publications]
        self.record(records, at=at)
        published = {record.live_generation for record in records}
        live = self.contents.live()
        for table_id, generation in [slot for slot in self.contents.intents if slot[1] in published]:
            self.contents.intents.discard((table_id, generation))
            if table_id not in table_ids or generation not in live:
                self._bury(generation, at, tables=[table_id])
        return sum(record.live_generation in live for record in records)

    def abandon(self, generations: Iterable[Generation], *, at: float) -> None:
        given_up = set(generations)
        for table_id, generation in [slot for slot in self.contents.intents if slot[1] in given_up]:
            self.contents.intents.discard((table_id, generation))
            self._bury(generation, at, tables=[table_id])

    def abandon_all(self, *, at: float) -> int:
        begun = self.contents.intents.copy()
        self.abandon({generation for _, generation in begun}, at=at)
        return len(begun)

    def record(self, records: Iterable[FileRecord], *, at: float) -> None:
        before = self.contents.live()
        enabled = self.contents.enabled_ids()
        ids = {record.path_bytes: record.id for record in self.contents.records.values()}
        for record in records:
            if record.source_id not in enabled:
                continue
            displaced = ids.get(record.path_bytes)
            if displaced is not None:
                self.contents.records.pop(displaced, None)
            moved = self.contents.records.pop(record.id, None)
            if moved is not None:
                del ids[moved.path_bytes]
            self.contents.records[record.id] = record
            ids[record.path_bytes] = record.id
        for generation in before.keys() - self.contents.live().keys():
            self._bury(generation, at)
            self.contents.owners[generation] = before[generation].id

    def note_ctimes(self, ctimes: Mapping[FileId, int]) -> None:
        for file_id in ctimes.keys() & self.contents.records.keys():
            record = self.contents.records[file_id]
            if record.stat.ctime_ns is None:
                dated = evolve(record.stat, ctime_ns=ctimes[file_id])
                self.contents.records[file_id] = evolve(record, stat=dated)

    def forget(self, file_ids: Iterable[FileId], *, at: float) -> int:
        gone = [self.contents.records.pop(file_id) for file_id in set(file_ids) & self.contents.records.keys()]
        for record in gone:
            if record.live_generation is not None:
                self._bury(record.live_generation, at)
        forgotten = {record.id for record in gone}
        for slot, died_at in self.contents.garbage.items():
            if self.contents.owners.get(slot[1]) in forgotten:
                self.contents.garbage[slot] = min(at, died_at)
        return len(gone)

    def _bury(self, generation: Generation, at: float, *, tables: Iterable[int] | None = None) -> None:
        """Note that rows of a generation are garbage, in all tables that are not dead unless others are given."""
        if tables is None:
            tables = [table.id for table in self.tables() if table.state is not TableState.DEAD]
        for table_id in tables:
            self.contents.garbage.setdefault((table_id, generation), at)

    def keep_text(self, content_hash: str, extractor: str, packed: bytes) -> None:
        self.contents.texts[content_hash, extractor] = packed

    def drop_unused_texts(self) -> int:
        records = self.contents.records.values()
        contents = {record.content_hash for record in records}
        read = {key for key in self.contents.texts if key[1].startswith(KEPT_AS) and key[0] in contents}
        unused = self.contents.texts.keys() - set(map(content_key, records)) - read
        for key in unused:
            del self.contents.texts[key]
        return len(unused)

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
        self.contents.vectors.update({(embedder, input_hash): vector for input_hash, vector in vectors.items()})

    def drop_vectors(self, embedder: str, hashes: Iterable[bytes] | None = None) -> None:
        if hashes is None:
            hashes = [input_hash for other, input_hash in self.contents.vectors if other == embedder]
        for input_hash in hashes:
            self.contents.vectors.pop((embedder, input_hash), None)

    def drop_journal(self) -> None:
        self.contents.vectors.clear()

    def add_table(self, name: str, identity: IndexIdentity) -> IndexTable:
        if any(table.name == name for table in self.tables()):
            raise StoreError(f"there is an index table {name} already")
        self.contents.tables_made += 1
        state = TableState.LIVE if self.live_table() is None else TableState.FILLING
        table = IndexTable(id=self.contents.tables_made, name=name, identity=identity, state=state)
        self.contents.tables[table.id] = table
        return table

    def set_identity(self, table_id: int, identity: IndexIdentity) -> None:
        if table_id in self.contents.tables:
            self.contents.tables[table_id] = evolve(self.contents.tables[table_id], identity=identity)

    def mark_filled(self, table_id: int, generations: Iterable[Generation]) -> None:
        live = self.contents.live()
        for generation in generations:
            if generation in live:
                self.contents.filled.add((table_id, generation))
            else:
                self._bury(generation, DUE_AT_ONCE, tables=[table_id])

    def unmark_filled(self, table_id: int, generations: Iterable[Generation]) -> None:
        self.contents.filled.difference_update((table_id, generation) for generation in generations)

    def switch(self, table_id: int) -> None:
        table = self.contents.tables.get(table_id)
        if table is None or table.state is not TableState.FILLING:
            raise StoreError(f"the index table {table_id} is not being filled")
        if self.unfilled(table_id, after=None, limit=1):
            raise StoreError(f"the index table {table_id} does not hold every file yet")
        live = self.live_table()
        if live is not None:
            self._drop_slots(live.id)
            self._set_state(live.id, TableState.DEAD)
        self._set_state(table_id, TableState.LIVE)
        self.unmark_filled(table_id, [generation for _, generation in self.contents.filled])
        for file_id, record in list(self.contents.records.items()):
            self.contents.records[file_id] = evolve(record, missing_vectors=0)

    def kill_table(self, table_id: int) -> None:
        self.empty_table(table_id, at=DUE_AT_ONCE)
        self._set_state(table_id, TableState.DEAD)

    def forget_table(self, table_id: int) -> None:
        self._drop_slots(table_id)
        self.contents.tables.pop(table_id, None)

    def empty_table(self, table_id: int, *, at: float) -> None:
        live = self.live_table()
        if live is not None and live.id == table_id:
            others = [t.id for t in self.tables() if t.state is not TableState.DEAD and t.id != table_id]
            for generation, record in self.contents.live().items():
                self._bury(generation, at, tables=others)
                self.contents.owners[generation] = record.id
                lost = evolve(record, live_generation=None, missing_vectors=0, indexed_at="")
                self.contents.records[record.id] = lost
        self._drop_slots(table_id)

    def _set_state(self, table_id: int, state: TableState) -> None:
        if table_id in self.contents.tables:
            self.contents.tables[table_id] = evolve(self.contents.tables[table_id], state=state)

    def _drop_slots(self, table_id: int) -> None:
        self.contents.intents = {slot for slot in self.contents.intents if slot[0] != table_id}
        self.contents.filled = {slot for slot in self.contents.filled if slot[0] != table_id}
        self.contents.garbage = {slot: at for slot, at in self.contents.garbage.items() if slot[0] != table_id}

    def drop_garbage(self, entries: Iterable[GarbageEntry]) -> None:
        for entry in entries:
            self.contents.garbage.pop((entry.table_id, entry.generation), None)

    def plan(self, run_id: RunId, changes: Iterable[PlannedChange]) -> None:
        for change in changes:
            self.contents.lines_made += 1
            position = self.contents.lines_made
            self.contents.lines[position] = (run_id, evolve(change, position=position))

    def unplan(self, run_id: RunId, changes: Iterable[PlannedChange]) -> None:
        for change in changes:
            self.contents.lines.pop(change.position, None)

    def drop_plan(self, run_id: RunId | None = None) -> None:
        kept = {at: line for at, line in self.contents.lines.items() if run_id not in (None, line[0])}
        self.contents.lines = kept

    def save_run(self, run: IndexRun) -> None:
        self.contents.runs[run.id] = run

    def add_job(self, job: IndexJob) -> None:
        self.contents.jobs[job.id] = job

    def change_job(self, job: IndexJob, *, expected: JobState) -> bool:
        found = self.contents.jobs.get(job.id)
        if found is None or found.state is not expected:
            return False
        self.contents.jobs[job.id] = job
        return True

    def set_setting(self, name: str, value: str | None) -> None:
        if value is None:
            self.contents.settings.pop(name, None)
        else:
            self.contents.settings[name] = value

    def clear(self, *, sources: bool) -> None:
        held = self.contents
        for everything in (held.records, held.texts, held.vectors, held.lines, held.runs, held.jobs, held.settings):
            everything.clear()
        for table in self.tables():
            self.forget_table(table.id)
        if sources:
            held.sources.clear()


@define
class MemoryCatalog:
    """Implements `openmind.ports.catalog.Catalog`. Readers keep the contents that a transaction replaces."""

    timeout_s: float = 5.0
    _contents: Contents = field(factory=Contents, init=False)
    _snapshots: dict[object, Contents] = field(factory=dict, init=False, repr=False, eq=False)
    """What each session that reads sees."""
    _writing: threading.Lock = field(factory=threading.Lock, init=False, repr=False, eq=False)

    @contextmanager
    def reading(self) -> Iterator[MemoryReader]:
        session = object()
        self._snapshots[session] = seen = self._contents
        try:
            yield MemoryReader(seen)
        finally:
            del self._snapshots[session]

    @contextmanager
    def writing(self) -> Iterator[MemoryWriter]:
        if not self._writing.acquire(timeout=self.timeout_s):
            raise StoreBusy("another thread is writing")
        try:
            changed = self._contents.copy()
            yield MemoryWriter(changed)
            self._contents = changed
        finally:
            self._writing.release()

    @contextmanager
    def journalling(self, embedder: str) -> Iterator[Callable[[Mapping[bytes, bytes]], None]]:
        def keep(vectors: Mapping[bytes, bytes]) -> None:
            with self.writing() as session:
                session.keep_vectors(embedder, vectors)

        yield keep

    def tidy(self) -> bool:
        return all(seen is self._contents for seen in list(self._snapshots.values()))
