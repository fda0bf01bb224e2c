"""The way to a process that answers: whoever sends is free to read the answers, however much is on its way."""

import threading
from queue import SimpleQueue
from typing import BinaryIO

from attrs import define, field

CLOSING_S = 5.0


@define(eq=False)
class OutgoingPipe:
    """Writes to a pipe in a thread of its own.

    A pipe holds what it holds: a write that goes beyond it waits until the other side reads. Where the other side
    waits as well, for somebody to read what it answers, neither goes on. No bound on what is sent rules that out,
    since one message may be larger than any pipe; that the one who reads never writes does.
    """

    _pipe: BinaryIO
    _unwritten: SimpleQueue[bytes | None] = field(factory=SimpleQueue, init=False)
    _thread: threading.Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def send(self, data: bytes) -> None:
        """Have bytes written after all that was sent before; never waits.

        When the other side is gone they are lost: whoever reads its answers learns of it.
        """
        self._unwritten.put(data)

    def close(self) -> None:
        """Close the pipe, once the other side is gone or has read everything; safe to call twice."""
        self._unwritten.put(None)
        self._thread.join(CLOSING_S)

    def _write(self) -> None:
        try:
            with self._pipe:  # nobody else may close it: that would wait for the write that is under way
                while (data := self._unwritten.get()) is not None:
                    self._pipe.write(data)
                    self._pipe.flush()
        except OSError:
            return
