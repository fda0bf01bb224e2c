"""What discovery concludes from a file's metadata and what the catalog knows of it."""

from enum import StrEnum

from attrs import frozen

from openmind.domain.files import DESCRIBED, WITHOUT_OCR, FileReason, FileRecord, FileStat


class ChangeKind(StrEnum):
    """What discovery found out about a file."""

    NEW = "new"
    CHANGED = "changed"
    """Size, date or time of change differ."""
    SUSPECT = "suspect"
    """It may have changed without its metadata showing it: the hash decides."""
    RETRY = "retry"
    """It failed for a reason that may have passed."""
    REREAD = "reread"
    """What read it is there in a newer version, or the index is made in another way."""
    GONE = "gone"


@frozen(kw_only=True)
class Reader:
    """How a file would be read and laid out today."""

    extractor: str
    """Key of the extractor, `markdown/1`, `image/1+model`; empty when nothing reads this kind of file any more."""
    layout: str
    """Versions of chunking and analyser."""
    ocr: bool = True
    """Whether OCR may be used."""
    max_bytes: int = 2**63
    """Larger files are not read."""


def reads_alike(known: str, today: str, *, ocr: bool = True) -> bool:
    """Whether what one extractor key stands for is what another gives today.

    A description of a picture stays true when nobody describes pictures any more, and so does what OCR read.

    Args:
        known: key that a file was read under.
        today: key that it would be read under.
        ocr: whether OCR may be used today.
    """
    if known.endswith(WITHOUT_OCR):
        if ocr:
            return False
        known = known.removesuffix(WITHOUT_OCR)
    return known == today or (DESCRIBED not in today and known.startswith(today + DESCRIBED))


def classify(stat: FileStat, known: FileRecord | None, today: Reader, *, retry: bool = False) -> ChangeKind | None:
    """Compare a file with its record; None means that nothing has to be done.

    Args:
        stat: of the file as it is.
        known: what the catalog knows of it.
        today: how it would be read.
        retry: whether a person asks that what failed for want of time or memory be tried again.
    """
    if known is None:
        return ChangeKind.NEW
    if not stat.looks_like(known.stat):
        return ChangeKind.CHANGED
    if known.reason.retried or (retry and known.reason.retried_when_saved):
        return ChangeKind.RETRY
    if known.is_racy():
        return ChangeKind.SUSPECT
    if known.reason is FileReason.TOO_BIG:
        return ChangeKind.REREAD if stat.size <= today.max_bytes else None
    if not reads_alike(known.extractor, today.extractor, ocr=today.ocr):
        return ChangeKind.REREAD
    if known.chunk_count and (known.live_generation is None or known.layout != today.layout):
        return ChangeKind.REREAD
    return None


GUARD_MIN_FILES = 50
GUARD_SHARE = 0.3
"""More files than the first number, and more than this share of a source, gone at once: more likely an accident of
mounting or syncing than a wish."""


def deletions_need_consent(*, gone: int, known: int, found: int, device_changed: bool) -> bool:
    """Whether files that are gone stay in memory until a person confirms.

    Args:
        gone: files that the catalog knows and the folder no longer has, moved ones not counted.
        known: files of the source that the catalog knew before.
        found: files that the scan found.
        device_changed: whether the folder is on another device than before.
    """
    if not gone:
        return False
    if device_changed or found == 0:
        return True
    return gone > GUARD_MIN_FILES and gone > known * GUARD_SHARE
