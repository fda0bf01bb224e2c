"""Text recognition takes hours: what was read of a document before a run ended is not read again."""

import os
import sqlite3
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import attrs
import pytest
from openmind.domain.control import Wish
from openmind.domain.documents import ExtractedDocument, Place, Segment
from openmind.domain.files import FileReason
from openmind.domain.jobs import JobState
from openmind.domain.recognition import PageNews, PageText
from openmind.ports.isolated_reader import ReadOutcome

FLOWERS = {"1": "chrysanthemum", "2": "begonia", "3": "rhododendron", "4": "hellebore"}


@attrs.define
class Reader:
    """Reads instead of worker processes: each character of a file is a page, and names its flower."""

    looked_at: list[str] = attrs.field(factory=list)
    between: object = lambda page: None
    """Called after each page, before anybody is told of it anew."""

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            if request.defer_ocr:
                yield ReadOutcome(ticket=request.ticket, deferred=True)
                continue
            known = {page.name: page for page in request.recognised}
            segments = []
            pages = Path(os.fsdecode(request.path_bytes)).read_text()
            for number, page in enumerate(pages, start=1):
                name = f"eyes 1/{page}"
                if name not in known:
                    self.looked_at.append(page)
                read = known.get(name) or PageText(name=name, text=f"{FLOWERS[page]} blossom", confidence=0.5)
                recognised(request.ticket, PageNews(read, number, len(pages)))
                self.between(number)
                while_waiting()
                segments.append(Segment(text=read.text, locator=(Place(kind="page", start=number),)))
            yield ReadOutcome(ticket=request.ticket, document=ExtractedDocument(segments=tuple(segments)))

    def standing_still(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass


class StopAt:
    """Lets a run go on until it is told to stop."""

    def __init__(self) -> None:
        self.stop = False

    def wish(self) -> Wish:
        return Wish.STOP if self.stop else Wish.GO

    def rest(self) -> None:
        raise AssertionError("nobody wants to pause")


@pytest.fixture
def reader() -> Reader:
    return Reader()


def with_means(memory, **means):
    return attrs.evolve(memory.indexing, means=attrs.evolve(memory.indexing.means, **means))


def run(memory, reader, **options):
    return with_means(memory, reader=lambda: reader).run(**options)


def stop_after(memory, reader, page: int) -> None:
    control = StopAt()
    reader.between = lambda number: setattr(control, "stop", number == page)
    assert run(memory, reader, control=control).run.state is JobState.STOPPED
    reader.between = lambda number: None
    reader.looked_at.clear()


def test_recognition_that_was_stopped_goes_on_with_the_next_page(world, memory, reader) -> None:
    world.write("scan.pdf", "1234")
    stop_after(memory, reader, page=2)

    report = run(memory, reader)

    assert reader.looked_at == ["3", "4"]
    assert report.run.tally.indexed == 1
    assert memory.search("chrysanthemum").hits[0].locator[0].start == 1
    assert memory.search("hellebore").hits[0].locator[0].start == 4


def test_recognition_that_was_killed_goes_on_with_the_next_page(world, memory, reader) -> None:
    world.write("scan.pdf", "1234")

    def die(number: int) -> None:
        if number == 3:
            raise KeyboardInterrupt

    reader.between = die
    with pytest.raises(KeyboardInterrupt):
        run(memory, reader)
    reader.between = lambda number: None
    reader.looked_at.clear()

    run(memory, reader)

    assert reader.looked_at == ["4"]


def test_only_the_new_page_of_a_scan_that_grew_is_recognised(world, memory, reader) -> None:
    world.write("scan.pdf", "12")
    run(memory, reader)
    reader.looked_at.clear()
    world.write("scan.pdf", "123")

    run(memory, reader)

    assert reader.looked_at == ["3"]
    assert memory.search("rhododendron").hits


def test_another_version_of_the_reader_recognises_nothing_again(world, memory, reader) -> None:
    world.write("scan.pdf", "12")
    run(memory, reader)
    reader.looked_at.clear()
    formats = memory.indexing.means.formats
    newer = {key: attrs.evolve(info, version=info.version + 1) for key, info in formats.by_extension.items()}

    report = with_means(memory, reader=lambda: reader, formats=attrs.evolve(formats, by_extension=newer)).run()

    assert report.run.tally.indexed == 1
    assert reader.looked_at == []


def test_how_far_recognition_is_can_be_seen_page_by_page(world, memory, reader) -> None:
    path = world.write("scan.pdf", "123")
    told: list[tuple[str, int, int]] = []

    run(memory, reader, progress=lambda event: told.append((event.current_file, event.page, event.pages)))

    assert [each for each in dict.fromkeys(told) if each[1]] == [(str(path), number, 3) for number in (1, 2, 3)]


def test_what_was_recognised_is_forgotten_with_the_file(world, memory, reader) -> None:
    path = world.write("scan.pdf", "12")
    world.write("other.txt", "a file that stays")
    world.write("another.txt", "and one more")
    run(memory, reader)
    assert kept(memory)

    path.unlink()
    run(memory, reader)

    assert not kept(memory)


def test_what_was_recognised_is_forgotten_with_a_source_that_is_removed_in_the_midst(world, memory, reader) -> None:
    world.write("scan.pdf", "1234")
    stop_after(memory, reader, page=2)
    assert kept(memory)

    memory.sources.remove(memory.sources.list()[0].id)

    assert not kept(memory)


def kept(memory) -> list[bytes]:
    """Find recognised pages on the disk."""
    with sqlite3.connect(f"file:{memory.home / 'openmind.sqlite'}?mode=ro", uri=True) as link:
        return [name for (name,) in link.execute("SELECT extractor FROM texts WHERE extractor LIKE 'ocr:%'")]


@attrs.define
class Crashing(Reader):
    """A reader that crashes on every file."""

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            self.looked_at.append(Path(os.fsdecode(request.path_bytes)).name)
            yield ReadOutcome(ticket=request.ticket, reason=FileReason.CRASHED, message="it crashed")


def test_a_file_whose_reader_crashed_is_tried_again_once_it_is_touched(world, memory) -> None:
    path = world.write("scan.pdf", "12")
    reader = Crashing()
    run(memory, reader)
    run(memory, reader)
    assert reader.looked_at == ["scan.pdf"]

    os.utime(path, ns=(1_900_000_000_000_000_000,) * 2)
    run(memory, reader)

    assert reader.looked_at == ["scan.pdf"] * 2


def test_a_file_whose_reader_crashed_is_tried_again_when_a_person_asks(world, memory) -> None:
    world.write("scan.pdf", "12")
    reader = Crashing()
    run(memory, reader)

    run(memory, reader, retry=True)

    assert reader.looked_at == ["scan.pdf"] * 2
