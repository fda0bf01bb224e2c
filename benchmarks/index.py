"""Measures indexing: the first run against the floor, an unchanged run, a run after one percent changed.

    python benchmarks/index.py CORPUS [--rounds N]

CORPUS is a folder of text files, such as `python benchmarks/corpus.py FOLDER` writes. Everything runs in processes of
its own; figures are CPU seconds of the process and its children, and the peak memory of the whole tree.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

ONE_RUN = """
import json, sys
from openmind import open_memory
with open_memory(sys.argv[1]) as memory:
    if not memory.sources.list():
        memory.sources.add(sys.argv[2])
    run = memory.index().run
    tally = run.tally
    heavy = [name for name in ("lance", "numpy", "lancedb", "pandas", "pyarrow") if name in sys.modules]
    print(json.dumps([tally.indexed, tally.already_indexed, tally.extracted, tally.embedded, heavy]))
"""


def measured(command: list[str], *, cpus: int | None = None) -> tuple[float, float, float, str]:
    """Run a command: CPU seconds, wall seconds, peak MB of the tree, what it printed last."""
    if cpus:
        command = ["taskset", "-c", ",".join(map(str, range(cpus))), *command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = [0.0]
    watcher = threading.Thread(target=_watch, args=(process, peak))
    watcher.start()
    printed = process.communicate()[0]
    watcher.join()
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(f"{command} failed")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, peak[0], printed.strip().splitlines()[-1]


def _watch(process: "subprocess.Popen[str]", peak: list[float]) -> None:
    root = psutil.Process(process.pid)
    while process.poll() is None:
        total = 0
        try:
            for each in (root, *root.children(recursive=True)):
                total += each.memory_info().rss
        except psutil.Error:
            pass
        peak[0] = max(peak[0], total / 1e6)
        time.sleep(0.1)


def change(files: list[Path], round_: int) -> None:
    """Change one file in a hundred."""
    for path in files[round_ % 100 :: 100]:
        path.write_text(path.read_text() + f"\nchanged in round {round_}, word{round_}x{path.stem}\n")


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def row(name: str, figure: str, bar: str) -> None:
    print(f"{name:<52} {figure:>22}   {bar}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of changing one percent")
    options = parser.parse_args()
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch) / "corpus"
        shutil.copytree(options.corpus, corpus)
        for path in corpus.rglob("*"):
            os.utime(path, (1, 1))
        files = sorted(path for path in corpus.rglob("*") if path.is_file())
        home = Path(scratch) / "home"
        run = [sys.executable, "-c", ONE_RUN, str(home), str(corpus)]
        floor, *_ = measured([sys.executable, str(here / "floor.py"), str(corpus)])
        row("floor, CPU s", f"{floor:.1f}", "")
        cpu, _, peak, told = measured(run)
        row("first index, CPU s", f"{cpu:.1f} = {cpu / floor:.2f} × floor", "≤ 1.4 ×")
        row("peak memory of the tree, MB", f"{peak:.0f}", "≤ 700")
        row("disk, MB", f"{size_mb(home):.0f}", "≤ 150 for 30 MB of text")
        print(f"  {told}")
        shutil.copytree(home, Path(scratch) / "copy")
        cpu, _, _, told = measured(run)
        row("unchanged, CPU s", f"{cpu:.2f}", "≤ 1.5, nothing heavy imported")
        print(f"  {told}")
        fresh = size_mb(home)
        for round_ in range(options.rounds):
            change(files, round_)
            cpu, _, _, told = measured(run)
            row(f"1 % changed, round {round_ + 1}, CPU s", f"{cpu:.2f}", "≤ 3")
            print(f"  {told}")
        row(f"disk after {options.rounds} rounds", f"{size_mb(home) / fresh:.2f} ×", "≤ 1.3 × after 20")
        shutil.rmtree(home)
        _, two, _, _ = measured(run)
        shutil.rmtree(home)
        _, one, _, _ = measured(run, cpus=1)
        row("wall, two cores against one", f"{one / two:.2f} ×", "≥ 1.5 ×")


if __name__ == "__main__":
    main()
