"""From nothing to a memory that answers, in one sitting."""

import sys
from pathlib import Path

import pytest
from lmstudio_server.steps import stall

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")]

DOWN, ENTER, SPACE, CTRL_C = "\x1b[B", "\r", " ", "\x03"
WHICH, EMBED, CHAT, EYES = "Which models shall", "(embedding model)?", "(chat model)?", "describes pictures?"
FOLDERS, PATH, LIKE_THIS = "Which folders", "Path of the folder", "Set up OpenMind like this?"


def test_a_person_gets_from_nothing_to_an_answer(openmind, server, at_terminal, person: Path, until) -> None:
    server.studio.models[0].instances.clear()  # the embedding model is not loaded yet
    other = person / "My Letters"
    other.mkdir()
    (other / "rent.txt").write_text("The landlord raises the rent in July.")

    screen = at_terminal("setup", "--base-url", server.base_url)
    assert "LM Studio" in screen.sees("|_|", WHICH, "LM Studio")
    screen.types(ENTER)
    screen.sees("has 3 models", EMBED)
    screen.types(ENTER)
    screen.sees(CHAT)
    screen.types(ENTER)
    screen.sees(EYES, "Leave pictures out")
    screen.types(DOWN, DOWN, ENTER)  # from “None”, which is suggested, past “Leave pictures out” to the model
    screen.sees(FOLDERS, "Documents", "Another folder")
    screen.types(SPACE, DOWN, SPACE, ENTER)
    screen.sees(PATH)
    screen.types("nowhere", ENTER)
    screen.sees("nowhere", PATH)  # the line is empty again
    screen.types(f"'{other}'", ENTER)
    screen.sees(PATH)
    screen.types(ENTER)
    assert "My Letters" in screen.sees(LIKE_THIS)
    screen.types(ENTER)
    told = screen.ends()

    assert "openmind index status" in told
    assert "My Letters" not in told  # the plan was shown before it was agreed to
    until("completed")
    assert server.posts("/api/v1/models/load") == [{"model": "text-embedding-acme"}]
    config = openmind.done("config", "get", "--json").object["settings"]
    assert config["provider.base_url"] == server.base_url
    assert tuple(
        config[key]
        for key in ("provider.name", "models.embedding_model", "models.chat_model", "extraction.images.model")
    ) == ("lmstudio", "text-embedding-acme", "acme/chat", "acme/eyes")
    answer = openmind.done("ask", "When does the ferry leave?")
    assert answer.out.startswith("It says so [1].\n\nSources\n[1] harbour.md")
    assert (person / "Documents" / "harbour.md").as_uri() in answer.out
    assert openmind.done("search", "landlord rent").out.startswith(str(other / "rent.txt"))


def test_without_lm_studio_the_built_in_embedder_is_offered_first(openmind, server, at_terminal, until) -> None:
    server.stop()

    screen = at_terminal("setup", "--base-url", server.base_url)
    told = screen.sees(WHICH, "Built-in")
    assert "does not answer" in told
    assert "lms server start" in " ".join(told.split())
    screen.types(ENTER)
    screen.sees(FOLDERS)
    screen.types(SPACE, ENTER)
    screen.sees(LIKE_THIS)
    screen.types(ENTER)
    screen.ends()

    until("completed")
    assert "harbour.md" in openmind.done("search", "ferry").out
    assert openmind.done("ask", "ferry high water", "--json").object["state"] == "evidence_only"


def test_lm_studio_without_models_says_what_to_download(openmind, server, at_terminal) -> None:
    server.studio.models.clear()

    screen = at_terminal("setup", "--base-url", server.base_url, "--no-index")
    screen.sees(WHICH)
    screen.types(ENTER)
    told = screen.sees(FOLDERS)
    assert "has 0 models" in told
    assert "text-embedding-nomic-embed-text-v1.5" in told
    assert "SmolVLM-500M-Instruct" in told
    screen.types(ENTER)
    screen.sees(LIKE_THIS)
    screen.types(ENTER)
    screen.ends()

    assert openmind.done("config", "get", "models.embedding_model").out == "builtin\n"


@pytest.mark.parametrize("questions", range(6))
def test_ctrl_c_at_any_question_changes_nothing(openmind, server, at_terminal, questions: int) -> None:
    screen = at_terminal("setup", "--base-url", server.base_url)
    asked = [WHICH, EMBED, CHAT, EYES, FOLDERS, LIKE_THIS]
    for question in asked[:questions]:
        screen.sees(question)
        screen.types(ENTER)
    screen.sees(asked[questions])
    screen.types(CTRL_C)

    assert "Nothing was changed." in screen.ends(code=130)
    assert not openmind.home.exists()
    assert "POST" not in {request.method for request in server.requests}


def test_ctrl_c_while_a_model_loads_makes_no_memory(openmind, server, at_terminal) -> None:
    server.studio.models[0].instances.clear()
    server.script("/api/v1/models/load", stall(600))

    screen = at_terminal("setup", "--base-url", server.base_url, "--provider", "lmstudio", "--yes")
    server.wait_for("/api/v1/models/load")
    screen.types(CTRL_C)

    told = " ".join(screen.ends(code=130).split())
    assert "Not loaded so far: text-embedding-acme. The server may go on" in told
    assert "Nothing else was changed." in told
    assert not openmind.home.exists()


def test_saying_no_at_the_end_changes_nothing(openmind, server, at_terminal) -> None:
    screen = at_terminal(
        *("setup", "--provider", "lmstudio", "--base-url", server.base_url, "--chat-model", "none"),
        *("--embedding-model", "text-embedding-acme", "--image-model", "none", "--folder", "~/Documents"),
    )
    screen.sees(LIKE_THIS)
    screen.types("n")

    assert "Nothing was changed." in screen.ends(code=1)
    assert not openmind.home.exists()


def test_in_a_script_everything_is_an_option(openmind, server, person: Path) -> None:
    told = openmind.done(
        *("setup", "--json", "--provider", "lmstudio", "--base-url", f"{server.base_url}/v1", "--chat-model", "none"),
        *("--embedding-model", "text-embedding-acme", "--image-model", "acme/eyes", "--no-index"),
        *("--folder", str(person / "Documents")),
    ).object

    # to choose, to see that all is there, to load what is not loaded, to write it down
    assert server.paths("GET") == ["/api/v1/models"] * 4
    assert told["embedding_model"] == "text-embedding-acme"
    assert told["chat_model"] is None
    assert [source["path"] for source in told["sources_added"]] == [str(person / "Documents")]
    assert told["index_job"] is None
    assert openmind.done("index", "--json").object["indexed_files"] == 1
    assert server.posts("/v1/embeddings")


def test_what_is_missing_in_a_script_is_named(openmind, server) -> None:
    openmind("setup").refused(2, "--provider", "--chat-model", "--embedding-model", "--image-model", "--yes")
    openmind("setup", "--provider", "lmstudio", "--chat-model", "none").refused(2, "--embedding-model")
    openmind("models", "update").refused(2, "--provider")
    assert not openmind.home.exists()


def test_yes_takes_what_is_suggested_and_can_be_said_again(openmind, server, person: Path, until) -> None:
    given = ("setup", "--yes", "--base-url", server.base_url, "--folder", str(person / "Documents"))
    openmind.done(*given)
    until("completed")

    told = openmind.done(*given, "--json", "--no-index").object

    assert (told["provider"], told["chat_model"]) == ("lmstudio", "acme/chat")
    assert told["sources_added"] == []
    assert all(result["skipped"] for result in told["load_results"])


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--provider", "lmstudio", "--chat-model", "nobody"], 1, ["nobody", "acme/chat"]),
        (["--provider", "olama"], 2, ["olama", "openai-compatible"]),
        (["--provider", "lmstudio", "--base-url", "http://192.0.2.1:1234"], 1, ["this machine", "--allow-remote"]),
        (["--provider", "lmstudio", "--base-url", "garbage"], 2, ["--base-url garbage", "http://localhost:1234"]),
        (["--provider", "builtin", "--folder", "nowhere"], 1, ["nowhere"]),
        (["--provider", "builtin", "--base-url", "http://localhost:1"], 2, ["no server"]),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_changed(openmind, server, options, code, words) -> None:
    here = [] if "--base-url" in options or "builtin" in options else ["--base-url", server.base_url]

    told = openmind("setup", "--yes", *options, *here)

    told.refused(code, *words)
    assert "config.toml" not in told.err
    assert not openmind.home.exists()


def test_a_server_that_is_not_lm_studio_gets_the_provider_that_fits(openmind, server) -> None:
    server.studio.version = "other"
    here = ("setup", "--yes", "--base-url", server.base_url, "--no-index")
    fitting = f"openmind setup --provider openai-compatible --base-url {server.base_url}"
    openmind(*here, "--provider", "lmstudio").refused(1, "not LM Studio", fitting)
    assert not openmind.home.exists()

    assert openmind.done(*here, "--json").object["provider"] == "openai-compatible"
    loaded = openmind.done("models", "load").out
    assert "This server loads models by itself" in loaded
    assert "Loaded." not in loaded


def test_a_server_that_is_away_is_told_and_nothing_is_changed(openmind, server) -> None:
    server.stop()

    openmind("setup", "--yes", "--provider", "lmstudio", "--base-url", server.base_url).refused(1, "does not answer")

    assert not openmind.home.exists()


def test_a_model_that_cannot_be_loaded_is_told_and_the_rest_is_done(openmind, server, person: Path) -> None:
    from lmstudio_server import steps

    server.studio.models[0].instances.clear()
    server.always("/api/v1/models/load", steps.reply(500, steps.native("out of memory", type="model_load_failed")))

    told = openmind("setup", "--yes", "--base-url", server.base_url, "--folder", str(person / "Documents"))

    assert told.code == 1
    assert "text-embedding-acme: failed" in told.out
    assert "openmind index start" in told.out
    assert openmind.done("source", "list").out


def test_indexing_is_done_here_when_the_configuration_says_so(openmind, server, person: Path) -> None:
    openmind.done("config", "set", "indexing.background", "false")

    told = openmind.done("setup", "--yes", "--base-url", server.base_url, "--folder", str(person / "Documents"))

    assert "Done: 1 file" in told.out
    assert openmind.done("search", "ferry").out


def test_indexing_is_not_begun_when_the_configuration_says_so(openmind, server, person: Path) -> None:
    openmind.done("config", "set", "indexing.auto_start_after_setup", "false")

    told = openmind.done("setup", "--yes", "--base-url", server.base_url, "--folder", str(person / "Documents"))

    assert "openmind index start" in told.out
    assert openmind.done("index", "status", "--once", "--json").object["state"] == "idle"
