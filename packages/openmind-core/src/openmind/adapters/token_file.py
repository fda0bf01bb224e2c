"""The file that holds the token of the loopback API."""

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from attrs import frozen

from openmind.adapters.atomic import sync_folder
from openmind.domain.errors import HomeUnusable

MIN_CHARS = 32
MAX_BYTES = 4_096
ROTATE = "Make a new token: `openmind api token --rotate`."
_TOKEN = re.compile(rf"[\x21-\x7e]{{{MIN_CHARS},}}")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def new_token() -> str:
    """Make a token of 32 random bytes, without a dash at its beginning, which commands take for an option."""
    return next(token for token in iter(partial(secrets.token_urlsafe, 32), "") if token[0].isalnum())


@frozen
class TokenFile:
    """Keeps the token. Processes that make it at the same time agree on one; nobody ever reads half of it."""

    path: Path
    new_token: Callable[[], str] = new_token

    def ensure(self) -> str:
        """Read the token; make it first when there is none.

        Raises:
            HomeUnusable: the file cannot be trusted, made or read.
        """
        known = self.read()
        if known is not None:
            return known
        with _told(self.path):
            self._put_first(self._draft(self.new_token()))
        made = self.read()
        if made is None:
            raise HomeUnusable(f"{self.path} was deleted while it was made", hint="Try again.")
        return made

    def rotate(self) -> str:
        """Replace the token by a new one and return that.

        Raises:
            HomeUnusable: the file cannot be written; the former token is still there.
        """
        token = self.new_token()
        with _told(self.path):
            draft = self._draft(token)
            try:
                draft.replace(self.path)
            finally:
                draft.unlink(missing_ok=True)
            sync_folder(self.path.parent)
        return token

    def read(self) -> str | None:
        """Read the token; None when there is none.

        Raises:
            HomeUnusable: it is a link, belongs to or can be read by others, or holds no token.
        """
        try:
            number = os.open(self.path, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT)
            try:
                self._check(os.fstat(number))
                data = os.read(number, MAX_BYTES)
            finally:
                os.close(number)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self.path, error) from error
        token = data.decode("utf-8", "replace").strip()
        if not _TOKEN.fullmatch(token):
            raise HomeUnusable(f"{self.path} holds no token", hint=ROTATE)
        return token

    def _draft(self, token: str) -> Path:
        """Write a token beside the file, readable for its owner only from the first moment."""
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        number = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_FOLLOW, 0o600)
        try:
            with os.fdopen(number, "w", encoding="ascii") as file:
                file.write(f"{token}\n")
                file.flush()
                os.fsync(file.fileno())
        except BaseException:  # as on a full disk
            draft.unlink(missing_ok=True)
            raise
        return draft

    def _put_first(self, draft: Path) -> None:
        """Give a draft the file's name, unless another process was faster: then its token counts."""
        try:
            os.link(draft, self.path)  # unlike a rename, this never replaces anything
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            if not self.path.exists():
                draft.replace(self.path)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise HomeUnusable(f"{self.path} is no regular file", hint=ROTATE)
        if os.name == "posix" and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            raise HomeUnusable(f"{self.path} belongs to or can be read by others", hint=ROTATE)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Translate what the file system says."""
    try:
        yield
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> HomeUnusable:
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return HomeUnusable(f"{path} is a link", hint=ROTATE)
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    hint = "Free some disk space, and try again." if full else "Check the permissions of its folder."
    return HomeUnusable(f"{path} cannot be used: {error.strerror or error}", hint=hint)
