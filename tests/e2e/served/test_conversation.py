"""Questions to a model, one or many, with a server that may go away."""

import sys
import threading
from itertools import groupby
from pathlib import Path

import pytest
from lmstudio_server import steps

pytestmark = pytest.mark.e2e
at_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

ENTER, CTRL_C, CTRL_D = "\r", "\x03", "\x04"
CHAT = "/api/v1/chat"
EMBED = "/v1/embeddings"
FERRY = "When does the ferry leave?"


def test_a_single_question_is_kept_nowhere(configured, server) -> None:
    told = configured.done("ask", FERRY)

    assert told.out.startswith("It says so [1].\n\nSources\n[1] harbour.md")
    [request] = server.posts(CHAT)
    assert request["store"] is False
    assert request["model"] == "acme/chat"
    assert "an hour before high water" in request["input"]


def test_a_pipe_gets_markdown_as_it_is_and_can_have_it_streamed(configured, server) -> None:
    server.studio.answer = ["It is **so** ", "[1] and ", "not [9]."]

    whole = configured.done("ask", FERRY)
    streamed = configured.done("ask", FERRY, "--stream")

    assert whole.out.startswith("It is **so** [1] and not.\n")
    assert streamed.out.startswith("It is **so** [1] and not.\n\nSources\n")
    assert "[9], which is none of the sources" in whole.err


def test_reasoning_is_off_until_it_is_wanted_and_never_in_the_answer(configured, server) -> None:
    server.studio.models[1].reasoning = ("off", "on")

    plain = configured.done("ask", FERRY)
    thinking = configured.done("ask", FERRY, "--reasoning", "--stream")

    assert [request.get("reasoning") for request in server.posts(CHAT)] == ["off", "on"]
    assert "Let me see" not in plain.out + plain.err
    assert "Let me see" not in thinking.out
    assert "Let me see" in thinking.err


def test_what_is_not_in_the_files_is_not_asked(configured, server) -> None:
    told = configured.done("ask", "quarterly zeppelin revenue forecast")

    assert "do not seem to hold" in told.out
    assert server.posts(CHAT) == []


def test_an_answer_that_breaks_off_is_shown_and_fails(configured, server) -> None:
    server.always(CHAT, steps.events({"type": "message.delta", "content": "The ferry"}, cut=True))

    told = configured("ask", FERRY)

    assert told.code == 1
    assert "The ferry" in told.out
    assert "not complete" in told.err


def test_without_the_server_the_passages_are_shown_and_the_reason(configured, server) -> None:
    server.stop()

    told = configured("ask", FERRY)

    assert told.code == 1
    assert "an hour before high water" in told.out
    assert "does not answer" in told.err
    assert configured("ask", FERRY, "--json").object["code"] == "provider.unreachable"


@at_a_terminal
def test_a_conversation_goes_on_with_what_was_said(configured, server, at_terminal) -> None:
    screen = at_terminal("ask")
    screen.sees("acme/chat answers from your files", "ask>")
    screen.types(FERRY, ENTER)
    assert "It says so [1]." in screen.sees("Sources", "file://", "ask>")
    screen.types("Before high water, which ferry?", ENTER)
    screen.sees("Sources", "ask>")
    screen.types("/clear", ENTER)
    screen.sees("Forgotten", "ask>")
    screen.types(FERRY, ENTER)
    screen.sees("Sources", "ask>")
    screen.types("/exit", ENTER)
    screen.ends()

    asked = [path for path, _ in groupby(path for path in server.paths() if path in {CHAT, EMBED})]
    assert asked == [EMBED, CHAT] * 3  # embedded before the stream is opened, and never within it
    first, second, third = server.posts(CHAT)
    assert first["store"] is True
    assert "previous_response_id" not in first
    assert second["previous_response_id"] == "resp_0001"
    assert "high water" in second["input"]
    assert "previous_response_id" not in third
    everything = b"".join(path.read_bytes() for path in configured.home.rglob("*") if path.is_file())
    assert b"which ferry" not in everything


@at_a_terminal
def test_ctrl_c_breaks_an_answer_off_and_ctrl_d_ends_the_talk(configured, server, at_terminal) -> None:
    server.script(CHAT, steps.endless({"type": "message.delta", "content": "One "}))
    screen = at_terminal("ask")
    screen.sees("ask>")
    screen.types(FERRY, ENTER)
    screen.sees("One")
    screen.types(CTRL_C)
    screen.sees("Broken off.", "ask>")
    screen.types(CTRL_D)
    screen.ends()

    server.wait_until_left()
    assert server.cancelled == 1


@at_a_terminal
def test_a_server_that_stops_mid_answer_ends_the_answer_and_not_the_talk(configured, server, at_terminal) -> None:
    server.script(
        CHAT,
        steps.events(
            {"type": "chat.start", "model_instance_id": "acme/chat"},
            {"type": "message.delta", "content": "The ferry leaves "},
            cut=True,
        ),
    )
    screen = at_terminal("ask")
    screen.sees("ask>")
    screen.types(FERRY, ENTER)
    assert "The ferry leaves" in screen.sees("not complete", "ask>")
    screen.types(FERRY, ENTER)
    assert "It says so [1]." in screen.sees("Sources", "ask>")
    screen.types("/quit", ENTER)
    screen.ends()


@at_a_terminal
def test_a_single_question_streams_at_a_terminal(configured, server, at_terminal) -> None:
    seen = threading.Event()

    def answer(exchange) -> None:
        exchange.begin_stream()
        exchange.event({"type": "message.delta", "content": "**Bold** "})
        seen.wait(100)
        exchange.event({"type": "message.delta", "content": "and [1]."})
        exchange.event({"type": "chat.end", "result": {"output": [message("**Bold** and [1].")]}})
        exchange.end_stream()

    server.script(CHAT, answer)

    screen = at_terminal("ask", FERRY)
    told = screen.sees("Bold")
    seen.set()
    told += screen.sees("and [1].") + screen.ends()

    assert "**" not in told


def message(text: str) -> dict[str, str]:
    return {"type": "message", "content": text}


def test_nobody_to_ask_is_no_question(configured) -> None:
    import subprocess

    ran = subprocess.run(
        [sys.executable, "-m", "openmind_cli", "ask"],
        env=configured.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert ran.returncode == 2
    assert "no question" in ran.stderr


def test_pictures_are_described_and_a_server_that_fails_is_tried_again(configured, server, person: Path) -> None:
    from PIL import Image

    Image.effect_noise((300, 200), 90).save(person / "Documents" / "bike.png")
    configured.done("config", "set", "extraction.images.model", "acme/eyes")
    server.always("/v1/chat/completions", steps.reply(500, steps.flat("The model has crashed.")))

    failed = configured("index", "--json").object

    assert [failure["code"] for failure in failed["failures"]] == ["partial"]
    assert configured.done("search", "png image pixels").out
    server.always("/v1/chat/completions", None)
    done = configured.done("index", "--json").object
    assert done["failures"] == []
    found = configured.done("search", "red bicycle", "--json").object["results"][0]
    assert found["metadata"]["image_description_model"] == "acme/eyes"
    assert found["metadata"]["raw_image_stored"] is False
    content = server.posts("/v1/chat/completions")[-1]["messages"][0]["content"]
    assert content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")
