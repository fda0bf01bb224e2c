"""What every storage promises: its own sentences, and those that a catalog and a chunk store keep together.

Subclass `StorageContract` and give a fixture `make_storage`: called with a home folder, it makes your storage. The two
parts have suites of their own, `CatalogContract` and `ChunkStoreContract`, and so has the archive, `ArchiveContract`.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from attrs import evolve

from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import IndexingBusy, MemoryClosed, StoreError
from openmind.domain.files import FileRecord
from openmind.domain.ids import Generation
from openmind.domain.index import IndexTable
from openmind.ports.catalog import CatalogReader, Publication
from openmind.ports.chunk_store import CandidateQuery, ChunkFilter, WordsQuery
from openmind.ports.storage import Storage
from openmind.testing.contracts.catalog_promises.samples import (
    AT,
    FOREVER,
    generation_of,
    identity,
    record,
    with_table,
)
from openmind.testing.contracts.chunk_store_promises.samples import row, unit

MakeStorage = Callable[[Path], Storage]
DIMENSION = 3


class StorageContract:
    """Subclass and give a fixture `make_storage`; every promise is checked."""

    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        return tmp_path / "home"

    @pytest.fixture
    def storage(self, make_storage: MakeStorage, home: Path) -> Storage:
        storage = make_storage(home)
        storage.initialise()
        return storage

    # The storage itself

    def test_building_it_neither_reads_nor_writes(self, make_storage: MakeStorage, home: Path) -> None:
        make_storage(home).close()

        assert not home.exists()

    def test_initialising_twice_changes_nothing(self, make_storage: MakeStorage, home: Path) -> None:
        storage = make_storage(home)
        storage.initialise()
        table = with_table(storage.catalog)

        storage.initialise()

        assert live_table(storage) == table

    def test_a_home_that_cannot_be_made_is_an_error(self, make_storage: MakeStorage, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(StoreError):
            make_storage(tmp_path / "file" / "home").initialise()

    def test_it_knows_its_own_home(self, make_storage: MakeStorage, home: Path) -> None:
        assert not make_storage(home).is_ours()

        make_storage(home).initialise()

        assert make_storage(home).is_ours()

    def test_what_is_sound_is_told_to_be_sound(self, storage: Storage) -> None:
        health = storage.examine()

        assert health.versions
        assert health.damage == ()
        assert health.quarantined == ()

    def test_what_was_written_is_there_for_the_next_one(
        self, storage: Storage, make_storage: MakeStorage, home: Path
    ) -> None:
        table = with_table(storage.catalog)
        write(storage, table, record(1), "heron")
        storage.close()

        assert found(make_storage(home), "heron") == ["file_0001"]

    def test_nothing_of_it_can_be_used_before_it_is_initialised(self, make_storage: MakeStorage, home: Path) -> None:
        with pytest.raises(StoreError), make_storage(home).catalog.reading():
            pass

    def test_what_is_remembered_makes_it_no_smaller(self, storage: Storage) -> None:
        before = storage.size_bytes()

        write(storage, with_table(storage.catalog), record(1), "heron")

        assert 0 <= before <= storage.size_bytes()

    def test_one_at_a_time_may_write_passages(self, storage: Storage, make_storage: MakeStorage, home: Path) -> None:
        told: list[str] = []

        def second() -> None:
            try:
                with make_storage(home).index_lock():
                    told.append("held by two")
            except IndexingBusy as busy:
                told.append(busy.message)

        with storage.index_lock():
            other = Thread(target=second)
            other.start()
            other.join()

        assert told
        assert told != ["held by two"]
        with storage.index_lock():
            pass  # it was given back

    def test_after_closing_it_even_twice_sessions_are_refused(self, storage: Storage) -> None:
        storage.close()
        storage.close()

        for session in (storage.catalog.reading, storage.catalog.writing):
            with pytest.raises(MemoryClosed), session():
                pass

    # Catalog and chunk store together

    def test_rows_are_seen_when_their_generation_is_live_and_not_before(self, storage: Storage) -> None:
        table = with_table(storage.catalog)
        write(storage, table, record(1), "heron")
        [reserved] = begin(storage, table)

        storage.chunks.add(table.name, [new_row(record(2), reserved, "heron")])
        storage.chunks.fold(table.name)

        assert found(storage, "heron") == ["file_0001"]

        make_live(storage, table, record(2), reserved)

        assert found(storage, "heron") == ["file_0001", "file_0002"]

    def test_of_a_file_that_was_written_anew_only_the_new_version_is_seen(self, storage: Storage) -> None:
        table = with_table(storage.catalog)
        write(storage, table, record(1), "heron")
        write(storage, table, record(1), "otter")

        assert found(storage, "heron") == []
        assert found(storage, "otter") == ["file_0001"]

    def test_dead_generations_crowd_nothing_out(self, storage: Storage) -> None:
        table = with_table(storage.catalog)
        write(storage, table, record(1), "heron")
        for _ in range(5):
            write(storage, table, record(2), "heron heron heron")
        with storage.catalog.writing() as session:
            session.forget([record(2).id], at=AT)

        assert found(storage, "heron", limit=1) == ["file_0001"]

    def test_a_search_that_began_before_a_change_sees_the_file_once(self, storage: Storage) -> None:
        """The catalog is opened first, the chunk store second: what changes in between is never missed."""
        table = with_table(storage.catalog)
        write(storage, table, record(1), "heron")

        with storage.catalog.reading() as snapshot:
            write(storage, table, record(1), "heron again")

            assert found_in(storage, snapshot, "heron") == ["file_0001"]

    def test_what_is_abandoned_is_garbage_and_never_seen(self, storage: Storage) -> None:
        table = with_table(storage.catalog)
        storage.chunks.create(table.name, dimension=DIMENSION)
        [reserved] = begin(storage, table)
        storage.chunks.add(table.name, [new_row(record(1), reserved, "heron")])
        storage.chunks.fold(table.name)

        with storage.catalog.writing() as session:
            session.abandon_all(at=AT)

        assert found(storage, "heron") == []
        with storage.catalog.reading() as snapshot:
            dead = [entry.generation for entry in snapshot.garbage(died_before=FOREVER, limit=10)]
        assert dead == [reserved]
        storage.chunks.delete(table.name, dead)
        assert list(storage.chunks.counts(table.name)) == []

    def test_a_table_that_is_filled_takes_over_in_one_moment(self, storage: Storage) -> None:
        table = with_table(storage.catalog)
        live = write(storage, table, record(1), "heron")
        with storage.catalog.writing() as session:
            filling = session.add_table("chunks_2", identity("other"))
        storage.chunks.create(filling.name, dimension=DIMENSION)
        rows = list(storage.chunks.read_generations(table.name, [generation_of(live)]))
        storage.chunks.add(filling.name, rows)
        storage.chunks.fold(filling.name)

        assert live_table(storage).name == table.name
        with storage.catalog.reading() as before:
            with storage.catalog.writing() as session:
                session.mark_filled(filling.id, [generation_of(live)])
                session.switch(filling.id)

            assert found_in(storage, before, "heron") == ["file_0001"]

        assert live_table(storage).name == filling.name
        assert found(storage, "heron") == ["file_0001"]


def write(storage: Storage, table: IndexTable, file: FileRecord, words: str) -> FileRecord:
    """Index a file of one passage, in the order of the protocol."""
    storage.chunks.create(table.name, dimension=DIMENSION)
    [generation] = begin(storage, table)
    storage.chunks.add(table.name, [new_row(file, generation, words)])
    storage.chunks.fold(table.name)
    return make_live(storage, table, file, generation)


def begin(storage: Storage, table: IndexTable) -> list[Generation]:
    with storage.catalog.writing() as session:
        return session.begin([table.id], 1)


def new_row(file: FileRecord, generation: Generation, words: str) -> ChunkRow:
    return row(generation, 0, words, file=file.id, source=file.source_id, vector=unit(1, 0, 0))


def make_live(storage: Storage, table: IndexTable, file: FileRecord, generation: Generation) -> FileRecord:
    live = evolve(file, live_generation=generation, chunk_count=1)
    with storage.catalog.writing() as session:
        session.publish([Publication(record=live)], table_ids=[table.id], at=AT)
    return live


def live_table(storage: Storage) -> IndexTable:
    with storage.catalog.reading() as snapshot:
        table = snapshot.live_table()
    assert table is not None
    return table


def found(storage: Storage, term: str, *, limit: int = 100) -> list[str]:
    """Search by one word: catalog first, then the newest version of the chunk store."""
    with storage.catalog.reading() as snapshot:
        return found_in(storage, snapshot, term, limit=limit)


def found_in(storage: Storage, snapshot: CatalogReader, term: str, *, limit: int = 100) -> list[str]:
    """The files that a snapshot has live, of the candidates for a word."""
    table = snapshot.live_table()
    assert table is not None
    where = ChunkFilter(visible=snapshot.visibility(table.id))
    with storage.chunks.open(table.name) as view:
        candidates = view.candidates(CandidateQuery(words=WordsQuery(terms=(term,)), filter=where, limit=limit))
        passages = view.passages([candidate.key for candidate in candidates.words])
    files = snapshot.files({key.file_id for key in passages})
    return sorted(
        key.file_id for key in passages if key.file_id in files and files[key.file_id].live_generation == key.generation
    )
