"""`.gitignore`, `.openmindignore` and the patterns of the configuration, each from its folder downwards."""

import os
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Self

from attrs import evolve, frozen

from openmind.adapters.git_patterns import Opinion, opinion_of
from openmind.adapters.ignore_rules import is_noise, is_secret
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason

GIT_FILE = b".gitignore"
OWN_FILE = b".openmindignore"
MAX_BYTES = 256 * 1024
MAX_LINES = 5_000
"""More lines than any person wrote: every file of the folder would be compared with each."""


@frozen
class PatternSet:
    """Patterns of one ignore file."""

    folder: bytes
    """The folder they are relative to, with a `/` at its end."""
    match: Opinion

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
    def of(cls, root: bytes, patterns: Iterable[str]) -> Self:
        """Make the rules of a source from the patterns in the configuration."""
        lines = tuple(patterns)
        return cls(configured=PatternSet(root, opinion_of(lines)) if lines else None)

    def inside(self, folder: bytes, names: list[bytes], read: Callable[[bytes], bytes]) -> Self:
        """Make the rules of a folder below.

        Args:
            folder: its path, with `/`.
            names: what it holds.
            read: gives an ignore file; of more than `MAX_BYTES` bytes only that there are more.

        Raises:
            ExtractionFailed: there are rules in the folder that cannot be used; the message says which.
        """
        rules = self
        if GIT_FILE in names:
            rules = evolve(rules, git=(*rules.git, _patterns(folder, GIT_FILE, read)))
        if OWN_FILE in names:
            rules = evolve(rules, own=(*rules.own, _patterns(folder, OWN_FILE, read)))
        return rules

    def within(self, repository: Iterable[bytes], root: bytes, read: Callable[[bytes], bytes]) -> Self:
        """Add what git leaves out of a source that lies in a repository.

        Where git leaves out the source itself, as in a home whose settings alone are kept in git, its rules say nothing
        of a folder that a person approved.

        Args:
            repository: the folders above the source that are in the repository, outermost first, with `/`.
            root: the source, with `/`.
            read: as for `inside`; gives nothing of a file that is not there.

        Raises:
            ExtractionFailed: as `inside`.
        """
        git: tuple[PatternSet, ...] = ()
        for folder, below in pairwise([*repository, root]):
            git = (*git, _patterns(folder, GIT_FILE, read))
            if _last_word(git, below, None):
                return self
        return evolve(self, git=git)

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


def _patterns(folder: bytes, name: bytes, read: Callable[[bytes], bytes]) -> PatternSet:
    return PatternSet(folder, _parse(read(folder + name), name))


def _last_word(sets: tuple[PatternSet, ...], path: bytes, before: bool | None) -> bool | None:
    for patterns in reversed(sets):
        opinion = patterns.opinion(path)
        if opinion is not None:
            return opinion
    return before


def _parse(data: bytes, name: bytes) -> Opinion:
    """Read an ignore file.

    Raises:
        ExtractionFailed: it is too large to be gone through for every file; half of it would show what the other half
            keeps out.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    if len(data) > MAX_BYTES or len(lines) > MAX_LINES:
        told = f"its {os.fsdecode(name)} has more than {MAX_BYTES // 1024} KB or {MAX_LINES:,} lines"
        raise ExtractionFailed(told, reason=FileReason.TOO_BIG)
    return opinion_of(line.removesuffix("\r") for line in lines)
