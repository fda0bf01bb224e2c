"""What the catalog promises about generations: which are seen, which are garbage."""

from attrs import evolve

from openmind.domain.ids import Generation, SourceId
from openmind.domain.index import Visibility
from openmind.ports.catalog import Catalog, GarbageEntry, Publication
from openmind.testing.contracts.catalog_promises.samples import (
    AT,
    FOREVER,
    NOTES,
    garbage,
    generation_of,
    identity,
    publish,
    record,
    source,
    visibility,
    with_table,
)


class GenerationPromises:
    """Generations."""

    def test_reserved_generations_ascend(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            first = session.begin([table.id], 3)
            second = session.begin([table.id], 2)
            nothing = session.begin([table.id], 0)

        assert first + second == sorted(set(first + second))
        assert len(first + second) == 5
        assert nothing == []

    def test_a_generation_is_never_reserved_again(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            before = session.begin([table.id], 3)
            session.abandon(before, at=AT)
            session.drop_garbage(session.garbage(died_before=FOREVER, limit=10))
        with catalog.writing() as session:
            session.clear(sources=True)

        with catalog.writing() as session:
            after = session.begin([], 3)

        assert min(after) > max(before)

    def test_begun_generations_are_intents_of_each_table(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        with catalog.writing() as session:
            filling = session.add_table("chunks_2", identity("other"))
            one, two = session.begin([live.id, filling.id], 2)

        with catalog.reading() as snapshot:
            assert set(snapshot.intents()) == {
                (live.id, one), (live.id, two), (filling.id, one), (filling.id, two),
            }  # fmt: skip

    def test_what_was_begun_cannot_be_seen_before_it_is_published(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            begun = session.begin([table.id], 10_000)

        assert visibility(catalog, table) == Visibility(newest=begun[-1], dead=((begun[0], begun[-1]),))

    def test_what_is_published_can_be_seen(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        live = publish(catalog, record(1), record(2), tables=[table])

        assert visibility(catalog, table) == Visibility(newest=generation_of(live[-1]), dead=())
        with catalog.reading() as snapshot:
            assert snapshot.intents() == ()
            assert snapshot.files([found.id for found in live]) == {found.id: found for found in live}

    def test_the_generation_before_becomes_garbage(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [old, _] = publish(catalog, record(1), record(2), tables=[table])
        [new] = publish(catalog, record(1), tables=[table], at=77.0)

        with catalog.reading() as snapshot:
            assert snapshot.garbage(died_before=FOREVER, limit=10) == (
                GarbageEntry(table_id=table.id, generation=generation_of(old), died_at=77.0),
            )
            assert snapshot.file(old.id) == new
        dead = generation_of(old)
        assert visibility(catalog, table) == Visibility(newest=generation_of(new), dead=((dead, dead),))

    def test_what_a_forgotten_file_had_before_is_garbage_as_long_as_the_rest(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [old, other] = publish(catalog, record(1), record(2), tables=[table])
        [new, _] = publish(catalog, record(1), record(2), tables=[table], at=77.0)
        with catalog.writing() as session:
            session.forget([old.id], at=0.0)

        with catalog.reading() as snapshot:
            died = {entry.generation: entry.died_at for entry in snapshot.garbage(died_before=FOREVER, limit=10)}
        assert died == {generation_of(old): 0.0, generation_of(new): 0.0, generation_of(other): 77.0}

    def test_publishing_says_how_many_were_published(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        gone = SourceId("src_gone")
        with catalog.writing() as session:
            generations = session.begin([table.id], 3)
            records = [record(1), record(2, source_id=gone), record(3)]
            published = session.publish(
                [
                    Publication(record=evolve(record, live_generation=generation))
                    for record, generation in zip(records, generations, strict=True)
                ],
                table_ids=[table.id],
                at=AT,
            )

        assert published == 2
        assert garbage(catalog) == {(table.id, generations[1])}

    def test_a_table_that_was_begun_for_but_not_published_to_gets_garbage(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        with catalog.writing() as session:
            filling = session.add_table("chunks_2", identity("other"))
            [generation] = session.begin([live.id, filling.id], 1)
            session.publish(
                [Publication(record=record(1, generation=generation))],
                table_ids=[live.id],
                at=AT,
            )

        assert garbage(catalog) == {(filling.id, generation)}
        with catalog.reading() as snapshot:
            assert snapshot.intents() == ()

    def test_of_two_publications_of_a_file_the_later_one_counts(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        first, second = publish(catalog, record(1), record(1), tables=[table])

        with catalog.reading() as snapshot:
            assert snapshot.file(first.id) == second
        assert garbage(catalog) == {(table.id, generation_of(first))}

    def test_of_two_publications_at_one_path_the_later_one_counts(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        first, second = publish(catalog, record(1), record(2, path=record(1).path_bytes), tables=[table])

        with catalog.reading() as snapshot:
            assert snapshot.list_files() == (second,)
        assert garbage(catalog) == {(table.id, generation_of(first))}

    def test_a_replaced_generation_dies_in_every_table(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        with catalog.writing() as session:
            filling = session.add_table("chunks_2", identity("other"))
        [old] = publish(catalog, record(1), tables=[live, filling])
        publish(catalog, record(1), tables=[live, filling])

        dead = generation_of(old)
        assert garbage(catalog) == {(live.id, dead), (filling.id, dead)}
        assert visibility(catalog, filling).dead == ((dead, dead),)

    def test_what_is_given_up_becomes_garbage_where_it_was_begun(self, catalog: Catalog) -> None:
        live = with_table(catalog)
        with catalog.writing() as session:
            filling = session.add_table("chunks_2", identity("other"))
            both = session.begin([live.id, filling.id], 1)
            one = session.begin([live.id], 1)
            kept = session.begin([live.id], 1)
            session.abandon([*both, *one], at=AT)

        assert garbage(catalog) == {(live.id, both[0]), (filling.id, both[0]), (live.id, one[0])}
        with catalog.reading() as snapshot:
            assert snapshot.intents() == ((live.id, kept[0]),)

    def test_giving_up_what_is_live_does_nothing(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1), tables=[table])

        with catalog.writing() as session:
            session.abandon([generation_of(live), Generation(99)], at=AT)

        assert garbage(catalog) == set()

    def test_everything_can_be_given_up_after_a_crash(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        publish(catalog, record(1), tables=[table])
        with catalog.writing() as session:
            begun = session.begin([table.id], 3)

        with catalog.writing() as session:
            assert session.abandon_all(at=AT) == 3
            assert session.abandon_all(at=AT) == 0

        assert garbage(catalog) == {(table.id, generation) for generation in begun}

    def test_the_oldest_garbage_comes_first(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            late, early, middle = session.begin([table.id], 3)
            session.abandon([late], at=30.0)
            session.abandon([early], at=10.0)
            session.abandon([middle], at=20.0)

        with catalog.reading() as snapshot:
            assert [entry.generation for entry in snapshot.garbage(died_before=30.0, limit=10)] == [early, middle]
            assert [entry.generation for entry in snapshot.garbage(died_before=FOREVER, limit=1)] == [early]

    def test_garbage_that_is_gone_is_forgotten(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            first, second = session.begin([table.id], 2)
            session.abandon([first, second], at=AT)
        with catalog.reading() as snapshot:
            [entry, _] = snapshot.garbage(died_before=FOREVER, limit=10)

        with catalog.writing() as session:
            session.drop_garbage([entry, entry])

        assert garbage(catalog) == {(table.id, second)}
        assert visibility(catalog, table).dead == ((second, second),)

    def test_scattered_garbage_is_told_in_ranges(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            one, two, three, four, five, six = session.begin([table.id], 6)
            session.abandon([two, three, six], at=AT)
            session.publish(
                [
                    Publication(record=record(1, generation=one)),
                    Publication(record=record(4, generation=four)),
                ],
                table_ids=[table.id],
                at=AT,
            )

        assert visibility(catalog, table) == Visibility(newest=six, dead=((two, three), (five, six)))

    def test_live_generations_stream_with_their_files(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        live = publish(catalog, record(1, chunks=3), record(2, chunks=4), tables=[table])
        with catalog.writing() as session:
            session.record([record(3)], at=AT)

        with catalog.reading() as snapshot:
            assert set(snapshot.live_generations()) == {
                (found.live_generation, found.id, found.chunk_count) for found in live
            }

    def test_twelve_thousand_files_are_published_at_once(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        records = [record(number) for number in range(12_000)]

        live = publish(catalog, *records, tables=[table])
        again = publish(catalog, *records[:100], tables=[table])

        with catalog.reading() as snapshot:
            assert snapshot.counts().files == 12_000
            assert sum(1 for _ in snapshot.known_files(NOTES)) == 12_000
            assert snapshot.visibility(table.id) == Visibility(
                newest=generation_of(again[-1]),
                dead=((generation_of(live[0]), generation_of(live[99])),),
            )

    def test_a_source_that_is_removed_while_its_files_are_read_stays_removed(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        with catalog.writing() as session:
            generations = session.begin([table.id], 1)
        with catalog.writing() as session:
            session.delete_source(source().id)

        with catalog.writing() as session:
            late = Publication(record=record(1, generation=generations[0]))
            assert session.publish([late], table_ids=[table.id], at=AT) == 0

        with catalog.reading() as snapshot:
            assert snapshot.counts().files == 0
        assert garbage(catalog) == {(table.id, generations[0])}
