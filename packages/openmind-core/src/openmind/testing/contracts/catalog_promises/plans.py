"""What the catalog promises about plans."""

from collections.abc import Iterator

from attrs import evolve

from openmind.domain.changes import ChangeKind
from openmind.domain.ids import RunId
from openmind.ports.catalog import Catalog, PlannedChange
from openmind.testing.contracts.catalog_promises.samples import AT, change, record, source, with_table

RUN, OTHER = RunId("run_1"), RunId("run_2")


def paged(catalog: Catalog, *, limit: int = 2, kinds: tuple[ChangeKind, ...] = ()) -> list[PlannedChange]:
    """Read a plan page by page, each page in a snapshot of its own."""
    lines: list[PlannedChange] = []
    after = 0
    while True:
        with catalog.reading() as snapshot:
            page = snapshot.next_changes(RUN, after=after, limit=limit, kinds=kinds)
        assert len(page) <= limit
        if not page:
            return lines
        lines += page
        after = page[-1].position


class PlanPromises:
    """Plans."""

    def test_cheap_work_comes_first_then_small_files_then_the_order_of_paths(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(
                RUN,
                [
                    change("/scan.pdf", effort=2, size=1),
                    change("/b", size=5),
                    change("/a", size=5),
                    change("/huge.md", size=9_000_000_000),
                    change("/book.pdf", effort=1, size=3),
                    change("/small.md", size=1),
                ],
            )

        lines = paged(catalog)

        assert [line.path_bytes for line in lines] == [
            b"/small.md", b"/a", b"/b", b"/huge.md", b"/book.pdf", b"/scan.pdf",
        ]  # fmt: skip

    def test_a_plan_that_grows_in_parts_is_still_in_order(self, catalog: Catalog) -> None:
        for part in (["/e", "/a"], ["/c", "/f"], ["/b", "/d"]):
            with catalog.writing() as session:
                session.plan(RUN, [change(path) for path in part])

        assert [line.path_bytes for line in paged(catalog)] == [b"/a", b"/b", b"/c", b"/d", b"/e", b"/f"]

    def test_lines_come_back_as_they_were_planned(self, catalog: Catalog) -> None:
        planned = [
            change("/new", effort=1, size=7),
            change("", kind=ChangeKind.GONE, of=record(1)),
            evolve(change("/odd", kind=ChangeKind.REREAD), path_bytes=b"/\xff\n", content_hash="c" * 64),
        ]
        with catalog.writing() as session:
            session.plan(RUN, planned)

        lines = paged(catalog)

        assert len({line.position for line in lines}) == 3
        assert all(line.position > 0 for line in lines)
        assert sorted((evolve(line, position=0) for line in lines), key=str) == sorted(planned, key=str)

    def test_every_kind_of_change_can_be_planned(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(RUN, [change(f"/{kind}", kind=kind) for kind in ChangeKind])

        assert {line.kind for line in paged(catalog)} == set(ChangeKind)

    def test_a_plan_can_be_narrowed_to_some_kinds(self, catalog: Catalog) -> None:
        kinds = [ChangeKind.NEW, ChangeKind.GONE, ChangeKind.CHANGED] * 3
        with catalog.writing() as session:
            session.plan(RUN, [change(f"/{number}", kind=kind) for number, kind in enumerate(kinds)])

        gone = paged(catalog, kinds=(ChangeKind.GONE,))
        others = paged(catalog, kinds=(ChangeKind.NEW, ChangeKind.CHANGED))

        assert [line.path_bytes for line in gone] == [b"/1", b"/4", b"/7"]
        assert len(others) == 6

    def test_two_lines_may_speak_of_one_path(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(RUN, [change("/a", kind=ChangeKind.GONE), change("/a"), change("/a")])

        assert len(paged(catalog, limit=1)) == 3

    def test_a_plan_belongs_to_its_run(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(RUN, [change("/a"), change("/c")])
            session.plan(OTHER, [change("/b")])

        assert [line.path_bytes for line in paged(catalog)] == [b"/a", b"/c"]

    def test_a_long_plan_is_taken_from_an_iterator(self, catalog: Catalog) -> None:
        def changes() -> Iterator[PlannedChange]:
            for number in range(5_000):
                yield change(f"/{number:05}", size=number * 7_919 % 5_000)

        with catalog.writing() as session:
            session.plan(RUN, changes())

        lines = paged(catalog, limit=999)
        assert [line.stat.size for line in lines] == list(range(5_000))

    def test_lines_can_be_taken_out_of_a_plan(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(RUN, [change("/a"), change("/b"), change("/c")])
        a, b, c = paged(catalog)

        with catalog.writing() as session:
            session.unplan(RUN, [a, c])
            session.unplan(RUN, [a])
            session.unplan(OTHER, [])

        assert paged(catalog) == [b]

    def test_a_plan_can_be_dropped(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(RUN, [change("/a")])
            session.plan(OTHER, [change("/b")])
            session.drop_plan(RUN)

        with catalog.reading() as snapshot:
            assert snapshot.next_changes(RUN, after=0, limit=9) == ()
            assert len(snapshot.next_changes(OTHER, after=0, limit=9)) == 1

    def test_all_plans_can_be_dropped(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.plan(RUN, [change("/a")])
            session.plan(OTHER, [change("/b")])
            session.drop_plan()

        with catalog.reading() as snapshot:
            assert snapshot.next_changes(OTHER, after=0, limit=9) == ()

    def test_a_file_that_is_gone_is_recognised_by_its_content(self, catalog: Catalog) -> None:
        with_table(catalog)
        same = "c" * 64
        late, early = record(1, path=b"/n/z", content=same), record(2, path=b"/n/a", content=same)
        present = record(3, path=b"/n/b", content="d" * 64)
        with catalog.writing() as session:
            session.record([late, early, present], at=AT)
            session.plan(RUN, [change("", kind=ChangeKind.GONE, of=gone) for gone in (late, early)])
            session.plan(RUN, [change("", kind=ChangeKind.CHANGED, of=present)])

        with catalog.reading() as snapshot:
            found = snapshot.gone_with_content(RUN, same)
            assert snapshot.gone_with_content(RUN, "d" * 64) is None
            assert snapshot.gone_with_content(OTHER, same) is None
        assert found is not None
        assert (found.file_id, found.path_bytes) == (early.id, b"/n/a")

    def test_a_file_that_has_been_found_elsewhere_is_not_gone_any_more(self, catalog: Catalog) -> None:
        with_table(catalog)
        same = "c" * 64
        first, second = record(1, path=b"/n/1", content=same), record(2, path=b"/n/2", content=same)
        with catalog.writing() as session:
            session.record([first, second], at=AT)
            session.plan(RUN, [change("", kind=ChangeKind.GONE, of=gone) for gone in (first, second)])
            session.record([evolve(first, path_bytes=b"/m/1")], at=AT)

        with catalog.reading() as snapshot:
            found = snapshot.gone_with_content(RUN, same)
        assert found is not None
        assert found.file_id == second.id

        with catalog.writing() as session:
            session.forget([second.id], at=AT)
            assert session.gone_with_content(RUN, same) is None

    def test_no_plan_names_the_files_of_a_source_that_is_deleted(self, catalog: Catalog) -> None:
        removed = source("removed")
        with catalog.writing() as session:
            session.add_source(removed)
            session.plan(RUN, [change("/a"), evolve(change("/removed/b"), source_id=removed.id)])
            session.delete_source(removed.id)

        assert [line.path_bytes for line in paged(catalog)] == [b"/a"]
