"""Tells OpenMind's own entries of its home from a stranger's, and deletes only the former."""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from openmind.adapters.home import MARKER, Home
from openmind.domain.upkeep import HomeCondition, HomeContents, HomeEntry

_JOB = r"index-.+\.log"
_LOG = r"openmind\.log(\.\d+)?|api\.jsonl(\.\d+)?|openmind-crash-.+\.log"
_FILES = re.compile(
    rf"config\.toml|openmind\.sqlite(-wal|-shm|-journal)?|api_token|notebook\.json|(index|catalog|serve)\.lock|{re.escape(MARKER)}"
    r"|\.config\.toml\..+|\.api_token\..+|\.notebook\.json\..+"
)
"""Files at the top; the last three are drafts of a process that died while it wrote."""
_FOLDERS = {
    "lancedb": re.compile(r"chunks(_\d+)?\.lance(\.broken-\d+)?"),
    "logs": re.compile(f"{_JOB}|{_LOG}"),
    "tmp": re.compile(r"worker-.+|export-.+|import-.+"),
}
"""Folders at the top, and what is OpenMind's own in each."""


@frozen
class HomeKeeper:
    """Looks at a home and tidies it."""

    folder: Path

    def contents(self) -> HomeContents:
        """List what is in the home. What vanishes meanwhile is left out; nothing is followed out of it.

        Raises:
            OSError: the home cannot be read.
        """
        own: list[HomeEntry] = []
        strangers: list[str] = []
        links: list[str] = []
        for path in _listed(self.folder):
            if path.name in _FOLDERS and path.is_dir() and not path.is_symlink():
                self._look_inside(path, own, strangers, links)
            elif path.name in _FOLDERS or _FILES.fullmatch(path.name):
                _sort(path, own, links)
            else:
                strangers.append(str(path))
        return HomeContents(own=tuple(own), strangers=tuple(strangers), links=tuple(links))

    def condition(self) -> HomeCondition:
        """Look for what may be wrong.

        Raises:
            OSError: the home cannot be read.
        """
        return HomeCondition(
            contents=self.contents(),
            open_to_others=tuple(str(path) for path in self._open_to_others()),
            leftovers=tuple(str(path) for path in self._leftovers()),
            blocked=tuple(map(str, Home(self.folder).blocked())),
            free_bytes=shutil.disk_usage(self.folder).free,
        )

    def close_to_others(self) -> int:
        """Let nobody but the owner look into anything; returns how many entries were open."""
        mended = 0
        for path in self._open_to_others():
            with suppress(OSError):
                path.chmod(0o700 if path.is_dir() else 0o600)
                mended += 1
        return mended

    def drop_leftovers(self) -> int:
        """Delete the temporary folders of processes that are gone; returns how many.

        They may hold what a worker had read when it was killed. Needs the index lock: only its holder has workers.
        """
        gone = self._leftovers()
        for path in gone:
            _delete(path)
        return len(gone)

    def logs(self) -> tuple[HomeEntry, ...]:
        """List OpenMind's own logs."""
        folder = self.folder / "logs"
        own: list[HomeEntry] = []
        if folder.is_dir() and not folder.is_symlink():
            self._look_inside(folder, own, [], [])
        return tuple(entry for entry in own if entry.path != str(folder))

    def clear_logs(self) -> int:
        """Delete OpenMind's own logs; returns how many."""
        found = self.logs()
        for entry in found:
            _delete(Path(entry.path))
        return len(found)

    def remove(self, contents: HomeContents) -> None:
        """Delete what the contents list as OpenMind's own, then the home itself if nothing is left in it.

        Raises:
            OSError: something cannot be deleted; what was deleted before is gone.
        """
        for name in (*contents.links, *(entry.path for entry in contents.own)):
            _delete(Path(name))
        for folder in (*(self.folder / name for name in _FOLDERS), self.folder):
            with suppress(OSError):  # something of a stranger's is in it
                folder.rmdir()

    def _look_inside(self, folder: Path, own: list[HomeEntry], strangers: list[str], links: list[str]) -> None:
        pattern = _FOLDERS[folder.name]
        for path in _listed(folder):
            if pattern.fullmatch(path.name):
                _sort(path, own, links)
            else:
                strangers.append(str(path))

    def _open_to_others(self) -> list[Path]:
        """What others may look into.

        Nobody gets through a closed home to what is in it, whatever its mode; only the token is looked at all the
        same, since programs copy it about. A stranger's entries are its own business.
        """
        if os.name != "posix":
            return []
        if not _is_open(self.folder):
            return [path for path in (self.folder / "api_token",) if _is_open(path)]
        own = [Path(entry.path) for entry in self.contents().own]
        folders = [self.folder / name for name in _FOLDERS]
        below = [path for top in own for path in (top, *_below(top))]
        return [self.folder, *filter(_is_open, (*folders, *below))]

    def _leftovers(self) -> list[Path]:
        """Temporary folders; while somebody indexes, some of them are in use."""
        folder = self.folder / "tmp"
        if folder.is_symlink() or not folder.is_dir():
            return []
        pattern = _FOLDERS["tmp"]
        return [path for path in _listed(folder) if pattern.fullmatch(path.name)]


def _listed(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def _sort(path: Path, own: list[HomeEntry], links: list[str]) -> None:
    if path.is_symlink():
        links.append(str(path))
    else:
        own.append(HomeEntry(path=str(path), size_bytes=_size(path)))


def _size(path: Path) -> int:
    return sum(_size_of(each) for each in (path, *_below(path)))


def _size_of(path: Path) -> int:
    with suppress(OSError):
        state = path.lstat()
        return state.st_size if stat.S_ISREG(state.st_mode) else 0
    return 0


def _below(folder: Path) -> Iterator[Path]:
    """Everything below a folder; links are not followed."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent, name)


def _is_open(path: Path) -> bool:
    try:
        state = path.lstat()
    except OSError:
        return False
    return not stat.S_ISLNK(state.st_mode) and bool(state.st_mode & 0o077)


def _delete(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
