"""`.gitignore`, `.openmindignore` and the patterns of the configuration, each from its folder downwards."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from attrs import evolve, frozen

from openmind.adapters.ignore_rules import is_noise, is_secret

GIT_FILE = b".gitignore"
OWN_FILE = b".openmindignore"
MAX_BYTES = 256 * 1024

_STARS = re.compile(r"\*+")
_MAX_STARS = 3
_FOLDER_MARK = "(?P<ps_d>/)"
"""Stands in pathspec's expressions behind what a pattern names."""


@frozen
class PatternSet:
    """Patterns of one ignore file."""

    folder: bytes
    """The folder they are relative to, with a `/` at its end."""
    match: Callable[[str], bool | None]

    def opinion(self, path: bytes) -> bool | None:
        """Say whether a path (a folder's ends with `/`) is left out, brought back, or not spoken of."""
        return self.match(os.fsdecode(path[len(self.folder) :]))


@frozen(kw_only=True)
class IgnoreRules:
    """What is left out of one folder.

    Git's files can only leave out more. OpenMind's own file may also bring back what is noisy or hidden, the
    configuration even what is secret.
    """

    configured: PatternSet | None = None
    git: tuple[PatternSet, ...] = ()
    own: tuple[PatternSet, ...] = ()

    @classmethod
    def of(cls, root: bytes, patterns: Iterable[str]) -> IgnoreRules:
        """Make the rules of a source from the patterns in the configuration."""
        lines = tuple(patterns)
        return cls(configured=PatternSet(root, _compile(lines)) if lines else None)

    def inside(self, folder: bytes, names: list[bytes], read: Callable[[bytes], bytes]) -> IgnoreRules:
        """Make the rules of a folder below.

        Args:
            folder: its path, with `/`.
            names: what it holds.
            read: gives the first `MAX_BYTES` bytes of an ignore file.
        """
        rules = self
        if GIT_FILE in names:
            rules = evolve(rules, git=(*rules.git, PatternSet(folder, _parse(read(folder + GIT_FILE)))))
        if OWN_FILE in names:
            rules = evolve(rules, own=(*rules.own, PatternSet(folder, _parse(read(folder + OWN_FILE)))))
        return rules

    def leave_out(self, path: bytes, name: bytes, *, folder: bool, generated: frozenset[bytes]) -> bool:
        """Whether a file, or a folder whose path ends with `/`, is left out.

        Args:
            path: the whole path.
            name: its last part, without `/`.
            folder: whether it is one.
            generated: folder names that mean generated files here.
        """
        wish = self.configured.opinion(path) if self.configured else None
        if is_secret(name, folder=folder):
            return wish is not False
        wish = _last_word(self.own, path, wish)
        if wish is not None:
            return wish
        if is_noise(name, folder=folder) or (folder and name in generated):
            return True
        return bool(self.git) and _last_word(self.git, path, None) is True


def _last_word(sets: tuple[PatternSet, ...], path: bytes, before: bool | None) -> bool | None:
    for patterns in reversed(sets):
        opinion = patterns.opinion(path)
        if opinion is not None:
            return opinion
    return before


def _parse(data: bytes) -> Callable[[str], bool | None]:
    if len(data) >= MAX_BYTES:
        data = data[: data.rfind(b"\n") + 1]  # the last line may have been cut
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return _compile(line.removesuffix("\r") for line in text.split("\n"))


def _compile(lines: Iterable[str]) -> Callable[[str], bool | None]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # waits for the first ignore file: many have none

    patterns: list[tuple[re.Pattern[str], bool]] = []
    for line in lines:
        if not _is_affordable(line):
            continue
        try:
            pattern = GitIgnoreSpecPattern(line)
        except (ValueError, re.error):  # git, too, passes over a line that is no pattern
            continue
        if pattern.regex is not None and pattern.include is not None:
            patterns.append((_of_the_path_itself(pattern.regex), pattern.include))
    patterns.reverse()  # the last word counts
    return lambda path: next((include for regex, include in patterns if regex.search(path)), None)


def _of_the_path_itself(regex: re.Pattern[str]) -> re.Pattern[str]:
    """Let a pattern speak of what it names and no more.

    pathspec's also match all that is below a folder. Here folders are looked at before what they hold, as in git: a
    folder that is left out is not entered, and one that is brought back brings nothing back of what is in it.
    """
    written = regex.pattern
    if _FOLDER_MARK in written:
        return re.compile(rf"{written}\Z", regex.flags)
    return re.compile(rf"{written}(?s:.+)\Z", regex.flags) if written.endswith("/") else regex


def _is_affordable(line: str) -> bool:
    """Whether matching stays fast: each star multiplies the work by the length of the name."""
    parts = line.split("/")
    stars = sum(len(_STARS.findall(part)) for part in parts if part != "**")
    return stars <= _MAX_STARS and parts.count("**") <= _MAX_STARS
