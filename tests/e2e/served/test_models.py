"""Showing, loading and changing models."""

import re
import sys
import threading
from pathlib import Path

import pytest
from lmstudio_server.steps import held, stall

pytestmark = pytest.mark.e2e
at_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

UP, DOWN, ENTER, CTRL_C = "\x1b[A", "\x1b[B", "\r", "\x03"
WHICH, EMBED, CHAT, EYES, BEGIN = (
    "Which models shall",
    "(embedding model)?",
    "(chat model)?",
    "describes pictures?",
    "Begin now",
)


def unstyled(shown: str) -> str:
    """What a terminal shows, without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


@pytest.fixture
def more_models(configured, server):
    """The memory with its models, and others to change to."""
    from lmstudio_server import embedding, llm

    server.studio.models += [embedding("embed-other", loaded=False, dimension=32), llm("chat-other", loaded=False)]
    return configured


def test_models_are_listed_with_what_they_are_used_for(configured) -> None:
    rows = [line.split("\t") for line in configured.done("models", "list").out.splitlines()]

    assert [row[0] for row in rows] == ["text-embedding-acme", "acme/chat", "acme/eyes", "builtin"]
    assert [row[-1] for row in rows] == ["embedding", "chat", "-", "-"]
    assert rows[2][1] == "chat, see"
    told = configured.done("models", "list", "--json").object
    assert [model["key"] for model in told["image_models"]] == ["acme/eyes"]
    assert told["selected"]["chat_model"] == "acme/chat"


def test_models_are_loaded_once(configured, server) -> None:
    server.studio.models[1].instances.clear()

    configured.done("models", "load")
    told = configured.done("models", "load", "acme/chat", "--json").object

    assert server.posts("/api/v1/models/load") == [{"model": "acme/chat"}]
    assert told["results"] == [{"model": "acme/chat", "status": "loaded", "skipped": True}]
    configured("models", "load", "nobody").refused(1, "nobody", "models list")


@at_a_terminal
def test_update_unloads_what_was_used_and_nothing_else(more_models, server, at_terminal, until) -> None:
    chat = server.studio.find("acme/chat")
    chat.load()
    unused = server.studio.find("acme/eyes")
    assert len(chat.instances) == 2

    screen = at_terminal("models", "update")
    screen.sees(WHICH)
    screen.types(ENTER)
    screen.sees(EMBED)
    screen.types(ENTER)
    screen.sees(CHAT, "chat-other")
    screen.types(DOWN, DOWN, ENTER)
    screen.sees(EYES)
    screen.types(ENTER)
    told = screen.ends()

    assert "acme/chat: unloaded" in unstyled(told)
    assert chat.instances == {}
    assert list(unused.instances) == ["acme/eyes"]
    assert list(server.studio.find("text-embedding-acme").instances) == ["text-embedding-acme"]
    assert list(server.studio.find("chat-other").instances) == ["chat-other"]
    assert more_models.done("config", "get", "models.chat_model").out == "chat-other\n"


@at_a_terminal
def test_another_embedding_model_is_taken_in_beside_the_former_one(more_models, server, at_terminal, until) -> None:
    screen = at_terminal("models", "update")
    told = ""
    for question, keys in ((WHICH, ENTER), (EMBED, DOWN + ENTER), (CHAT, ENTER), (EYES, ENTER), (BEGIN, "y")):
        told += screen.sees(question)
        screen.types(*keys)
    told += screen.ends()
    assert "text-embedding-acme: stays loaded until the new vectors are complete" in unstyled(told)
    assert "openmind index status" in told

    job = until("completed")
    assert server.studio.find("text-embedding-acme").instances == {}  # once nothing needs it any more
    assert job["already_indexed_files"] == 1
    embedded = [body["model"] for body in server.posts("/v1/embeddings") if "high water" in str(body["input"])]
    assert embedded == ["embed-other"]
    found = more_models.done("search", "ferry high water", "--json").object
    assert not found["degraded"]
    assert found["results"][0]["file_name"] == "harbour.md"


@at_a_terminal
def test_ctrl_c_while_a_model_loads_tells_how_far_the_server_is(more_models, server, at_terminal) -> None:
    before = (more_models.home / "config.toml").read_bytes()
    server.script("/api/v1/models/load", stall(600))

    screen = at_terminal("models", "load", "text-embedding-acme", "embed-other")
    screen.sees("Loading the models")
    server.wait_for("/api/v1/models/load")
    screen.types(CTRL_C)

    told = " ".join(screen.ends(code=130).split())
    assert "Loaded: text-embedding-acme. Not loaded so far: embed-other." in told
    assert "Nothing else was changed." in told
    assert (more_models.home / "config.toml").read_bytes() == before


@at_a_terminal
def test_ctrl_c_while_the_chosen_model_loads_leaves_the_choice_as_it_was(more_models, server, at_terminal) -> None:
    before = (more_models.home / "config.toml").read_bytes()
    server.script("/api/v1/models/load", stall(600))

    screen = at_terminal("models", "update", "--provider", "lmstudio", *("--embedding-model", "embed-other"),
                         *("--chat-model", "none"), *("--image-model", "none"))  # fmt: skip
    server.wait_for("/api/v1/models/load")
    screen.types(CTRL_C)

    assert "Not loaded so far: embed-other." in " ".join(screen.ends(code=130).split())
    assert (more_models.home / "config.toml").read_bytes() == before


@at_a_terminal
def test_ctrl_c_after_the_choice_says_that_it_is_made_and_what_comes_next(more_models, at_terminal) -> None:
    screen = at_terminal("models", "update", "--provider", "lmstudio", *("--embedding-model", "embed-other"),
                         *("--chat-model", "none"), *("--image-model", "none"), "--no-load")  # fmt: skip
    screen.sees("Begin now")
    screen.types(CTRL_C)

    told = screen.ends(code=130)
    assert "The models are chosen" in told
    assert "openmind index" in told
    assert more_models.done("config", "get", "models.embedding_model").out == "embed-other\n"


def test_a_server_without_models_is_told_what_to_download(openmind, server) -> None:
    server.studio.models = []
    setup = openmind.done("setup", "--provider", "lmstudio", "--base-url", server.base_url, "--yes")
    assert "text-embedding-nomic-embed-text-v1.5" in setup.err
    assert "no chat model" in setup.err
    assert "Loading" not in setup.err

    assert "no chat model" in openmind.done("provider", "status").out
    listed = openmind.done("models", "list")
    assert "no chat model" in listed.err
    assert "download" not in listed.out
    loaded = openmind.done("models", "load")
    assert "Nothing is to be loaded" in loaded.out
    assert "Loaded." not in loaded.out
    assert "Loading" not in loaded.err


@at_a_terminal
def test_ctrl_c_during_an_update_changes_nothing(more_models, server, at_terminal) -> None:
    before = (more_models.home / "config.toml").read_bytes()
    screen = at_terminal("models", "update")
    screen.sees(WHICH)
    screen.types(ENTER)
    screen.sees(EMBED)
    screen.types(DOWN, ENTER)
    screen.sees(CHAT)
    screen.types(CTRL_C)

    assert "Nothing was changed." in screen.ends(code=130)
    assert (more_models.home / "config.toml").read_bytes() == before
    assert "POST" not in {request.method for request in server.requests}


def test_without_loading_only_the_configuration_is_written(more_models, server) -> None:
    options = ("--provider", "lmstudio", "--embedding-model", "text-embedding-acme", "--image-model", "none")

    more_models.done("models", "update", *options, "--chat-model", "chat-other", "--no-load")

    assert "POST" not in {request.method for request in server.requests}
    assert more_models.done("config", "get", "models.chat_model").out == "chat-other\n"
    assert server.studio.find("acme/chat").instances


def test_going_back_to_the_built_in_embedder_unloads_what_was_used(more_models, server, until) -> None:
    told = more_models.done("models", "update", "--provider", "builtin", "--yes", "--json").object

    assert told["provider"] == "builtin"
    assert {result["model"] for result in told["unload_results"]} == {"acme/chat", "text-embedding-acme"}
    assert server.studio.find("acme/eyes").instances
    assert told["index_job"]["state"] == "pending"
    until("completed")
    assert not more_models.done("search", "ferry", "--json").object["degraded"]


def test_models_are_not_changed_under_a_job(more_models, server, person: Path, until) -> None:
    let_go = threading.Event()
    server.always("/v1/embeddings", held(let_go))
    for number in range(150):
        (person / "Documents" / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Sentence {number} again. " * 60)
    more_models.done("index", "start")
    until("running")

    more_models("models", "update", "--yes").refused(1, "being indexed", "openmind index stop")
    more_models("setup", "--yes").refused(1, "being indexed")
    more_models("config", "set", "models.chat_model", "none").refused(1, "being indexed")

    more_models.done("index", "stop")
    let_go.set()
    until("stopped")
    more_models.done("models", "update", "--yes", "--no-index")


def test_a_provider_that_is_away_is_told(configured, server) -> None:
    assert "answers at" in configured.done("provider", "status").out
    server.stop()

    told = configured("provider", "status")
    assert told.code == 1
    assert "does not answer" in told.out
    assert configured("provider", "status", "--json").object["reachable"] is False
    configured("models", "list").refused(1, "does not answer")
    configured("models", "load").refused(1, "does not answer")


def test_a_server_elsewhere_is_refused_and_once_allowed_warned_of(configured, server) -> None:
    far = ("config", "set", "provider.base_url", "http://192.0.2.1:9")
    configured(*far).refused(1, "not on this machine", "allow_remote")
    file = configured.home / "config.toml"
    file.write_text(file.read_text().replace(server.base_url, "http://192.0.2.1:9"))
    configured("provider", "status").refused(1, "not on this machine", "allow_remote")

    configured.done("config", "set", "provider.allow_remote", "true")
    told = configured.done(*far, "--json")

    assert "The text of your files is sent to http://192.0.2.1:9" in told.err
    assert told.object["settings"] == {"provider.base_url": "http://192.0.2.1:9"}


def test_settings_are_shown_and_changed(openmind) -> None:
    assert openmind.done("config", "path").out == f"{openmind.home / 'config.toml'}\n"
    assert openmind.done("config", "path", "--json").object["exists"] is False
    assert openmind.done("config", "get", "indexing.workers").out == "0\n"
    assert openmind.done("config", "set", "indexing.workers", "2").out == "indexing.workers = 2\n"
    assert openmind.done("config", "get", "indexing", "--json").object["settings"]["indexing.workers"] == 2
    assert "indexing.workers = 2\n" in openmind.done("config", "get").out
    openmind("config", "set", "indexing.workers", "many").refused(2, "indexing.workers", "whole number")
    openmind("config", "get", "indexing.worker").refused(2, "indexing.workers")
    openmind("config", "set", "indexing.worker", "2").refused(2, "no setting")
