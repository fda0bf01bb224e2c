"""What the LM Studio client costs for each batch of embeddings: `python benchmarks/lmstudio.py`.

A server in a process of its own answers at once with the same body. What the client burns above `json.loads` of that
body is HTTP, building the request, checking every vector and packing it. The bar is 3 ms for 32 texts of 1,200
characters. It is set against vectors of unit length, as llama.cpp sends them; `raw` ones have to be scaled too.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.provider import LMStudioProvider

BATCH, CHARS, BAR_MS = 32, 1_200, 3.0
KEY = "text-embedding-bench"


def reply_body(count: int, dimension: int, *, unit: bool) -> bytes:
    """Make a reply whose numbers are as long as those of a real server."""
    rng = random.Random(dimension)
    rows = [[rng.gauss(0, 0.03) for _ in range(dimension)] for _ in range(count)]
    if unit:
        rows = [[component / math.hypot(*row) for component in row] for row in rows]
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return json.dumps({"object": "list", "data": data, "model": KEY, "usage": usage}).encode()


def serve(dimension: int, *, unit: bool) -> None:
    """Answer until the standard input ends; print the port first."""
    models = [{"type": "embedding", "key": KEY, "loaded_instances": [{"id": KEY, "config": {"context_length": 2048}}]}]
    listing = json.dumps({"models": models}).encode()
    bodies = {count: reply_body(count, dimension, unit=unit) for count in (1, BATCH)}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            self._send(listing)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            self._send(bodies[len(json.loads(sent)["input"])])

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def cpu_ms(work: Callable[[], object], times: int) -> float:
    """CPU milliseconds of one run, the median of five rounds."""
    rounds = []
    for _ in range(5):
        begun = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - begun) * 1_000 / times)
    return sorted(rounds)[2]


def measure(dimension: int, times: int, *, unit: bool) -> bool:
    kind = "unit" if unit else "raw"
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(dimension), kind], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        provider = LMStudioProvider(LMStudioConfig(base_url=f"http://127.0.0.1:{port}"))
        embedder = provider.embedder(KEY)
        texts = [f"{n} {'some words of a text ' * 60}"[:CHARS] for n in range(BATCH)]
        embedder.embed(texts, role="passage")

        body = reply_body(BATCH, dimension, unit=unit)
        parsing = cpu_ms(lambda: json.loads(body), times)
        whole = cpu_ms(lambda: embedder.embed(texts, role="passage"), times)
        provider.close()
    finally:
        server.kill()
        server.communicate()
    over = whole - parsing
    print(
        f"{dimension:5} {kind:>4}: body {len(body) / 1e3:7.0f} kB  whole {whole:6.2f} ms  json.loads {parsing:6.2f} ms"
        f"  above it {over:5.2f} ms ({over / parsing:4.2f} ×)  bar {BAR_MS} ms: {'met' if over <= BAR_MS else 'missed'}"
    )
    return over <= BAR_MS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[384, 768])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(int(arguments.serve[0]), unit=arguments.serve[1] == "unit")
        return
    met = [measure(size, arguments.times, unit=True) for size in arguments.dimensions]
    for size in arguments.dimensions:
        measure(size, arguments.times, unit=False)
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
