"""Chunking: a document becomes passages, small enough to embed and to quote, each with its exact place."""

from collections.abc import Iterable, Iterator

from attrs import field, frozen, validators

from openmind.domain.chunks import Chunk
from openmind.domain.cutting import Limits, pieces
from openmind.domain.documents import DocumentFacts, ExtractedDocument
from openmind.domain.stretches import Part, Ruler, Stretch, locate, stretches

CHUNKING_VERSION = 2
"""Grows when the same text gives other passages; every file is then divided again."""

SEPARATOR = " › "
MAX_CONTEXT = 200
"""Characters of title and headings that go with each passage: they help, but the passage is what counts."""
MAX_LABEL = 80
MAX_HEADER = 120
"""Characters of a table's header that go with its later passages."""
MIN_HEADER = 16
"""A shorter header of a table says nothing."""
_TOPICS = ("tags", "aliases", "topics")
"""Metadata that says what a document is about, as its title does."""
_UNTITLED = frozenset({"page", "lines", "rows", "paragraphs", "body"})
"""Places whose labels say where, not what."""


@frozen(kw_only=True)
class ChunkingPolicy:
    """How a text is divided, in characters. Passages of less than half the least length were found worse."""

    max_chars: int = field(default=1_200, validator=validators.ge(1))
    min_chars: int = field(default=800, validator=validators.ge(1))
    """A section that is shorter is one passage; within a longer one only the last passage is shorter."""
    overlap_chars: tuple[int, int] = (150, 200)
    """Least and most that a passage repeats of the one before it."""
    tiny_chars: int = 100
    """Sections of less than this, headings included, are put together with their neighbours. Longer ones are found
    better by themselves, and in their own place."""

    def limits(self, room: int) -> Limits:
        """Return the limits when a passage must fit in `room` characters."""
        most = max(1, min(self.max_chars, room))
        least_overlap, most_overlap = self.overlap_chars
        return Limits(
            least=max(1, min(self.min_chars, most * 2 // 3)),
            most=most,
            overlap_least=min(least_overlap, most // 8),
            overlap_most=min(most_overlap, most // 6),
        )


def split(
    document: ExtractedDocument, policy: ChunkingPolicy = ChunkingPolicy(), *, max_input_chars: int | None = None
) -> Iterator[Chunk]:
    """Divide a document into passages, in reading order, one at a time.

    Every character that is not blank is in at least one passage. A passage does not reach from one section into the
    next, unless both are tiny; code and rows of tables are kept whole where they fit.

    Args:
        document: the document, its text clean.
        policy: the lengths.
        max_input_chars: the most that the embedder takes; passage and context together stay within it.
    """
    window = policy.max_chars + MAX_CONTEXT + 1 if max_input_chars is None else max_input_chars
    topics = _topics(document.facts)
    index = 0
    for stretch in stretches(document.segments, tiny=policy.tiny_chars, most=policy.min_chars):
        room = min(MAX_CONTEXT, window // 3)
        context = _with_topics(_context(document.facts.title, stretch, room), topics, room)
        header_room = min(MAX_HEADER, window // 6) if _has_table(stretch) else 0
        if header_room < MIN_HEADER:
            header_room = 0
        limits = policy.limits(window - len(context) - header_room - 1)
        ruler = Ruler(stretch.text)
        for start, text in pieces(stretch.text, limits, stretch.blocks()):
            yield Chunk(
                index=index,
                text=text,
                locator=locate(stretch, ruler, start, start + len(text)),
                context=_with_header(context, stretch.part_at(start), start, header_room) if header_room else context,
            )
            index += 1


def _context(title: str, stretch: Stretch, room: int) -> str:
    """Put title and headings on one line; what is too long loses its middle first."""
    labels = [title, *(place.label for place in stretch.outer if place.kind not in _UNTITLED)]
    path: list[str] = []
    for label in labels:
        line = " ".join(label.split())
        if line and (not path or line.casefold() != path[-1].casefold()):
            path.append(line)
    path = [_shortened(label, MAX_LABEL) for label in path]
    while len(path) > 2 and len(SEPARATOR.join(path)) > room:
        del path[1]
    return _shortened(SEPARATOR.join(path), room)


def _topics(facts: DocumentFacts) -> list[str]:
    """List the tags and other names that an author gave a document."""
    named: list[str] = []
    for key in _TOPICS:
        given = facts.metadata.get(key)
        named += [given] if isinstance(given, str) else map(str, given) if isinstance(given, list) else []
    return list(dict.fromkeys(line for name in named if (line := " ".join(name.split()))))


def _with_topics(context: str, topics: Iterable[str], room: int) -> str:
    """Add topics while there is room; of one that is longer than a label as much as there is."""
    for topic in topics:
        longer = f"{context}{SEPARATOR}{topic}" if context else topic
        if len(longer) > room:
            cut = longer[: room + 1].rpartition(" ")[0]  # no half words: they would be matched
            return cut if len(topic) > MAX_LABEL and len(cut) > len(context) + len(SEPARATOR) else context
        context = longer
    return context


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 1, 0)].rstrip() + "…"[:room]


def _has_table(stretch: Stretch) -> bool:
    return any(part.segment.kind == "table" for part in stretch.parts)


def _with_header(context: str, part: Part, start: int, room: int) -> str:
    """Add the header of the table that a passage begins amid of."""
    lines = part.segment.text.split("\n", 2)
    rule = lines[1] if len(lines) > 2 else ""
    if part.segment.kind != "table" or start == part.offset or "-" not in rule or rule.strip("|-:+ \t"):
        return context
    header = _shortened(" | ".join(cell.strip() for cell in lines[0].strip(" |").split("|")), room - len(SEPARATOR))
    return f"{context}{SEPARATOR}{header}" if context else header
