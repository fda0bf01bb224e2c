"""Folding: writings of one word that people type for each other become one.

Width and ligatures (NFKC), accents, letters that only look like another with an accent, invisible characters. What
tells words apart stays: the voicing marks of kana, the vowel signs of Indic scripts and of Thai. й and и, ё and е
fold together like any letter with and without its mark; queries and passages are folded alike, so й is found.
"""

import re
import unicodedata

_SEPARATORS = re.compile(
    "[\xa0\xa1\xa7\xab\xb6\xb7\xbb\xbf\xa9\xae\u2000-\u200a\u2012-\u2029\u202f-\u205f\u2117\u2120\u2122"
    "\u3000-\u3002\u3008-\u3020\u30fb\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b\uff5d\uff61-\uff65]+"
)
"""Punctuation whose NFKC form would cost much or glue words together: `…`, `™`, `。`, `（`."""

_LETTERS = {
    "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ı": "i", "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T",
    "\u2010": "-", "\u2011": "-", "\u2212": "-", "\u2044": "/",
    "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ٱ": "ا",
}  # fmt: skip
_LETTER = re.compile(f"[{''.join(_LETTERS)}]")

_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\xad\u061c\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef]+"
)
"""Accents; and soft hyphens, zero-width characters, directions, variation selectors, the colours of skin, tags, the
Arabic stretcher."""


def fold(text: str) -> str:
    """Fold everything but the case, which still tells where `getUserName` has its joints."""
    if text.isascii():
        return text
    text = _LETTER.sub(_spelled_out, _SEPARATORS.sub(" ", text))
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    bare = _DROPPED.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)


def _spelled_out(letter: re.Match[str]) -> str:
    return _LETTERS[letter.group()]


def fold_case(text: str) -> str:
    """Fold the case of folded text."""
    return text.lower() if text.isascii() else text.casefold()
