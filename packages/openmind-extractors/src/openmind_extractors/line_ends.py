"""Words at the end of a line: whether a hyphen there divides a word, or belongs to it.

Nobody can tell for sure. A word is joined unless something speaks against it; where that is no proof, the line break
stays, and search finds both spellings.
"""

import re

_MARK = re.compile("[\x02\ufffe](?:\r?\n)?")
"""What PDFium puts where it takes a hyphen at the end of a line for a division."""

_HYPHENS = re.compile("[\u2010\ufffe]\n")
_ADDRESS = re.compile(r"@|://|^www\.|\w\.\w.*/|/.*\w\.\w")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]*$")
_LETTERS = re.compile(r"[^\W\d_]*")

_AND = frozenset({"und", "oder", "bzw", "sowie", "and", "et", "ou"})
"""A hyphen before them stands for what comes later: `Ein- und Ausgang`."""

_COMPOUND_STARTS = frozenset(
    """
    anti bien co cross demi far four half high left long low mid multi new non old peut post quasi right second self
    semi short single third three two ultra vice well wide
    """.split()  # noqa: SIM905  a word a line would hide the list
)
_COMPOUND_ENDS = frozenset(
    """
    based bound built ce ci class dependent down driven elle elles facing first free friendly grade hand held il ils je
    known level like lived made moi mêmes nous old or owned person proof quality range related scale sensitive size
    specific style term time tu up value vous year là
    """.split()  # noqa: SIM905  a word a line would hide the list
)
"""Words that are often joined to another by a hyphen that stays."""


def joined(text: str) -> str:
    """Join the words that a hyphen divides at the end of a line."""
    if "\x02" in text or "\ufffe" in text:
        text = _MARK.sub("\ufffe\n", text)
    if "-\n" not in text and "\u00ad" not in text and not _HYPHENS.search(text):
        return text
    pieces = re.split("(-|\u00ad|\u2010|\ufffe)\n", text)
    found = [pieces[0]]
    for hyphen, before, after in zip(pieces[1::2], pieces[0::2], pieces[2::2], strict=False):
        found += (_end_of_line(hyphen, _last(before), _first(after)), after)
    return "".join(found).replace("\u00ad", "")


def _last(line: str) -> str:
    """Return what stands between the last blank and the end."""
    words = line[-200:].rsplit(None, 1)
    return words[-1] if words and not line[-1].isspace() else ""


def _first(line: str) -> str:
    words = line[:200].split(None, 1)
    return words[0] if words and not line[0].isspace() else ""


def _end_of_line(hyphen: str, before: str, after: str) -> str:
    """Return what stands between two parts of a word: nothing, a hyphen, or the hyphen and the end of the line."""
    if not before[-1:].islower() or not after[:1].islower():
        return "-" if hyphen == "\ufffe" else "-\n"
    if hyphen == "\u00ad":
        return ""
    start, end = "".join(_LETTERS_BEFORE.findall(before)), _LETTERS.findall(after)[0]
    if end in _AND:
        return "- "
    if _ADDRESS.search(f"{before}-{after}") or (len(start) == 1 and before == start):
        return "-"
    is_chain = "-" in before or "-" in after
    if is_chain or "/" in before or "/" in after or start in _COMPOUND_STARTS or end in _COMPOUND_ENDS:
        return "-\n"
    return ""
