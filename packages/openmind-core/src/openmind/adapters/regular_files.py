"""Opens files that may be anything: only regular ones, without waiting, without following links."""

import errno
import os
import stat

from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO without a writer would block for ever
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)

_VANISHED = {errno.ENOENT, errno.ENOTDIR, errno.ESTALE}
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""What is wrong with this process or this machine, and not with a file."""
_REFUSED = {errno.EACCES, errno.EPERM}
_UNSUPPORTED = {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.ENAMETOOLONG}


def reason_of(error: OSError) -> FileReason:
    """Translate a failure of the file system; what is not understood counts as denied and is tried again."""
    if error.errno in _VANISHED:
        return FileReason.VANISHED
    return FileReason.UNSUPPORTED if error.errno in _UNSUPPORTED else FileReason.DENIED


def sentence_of(error: OSError, subject: str) -> str:
    """Say what is wrong with `subject`, such as `the folder`, so that a person understands it."""
    if error.errno in _VANISHED:
        return f"{subject} is not there any more"
    if error.errno in _REFUSED:
        return f"{subject} may not be read"
    if error.errno == errno.ENAMETOOLONG:
        return f"the path of {subject} is longer than the system can open"
    if error.errno in _UNSUPPORTED:
        return f"{subject} is a link or a device"
    return f"{subject} cannot be read: {error.strerror or type(error).__name__}"


def open_regular(path: bytes) -> int:
    """Open a regular file for reading and return its descriptor.

    Raises:
        ExtractionFailed: `vanished`, `denied`, or `unsupported` for what is no regular file or is reached by a link.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise ExtractionFailed(sentence_of(error, "the file"), reason=reason_of(error), hint=_hint(error)) from error
    except ValueError as error:  # a NUL byte in the path
        raise ExtractionFailed("no file has such a name", reason=FileReason.UNSUPPORTED) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ExtractionFailed("It is no regular file", reason=FileReason.UNSUPPORTED)
    if not _stands_at(descriptor, path):
        os.close(descriptor)
        raise ExtractionFailed("A folder on the way to the file has become a link", reason=FileReason.VANISHED)
    return descriptor


def _hint(error: OSError) -> str:
    if error.errno in _REFUSED:
        return "Give your account the right to read it, or leave it out with a line in .openmindignore."
    return ""


def _stands_at(descriptor: int, path: bytes) -> bool:
    """Whether no folder of the path is a link: `O_NOFOLLOW` only watches the last part."""
    try:
        if os.readlink(b"/proc/self/fd/%d" % descriptor) == path:  # noqa: PTH115  the path is bytes
            return True
    except OSError:  # no /proc here
        pass
    folder = path.rpartition(b"/")[0] or b"/"
    return os.path.normcase(os.path.realpath(folder)) == os.path.normcase(folder)
