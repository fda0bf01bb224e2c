"""Asks under way: a bounded number of them, each in a thread of its own that nobody has to wait for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

from attrs import define, field, frozen
from litestar.types import Receive
from openmind.application.asking.answer_stream import AnswerStream
from openmind.domain.answers import AnswerEvent, AnswerProgress, AskRequest
from openmind.live import LiveMemory

from openmind_api import problems
from openmind_api.problems import Refusal
from openmind_api.refused import Refused
from openmind_api.slots import Slots
from openmind_api.visits import Visits, why

MOST = 8
"""Asks at once; the next one is refused."""
MOST_THREADS = 32
"""A thread that nobody waits for any more may still load a model; of those there must not be too many either."""
FULL = "As many questions are being answered as can be at once"
BUFFERED = 64
"""Events that may wait for a slow reader before the model has to."""


@frozen
class End:
    """Nothing more comes, and why."""

    error: BaseException


@define(eq=False)
class AskRun:
    """One question being answered. Its thread writes events, the event loop reads them."""

    live: LiveMemory
    request: AskRequest
    done: Callable[[], None]
    """Called by the thread when it ends."""
    _events: "asyncio.Queue[AnswerEvent | End]" = field(factory=asyncio.Queue, init=False)
    _room: threading.Semaphore = field(factory=lambda: threading.Semaphore(BUFFERED), init=False)
    _loop: asyncio.AbstractEventLoop = field(factory=asyncio.get_running_loop, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _stream: AnswerStream | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)

    def start(self) -> None:
        """Begin to answer."""
        threading.Thread(target=self._answer, name="openmind-ask", daemon=True).start()

    async def next(self, seconds: float | None = None) -> AnswerEvent | None:
        """The next event; None when none came in time.

        Raises:
            OpenMindError: the question could not be answered.
            Refused: the client left, or the server stops; also after the last event.
        """
        try:
            async with asyncio.timeout(seconds):
                event = await self._events.get()
        except TimeoutError:
            return None
        if isinstance(event, End):
            self._events.put_nowait(event)
            raise event.error
        self._room.release()
        return event

    def close(self, why: Refusal = problems.LEFT) -> None:
        """Stop answering; whoever reads learns why. Never blocks."""
        with self._lock:
            self._closed, stream = True, self._stream
        if stream is not None:
            stream.close()
        self._room.release()
        self._events.put_nowait(End(Refused(why)))

    def _answer(self) -> None:
        try:
            with self.live.current() as memory:
                for event in self._opened(memory.asking.stream(self.request)):
                    if isinstance(event, AnswerProgress):
                        continue  # the contract of the API has no place for it; heartbeats say that it goes on
                    self._room.acquire()
                    if self._closed:
                        break
                    self._tell(event)
        except BaseException as error:  # noqa: BLE001  the main of a thread: whoever reads raises it in its place
            self._tell(End(error))
        finally:
            self.done()

    def _opened(self, stream: AnswerStream) -> Iterator[AnswerEvent]:
        with self._lock:
            self._stream, closed = stream, self._closed
        if closed:
            stream.close()
        return stream

    def _tell(self, event: "AnswerEvent | End") -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)


@define(eq=False)
class Asks:
    """Admits asks."""

    visits: Visits
    slots: Slots = field(factory=lambda: Slots(MOST, FULL))
    threads: Slots = field(factory=lambda: Slots(MOST_THREADS, FULL))

    @asynccontextmanager
    async def begin(self, live: LiveMemory, request: AskRequest, receive: Receive) -> AsyncIterator[AskRun]:
        """Answer a question for as long as the client stays.

        Raises:
            TooBusy: as many as may be are being answered.
        """
        with self.slots.one():
            async with self.visits.begin(receive) as visit:
                self.threads.take()  # its thread gives it back, which may be later
                run = AskRun(live, request, self.threads.give_back)
                visit.gone.add_done_callback(lambda gone: run.close(why(gone.result())))
                run.start()
                try:
                    yield run
                finally:
                    run.close()
