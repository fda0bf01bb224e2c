"""Scripts that need more than blanks: runs without spaces become pairs, Russian and Arabic lose their endings."""

import re
import sys
from array import array

PICTOGRAPHS = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
"""Emoji and their older kin, without the colours of skin; the halves of flags stand in pairs."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c"
    "\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    f"{PICTOGRAPHS}"
)
"""Characters of Han, kana, Hangul, Thai, Lao, Khmer, Burmese, Yi, and emoji: nothing tells where a word ends."""

RUN = re.compile(f"[{UNSPACED}]+")
_REGION = re.compile(f"([{UNSPACED}]+(?:[ \t\n]+[{UNSPACED}]+)*)")
"""Runs with nothing but blanks between them."""
_ALONE = re.compile(f"[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff{PICTOGRAPHS}]+")
"""Characters that are words of their own often enough: 猫, 집, 🎉."""

_BETWEEN_RUNS = re.compile("[^ ] {3}[^ ] ")
_BETWEEN_REGIONS = re.compile("[^ ]\x03 \x03[^ ] ?")
_UTF32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


def divide(text: str) -> list[str]:
    """Split text into what has spaces, at the even places, and regions without, at the odd ones."""
    return _REGION.split(text)


def pairs(run: str) -> list[str]:
    """Return the character pairs of one run; of a single character, that one if it may be a word."""
    return [run[at : at + 2] for at in range(len(run) - 1)] if len(run) > 1 else _ALONE.findall(run)


def paired(regions: list[str]) -> list[str]:
    """Write each region as the character pairs of its runs. A line may end amid a word: a line feed joins.

    All regions become one array of code points, of which each pair takes three places, its two characters and a
    blank. That takes a fraction of the time that slicing strings does, and leaves to be removed the pairs that reach
    from one run into the next.
    """
    text = "\x03".join(regions).replace("\n", "").replace("\t", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    points = array("I")
    points.frombytes(f"\x03{text}\x03".encode(_UTF32))
    spread = array("I", [0x20]) * (3 * len(points) - 3)
    spread[0::3] = points[:-1]
    spread[1::3] = points[1:]
    # `xa ab b_ _c cd dy`: what is left of `a`, `b`, `c` and `d` is no pair.
    text = _BETWEEN_RUNS.sub("", spread.tobytes().decode(_UTF32)[3:-3])
    return [region.rstrip() for region in _BETWEEN_REGIONS.split(text)]


def single_characters(text: str) -> list[str]:
    """Return the distinct characters of a text that may be words."""
    return list(dict.fromkeys("".join(_ALONE.findall(text))))


_CYRILLIC = re.compile("[а-ѿ]{4}")
_ARABIC = re.compile("[\u0620-\u064a]{4}")

_RUSSIAN_ENDINGS = frozenset(
    """
    иями оями иям иях оях ями оям ами его ему ими ого ому ыми оев ая яя ях юю ах ею их ия ию ою ую ям ых ея ам ем еи
    ев ии им ое ои ом ов ые ыи ым ми ие ье ья ью а е о у и ы я ю ь
    """.split()  # noqa: SIM905
)
_ARABIC_PREFIXES = ("وال", "بال", "كال", "فال", "لل", "ال")


def stem(words: list[str]) -> list[str]:
    """Take case endings off Cyrillic and articles off Arabic words; others stay. The store stems English."""
    return [_stem(word) if word[-1] > "\u03ff" else word for word in words]


def needs_stemming(text: str) -> bool:
    """Whether `stem` would change anything in the text."""
    return bool(_CYRILLIC.search(text) or _ARABIC.search(text))


def _stem(word: str) -> str:
    size = len(word)
    if word[0] > "\u05ff":
        for prefix in _ARABIC_PREFIXES:
            if word.startswith(prefix) and size >= len(prefix) + 3:
                return word[len(prefix) :]
        return word
    for length in (4, 3, 2, 1):
        if size > length + 2 and word[-length:] in _RUSSIAN_ENDINGS:
            return word[:-length]
    return word
