"""Markdown: sections with their headings, code kept whole, tables row by row."""

from collections.abc import Iterator, Sequence

from attrs import define, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.ports.extractor import Blob

from openmind_extractors.front_matter import front_matter
from openmind_extractors.outline import HeadingPath
from openmind_extractors.plain import read_text, text_segments


@frozen
class MarkdownExtractor:
    """Reads Markdown as it is written; every segment is a range of whole lines."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the blocks."""
        file = read_text(blob)
        matter = front_matter(file.text)
        lines = file.text.split("\n")
        blocks = divide(lines, skip=matter.lines if matter else 0)
        title = matter.title if matter and matter.title else blocks.title
        yield file.facts(file_type="markdown", title=title, **(matter.metadata if matter else {}))
        if matter and not any(map(str.strip, lines[matter.lines :])):  # there is nothing else to find the file by
            yield _segment(lines, Block("form", 1, matter.lines - 1, ()))
        for block in blocks.found:
            if block.kind == "text":
                text = "\n".join(lines[block.start : block.stop])
                yield from text_segments(text, first_line=block.start + 1, path=block.path)
            else:
                yield _segment(lines, block)


def _segment(lines: Sequence[str], block: "Block") -> Segment:
    place = Place(kind="lines", start=block.start + 1, end=block.stop)
    return Segment(text="\n".join(lines[block.start : block.stop]), locator=(*block.path, place), kind=block.kind)


@frozen
class Block:
    """Lines `start` to `stop` (excluded, counted from 0) of one kind, below a path of headings."""

    kind: str
    start: int
    stop: int
    path: tuple[Place, ...]


@define
class Blocks:
    """The blocks of a file, gathered line by line."""

    found: list[Block] = field(factory=list)
    title: str = ""
    """The first heading of level one."""
    _path: HeadingPath = field(factory=HeadingPath)
    _start: int = 0

    def close(self, stop: int, kind: str = "text") -> None:
        """End the block that is open before line `stop`."""
        if stop > self._start:
            self.found.append(Block(kind, self._start, stop, self._path.places))
        self._start = stop

    def enter(self, line: int, level: int, title: str) -> None:
        """Begin a section; its heading is its first line."""
        self.close(line)
        self._path = self._path.enter(level, title)
        if level == 1 and not self.title:
            self.title = title


def divide(lines: Sequence[str], *, skip: int = 0) -> Blocks:
    """Find the blocks of a Markdown text after its first `skip` lines, in one pass."""
    blocks = Blocks(start=skip)
    index = skip
    while index < len(lines):
        line = lines[index]
        mark = line.lstrip()[:1]
        if mark == "#":
            heading = atx_heading(line)
            if heading:
                blocks.enter(index, *heading)
        elif mark in {"`", "~"}:
            fence = opening_fence(line)
            if fence:
                blocks.close(index)
                index = _end_of_fence(lines, index, fence)
                blocks.close(index, "code")
                continue
        elif mark in {"=", "-", "|", ":"}:
            index = _underline_or_table(lines, index, skip, blocks)
            continue
        index += 1
    blocks.close(len(lines))
    return blocks


def _underline_or_table(lines: Sequence[str], index: int, skip: int, blocks: Blocks) -> int:
    """Look at a line that may underline the one before: as a heading, or as the head of a table."""
    line = lines[index]
    above = lines[index - 1] if index > skip else ""
    level = setext_level(line)
    if level and _stands_alone(lines, index - 1, skip):
        blocks.enter(index - 1, level, above.strip())
    elif "|" in above and is_delimiter_row(line):
        blocks.close(index - 1)
        index += 1
        while index < len(lines) and "|" in lines[index]:
            index += 1
        blocks.close(index, "table")
        return index
    return index + 1


def atx_heading(line: str) -> tuple[int, str] | None:
    """Read `## Title ##`; None for `#tag` and for indented code."""
    body = line.lstrip(" ")
    rest = body.lstrip("#")
    level = len(body) - len(rest)
    if not 1 <= level <= 6 or len(line) - len(body) > 3 or (rest and rest[0] not in " \t"):
        return None
    title = rest.strip()
    closed = title.rstrip("#")
    if closed != title and (not closed or closed[-1] in " \t"):
        title = closed.rstrip()
    return (level, title) if title else None


def setext_level(line: str) -> int:
    """Return 1 for a line of `=`, 2 for one of `-`, else 0."""
    mark = line.strip()
    if len(line) - len(line.lstrip(" ")) > 3 or not mark or mark.strip(mark[0]):
        return 0
    return {"=": 1, "-": 2}.get(mark[0], 0)


def _stands_alone(lines: Sequence[str], index: int, skip: int) -> bool:
    """Whether the line is a paragraph of one line, which an underline turns into a heading."""
    if index < skip or (index > skip and lines[index - 1].strip()):
        return False
    line = lines[index]
    body = line.strip()
    if not body or line.startswith(("    ", "\t")) or body.startswith((">", "#", "`", "~", "- ", "* ", "+ ")):
        return False
    return "|" not in body


def opening_fence(line: str) -> str | None:
    """Return the fence that begins a code block, however deep it is indented."""
    body = line.strip()
    rest = body.lstrip(body[0])
    fence = body[: len(body) - len(rest)]
    return fence if len(fence) >= 3 and not (fence[0] == "`" and "`" in rest) else None


def _end_of_fence(lines: Sequence[str], index: int, fence: str) -> int:
    """Return the line after the closing fence; a fence that is never closed reaches to the end."""
    for number in range(index + 1, len(lines)):
        body = lines[number].strip()
        if body.startswith(fence) and not body.strip(fence[0]):
            return number + 1
    return len(lines)


def is_delimiter_row(line: str) -> bool:
    """Whether the line is the `|---|:-:|` below the head of a table."""
    return "-" in line and "|" in line and not line.strip("|-: \t") and not set(line) - set("|-: \t")
