"""Lines whose letters a typesetter set apart: `A N N U A L  R E P O R T`."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from attrs import frozen

LEAST_LETTERS = 5
_MOST_LINES = 100
"""Of one page; more are no lines of a text."""

_LETTER_SHARE = 0.7
"""Of the words of a line are a single letter or figure: in a formula many are signs."""

_WORD_GAP = 1.7
"""A gap so many times as wide as most gaps of the line stands between words."""

_COLUMN_GAP = 1.0
"""Of the height of the letters: where most gaps are wider, these are columns of letters, and no words."""

_RUN = re.compile(r"(?<!\S)\w \w \w \w(?!\S)")


@frozen
class CharBox:
    """Where a character stands on its page."""

    left: float
    right: float
    height: float


def joined_letters(text: str, boxes_of: Callable[[Sequence[str]], Sequence[Sequence[CharBox]]]) -> str:
    """Join the letters of words that are set apart, in the lines where that can be told.

    Args:
        text: of a page.
        boxes_of: returns where each character of some lines stands, blanks included; nothing of a line of which that is
            not known.
    """
    if not _RUN.search(text):
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    spaced = [index for index, line in enumerate(lines) if _is_spaced(line)][:_MOST_LINES]
    for index, boxes in zip(spaced, boxes_of([lines[index] for index in spaced]), strict=True):
        lines[index] = _joined(lines[index], boxes)
    return "\n".join(lines)


def _is_spaced(line: str) -> bool:
    words = line.split()
    single = [word for word in words if len(word) == 1 and word.isalnum()]
    return len(single) > _LETTER_SHARE * len(words) and sum(map(str.isalpha, single)) >= LEAST_LETTERS


def _joined(line: str, boxes: Sequence[CharBox]) -> str:
    """Join letters where no gap tells words apart; a blank that has a width of its own was typed, and stays."""
    if len(boxes) != len(line):
        return line
    pairs = list(zip(line, boxes, strict=True))
    printed = [index for index, (char, _) in enumerate(pairs) if not char.isspace()]
    gaps = [boxes[after].left - boxes[before].right for before, after in pairwise(printed)]
    usual = median(gaps)
    if not 0 < usual < _COLUMN_GAP * max(boxes[index].height for index in printed):
        return line
    shown = [line[printed[0]]]
    for (before, after), gap in zip(pairwise(printed), gaps, strict=True):
        is_typed = any(box.right > box.left for _, box in pairs[before + 1 : after])
        shown += [" " if is_typed or gap > _WORD_GAP * usual else "", line[after]]
    return "".join(shown)
