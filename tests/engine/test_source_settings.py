"""How a source is read can be changed: the next run reads what is concerned, and nothing else."""

import attrs
import pytest
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Segment
from openmind.domain.errors import SourceExists, SourceNotFound
from openmind.domain.files import FileReason
from openmind.domain.recognition import MISSED
from openmind.ports.isolated_reader import ReadOutcome


@attrs.define
class Reader:
    """Reads instead of worker processes: every PDF is a scan but `book.pdf`."""

    names: list[str] = attrs.field(factory=list)

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            name = request.path_bytes.decode().rpartition("/")[2]
            if request.defer_ocr and request.ocr and name != "book.pdf":
                yield ReadOutcome(ticket=request.ticket, deferred=True)
                continue
            self.names.append(name)
            if name == "book.pdf" or request.ocr:
                document = ExtractedDocument(segments=(Segment(text=f"hellebores of {name}"),))
            else:
                facts = DocumentFacts(reason=FileReason.NEEDS_OCR, note="it is off", metadata={MISSED: True})
                document = ExtractedDocument(facts=facts)
            yield ReadOutcome(ticket=request.ticket, document=document)

    def close(self) -> None:
        pass


@attrs.define
class Blind(Reader):
    """Reads where the OCR engine cannot be had."""

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            if request.defer_ocr:
                yield ReadOutcome(ticket=request.ticket, deferred=True)
                continue
            metadata = {MISSED: True, "ocr_error": "OCRmyPDF is not installed"}
            facts = DocumentFacts(reason=FileReason.NEEDS_OCR, note="its pages are pictures", metadata=metadata)
            yield ReadOutcome(ticket=request.ticket, document=ExtractedDocument(facts=facts))


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def source(world, memory):
    (world.notes / "scan.pdf").write_bytes(b"scan")
    (world.notes / "book.pdf").write_bytes(b"book")
    world.write("tool.py", "# hellebores in code")
    return memory.sources.list()[0].id


def run(memory, reader) -> list[str]:
    """Index, and say what was read by other processes."""
    reader.names.clear()
    means = attrs.evolve(memory.indexing.means, reader=lambda: reader)
    attrs.evolve(memory.indexing, means=means).run()
    return sorted(reader.names)


def found(memory) -> list[str]:
    return sorted(hit.file_name for hit in memory.search("hellebores").hits)


def test_recognition_that_is_switched_on_reads_what_lacked_it(memory, reader, source) -> None:
    memory.sources.change(source, ocr=False)
    assert run(memory, reader) == ["book.pdf", "scan.pdf"]
    assert found(memory) == ["book.pdf"]
    assert run(memory, reader) == []

    memory.sources.change(source, ocr=True)

    assert run(memory, reader) == ["scan.pdf"]
    assert found(memory) == ["book.pdf", "scan.pdf"]
    assert run(memory, reader) == []


def test_recognition_that_is_switched_off_forgets_nothing(memory, reader, source) -> None:
    run(memory, reader)

    memory.sources.change(source, ocr=False)

    assert run(memory, reader) == []
    assert found(memory) == ["book.pdf", "scan.pdf"]


def test_twins_in_two_sources_are_each_read_as_their_source_wants(world, memory, reader, source, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "twin.pdf").write_bytes(b"scan")
    memory.sources.add(other, ocr=False)

    run(memory, reader)

    assert memory.search("hellebores of scan").hits[0].file_name == "scan.pdf"
    assert run(memory, reader) == []


def test_code_comes_and_goes(memory, reader, source) -> None:
    run(memory, reader)
    assert "tool.py" not in found(memory)

    memory.sources.change(source, code=True)
    run(memory, reader)
    assert "tool.py" in found(memory)

    memory.sources.change(source, code=False)
    run(memory, reader)
    assert "tool.py" not in found(memory)


def test_what_is_not_named_stays_as_it_is(memory, source) -> None:
    memory.sources.change(source, ocr=False)

    changed = memory.sources.change(source, code=True)

    assert (changed.ocr, changed.code) == (False, True)
    assert memory.sources.get(source) == changed


def test_an_unknown_source_cannot_be_changed(memory) -> None:
    with pytest.raises(SourceNotFound):
        memory.sources.change("src_1", ocr=False)


def test_a_disabled_source_is_enabled_again_with_what_is_remembered_of_it(world, memory) -> None:
    world.write("a.txt", "heliotrope in the garden")
    memory.index()
    source = memory.sources.list()[0]

    assert not memory.sources.change(source.id, enabled=False).enabled
    assert memory.search("heliotrope").hits == ()
    with pytest.raises(SourceExists) as told:
        memory.sources.add(world.notes)
    assert f"source set {source.id} --enable" in told.value.hint

    memory.sources.change(source.id, enabled=True)
    assert [hit.file_name for hit in memory.search("heliotrope").hits] == ["a.txt"]


def test_an_engine_that_files_needed_and_that_cannot_be_had_is_told_once_by_each_run(memory, source) -> None:
    indexing = attrs.evolve(memory.indexing, means=attrs.evolve(memory.indexing.means, reader=Blind))

    for report in (indexing.run(), indexing.run()):
        [notice] = report.notices
        assert notice.startswith("Text cannot be recognised: OCRmyPDF is not installed. ")
        assert report.run.tally.skipped == 2

    memory.sources.change(source, ocr=False)
    assert indexing.run().notices == ()


def test_a_picture_whose_text_was_not_read_needs_recognition_everywhere_and_is_found_all_the_same(
    memory, world
) -> None:
    @attrs.define
    class Half(Reader):
        def read(self, requests, *, while_waiting, recognised):
            for request in requests:
                facts = DocumentFacts(reason=FileReason.NEEDS_OCR, note="recognition is off", metadata={MISSED: True})
                document = ExtractedDocument(segments=(Segment(text="Nikon camera, heliconia"),), facts=facts)
                yield ReadOutcome(ticket=request.ticket, document=document)

    for name in ("a.png", "copy.png"):
        (world.notes / name).write_bytes(b"picture")
    memory.sources.change(memory.sources.list()[0].id, ocr=False)
    indexing = attrs.evolve(memory.indexing, means=attrs.evolve(memory.indexing.means, reader=Half))

    report = indexing.run()

    assert (report.run.tally.skipped, report.run.tally.indexed) == (2, 0)
    assert {failure.code for failure in report.failures} == {"needs_ocr"}
    assert memory.status().by_reason == {FileReason.NEEDS_OCR: 2}
    assert len(memory.documents.list(reasons=frozenset({"needs_ocr"}))) == 2
    assert memory.documents.list(reasons=frozenset({"indexed"})) == ()
    [hit] = memory.search("heliconia").hits
    assert hit.also_at
    [covered] = memory.maintenance.coverage()
    assert covered.unreadable["needs_ocr"].files == 2
    assert indexing.run().run.tally.skipped == 2
