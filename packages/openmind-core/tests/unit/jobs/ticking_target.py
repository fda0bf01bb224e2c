"""What the worker processes of these tests run: it writes a line now and then, so that one can see it go on."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from openmind.adapters.worker_main import Handler, Reply, Request

EVERY_S = 0.02


def ticking(_: Mapping[str, object]) -> Handler:
    def handle(request: Request) -> Iterator[Reply]:
        path = Path(str(request.message["path"]))
        for _ in range(int(cast(float, request.message["seconds"]) / EVERY_S)):
            with path.open("a") as file:
                file.write("tick\n")
            time.sleep(EVERY_S)
        yield {}, b""

    return handle
