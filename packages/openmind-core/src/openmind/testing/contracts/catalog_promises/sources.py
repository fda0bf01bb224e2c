"""What the catalog promises about sources."""

import pytest
from attrs import evolve

from openmind.domain.errors import SourceExists, SourceNotFound
from openmind.domain.ids import SourceId
from openmind.ports.catalog import Catalog
from openmind.testing.contracts.catalog_promises.samples import (
    NOTES,
    garbage,
    generation_of,
    publish,
    record,
    source,
    with_table,
)


class SourcePromises:
    """Sources."""

    def test_sources_are_listed_in_the_order_in_which_they_were_added(self, catalog: Catalog) -> None:
        names = ["zebra", "apple", "mango"]
        for name in names:
            with catalog.writing() as session:
                session.add_source(source(name))

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.sources()] == [f"src_{name}" for name in names]

    def test_disabled_sources_can_be_left_out(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.add_source(source("on"))
            session.add_source(source("off", enabled=False))

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.sources(enabled_only=True)] == ["src_on"]
            assert len(snapshot.sources()) == 2

    def test_a_source_keeps_everything_it_was_added_with(self, catalog: Catalog) -> None:
        odd = evolve(
            source(),
            path_bytes=b"/home/ada/\xff\n\\xff",
            recursive=False,
            kind="git",
            config='{"branch": "main"}',
            device=2**64 - 1,
            ocr=False,
            code=True,
        )
        with catalog.writing() as session:
            session.add_source(odd)

        with catalog.reading() as snapshot:
            assert snapshot.source(odd.id) == odd

    def test_an_unknown_source_is_an_error(self, catalog: Catalog) -> None:
        with catalog.reading() as snapshot, pytest.raises(SourceNotFound):
            snapshot.source(SourceId("src_nothing"))

    def test_two_sources_cannot_have_one_path_or_one_id(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.add_source(source())

        for taken in (evolve(source(), id=SourceId("src_other")), evolve(source("other"), id=source().id)):
            with pytest.raises(SourceExists), catalog.writing() as session:
                session.add_source(taken)

        with catalog.reading() as snapshot:
            assert snapshot.sources() == (source(),)

    def test_two_paths_that_look_the_same_can_both_be_sources(self, catalog: Catalog) -> None:
        bytes_, letters = b"/home/ada/\xff", rb"/home/ada/\xff"
        with catalog.writing() as session:
            session.add_source(evolve(source("bytes"), path_bytes=bytes_))
            session.add_source(evolve(source("letters"), path_bytes=letters))

        with catalog.reading() as snapshot:
            assert [found.path_bytes for found in snapshot.sources()] == [bytes_, letters]

    def test_updating_replaces_everything_but_id_and_path(self, catalog: Catalog) -> None:
        changed = evolve(source(), path_bytes=b"/elsewhere", enabled=False, device=7, ocr=False, code=True)
        with catalog.writing() as session:
            session.add_source(source())
            session.update_source(changed)

        with catalog.reading() as snapshot:
            assert snapshot.source(NOTES) == evolve(changed, path_bytes=source().path_bytes)

    def test_updating_an_unknown_source_is_an_error(self, catalog: Catalog) -> None:
        with pytest.raises(SourceNotFound), catalog.writing() as session:
            session.update_source(source())

    def test_deleting_a_source_deletes_its_records_and_buries_what_was_live(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            session.add_source(source("other"))
        gone, kept = publish(
            catalog,
            record(1),
            record(2, source_id=SourceId("src_other"), path=b"/home/ada/other/2.md"),
            tables=[table],
        )

        with catalog.writing() as session:
            session.delete_source(NOTES)

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.sources()] == ["src_other"]
            assert snapshot.file(gone.id) is None
            assert snapshot.file(kept.id) == kept
            [entry] = snapshot.garbage(died_before=1.0, limit=10)  # due, however short the grace
        assert (entry.table_id, entry.generation) == (table.id, gone.live_generation)

    def test_deleting_an_unknown_source_does_nothing(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.delete_source(NOTES)

    def test_a_file_of_a_disabled_source_is_not_published(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            session.update_source(source(enabled=False))

        [refused] = publish(catalog, record(1), tables=[table])

        with catalog.reading() as snapshot:
            assert snapshot.file(refused.id) is None
            assert snapshot.intents() == ()
        assert garbage(catalog) == {(table.id, generation_of(refused))}
