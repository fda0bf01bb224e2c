"""What the catalog promises about index tables, and the change from one to the next."""

import pytest

from openmind.domain.errors import StoreError
from openmind.domain.ids import Generation, JobId, RunId
from openmind.domain.index import IndexTable, TableState
from openmind.domain.jobs import IndexJob, IndexRun, JobState
from openmind.ports.catalog import Catalog
from openmind.testing.contracts.catalog_promises.samples import (
    AT,
    FOREVER,
    NOTES,
    change,
    garbage,
    generation_of,
    identity,
    publish,
    record,
    visibility,
    with_table,
)


def with_two_tables(catalog: Catalog) -> tuple[IndexTable, IndexTable]:
    """Add a source, a live table, and one that is being filled."""
    live = with_table(catalog)
    with catalog.writing() as session:
        return live, session.add_table("chunks_2", identity("other"))


def states(catalog: Catalog) -> dict[str, TableState]:
    with catalog.reading() as snapshot:
        return {table.name: table.state for table in snapshot.tables()}


class IndexTablePromises:
    """Index tables."""

    def test_the_first_table_is_live_and_the_next_one_is_filled(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)

        assert (live.state, filling.state) == (TableState.LIVE, TableState.FILLING)
        with catalog.reading() as snapshot:
            assert snapshot.tables() == (live, filling)
            assert snapshot.live_table() == live

    def test_without_tables_none_is_live(self, catalog: Catalog) -> None:
        with catalog.reading() as snapshot:
            assert snapshot.live_table() is None

    def test_a_table_remembers_what_it_is_made_with(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.reading() as snapshot:
            assert snapshot.live_table() == table
        assert table.identity == identity()

        with catalog.writing() as session:
            session.set_identity(table.id, identity(chunking=9))

        with catalog.reading() as snapshot:
            [found] = snapshot.tables()
        assert found.identity == identity(chunking=9)

    def test_two_tables_cannot_have_one_name(self, catalog: Catalog) -> None:
        with_table(catalog)
        with pytest.raises(StoreError), catalog.writing() as session:
            session.add_table("chunks", identity("other"))

    def test_files_that_a_filling_table_lacks_are_paged_in_order_of_id(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        files = publish(catalog, record(3), record(1), record(2), tables=[live])
        with catalog.writing() as session:
            session.record([record(4)], at=AT)
            session.mark_filled(filling.id, [generation_of(files[2])])

        with catalog.reading() as snapshot:
            first = snapshot.unfilled(filling.id, after=None, limit=1)
            rest = snapshot.unfilled(filling.id, after=first[-1].id, limit=9)
        assert [found.id for found in (*first, *rest)] == ["file_0001", "file_0003"]

    def test_what_a_filling_table_holds_is_streamed_and_can_be_taken_back(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        one, two = publish(catalog, record(1, chunks=3), record(2), tables=[live])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(one), generation_of(two)])
            session.unmark_filled(filling.id, [generation_of(two)])

        with catalog.reading() as snapshot:
            assert list(snapshot.filled_generations(filling.id)) == [(one.live_generation, one.id, 3)]
            assert [found.id for found in snapshot.unfilled(filling.id, after=None, limit=9)] == [two.id]

    def test_a_changed_file_has_to_be_filled_again(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [old] = publish(catalog, record(1), tables=[live])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(old)])
        [new] = publish(catalog, record(1), tables=[live])

        with catalog.reading() as snapshot:
            assert snapshot.unfilled(filling.id, after=None, limit=9) == (new,)
            assert list(snapshot.filled_generations(filling.id)) == []

    def test_what_died_while_it_was_copied_becomes_garbage_that_is_due(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [old] = publish(catalog, record(1), tables=[live])
        publish(catalog, record(1), tables=[live])
        with catalog.writing() as session:
            session.drop_garbage(session.garbage(died_before=FOREVER, limit=9))

        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(old)])

        assert garbage(catalog) == {(filling.id, generation_of(old))}
        with catalog.reading() as snapshot:
            assert len(snapshot.garbage(died_before=1.0, limit=9)) == 1

    def test_a_filled_table_becomes_the_live_one(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        files = publish(catalog, record(1), record(2), tables=[live])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(found) for found in files])

        with catalog.writing() as session:
            session.switch(filling.id)

        assert states(catalog) == {"chunks": TableState.DEAD, "chunks_2": TableState.LIVE}
        with catalog.reading() as snapshot:
            assert snapshot.files([found.id for found in files]) == {found.id: found for found in files}

    def test_what_the_new_live_table_holds_has_its_vectors(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [lacking] = publish(catalog, record(1, missing=1), tables=[live])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(lacking)])
            session.switch(filling.id)

        with catalog.reading() as snapshot:
            assert snapshot.files_without_vectors(after=None, limit=9) == ()
            assert snapshot.counts().missing_vectors == 0

    def test_a_table_that_lacks_a_file_does_not_become_the_live_one(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        one, _ = publish(catalog, record(1), record(2), tables=[live])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(one)])

        with pytest.raises(StoreError), catalog.writing() as session:
            session.switch(filling.id)

        assert states(catalog) == {"chunks": TableState.LIVE, "chunks_2": TableState.FILLING}

    def test_only_a_filling_table_can_become_the_live_one(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        for table_id in (live.id, live.id + 1):
            with pytest.raises(StoreError), catalog.writing() as session:
                session.switch(table_id)

    def test_garbage_of_the_new_table_outlives_the_change(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [old] = publish(catalog, record(1), tables=[live, filling])
        [new] = publish(catalog, record(1), tables=[live, filling])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(new)])
            session.switch(filling.id)

        assert garbage(catalog) == {(filling.id, generation_of(old))}

    def test_a_dead_table_gets_no_more_garbage(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [old] = publish(catalog, record(1), tables=[live])
        with catalog.writing() as session:
            session.kill_table(filling.id)
        publish(catalog, record(1), tables=[live])

        assert garbage(catalog) == {(live.id, generation_of(old))}
        assert states(catalog)["chunks_2"] is TableState.DEAD

    def test_intents_and_garbage_of_a_killed_table_end(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        with catalog.writing() as session:
            given_up = session.begin([filling.id], 1)
            session.abandon(given_up, at=AT)
            begun = session.begin([live.id, filling.id], 1)
            session.kill_table(filling.id)

        assert garbage(catalog) == set()
        with catalog.reading() as snapshot:
            assert snapshot.intents() == ((live.id, begun[0]),)

    def test_killing_the_live_table_takes_the_files_their_passages(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        publish(catalog, record(1), tables=[live])

        with catalog.writing() as session:
            session.kill_table(live.id)
            fresh = session.add_table("chunks_2", identity("other"))

        assert fresh.state is TableState.LIVE
        with catalog.reading() as snapshot:
            assert snapshot.counts().chunks == 0
            assert list(snapshot.live_generations()) == []

    def test_a_dead_table_can_be_forgotten(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        with catalog.writing() as session:
            session.kill_table(filling.id)
            session.forget_table(filling.id)

        with catalog.reading() as snapshot:
            assert snapshot.tables() == (live,)

    def test_the_id_of_a_forgotten_table_is_not_used_again(self, catalog: Catalog) -> None:
        _, filling = with_two_tables(catalog)
        with catalog.writing() as session:
            session.kill_table(filling.id)
            session.forget_table(filling.id)

            assert session.add_table("chunks_2", identity("other")).id > filling.id

    def test_emptying_the_live_table_keeps_the_files_and_their_text(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        [lost] = publish(catalog, record(1, chunks=3, missing=1), tables=[live])
        with catalog.writing() as session:
            session.keep_text(lost.content_hash, lost.extractor, b"text")
            session.begin([live.id], 1)

        with catalog.writing() as session:
            session.empty_table(live.id, at=AT)

        with catalog.reading() as snapshot:
            found = snapshot.file(lost.id)
            assert snapshot.intents() == ()
            assert snapshot.text(lost.content_hash, lost.extractor) == b"text"
            assert snapshot.live_table() == live
            assert snapshot.counts().chunks == 0
            assert snapshot.files_without_passages(after=None, limit=9) == (found,)
        assert found is not None
        assert (found.live_generation, found.chunk_count, found.missing_vectors) == (None, 3, 0)
        assert garbage(catalog) == set()

    def test_emptying_the_live_table_buries_the_copies_in_the_filling_one(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [lost] = publish(catalog, record(1), tables=[live, filling])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(lost)])
            session.empty_table(live.id, at=AT)

        assert garbage(catalog) == {(filling.id, generation_of(lost))}

    def test_emptying_a_filling_table_leaves_the_live_one_alone(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        [found] = publish(catalog, record(1), tables=[live, filling])
        with catalog.writing() as session:
            session.mark_filled(filling.id, [generation_of(found)])
            session.empty_table(filling.id, at=AT)

        with catalog.reading() as snapshot:
            assert snapshot.file(found.id) == found
            assert snapshot.unfilled(filling.id, after=None, limit=9) == (found,)
        assert garbage(catalog) == set()

    def test_the_visibility_of_a_table_is_its_own(self, catalog: Catalog) -> None:
        live, filling = with_two_tables(catalog)
        with catalog.writing() as session:
            [begun] = session.begin([live.id], 1)

        assert visibility(catalog, live).dead == ((begun, begun),)
        assert visibility(catalog, filling).dead == ()
        assert visibility(catalog, filling).newest == begun

    def test_clearing_forgets_everything_but_the_sources(self, catalog: Catalog) -> None:
        live, _ = with_two_tables(catalog)
        publish(catalog, record(1), tables=[live])
        with catalog.writing() as session:
            session.keep_text("a" * 64, "markdown/1", b"text")
            session.keep_vectors("k", {b"1": b"v"})
            session.set_setting("waiting", "1")
            session.plan(RunId("run_1"), [change("/a")])
            session.save_run(IndexRun(id=RunId("run_1"), started_at="2026-01-02T03:04:05+00:00"))
            session.add_job(IndexJob(id=JobId("job_1"), state=JobState.PENDING))
            session.begin([live.id], 1)
            session.abandon(session.begin([live.id], 1), at=AT)

        with catalog.writing() as session:
            session.clear(sources=False)

        assert garbage(catalog) == set()
        with catalog.reading() as snapshot:
            counts = snapshot.counts()
            assert (counts.sources, counts.files, counts.text_bytes, counts.journal_rows) == (1, 0, 0, 0)
            assert snapshot.tables() == ()
            assert snapshot.intents() == ()
            assert snapshot.setting("waiting") is None
            assert snapshot.next_changes(RunId("run_1"), after=0, limit=9) == ()
            assert snapshot.runs() == ()
            assert snapshot.jobs() == ()
            assert [found.id for found in snapshot.sources()] == [NOTES]

    def test_clearing_forgets_the_sources_too_when_asked(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        publish(catalog, record(1), tables=[live])

        with catalog.writing() as session:
            session.clear(sources=True)

        with catalog.reading() as snapshot:
            assert snapshot.sources() == ()
            assert snapshot.list_files() == ()

    def test_nothing_is_dead_in_an_unknown_table(self, catalog: Catalog) -> None:
        with catalog.reading() as snapshot:
            assert snapshot.visibility(99).dead == ()
            assert snapshot.visibility(99).newest == Generation(0)
