"""Cutting: where a long text is divided into passages that overlap.

A cut is made as near to an even division as a good place allows: between paragraphs, else after a sentence, a line, a
word, else between two characters. All searches stay within a window, so the work grows with the text and no faster.
"""

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from openmind.domain.clusters import border

_WORD = re.compile(r"\S")
_SENTENCE_END = re.compile(r"[.!?…。！？；।؟](?:(?<=[.!?…])[\"'”’)\]»]*(?=\s)|(?<=[。！？；।؟])[\"'”’」』）]*)")
"""What may end a sentence comes first, whatever follows: so the search skips fast."""
_BLANK = re.compile(r"\s")
_SLACK = 6
"""A cut amid a paragraph may stand this fraction of the longest passage away from where an even division puts it."""
_INDENT = 8
"""Blanks before the first word of a passage that are kept, as a fraction of the longest passage."""


@frozen(kw_only=True)
class Limits:
    """How long passages are, in characters."""

    least: int
    """No passage but the last of a text is shorter."""
    most: int
    overlap_least: int
    overlap_most: int
    """What a passage repeats of the one before it."""


@frozen
class Block:
    """A stretch of text, `start` to `end`, that is cut between lines only, and not at all if it fits in a passage."""

    start: int
    end: int


def pieces(text: str, limits: Limits, blocks: Sequence[Block] = ()) -> Iterator[tuple[int, str]]:
    """Divide a text into passages, each with its offset. Blanks at their ends are left out."""
    indent = limits.most // _INDENT
    start, stop = _first_word(text, 0, indent), len(text.rstrip())
    while start < stop:
        if stop - start <= limits.most:
            yield start, text[start:stop]
            return
        end = _end(text, start, stop, limits, blocks)
        yield start, text[start:end].rstrip()
        following = _first_word(text, _overlap(text, end, limits, blocks), indent)
        start = following if following > start else _first_word(text, end, indent)


def _first_word(text: str, position: int, indent: int = 0) -> int:
    """Skip blanks, but not the indentation of the line that follows, up to `indent` characters."""
    word = _WORD.search(text, position)
    if word is None:
        return len(text)
    found = word.start()
    line = text.rfind("\n", position, found) + 1
    if line == 0 and (position == 0 or text[position - 1] == "\n"):
        line = position
    return line if line >= position and found - line <= indent else found


def _end(text: str, start: int, stop: int, limits: Limits, blocks: Sequence[Block]) -> int:
    overlap = (limits.overlap_least + limits.overlap_most) // 2
    passages = -(-(stop - start - overlap) // (limits.most - overlap))
    even = start + max(-(-(stop - start - overlap) // passages) + overlap, limits.least)
    slack = limits.most // _SLACK
    low, high = max(start + limits.least, even - slack), min(start + limits.most, even + slack)
    end = _nearest(text, "\n\n", start + limits.least, even, start + limits.most)
    block = _block_at(blocks, even)
    if block:
        end = end or _nearest(text, "\n", low, even, high)
    end = end or _cut(text, low, even, high)
    block = _block_at(blocks, end)
    if block is None or block.end - block.start > limits.most:
        return end
    # The block can be kept whole: here if it fits, else in the next passage.
    if block.end <= start + limits.most and block.start - start < limits.least:
        return block.end
    return block.start if block.start > start else block.end


def _cut(text: str, low: int, even: int, high: int) -> int:
    """Choose the best place within a window without a paragraph's end."""
    ends = [end.end() for end in _SENTENCE_END.finditer(text, low, high)]
    if ends:
        return min(ends, key=lambda end: abs(end - even))
    found = _nearest(text, "\n", low, even, high) or _nearest(text, " ", low, even, high)
    if found:
        return found
    blank = _BLANK.search(text, low, high)
    if blank:
        return blank.start()
    whole = border(text, high)
    return whole if whole > low - (high - low) else high


def _nearest(text: str, mark: str, low: int, even: int, high: int) -> int:
    """Return where the mark stands that is nearest to the middle of the window, or 0."""
    before, after = text.rfind(mark, low, even), text.find(mark, even, high)
    if before < 0 or (after >= 0 and after - even < even - before):
        return max(after, 0)
    return before


def _overlap(text: str, end: int, limits: Limits, blocks: Sequence[Block]) -> int:
    """Return where the passage after a cut begins: with a sentence, else a line or a word, before the cut.

    Nothing is repeated of a block that ended the passage, and nothing before a block that would not fit any more.
    """
    low, high = end - limits.overlap_most, end - limits.overlap_least
    block = _block_at(blocks, end - 1)
    if block and block.end <= end:
        return end
    if block:
        line = text.find("\n", max(low, block.start), end)
        return line + 1 if line >= 0 else end
    start = _beginning(text, low, high)
    if not blocks:
        return start
    word = _first_word(text, end)
    following = next((block for block in blocks if block.start <= word < block.end), None)
    if following and following.end - following.start <= limits.most < following.end - start:
        return end
    inside = _block_at(blocks, start)
    return min(inside.end, end) if inside else start


def _beginning(text: str, low: int, high: int) -> int:
    for end in _SENTENCE_END.finditer(text, low, high):
        return end.end()
    blank = _BLANK.search(text, low, high)
    return blank.end() if blank else border(text, high)


def _block_at(blocks: Sequence[Block], position: int) -> Block | None:
    """Return the block that a cut at a position would divide."""
    for block in blocks:
        if block.start < position < block.end:
            return block
    return None
