"""Long work in threads that nobody has to wait for: the server can end while a model is being loaded."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T]) -> T:
    """Do something that may take minutes, and return or raise what it does."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(finish: Callable[[], None]) -> None:
        if not outcome.done():
            finish()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  the main of a thread: whoever waits raises it in its place
            told = error
            finish = lambda: outcome.set_exception(told)  # noqa: E731
        else:
            finish = lambda: outcome.set_result(result)  # noqa: E731
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, finish)

    threading.Thread(target=run, name="openmind-load", daemon=True).start()
    return await outcome
