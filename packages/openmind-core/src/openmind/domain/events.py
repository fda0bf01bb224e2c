"""What a long work tells while it is under way."""

from collections.abc import Callable

from attrs import frozen

from openmind.domain.jobs import IndexTally, JobState


@frozen(kw_only=True)
class Progress:
    """How far a run is. Numbers only grow."""

    state: JobState
    tally: IndexTally
    current_file: str = ""
    """Path of the file that is waited for."""
    recognising: bool = False
    """Whether OCR is at that file: files are no measure of the pace now."""
    page: int = 0
    """The page that OCR is at, from 1; 0 for what has no pages."""
    pages: int = 0
    """How many the file has; 0 where that is not known."""
    per_second: float = 0.0
    """Files, or once every file is read passages, since it began or went on; 0.0 while that is not known."""
    notice: str = ""
    """A sentence for the person, once."""


EventSink = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """Listen to nothing."""
