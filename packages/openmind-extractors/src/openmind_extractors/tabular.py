"""CSV and TSV files."""

import io
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO

from attrs import frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.decoding import REPLACED_PARTIAL, DecodedText, decode
from openmind_extractors.delimited import SAMPLE_LINES, find_dialect, read_rows
from openmind_extractors.profile import Profile
from openmind_extractors.reading import told_as_reasons
from openmind_extractors.rows import RowWriter, find_head

DECODED_WHOLE_BYTES = 20_000_000
"""Up to here every byte has a say in the encoding; larger files are judged by three samples and read as a stream."""

_SAMPLE_BYTES = 1_000_000
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))


@frozen
class TabularExtractor:
    """Reads rows with the standard library, which changes no cell, and profiles the columns with pandas."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield what stands above the table, its rows, a profile of its columns, and the facts last."""
        with told_as_reasons():
            yield from self._extract(blob)

    def _extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        table = _Table.open(blob)
        first_lines = table.first_lines(SAMPLE_LINES)
        dialect = find_dialect(first_lines, tabs=extension_of(blob.name) in {".tsv", ".tab"})
        blocks = read_rows(table.lines, dialect)
        first_rows = next(blocks, [])
        head = find_head(first_rows)
        title = _text_of(head.title_rows)
        if title:
            yield Segment(text=title, locator=(Place(kind="rows", start=1, end=len(head.title_rows)),))
        writer = RowWriter(head, cleaned=str if table.is_clean else clean)
        profile = Profile(head.names)
        data = chain([first_rows[head.height :]], blocks)
        yield from writer.write(data, head.height + 1, profiled=profile.add)
        described = profile.describe(writer.total)
        if described:
            yield Segment(text=clean(described), locator=(Place(kind="part", label="columns"),))
        yield table.facts(writer, has_text=bool(title or writer.written), delimiter=dialect.delimiter)


def _text_of(rows: Sequence[Sequence[str]]) -> str:
    lines = (" ".join(cell.strip() for cell in row if cell.strip()) for row in rows)
    return clean("\n".join(line for line in lines if line))


@frozen
class _Table:
    """The text of a file that can be read again from any line."""

    blob: Blob
    decoded: DecodedText
    """Of the whole file when that is small, else of samples."""
    is_whole: bool
    is_clean: bool = False
    """Whether there is nothing in it that would have to be taken out."""

    @classmethod
    def open(cls, blob: Blob) -> "_Table":
        with _bytes_of(blob) as file:
            data = file.read(DECODED_WHOLE_BYTES + 1)
            if len(data) <= DECODED_WHOLE_BYTES:
                decoded = decode(data)
                return cls(blob, decoded, True, _is_clean(data, decoded))
            size = file.seek(0, io.SEEK_END)
            samples = []
            for start in (0, size // 2 & ~3, (size - _SAMPLE_BYTES) & ~3):
                file.seek(start)
                samples.append(file.read(_SAMPLE_BYTES))
        head = decode(samples[0], cut=True)
        if head.source == "bom" or head.encoding.startswith("utf-"):
            return cls(blob, head, False)
        return cls(blob, decode(b"\n".join(samples), cut=True), False)

    def first_lines(self, count: int) -> list[str]:
        """Return the first lines, as far as they are not extremely long."""
        if self.is_whole:
            return list(islice(io.StringIO(self.decoded.text[:_SAMPLE_BYTES], newline=""), count))
        return list(islice(self._stream(), count))

    def lines(self, skip: int) -> Iterator[str]:
        """Open the text anew, after so many lines."""
        if self.is_whole:
            return islice(io.StringIO(self.decoded.text, newline=""), skip, None)
        return islice(self._stream(), skip, None)

    def _stream(self) -> Iterator[str]:
        encoding = "utf-8-sig" if self.decoded.encoding == "utf-8" else self.decoded.encoding
        with _bytes_of(self.blob) as file, io.TextIOWrapper(file, encoding, errors="replace", newline="") as text:
            for line in text:
                yield line.removeprefix("\ufeff")

    def facts(self, writer: RowWriter, *, has_text: bool, delimiter: str) -> DocumentFacts:
        metadata: dict[str, object] = {
            "file_type": "csv",
            "extraction_method": "csv",
            "encoding": self.decoded.encoding,
            "encoding_source": self.decoded.source,
            "delimiter": {"\t": "tab"}.get(delimiter, delimiter),
            "row_count": writer.total,
            "column_count": len(writer.head.header),
        }
        if not has_text:
            return DocumentFacts(metadata=metadata, reason=FileReason.EMPTY, note="the table holds no rows")
        note = writer.note
        if not note and self.decoded.replaced_share > REPLACED_PARTIAL:
            note = f"{self.decoded.replaced_share:.0%} of the characters could not be decoded"
        return DocumentFacts(metadata=metadata, reason=FileReason.PARTIAL if note else FileReason.OK, note=note)


def _is_clean(data: bytes, decoded: DecodedText) -> bool:
    """Whether a table is plain Western European text: asked once, it saves asking for each passage."""
    if decoded.encoding != "utf-8" or len(data.translate(None, _CONTROLS)) != len(data):
        return False
    try:
        decoded.text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _bytes_of(blob: Blob) -> BinaryIO:
    if blob.data is not None:
        return io.BytesIO(blob.data)
    assert blob.path is not None
    return blob.path.open("rb")
