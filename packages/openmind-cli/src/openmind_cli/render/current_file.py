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

    _path: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)
    _first_page: int = field(default=0, init=False)
    _first_page_at: float = field(default=0.0, init=False)
    _page: int = field(default=0, init=False)
    _page_at: float = field(default=0.0, init=False)

    def words(self, event: Progress, now: float) -> str:
        """Say what is worth a word; mostly nothing.

        Args:
            event: the latest one.
            now: seconds, by a clock that never goes back.
        """
        if event.current_file != self._path:
            self._path, self._since = event.current_file, now
            self._first_page = self._page = 0
        if not event.current_file:
            return ""
        name = shortened(one_line(event.current_file.rpartition("/")[2]))
        if event.recognising:
            return f"recognised {name}{self._pages(event, now)}"
        lasting = now - self._since
        return f"reading {name} for {duration(lasting)}" if lasting >= LONG_S else ""

    def _pages(self, event: Progress, now: float) -> str:
        """`, page 12 of 300, 25 min 30 s left for it`: the pages before tell how long the others will take."""
        if not event.page:
            return ""
        if not self._first_page:
            self._first_page, self._first_page_at = event.page, now
        if event.page != self._page:
            self._page, self._page_at = event.page, now
        text = f", page {event.page:,}" + (f" of {event.pages:,}" if event.pages else "")
        done, took = self._page - self._first_page, self._page_at - self._first_page_at
        if done <= 0 or took <= 0 or event.page >= event.pages:
            return text
        return f"{text}, {duration((event.pages - event.page) * took / done)} left for it"


def shortened(name: str, width: int = NAME_WIDTH) -> str:
    """Leave the middle out of a name that is too long; its end tells what it is."""
    if len(name) <= width:
        return name
    end = width // 2
    return f"{name[: width - end - 1]}…{name[-end:]}"
