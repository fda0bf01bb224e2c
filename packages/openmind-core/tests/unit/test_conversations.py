from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import define
from openmind.application.asking import conversations
from openmind.application.asking.conversations import IDLE_S, MOST, TURNS, Conversations
from openmind.domain.errors import SessionNotFound
from openmind.domain.evidence import Turn
from openmind.domain.ids import SessionId


@define
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_conversation_remembers_its_turns() -> None:
    kept = Conversations()
    begun = kept.begin()

    kept.record(begun.id, Turn("Who?", "Ada [1]."), continuation="resp_1", kept_chars=120)

    resumed = kept.resume(begun.id)
    assert resumed.turns == (Turn("Who?", "Ada [1]."),)
    assert (resumed.continuation, resumed.kept_chars) == ("resp_1", 120)


def test_only_the_latest_turns_are_kept() -> None:
    kept = Conversations()
    begun = kept.begin()

    for number in range(TURNS + 3):
        kept.record(begun.id, Turn(str(number), ""), continuation=None, kept_chars=0)

    assert [turn.question for turn in kept.resume(begun.id).turns] == [str(n) for n in range(3, TURNS + 3)]


def test_an_unknown_conversation_is_an_error() -> None:
    with pytest.raises(SessionNotFound):
        Conversations().resume(SessionId("chat_0000000000000000"))
    with pytest.raises(SessionNotFound):
        Conversations().end(SessionId("chat_0000000000000000"))


def test_an_ended_conversation_is_unknown_and_takes_no_more_turns() -> None:
    kept = Conversations()
    begun = kept.begin()

    kept.end(begun.id)
    kept.record(begun.id, Turn("late", ""), continuation=None, kept_chars=0)

    with pytest.raises(SessionNotFound):
        kept.resume(begun.id)


def test_a_conversation_expires_after_four_idle_hours_and_not_before() -> None:
    clock = Clock()
    kept = Conversations(clock=clock)
    begun = kept.begin()

    clock.now = IDLE_S - 1
    kept.resume(begun.id)
    clock.now += IDLE_S - 1
    kept.resume(begun.id)
    clock.now += IDLE_S

    with pytest.raises(SessionNotFound):
        kept.resume(begun.id)


def test_the_longest_idle_one_makes_room_for_a_new_one() -> None:
    clock = Clock()
    kept = Conversations(clock=clock)
    first, second = kept.begin(), kept.begin()
    for clock.now in range(1, MOST - 1):
        kept.begin()
    kept.resume(first.id)

    kept.begin()

    kept.resume(first.id)
    with pytest.raises(SessionNotFound):
        kept.resume(second.id)


def test_threads_share_it() -> None:
    kept = Conversations()

    def talk(_: int) -> SessionId:
        begun = kept.begin()
        for number in range(5):
            kept.record(begun.id, Turn(str(number), ""), continuation=None, kept_chars=0)
        return begun.id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(talk, range(100)))

    assert len(set(ids)) == 100
    assert all(len(kept.resume(session_id).turns) == 5 for session_id in ids)
    assert conversations.MOST >= 100
