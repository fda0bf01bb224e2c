"""Pace: how fast a run goes, and how long the rest will take."""

from collections import deque

from attrs import define, field, frozen

from openmind.domain.jobs import IndexTally

TOO_SOON_S = 2.0
"""Before that, a rate says more about the start than about the work."""
WINDOW_S = 60.0
"""What was done longer ago says little about now: text comes first, scans last."""
SILENCE_S = 30.0
"""Work that is counted comes at least this often; a longer silence makes the rate smaller."""


@frozen(kw_only=True)
class Pace:
    """How fast it goes: files are read first, then passages that have none get their vectors."""

    files_per_s: float = 0.0
    vectors_per_s: float = 0.0
    """Above 0 once every file is read."""
    seconds_left: float


def pace_of(tally: IndexTally, per_second: float) -> Pace | None:
    """Tell how long the rest will take; None while the rate is not known, or nothing is left."""
    if per_second <= 0:
        return None
    if _embeds(tally):
        left = max(0, tally.vectors_wanted - tally.vectors_made)
        return Pace(vectors_per_s=per_second, seconds_left=left / per_second)
    left = max(0, tally.total - tally.processed)
    return Pace(files_per_s=per_second, seconds_left=left / per_second) if left else None


@define
class Stretch:
    """What a run has done since it began or went on: what it did before a pause says nothing about now."""

    _embeds: bool = field(default=False, init=False)
    _counts: deque[tuple[float, int]] = field(factory=deque, init=False)
    """When the count grew, and to what; the first is where the stretch, or the window, begins."""

    def end(self) -> None:
        """Forget: what comes next is another stretch."""
        self._counts.clear()

    def per_second(self, tally: IndexTally, at: float) -> float:
        """The rate of the last minute: files, or once every file is read passages; 0.0 while it is not known.

        Work is counted when it is committed, many files at a time; so a rate is taken from one count to another, and
        files that needed no reading, which are passed in no time, are left out.

        Args:
            tally: what the run has done.
            at: seconds, by a clock that never goes back.
        """
        if _embeds(tally) is not self._embeds:
            self._embeds = not self._embeds
            self._counts.clear()
        done = tally.vectors_made if self._embeds else tally.processed - tally.already_indexed
        if not self._counts or done != self._counts[-1][1]:
            self._counts.append((at, done))
        while len(self._counts) > 2 and self._counts[1][0] <= at - WINDOW_S:
            self._counts.popleft()
        (began, before), (grew, after) = self._counts[0], self._counts[-1]
        seconds = max(grew, at - SILENCE_S) - began
        return max(0, after - before) / seconds if seconds >= TOO_SOON_S else 0.0


def _embeds(tally: IndexTally) -> bool:
    return bool(tally.vectors_wanted) and tally.processed >= tally.total
