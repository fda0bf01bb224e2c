"""Measures indexing against its bars: the first run beside the floor, later runs, memory, disk, search meanwhile.

    python benchmarks/index.py CORPUS [FIGURE ...] [--rounds N] [--large FOLDER]

CORPUS is a folder of text files, such as `python benchmarks/corpus.py FOLDER` writes. Every run is a process of its
own; costs are CPU seconds of that process and its children, memory is the peak of the whole tree. Figures:

    first       a first index against `floor.py`, its peak memory, and the disk it takes; once more in one process;
                and what the floor costs when the other core is at work, too, as it is while two workers prepare
    unchanged   a second run over the same files, and what it imports
    changed     a run after one percent of the files was changed
    disk        the disk after N rounds of changing one percent
    search      the CPU of searches in another process while a first index runs, against the finished index
    cores       wall time with one core against two; only of use on a quiet machine
    large       peak memory with the files of --large against CORPUS: four times as many

Without a figure named all are measured but `large`.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from openmind import open_memory
from processes import ENVIRONMENT, children_cpu_s

ONE_RUN = """
import json, sys
from openmind import open_memory
with open_memory(sys.argv[1]) as memory:
    if not memory.sources.list():
        memory.sources.add(sys.argv[2])
    run = memory.index().run
    counts = {name: getattr(run.tally, name) for name in ("indexed", "hashed", "extracted", "embedded")}
    heavy = [name for name in ("lance", "numpy", "lancedb", "pandas", "pyarrow") if name in sys.modules]
    print(json.dumps({"counts": counts, "heavy": heavy}))
"""
FIVE_MINUTES_LATER = "import openmind.application.recovering.sweeping as sweeping\nsweeping.VERSION_AGE_S = 0.0\n"
"""Old versions of a table stay for readers that may have one open; a benchmark need not wait for that."""
ONE_PROCESS = "[indexing]\nworkers = 1\n"
PAUSE_S = 0.1
"""Between two searches: they are to meet every state of the growing index, not to slow it down."""
SEARCHES_AFTER = 200


class Run:
    """What a process cost."""

    def __init__(self, command: list[str], *, cpus: int | None = None) -> None:
        if cpus:
            command = ["taskset", "-c", ",".join(map(str, range(cpus))), *command]
        before = children_cpu_s()
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.peak_mb = 0.0
        watcher = threading.Thread(target=self._watch, args=(process,))
        watcher.start()
        self.printed = process.communicate()[0].strip()
        watcher.join()
        self.wall_s = time.monotonic() - started
        self.cpu_s = children_cpu_s() - before
        if process.returncode:
            sys.exit(f"{command} failed")

    def _watch(self, process: "subprocess.Popen[str]") -> None:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                total = sum(each.memory_info().rss for each in (root, *root.children(recursive=True)))
            except psutil.Error:
                continue
            self.peak_mb = max(self.peak_mb, total / 1e6)
            time.sleep(0.05)


class Bench:
    """A copy of the corpus that may be changed, and homes."""

    def __init__(self, scratch: Path, options: argparse.Namespace) -> None:
        self.scratch = scratch
        self.options = options
        self.corpus = scratch / "corpus"
        shutil.copytree(options.corpus, self.corpus)
        age(self.corpus)
        self.home = scratch / "home"
        self.missed = 0
        self._first: Run | None = None
        self._compile_all()

    def row(self, name: str, figure: str, bar: str, met: bool) -> None:
        self.missed += not met
        print(f"{name:<46} {figure:>34}   {bar:<44} {'met' if met else 'MISSED'}", flush=True)

    def index(
        self, *, corpus: Path | None = None, home: Path | None = None, cpus: int | None = None, later: bool = False
    ) -> Run:
        script = FIVE_MINUTES_LATER + ONE_RUN if later else ONE_RUN
        command = [sys.executable, "-c", script, str(home or self.home), str(corpus or self.corpus)]
        return Run(command, cpus=cpus)

    def fresh(self) -> Run:
        """Index from nothing."""
        shutil.rmtree(self.home, ignore_errors=True)
        return self.index()

    def indexed(self) -> Run:
        """Index from nothing, unless that was done; returns what it cost."""
        if self._first is None:
            self._first = self.fresh()
        return self._first

    def _compile_all(self) -> None:
        """Run everything once, over one file: no run that counts is the first one after an installation."""
        folder, home = self.scratch / "one", self.scratch / "compiled"
        folder.mkdir()
        (folder / "one.txt").write_text("one file")
        self.index(corpus=folder, home=home)
        Run([*self.floor[:-1], str(folder)])

    @property
    def floor(self) -> list[str]:
        return [sys.executable, str(Path(__file__).with_name("floor.py")), str(self.corpus)]

    def crowded_floor_s(self) -> float:
        """CPU seconds of the floor while another one runs beside it: cores share caches, memory and more."""
        before = children_cpu_s()
        both = [subprocess.Popen(self.floor, stdout=subprocess.DEVNULL, env=ENVIRONMENT) for _ in range(2)]
        codes = [each.wait() for each in both]
        if any(codes):
            sys.exit("the floor failed")
        return (children_cpu_s() - before) / len(both)

    def first(self) -> None:
        floor = Run(self.floor)
        run = self.indexed()
        ratio = run.cpu_s / floor.cpu_s
        self.row(
            "first index, CPU", f"{run.cpu_s:.1f} s / {floor.cpu_s:.1f} s = {ratio:.2f} x", "1.4 x floor", ratio <= 1.4
        )
        self.row("peak memory of the tree", f"{run.peak_mb:.0f} MB", "700 MB", run.peak_mb <= 700)
        disk, text = size_mb(self.home), size_mb(self.corpus)
        figure = f"{disk:.0f} MB for {text:.1f} MB of text = {disk / text:.2f} x"
        self.row("disk", figure, "5 x the text", disk <= 5 * text)
        alone = self.scratch / "alone"
        with open_memory(alone):
            pass
        (alone / "config.toml").write_text(ONE_PROCESS)
        single = self.index(home=alone)
        self.row("the same in one process, CPU", f"{single.cpu_s:.1f} s = {single.cpu_s / floor.cpu_s:.2f} x", "", True)
        shutil.rmtree(alone)
        crowded = self.crowded_floor_s()
        figure = f"{crowded:.1f} s: first index {run.cpu_s / crowded:.2f} x"
        self.row("the floor beside another one, CPU", figure, "", True)

    def unchanged(self) -> None:
        self.indexed()
        run = self.index()
        told = json.loads(run.printed)
        still = not any(told["counts"].values()) and not told["heavy"]
        figure = f"{run.cpu_s:.2f} s, imports {', '.join(told['heavy']) or 'nothing heavy'}"
        self.row("unchanged, CPU", figure, "1.5 s, nothing heavy, nothing hashed", run.cpu_s <= 1.5 and still)

    def changed(self) -> None:
        self.indexed()
        changed = change(self.corpus, 50)
        run = self.index()
        counts = json.loads(run.printed)["counts"]
        figure = f"{run.cpu_s:.2f} s, {counts['extracted']} of {changed} files read"
        self.row("1 % changed, CPU", figure, "3 s, only these", run.cpu_s <= 3 and counts["extracted"] == changed)

    def disk(self) -> None:
        self.indexed()
        before = size_mb(self.home)
        for round_ in range(self.options.rounds):
            change(self.corpus, round_)
            self.index(later=round_ == self.options.rounds - 1)
        ratio = size_mb(self.home) / before
        figure = f"{before:.0f} -> {ratio * before:.0f} MB = {ratio:.2f} x"
        self.row(f"disk after {self.options.rounds} rounds of 1 %", figure, "1.3 x after 20", ratio <= 1.3)

    def search(self) -> None:
        home = self.scratch / "searched"
        queries = queries_of(self.corpus)
        command = [sys.executable, "-c", ONE_RUN, str(home), str(self.corpus)]
        indexing = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        meanwhile = searches(home, queries, until=lambda _: indexing.poll() is not None)
        finished = searches(home, queries, until=lambda done: done >= SEARCHES_AFTER)
        during, after = p95(meanwhile), p95(finished)
        figure = f"{during:.0f} / {after:.0f} ms = {during / after:.1f} x, most {max(meanwhile):.0f} ms"
        met = during <= 3 * after and max(meanwhile) <= 250
        self.row(f"search p95 while indexing ({len(meanwhile)}), CPU", figure, "3 x finished, never above 250 ms", met)
        shutil.rmtree(home)

    def cores(self) -> None:
        two = self.fresh().wall_s
        shutil.rmtree(self.home)
        one = self.index(cpus=1).wall_s
        self._first = None
        self.row(
            "wall time, one core against two", f"{one:.1f} / {two:.1f} s = {one / two:.2f} x", "1.5 x", one >= 1.5 * two
        )

    def large(self) -> None:
        small = self.indexed().peak_mb
        home = self.scratch / "large"
        run = self.index(corpus=self.options.large, home=home)
        ratio = run.peak_mb / small
        files = sum(1 for path in self.options.large.rglob("*") if path.is_file())
        name = f"peak memory at {files:,} files"
        self.row(name, f"{run.peak_mb:.0f} / {small:.0f} MB = {ratio:.2f} x", "1.15 x", ratio <= 1.15)
        shutil.rmtree(home)


def searches(home: Path, queries: list[str], *, until: Callable[[int], bool]) -> list[float]:
    """Search one query after the other; CPU milliseconds of each that found something."""
    taken: list[float] = []
    with open_memory(home) as memory:
        asked = 0
        while not until(len(taken)):
            before = time.process_time()
            result = memory.search(queries[asked % len(queries)])
            cost = 1_000 * (time.process_time() - before)
            asked += 1
            if result.hits and asked > 1:  # the first one imports and loads
                taken.append(cost)
            time.sleep(PAUSE_S)
    return taken


def queries_of(corpus: Path) -> list[str]:
    """Three words of a sentence somewhere in the corpus, a hundred times."""
    rng = random.Random(1)
    files = rng.sample(sorted(path for path in corpus.rglob("*") if path.is_file()), 100)
    found = []
    for path in files:
        words = path.read_text().split()
        start = rng.randrange(max(1, len(words) - 3))
        found.append(" ".join(words[start : start + 3]))
    return found


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def change(corpus: Path, round_: int) -> int:
    """Change one file in a hundred; returns how many that were."""
    files = sorted(path for path in corpus.rglob("*") if path.is_file())[round_ % 100 :: 100]
    for path in files:
        path.write_text(path.read_text() + f"\nchanged in round {round_}, word{round_}x{path.stem}\n")
    age(corpus, files)
    return len(files)


def age(corpus: Path, files: list[Path] | None = None) -> None:
    """Date files back: those of the last two seconds are hashed again by design."""
    for path in files if files is not None else corpus.rglob("*"):
        at = time.time() - 60
        os.utime(path, (at, at))


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


FIGURES = {
    "first": Bench.first,
    "unchanged": Bench.unchanged,
    "changed": Bench.changed,
    "disk": Bench.disk,
    "search": Bench.search,
    "cores": Bench.cores,
    "large": Bench.large,
}


def main() -> int:
    """Print the table; the exit code is 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--rounds", type=int, default=20, help="rounds of changing one percent")
    parser.add_argument("--large", type=Path, help="a folder of four times as many files")
    options = parser.parse_args()
    wanted = options.figures or [name for name in FIGURES if name != "large"]
    if unknown := set(wanted) - FIGURES.keys():
        parser.error(f"there is no figure {', '.join(sorted(unknown))}")
    if "large" in wanted and options.large is None:
        parser.error("large needs --large FOLDER")
    with tempfile.TemporaryDirectory(prefix="openmind-index-") as scratch:
        bench = Bench(Path(scratch), options)
        for name in FIGURES:
            if name in wanted:
                FIGURES[name](bench)
    return bench.missed > 0


if __name__ == "__main__":
    sys.exit(main())
