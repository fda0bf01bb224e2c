"""Identifiers: tokens whose punctuation carries meaning, such as `E-1042`, `user@example.com` or `getUserName`.

The stream of words holds their parts. What stands here is the rest: the token as a whole, and other ways of writing it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import add

from attrs import evolve, frozen

from openmind.domain.folding import fold_case

MAX_TOKEN = 160
"""Longer tokens are data; their parts are words still."""
MAX_PIECES = 32
MAX_HUMPS = 8

JOINT = re.compile(
    r"[-_.@:/\\&+A-Z0-9]"
    r"(?:(?<=\w[-_.@:/\\&+])(?=\w)|(?<=[^\W\d_][0-9])|(?<=[0-9])(?=[^\W\d_])|(?<=[a-z][A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))"
)
"""A place within a token where it may be taken apart. The first class lets the search skip prose fast."""

_OUTSIDE = re.compile(r"[^\w\-.@:/\\&+\u0300-\u10ff\u1780-\u17ff]+")
_ASCII_PIECES = str.maketrans({code: " " for code in range(128) if _OUTSIDE.match(chr(code))})
_LEVELS = (re.compile(r"[/\\]+"), re.compile(r"[@:&+]+|[-.]{2,}"), re.compile(r"\.+"), re.compile("[-_]+"))
_EDGE = "-_.@:/\\&+"
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)([-_.\w]*)")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_NOT_ALNUM = re.compile(r"[\W_]+")
_DIGIT = re.compile("[0-9]")


@frozen
class Identifier:
    """One token, or one piece of a token, that is more than its parts."""

    whole: str = ""
    """What a query asks for first; empty when only the parts count."""
    exact: bool = False
    """Whether meeting the whole is no accident."""
    parts: tuple[str, ...] | None = None
    """What a query asks for beside the whole; None means the words between the punctuation."""
    indexed: tuple[str, ...] = ()
    """What the index holds beside those words, so that all writings are found."""


def other_writings(text: str) -> list[str]:
    """Return what folded text, its case kept, is found by beside its words."""
    flat = text.translate(_ASCII_PIECES) if text.isascii() else _OUTSIDE.sub(" ", text)
    found: list[str] = []
    position = 0
    while joint := JOINT.search(flat, position):
        at = joint.start()
        start = flat.rfind(" ", position, at) + 1 or position
        end = flat.find(" ", at)
        position = end if end >= 0 else len(flat)
        token = flat[start:position].strip(_EDGE)
        found += _known_writings(token) if len(token) <= MAX_TOKEN else _writings(token)
    return found


def _writings(token: str) -> tuple[str, ...]:
    usual = _usual(token)
    if usual:
        return (usual,)
    return tuple(word for each in _apart(token, 0) for word in each.indexed) if JOINT.search(token) else ()


_known_writings = lru_cache(maxsize=4_096)(_writings)
"""Code and tables hold the same tokens again and again."""


def _usual(token: str) -> str:
    """Give a short answer for the two kinds that prose and tables are full of: `well-known`, `3.14`."""
    left, hyphen, right = token.partition("-")
    if hyphen:
        plain = left.isalpha() and right.isalpha() and left[1:] == left[1:].lower() and right[1:] == right[1:].lower()
        return fold_case(left + right) if plain else ""
    left, dot, right = token.partition(".")
    return token if dot and left.isdecimal() and right.isdecimal() else ""


def identifiers_of(token: str) -> Iterator[Identifier]:
    """Find what is more than its parts between two blanks: each whole, then its pieces."""
    for piece in pieces_of(token):
        bare = piece.strip(_EDGE)
        if JOINT.search(bare):
            yield from _apart(bare, 0)


def pieces_of(token: str) -> list[str]:
    """Split at punctuation that is never part of an identifier: brackets, quotes, commas."""
    return [piece for piece in _OUTSIDE.split(token) if piece]


def _apart(token: str, first_level: int) -> Iterator[Identifier]:
    """Yield a token and, below it, its pieces: a path, its links, what is dotted, what is hyphenated, humps."""
    if token.isalnum():
        first_level = len(_LEVELS)
    for level in range(first_level, len(_LEVELS)):
        if level == 2 and (whole := _abbreviation(token) or _version(token)):
            yield whole
            return
        pieces = [piece for piece in _LEVELS[level].split(token) if piece]
        if len(pieces) > 1:
            if len(token) <= MAX_TOKEN:
                yield _WHOLES[level](token, pieces)
            for piece in pieces[:MAX_PIECES]:
                yield from _apart(piece.strip(_EDGE), level + 1)
            return
    if JOINT.search(token):
        yield _humps(token)


def _path(token: str, pieces: list[str]) -> Identifier:
    r"""Tell `C:\Users` and `a/b/c` from `and/or`."""
    return _literal(token) if "\\" in token or len(pieces) > 2 or _has_digit(token) else Identifier()


def _linked(token: str, pieces: list[str]) -> Identifier:
    """Tell `me@example.com`, `std::vector`, `AT&T` and `12:30` from `note:this`."""
    return _literal(token) if "@" in token or "&" in token or "::" in token or _has_digit(token) else Identifier()


def _dotted(token: str, pieces: list[str]) -> Identifier:
    whole = _literal(token)
    if len(pieces) == 2:
        return whole
    # `example.com` finds `www.example.com`.
    return evolve(whole, indexed=(whole.whole, ".".join(whole.whole.split(".")[-2:])))


def _abbreviation(token: str) -> Identifier | None:
    """Read `U.S.A.` as one word."""
    if not _ABBREVIATION.fullmatch(token):
        return None
    joined = fold_case(token.replace(".", ""))
    return Identifier(joined, parts=(), indexed=(joined,))


def _version(token: str) -> Identifier | None:
    """Let `v1.0.21` and `1.0.21` be one, and `1.0` find both. A decimal number is the shortest of them."""
    version = _VERSION.fullmatch(token) if len(token) <= MAX_TOKEN else None
    if not version:
        return None
    number, rest = version.groups()
    numbers = number.split(".")
    whole = fold_case(number + rest)
    prefixes = tuple(".".join(numbers[:size]) for size in range(2, len(numbers) + bool(rest)))
    exact = len(numbers) > 2 or bool(rest) or token[0] in "vV"
    return Identifier(whole, exact=exact, parts=(), indexed=(whole, *prefixes))


def _hyphenated(token: str, pieces: list[str]) -> Identifier:
    folded = fold_case(token)
    joined: tuple[str, ...] = ("".join(_LEVELS[3].split(folded)),) if len(pieces) == 2 else ()
    if token.replace("-", "").isalpha():
        # `e-mail` is `email`; but who writes `well-known` may mean `well known`.
        return Identifier(joined[0] if joined and len(pieces[0]) <= 2 else "", indexed=joined)
    date = _DATE.match(folded)
    if date:
        year, month, day = date.groups()
        joined = (year + month + day, f"{year}-{month}")
    elif not pieces[0].isalpha():
        joined = ()
    return Identifier(folded, exact=_is_exact(token), indexed=(folded, *joined))


_WHOLES = (_path, _linked, _dotted, _hyphenated)


def _literal(token: str) -> Identifier:
    folded = fold_case(token)
    return Identifier(folded, exact=_is_exact(token), indexed=(folded,))


def _humps(token: str) -> Identifier:
    """Take `getUserName` and `mp3` apart; a hash has too many parts to mean any of them."""
    folded = fold_case(token)
    humps = [fold_case(hump) for hump in _HUMPS.findall(token)]
    # Among the words it stands as it is, unless it is of a script whose words are stemmed.
    whole = () if folded.isascii() else (folded,)
    if len(humps) > MAX_HUMPS:
        return Identifier(folded, exact=True, parts=(), indexed=whole)
    humps_told = tuple(hump for hump in humps if len(hump) > 1 or hump.isdigit())
    neighbours = tuple(map(add, humps, humps[1:])) if len(humps) > 2 else ()
    # `YouTube` is one name, not `you` and `tube`; `getUserName` says three things.
    asked = humps_told if len(humps) > 2 or token[0].isdigit() else ()
    return Identifier(folded, exact=_is_exact(token), parts=asked, indexed=whole + humps_told + neighbours)


def _has_digit(token: str) -> bool:
    return _DIGIT.search(token) is not None


def _is_exact(token: str) -> bool:
    """Whether the token would hardly stand in two texts by accident."""
    bare = _NOT_ALNUM.sub("", token)
    if bare.isdigit():
        return len(bare) >= 5
    if not _has_digit(bare):
        return True
    return len(bare) >= 3 and not re.fullmatch(r"\d+[^\W\d_]{1,3}", bare)
