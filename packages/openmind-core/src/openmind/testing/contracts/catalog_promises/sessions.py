"""What sessions promise: snapshots, and all or nothing."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from openmind.domain.errors import StoreBusy
from openmind.domain.files import FileRecord
from openmind.ports.catalog import Catalog
from openmind.testing.contracts.catalog_promises.samples import AT, NOTES, publish, record, source, with_table


class ChangedMindError(Exception):
    """Ends a transaction early."""


class SessionPromises:
    """Sessions."""

    def test_a_new_catalog_holds_nothing(self, catalog: Catalog) -> None:
        with catalog.reading() as snapshot:
            assert snapshot.sources() == ()
            assert snapshot.counts().files == 0
            assert snapshot.tables() == ()
            assert snapshot.runs() == ()
            assert snapshot.latest_job() is None

    def test_what_a_transaction_changes_can_be_read_after_it(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.add_source(source())

        with catalog.reading() as snapshot:
            assert snapshot.sources() == (source(),)

    def test_a_transaction_sees_its_own_changes(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.add_source(source())

            assert session.source(NOTES) == source()

    def test_a_transaction_that_fails_changes_nothing(self, catalog: Catalog) -> None:
        table = with_table(catalog)

        with suppress(ChangedMindError), catalog.writing() as session:
            session.record([record(1)], at=1.0)
            session.begin([table.id], 5)
            session.set_setting("waiting", "3")
            raise ChangedMindError

        with catalog.reading() as snapshot:
            assert snapshot.counts().files == 0
            assert snapshot.intents() == ()
            assert snapshot.visibility(table.id).newest == 0
            assert snapshot.setting("waiting") is None

    def test_after_a_failed_transaction_the_next_one_works(self, catalog: Catalog) -> None:
        with pytest.raises(ChangedMindError), catalog.writing():
            raise ChangedMindError

        with catalog.writing() as session:
            session.add_source(source())

        with catalog.reading() as snapshot:
            assert len(snapshot.sources()) == 1

    def test_a_snapshot_does_not_change_while_others_write(self, catalog: Catalog) -> None:
        table = with_table(catalog)

        with catalog.reading() as snapshot:
            publish(catalog, record(1), tables=[table])

            assert snapshot.counts().files == 0
            assert list(snapshot.known_files(NOTES)) == []
            assert snapshot.visibility(table.id).newest == 0

    def test_a_reader_does_not_wait_for_a_writer(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.add_source(source())

            with catalog.reading() as snapshot:
                assert snapshot.sources() == ()

    def test_writers_take_turns(self, catalog: Catalog) -> None:
        def count_up() -> None:
            for _ in range(10):
                with catalog.writing() as session:
                    session.set_setting("count", str(int(session.setting("count") or 0) + 1))

        threads = [threading.Thread(target=count_up) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        with catalog.reading() as snapshot:
            assert snapshot.setting("count") == "40"

    def test_a_writer_gives_up_when_another_one_does_not_finish(self, impatient_catalog: Catalog) -> None:
        with (
            impatient_catalog.writing(),
            pytest.raises(StoreBusy) as caught,
            impatient_catalog.writing(),
        ):
            pass  # never reached

        assert caught.value.message

    def test_many_threads_may_read_each_in_a_session_of_its_own(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1), tables=[table])

        def read(_: int) -> FileRecord | None:
            with catalog.reading() as snapshot:
                return snapshot.file(live.id)

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(read, range(12))) == [live] * 12

    def test_tidying_says_whether_a_reader_still_sees_what_was_deleted(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [deleted] = publish(catalog, record(1), tables=[table])

        with catalog.reading() as snapshot:
            assert snapshot.file(deleted.id) == deleted
            with catalog.writing() as session:
                session.forget([deleted.id], at=AT)

            assert not catalog.tidy()
            assert snapshot.file(deleted.id) == deleted

        assert catalog.tidy()

    def test_tidying_keeps_what_is_remembered(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1), tables=[table])

        assert catalog.tidy()

        with catalog.reading() as snapshot:
            assert snapshot.file(live.id) == live
