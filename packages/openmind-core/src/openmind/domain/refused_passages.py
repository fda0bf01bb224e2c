"""Passages that an embedding model cannot take: what the record of their file says of them until they are mended."""

import re

from attrs import evolve, frozen

from openmind.domain.files import FileReason, FileRecord
from openmind.domain.sentences import as_message, as_sentence

_BEGINNING = "The embedding model fails at "
_COUNT = re.compile(f"{_BEGINNING}(one|[0-9,]+) of its passages")
_TOUCHED = frozenset({FileReason.OK, FileReason.PARTIAL})
"""Of any other file something worse is to be told."""


@frozen
class RefusedPassages:
    """How many passages of a file were refused, and what was said of one of them."""

    count: int
    why: str = ""

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def sentence(self) -> str:
        passages = "one of its passages" if self.count == 1 else f"{self.count:,} of its passages"
        return f"{_BEGINNING}{passages}, found by words alone: {self.why or 'it refused the text'}"


def marked(record: FileRecord, refused: RefusedPassages) -> FileRecord:
    """Say in a record what its embedding model refuses, in place of what was said of that before."""
    if record.reason not in _TOUCHED or not (refused or is_marked(record)):
        return record
    before = as_message(record.error.partition(_BEGINNING)[0])
    if not refused:
        return evolve(record, reason=record.reason if before else FileReason.OK, error=before)
    error = f"{as_sentence(before)} {refused.sentence}" if before else refused.sentence
    return evolve(record, reason=FileReason.PARTIAL, error=error)


def is_given_up(record: FileRecord) -> bool:
    """Whether every passage that lacks a vector was refused: it would be again, until the text or the model changes."""
    told = _COUNT.search(record.error) if is_marked(record) else None
    refused = 0 if told is None else 1 if told[1] == "one" else int(told[1].replace(",", ""))
    return 0 < record.missing_vectors <= refused


def is_marked(record: FileRecord) -> bool:
    """Whether a record says that some passages were refused."""
    return record.reason is FileReason.PARTIAL and _BEGINNING in record.error
