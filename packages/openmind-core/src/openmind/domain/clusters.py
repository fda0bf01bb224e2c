"""Characters as people see them: where a text may be cut without tearing one apart."""

import unicodedata

_REACH = 64
"""The longest character that is kept whole; what goes on gluing beyond it is an attack or an accident."""
_JOINER = "\u200d"


def border(text: str, position: int) -> int:
    """Return the nearest place, at `position` or before it, that lies between two characters as people see them."""
    for at in range(position, max(position - _REACH, 0), -1):
        if at >= len(text) or not _glued(text, at):
            return at
    return position


def _glued(text: str, at: int) -> bool:
    """Whether the code points before and at a place make one character."""
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return False
    return (
        before == _JOINER
        or after == _JOINER
        or unicodedata.category(after)[0] == "M"
        or "\u1160" <= after <= "\u11ff"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
        or ("\udc00" <= after <= "\udfff" and "\ud800" <= before <= "\udbff")
        or (_is_flag_half(after) and _flag_halves_before(text, at) % 2 == 1)
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start > 0 and at - start < _REACH and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start
