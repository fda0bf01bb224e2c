"""What the worker processes of these tests run: it writes a line now and then, so that one can see it go on,
until it is told that there are enough."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from openmind.adapters.worker_main import Handler, Reply, Request

EVERY_S = 0.02


def ticking(_: Mapping[str, object]) -> Handler:
    def handle(request: Request) -> Iterator[Reply]:
        path = Path(str(request.message["path"]))
        while True:
            with path.open("a") as file:
                file.write("tick\n")
            if path.with_suffix(".enough").exists():
                break
            time.sleep(EVERY_S)
        yield {}, b""

    return handle
