"""The file that an index run is at, where it is worth a word: it takes long, or its pages are recognised."""

from attrs import define, field
from openmind.domain.events import Progress

from openmind_cli.render.amounts import duration
from openmind_cli.render.clean import one_line

LONG_S = 5.0
"""Seconds at one file before it is named."""
NAME_WIDTH = 40
"""Columns of a name; a longer one is shortened in its middle."""


@define
class CurrentFile:
    """Watches which file a run is at, and since when."""

    _event: Progress | None = field(default=None, init=False)
    _path: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)
    _first_page: int = field(default=0, init=False)
    _first_page_at: float = field(default=0.0, init=False)
    _page: int = field(default=0, init=False)
    _page_at: float = field(default=0.0, init=False)

    def see(self, event: Progress, now: float) -> None:
        """Take in the latest event.

        Args:
            event: how far the run is.
            now: seconds, by a clock that never goes back.
        """
        if event.current_file != self._path:
            self._path, self._since = event.current_file, now
            self._first_page = self._page = 0
        if event.page and not self._first_page:
            self._first_page, self._first_page_at = event.page, now
        if event.page != self._page:
            self._page, self._page_at = event.page, now
        self._event = event

    def words(self, now: float) -> str:
        """Say what is worth a word at this moment; mostly nothing."""
        event = self._event
        if event is None or not event.current_file or event.tally.vectors_wanted:  # then every file is read
            return ""
        name = shortened(one_line(event.current_file.rpartition("/")[2]))
        lasting = now - self._since
        if event.recognising:
            return f"recognising {name}{self._pages(event, now)}" + _for(lasting if not event.page else 0.0)
        return f"reading {name}{_for(lasting)}" if lasting >= LONG_S else ""

    def _pages(self, event: Progress, now: float) -> str:
        """`, page 12 of 300, 25 min 30 s left for it`: the pages before tell how long the others will take."""
        if not event.page:
            return ""
        text = f", page {event.page:,}" + (f" of {event.pages:,}" if event.pages else "")
        done, took = self._page - self._first_page, self._page_at - self._first_page_at
        at_it = now - self._page_at
        if done <= 0 or took <= 0 or not event.pages:
            return text + _for(at_it)
        left = (event.pages - event.page + 1) * took / done - at_it
        return f"{text}, {duration(left)} left for it" if left > 0 else text + _for(at_it)


def _for(seconds: float) -> str:
    """` for 12 s`, once that is long."""
    return f" for {duration(seconds)}" if seconds >= LONG_S else ""


def shortened(name: str, width: int = NAME_WIDTH) -> str:
    """Leave the middle out of a name that is too long; its end tells what it is."""
    if len(name) <= width:
        return name
    end = width // 2
    return f"{name[: width - end - 1]}…{name[-end:]}"
