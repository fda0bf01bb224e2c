"""Ending an answer from another thread, over real sockets."""

import threading
import time
from collections.abc import Generator

import pytest
from lmstudio_server import ScriptedServer, steps
from openmind.domain.answers import AnswerText
from openmind.ports.answer_provider import Prompt
from openmind_lmstudio.lifeline import Interruptible, Lifeline
from openmind_lmstudio.provider import LMStudioProvider

CHAT = "/api/v1/chat"
PROMPT = Prompt(system="Answer.", user="How is the well?")
WORD = {"type": "message.delta", "content": "Deep"}
BEGUN = {"type": "chat.start", "model_instance_id": "acme/chat"}


@pytest.mark.parametrize("events", [[BEGUN], [BEGUN, WORD]], ids=["before the first word", "between two words"])
def test_another_thread_ends_the_wait_for_a_silent_model(
    server: ScriptedServer, provider: LMStudioProvider, events: list[dict[str, object]]
) -> None:
    server.script(CHAT, steps.events(*events, stall_s=30))
    stream = provider.answerer("acme/chat").stream(PROMPT)
    heard: list[object] = []
    reader = threading.Thread(target=lambda: heard.extend(stream))
    reader.start()
    while not server.posts(CHAT):
        time.sleep(0.01)
    time.sleep(0.3)

    began = time.monotonic()
    stream.close()
    reader.join(10)

    assert not reader.is_alive()
    assert time.monotonic() - began < 1
    assert heard == [AnswerText("Deep")] * (len(events) - 1)
    assert len(server.posts(CHAT)) == 1  # it is not asked again


def test_an_answer_that_was_ended_before_it_began_asks_nothing(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    stream = provider.answerer("acme/chat").stream(PROMPT)

    stream.close()

    assert list(stream) == []
    assert server.posts(CHAT) == []


def test_the_connection_serves_others_afterwards(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.script(CHAT, steps.events(BEGUN, WORD, stall_s=30))
    stream = provider.answerer("acme/chat").stream(PROMPT)
    assert next(stream) == AnswerText("Deep")

    stream.close()

    assert list(provider.answerer("acme/chat").stream(PROMPT))


def test_a_lifeline_that_was_cut_breaks_what_is_tied_to_it_later() -> None:
    lifeline, broken = Lifeline(), list[str]()

    lifeline.cut()
    with lifeline.tied(lambda: broken.append("broken")):
        pass
    lifeline.cut()

    assert broken == ["broken"]


def test_closing_a_generator_that_rests_closes_it_at_once() -> None:
    closed: list[str] = []

    def words() -> Generator[str, None, None]:
        try:
            yield "one"
            yield "two"
        finally:
            closed.append("closed")

    stream = Interruptible(words(), Lifeline())
    assert next(stream) == "one"

    stream.close()
    stream.close()

    assert closed == ["closed"]
    assert list(stream) == []
