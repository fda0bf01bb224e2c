"""Bad conditions that a memory meets: a full disk, a home that may not be written, rivals, locks, a folder that goes.

One world lives through all of them, one after the other, while a reader looks all the time; what went wrong in each
is printed as JSON. Run by `test_conditions.py` in a process of its own, since it forks.
"""

import json
import os
import random
import resource
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from harness import STABLE, World, fork, holders, hurry, wait
from openmind.domain.control import Wish
from openmind.domain.errors import IndexingBusy, StoreFull, StoreReadOnly

RIVALS = 20
NOBODY = 65_534
ROOM = 36_000
"""Bytes that are left: enough for a reader's bookkeeping."""
LOCKED_S = 1.0
PATIENCE_S = 240.0


@attrs.define
class Calling:
    """A control that does something at the n-th question, and otherwise lets a run go on."""

    act: Callable[[], None]
    at: int = 1
    asked: int = 0

    def wish(self) -> Wish:
        self.asked += 1
        if self.asked == self.at:
            self.act()
        return Wish.GO

    def rest(self) -> None:
        raise AssertionError("nobody pauses")


def index(world: World, control: Calling | None = None) -> None:
    hurry()
    with world.memory() as memory:
        memory.index(control=control)


def stable_pages_are_found(world: World) -> None:
    """What never changed is found whatever happens to the rest."""
    with world.memory() as memory:
        memory.status()
        for page in world.pages[:STABLE]:
            found = holders(memory, page.own)
            assert found == [str(world.notes / page.name)] * page.paragraphs, found


def everything_is_found(world: World) -> None:
    world.index_and_check()


def a_full_disk(world: World) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))
        with pytest.raises(StoreFull, match="space"):
            index(world)
        stable_pages_are_found(world)

    world.change()
    world.must("a full disk", fill)
    world.must("after a full disk", lambda: everything_is_found(world))


def a_home_that_may_not_be_written(world: World) -> None:
    def look_as_nobody() -> None:
        index(world)
        stable_pages_are_found(world)  # and with it loaded what nobody may load from a person's own Python
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        stable_pages_are_found(world)
        with pytest.raises(StoreReadOnly, match="cannot be written"):
            index(world)

    if os.geteuid() != 0:
        return
    for place in (world.base.parent, world.base, *world.base.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
    world.base.chmod(0o777)  # the child writes there what went wrong
    world.must("a read-only home", look_as_nobody)
    world.must("after a read-only home", lambda: everything_is_found(world))


def twenty_runs_at_once(world: World) -> None:
    told = world.base / "told"
    told.mkdir()

    def compete() -> None:
        def wait_for_rivals() -> None:
            deadline = time.monotonic() + PATIENCE_S
            while len(list(told.iterdir())) < RIVALS - 1:
                assert time.monotonic() < deadline, "the rivals said nothing"
                time.sleep(0.02)

        try:
            index(world, Calling(wait_for_rivals))
        except IndexingBusy as busy:
            (told / str(os.getpid())).write_text(busy.message)

    world.change()
    rivals = [fork(compete) for _ in range(RIVALS)]
    codes = {pid: wait(pid) for pid in rivals}
    messages = {int(path.name): path.read_text() for path in told.iterdir()}
    [winner] = set(rivals) - messages.keys() or {0}
    # Whoever comes in the moment before the winner has written down who it is hears of another process.
    named = (f"the process {winner} ", "another process ")
    if any(codes.values()) or not all(message.lower().startswith(named) for message in messages.values()):
        world.violations.append(f"twenty at once: {codes}, {winner}, {sorted(set(messages.values()))}")
    world.must("after twenty at once", lambda: everything_is_found(world))


def a_catalog_that_another_program_locks(world: World) -> None:
    def index_beside_the_other() -> None:
        # A connection of this very process: one that is held up itself is given no longer to let go.
        other = sqlite3.connect(world.home / "openmind.sqlite", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(LOCKED_S, lambda: other.execute("COMMIT"))
        release.start()
        everything_is_found(world)
        release.join()

    world.change()
    world.must("a locked catalog", index_beside_the_other)


def a_folder_that_goes_between_runs(world: World) -> None:
    away = world.notes.with_name("unplugged")
    world.notes.rename(away)
    world.must("a folder that is away", lambda: (index(world), stable_pages_are_found(world), world.check()))
    away.rename(world.notes)
    world.must("a folder that is back", lambda: everything_is_found(world))


def a_folder_that_goes_during_a_run(world: World) -> None:
    away = world.notes.with_name("unplugged")
    for at in (2, 9):
        world.change()
        world.must(
            f"a folder that goes at {at}",
            lambda at=at: (index(world, Calling(lambda: world.notes.rename(away), at)), stable_pages_are_found(world)),
        )
        if away.exists():
            away.rename(world.notes)
        world.must(f"a folder that went at {at} and is back", lambda: everything_is_found(world))


CONDITIONS = (
    a_full_disk,
    a_home_that_may_not_be_written,
    twenty_runs_at_once,
    a_catalog_that_another_program_locks,
    a_folder_that_goes_between_runs,
    a_folder_that_goes_during_a_run,
)


def main() -> None:
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="openmind-conditions-") as name:
        world = World(Path(name) / "world", random.Random(7), with_models=False)
        world.prepare()
        with world.reader():
            for condition in CONDITIONS:
                if sys.argv[1:] and condition.__name__ not in sys.argv:
                    continue
                condition(world)
                found[condition.__name__] = world.violations
                world.violations = []
        found["reader"] = world.violations
    print(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
