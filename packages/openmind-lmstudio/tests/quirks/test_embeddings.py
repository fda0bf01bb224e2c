"""What embedding servers do: each test names the quirk that it plays."""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from math import hypot
from typing import Any

import pytest
from lmstudio_server import ScriptedServer, embedding, steps
from openmind.domain.errors import ModelNotLoaded, PassageRefused, ProviderError, ProviderUnreachable
from openmind_lmstudio import policy
from openmind_lmstudio.address import Address
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.embedding_requests import EmbeddingRequests
from openmind_lmstudio.embeddings import ServedEmbeddings
from openmind_lmstudio.isolation import RECOVERY_S
from openmind_lmstudio.policy import Patience
from openmind_lmstudio.provider import LMStudioProvider
from openmind_lmstudio.turns import Turns
from openmind_lmstudio.wire import Record

EMBED, LOAD = "/v1/embeddings", "/api/v1/models/load"
KEY = "text-embedding-acme"
NOT_LOADED = steps.reply(400, steps.flat("No models loaded. Please load a model in the developer page."))
CRASHED = steps.reply(400, steps.flat("The model has crashed without additional information."))


@pytest.fixture
def embedder(provider: LMStudioProvider) -> ServedEmbeddings:
    return provider.embedder(KEY)


class Impatient(Connection):
    """Gives the batches on which a model never ends 0.3 seconds, and others the time they need."""

    def __init__(self, server: ScriptedServer, never_ends: Callable[[list[str]], bool]) -> None:
        super().__init__(Address.parse(server.base_url), server="LM Studio")
        self.never_ends = never_ends
        self.sent: list[list[str]] = []
        server.always(EMBED, self.answer)

    def answer(self, exchange: Any) -> None:
        texts = exchange.request.body["input"]
        (steps.stall(600) if self.never_ends(texts) else steps.normal)(exchange)

    def post(self, path: str, body: Mapping[str, object], patience: Patience) -> Record:
        texts = body.get("input")
        if isinstance(texts, list):
            self.sent.append(texts)
            patience = Patience(read_s=0.3 if self.never_ends(texts) else 600.0)
        return super().post(path, body, patience)


@pytest.fixture
def impatient(server: ScriptedServer) -> Iterator[Callable[..., tuple[Impatient, ServedEmbeddings]]]:
    opened: list[Impatient] = []

    def embedder(never_ends: Callable[[list[str]], bool]) -> tuple[Impatient, ServedEmbeddings]:
        connection = Impatient(server, never_ends)
        opened.append(connection)
        requests = EmbeddingRequests(connection, model=KEY, prepare=LMStudioClient(connection).load_model_if_needed)
        return connection, ServedEmbeddings(
            requests, connection=connection, provider="lmstudio", model=KEY, turns=Turns()
        )

    yield embedder
    for connection in opened:
        connection.close()


def sent(server: ScriptedServer) -> list[list[str]]:
    """The batches that were sent, without the one that asks for the dimension."""
    return [body["input"] for body in server.posts(EMBED)][1:]


def test_batches_are_full_and_no_larger_than_thirty_two(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed([f"text {n} " + "word " * 240 for n in range(70)], role="passage")

    assert [len(batch) for batch in sent(server)] == [32, 32, 6]


def test_batches_hold_no_more_text_than_as_many_windows(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.models = [embedding(KEY, context=512)]

    provider.embedder(KEY).embed(["x" * 3_000] * 32, role="passage")

    assert all(sum(map(len, batch)) <= 32 * 512 * 2 for batch in sent(server))
    assert sum(map(len, sent(server))) == 32


def test_a_text_far_beyond_the_window_is_cut_before_it_is_sent(
    server: ScriptedServer, embedder: ServedEmbeddings
) -> None:
    embedder.embed(["x" * 1_000_000], role="passage")

    assert len(sent(server)[0][0]) <= 2_048 * 8


def test_newlines_become_spaces_and_no_text_is_empty(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a line\r\nand\n\nanother\u2028one", " \n ", "a\0b"], role="passage")

    assert sent(server) == [["a line and another one", ".", "a b"]]


def test_a_model_that_is_not_loaded_any_more_is_loaded_once(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a"], role="passage")
    server.studio.jit = False
    server.studio.models[0].instances.clear()

    assert len(embedder.embed(["b", "c"], role="passage")) == 2
    assert server.posts(LOAD) == [{"model": KEY}]


def test_status_200_with_an_error_is_no_batch(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a"], role="passage")
    server.script(EMBED, steps.reply(200, steps.flat("No models loaded. Please load a model.")))

    assert len(embedder.embed(["b"], role="passage")) == 1
    assert sent(server) == [["a"], ["b"], ["b"]]


def test_a_model_that_does_not_stay_is_told_and_not_asked_for_every_batch(
    server: ScriptedServer, embedder: ServedEmbeddings
) -> None:
    embedder.embed(["a"], role="passage")
    server.always(EMBED, NOT_LOADED)
    before = len(server.requests)

    with pytest.raises(ModelNotLoaded) as raised:
        embedder.embed(["b"] * 320, role="passage")

    assert "openmind models load" in raised.value.hint
    assert len(server.posts(EMBED)) == 2 + 2
    assert len(server.requests) - before <= 4


def test_a_server_that_goes_away_is_told_after_two_more_attempts(
    server: ScriptedServer, embedder: ServedEmbeddings, naps: list[float]
) -> None:
    embedder.embed(["a"], role="passage")
    server.stop()

    with pytest.raises(ProviderUnreachable):
        embedder.embed(["b"], role="passage")

    assert naps == list(policy.EMBED.pauses_s)


def test_a_server_that_comes_back_is_used_again(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    first = embedder.embed(["a"], role="passage")
    server.stop()
    with pytest.raises(ProviderUnreachable):
        embedder.embed(["a"], role="passage")
    server.start()

    assert embedder.embed(["a"], role="passage") == first


def test_a_failing_server_is_asked_again(server: ScriptedServer, embedder: ServedEmbeddings, naps: list[float]) -> None:
    embedder.embed(["a"], role="passage")
    server.script(EMBED, steps.reply(500, steps.flat("boom")), steps.drop)

    assert len(embedder.embed(["b"], role="passage")) == 1
    assert naps == list(policy.EMBED.pauses_s)


def test_other_refusals_are_not_repeated(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a"], role="passage")
    server.always(EMBED, steps.reply(401, steps.native("token!", code="invalid_api_key")))

    with pytest.raises(ProviderError):
        embedder.embed(["b"] * 64, role="passage")

    assert len(server.posts(EMBED)) == 3


def test_one_request_is_under_way_at_a_time(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.embed_s = 0.01
    embedders = [provider.embedder(KEY), provider.embedder(KEY)]
    threads = [
        threading.Thread(target=embedder.embed, args=(["a", "b"],), kwargs={"role": "query"})
        for embedder in embedders * 3
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert server.most_embeddings_at_once == 1


def test_a_question_gets_its_turn_between_the_batches_of_a_job(
    server: ScriptedServer, embedder: ServedEmbeddings
) -> None:
    embedder.embed(["warm"], role="passage")
    warm = len(server.posts(EMBED))
    lined_up = threading.Event()
    server.always(EMBED, steps.held(lined_up))
    job = threading.Thread(target=embedder.embed, args=(["text"] * 32 * 20,), kwargs={"role": "passage"})
    question = threading.Thread(target=embedder.embed, args=(["question"],), kwargs={"role": "query"})
    job.start()
    while len(server.posts(EMBED)) < warm + 1:
        time.sleep(0.002)
    question.start()
    while not embedder._turns._waiting:
        time.sleep(0.002)

    lined_up.set()
    question.join()
    job.join()

    assert [body["input"] for body in server.posts(EMBED)].index(["question"]) == warm + 1


@pytest.mark.parametrize("poison", [0, 17, 31, 40])
def test_a_text_that_crashes_the_engine_is_found(
    server: ScriptedServer, embedder: ServedEmbeddings, naps: list[float], poison: int
) -> None:
    server.studio.crash_text = "poison"
    texts = [f"text {n}" for n in range(48)]
    texts[poison] = "a text with poison"

    with pytest.raises(PassageRefused) as raised:
        embedder.embed(texts, role="passage")

    assert raised.value.index == poison
    assert set(naps) == {RECOVERY_S}
    assert len(naps) <= 8
    assert len(embedder.embed([*texts[:poison], *texts[poison + 1 :]], role="passage")) == 47


def test_a_crash_that_does_not_come_again_costs_nothing_but_time(
    server: ScriptedServer, embedder: ServedEmbeddings
) -> None:
    expected = embedder.embed(["a", "b", "c"], role="passage")
    server.script(EMBED, CRASHED)

    assert embedder.embed(["a", "b", "c"], role="passage") == expected


def test_an_engine_that_always_crashes_blames_no_text(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a"], role="passage")
    server.always(EMBED, CRASHED)

    with pytest.raises(ProviderError, match="crashed") as raised:
        embedder.embed([f"text {n}" for n in range(32)], role="passage")

    assert not isinstance(raised.value, PassageRefused)
    assert len(server.posts(EMBED)) < 16


@pytest.mark.parametrize(
    "refusal",
    [
        steps.reply(400, steps.flat("'input' field must be a string or an array of strings")),
        steps.reply(500, steps.openai("input is too large to process. increase the physical batch size")),
        steps.reply(413, steps.flat("request entity too large")),
    ],
)
def test_a_text_that_is_refused_is_found(
    server: ScriptedServer, embedder: ServedEmbeddings, refusal: Callable[[Any], None]
) -> None:
    def picky(exchange: Any) -> None:
        texts = exchange.request.body["input"]
        (refusal if any("poison" in text for text in texts) else steps.normal)(exchange)

    server.always(EMBED, picky)

    with pytest.raises(PassageRefused) as raised:
        embedder.embed(["a", "b", "poison", "c"], role="passage")

    assert raised.value.index == 2


def test_a_text_that_the_server_finds_too_long_is_embedded_in_parts(
    server: ScriptedServer, embedder: ServedEmbeddings
) -> None:
    refusal = steps.reply(500, steps.openai("input is too large to process. increase the physical batch size"))

    def narrow(exchange: Any) -> None:
        too_long = any(len(text) > 600 for text in exchange.request.body["input"])
        (refusal if too_long else steps.normal)(exchange)

    server.always(EMBED, narrow)

    vectors = embedder.embed(["a", "well " * 300, "b"], role="passage")

    assert [hypot(*row) for row in vectors.rows()] == pytest.approx([1.0, 1.0, 1.0], abs=1e-5)
    assert max(len(text) for body in server.posts(EMBED)[-3:] for text in body["input"]) <= 600


def test_a_slow_text_is_given_up_with_smaller_batches(
    impatient: Callable[..., tuple[Impatient, ServedEmbeddings]],
) -> None:
    connection, embedder = impatient(lambda texts: len(texts) > 8)
    embedder.embed([f"text {n}" for n in range(48)], role="passage")
    first = [len(batch) for batch in connection.sent][1:]  # before them the dimension was asked for
    connection.sent.clear()

    embedder.embed([f"more {n}" for n in range(16)], role="passage")

    assert first[:3] == [32, 16, 8]
    assert [len(batch) for batch in connection.sent] == [8, 8]


def test_a_text_on_which_the_model_never_ends_is_found(
    impatient: Callable[..., tuple[Impatient, ServedEmbeddings]],
) -> None:
    _, embedder = impatient(lambda texts: "wall of links" in texts)

    with pytest.raises(PassageRefused, match=r"0\.3 seconds") as raised:
        embedder.embed(["a", "wall of links"], role="passage")

    assert raised.value.index == 1


def rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = document["data"]
    return data


def test_vectors_in_another_order_are_put_back(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    expected = embedder.embed(["a", "b", "c"], role="passage")
    server.always(EMBED, steps.changed(lambda document: rows(document).reverse()))

    assert embedder.embed(["a", "b", "c"], role="passage") == expected


def test_vectors_of_any_length_become_unit_vectors(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    def stretch(document: dict[str, Any]) -> None:
        for row in rows(document):
            row["embedding"] = [component * 1e6 for component in row["embedding"]]

    server.always(EMBED, steps.changed(stretch))

    [row] = embedder.embed(["a cat sleeps"], role="passage").rows()

    assert math.hypot(*row) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: rows(document).pop(),
        lambda document: rows(document).append(rows(document)[0]),
        lambda document: rows(document)[0].update(index=1),
        lambda document: rows(document)[0].update(index=7),
        lambda document: rows(document)[0].update(index="0"),
        lambda document: rows(document)[0].pop("index"),
        lambda document: document.update(data=[]),
        lambda document: document.update(data=None),
        lambda document: document.pop("data"),
        lambda document: document.update(data=[None, 3]),
        lambda document: document.update(data={"0": rows(document)[0]}),
        lambda document: rows(document)[0]["embedding"].pop(),
        lambda document: [row["embedding"].pop() for row in rows(document)],
    ],
    ids=range(13),
)
def test_a_reply_of_another_shape_is_refused(
    server: ScriptedServer, embedder: ServedEmbeddings, change: Callable[[dict[str, Any]], object]
) -> None:
    embedder.embed(["warm"], role="passage")

    def spoil(document: dict[str, Any]) -> None:
        change(document)

    server.always(EMBED, steps.changed(spoil))

    with pytest.raises(ProviderError) as raised:
        embedder.embed(["a", "b"], role="passage")

    assert not isinstance(raised.value, PassageRefused)


BAD_VECTORS = [
    [0.0] * 64,
    [None] * 64,
    [1.0] * 63 + [None],
    [True] * 64,
    ["1.0"] * 64,
    [float("nan")] * 64,
    [1.0] * 63 + [float("inf")],
    [1e308] * 64,
    [10**400] + [1] * 63,
    [],
    "AAAAAAAA8D8AAAAA",
    {"0": 1.0},
]


@pytest.mark.parametrize("vector", BAD_VECTORS, ids=range(len(BAD_VECTORS)))
def test_what_is_no_vector_is_refused_with_its_text(
    server: ScriptedServer, embedder: ServedEmbeddings, vector: object
) -> None:
    embedder.embed(["warm"], role="passage")

    def spoil(exchange: Any) -> None:
        def change(document: dict[str, Any]) -> None:
            if len(rows(document)) == 3:
                rows(document)[1]["embedding"] = vector

        steps.changed(change)(exchange)

    server.always(EMBED, spoil)

    with pytest.raises(PassageRefused) as raised:
        embedder.embed(["a", "b", "c"], role="passage")

    assert raised.value.index == 1


def test_a_server_that_sends_only_base64_blames_no_text(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["warm"], role="passage")

    def encode(document: dict[str, Any]) -> None:
        for row in rows(document):
            row["embedding"] = "AAAAAAAA8D8AAAAA"

    server.always(EMBED, steps.changed(encode))

    with pytest.raises(ProviderError, match="no vector") as raised:
        embedder.embed(["a", "b"], role="passage")

    assert not isinstance(raised.value, PassageRefused)


def test_nothing_but_model_and_input_is_sent(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a"], role="query")

    assert all(set(body) == {"model", "input"} for body in server.posts(EMBED))


def test_zeros_in_the_usage_are_no_matter(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    server.always(EMBED, steps.changed(lambda document: {name: document[name] for name in ("data", "model")}))

    assert len(embedder.embed(["a"], role="query")) == 1


def test_the_client_embeds_texts_as_they_are(server: ScriptedServer, connection: Connection) -> None:
    assert len(LMStudioClient(connection).embed(KEY, ["two\nlines", "one"])) == 2
    assert server.posts(EMBED) == [{"model": KEY, "input": ["two\nlines", "one"]}]


def test_half_a_surrogate_pair_is_sent_as_something(server: ScriptedServer, embedder: ServedEmbeddings) -> None:
    embedder.embed(["a \ud800 b"], role="passage")

    assert sent(server) == [["a ? b"]]


def test_the_prefixes_of_a_known_family_are_sent_and_part_of_the_identity(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.models.append(embedding("text-embedding-nomic-embed-text-v1.5"))
    embedder = provider.embedder("text-embedding-nomic-embed-text-v1.5")

    embedder.embed(["text"], role="passage")
    embedder.embed(["question"], role="query")

    assert sent(server) == [["search_document: text"], ["search_query: question"]]
    assert embedder.identity.prompt_version == 1
    assert provider.embedder(KEY).identity.prompt_version == 0


def test_the_first_batch_may_take_as_long_as_a_load(server: ScriptedServer, connection: Connection) -> None:
    client = LMStudioClient(connection)
    requests = EmbeddingRequests(
        connection,
        model=KEY,
        prepare=client.load_model_if_needed,
        patience=Patience(read_s=0.2),
        first_patience=Patience(read_s=600),
    )
    server.studio.embed_s = 0.4

    assert len(requests.send(["a"])) == 1
    server.always(EMBED, steps.stall(600))
    with pytest.raises(ProviderError, match=r"0\.2 seconds"):
        requests.send(["a"])


def test_the_same_files_make_the_same_identity(server: ScriptedServer, provider: LMStudioProvider) -> None:
    one, other = provider.embedder(KEY).identity, provider.embedder(KEY).identity

    assert one == other
    assert (one.provider, one.model, one.revision, one.dimension) == ("lmstudio", KEY, "gguf/Q8_0", 64)
    assert json.dumps(one.key)
