"""Reads .bib files: each entry is a segment with its lines, and its key for a heading."""

import re
from collections.abc import Iterator
from itertools import zip_longest

from attrs import frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

MAX_BYTES = 20_000_000
START = re.compile(r"^[ \t]*@(?P<kind>[A-Za-z]+)\s*\{\s*(?P<key>[^\s,{}]+)", re.MULTILINE)
NO_ENTRIES = frozenset({"comment", "preamble", "string"})


@frozen
class Entry:
    """One entry, as it stands in the file."""

    kind: str
    key: str
    text: str
    line: int
    """Its first, counted from 1."""

    def segment(self) -> Segment:
        """The entry with its place."""
        last = self.line + self.text.count("\n")
        heading = Place(kind="heading", label=self.key)
        return Segment(text=self.text, locator=(heading, Place(kind="lines", start=self.line, end=last)), kind="code")


class BibtexExtractor:
    """Yields one segment for each entry."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """See `openmind.ports.extractor.Extractor`."""
        data = blob.head(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ExtractionFailed("the file is larger than 20 MB", reason=FileReason.TOO_BIG)
        if b"\x00" in data:
            raise ExtractionFailed("the file is no text", reason=FileReason.DAMAGED)
        count = 0
        for entry in entries(data.decode("utf-8", "replace")):
            count += 1
            yield entry.segment()
        if count:
            yield DocumentFacts(metadata={"entries": count})
        else:
            yield DocumentFacts(reason=FileReason.EMPTY, note="The file holds no entries.")


def entries(text: str) -> Iterator[Entry]:
    """Find the entries: each goes up to the next, so that a brace too many harms only its own."""
    starts = list(START.finditer(text))
    for match, following in zip_longest(starts, starts[1:]):
        if match["kind"].lower() not in NO_ENTRIES:
            end = len(text) if following is None else following.start()
            line = text.count("\n", 0, match.start()) + 1
            yield Entry(match["kind"], match["key"], text[match.start() : end].rstrip(), line)
