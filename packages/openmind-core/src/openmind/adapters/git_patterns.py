"""The patterns of `.gitignore`, read as git's `wildmatch` reads them, and matched in polynomial time.

Two differences: `?` and `[...]` stand for whole characters, where git takes single bytes; and an escaped slash is an
ordinary one, also behind `**`.
"""

import re
import string
from collections.abc import Callable, Iterable
from itertools import groupby

from attrs import frozen

Opinion = Callable[[str], bool | None]
"""Says of a path (a folder's ends with `/`) whether it is left out, brought back, or not spoken of."""

_NO_SLASH = "[^/]"
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, range(32))) + "\x7f",
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


@frozen
class _Kind:
    """What patterns have in common that can be tried at once."""

    leaves_out: bool
    only_folders: bool
    by_name: bool
    """Whether it speaks of the last part of a path alone."""


class _Matchless(Exception):
    """The pattern is none: it names nothing, in git neither."""


def opinion_of(lines: Iterable[str]) -> Opinion:
    """Read the lines of an ignore file; the last one that speaks of a path decides.

    A pattern speaks of what it names, not of what is below: folders are looked at before what they hold.
    """
    patterns = [pattern for pattern in map(_pattern, lines) if pattern is not None]
    tries: list[tuple[_Kind, re.Pattern[str]]] = [
        (kind, re.compile("|".join(f"(?:{regex})" for _, regex in run), re.DOTALL))
        for kind, run in groupby(patterns, key=lambda pattern: pattern[0])
    ]
    tries.reverse()

    def opinion(path: str) -> bool | None:
        folder = path.endswith("/")
        path = path.removesuffix("/")
        name = path.rpartition("/")[2]
        for kind, regex in tries:
            if (folder or not kind.only_folders) and regex.fullmatch(name if kind.by_name else path):
                return kind.leaves_out
        return None

    return opinion


def _pattern(line: str) -> tuple[_Kind, str] | None:
    """Read a line; None where it is a comment or no pattern."""
    line = _without_blanks(line.partition("\0")[0])
    if line.startswith("#"):
        return None
    brings_back = line.startswith("!")
    glob = line[1:] if brings_back else line
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    kind = _Kind(leaves_out=not brings_back, only_folders=only_folders, by_name="/" not in glob)
    try:
        return (kind, _Glob(glob.removeprefix("/")).regex()) if glob else None
    except _Matchless:
        return None


def _without_blanks(line: str) -> str:
    """Cut the blanks, and blanks alone, from the end; one behind a backslash is part of the pattern."""
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + 1] if backslashes % 2 else bare


class _Glob:
    """Translates one pattern.

    Between two stars the leftmost place is as good as any other, so what was found there is kept (`(?>...)`): trying
    every combination of places would take for ever with a handful of stars.
    """

    def __init__(self, glob: str) -> None:
        self._glob = glob
        self._at = 0

    def regex(self) -> str:
        """Give an expression for whole paths without the `/` at the end of a folder's."""
        stretches: list[str] = []
        segments: list[str] = []
        chunks = [""]
        deep_end = False
        while self._at < len(self._glob):
            if self._glob[self._at] == "*":
                stars = self._stars()
                if not (stars > 1 and chunks == [""] and self._peek() in {"", "/"}):
                    chunks.append("")
                elif self._peek():
                    self._at += 1
                    stretches.append("".join(segments))
                    segments = []
                else:
                    deep_end = True
            elif self._glob.startswith(("/", "\\/"), self._at):
                self._at = self._glob.index("/", self._at) + 1
                segments.append(_segment(chunks) + "/")
                chunks = [""]
            else:
                chunks[-1] += self._character()
        stretches.append("".join(segments) + (".+" if deep_end else _segment(chunks)))
        return _path(stretches)

    def _peek(self) -> str:
        return self._glob[self._at : self._at + 1]

    def _take(self) -> str:
        """Take a character.

        Raises:
            _Matchless: the pattern is at its end.
        """
        taken = self._peek()
        if not taken:
            raise _Matchless
        self._at += 1
        return taken

    def _stars(self) -> int:
        begin = self._at
        while self._peek() == "*":
            self._at += 1
        return self._at - begin

    def _character(self) -> str:
        """What stands for one character."""
        character = self._take()
        if character == "?":
            return _NO_SLASH
        if character == "[":
            return self._set()
        return re.escape(self._take() if character == "\\" else character)

    def _set(self) -> str:
        negated = self._peek() in {"!", "^"}
        self._at += negated
        members: list[str] = []
        before = ""
        """What a range can begin with."""
        while True:
            character = self._take()
            if character == "-" and before and self._peek() not in {"", "]"}:
                last = self._escaped()
                if before <= last:
                    members.append(f"{re.escape(before)}-{re.escape(last)}")
                before = ""
            elif character == "[" and self._peek() == ":" and (named := self._class()) is not None:
                members.append(re.escape(named))
                before = ""
            else:
                self._at -= 1
                before = self._escaped()
                members.append(re.escape(before))
            if self._peek() == "]":
                self._at += 1
                break
        if negated:
            return f"[^/{''.join(members)}]"
        return f"(?!/)[{''.join(members)}]" if members else "(?!)"

    def _escaped(self) -> str:
        character = self._take()
        return self._take() if character == "\\" else character

    def _class(self) -> str | None:
        """What a class such as `[:alpha:]` stands for; None where it is none after all.

        Raises:
            _Matchless: no class has that name, or nothing closes the set.
        """
        end = self._glob.find("]", self._at + 1)
        if end < 0:
            raise _Matchless
        name = self._glob[self._at + 1 : end]
        if not name.endswith(":"):
            return None
        if name[:-1] not in _CLASSES:
            raise _Matchless
        self._at = end + 1
        return _CLASSES[name[:-1]]


def _segment(chunks: list[str]) -> str:
    """Put stars between the chunks of one part of a path."""
    if len(chunks) == 1:
        return chunks[0]
    first, *middle, last = chunks
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in middle if chunk) + f"[^/]*{last}"


def _path(stretches: list[str]) -> str:
    """Put any number of folders between stretches of a path; all but the last end with a slash, or are empty."""
    if len(stretches) == 1:
        return stretches[0]
    first, *middle, last = stretches
    return first + "".join(f"(?>(?:.*?/)??{stretch})" for stretch in middle if stretch) + f"(?:.*/)?{last}"
