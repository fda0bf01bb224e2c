"""What the loopback API costs: `python benchmarks/api.py WHAT CORPUS`, for a folder that `corpus.py` wrote.

    search    POST /search above the same search in this process, CPU of the server
    clients   searches a second of eight clients against those of one
    status    GET /status while CORPUS is indexed, CPU of the server
    start     `openmind serve` from its start to its first answer, against importing litestar and lancedb
    memory    RSS after 10,000 searches and 500 streams, against the first 500 of each

The server is a process of its own, made as a person makes it. Its CPU time is read before and after a search, to the
nanosecond, or a bundle of requests that is large beside the clock's tick; what the client burns is not counted.
"""

import argparse
import http.client
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psutil
from openmind import open_memory
from served import CHAT, Server, configure

BARS = {"search_ms": 4.0, "clients": 1.5, "tail": 6.0, "status_ms": 5.0, "start": 1.6, "memory": 1.1}
ROUNDS = 5
QUERY_WORDS = 4
WARM_UP = 10
CPU_CLOCK = 2
PART = 1_000
DIRECT = """
import sys
from openmind import open_memory
with open_memory(sys.argv[1]) as memory:
    for line in sys.stdin:
        memory.search(line)
        print(flush=True)
"""


class Api:
    """A served memory, and what a client needs to speak to it."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "openmind_cli", "serve", "--port", "0"]
        environment = {**os.environ, "OPENMIND_HOME": str(home)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        greeting = self.process.stdout.readline()
        if "http://" not in greeting:
            sys.exit("the server did not start")
        self.port = int(greeting.split("127.0.0.1:")[1].split()[0])
        self.token = (home / "api_token").read_text().strip()
        self.watched = psutil.Process(self.process.pid)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def send(self, connection: http.client.HTTPConnection, path: str, body: object = None) -> bytes:
        sent = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {self.token}", **({"Content-Type": "application/json"} if sent else {})}
        connection.request("POST" if sent else "GET", f"/api/v1{path}", sent, headers)
        reply = connection.getresponse()
        said = reply.read()
        assert reply.status in {200, 202}, said
        return said

    def rss(self) -> float:
        """Resident memory, MB."""
        return self.watched.memory_info().rss / 1e6

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate()


@contextmanager
def served(home: Path) -> Iterator[Api]:
    api = Api(home)
    try:
        yield api
    finally:
        api.close()


def cpu_time(process: psutil.Process) -> float:
    """CPU seconds so far."""
    times = process.cpu_times()
    return times.user + times.system


class Queries:
    """What people ask: a few words that stand together in a file. Hardly ever the same twice."""

    def __init__(self, corpus: Path) -> None:
        files = itertools.islice(sorted(corpus.rglob("*.txt")), 2_000)
        self.texts = [path.read_text(encoding="utf-8").split() for path in files]

        self.words = sorted({word for text in self.texts for word in text})

    def distinct(self, number: int) -> str:
        """Words that nobody asked for together before, from all over the folder: no cache has them."""
        return " ".join(random.Random(number).sample(self.words, QUERY_WORDS))

    def __getitem__(self, number: int) -> str:
        words = self.texts[number % len(self.texts)]
        begin = number * 7 % max(1, len(words) - QUERY_WORDS)
        return " ".join(words[begin : begin + QUERY_WORDS])


def verdict(text: str, found: float, bar: float, *, least: bool = False) -> bool:
    met = found >= bar if least else found <= bar
    print(f"{text}   bar {'≥' if least else '≤'} {bar:g}: {'met' if met else 'missed'}", flush=True)
    return met


class Direct:
    """The same searches without an API, in a process that waits for each one as the server does."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-c", DIRECT, str(home)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.watched = psutil.Process(self.process.pid)

    def search(self, text: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def close(self) -> None:
        self.process.communicate()


def exact_cpu_ms(pid: int) -> float:
    """CPU milliseconds of another process so far, ended threads included; Linux only."""
    return time.clock_gettime((~pid << 3) | CPU_CLOCK) * 1e3


def measure_search(home: Path, queries: Queries, pairs: int = 6, asked: int = 8, repeats: int = 4) -> bool:
    """Compare the least of each search; several pairs of processes, as one differs from its like by more than the bar.

    The order of the two is drawn for each search, so that a busy moment of the machine falls on both. Words that are
    asked for the first time make the indexes read, which other programs disturb more: that is printed, not judged.
    """
    chance = random.Random(1)
    over, over_first = [], []
    for pair in range(pairs):
        with served(home) as api, closing(Direct(home)) as direct:

            def through(text: str, api: Api = api) -> None:
                api.send(api.connect(), "/search", {"query": text})

            ways = ((api.process.pid, through), (direct.process.pid, direct.search))
            for number in range(WARM_UP):
                for _, search in ways:
                    search(queries[number])
            least, first = [0.0, 0.0], [0.0, 0.0]
            for number in range(asked):
                text = queries[WARM_UP + pair * asked + number]
                took: tuple[list[float], list[float]] = ([], [])
                for _ in range(repeats):
                    for way in chance.sample((0, 1), 2):
                        pid, search = ways[way]
                        began = exact_cpu_ms(pid)
                        search(text)
                        took[way].append(exact_cpu_ms(pid) - began)
                for way in (0, 1):
                    least[way] += min(took[way]) / asked
                    first[way] += took[way][0] / asked
            over.append(least[0] - least[1])
            over_first.append(first[0] - first[1])
            print(
                f"through the API {least[0]:.1f} ms, called {least[1]:.1f} ms; first {first[0]:.1f}, {first[1]:.1f} ms"
            )
            chunks = json.loads(api.send(api.connect(), "/status"))["indexed_chunks"]
    found = statistics.mean(over)
    error = statistics.stdev(over) / len(over) ** 0.5
    print(f"asked for the first time: {statistics.mean(over_first):.1f} ms above")
    return verdict(
        f"POST /search over {chunks:,} passages, above the call: {found:.1f} ± {error:.1f} ms", found, BARS["search_ms"]
    )


def sustained(api: Api, queries: Queries, clients: int, seconds: float) -> tuple[float, list[float]]:
    """Searches a second, and how long each took."""
    took: list[float] = []
    ends_at = time.monotonic() + seconds

    def one(first: int) -> None:
        connection, number = api.connect(), first
        while (began := time.monotonic()) < ends_at:
            api.send(connection, "/search", {"query": queries[number]})
            took.append(time.monotonic() - began)
            number += clients

    threads = [threading.Thread(target=one, args=(10_000 + at,)) for at in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(took) / seconds, took


def measure_clients(home: Path, queries: Queries, seconds: float = 10) -> bool:
    ratios, tails = [], []
    with served(home) as api:
        sustained(api, queries, 8, 3)
        for _ in range(ROUNDS):
            alone, _ = sustained(api, queries, 1, seconds)
            together, took = sustained(api, queries, 8, seconds)
            cuts = statistics.quantiles(took, n=100)
            ratios.append(together / alone)
            tails.append(cuts[98] / cuts[49])
            print(
                f"one {alone:.0f}/s, eight {together:.0f}/s, median {cuts[49] * 1e3:.0f} ms, p99 {cuts[98] * 1e3:.0f}"
            )
    ratio, tail = statistics.median(ratios), statistics.median(tails)
    fast = verdict(f"eight clients against one: {ratio:.2f} ×", ratio, BARS["clients"], least=True)
    return verdict(f"p99 against the median: {tail:.1f} ×", tail, BARS["tail"]) and fast


def measure_status(corpus: Path, requests: int = 50) -> bool:
    """Ask in bundles for as long as a background job indexes the corpus."""
    spent = []
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "home"
        with open_memory(home) as memory:
            memory.sources.add(corpus)
        with served(home) as api:
            connection = api.connect()
            api.send(connection, "/status")
            api.send(connection, "/index/start", {})
            while json.loads(api.send(connection, "/status"))["last_index_job_status"] != "completed":
                began = cpu_time(api.watched)
                for _ in range(requests):
                    api.send(connection, "/status")
                spent.append((cpu_time(api.watched) - began) / requests * 1e3)
                time.sleep(1)
            files = json.loads(api.send(connection, "/status"))["indexed_files"]
    found = statistics.median(spent)
    print(f"{len(spent)} bundles, worst {max(spent):.2f} ms")
    return verdict(f"GET /status while {files:,} files are indexed: {found:.2f} ms", found, BARS["status_ms"])


def cpu_of(run: Callable[[], object]) -> float:
    """CPU seconds of the processes that a call begins and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_start(home: Path, _: Queries) -> bool:
    def start() -> None:
        with served(home) as api:
            api.send(api.connect(), "/status")
            api.process.kill()

    bare = [sys.executable, "-c", "import litestar, lancedb"]
    own, imports = [], []
    for _ in range(ROUNDS):
        own.append(cpu_of(start))
        imports.append(cpu_of(lambda: subprocess.run(bare, check=True)))
        print(f"serve {own[-1]:.2f} s, imports {imports[-1]:.2f} s")
    ratio = min(own) / min(imports)
    return verdict(f"start to first answer against the imports: {ratio:.2f} ×", ratio, BARS["start"])


def measure_memory(home: Path, queries: Queries, searches: int = 10_000, streams: int = 500) -> bool:
    with Server() as models, tempfile.TemporaryDirectory() as scratch:
        configured = Path(scratch)
        configure(configured, models.base_url)
        words = (configured / "config.toml").read_text().split("[models]")[0]
        before = (home / "config.toml").read_bytes() if (home / "config.toml").exists() else None
        (home / "config.toml").write_text(f'{words}[models]\nembedding_model = "builtin"\nchat_model = "{CHAT}"\n')
        try:
            with served(home) as api:
                in_turn(api, 500, lambda number: ("/search", {"query": queries[number]}))
                in_turn(api, streams, lambda number: ("/ask/stream", {"question": queries[number]}))
                first = api.rss()
                print(f"after 500 searches and {streams} streams: {first:.0f} MB", flush=True)
                for done in range(0, searches, PART):
                    in_turn(api, PART, partial(distinct_search, queries, done))
                    print(f"after {done + PART:,} searches for words of all sorts: {api.rss():.0f} MB", flush=True)
                in_turn(api, streams, lambda number: ("/ask/stream", {"question": queries[20_000 + number]}))
                last = api.rss()
        finally:
            (home / "config.toml").unlink()
            if before is not None:
                (home / "config.toml").write_bytes(before)
    return verdict(f"RSS at the end: {last:.0f} MB, {last / first:.3f} ×", last / first, BARS["memory"])


def distinct_search(queries: Queries, done: int, number: int) -> tuple[str, object]:
    return "/search", {"query": queries.distinct(done + number)}


def in_turn(api: Api, total: int, request: Callable[[int], tuple[str, object]], clients: int = 8) -> None:
    """Send requests by several clients at once."""

    def one(first: int) -> None:
        connection = api.connect()
        for number in range(first, total, clients):
            said = api.send(connection, *request(number))
            assert b"event: error" not in said, said

    threads = [threading.Thread(target=one, args=(at,)) for at in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["search", "clients", "status", "start", "memory"])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--searches", type=int, default=10_000, help="for `memory`; a multiple of 1,000")
    parser.add_argument("--home", type=Path, help="a memory of the corpus that is kept for the next measurement")
    options = parser.parse_args()
    if options.what == "status":
        sys.exit(not measure_status(options.corpus))
    with tempfile.TemporaryDirectory() as scratch:
        home = options.home or Path(scratch) / "home"
        with open_memory(home) as memory:
            if not memory.sources.list():
                memory.sources.add(options.corpus)
                memory.index()
        measure = {
            "search": measure_search,
            "clients": measure_clients,
            "start": measure_start,
            "memory": partial(measure_memory, searches=options.searches),
        }[options.what]
        sys.exit(not measure(home, Queries(options.corpus)))


if __name__ == "__main__":
    main()
