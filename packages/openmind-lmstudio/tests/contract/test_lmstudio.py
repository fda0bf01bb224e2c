"""LM Studio keeps every promise of the ports."""

from collections.abc import Callable

import pytest
from lmstudio_server import ScriptedServer, embedding, llm, steps
from openmind.ports.answer_provider import AnswerProvider, Prompt
from openmind.testing.contracts.answer_provider import AnswerProviderContract
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.image_describer import ImageDescriberContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.embeddings import ServedEmbeddings
from openmind_lmstudio.images import ServedDescriber
from openmind_lmstudio.provider import LMStudioProvider

CHAT, EMBED, COMPLETIONS = "/api/v1/chat", "/v1/embeddings", "/v1/chat/completions"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def far(connect: Callable[..., Connection]) -> LMStudioProvider:
    return LMStudioProvider(LMStudioConfig(base_url=NOWHERE), connection=connect(NOWHERE))


class TestLMStudioProvider(ModelProviderContract):
    """The fixture `provider` is that of the folder."""


class TestLMStudioEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self, provider: LMStudioProvider) -> ServedEmbeddings:
        return provider.embedder("text-embedding-acme")


class TestLMStudioEmbeddingsWithPrefixes(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self, server: ScriptedServer, provider: LMStudioProvider) -> ServedEmbeddings:
        server.studio.models.append(embedding("text-embedding-nomic-embed-text-v1.5", loaded=False))
        return provider.embedder("text-embedding-nomic-embed-text-v1.5")


class TestLMStudioAnswers(AnswerProviderContract):
    @pytest.fixture
    def thoughts(self, server: ScriptedServer) -> str:
        return "".join(server.studio.thoughts)

    @pytest.fixture
    def answerer(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.studio.models.append(llm("acme/thinker", reasoning=("off", "on")))
        return provider.answerer("acme/thinker")

    @pytest.fixture
    def unreachable(self, far: LMStudioProvider) -> AnswerProvider:
        return far.answerer("acme/chat")

    @pytest.fixture
    def overflowing(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.always(CHAT, steps.reply(400, steps.native("Context size has been exceeded.")))
        return provider.answerer("acme/chat")

    @pytest.fixture
    def breaking(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.always(CHAT, steps.events({"type": "message.delta", "content": "The well"}, cut=True))
        return provider.answerer("acme/chat")

    @pytest.fixture
    def silent(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.studio.answer = []
        return provider.answerer("acme/chat")


class TestOlderLMStudioAnswers(TestLMStudioAnswers):
    """Before 0.4 there is no chat route of its own."""

    @pytest.fixture
    def answerer(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.studio.version = "0.3"
        server.studio.always_reasons = True
        return provider.answerer("acme/chat")

    @pytest.fixture
    def overflowing(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.studio.version = "0.3"
        server.always(COMPLETIONS, steps.events('{"error": {"message": "n_ctx is too small"}}'))
        return provider.answerer("acme/chat")

    @pytest.fixture
    def breaking(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.studio.version = "0.3"
        answerer = provider.answerer("acme/chat")
        list(answerer.stream(Prompt(system="", user="How is the well?")))  # it is known now not to think unmarked
        server.always(COMPLETIONS, steps.events('{"choices": [{"delta": {"content": "The well"}}]}'))
        return answerer

    @pytest.fixture
    def silent(self, server: ScriptedServer, provider: LMStudioProvider) -> AnswerProvider:
        server.studio.version = "0.3"
        server.studio.answer = []
        return provider.answerer("acme/chat")


class TestLMStudioDescriber(ImageDescriberContract):
    @pytest.fixture
    def describer(self, provider: LMStudioProvider) -> ServedDescriber:
        return provider.describer("acme/eyes")

    @pytest.fixture
    def unreachable(self, far: LMStudioProvider) -> ServedDescriber:
        return far.describer("acme/eyes")

    @pytest.fixture
    def blind(self, provider: LMStudioProvider) -> ServedDescriber:
        return provider.describer("acme/chat")

    @pytest.fixture
    def silent(self, server: ScriptedServer, provider: LMStudioProvider) -> ServedDescriber:
        server.studio.description = ""
        return provider.describer("acme/eyes")
