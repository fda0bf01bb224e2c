"""Ending an answer from another thread, over real sockets."""

import threading
import time
from collections.abc import Generator

import pytest
from lmstudio_server import ScriptedServer, steps
from lmstudio_server.server import Step
from openmind.domain.answers import AnswerText
from openmind.ports.answer_provider import Prompt
from openmind_lmstudio.lifeline import Interruptible, Lifeline
from openmind_lmstudio.provider import LMStudioProvider

CHAT = "/api/v1/chat"
PROMPT = Prompt(system="Answer.", user="How is the well?")
WORD = {"type": "message.delta", "content": "Deep"}
BEGUN = {"type": "chat.start", "model_instance_id": "acme/chat"}


@pytest.mark.parametrize(
    ("silent", "words"),
    [
        (steps.stall(600), 0),
        (steps.events(BEGUN, stall_s=600), 0),
        (steps.events(BEGUN, WORD, stall_s=600), 1),
    ],
    ids=["before the headers", "before the first word", "between two words"],
)
def test_another_thread_ends_the_wait_for_a_silent_model(
    server: ScriptedServer, provider: LMStudioProvider, silent: Step, words: int
) -> None:
    server.script(CHAT, silent)
    stream = provider.answerer("acme/chat").stream(PROMPT)
    heard: list[object] = []

    def read() -> None:
        for part in stream:
            heard.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    server.wait_for(CHAT)
    while len(heard) < words:
        time.sleep(0.01)
    time.sleep(0.1)  # so that it waits by now, or does not yet: it ends either way

    stream.close()
    reader.join(60)

    assert not reader.is_alive()  # the server goes on to be silent
    assert heard == [AnswerText("Deep")] * words
    assert len(server.posts(CHAT)) == 1  # it is not asked again


def test_an_answer_that_was_ended_before_it_began_asks_nothing(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    stream = provider.answerer("acme/chat").stream(PROMPT)

    stream.close()

    assert list(stream) == []
    assert server.posts(CHAT) == []


def test_the_connection_serves_others_afterwards(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.script(CHAT, steps.events(BEGUN, WORD, stall_s=600))
    stream = provider.answerer("acme/chat").stream(PROMPT)
    assert next(stream) == AnswerText("Deep")

    stream.close()

    assert list(provider.answerer("acme/chat").stream(PROMPT))


def test_many_answers_on_their_way_keep_no_other_request_waiting(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.always(CHAT, steps.events(BEGUN, WORD, stall_s=600))
    streams = [provider.answerer("acme/chat").stream(PROMPT) for _ in range(9)]

    heard = [next(stream) for stream in streams]
    listed = provider.models()

    assert heard == [AnswerText("Deep")] * 9
    assert listed
    for stream in streams:
        stream.close()


def test_a_lifeline_that_was_cut_breaks_what_is_tied_to_it_later() -> None:
    lifeline, broken = Lifeline(), list[str]()

    lifeline.cut()
    with lifeline.loosened():
        lifeline.tie(lambda: broken.append("broken"))
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
