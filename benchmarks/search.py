"""Search as people meet it: the whole path of `memory.search`, and `openmind search` from cold.

    python benchmarks/search.py CORPUS [--home HOME] [--queries 150]

Indexes the folder (in a home that is thrown away, unless one is named: then the index is kept for the next time) and
prints CPU milliseconds of all threads, p50 and p95 over the queries, each the least of three: beside other work the
same search costs up to twice as much. The queries are words of the files themselves. CPU of the cold command stands
beside `python -c "import lancedb"` in the same environment.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from openmind import OpenMind, open_memory
from processes import cpu_seconds

Search = Callable[[str], object]
PLAIN, FILTERED, COLD = (35.0, 80.0), (45.0, 90.0), 0.5
"""Bars: milliseconds at 100,000 passages; share of what `import lancedb` costs."""
WARM_UP = 5
REPEATS = 3


def queries(corpus: Path, count: int) -> list[str]:
    """Make queries of one to seven words that stand together in a file; every fourth as people ask."""
    chance = random.Random(1)
    files = sorted(path for path in corpus.rglob("*") if path.is_file())
    made = []
    for number in range(count):
        words = chance.choice(files).read_text("utf-8").split()
        at = chance.randrange(max(len(words) - 7, 1))
        asked = " ".join(words[at : at + chance.randint(1, 7)])
        made.append(f"what is said about {asked}?" if number % 4 == 0 else asked)
    return made


@contextmanager
def indexed(corpus: Path, home: Path | None) -> Iterator[tuple[OpenMind, Path]]:
    with tempfile.TemporaryDirectory() as scratch:
        place = home or Path(scratch)
        with open_memory(place) as memory:
            if not memory.sources.list():
                memory.sources.add(corpus)
            memory.index()
            yield memory, place


def cpu_ms(search: Search, asked: Iterable[str]) -> tuple[float, float]:
    def once(query: str) -> float:
        before = time.process_time()
        search(query)
        return (time.process_time() - before) * 1_000

    times = sorted(min(once(query) for _ in range(REPEATS)) for query in asked)
    return times[len(times) // 2], times[int(len(times) * 0.95)]


def filters(memory: OpenMind, corpus: Path) -> dict[str, dict[str, Any]]:
    [source] = memory.sources.list()
    folders = sorted(path for path in corpus.resolve().iterdir() if path.is_dir())
    days = sorted(path.stat().st_mtime for path in folders[0].iterdir())
    some: dict[str, dict[str, Any]] = {
        "folder": {"folder": str(folders[len(folders) // 2])},
        "extension": {"extensions": (".txt",)},
        "date": {"modified_after": datetime.fromtimestamp(days[len(days) // 2], UTC)},
        "source": {"sources": (source.id,)},
    }
    return some | {"all of these": {key: value for filter in some.values() for key, value in filter.items()}}


def verdict(name: str, figures: tuple[float, ...], bars: tuple[float, ...], unit: str) -> None:
    met = all(figure <= bar for figure, bar in zip(figures, bars, strict=True))
    told = " / ".join(f"{figure:7.1f}" if unit == "ms" else f"{figure:7.2f}" for figure in figures)
    print(f"{name:<44} {told} {unit:<3} {'ok' if met else 'MISSED'} (bar {' / '.join(f'{bar:g}' for bar in bars)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--home", type=Path, help="where the index is, or is to stay")
    parser.add_argument("--queries", type=int, default=150)
    chosen = parser.parse_args()
    asked = queries(chosen.corpus, chosen.queries)
    with indexed(chosen.corpus, chosen.home) as (memory, home):
        for query in asked[:WARM_UP]:
            memory.search(query)
        print(f"{memory.status().indexed_chunks:,} passages, {len(asked)} queries; p50 / p95, CPU of all threads")
        verdict("words and vectors", cpu_ms(memory.search, asked), PLAIN, "ms")
        for name, wanted in filters(memory, chosen.corpus).items():
            verdict(f"with a filter: {name}", cpu_ms(partial(memory.search, **wanted), asked), FILTERED, "ms")
        commands = {
            "cold": [sys.executable, "-m", "openmind_cli", "search", asked[1]],
            "bare": [sys.executable, "-c", "import lancedb"],
        }
        taken = cpu_seconds(commands, runs=5, OPENMIND_HOME=str(home))
        cold, bare = taken["cold"], taken["bare"]
        print(f"{'openmind search from cold':<44} {cold:7.2f} s; import lancedb {bare:.2f} s")
        verdict("openmind search / import lancedb", (cold / bare,), (COLD,), "x")


if __name__ == "__main__":
    main()
