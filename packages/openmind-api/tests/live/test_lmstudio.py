"""The API over LM Studio, played by a scripted server: choosing, loading, asking, and leaving while it is silent."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openmind_api.sse import Pace

sys.path.append(str(Path(__file__).parents[4] / "tests"))  # the scripted server serves end-to-end tests too

from lmstudio_server import ScriptedServer, steps

CHAT = "/api/v1/chat"
QUESTION = {"question": "What about the rent increase?"}


@pytest.fixture
def studio() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def lmstudio(world, studio) -> str:
    """A memory that uses LM Studio; the key of its chat model."""
    world.index()
    chat = next(model.key for model in studio.studio.models if model.type == "llm")
    text = f'[provider]\nname = "lmstudio"\nbase_url = "{studio.base_url}"\n[models]\nchat_model = "{chat}"\n'
    (world.home / "config.toml").write_text(text)
    return chat


def test_models_are_listed_loaded_and_chosen(world, lmstudio) -> None:
    with world.served() as api:
        listed = api.get("/models").json()
        embedder = next(model["key"] for model in listed["embedding_models"] if model["key"] != "builtin")
        loaded = api.post("/models/load", {"model_keys": [lmstudio]}).json()["results"]
        chosen = api.put("/models/selection", {"chat_model": lmstudio, "embedding_model": embedder}).json()
        status = api.get("/status").json()
        if chosen["index_job"]:
            api.job_finished()

    assert listed["provider"] == "lmstudio"
    assert lmstudio in [model["key"] for model in listed["chat_models"]]
    assert [(result["model"], result["status"]) for result in loaded] == [(lmstudio, "loaded")]
    assert (chosen["chat_model"], chosen["embedding_model"]) == (lmstudio, embedder)
    assert chosen["index_job"]["state"] == "pending"  # another embedder is taken in by itself
    assert (status["chat_model"], status["embedding_model"]) == (lmstudio, embedder)


def test_an_answer_is_streamed_from_model_to_client(world, lmstudio) -> None:
    with world.served() as api:
        found = [(name, data) for name, data in api.stream("/ask/stream", QUESTION) if name != ":"]
        whole = api.post("/ask", QUESTION).json()

    assert (found[0][0], found[-1][0]) == ("meta", "done")
    assert "".join(data["text"] for name, data in found if name == "delta")
    assert whole["state"] in {"answered", "not_in_files"}


def test_without_a_server_an_ask_is_503_and_a_search_goes_on(world, studio, lmstudio) -> None:
    studio.stop()
    with world.served() as api:
        asked, streamed = api.post("/ask", QUESTION), api.post("/ask/stream", QUESTION)
        searched = api.post("/search", {"query": "rent increase"})
        health = api.get("/providers/status").json()

    for response in (asked, streamed):
        assert response.status_code == 503
        assert response.json()["code"] == "provider.unreachable"
        assert "LM Studio" in response.json()["detail"]
        assert response.json()["hint"]
    assert searched.json()["state"] == "ok"
    assert health["reachable"] is False
    assert "LM Studio" in health["message"]


def test_a_client_that_leaves_stops_a_model_that_still_reads_the_prompt(world, studio, lmstudio, waited) -> None:
    studio.always(CHAT, steps.endless())
    # After its first event nothing is written, so that nothing but the connection tells that the client left.
    with world.served(pace=Pace(first_word_s=0.1, heartbeat_s=600)) as api:
        with api.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
            chunks = response.iter_bytes()
            next(chunks)
            studio.wait_for(CHAT)

        studio.wait_until_left()

        assert studio.cancelled == 1
        waited(lambda: api.server.application.asks.slots.taken == 0)
