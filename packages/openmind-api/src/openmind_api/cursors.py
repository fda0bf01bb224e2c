"""Cursors: where the next page of files begins, opaque to clients."""

import base64
import binascii
from collections.abc import Sequence

from openmind.domain.files import FileRecord

from openmind_api import problems
from openmind_api.refused import Refused

_MARK = b"after:"
"""Tells a cursor from anything else that happens to be base64: it would read as a place behind the last file."""


def cursor_of(page: Sequence[FileRecord]) -> str:
    """Name the place after the last file of a page."""
    return base64.urlsafe_b64encode(_MARK + page[-1].path_bytes).decode("ascii")


def after_of(cursor: str | None) -> bytes:
    """Find the place that a cursor names.

    Raises:
        Refused: it is none of ours.
    """
    if not cursor:
        return b""
    refused = Refused(problems.invalid([("after", "it is no cursor of this API")]))
    try:
        place = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise refused from error
    if not place.startswith(_MARK):
        raise refused
    return place.removeprefix(_MARK)
