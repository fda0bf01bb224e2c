"""Wishes to pause and to stop, heard whatever a run is doing."""

import threading
from collections.abc import Callable
from contextlib import contextmanager

import attrs
import pytest
from openmind.application.indexing.batch import OpenBatch
from openmind.application.indexing.preparation import InProcessPreparer
from openmind.domain.control import Wish
from openmind.domain.jobs import JobState

PATIENCE_S = 60
"""Who waits for somebody that this test holds up is let go after this long, and the test fails."""


@attrs.define
class Steering:
    """A control that turns from one wish to another when a condition comes true."""

    when: Callable[[], bool]
    wanted: Wish
    on_rest: Callable[[], None] = lambda: None
    turned: bool = False
    rests: int = 0

    def wish(self) -> Wish:
        self.turned = self.turned or self.when()
        return self.wanted if self.turned and not self.rests else Wish.GO

    def rest(self) -> None:
        self.rests += 1
        self.on_rest()


class Hanging:
    """An embedder whose server never answers, until it is set free."""

    def __init__(self, inner) -> None:
        self.inner, self.asked, self.free, self.gave_up = inner, threading.Event(), threading.Event(), threading.Event()

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def embed(self, texts, *, role):
        if role == "passage":
            self.hang()
        return self.inner.embed(texts, role=role)

    def hang(self) -> None:
        if not self.free.is_set():
            self.asked.set()
            if not self.free.wait(PATIENCE_S):
                self.gave_up.set()


class Silent(Hanging):
    """An embedder whose server takes queries, too, and answers none."""

    def embed(self, texts, *, role):
        self.hang()
        return self.inner.embed(texts, role=role)


@pytest.fixture
def hanging(world):
    embedder = Hanging(world.use())
    world.provider.embeddings = embedder
    yield embedder
    embedder.free.set()


@pytest.fixture
def read(monkeypatch) -> list[object]:
    """What was read so far, and waits for a commit or is committed."""
    entries: list[object] = []
    put = OpenBatch.put
    monkeypatch.setattr(OpenBatch, "put", lambda batch, entry: (entries.append(entry), put(batch, entry)))
    return entries


def names(memory, query: str) -> list[str]:
    return [hit.file_name for hit in memory.search(query).hits]


def test_a_stop_while_an_embedding_call_hangs_keeps_what_was_read(world, hanging) -> None:
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        steering = Steering(hanging.asked.is_set, Wish.STOP)

        report = memory.index(control=steering)

        assert not hanging.gave_up.is_set()  # the call was left to itself
        assert report.run.state is JobState.STOPPED
        assert names(memory, "heliotrope") == ["a.txt"]
        assert memory.status().missing_vectors == 1

        hanging.free.set()
        again = memory.index()

        assert again.run.tally.extracted == 0
        assert memory.status().missing_vectors == 0


def test_a_pause_while_an_embedding_call_hangs_rests_and_then_goes_on(world, hanging) -> None:
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        steering = Steering(hanging.asked.is_set, Wish.PAUSE, on_rest=hanging.free.set)

        report = memory.index(control=steering)

        assert report.run.state is JobState.COMPLETED
        assert steering.rests == 1
        assert not hanging.gave_up.is_set()
        assert memory.status().missing_vectors == 0
        assert not memory.search("heliotrope").degraded


def test_a_stop_while_the_server_does_not_even_say_who_it_is(world, hanging) -> None:
    class Mute:
        in_process = False

        @property
        def identity(self):
            hanging.hang()
            return hanging.inner.identity

    world.provider.embeddings = Mute()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)

        report = memory.index(control=Steering(hanging.asked.is_set, Wish.STOP))

        assert not hanging.gave_up.is_set()
        assert report.run.state is JobState.STOPPED


def test_a_stop_is_heard_while_folders_are_scanned_in_which_nothing_is_read(world, memory) -> None:
    for number in range(600):
        world.write(f"pictures/{number}.raw", "x")
    looked = []

    def scanning() -> bool:
        looked.append(True)
        return True

    report = memory.index(control=Steering(scanning, Wish.STOP))

    assert report.run.state is JobState.STOPPED
    assert looked == [True]
    assert report.run.tally.total == 0


def test_a_pause_while_folders_are_scanned_goes_on_scanning_afterwards(world, memory) -> None:
    for number in range(600):
        world.write(f"{number}.txt", f"heliotrope number{number}")
    states = []
    steering = Steering(lambda: True, Wish.PAUSE)

    report = memory.index(control=steering, progress=lambda event: states.append(event.state))

    assert steering.rests == 1
    assert report.run.tally.indexed == 600
    assert [state for at, state in enumerate(states) if at == 0 or states[at - 1] is not state] == [
        JobState.DISCOVERING,
        JobState.PAUSED,
        JobState.DISCOVERING,
        JobState.RUNNING,
        JobState.COMPLETED,
    ]


def test_a_stop_keeps_what_was_finished_and_the_next_run_does_the_rest(world, memory, read) -> None:
    for number in range(200):
        world.write(f"{number}.txt", f"heliotrope number{number}")

    report = memory.index(control=Steering(lambda: len(read) >= 100, Wish.STOP))
    found = memory.status().indexed_files

    assert report.run.state is JobState.STOPPED
    assert 0 < found < 200
    again = memory.index()
    assert again.notices == ()
    assert again.run.tally.already_indexed == found
    assert again.run.tally.indexed == 200 - found


@pytest.mark.parametrize("wanted", [Wish.STOP, Wish.PAUSE])
def test_helpers_stand_still_while_what_is_open_is_kept(world, memory, read, monkeypatch, wanted: Wish) -> None:
    for number in range(20):
        world.write(f"{number}.txt", f"heliotrope number{number}")
    still, seen = [], []

    @attrs.define
    class Watched:
        inner: object

        def __getattr__(self, name: str):
            return getattr(self.inner, name)

        @contextmanager
        def standing_still(self):
            still.append(True)
            yield
            still.pop()

    chunks = type(memory.storage.chunks)
    add = chunks.add
    monkeypatch.setattr(chunks, "add", lambda *given: (seen.append(bool(still)), add(*given)))
    means = memory.indexing.means
    watched = attrs.evolve(means, preparer=lambda *given: Watched(means.preparer(*given)))
    indexing = attrs.evolve(memory.indexing, means=watched)
    steering = Steering(lambda: len(read) >= 10, wanted, on_rest=lambda: seen.append(bool(still)))

    indexing.run(control=steering)

    assert seen[:2] == ([True] if wanted is Wish.STOP else [True, True])
    assert not still


def test_a_stopped_run_leaves_the_stores_in_order(world, memory, read, monkeypatch) -> None:
    for number in range(100):
        world.write(f"{number}.txt", f"heliotrope number{number}")

    assert memory.index(control=Steering(lambda: len(read) >= 50, Wish.STOP)).run.state is JobState.STOPPED

    def refuse(*_: object) -> None:
        raise AssertionError("the rows were counted")

    monkeypatch.setattr(type(memory.storage.chunks), "counts", refuse)
    assert memory.index().run.state is JobState.COMPLETED


def test_a_stop_that_comes_while_a_large_file_is_read_does_not_wait_until_it_is_stored(
    world, memory, monkeypatch
) -> None:
    world.write("large.txt", "\n\n".join(f"Paragraph {number} about heliotropes." * 4 for number in range(1_000)))
    begun = threading.Event()
    prepare_group = InProcessPreparer.prepare_group

    def begin(preparer: InProcessPreparer, requests):
        begun.set()
        return prepare_group(preparer, requests)

    def refuse(*_: object) -> None:
        raise AssertionError("it was stored")

    monkeypatch.setattr(InProcessPreparer, "prepare_group", begin)
    monkeypatch.setattr(type(memory.storage.chunks), "add", refuse)

    report = memory.index(control=Steering(begun.is_set, Wish.STOP))

    assert report.run.state is JobState.STOPPED
    assert report.run.tally.indexed == 0


def test_a_search_does_not_wait_for_a_server_that_hangs(world, hanging, monkeypatch) -> None:
    monkeypatch.setattr("openmind.application.searching.service.MOST_PATIENCE_S", 0.3)
    hanging.free.set()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    silent = world.provider.embeddings = Silent(hanging.inner)
    with world.memory() as memory:
        result = memory.search("heliotrope")

    gave_up = silent.gave_up.is_set()
    silent.free.set()
    assert not gave_up
    assert [hit.file_name for hit in result.hits] == ["a.txt"]
    assert "did not answer" in result.degraded_reason
