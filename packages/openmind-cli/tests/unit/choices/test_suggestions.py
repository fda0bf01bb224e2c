from openmind.domain.models import ModelInfo, ModelSelection
from openmind_cli.suggestions import embedding_models, image_models, is_recommended, suggested

CHAT = [ModelInfo(key=f"chat-{n}", name=f"Chat {n}", type="llm") for n in range(3)]
LOADED = ModelInfo(key="chat-loaded", name="Loaded", type="llm", loaded=True)
EMBED = [ModelInfo(key=f"embed-{n}", name=f"Embed {n}", type="embedding") for n in range(2)]
BUILTIN = ModelInfo(key="builtin", name="Built-in", type="embedding", loaded=True)
LARGE_EYES = ModelInfo(key="huge-vl-70b", name="Huge", type="llm", supports_images=True)
SMALL_EYES = ModelInfo(
    key="ggml-org/SmolVLM_500M-instruct-gguf", name="SmolVLM", type="llm", supports_images=True, loaded=True
)


def test_what_was_used_comes_before_what_is_loaded_and_that_before_the_rest() -> None:
    models = [*CHAT, LOADED, *EMBED, BUILTIN]

    assert suggested(models, ModelSelection()).chat_model == "chat-loaded"
    assert suggested(models, ModelSelection(chat_model="chat-2")).chat_model == "chat-2"
    assert suggested(models, ModelSelection(chat_model="gone")).chat_model == "chat-loaded"
    assert suggested(CHAT, ModelSelection()).chat_model == "chat-0"


def test_the_built_in_embedder_is_the_last_resort() -> None:
    assert suggested([*EMBED, BUILTIN], ModelSelection()).embedding_model == "embed-0"
    assert suggested([BUILTIN], ModelSelection()).embedding_model == "builtin"
    assert suggested([], ModelSelection()) == ModelSelection()
    assert [model.key for model in embedding_models([BUILTIN, *EMBED])] == ["embed-0", "embed-1", "builtin"]


def test_a_large_model_is_not_suggested_for_pictures_unless_it_was_used() -> None:
    assert suggested([LARGE_EYES], ModelSelection()).image_model is None
    assert suggested([LARGE_EYES], ModelSelection(image_model=LARGE_EYES.key)).image_model == LARGE_EYES.key
    assert suggested([LARGE_EYES, SMALL_EYES], ModelSelection()).image_model == SMALL_EYES.key


def test_the_recommended_model_is_known_in_every_build_and_shown_first() -> None:
    assert is_recommended(SMALL_EYES)
    assert not is_recommended(LARGE_EYES)
    assert image_models([LARGE_EYES, SMALL_EYES, *CHAT]) == (SMALL_EYES, LARGE_EYES)


def test_a_model_for_pictures_is_not_suggested_for_answers() -> None:
    assert suggested([SMALL_EYES, *CHAT], ModelSelection()).chat_model == "chat-0"
    assert suggested([SMALL_EYES], ModelSelection()).chat_model is None
