"""PowerPoint presentations: slide by slide, with notes."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain

from attrs import define, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.archives import Archive, open_archive
from openmind_extractors.limits import MAX_HEADING_CHARS
from openmind_extractors.losses import Losses
from openmind_extractors.note_marks import apart
from openmind_extractors.ooxml import Properties, drawing_text, parts, read_properties, targets
from openmind_extractors.safe_xml import parse


@frozen
class SlidesExtractor:
    """Reads presentations."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield each slide with its charts and notes, then charts of no slide, then the facts."""
        with open_archive(blob) as archive:
            losses = Losses()
            names = _slides(archive, losses)
            if not names and "ppt/presentation.xml" not in archive.names:
                raise ExtractionFailed("this is no presentation: it has no slides", reason=FileReason.UNSUPPORTED)
            core = "docProps/core.xml"
            properties = losses.attempt(core, lambda: read_properties(archive.read_if_there(core)), Properties())
            title = properties.title
            charts = [*parts(archive, "ppt/charts/", "chart"), *parts(archive, "ppt/diagrams/", "data")]
            count = 0
            for number, name in enumerate(names, start=1):
                slide = losses.attempt(name, partial(_slide, archive, name), Slide())
                title = title or slide.title
                place = Place(kind="slide", start=number, label=slide.title[:MAX_HEADING_CHARS])
                related = losses.attempt(f"what {name} refers to", partial(_related, archive, name), frozenset[str]())
                notes = losses.attempt(f"the notes of {name}", partial(_notes, archive, related), list[str]())
                shown = [chart for chart in charts if chart in related]
                charts = [chart for chart in charts if chart not in related]
                for segment in chain(
                    _segments(slide, place), _charts(archive, shown, losses, place), _noted(notes, place)
                ):
                    count += 1
                    yield segment
            for segment in _charts(archive, charts, losses):
                count += 1
                yield segment
        metadata: dict[str, object] = {
            "file_type": "pptx",
            "extraction_method": "xml",
            "slide_count": len(names),
            **properties.metadata,
        }
        reason, note = (FileReason.OK, "") if count else (FileReason.EMPTY, "the slides hold no text")
        yield losses.told(DocumentFacts(title=title, metadata=metadata, reason=reason, note=note))


def _slide(archive: Archive, name: str) -> "Slide":
    return read_slide(archive.read(name))


def _related(archive: Archive, slide: str) -> frozenset[str]:
    return frozenset(targets(archive, slide).values())


def _drawing(archive: Archive, name: str) -> list[str]:
    return drawing_text(archive.read(name))


def _charts(archive: Archive, names: list[str], losses: Losses, *within: Place) -> Iterator[Segment]:
    for name in names:
        text = "\n".join(losses.attempt(name, partial(_drawing, archive, name), []))
        if text:
            yield Segment(text=text, locator=(*within, Place(kind="part", label="chart")))


def _segments(slide: "Slide", place: Place) -> Iterator[Segment]:
    if slide.lines:
        yield Segment(text="\n".join(slide.lines), locator=(place,))
    for table in slide.tables:
        yield Segment(text=table, locator=(place,), kind="table")


def _noted(notes: list[str], place: Place) -> Iterator[Segment]:
    if notes:
        yield Segment(text="\n".join(notes), locator=(place, Place(kind="part", label="notes")), kind="annotation")


@define
class Slide:
    """The text of a slide, gathered from its XML."""

    title: str = ""
    lines: list[str] = field(factory=list)
    tables: list[str] = field(factory=list)
    _line: list[str] = field(factory=list)
    _rows: list[list[str]] | None = None
    _is_title: bool = False
    _in_text: bool = False
    _is_raised: bool = False
    _is_number: bool = False
    """Whether a field is open that shows the number of the slide, or stands for it."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if name == "sp":
            self._is_title = False
        elif name == "ph":
            self._is_title = attributes.get("type") in {"title", "ctrTitle"}
        elif name == "tbl":
            self._rows = []
        elif name == "tr" and self._rows is not None:
            self._rows.append([])
        elif name == "tc" and self._rows:
            self._rows[-1].append("")
        elif name == "p":
            self._line = []
        elif name == "br":
            self._end_of_line()
        elif name == "fld":
            self._is_number = attributes.get("type") == "slidenum"
        elif name == "r":
            self._is_raised = False
        elif name == "rPr":
            self._is_raised = attributes.get("baseline", "0").lstrip("0").rstrip("%").isdecimal()
        elif name == "t":
            self._in_text = not self._is_number

    def end(self, name: str) -> None:
        """End an element."""
        if name == "t":
            self._in_text = False
        elif name == "fld":
            self._is_number = False
        elif name == "p":
            self._end_of_line()
        elif name == "tbl" and self._rows is not None:
            rows = (" | ".join(row) for row in self._rows)
            text = "\n".join(row for row in rows if row.strip(" |"))
            if text:
                self.tables.append(text)
            self._rows = None

    def text(self, text: str) -> None:
        """Add text."""
        if self._in_text:
            self._line.append(apart(self._line, text) if self._is_raised else text)

    def _end_of_line(self) -> None:
        text = " ".join(clean("".join(self._line)).split())
        self._line = []
        if not text:
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {text}".strip()
            return
        if self._is_title:
            self.title = f"{self.title} {text}".strip()
        self.lines.append(text)


def read_slide(data: bytes) -> Slide:
    """Read a slide or its notes.

    Raises:
        ExtractionFailed: the part is not well-formed.
    """
    slide = Slide()
    parse(data, start=slide.start, end=slide.end, text=slide.text)
    return slide


def _slides(archive: Archive, losses: Losses) -> list[str]:
    """Return the slides in the order of the presentation, which is not that of their numbers."""
    listed = targets(archive, "ppt/presentation.xml")
    order: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "sldId":
            order.extend(listed[value] for value in attributes.values() if value in listed)

    data = archive.read_if_there("ppt/presentation.xml")
    if data:
        parse(data, start=start, end=lambda name: None, text=lambda text: None)
    known = [name for name in order if name in archive.names]
    for name in order:
        if name not in archive.names:
            losses.add(f"{name} is listed in the presentation and missing")
    return known or parts(archive, "ppt/slides/", "slide")


def _notes(archive: Archive, related: Iterable[str]) -> list[str]:
    """Return the speaker's notes of a slide, without its number."""
    for name in related:
        if "/notesSlides/" in name and name in archive.names:
            return [line for line in read_slide(archive.read(name)).lines if not line.isdigit()]
    return []
