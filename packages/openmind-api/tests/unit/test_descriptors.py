"""What fails in the event loop itself."""

import asyncio
import errno

import pytest
from openmind_api.descriptors import LoopFaults


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.close()


def test_that_no_connection_can_be_taken_is_one_sentence_however_often_it_happens(loop) -> None:
    told: list[str] = []
    bugs: list[BaseException] = []
    faults = LoopFaults([told.append], bugs.append)

    for _ in range(1_000):
        faults(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})

    assert told == ["No more connections can be taken for now: Too many open files. The server tries again by itself."]
    assert bugs == []


def test_what_nobody_foresaw_in_the_loop_is_noted_as_a_bug(loop) -> None:
    bugs: list[BaseException] = []
    faults = LoopFaults([], bugs.append)
    broken = ZeroDivisionError()

    faults(loop, {"message": "x", "exception": broken})
    faults(loop, {"message": "only a sentence"})

    assert bugs[0] is broken
    assert str(bugs[1]) == "only a sentence"
