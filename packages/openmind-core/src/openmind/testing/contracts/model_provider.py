"""What every model provider promises."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from openmind.domain.errors import ModelNotFound, ProviderError
from openmind.ports.model_provider import ModelProvider
from openmind.testing.contracts.image_describer import PNG

UNKNOWN = "no-such-model-anywhere"


class ModelProviderContract:
    """Subclass in an adapter's tests and give a `provider` fixture that answers and has an embedding model."""

    def test_it_has_a_name_for_people(self, provider: ModelProvider) -> None:
        assert provider.display_name

    def test_health_is_a_sentence(self, provider: ModelProvider) -> None:
        health = provider.health()

        assert health.reachable
        assert health.provider
        assert health.message

    def test_models_have_distinct_keys_and_names(self, provider: ModelProvider) -> None:
        models = provider.models()

        assert len({model.key for model in models}) == len(models)
        assert all(model.key and model.name and model.type in ("llm", "embedding") for model in models)

    def test_loading_answers_each_key_in_order(self, provider: ModelProvider) -> None:
        known = embedding_model(provider)

        actions = provider.load([known, UNKNOWN])

        assert [action.model for action in actions] == [known, UNKNOWN]
        assert actions[0].status == "loaded"
        assert actions[1].status.startswith("failed: ")

    def test_what_is_loaded_is_skipped(self, provider: ModelProvider) -> None:
        known = embedding_model(provider)
        provider.load([known])

        [action] = provider.load([known])

        assert action.skipped
        assert action.status == "loaded"

    def test_no_keys_no_actions(self, provider: ModelProvider) -> None:
        assert provider.load([]) == ()
        assert provider.unload([]) == ()

    def test_what_is_not_loaded_is_not_unloaded(self, provider: ModelProvider) -> None:
        [action] = provider.unload([UNKNOWN])

        assert action.model == UNKNOWN
        assert action.skipped

    def test_unloading_answers_each_key_in_order(self, provider: ModelProvider) -> None:
        known = embedding_model(provider)
        provider.load([known])

        assert [action.model for action in provider.unload([UNKNOWN, known])] == [UNKNOWN, known]

    def test_threads_share_it(self, provider: ModelProvider) -> None:
        keys = {model.key for model in provider.models()}

        with ThreadPoolExecutor(4) as pool:
            listed = list(pool.map(lambda _: {model.key for model in provider.models()}, range(8)))

        assert listed == [keys] * 8

    def test_its_embedding_model_embeds(self, provider: ModelProvider) -> None:
        embedder = provider.embedder(embedding_model(provider))

        vectors = embedder.embed(["a text"], role="passage")

        assert len(vectors) == 1
        assert vectors.dimension == embedder.identity.dimension

    def test_an_unknown_embedder_shows_when_it_is_used(self, provider: ModelProvider) -> None:
        embedder = provider.embedder(UNKNOWN)

        with pytest.raises(ProviderError):
            embedder.embed(["a text"], role="passage")

    def test_chat_models_are_made_or_refused_as_a_whole(self, provider: ModelProvider) -> None:
        if any(model.type == "llm" for model in provider.models()):
            assert provider.answerer(UNKNOWN).model == UNKNOWN
        else:  # who has to ask for that makes it first
            with pytest.raises(ModelNotFound):
                provider.answerer(UNKNOWN).context_chars()

    def test_describers_are_made_or_refused_as_a_whole(self, provider: ModelProvider) -> None:
        if any(model.supports_images for model in provider.models()):
            provider.describer(UNKNOWN)
        else:
            with pytest.raises(ModelNotFound):
                provider.describer(UNKNOWN).describe(PNG, media_type="image/png")

    def test_it_selects_only_models_that_it_has(self, provider: ModelProvider) -> None:
        selection = provider.selection()

        keys = {model.key for model in provider.models()}
        if selection is not None:
            chosen = (selection.chat_model, selection.embedding_model, selection.image_model)
            assert {key for key in chosen if key and key != "builtin"} <= keys

    def test_closing_twice_is_harmless(self, provider: ModelProvider) -> None:
        provider.close()
        provider.close()


def embedding_model(provider: ModelProvider) -> str:
    return next(model.key for model in provider.models() if model.type == "embedding")
