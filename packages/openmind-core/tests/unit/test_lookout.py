"""Who waits long for the code of strangers learns for whom, once, and is left in peace otherwise."""

import logging
import threading
from collections.abc import Callable

import pytest
from attrs import define, field
from openmind.application.lookout import SLOW_S, Lookout, Wait, begin_thread, shared_lookout, warn
from openmind.testing.fakes.jobs import FakeClock

WAIT = Wait("the plugin “acme” of the package openmind-acme", "its import", "acme")
PATIENCE_S = 60
"""Far more than a thread needs to be heard."""


@define(eq=False)
class Watch:
    """A lookout whose time passes as fast as it sleeps, and what it told."""

    clock: FakeClock = field(factory=FakeClock)
    said: list[str] = field(factory=list)
    heard: threading.Event = field(factory=threading.Event)
    slept: threading.Semaphore = field(factory=lambda: threading.Semaphore(0))

    def tell(self, sentence: str) -> None:
        self.said.append(sentence)
        self.heard.set()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.slept.release()

    def lookout(self) -> Lookout:
        return Lookout(tell=self.tell, clock=self.clock.monotonic, sleep=self.sleep)


def test_what_takes_long_is_told_with_its_name_and_the_way_out() -> None:
    watch = Watch()

    with watch.lookout().over(WAIT):
        assert watch.heard.wait(PATIENCE_S)

    assert watch.said == [
        f"The plugin “acme” of the package openmind-acme has been at its import for {SLOW_S:g} seconds, and is waited "
        "for. If it hangs, Ctrl-C ends a command, and OPENMIND_PLUGINS_BLOCKED=acme leaves it out."
    ]
    assert watch.clock.slept >= SLOW_S


def test_what_hangs_on_is_told_once() -> None:
    watch = Watch()

    with watch.lookout().over(WAIT):
        for _ in range(5):
            assert watch.slept.acquire(timeout=PATIENCE_S)

    assert len(watch.said) == 1


def test_what_is_done_sooner_is_not_told_and_its_thread_ends() -> None:
    watch = Watch()
    gate = threading.Event()

    def sleep(seconds: float) -> None:
        assert gate.wait(PATIENCE_S)
        watch.sleep(seconds)

    lookout = Lookout(tell=watch.tell, clock=watch.clock.monotonic, sleep=sleep)
    before = set(threading.enumerate())
    with lookout.over(WAIT):
        [thread] = [each for each in set(threading.enumerate()) - before if each.name == "openmind-lookout"]
    gate.set()
    thread.join(PATIENCE_S)

    assert thread.daemon
    assert not thread.is_alive()
    assert not watch.said
    with lookout.over(WAIT):  # it watches again
        assert watch.heard.wait(PATIENCE_S)


def test_of_several_that_are_waited_for_each_is_told() -> None:
    watch = Watch()
    inner = Wait("the store “attic” of openmind-attic", "its `search`", "attic")
    lookout = watch.lookout()

    with lookout.over(WAIT), lookout.over(inner):
        while len(watch.said) < 2:
            assert watch.slept.acquire(timeout=PATIENCE_S)

    assert {sentence.split(" has been ")[0] for sentence in watch.said} == {
        "The plugin “acme” of the package openmind-acme",
        "The store “attic” of openmind-attic",
    }


def test_ctrl_c_says_who_was_waited_for_unless_it_has_words_or_is_somebody_elses() -> None:
    lookout, own = Lookout(), KeyboardInterrupt()

    told = r"“acme” .* at its import; OPENMIND_PLUGINS_BLOCKED=acme"
    with pytest.raises(KeyboardInterrupt, match=told), lookout.over(WAIT):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt, match=r"^Interrupted while it rained$"), lookout.over(WAIT):
        raise KeyboardInterrupt("Interrupted while it rained")
    with pytest.raises(KeyboardInterrupt) as caught, lookout.over(WAIT, own=own):
        raise own
    assert caught.value is own


def test_a_program_hears_it_through_logging(caplog: pytest.LogCaptureFixture) -> None:
    warn("The plugin hangs.")

    [record] = caplog.records
    assert (record.name, record.levelno, record.getMessage()) == ("openmind", logging.WARNING, "The plugin hangs.")


def test_a_call_is_done_where_there_is_no_room_for_a_thread_and_the_next_one_tries_again() -> None:
    watch, refusals = Watch(), [RuntimeError("can't start new thread")]

    def begin(look: Callable[[], None]) -> None:
        if refusals:
            raise refusals.pop()
        begin_thread(look)

    lookout = Lookout(tell=watch.tell, clock=watch.clock.monotonic, sleep=watch.sleep, begin=begin)
    with lookout.over(WAIT):
        assert not refusals
    with lookout.over(WAIT):
        assert watch.heard.wait(PATIENCE_S)


def test_however_many_ask_for_the_lookout_of_a_process_one_thread_watches() -> None:
    before = {each for each in threading.enumerate() if each.name == "openmind-lookout"}

    for _ in range(5):
        with shared_lookout().over(WAIT):
            pass

    now = {each for each in threading.enumerate() if each.name == "openmind-lookout"}
    assert len(now - before) <= 1


def test_a_process_that_was_forked_watches_with_a_thread_of_its_own() -> None:
    begun = list[Callable[[], None]]()
    lookout = Lookout(begin=begun.append)

    with lookout.over(WAIT):
        lookout.begin_anew()  # as the fork does, in the child
        with lookout.over(WAIT):
            assert len(begun) == 2
