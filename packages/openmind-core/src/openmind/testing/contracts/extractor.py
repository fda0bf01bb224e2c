"""The promises of `Extractor`."""

import json
import re
from collections.abc import Iterator
from copy import Error as CopyError
from copy import deepcopy
from pathlib import Path

import pytest
from attrs import field, frozen

from openmind.adapters.extraction_wire import part_from_wire, part_to_wire, payload_of
from openmind.domain.documents import DocumentFacts, Picture, Place, Segment, check_yielded
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.location_text import lines_of_file
from openmind.ports.extractor import Blob, Extractor, ExtractorInfo

Parts = list[Segment | DocumentFacts | Picture]


@frozen(kw_only=True)
class Sample:
    """A file that an extractor reads well, and what must be found in it."""

    name: str
    data: bytes = field(repr=False)
    must_include: tuple[str, ...]
    must_not_include: tuple[str, ...] = ()


class ExtractorContract:
    """Subclass and give the fixtures `extractor`, `info` and `sample`; every promise is checked.

    `sample` may be parametrised. The suite is the same for extractors that run isolated and for those that do not.
    """

    @pytest.fixture
    def on_disk(self, sample: Sample, tmp_path: Path) -> Blob:
        """The sample as a file."""
        path = tmp_path / "kept" / sample.name
        path.parent.mkdir()
        path.write_bytes(sample.data)
        return Blob(name=sample.name, path=path)

    def test_discovery_can_tell_what_it_reads(self, info: ExtractorInfo) -> None:
        assert info.name
        assert info.version >= 1
        assert info.key == f"{info.name}/{info.version}"
        assert info.extensions
        assert all(extension.startswith(".") and extension == extension.lower() for extension in info.extensions)

    def test_it_finds_the_text(self, extractor: Extractor, sample: Sample) -> None:
        text = text_of(read(extractor, sample.data, sample.name))

        for expected in sample.must_include:
            assert expected in text
        for unwanted in sample.must_not_include:
            assert unwanted not in text

    def test_it_yields_segments_facts_and_pictures_only(
        self, extractor: Extractor, info: ExtractorInfo, sample: Sample
    ) -> None:
        parts = read(extractor, sample.data, sample.name)

        assert any(isinstance(part, Segment) for part in parts)
        assert all(isinstance(part, Segment | DocumentFacts | Picture) for part in parts)
        if any(isinstance(part, Picture) for part in parts):
            assert info.pictures
            assert info.isolated
        assert all(part.text for part in parts if isinstance(part, Segment)), "a Segment without text"

    def test_places_make_sense(self, extractor: Extractor, sample: Sample) -> None:
        for part in read(extractor, sample.data, sample.name):
            if isinstance(part, Segment):
                for place in part.locator:
                    check_place(place)

    def test_lines_of_the_text_are_lines_of_the_file(self, extractor: Extractor, sample: Sample) -> None:
        lines = lines_of(sample.data)

        for segment, start, end in lined(read(extractor, sample.data, sample.name)):
            assert end <= len(lines), f"a Segment ends on line {end}, and {sample.name} has {len(lines)} lines"
            assert end - start + 1 >= segment.text.rstrip("\n").count("\n") + 1
            for expected in sample.must_include:
                check_line(expected, segment.text, start, lines)

    def test_the_same_file_gives_the_same_again(self, extractor: Extractor, sample: Sample) -> None:
        assert read(extractor, sample.data, sample.name) == read(extractor, sample.data, sample.name)

    def test_nothing_of_a_file_gets_into_the_next_one(self, extractor: Extractor, sample: Sample) -> None:
        broken = sample.data[: len(sample.data) // 2]
        alone = {data: try_to_read(unused(extractor), data, sample.name) for data in (sample.data, broken)}

        for data in (sample.data, broken, sample.data):
            parts, failure = try_to_read(extractor, data, sample.name)

            expected, expected_failure = alone[data]
            assert parts == expected, "what one object gives depends on the files that it read before"
            assert (failure and failure.reason) == (expected_failure and expected_failure.reason)

    def test_bytes_in_memory_give_what_a_file_gives(self, extractor: Extractor, sample: Sample, on_disk: Blob) -> None:
        assert list(extractor.extract(on_disk)) == read(extractor, sample.data, sample.name)

    def test_nothing_is_written(self, extractor: Extractor, sample: Sample, on_disk: Blob) -> None:
        assert on_disk.path is not None
        before = on_disk.path.stat()

        list(extractor.extract(on_disk))

        assert list(on_disk.path.parent.iterdir()) == [on_disk.path]
        assert on_disk.path.read_bytes() == sample.data
        assert on_disk.path.stat().st_mtime_ns == before.st_mtime_ns

    def test_it_can_be_stopped_early(self, extractor: Extractor, sample: Sample) -> None:
        parts = extractor.extract(Blob(name=sample.name, data=sample.data))
        next(iter(parts))
        del parts

        assert read(extractor, sample.data, sample.name)

    def test_facts_are_fit_for_json(self, extractor: Extractor, sample: Sample) -> None:
        for part in read(extractor, sample.data, sample.name):
            if isinstance(part, DocumentFacts):
                assert json.loads(json.dumps(part.metadata, allow_nan=False)) == part.metadata
                if part.reason is not FileReason.OK:
                    assert part.note, f"DocumentFacts(reason={part.reason}) needs a note, a sentence for the person"

    def test_every_piece_survives_the_way_out_of_a_worker(self, extractor: Extractor, sample: Sample) -> None:
        for part in read(extractor, sample.data, sample.name):
            assert part_from_wire(json.loads(json.dumps(part_to_wire(part))), payload_of(part)) == part

    def test_an_empty_file_says_that_it_holds_nothing(self, extractor: Extractor, sample: Sample) -> None:
        parts, failure = try_to_read(extractor, b"", sample.name)

        if failure is not None:
            assert failure.reason in {FileReason.EMPTY, FileReason.DAMAGED}
            return
        facts = [part for part in parts if isinstance(part, DocumentFacts)]
        assert text_of(parts) == ""
        assert facts, "an empty file needs DocumentFacts(reason=FileReason.EMPTY, note=…), or an ExtractionFailed"
        assert facts[-1].reason is FileReason.EMPTY
        assert facts[-1].note

    def test_a_file_that_has_gone_is_vanished(self, extractor: Extractor, sample: Sample, tmp_path: Path) -> None:
        with pytest.raises(ExtractionFailed) as caught:
            list(extractor.extract(Blob(name=sample.name, path=tmp_path / "gone" / sample.name)))

        assert caught.value.reason is FileReason.VANISHED

    def test_broken_files_fail_with_a_reason_or_give_what_they_have(self, extractor: Extractor, sample: Sample) -> None:
        for broken in broken_copies(sample.data):
            parts, failure = try_to_read(extractor, broken, sample.name)

            assert all(isinstance(part, Segment | DocumentFacts | Picture) for part in parts)
            if failure is not None:
                assert failure.message
                assert failure.reason is not FileReason.OK


def read(extractor: Extractor, data: bytes, name: str) -> Parts:
    """Read bytes that are in memory; a part with a field of the wrong type fails, and the field is named."""
    parts = list(extractor.extract(Blob(name=name, data=data)))
    for part in parts:
        check_yielded(part)
    return parts


def try_to_read(extractor: Extractor, data: bytes, name: str) -> tuple[Parts, ExtractionFailed | None]:
    """Read as far as it goes."""
    parts: Parts = []
    try:
        for part in extractor.extract(Blob(name=name, data=data)):
            check_yielded(part)
            parts.append(part)
    except ExtractionFailed as failure:
        return parts, failure
    return parts, None


def unused(extractor: Extractor) -> Extractor:
    """A copy of an extractor that has read nothing yet; itself where it holds what cannot be copied."""
    try:
        return deepcopy(extractor)
    except (TypeError, CopyError):
        return extractor


def text_of(parts: Parts) -> str:
    """The whole text, one segment below the other."""
    return "\n".join(part.text for part in parts if isinstance(part, Segment))


def lines_of(data: bytes) -> list[str]:
    """The lines of a file; bytes that are no UTF-8 stand for themselves, so that they can be counted."""
    return re.split("\r\n|\r|\n", data.decode("utf-8-sig", "surrogateescape"))


def lined(parts: Parts) -> Iterator[tuple[Segment, int, int]]:
    """Each segment that says on which lines of the file it stands, with the first and the last of them."""
    for part in parts:
        place = lines_of_file(part.locator) if isinstance(part, Segment) else None
        if isinstance(part, Segment) and place is not None and place.start is not None:
            yield part, place.start, place.start if place.end is None else place.end


def check_line(expected: str, text: str, start: int, lines: list[str]) -> None:
    """Whether an expected text of a segment stands on the line of the file that the segment's place promises.

    Only where the file has it as it is: what an extractor takes out of some markup is nowhere to be compared.
    """
    words = expected.split("\n")[0]
    if words not in text or not any(words in line for line in lines):
        return
    found = start + text[: text.index(words)].count("\n")
    held = [number for number, line in enumerate(lines, start=1) if words in line]
    assert found in held, f"“{words}” is given line {found} of the file, and stands on line {held[0]}"


def check_place(place: Place) -> None:
    """Whether a place can be shown and sorted."""
    assert place.kind
    assert place.start is not None or place.label
    if place.start is not None:
        assert place.start >= 1
        assert place.end is None or place.end >= place.start


def broken_copies(data: bytes) -> Iterator[bytes]:
    """Break a file in the ways files break: cut off, overwritten, something else altogether."""
    yield data[: len(data) // 2]
    yield data[:1]
    yield b"\x00" * 1_000
    yield b"\xff\xfe" + data[1:]
    yield b"MZ\x90\x00" + bytes(range(256)) * 8
    third = len(data) // 3
    yield data[:third] + bytes(min(64, third)) + data[third + min(64, third) :]
    yield data + b"\x00" * 500 + data[: len(data) // 2]
