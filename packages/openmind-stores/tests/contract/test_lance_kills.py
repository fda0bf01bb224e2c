"""A process that writes is killed at random; what it had finished is there, what it had begun is there whole or not."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, ask, counted
from openmind_stores.lance.chunk_store import LanceChunkStore

ROWS = 60
ROUNDS = 6
VERBS = ("add", "added", "delete", "deleted")
WRITER = """
import sys
from pathlib import Path
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, counted, row, unit
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.policy import UpkeepPolicy

policy = UpkeepPolicy(most_segments=3, most_tiny_files=3, vector_index_rows=200, loose_vectors=0, rows_per_partition=50)
store, generation = LanceChunkStore(Path(sys.argv[1]), policy=policy), int(sys.argv[2])
while True:
    generation += 1
    print("add", generation, flush=True)
    words = f"alpha only{generation}"
    store.add(TABLE, [row(generation, i, words, vector=unit(1, generation, i)) for i in range(60)])
    print("added", generation, flush=True)
    store.fold(TABLE)
    if generation % 3 == 0:
        print("delete", generation - 1, flush=True)
        store.delete(TABLE, [generation - 1])
        print("deleted", generation - 1, flush=True)
        store.merge(TABLE)
        store.clean(TABLE, older_than_s=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_kill_loses_nothing_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    rng = random.Random(3)
    store = LanceChunkStore(tmp_path)
    store.create(TABLE, dimension=3)
    expected: set[int] = set()
    generation = 0
    for _ in range(ROUNDS):
        said = killed_writer(tmp_path, generation, after_lines=rng.randint(1, 12), after_s=rng.uniform(0, 0.12))
        numbers = {verb: {number for each, number in said if each == verb} for verb in VERBS}
        expected = (expected | numbers["added"]) - numbers["deleted"]
        begun = numbers["add"] - numbers["added"]
        going = numbers["delete"] - numbers["deleted"]

        counts = counted(LanceChunkStore(tmp_path))

        there = {int(number) for number, _ in counts}
        assert set(counts.values()) <= {ROWS}
        assert expected - going <= there <= expected | begun
        reader = LanceChunkStore(tmp_path)
        for number in there:
            found = ask(reader, f"only{number}")
            assert (len(found.words), found.words_error) == (ROWS, "")
        expected = there
        generation = max([generation, *(number for _, number in said)])
    reader.fold(TABLE)
    reader.merge(TABLE)
    assert {int(number) for number, _ in counted(reader)} == expected
    assert generation > ROUNDS


def killed_writer(folder: Path, generation: int, *, after_lines: int, after_s: float) -> list[tuple[str, int]]:
    """Let a process write, kill it a little after it said some lines, and return all that it said."""
    command = [sys.executable, "-c", WRITER, str(folder), str(generation)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(after_lines)]
        time.sleep(after_s)
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.read().splitlines()
    return [(verb, int(number)) for verb, number in (line.split() for line in lines)]
