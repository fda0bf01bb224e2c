"""An answer while it is written: one thread reads it, any thread may end it."""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from threading import Lock
from typing import TypeVar

from attrs import define, field

from openmind.application.patience import patiently
from openmind.domain.answers import AnswerEvent
from openmind.domain.errors import ProviderError

T = TypeVar("T")


class HungUp(Exception):
    """Nobody listens any more."""


@define
class Line:
    """The line to the model that is speaking, so that another thread can hang up while it is listened to."""

    _words: Iterator[object] | None = field(default=None, init=False)
    _hung_up: bool = field(default=False, init=False)

    def wait(self, call: Callable[[], T]) -> T:
        """Wait for what has to be known before the model is asked; its loading may take minutes.

        Raises:
            HungUp: somebody hung up meanwhile; the call is left to itself.
            BaseException: whatever the call raises.
        """
        return patiently(call, while_waiting=self._heed)

    def _heed(self) -> None:
        if self._hung_up:
            raise HungUp

    def listen(self, words: Iterator[T]) -> Iterator[T]:
        """Pass on what a model says."""
        self._words = words
        try:
            if not self._hung_up:
                yield from words
        finally:
            self._words = None

    def hang_up(self) -> None:
        """End what is listened to: at once where the model allows that, else with its next word."""
        self._hung_up = True
        close = getattr(self._words, "close", None)
        if close is not None:
            # A plain generator cannot be closed while it runs in another thread: its reader does it. A model that
            # fails to be interrupted has nobody left to tell.
            with suppress(ValueError, ProviderError):
                close()


@define
class AnswerStream:
    """The events of one answer. Reading blocks; closing never does."""

    _events: Generator[AnswerEvent, None, None]
    _line: Line = field(factory=Line)
    asks_model: bool = field(default=False, kw_only=True)
    """Whether a chat model is waited for."""
    _closed: bool = field(default=False, init=False)
    _reading: Lock = field(factory=Lock, init=False, repr=False)

    def __iter__(self) -> "AnswerStream":
        return self

    def __next__(self) -> AnswerEvent:
        try:
            with self._reading:
                if self._closed:
                    raise StopIteration
                return next(self._events)
        finally:
            self._tidy()

    def close(self) -> None:
        """Stop the model, from whatever thread. Nothing more comes; what is being waited for may still arrive."""
        self._closed = True
        self._line.hang_up()
        self._tidy()

    def _tidy(self) -> None:
        """Give back what the model holds, unless the reader is just waiting for it: then the reader does this."""
        if self._closed and self._reading.acquire(blocking=False):
            try:
                self._events.close()
            finally:
                self._reading.release()
