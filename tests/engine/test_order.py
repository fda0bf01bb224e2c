"""Cheap files first, text recognition last: what is quick to read can be found before the slow work begins."""

import attrs
import pytest
from openmind.application.indexing.service import IndexService
from openmind.domain.documents import ExtractedDocument, Segment
from openmind.domain.files import FileReason
from openmind.domain.paths import name_of
from openmind.domain.search import SearchState
from openmind.ports.isolated_reader import ReadOutcome

WORDS = {"scan.pdf": "chrysanthemum", "picture.png": "begonia", "book.pdf": "rhododendron"}


@attrs.define
class Reader:
    """Reads instead of worker processes, and notes what can be found when each file comes up."""

    found: object
    read_in_order: list[tuple[str, bool]] = attrs.field(factory=list)
    found_when: dict[str, list[str]] = attrs.field(factory=dict)

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            name = name_of(request.path_bytes)
            self.read_in_order.append((name, request.defer_ocr))
            needs_ocr = name in {"scan.pdf", "twin.pdf", "picture.png"}
            if needs_ocr and request.defer_ocr:
                yield ReadOutcome(ticket=request.ticket, reason=FileReason.NEEDS_OCR, deferred=True)
                continue
            self.found_when[name] = self.found()
            document = ExtractedDocument(segments=(Segment(text=f"{WORDS[name]} in the garden"),))
            yield ReadOutcome(ticket=request.ticket, document=document)

    def standing_still(self):
        raise AssertionError("nobody wants to pause")

    def close(self) -> None:
        pass


@pytest.fixture
def reader(world, memory):
    words = {"a.txt": "heliotrope", "z.txt": "zinnia", "book.pdf": "rhododendron"}

    def found() -> list[str]:
        results = {name: memory.search(word) for name, word in words.items()}
        return [
            name
            for name, result in results.items()
            if result.state is SearchState.OK and result.hits[0].file_name == name
        ]

    return Reader(found)


def with_means(memory, **means) -> IndexService:
    return attrs.evolve(memory.indexing, means=attrs.evolve(memory.indexing.means, **means))


def indexing(memory, reader) -> IndexService:
    return with_means(memory, reader=lambda: reader)


def test_text_recognition_comes_last_and_all_text_can_be_found_before_it(world, memory, reader) -> None:
    for name in WORDS:
        (world.notes / name).write_bytes(name.encode())
    world.write("a.txt", "heliotrope in the garden")
    world.write("z.txt", "zinnia in the garden " * 500)

    report = indexing(memory, reader).run()

    assert report.run.tally.indexed == 5
    assert reader.read_in_order == [
        ("book.pdf", True),
        ("scan.pdf", True),
        ("picture.png", False),
        ("scan.pdf", False),
    ]
    assert reader.found_when == {
        "book.pdf": ["a.txt", "z.txt"],
        "picture.png": ["a.txt", "z.txt", "book.pdf"],
        "scan.pdf": ["a.txt", "z.txt", "book.pdf"],
    }
    assert memory.search("chrysanthemum").hits[0].file_name == "scan.pdf"


def test_twins_of_a_file_that_waits_for_text_recognition_are_recognised_once(world, memory, reader) -> None:
    (world.notes / "scan.pdf").write_bytes(b"the same")
    (world.notes / "twin.pdf").write_bytes(b"the same")

    report = indexing(memory, reader).run()

    assert report.run.tally.indexed == 2
    assert reader.read_in_order == [("scan.pdf", True), ("twin.pdf", True), ("scan.pdf", False)]
    assert memory.search("chrysanthemum").hits


def test_within_a_kind_small_files_come_before_large_ones(world, memory) -> None:
    sizes = {"large.txt": 5_000, "middle.txt": 500, "small.txt": 5}
    for name, size in sizes.items():
        world.write(name, "heliotrope " * size)
    seen: list[str] = []

    indexing_log = with_means(memory, tree=Watched(memory.indexing.means.tree, seen))
    indexing_log.run()

    assert list(dict.fromkeys(seen)) == ["small.txt", "middle.txt", "large.txt"]


class Watched:
    """A file tree that notes what is opened."""

    def __init__(self, inner, seen: list[str]) -> None:
        self.inner, self.seen = inner, seen

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def open(self, path_bytes: bytes):
        self.seen.append(name_of(path_bytes))
        return self.inner.open(path_bytes)
