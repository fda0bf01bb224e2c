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
    recognising: bool = False
    """Whether OCR is at that file, whose page is then named behind it: files are no measure of the pace now."""
    notice: str = ""
    """A sentence for the person, once."""


EventSink = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """Listen to nothing."""
