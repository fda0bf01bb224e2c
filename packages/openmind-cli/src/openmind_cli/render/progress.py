"""How far an index run is: a bar at a terminal, a line now and then anywhere else."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from attrs import define, field
from openmind.domain.events import EventSink, Progress, ignore
from openmind.domain.jobs import IndexTally, JobState
from openmind.domain.pace import pace_of

from openmind_cli.render.amounts import count, duration
from openmind_cli.render.clean import one_line
from openmind_cli.render.current_file import CurrentFile
from openmind_cli.render.lines import console_on
from openmind_cli.terminal import redraws

EVERY_S = 5.0
"""Seconds between two plain lines."""


@contextmanager
def shown_progress(*, quiet: bool = False) -> Iterator[EventSink]:
    """Show progress on standard error, so that standard output holds the result only."""
    if quiet:
        yield ignore
    elif redraws(sys.stderr):
        with _bar(sys.stderr) as sink:
            yield sink
    else:
        plain = PlainProgress(sys.stderr)
        with called_every(EVERY_S, plain.go_on):
            yield plain


@contextmanager
def called_every(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` in a thread of its own every few seconds until the context ends."""
    ended = threading.Event()

    def call() -> None:
        while not ended.wait(seconds):
            act()

    thread = threading.Thread(target=call, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@define
class PlainProgress:
    """Writes a line when the state changes, and every few seconds, also while nothing is told. Serves two threads."""

    stream: TextIO
    clock: Callable[[], float] = time.monotonic
    _told: float = field(default=0.0, init=False)
    _state: JobState | None = field(default=None, init=False)
    _current: CurrentFile = field(factory=CurrentFile, init=False)
    _latest: Progress | None = field(default=None, init=False)
    _one: threading.Lock = field(factory=threading.Lock, init=False)

    def __call__(self, event: Progress) -> None:
        with self._one:
            now = self.clock()
            self._latest = event
            self._current.see(event, now)
            if event.notice:
                self._write(one_line(event.notice))
            self._tell(event, now)

    def go_on(self) -> None:
        """Tell how long the same already takes, if that is due."""
        with self._one:
            if self._latest is not None and not self._latest.state.finished:
                self._tell(self._latest, self.clock())

    def _tell(self, event: Progress, now: float) -> None:
        if event.state is not self._state or now - self._told >= EVERY_S:
            self._state, self._told = event.state, now
            self._write(progress_text(event, self._current.words(now)))

    def _write(self, text: str) -> None:
        self.stream.write(text + "\n")
        self.stream.flush()


def progress_text(event: Progress, at: str = "") -> str:
    """`running: 300 of 1,000 files (30 %), 60 files/s, 12 s left`.

    Args:
        event: how far the run is.
        at: what is to be said of the current file; files are then no measure of the pace.
    """
    tally = event.tally
    state = event.state.value.replace("_", " ")
    if event.state is JobState.DISCOVERING or not tally.total:
        return f"{state}: {count(tally.total, 'file')} found" if tally.total else state
    if tally.vectors_wanted and event.state.finished:
        missing = tally.vectors_wanted - tally.vectors_made
        return f"{state}: every file is read" + (f", {count(missing, 'passage')} without vectors" if missing else "")
    if tally.vectors_wanted:
        text = f"{state}: every file is read, vectors of {vectors_text(tally)}"
        return ", ".join(filter(None, (text, rate_text(event))))
    text = f"{state}: {tally.processed:,} of {count(tally.total, 'file')} ({tally.progress:.0f} %)"
    return ", ".join(filter(None, (text, at or rate_text(event))))


def rate_text(event: Progress) -> str:
    """`60 files/s, 12 s left`; empty while that is not known."""
    found = pace_of(event.tally, event.per_second)
    if found is None or event.state.finished:
        return ""
    what, rate = ("passage", found.vectors_per_s) if found.vectors_per_s else ("file", found.files_per_s)
    return f"{_rate(what, rate)}, {duration(found.seconds_left)} left"


def _rate(what: str, per_second: float) -> str:
    """`60 files/s`, `1.5 files/s`; what takes seconds each is told so: `4.0 s a file`."""
    if per_second < 1:
        return f"{duration(1 / per_second)} a {what}"
    return f"{per_second:,.0f} {what}s/s" if per_second >= 10 else f"{per_second:.1f} {what}s/s"


def vectors_text(tally: IndexTally) -> str:
    """`1,200 of 5,000 passages (24 %)`."""
    percent = 100 * tally.vectors_made // tally.vectors_wanted
    return f"{tally.vectors_made:,} of {count(tally.vectors_wanted, 'passage')} ({percent} %)"


@contextmanager
def _bar(stream: TextIO) -> Iterator[EventSink]:
    from rich.console import RenderableType
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TwoLines(Bar):
        """The bar, and below it the file that is worth a word."""

        def get_renderables(self) -> Iterator[RenderableType]:
            at = current.words(time.monotonic())  # anew with each look: seconds go on while nothing is told
            for task in self.tasks:
                task.fields["pace"] = "" if at else task.fields["known_pace"]
            yield self.make_tasks_table(self.tasks)
            if at:
                yield Text(f"  {at}", no_wrap=True, overflow="ellipsis")

    console = console_on(stream)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} {task.percentage:>3.0f} %", markup=False),
        TextColumn("{task.fields[pace]}", markup=False),
    )
    current = CurrentFile()
    with TwoLines(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=0, pace="", known_pace="")

        def show(event: Progress) -> None:
            if event.notice:
                console.print(Text.assemble(("note: ", "bold yellow"), one_line(event.notice)))
            current.see(event, time.monotonic())
            name = event.state.value.replace("_", " ")
            tally = event.tally
            done, total = tally.processed, tally.total
            if tally.vectors_wanted:
                done, total = tally.vectors_made, tally.vectors_wanted
                name = "vectors"
            bar.update(task, description=name, completed=done, total=total, known_pace=rate_text(event))

        yield show
