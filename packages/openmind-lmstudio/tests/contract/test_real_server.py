"""The same contracts against real servers: set OPENMIND_TEST_LMSTUDIO_URL, OPENMIND_TEST_OPENAI_COMPATIBLE_URL.

The first embedding model and the first chat model that the server lists are used, and loaded if need be.
"""

import os
from collections.abc import Iterator

import pytest
from openmind.domain.answers import AnswerReasoning
from openmind.ports.answer_provider import AnswerProvider, Prompt, Reply
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.model_provider import ModelProvider
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.image_describer import PNG
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind_lmstudio.config import LMStudioConfig, OpenAICompatibleConfig
from openmind_lmstudio.openai_compatible import OpenAICompatibleProvider
from openmind_lmstudio.provider import LMStudioProvider

pytestmark = [pytest.mark.lmstudio, pytest.mark.timeout(1_200)]

QUESTION = Prompt(
    system="Answer in one short sentence, only from the excerpt.",
    user="Excerpt: The well in the yard has been dry since May.\n\nQuestion: Since when has the well been dry?",
)


def lmstudio() -> ModelProvider:
    url = os.environ.get("OPENMIND_TEST_LMSTUDIO_URL")
    if not url:
        pytest.skip("OPENMIND_TEST_LMSTUDIO_URL is not set")
    return LMStudioProvider(LMStudioConfig(base_url=url, allow_remote=True))


def openai_compatible() -> ModelProvider:
    url = os.environ.get("OPENMIND_TEST_OPENAI_COMPATIBLE_URL")
    if not url:
        pytest.skip("OPENMIND_TEST_OPENAI_COMPATIBLE_URL is not set")
    config = OpenAICompatibleConfig(
        base_url=url, api_token_env="OPENMIND_TEST_OPENAI_COMPATIBLE_KEY", allow_remote=True
    )
    return OpenAICompatibleProvider(config)


@pytest.fixture(params=[lmstudio, openai_compatible], ids=["lmstudio", "openai-compatible"])
def provider(request: pytest.FixtureRequest) -> Iterator[ModelProvider]:
    made: ModelProvider = request.param()
    yield made
    made.close()


def first(provider: ModelProvider, kind: str, *, seeing: bool = False) -> str:
    """Choose a model; loaded ones first."""
    fitting = [model for model in provider.models() if model.type == kind and (model.supports_images or not seeing)]
    if not fitting:
        pytest.skip(f"the server has no model of the type {kind}{' that sees' if seeing else ''}")
    return min(fitting, key=lambda model: not model.loaded).key


class TestRealProvider(ModelProviderContract):
    """The fixture `provider` is that of this module."""


class TestRealEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self, provider: ModelProvider) -> EmbeddingProvider:
        return provider.embedder(first(provider, "embedding"))

    def test_what_means_the_same_is_near(self, embedder: EmbeddingProvider) -> None:
        texts = [
            "How do I bake bread?",
            "A recipe for a loaf: flour, water, yeast.",
            "The orbit of the moon is tilted.",
        ]
        question, near, far = embedder.embed(texts, role="passage").rows()

        def cosine(other: list[float]) -> float:
            return sum(a * b for a, b in zip(question, other, strict=True))

        assert cosine(near) > cosine(far)


@pytest.fixture
def answerer(provider: ModelProvider) -> AnswerProvider:
    return provider.answerer(first(provider, "llm"))


@pytest.fixture
def describer(provider: ModelProvider) -> ImageDescriber:
    return provider.describer(first(provider, "llm", seeing=True))


def test_a_real_model_answers_from_its_excerpt(answerer: AnswerProvider) -> None:
    *pieces, reply = answerer.stream(QUESTION)

    assert isinstance(reply, Reply)
    assert "May" in reply.text
    assert "<think" not in reply.text
    assert not any(isinstance(piece, AnswerReasoning) for piece in pieces)


def test_a_real_model_goes_on_with_a_conversation(answerer: AnswerProvider) -> None:
    *_, reply = answerer.stream(Prompt(system=QUESTION.system, user=QUESTION.user, keep=True))
    assert isinstance(reply, Reply)
    if reply.continuation is None:
        pytest.skip("the server keeps no conversations")

    *_, follow_up = answerer.stream(
        Prompt(system="", user="What was dry? One word.", keep=True, previous=reply.continuation)
    )

    assert isinstance(follow_up, Reply)
    assert "well" in follow_up.text.lower()


def test_a_real_model_has_a_window(answerer: AnswerProvider) -> None:
    assert answerer.context_chars() > 1_000


def test_a_real_model_sees(describer: ImageDescriber) -> None:
    assert describer.describe(PNG, media_type="image/png")
