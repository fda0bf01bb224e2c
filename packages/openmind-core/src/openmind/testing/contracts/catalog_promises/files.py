"""What the catalog promises about files."""

import pytest
from attrs import evolve

from openmind.domain.files import FileBrief, FileReason, FileStat
from openmind.domain.ids import FileId, SourceId
from openmind.ports.catalog import Catalog, MemoryCounts
from openmind.testing.contracts.catalog_promises.samples import (
    AT,
    NOTES,
    garbage,
    generation_of,
    publish,
    record,
    source,
    with_table,
)


class FilePromises:
    """Files."""

    def test_a_record_comes_back_as_it_was_saved(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1, missing=1), tables=[table])
        with catalog.writing() as session:
            session.record([record(2, reason=FileReason.TOO_BIG, chunks=0)], at=AT)

        with catalog.reading() as snapshot:
            assert snapshot.file(live.id) == live
            assert snapshot.file(FileId("file_0002")) == record(2, reason=FileReason.TOO_BIG, chunks=0)
            assert snapshot.file(FileId("file_0003")) is None

    def test_several_files_are_fetched_and_unknown_ones_left_out(self, catalog: Catalog) -> None:
        with_table(catalog)
        with catalog.writing() as session:
            session.record([record(number) for number in range(5)], at=AT)

        with catalog.reading() as snapshot:
            found = snapshot.files([FileId("file_0003"), FileId("file_0001"), FileId("nothing")])
            assert found == {record(1).id: record(1), record(3).id: record(3)}
            assert snapshot.files([]) == {}

    def test_briefs_say_of_several_files_what_their_records_say(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1, path=b"/n/\xff.txt"), tables=[table])
        with catalog.writing() as session:
            session.record([record(2, reason=FileReason.TOO_BIG, chunks=0)], at=AT)

        with catalog.reading() as snapshot:
            found = snapshot.briefs([FileId("file_0002"), live.id, FileId("nothing")])
            assert found == {each.id: FileBrief.of(each) for each in (live, record(2, chunks=0))}
            assert found[live.id].path == r"/n/\xff.txt"
            assert snapshot.briefs([]) == {}

    def test_known_files_stream_in_order_of_their_bytes_without_title_and_metadata(self, catalog: Catalog) -> None:
        with_table(catalog)
        paths = [b"/n/b", b"/n/a/z", b"/n/a", b"/n/\xff", b"/n/\xc3\xa9", b"/n/a b", b"/n/B", b"/n/a-b"]
        records = [record(number, path=path) for number, path in enumerate(paths)]
        with catalog.writing() as session:
            session.record(records, at=AT)

        with catalog.reading() as snapshot:
            known = list(snapshot.known_files(NOTES))

        assert [found.path_bytes for found in known] == sorted(paths)
        assert known == [
            evolve(found, title="", metadata="{}") for found in sorted(records, key=lambda found: found.path_bytes)
        ]

    def test_known_files_are_those_of_the_source(self, catalog: Catalog) -> None:
        with_table(catalog)
        with catalog.writing() as session:
            session.add_source(source("other"))
            session.record([record(1), record(2, source_id=SourceId("src_other"), path=b"/home/ada/other/2")], at=AT)

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.known_files(NOTES)] == ["file_0001"]
            assert list(snapshot.known_files(SourceId("src_nothing"))) == []

    def test_files_that_lost_their_passages_are_paged_through_in_order_of_id(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        publish(catalog, record(1), record(2), record(3), record(4), tables=[table])
        with catalog.writing() as session:
            session.record([record(number) for number in (4, 2, 3)], at=AT)
            session.record([record(5, reason=FileReason.EMPTY, chunks=0)], at=AT)

        with catalog.reading() as snapshot:
            page = snapshot.files_without_passages(after=None, limit=2)
            assert page == (record(2), record(3))
            assert snapshot.files_without_passages(after=page[-1].id, limit=2) == (record(4),)

    @pytest.mark.parametrize(
        "name",
        [b"\xff\xfe.txt", rb"\xff\xfe.txt", b"two\nlines", b'"quotes"', "é.md".encode(), b"%s_[b]*", b"-rf", b"\\"],
    )
    def test_names_of_any_bytes_are_kept(self, catalog: Catalog, name: bytes) -> None:
        with_table(catalog)
        path = b"/home/ada/notes/" + name
        with catalog.writing() as session:
            session.record([record(1, path=path)], at=AT)

        with catalog.reading() as snapshot:
            [found] = snapshot.list_files()
        assert found.path_bytes == path

    def test_names_that_look_the_same_are_different_files(self, catalog: Catalog) -> None:
        with_table(catalog)
        paths = {1: b"/n/\xff", 2: rb"/n/\xff", 3: b"/n/\xff\xff", 4: rb"/n/\xff" + b"\xff", 5: rb"/n/\xff\xff"}
        records = [record(number, path=path) for number, path in paths.items()]
        with catalog.writing() as session:
            session.record(records[:3], at=AT)
        with catalog.writing() as session:
            session.record(records[1:], at=AT)

        with catalog.reading() as snapshot:
            assert {found.path_bytes for found in snapshot.known_files(NOTES)} == set(paths.values())

    def test_text_that_no_database_takes_does_not_stop_the_others(self, catalog: Catalog) -> None:
        with_table(catalog)
        odd = evolve(record(1), title="half \ud800 a pair", error="\udcff", metadata='{"a": "\ud800"}')
        with catalog.writing() as session:
            session.record([odd, record(2)], at=AT)

        with catalog.reading() as snapshot:
            assert snapshot.counts().files == 2
            found = snapshot.file(odd.id)
        assert found is not None
        assert found.title.startswith("half ")

    def test_absurd_dates_and_sizes_do_not_stop_the_others(self, catalog: Catalog) -> None:
        with_table(catalog)
        odd = [
            evolve(record(1), stat=FileStat(size=2**70, mtime_ns=2**70)),
            evolve(record(2), stat=FileStat(size=0, mtime_ns=-(2**70))),
        ]
        with catalog.writing() as session:
            session.record([*odd, record(3)], at=AT)

        with catalog.reading() as snapshot:
            assert snapshot.counts().files == 3

    def test_a_time_of_change_is_noted_where_none_is_known_and_changes_nothing_else(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [undated] = publish(catalog, record(1), tables=[table])
        dated = evolve(record(2), stat=FileStat(size=1, mtime_ns=2, ctime_ns=3))
        with catalog.writing() as session:
            session.record([dated], at=AT)

        with catalog.writing() as session:
            session.note_ctimes({undated.id: 7, dated.id: 8, FileId("file_of_nobody"): 9})

        with catalog.reading() as snapshot:
            assert snapshot.file(undated.id) == evolve(undated, stat=evolve(undated.stat, ctime_ns=7))
            assert snapshot.file(dated.id) == dated
            assert [found.stat.ctime_ns for found in snapshot.known_files(NOTES)] == [7, 3]

    def test_recording_replaces_the_record(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1), tables=[table])
        touched = evolve(live, stat=FileStat(size=live.stat.size, mtime_ns=5), scanned_ns=6)

        with catalog.writing() as session:
            session.record([touched], at=AT)

        with catalog.reading() as snapshot:
            assert snapshot.file(live.id) == touched
            assert snapshot.counts().files == 1
        assert garbage(catalog) == set()

    def test_a_record_without_generation_lets_the_one_before_become_garbage(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1), tables=[table])

        with catalog.writing() as session:
            session.record([record(1, reason=FileReason.EMPTY, chunks=0)], at=AT)

        assert garbage(catalog) == {(table.id, generation_of(live))}

    def test_records_of_sources_that_are_gone_or_disabled_are_left_out(self, catalog: Catalog) -> None:
        with_table(catalog)
        with catalog.writing() as session:
            session.add_source(source("off", enabled=False))
            session.record(
                [
                    record(1, source_id=SourceId("src_off")),
                    record(2, source_id=SourceId("src_nothing")),
                    record(3),
                ],
                at=AT,
            )

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.list_files()] == ["file_0003"]

    def test_a_record_takes_the_place_of_another_one_at_its_path(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        first, second = publish(catalog, record(1), record(2), tables=[table])

        [moved] = publish(catalog, evolve(first, path_bytes=second.path_bytes), tables=[table])

        with catalog.reading() as snapshot:
            assert snapshot.list_files() == (moved,)
        assert garbage(catalog) == {(table.id, generation_of(first)), (table.id, generation_of(second))}

    def test_two_files_can_change_places(self, catalog: Catalog) -> None:
        with_table(catalog)
        first, second = record(1), record(2)
        with catalog.writing() as session:
            session.record([first, second], at=AT)
        swapped = [
            evolve(first, path_bytes=second.path_bytes),
            evolve(second, path_bytes=first.path_bytes),
        ]

        with catalog.writing() as session:
            session.record(swapped, at=AT)

        with catalog.reading() as snapshot:
            assert snapshot.files([first.id, second.id]) == {found.id: found for found in swapped}

    def test_forgetting_deletes_records_and_counts_them(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        [live] = publish(catalog, record(1), tables=[table])
        with catalog.writing() as session:
            session.record([record(2), record(3)], at=AT)

        with catalog.writing() as session:
            forgotten = session.forget([live.id, FileId("file_0002"), FileId("nothing")], at=AT)

        assert forgotten == 2
        assert garbage(catalog) == {(table.id, generation_of(live))}
        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.list_files()] == ["file_0003"]

    def test_files_with_some_content_are_found_in_order_of_path(self, catalog: Catalog) -> None:
        with_table(catalog)
        same = "c" * 64
        with catalog.writing() as session:
            off = source("off")
            session.add_source(off)
            session.record(
                [
                    record(1, path=b"/n/z", content=same),
                    record(2, path=b"/n/a", content=same),
                    record(3, path=b"/n/b"),
                    record(4, path=b"/off/4", content=same, source_id=off.id),
                ],
                at=AT,
            )
            session.update_source(evolve(off, enabled=False))

        with catalog.reading() as snapshot:
            assert [found.path_bytes for found in snapshot.files_with_content(same)] == [b"/n/a", b"/n/z"]
            assert snapshot.files_with_content("d" * 64) == ()

    def test_files_are_paged_in_order_of_path(self, catalog: Catalog) -> None:
        with_table(catalog)
        with catalog.writing() as session:
            session.record([record(number) for number in (3, 1, 5, 2, 4)], at=AT)

        pages, after = [], b""
        with catalog.reading() as snapshot:
            while page := snapshot.list_files(after=after, limit=2):
                pages.append([found.id for found in page])
                after = page[-1].path_bytes
        assert pages == [["file_0001", "file_0002"], ["file_0003", "file_0004"], ["file_0005"]]

    def test_listed_files_can_be_narrowed_by_reason_and_source(self, catalog: Catalog) -> None:
        with_table(catalog)
        other = source("other")
        with catalog.writing() as session:
            session.add_source(other)
            session.record(
                [
                    record(1),
                    record(2, reason=FileReason.EMPTY),
                    record(3, reason=FileReason.DAMAGED),
                    record(4, reason=FileReason.EMPTY, source_id=other.id, path=b"/home/ada/other/4"),
                ],
                at=AT,
            )

        with catalog.reading() as snapshot:
            empty = snapshot.list_files(reasons=[FileReason.EMPTY])
            either = snapshot.list_files(reasons=[FileReason.EMPTY, FileReason.DAMAGED], source_id=NOTES)
            of_other = snapshot.list_files(source_id=other.id)
        assert [found.id for found in empty] == ["file_0002", "file_0004"]
        assert [found.id for found in either] == ["file_0002", "file_0003"]
        assert [found.id for found in of_other] == ["file_0004"]

    def test_what_is_remembered_is_counted(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        off, other = source("off"), source("other")
        with catalog.writing() as session:
            session.add_source(off)
            session.add_source(other)
        publish(
            catalog,
            record(1, chunks=3),
            record(2, chunks=4, missing=2, reason=FileReason.PARTIAL),
            record(3, chunks=5, path=b"/off/3", source_id=off.id),
            tables=[table],
        )
        with catalog.writing() as session:
            session.record(
                [
                    record(4, reason=FileReason.EMPTY, chunks=0),
                    record(5, chunks=6, missing=6),  # its passages were lost
                    record(6, reason=FileReason.EMPTY, chunks=0, path=b"/other/6", source_id=other.id),
                ],
                at=AT,
            )
            session.update_source(evolve(off, enabled=False))
            session.keep_text(record(1).content_hash, "markdown/1", b"12345")
            session.keep_text("e" * 64, "markdown/1", b"123")
            session.keep_vectors("k", {b"1": b"v", b"2": b"v"})

        with catalog.reading() as snapshot:
            counts = snapshot.counts()
            of_notes, of_off = snapshot.source_counts(NOTES), snapshot.source_counts(off.id)
            of_nothing = snapshot.source_counts(SourceId("src_nothing"))

        assert counts == MemoryCounts(
            sources=2,
            files=5,
            by_reason={FileReason.OK: 2, FileReason.PARTIAL: 1, FileReason.EMPTY: 2},
            chunks=7,
            missing_vectors=2,
            text_bytes=8,
            journal_rows=2,
        )
        assert counts.indexed_files == 3
        assert (of_notes.sources, of_notes.files, of_notes.chunks, of_notes.text_bytes) == (1, 4, 7, 5)
        assert (of_off.sources, of_off.files, of_off.chunks, of_off.text_bytes) == (1, 1, 5, 0)
        assert (of_notes.journal_rows, of_off.journal_rows) == (0, 0)
        assert of_nothing == MemoryCounts()

    def test_live_files_without_vectors_are_paged_in_order_of_id(self, catalog: Catalog) -> None:
        table = with_table(catalog)
        publish(catalog, record(3, missing=1), record(1, missing=2), record(2), record(4, missing=1), tables=[table])
        with catalog.writing() as session:
            session.record([record(5, missing=2)], at=AT)

        with catalog.reading() as snapshot:
            first = snapshot.files_without_vectors(after=None, limit=2)
            rest = snapshot.files_without_vectors(after=first[-1].id, limit=2)
        assert [found.id for found in (*first, *rest)] == ["file_0001", "file_0003", "file_0004"]
