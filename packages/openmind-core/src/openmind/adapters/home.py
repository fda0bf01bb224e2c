"""OpenMind's own folder: where it is, whether it may be used, what is in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from openmind.application.path_arguments import path_text
from openmind.domain.errors import HomeForeign, HomeMissing, HomeUnsafe, HomeUnusable
from openmind.domain.paths import HOME_MARKER

MARKER = HOME_MARKER
"""A folder with this file is OpenMind's; nothing else is ever written to or deleted."""
MARKER_TEXT = b"This folder belongs to OpenMind. `openmind uninstall` removes it.\n"
CATALOG = "openmind.sqlite"
"""Homes older than the marker are recognised by it."""
PASSAGES = "lancedb"
FOLDERS = (PASSAGES, "logs", "tmp")
LOCKS = ("index.lock", "catalog.lock", "serve.lock")


def default_home() -> Path:
    """Return `$OPENMIND_HOME`, or `~/.openmind`."""
    named = os.environ.get("OPENMIND_HOME", "").strip()
    return Path(named).expanduser() if named else Path.home() / ".openmind"


@frozen
class Home:
    """The folder that holds everything OpenMind keeps."""

    folder: Path

    @classmethod
    def at(cls, path: Path | str | None) -> "Home":
        """Name a home; nothing is looked at yet.

        Raises:
            UsageError: the path is none.
        """
        chosen = default_home() if path is None else Path(path_text(path, "the home")).expanduser()
        return cls(Path(os.path.abspath(chosen)))  # noqa: PTH100  `resolve` would follow links before we have looked

    @property
    def config_file(self) -> Path:
        return self.folder / "config.toml"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def token_file(self) -> Path:
        return self.folder / "api_token"

    @property
    def notebook(self) -> Path:
        """What providers learnt about their models."""
        return self.folder / "notebook.json"

    @property
    def serve_lock(self) -> Path:
        return self.folder / "serve.lock"

    @property
    def is_marked(self) -> bool:
        """Whether the marker is there; False also where nobody may look."""
        try:
            return (self.folder / MARKER).is_file()
        except OSError:
            return False

    @property
    def has_catalog(self) -> bool:
        """Whether the catalog of the storage that comes with OpenMind is there."""
        return (self.folder / CATALOG).is_file()

    def require(self) -> None:
        """Refuse to go on when there is no home.

        Raises:
            HomeMissing, HomeForeign, HomeUnusable
        """
        self.check()
        with self._readable():
            if not self._is_ours():
                raise HomeMissing(
                    f"There is no memory at {self.folder} yet", hint="Make one: `openmind source add FOLDER`."
                )
            self._refuse_lost_catalog()

    def check(self) -> None:
        """Refuse a folder that is not OpenMind's; one that is missing or empty may become it.

        Raises:
            HomeForeign, HomeUnusable
        """
        if os.path.lexists(self.folder):
            with self._readable():
                self._refuse_foreign()

    def create(self) -> None:
        """Make the home, or what is missing of it. What is there stays.

        Raises:
            HomeUnsafe: the path is a file-system root or the person's own home folder.
            HomeForeign: the folder has content and is not OpenMind's.
            HomeMissing: its catalog is gone while passages are there.
            HomeUnusable: it cannot be made or written.
        """
        self._refuse_unsafe()
        self.check()
        with self._readable():
            self._refuse_lost_catalog()
            was_ours = self._is_ours()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (self.folder / MARKER).exists():
                self.folder.chmod(0o700)
                self._write_marker()
            for folder in (self.logs, self.temporary):
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            if was_ours and self._is_read_only(error):
                return  # an existing memory can still be searched
            raise HomeUnusable(
                f"{error.filename or self.folder} cannot be used: {error.strerror or error}",
                hint="Move it away: a folder belongs there."
                if isinstance(error, FileExistsError)
                else "Check its permissions, or set OPENMIND_HOME to another folder.",
            ) from error

    def blocked(self) -> tuple[Path, ...]:
        """What stands where a folder of OpenMind's belongs and is none, or is a folder where a lock belongs."""
        folders, locks = map(self.folder.joinpath, FOLDERS), map(self.folder.joinpath, LOCKS)
        no_folders = (path for path in folders if os.path.lexists(path) and not path.is_dir())
        return (*no_folders, *(path for path in locks if path.is_dir()))

    def refuse_blocked(self) -> None:
        """Refuse to begin with what could not be finished.

        Raises:
            HomeUnusable: something stands in the way of what is to be written.
        """
        with self._readable():
            blocked = self.blocked()
        if blocked:
            belongs = "file" if blocked[0].name in LOCKS else "folder"
            raise HomeUnusable(
                f"{blocked[0]} is in the way: a {belongs} of OpenMind's belongs there",
                hint="Move it away, then try again.",
            )

    def _refuse_lost_catalog(self) -> None:
        """Take passages without a catalog for a loss, and never for a memory that begins."""
        catalog, passages = self.folder / CATALOG, self.folder / PASSAGES
        if passages.is_dir() and not (catalog.is_file() and catalog.stat().st_size):
            raise HomeMissing(
                f"The catalog {catalog} is gone, and with it what was remembered",
                hint=f"Put it back from a backup. To begin anew, move {passages} away, then run "
                "`openmind source add FOLDER`.",
            )

    def _write_marker(self) -> None:
        number = os.open(self.folder / MARKER, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(MARKER_TEXT)

    def _is_ours(self) -> bool:
        return (self.folder / MARKER).is_file() or (self.folder / CATALOG).is_file()

    def _is_read_only(self, error: OSError) -> bool:
        return isinstance(error, PermissionError) or "Read-only" in (error.strerror or "")

    def _refuse_unsafe(self) -> None:
        if self.folder in {Path(self.folder.anchor), Path.home()}:
            raise HomeUnsafe(
                f"{self.folder} cannot be OpenMind's folder", hint="Set OPENMIND_HOME to a folder of its own."
            )

    def _refuse_foreign(self) -> None:
        if not self.folder.is_dir():
            raise HomeForeign(f"{self.folder} is not a folder", hint="Set OPENMIND_HOME to an empty or a new folder.")
        if not self._is_ours() and any(self.folder.iterdir()):
            raise HomeForeign(
                f"{self.folder} holds files that are not OpenMind's",
                hint="Set OPENMIND_HOME to an empty or a new folder.",
            )

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Tell of a folder that cannot be looked into; whether a file is there, nobody knows then."""
        try:
            yield
        except OSError as error:
            raise HomeUnusable(
                f"{self.folder} cannot be read: {error.strerror or error}", hint="Check its permissions."
            ) from error
