"""What LM Studio does with questions: each test names the quirk that it plays."""

import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from lmstudio_server import ScriptedServer, llm, steps
from openmind.adapters.notebook_file import NotebookFile
from openmind.domain.answers import AnswerProgress, AnswerReasoning, AnswerRestarted, AnswerText
from openmind.domain.errors import AnswerIncomplete, ContextOverflow, ModelNotLoaded, ProviderError, ProviderUnreachable
from openmind.ports.answer_provider import AnswerPart, Prompt, Reply
from openmind_lmstudio import policy
from openmind_lmstudio.answers import ServedAnswers
from openmind_lmstudio.chat import ChatRequest
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import ConversationLost
from openmind_lmstudio.provider import LMStudioProvider

CHAT, COMPLETIONS = "/api/v1/chat", "/v1/chat/completions"
PROMPT = Prompt(system="Answer from the excerpts.", user="How is the well?")
THOUGHTFUL = Prompt(system=PROMPT.system, user=PROMPT.user, reasoning=True)
KNOWN_FIELDS = {
    *("model", "input", "stream", "store", "system_prompt"),
    *("reasoning", "max_output_tokens", "previous_response_id"),
}


def said(text: str) -> dict[str, object]:
    return {"type": "message.delta", "content": text}


def ended(*output: dict[str, str], **stats: int) -> dict[str, object]:
    return {"type": "chat.end", "result": {"output": list(output), "stats": stats}}


def message(text: str) -> dict[str, str]:
    return {"type": "message", "content": text}


Event = AnswerPart


def spoken(events: Iterable[Event]) -> list[Event]:
    """What the model says, without how far it is on the way there."""
    return [event for event in events if not isinstance(event, AnswerProgress)]


def listen(events: Iterable[Event], heard: list[str]) -> None:
    for event in events:
        if isinstance(event, AnswerProgress):
            continue
        assert isinstance(event, AnswerText)
        heard.append(event.text)


def kept(previous: str | None = None) -> Prompt:
    return Prompt(system=PROMPT.system, user=PROMPT.user, keep=True, previous=previous)


@pytest.fixture
def answerer(provider: LMStudioProvider) -> ServedAnswers:
    return provider.answerer("acme/chat")


@pytest.fixture
def thinker(server: ScriptedServer, provider: LMStudioProvider) -> ServedAnswers:
    server.studio.models.append(llm("acme/thinker", reasoning=("off", "low", "high")))
    return provider.answerer("acme/thinker")


def test_only_known_fields_are_sent(server: ScriptedServer, thinker: ServedAnswers) -> None:
    *_, first = thinker.stream(kept())
    assert isinstance(first, Reply)
    list(thinker.stream(kept(first.continuation)))

    assert set().union(*server.posts(CHAT)) == KNOWN_FIELDS
    assert "integrations" not in KNOWN_FIELDS


def test_a_prompt_is_sent_as_a_plain_string(server: ScriptedServer, answerer: ServedAnswers) -> None:
    list(answerer.stream(PROMPT))

    assert server.posts(CHAT)[0]["input"] == PROMPT.user
    assert server.posts(CHAT)[0]["system_prompt"] == PROMPT.system


def test_nothing_is_stored_unless_it_is_to_be_kept(server: ScriptedServer, answerer: ServedAnswers) -> None:
    list(answerer.stream(PROMPT))
    *_, reply = answerer.stream(kept())

    assert [body["store"] for body in server.posts(CHAT)] == [False, True]
    assert reply.continuation == server.studio.response_ids[-1]


@pytest.mark.parametrize(
    ("offered", "wanted", "expected"),
    [
        (("off", "on"), False, "off"),
        (("off", "on"), True, "on"),
        (("low", "medium", "high"), False, "low"),
        (("low", "medium", "high"), True, "medium"),
        (("off", "xhigh"), True, None),
        ((), False, None),
        ((), True, None),
    ],
)
def test_reasoning_is_asked_for_as_the_model_offers_it(
    server: ScriptedServer, provider: LMStudioProvider, offered: tuple[str, ...], wanted: bool, expected: str | None
) -> None:
    server.studio.models = [llm("c", reasoning=offered)]

    list(provider.answerer("c").stream(THOUGHTFUL if wanted else PROMPT))

    assert server.posts(CHAT)[0].get("reasoning") == expected


def test_a_refused_reasoning_setting_is_left_out_once(server: ScriptedServer, thinker: ServedAnswers) -> None:
    told = steps.native("does not expose reasoning configuration", code="invalid_value", param="reasoning")
    server.script(CHAT, steps.reply(400, told))

    *_, reply = thinker.stream(PROMPT)

    assert reply.text == "It says so [1]."
    assert [body.get("reasoning") for body in server.posts(CHAT)] == ["off", None]


def test_a_refusal_may_come_as_an_event(server: ScriptedServer, thinker: ServedAnswers) -> None:
    told = steps.native("supported: low", code="invalid_value", param="reasoning")
    server.script(CHAT, steps.events({"type": "chat.start"}, {"type": "error", **told}, ended()))

    *_, reply = thinker.stream(PROMPT)

    assert reply.text == "It says so [1]."


def test_a_success_without_a_message_is_no_answer_and_asked_again_without_thinking(
    server: ScriptedServer, thinker: ServedAnswers
) -> None:
    server.script(
        CHAT,
        steps.events({"type": "reasoning.delta", "content": "Hm."}, ended({"type": "reasoning", "content": "Hm."})),
    )

    events = list(thinker.stream(THOUGHTFUL))

    assert [body["reasoning"] for body in server.posts(CHAT)] == ["low", "off"]
    assert events[0] == AnswerReasoning("Hm.")
    assert isinstance(events[-1], Reply)


def test_a_model_that_only_thinks_is_told(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(
        CHAT, steps.events(ended({"type": "reasoning", "content": "Hm."}, total_output_tokens=10, input_tokens=9))
    )

    with pytest.raises(ProviderError, match="only thought"):
        list(answerer.stream(PROMPT))

    assert len(server.posts(CHAT)) == 1


def test_a_model_with_much_room_gets_all_of_it_when_it_only_thought(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.models = [llm("c", context=65_536)]
    server.script(CHAT, steps.events(ended()))

    *_, reply = provider.answerer("c").stream(PROMPT)

    first, second = (body["max_output_tokens"] for body in server.posts(CHAT))
    assert first == 8_192
    assert 60_000 < second < 65_536
    assert isinstance(reply, Reply)


@pytest.mark.parametrize("wanted", [False, True])
def test_thoughts_inside_the_text_never_reach_the_answer(
    server: ScriptedServer, answerer: ServedAnswers, wanted: bool
) -> None:
    server.studio.answer = ["\n<th", "ink>Let me", " see.</", "think>\n\n", "It is", " dry."]

    *pieces, reply = answerer.stream(THOUGHTFUL if wanted else PROMPT)

    assert "".join(piece.text for piece in pieces if isinstance(piece, AnswerText)) == "It is dry."
    assert reply.text == "It is dry."
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, AnswerReasoning))
    assert thoughts == ("Let me see." if wanted else "")


@pytest.mark.parametrize("version", ["0.4", "0.3"])
def test_thoughts_whose_opening_the_template_wrote_are_never_shown(
    server: ScriptedServer, thinker: ServedAnswers, version: str
) -> None:
    server.studio.version = version
    server.studio.answer = ["Let me see.", "</th", "ink>\n\n", "It is", " dry."]

    *pieces, reply = spoken(thinker.stream(PROMPT))

    assert pieces == [AnswerText("It is"), AnswerText(" dry.")]
    assert reply.text == "It is dry."


@pytest.mark.parametrize("version", ["0.4", "0.3"])
def test_a_model_that_turns_out_to_have_thought_aloud_takes_its_words_back(
    server: ScriptedServer, answerer: ServedAnswers, version: str
) -> None:
    server.studio.version = version
    server.studio.answer = ["It is."]
    list(answerer.stream(PROMPT))  # it speaks, as far as anybody knows
    server.studio.answer = ["Let me see.", "</think>\n", "It is", " dry. <think>Hm.", "</think>"]

    *pieces, reply = spoken(answerer.stream(PROMPT))

    assert pieces == [
        AnswerText("Let me see."),
        AnswerRestarted(),
        AnswerText("It is"),
        AnswerText(" dry. "),
    ]
    assert reply.text == "It is dry. "


def test_a_server_that_parts_thoughts_itself_is_listened_to_word_by_word(
    server: ScriptedServer, thinker: ServedAnswers
) -> None:
    server.studio.answer = ["It is", " dry."]

    *pieces, _ = thinker.stream(THOUGHTFUL)

    assert AnswerText("It is") in pieces


def test_a_model_that_leaked_a_thought_once_is_held_back_from_then_on(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.answer = ["Let me see.", "</think>", "It is dry."]
    list(provider.answerer("acme/chat").stream(PROMPT))  # nothing told that it thinks

    *pieces, _ = spoken(provider.answerer("acme/chat").stream(PROMPT))

    assert pieces == [AnswerText("It is dry.")]


def test_a_model_that_answered_without_a_thought_speaks_at_once_from_then_on(
    server: ScriptedServer, provider: LMStudioProvider, thinker: ServedAnswers
) -> None:
    server.studio.answer = ["It is", " dry."]

    *first, _ = spoken(thinker.stream(PROMPT))
    *second, _ = spoken(provider.answerer("acme/thinker").stream(PROMPT))

    assert first == [AnswerText("It is dry.")]
    assert second == [AnswerText("It is"), AnswerText(" dry.")]


def test_what_was_learnt_of_a_model_is_known_to_the_next_process(
    server: ScriptedServer, connection: Connection, tmp_path: Path
) -> None:
    server.studio.models.append(llm("acme/thinker", reasoning=("off", "low", "high")))
    server.studio.answer = ["It is", " dry."]

    def asked_in_a_process() -> list[Event]:
        notebook = NotebookFile(tmp_path / "notebook.json", "lmstudio")
        provider = LMStudioProvider(LMStudioConfig(base_url=server.base_url), connection=connection, notebook=notebook)
        return spoken(provider.answerer("acme/thinker").stream(PROMPT))[:-1]

    assert asked_in_a_process() == [AnswerText("It is dry.")]
    assert asked_in_a_process() == [AnswerText("It is"), AnswerText(" dry.")]

    server.studio.answer = ["Let me see.", "</think>", "It is dry."]  # another template under the same name
    asked_in_a_process()
    assert asked_in_a_process() == [AnswerText("It is dry.")]
    server.studio.answer = ["It is", " dry."]
    assert asked_in_a_process() == [AnswerText("It is dry.")]


def test_what_broke_off_before_it_was_certain_to_be_an_answer_is_not_shown(
    server: ScriptedServer, thinker: ServedAnswers
) -> None:
    server.always(CHAT, steps.events(said("The plan is"), cut=True))
    heard: list[str] = []

    with pytest.raises(ProviderError):
        listen(thinker.stream(PROMPT), heard)

    assert heard == []


@pytest.mark.parametrize("where", ["reasoning_content", "reasoning", "content"])
def test_an_older_server_puts_thoughts_in_any_of_three_places(
    server: ScriptedServer, answerer: ServedAnswers, where: str
) -> None:
    server.studio.version = "0.3"
    thought = "<think>Hm.</think>" if where == "content" else "Hm."
    chunks = [{where: thought}, {"content": "It is dry."}]
    lines = [f'{{"choices": [{{"delta": {{"{k}": "{v}"}}}}]}}' for chunk in chunks for k, v in chunk.items()]
    server.always(COMPLETIONS, steps.events(*lines, "[DONE]"))

    *pieces, reply = answerer.stream(THOUGHTFUL)

    assert pieces == [AnswerReasoning("Hm."), AnswerText("It is dry.")]
    assert reply == Reply("It is dry.")


OVERFLOWS = [
    "Trying to keep the first 5000 tokens when context the overflows. n_ctx is 4096",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "Context size has been exceeded.",
]


@pytest.mark.parametrize("told", OVERFLOWS)
@pytest.mark.parametrize("shape", ["400", "200", "event", "event, then the end"])
def test_an_overflow_has_many_shapes(server: ScriptedServer, answerer: ServedAnswers, told: str, shape: str) -> None:
    event = {"type": "error", **steps.native(told, type="unknown")}
    server.always(
        CHAT,
        {
            "400": steps.reply(400, steps.flat(told)),
            "200": steps.reply(200, steps.flat(told)),
            "event": steps.events({"type": "chat.start"}, event, cut=True),
            "event, then the end": steps.events({"type": "chat.start"}, event, ended()),
        }[shape],
    )

    with pytest.raises(ContextOverflow) as raised:
        list(answerer.stream(PROMPT))

    assert "longer context" in raised.value.hint


@pytest.mark.parametrize("cut", [False, True])
def test_a_stream_with_nothing_in_it_is_a_failure(server: ScriptedServer, answerer: ServedAnswers, cut: bool) -> None:
    server.always(CHAT, steps.events(cut=cut))

    with pytest.raises(ProviderError) as raised:
        list(answerer.stream(PROMPT))

    assert not isinstance(raised.value, AnswerIncomplete)


def test_a_crash_instead_of_an_answer_is_told(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(CHAT, steps.reply(400, steps.flat("The model has crashed without additional information.")))

    with pytest.raises(ProviderError, match="crashed"):
        list(answerer.stream(PROMPT))


def test_a_prompt_that_cannot_fit_is_not_sent(server: ScriptedServer, answerer: ServedAnswers) -> None:
    with pytest.raises(ContextOverflow):
        list(answerer.stream(Prompt(system="", user="x" * 4_096 * 9)))

    assert server.posts(CHAT) == []


def test_the_answer_has_room_beside_a_prompt_of_the_greatest_size(
    server: ScriptedServer, answerer: ServedAnswers
) -> None:
    list(answerer.stream(Prompt(system="", user="x" * answerer.context_chars())))

    [body] = server.posts(CHAT)
    assert len(body["input"]) / 2 + body["max_output_tokens"] <= 4_096
    assert body["max_output_tokens"] >= 1_000


@pytest.mark.parametrize(
    "refusal",
    [
        steps.reply(500, steps.native("Only user and assistant roles", type="internal_error")),
        steps.reply(400, steps.native("Context size has been exceeded.")),
        steps.reply(400, steps.native("x", code="previous_response_not_found", param="previous_response_id")),
        steps.reply(404, steps.native("x", param="previous_response_id")),
        steps.events({"type": "chat.start"}),
    ],
    ids=["second system prompt", "outgrew the window", "lost", "lost with another status", "nothing at all"],
)
def test_a_conversation_that_cannot_go_on_is_told_before_a_word(
    server: ScriptedServer, answerer: ServedAnswers, refusal: Any
) -> None:
    *_, first = answerer.stream(kept())
    assert isinstance(first, Reply)
    server.script(CHAT, refusal)

    with pytest.raises(ProviderError) as raised:
        next(answerer.stream(kept(first.continuation)))

    assert not isinstance(raised.value, AnswerIncomplete | ProviderUnreachable)
    assert len(server.posts(CHAT)) == 2
    assert isinstance(list(answerer.stream(kept()))[-1], Reply)


def test_a_conversation_that_the_server_does_not_know_is_told(server: ScriptedServer, answerer: ServedAnswers) -> None:
    with pytest.raises(ConversationLost, match="earlier turn"):
        list(answerer.stream(kept("resp_long_gone")))


def test_a_follow_up_names_the_turn_before(server: ScriptedServer, answerer: ServedAnswers) -> None:
    *_, first = answerer.stream(kept())
    list(answerer.stream(kept(first.continuation)))

    assert [body.get("previous_response_id") for body in server.posts(CHAT)] == [None, "resp_0001"]


@pytest.mark.parametrize(
    "end",
    [
        steps.events(said("It is"), said(" dry")),
        steps.events(said("It is"), said(" dry"), cut=True),
        steps.events(said("It is dry"), b'event: message.delta\ndata: {"content": "torn', cut=True),
        steps.events(said("It is dry"), b"data: nonsense\n\n"),
        steps.events(said("It is dry"), {"type": "error", "error": {"type": "internal_error", "message": "boom"}}),
        steps.events(said("It is dry"), {"type": "chat.end"}),
    ],
    ids=["ended", "cut", "torn", "nonsense", "error", "end without a result"],
)
def test_a_stream_that_stops_is_incomplete_and_not_repeated(
    server: ScriptedServer, answerer: ServedAnswers, end: Any
) -> None:
    server.always(CHAT, end)
    heard: list[str] = []

    with pytest.raises(AnswerIncomplete):
        listen(answerer.stream(PROMPT), heard)

    assert "".join(heard) == "It is dry"
    assert len(server.posts(CHAT)) == 1


def test_a_stream_that_stalls_after_it_began_is_given_up(server: ScriptedServer, connect: Any) -> None:
    provider = provider_of(server, connect(idle_s=0.2))
    server.always(CHAT, steps.events(said("It is"), stall_s=600))
    stream = provider.answerer("acme/chat").stream(PROMPT)

    assert next(stream) == AnswerText("It is")
    with pytest.raises(AnswerIncomplete, match=r"0\.2 seconds"):
        next(stream)


def test_a_long_wait_before_the_first_word_is_no_stall(server: ScriptedServer, connect: Any) -> None:
    provider = provider_of(server, connect(idle_s=0.1))
    dry = (said("It is dry."), ended(message("It is dry.")))

    def slow(exchange: Any) -> None:
        exchange.begin_stream()
        exchange.event({"type": "model_load.progress", "progress": 0.5})
        exchange.wait(0.5)
        # In one piece: from its first word on, the answer may not pause.
        exchange.write(b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in dry))
        exchange.end_stream()

    server.always(CHAT, slow)

    *_, reply = provider.answerer("acme/chat").stream(PROMPT)

    assert reply.text == "It is dry."


def test_how_far_a_load_and_the_reading_of_the_prompt_are_is_passed_on(
    server: ScriptedServer, answerer: ServedAnswers
) -> None:
    progress = [
        {"type": "model_load.start", "model_instance_id": "acme/chat"},
        {"type": "model_load.progress", "model_instance_id": "acme/chat", "progress": 0.25},
        {"type": "prompt_processing.progress", "progress": 0.5},
        {"type": "prompt_processing.progress", "progress": "much"},
    ]
    server.script(CHAT, steps.events(*progress, said("Dry."), ended(message("Dry."))))

    *told, _, _ = answerer.stream(PROMPT)

    assert told == [
        AnswerProgress("loading", 0.0),
        AnswerProgress("loading", 0.25),
        AnswerProgress("reading", 0.5),
        AnswerProgress("reading", 0.0),
    ]


def test_a_slow_reader_is_no_silent_server(server: ScriptedServer, connect: Any) -> None:
    provider = provider_of(server, connect(idle_s=0.2))
    rested, spoken_out = threading.Event(), threading.Event()

    def patient(exchange: Any) -> None:
        exchange.begin_stream()
        exchange.event(said("It is"))
        rested.wait(60)
        rest = (said(" dry."), ended(message("It is dry.")))
        try:
            exchange.write(b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in rest))
        finally:
            spoken_out.set()
        exchange.end_stream()

    server.always(CHAT, patient)
    stream = provider.answerer("acme/chat").stream(PROMPT)

    next(stream)
    time.sleep(0.5)
    rested.set()
    assert spoken_out.wait(60)  # nothing is waited for when the reader goes on

    assert isinstance(list(stream)[-1], Reply)


def test_closing_the_stream_stops_the_generation(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(CHAT, steps.endless(said("It is")))
    stream = answerer.stream(PROMPT)
    next(stream)

    stream.close()

    server.wait_until_left()
    assert server.cancelled == 1


def test_the_whole_text_of_the_end_counts_and_what_was_missing_is_given(
    server: ScriptedServer, answerer: ServedAnswers
) -> None:
    server.always(CHAT, steps.events(said("It is"), ended(message("It is dry."))))

    assert list(answerer.stream(PROMPT)) == [AnswerText("It is"), AnswerText(" dry."), Reply("It is dry.")]


def test_a_text_that_only_the_end_has_is_given(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(CHAT, steps.events(ended(message("It is dry."))))

    assert list(answerer.stream(PROMPT)) == [AnswerText("It is dry."), Reply("It is dry.")]


def test_a_text_that_the_end_forgot_is_kept(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(CHAT, steps.events(said("It is dry."), ended()))

    assert list(answerer.stream(PROMPT)) == [AnswerText("It is dry."), Reply("It is dry.")]


def test_unknown_events_and_tools_are_passed_over(server: ScriptedServer, answerer: ServedAnswers) -> None:
    tool = {"type": "tool_call", "tool": "rm", "arguments": {}, "output": "gone"}
    server.always(
        CHAT,
        steps.events(
            {"type": "tool_call.start", "tool": "rm"},
            {"type": "brand.new", "content": "?"},
            "[]",
            said("It is dry."),
            {"type": "chat.end", "result": {"output": [tool, message("It is dry.")]}},
        ),
    )

    assert list(answerer.stream(PROMPT)) == [AnswerText("It is dry."), Reply("It is dry.")]


def test_an_answer_at_its_greatest_length_is_incomplete(server: ScriptedServer, answerer: ServedAnswers) -> None:
    def cut(exchange: Any) -> None:
        limit = exchange.request.body["max_output_tokens"]
        steps.events(said("It is"), ended(message("It is"), total_output_tokens=limit))(exchange)

    server.always(CHAT, cut)
    stream = answerer.stream(PROMPT)

    assert next(stream) == AnswerText("It is")
    with pytest.raises(AnswerIncomplete, match="greatest length"):
        next(stream)


def test_an_older_server_tells_when_an_answer_was_cut(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.studio.version = "0.3"
    list(answerer.stream(PROMPT))  # it is known now not to think unmarked
    chunk = '{"choices": [{"delta": {"content": "It is"}, "finish_reason": "length"}]}'
    server.always(COMPLETIONS, steps.events(chunk, "[DONE]"))
    stream = answerer.stream(PROMPT)

    assert next(stream) == AnswerText("It is")
    with pytest.raises(AnswerIncomplete):
        next(stream)


def test_a_model_that_is_gone_is_loaded_once_more(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.script(CHAT, steps.reply(400, steps.openai("No models loaded. Please load a model.")))

    *_, reply = answerer.stream(PROMPT)

    assert isinstance(reply, Reply)


def test_a_model_that_does_not_stay_is_told(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(CHAT, steps.reply(400, steps.openai("No models loaded. Please load a model.")))

    with pytest.raises(ModelNotLoaded):
        list(answerer.stream(PROMPT))

    assert len(server.posts(CHAT)) == 2


def test_a_refused_connection_is_tried_once_more(connect: Any, naps: list[float]) -> None:
    with (
        pytest.raises(ProviderUnreachable, match="does not answer"),
        connect("http://127.0.0.1:9").stream(CHAT, {"model": "c"}),
    ):
        raise AssertionError("there is nobody")

    assert naps == list(policy.STREAM.pauses_s)


def test_a_question_that_arrived_is_not_sent_again(
    server: ScriptedServer, answerer: ServedAnswers, naps: list[float]
) -> None:
    server.always(CHAT, steps.drop)

    with pytest.raises(ProviderError):
        list(answerer.stream(PROMPT))

    assert len(server.posts(CHAT)) == 1  # it may be under way
    assert naps == []


def test_a_reply_that_is_no_stream_is_refused(server: ScriptedServer, answerer: ServedAnswers) -> None:
    server.always(CHAT, steps.reply(200, {"output": []}))

    with pytest.raises(ProviderError, match="did not stream"):
        list(answerer.stream(PROMPT))


def test_an_endless_event_is_given_up(server: ScriptedServer, answerer: ServedAnswers) -> None:
    def endless(exchange: Any) -> None:
        exchange.begin_stream()
        for _ in range(64):
            exchange.write(b"data: " + b"x" * 1_000_000)
        exchange.end_stream()

    server.always(CHAT, endless)

    with pytest.raises(ProviderError, match="without end"):
        list(answerer.stream(PROMPT))


def test_the_client_chats_without_a_stream(server: ScriptedServer, connection: Connection) -> None:
    client = LMStudioClient(connection)
    request = ChatRequest(model="acme/chat", text="How is the well?")

    assert client.chat(request).text == "It says so [1]."
    server.studio.version = "0.3"
    assert client.chat(request).text == "It says so [1]."
    assert server.paths("POST") == [CHAT, COMPLETIONS]


def test_the_client_asks_for_effort_as_the_server_understands_it(
    server: ScriptedServer, connection: Connection
) -> None:
    server.studio.models.append(llm("acme/thinker", reasoning=("off", "low", "high")))
    client = LMStudioClient(connection)
    request = ChatRequest(model="acme/thinker", text="How is the well?", system="Be brief.")

    native = client.respond_with_reasoning(request, "medium")
    server.studio.version = "0.3"
    older = client.respond_with_reasoning(request, "medium")

    assert native.text == older.text == "It says so [1]."
    assert native.reasoning == older.reasoning == "Let me see."
    assert server.posts(CHAT)[0]["reasoning"] == "low"
    assert server.posts("/v1/responses")[0]["reasoning"] == {"effort": "medium"}
    assert server.posts("/v1/responses")[0]["instructions"] == "Be brief."


def provider_of(server: ScriptedServer, connection: Connection) -> LMStudioProvider:
    from openmind_lmstudio.config import LMStudioConfig

    return LMStudioProvider(LMStudioConfig(base_url=server.base_url), connection=connection)


def test_an_answer_of_nonsense_names_the_server_and_what_to_do(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.script("/api/v1/chat", steps.events("{nope"))

    with pytest.raises(ProviderError) as raised:
        list(provider.answerer("acme/chat").stream(Prompt(system="Answer.", user="How is the well?")))

    assert "LM Studio" in raised.value.message
    assert raised.value.hint
