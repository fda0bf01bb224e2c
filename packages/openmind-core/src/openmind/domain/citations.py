"""Citations: every `[n]` of an answer is checked against the excerpts it was given.

A document may talk a model into writing what it should not: pictures whose address carries what was read, links and
HTML. So nothing in an answer is fetched when it is shown.
"""

import re
from collections.abc import Mapping

from attrs import frozen

from openmind.domain.answers import Citation, Evidence
from openmind.domain.search import SearchHit

_NUMBER = r"[1-9]\d{0,2}"
_CITED = re.compile(
    r"[ \t]*[\[【][ \t]*\^?(?:(?:doc|document|excerpt|source|passage|ref)s?\.?[ \t]*)?"
    rf"({_NUMBER}(?:[ \t]*(?:[-–,;&]|and\b|und\b)[ \t]*{_NUMBER})*)[ \t]*(?:†[^\[\]【】\n]*)?[\]】](?:\([^()\s]*\))?",
    re.IGNORECASE,
)
"""`[2]`, `[1, 3]`, `[1-3]`, `[doc 2]`, `【2†source】`, with the blanks before and an address behind."""
_PART = re.compile(rf"({_NUMBER})(?:\s*[-–]\s*({_NUMBER}))?")
_CODE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`)", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\[\]【】\n]*)\](?:\([^)\n]*\)|\[[^\[\]【】\n]*\])?")
_HARMFUL = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")
"""What begins a tag or a picture. Looked for last: something taken out may join its halves."""
_LONGEST_RANGE = 20


@frozen(kw_only=True)
class CheckedText:
    """An answer of which every remaining citation exists."""

    markdown: str
    citations: tuple[Citation, ...] = ()
    """Distinct, in the order in which they first occur."""
    unknown: tuple[int, ...] = ()
    """Numbers that were cited although there is no such excerpt."""


def check(text: str, evidence: Evidence) -> CheckedText:
    """Write citations as `[1][3]`, take out those of excerpts that do not exist, and make pictures and HTML plain text.

    Code stays as it is.
    """
    known = {excerpt.number: excerpt.hit for excerpt in evidence.excerpts}
    cited: dict[int, None] = {}
    unknown: dict[int, None] = {}
    parts = _CODE.split(text)
    for at in range(0, len(parts), 2):
        parts[at] = _plain(parts[at], known, cited, unknown)
    return CheckedText(
        markdown="".join(parts).strip(),
        citations=tuple(Citation(number=number, hit=known[number]) for number in cited),
        unknown=tuple(unknown),
    )


def check_plain(text: str, evidence: Evidence) -> str:
    """Do the same to a part of an answer that is not code; blanks at its ends stay."""
    return _plain(text, {excerpt.number: excerpt.hit for excerpt in evidence.excerpts}, {}, {})


def _plain(text: str, known: Mapping[int, SearchHit], cited: dict[int, None], unknown: dict[int, None]) -> str:
    without_pictures = _PICTURE.sub(r"\1", text)
    rewritten = _CITED.sub(lambda found: _rewritten(found, known, cited, unknown), without_pictures)
    return _HARMFUL.sub(r"\\\g<0>", rewritten)


def _rewritten(
    found: re.Match[str], known: Mapping[int, SearchHit], cited: dict[int, None], unknown: dict[int, None]
) -> str:
    """Return what stands in place of one bracket; numbers are noted on the way."""
    kept = ""
    for number in _numbers(found.group(1)):
        if number in known:
            cited[number] = None
            kept += f"[{number}]"
        else:
            unknown[number] = None
    blanks = found.group()[: len(found.group()) - len(found.group().lstrip())]
    return blanks + kept if kept else ""


def _numbers(inside: str) -> list[int]:
    numbers: list[int] = []
    for first, last in _PART.findall(inside):
        start, stop = int(first), int(last or first)
        numbers += range(start, stop + 1) if start <= stop <= start + _LONGEST_RANGE else (start, stop)
    return numbers
