"""What LM Studio does with models: each test names the quirk that it plays."""

import json

import pytest
from lmstudio_server import ScriptedServer, embedding, llm, steps
from openmind.domain.errors import ModelNotFound, ModelNotLoaded, ProviderError
from openmind.ports.answer_provider import Prompt, Reply
from openmind.testing.contracts.image_describer import PNG
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.models import Dialect
from openmind_lmstudio.provider import LMStudioProvider

LOAD, UNLOAD = "/api/v1/models/load", "/api/v1/models/unload"
PROMPT = Prompt(system="Be brief.", user="?")


@pytest.fixture
def client(connection: Connection) -> LMStudioClient:
    return LMStudioClient(connection)


def test_everything_that_is_told_of_a_model_is_read(server: ScriptedServer, client: LMStudioClient) -> None:
    server.studio.models = [
        embedding("e", variant="e@q4_k_m", max_context=512, context=512),
        llm("c", loaded=False, reasoning=("off", "low", "xhigh"), vision=True, quantization=None),
    ]

    listing = client.list_models()

    embedder, chat = listing.models
    assert listing.dialect is Dialect.NATIVE
    assert (embedder.type, embedder.loaded, embedder.revision) == ("embedding", True, "gguf/q4_k_m")
    assert (chat.type, chat.loaded, chat.vision, chat.revision) == ("llm", False, True, "gguf")
    assert chat.reasoning == ("off", "low", "xhigh")
    assert embedder.info.max_context_length == 512
    assert chat.info.supports_images


def test_unknown_fields_and_kinds_of_model_are_passed_over(server: ScriptedServer, client: LMStudioClient) -> None:
    def from_the_future(document: dict[str, list[object]]) -> None:
        document["models"] += [{"type": "tts", "key": "voice"}, {"type": "llm"}, "what?", None]
        document["cursor"] = []
        first = document["models"][0]
        assert isinstance(first, dict)
        first |= {"quantization": "Q8", "max_context_length": "many", "loaded_instances": {"a": 1}, "shiny": True}

    server.always("/api/v1/models", steps.changed(from_the_future))

    models = client.list_models().models

    assert [model.key for model in models] == ["text-embedding-acme", "acme/chat", "acme/eyes"]
    assert models[0].max_context_length is None
    assert not models[0].loaded


def test_the_allocated_window_counts_and_not_the_trained_one(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.models = [embedding("e", context=1_024, max_context=8_192), llm("c", context=2_048)]

    assert provider.embedder("e").max_input_chars < 1_024 * 2.5
    assert provider.answerer("c").context_chars() < 2_048 * 2.5


def test_the_window_is_read_again_after_a_reload(server: ScriptedServer, provider: LMStudioProvider) -> None:
    [model] = server.studio.models = [embedding("e", context=2_048)]
    embedder = provider.embedder("e")
    embedder.embed(["a"], role="passage")
    before = embedder.max_input_chars
    model.instances.clear()
    model.context = 512
    server.studio.jit = False

    embedder.embed(["b"], role="passage")

    assert embedder.max_input_chars < before / 3


def test_of_several_instances_the_roomiest_is_addressed(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.models = [
        embedding("e", loaded=False, instances={"e": 512, "e:2": 2_048}),
        llm("c", loaded=False, instances={"c": 8_192, "c:2": 4_096}),
    ]

    embedder = provider.embedder("e")
    embedder.embed(["a"], role="passage")
    list(provider.answerer("c").stream(PROMPT))

    assert {body["model"] for body in server.posts("/v1/embeddings")} == {"e:2"}
    assert embedder.identity.model == "e"
    assert server.posts("/api/v1/chat")[0]["model"] == "c"


def test_an_instance_that_is_gone_is_looked_up_again(server: ScriptedServer, provider: LMStudioProvider) -> None:
    [model] = server.studio.models = [embedding("e", loaded=False, instances={"e:2": 2_048})]
    embedder = provider.embedder("e")
    embedder.embed(["a"], role="passage")
    model.instances.clear()

    embedder.embed(["b"], role="passage")

    assert [body["model"] for body in server.posts("/v1/embeddings")] == ["e:2", "e:2", "e:2", "e"]


def test_the_variant_goes_into_the_identity_and_never_into_a_request(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.models = [embedding("e", variant="e@q4_k_m", loaded=False)]
    embedder = provider.embedder("e")

    embedder.embed(["a"], role="passage")

    assert embedder.identity.revision == "gguf/q4_k_m"
    assert server.posts(LOAD) == [{"model": "e"}]
    assert {body["model"] for body in server.posts("/v1/embeddings")} == {"e"}


@pytest.mark.parametrize("answered", ["e@q4_k_m", "e:2", "e", "", "some/file-name.gguf"])
def test_a_name_with_additions_is_still_the_same_model(
    server: ScriptedServer, provider: LMStudioProvider, answered: str
) -> None:
    server.studio.models = [embedding("e"), embedding("f")]
    server.always("/v1/embeddings", steps.changed(lambda document: document | {"model": answered}))

    assert len(provider.embedder("e").embed(["a"], role="passage")) == 1


@pytest.mark.parametrize("answered", ["f", "f@q8_0", "f:2", "unheard-of"])
def test_an_answer_from_another_model_is_refused(
    server: ScriptedServer, provider: LMStudioProvider, answered: str
) -> None:
    server.studio.models = [embedding("e"), embedding("f")]
    server.always("/v1/embeddings", steps.changed(lambda document: document | {"model": answered}))

    with pytest.raises(ProviderError, match="instead of"):
        provider.embedder("e").embed(["a"], role="passage")


@pytest.mark.parametrize("answered", ["d", "d@q8_0", "d:2"])
@pytest.mark.parametrize("version", ["0.4", "0.3"])
def test_words_of_another_model_are_not_taken_for_the_answer(
    server: ScriptedServer, provider: LMStudioProvider, version: str, answered: str
) -> None:
    server.studio.version = "0.3" if version == "0.3" else "0.4"
    server.studio.models = [llm("c"), llm("d")]
    chunk = {"model": answered, "choices": [{"delta": {"content": "Dry."}, "finish_reason": None}]}
    begun = steps.events({"type": "chat.start", "model_instance_id": answered}, stall_s=3)
    server.always("/api/v1/chat", begun)
    server.always("/v1/chat/completions", steps.events(json.dumps(chunk), stall_s=3))

    with pytest.raises(ProviderError, match=f"“{answered}” instead of “c”") as raised:
        next(provider.answerer("c").stream(PROMPT))

    assert "openmind models load" in raised.value.hint


@pytest.mark.parametrize("answered", ["c@q4_k_m", "c:2", "an-alias", ""])
def test_a_name_that_no_other_model_has_may_answer(
    server: ScriptedServer, provider: LMStudioProvider, answered: str
) -> None:
    server.studio.models = [llm("c"), llm("d")]
    result = {"model_instance_id": answered, "output": [{"type": "message", "content": "Dry."}]}
    start = {"type": "chat.start", "model_instance_id": answered}
    server.always("/api/v1/chat", steps.events(start, {"type": "chat.end", "result": result}))

    *_, reply = provider.answerer("c").stream(PROMPT)

    assert reply == Reply("Dry.")


def test_a_picture_that_another_model_saw_is_not_described(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.models = [llm("eyes", vision=True), llm("c")]
    server.always("/v1/chat/completions", steps.changed(lambda document: document | {"model": "c"}))

    with pytest.raises(ProviderError, match="“c” instead of “eyes”"):
        provider.describer("eyes").describe(PNG, media_type="image/png")


def test_vectors_of_another_dimension_are_never_mixed_in(server: ScriptedServer, provider: LMStudioProvider) -> None:
    [model] = server.studio.models = [embedding("e", dimension=64)]
    embedder = provider.embedder("e")
    embedder.embed(["a"], role="passage")
    model.dimension = 48

    with pytest.raises(ProviderError, match=r"64 dimensions and is now .* 48"):
        embedder.embed(["b"], role="passage")


def test_an_embedder_that_is_filed_as_a_chat_model_is_explained(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.models = [llm("misfiled-embedder")]

    with pytest.raises(ModelNotFound, match="takes it for a chat model"):
        provider.embedder("misfiled-embedder").embed(["a"], role="passage")


def test_a_kind_that_is_only_guessed_forbids_nothing(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.version = "other"
    server.studio.models = [embedding("acme"), llm("embedded-systems-chat")]

    assert len(provider.embedder("acme").embed(["a"], role="passage")) == 1
    assert list(provider.answerer("embedded-systems-chat").stream(PROMPT))


def test_an_embedder_cannot_chat(server: ScriptedServer, provider: LMStudioProvider) -> None:
    with pytest.raises(ModelNotFound, match="cannot chat"):
        list(provider.answerer("text-embedding-acme").stream(PROMPT))


def test_a_load_that_fails_is_not_tried_with_other_models(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.models = [embedding("e", loaded=False), embedding("f", loaded=False)]
    server.always(LOAD, steps.reply(500, steps.native("Failed to load model", type="model_load_failed")))

    with pytest.raises(ModelNotLoaded, match="could not load “e”") as raised:
        provider.embedder("e").embed(["a"], role="passage")

    assert "memory" in raised.value.hint
    assert server.posts(LOAD) == [{"model": "e"}]


@pytest.mark.parametrize("status", [400, 500, 507])
def test_a_load_may_fail_with_any_status(server: ScriptedServer, provider: LMStudioProvider, status: int) -> None:
    server.studio.models = [llm("c", loaded=False)]
    server.always(LOAD, steps.reply(status, steps.native("no idea why", type="unknown")))

    [action] = provider.load(["c"])

    assert action.status == "failed: LM Studio could not load “c”"


def test_embedding_and_chat_do_not_evict_each_other(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.models = [embedding("e", loaded=False), llm("c", loaded=False)]
    server.studio.auto_evict = True
    embedder, answerer = provider.embedder("e"), provider.answerer("c")

    for _ in range(3):
        embedder.embed(["a"], role="query")
        list(answerer.stream(PROMPT))

    assert server.posts(LOAD) == [{"model": "e"}, {"model": "c"}]
    assert server.studio.evicted == []


def test_what_is_loaded_is_not_loaded_again(server: ScriptedServer, provider: LMStudioProvider) -> None:
    actions = provider.load(["acme/chat", "text-embedding-acme"])

    assert [(action.status, action.skipped) for action in actions] == [("loaded", True)] * 2
    assert server.posts(LOAD) == []


def test_no_context_length_is_sent_where_it_could_add_an_instance(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    list(provider.answerer("acme/chat").stream(PROMPT))

    assert "context_length" not in server.posts("/api/v1/chat")[0]


def test_models_are_unloaded_by_instance_and_a_missing_one_is_no_failure(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.models = [llm("c", loaded=False, instances={"mine": 4_096, "c:2": 4_096})]
    server.script(UNLOAD, steps.reply(404, steps.native("no such instance", type="model_not_found")))

    actions = provider.unload(["c", "never-heard-of"])

    assert [(action.status, action.skipped) for action in actions] == [("unloaded", False), ("unloaded", True)]
    assert server.posts(UNLOAD) == [{"instance_id": "mine"}, {"instance_id": "c:2"}]


def test_a_failing_unload_is_a_status(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.always(UNLOAD, steps.reply(500, steps.native("boom", type="internal_error")))

    [action] = provider.unload(["acme/chat"])

    assert action.status.startswith("failed: ")


def test_a_context_length_that_was_not_honoured_is_read_back(server: ScriptedServer, client: LMStudioClient) -> None:
    server.studio.models = [llm("c", loaded=False)]
    server.studio.context_ignored = 2_048

    ready = client.load_model_if_needed("c", 8_192)

    assert server.posts(LOAD) == [{"model": "c", "context_length": 8_192}]
    assert ready.context_length == 2_048


def test_an_instance_with_enough_context_is_enough(server: ScriptedServer, client: LMStudioClient) -> None:
    server.studio.models = [llm("c", context=8_192)]

    assert client.load_model_if_needed("c", 4_096).context_length == 8_192
    assert server.posts(LOAD) == []


def test_a_model_that_is_let_go_at_once_is_told(server: ScriptedServer, client: LMStudioClient) -> None:
    server.studio.models = [llm("c", loaded=False)]
    server.always(LOAD, steps.reply(200, {"type": "llm", "instance_id": "c", "status": "loaded"}))

    with pytest.raises(ModelNotLoaded, match="let it go"):
        client.load_model_if_needed("c")


def test_an_older_server_loads_by_itself(server: ScriptedServer, client: LMStudioClient) -> None:
    server.studio.version = "0.3"
    server.studio.models = [llm("c", loaded=False)]

    ready = client.load_model_if_needed("c")

    assert ready.dialect is Dialect.V0
    assert ready.context_length is None
    assert server.paths("POST") == []
