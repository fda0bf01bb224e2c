"""Any server with OpenAI's routes keeps the same promises, as far as it can."""

from collections.abc import Callable

import pytest
from lmstudio_server import ScriptedServer, embedding, llm, steps
from openmind.ports.answer_provider import AnswerProvider, Prompt, Reply
from openmind.testing.contracts.answer_provider import AnswerProviderContract
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.image_describer import ImageDescriberContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind_lmstudio.config import OpenAICompatibleConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.embeddings import ServedEmbeddings
from openmind_lmstudio.images import ServedDescriber
from openmind_lmstudio.openai_compatible import OpenAICompatibleProvider

COMPLETIONS = "/v1/chat/completions"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def server(server: ScriptedServer) -> ScriptedServer:
    server.studio.version = "other"
    server.studio.models = [embedding("nomic-embed-text"), llm("acme-chat"), llm("smolvlm", vision=True)]
    return server


@pytest.fixture
def provider(server: ScriptedServer, connection: Connection) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=server.base_url), connection=connection)


@pytest.fixture
def far(connect: Callable[..., Connection]) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=NOWHERE), connection=connect(NOWHERE))


class TestOpenAICompatibleProvider(ModelProviderContract):
    """The fixture `provider` is that of this module."""


def test_a_server_that_is_gone_is_told_in_every_way() -> None:
    far = OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=NOWHERE))

    health = far.health()

    assert not health.reachable
    assert health.message.startswith("The model server does not answer at http://127.0.0.1:9.")
    assert [action.status for action in far.load(["m"])] == ["failed: The model server does not answer at " + NOWHERE]


def test_conversations_are_not_kept(provider: OpenAICompatibleProvider) -> None:
    *_, reply = provider.answerer("acme-chat").stream(Prompt(system="", user="?", keep=True))

    assert reply == Reply("It says so [1].", continuation=None)


class TestOpenAICompatibleEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self, provider: OpenAICompatibleProvider) -> ServedEmbeddings:
        return provider.embedder("nomic-embed-text")


class TestOpenAICompatibleAnswers(AnswerProviderContract):
    @pytest.fixture
    def thoughts(self, server: ScriptedServer) -> str:
        return "".join(server.studio.thoughts)

    @pytest.fixture
    def answerer(self, server: ScriptedServer, provider: OpenAICompatibleProvider) -> AnswerProvider:
        server.studio.always_reasons = True
        return provider.answerer("acme-chat")

    @pytest.fixture
    def unreachable(self, far: OpenAICompatibleProvider) -> AnswerProvider:
        return far.answerer("acme-chat")

    @pytest.fixture
    def overflowing(self, server: ScriptedServer, provider: OpenAICompatibleProvider) -> AnswerProvider:
        told = "the request exceeds the available context size"
        server.always(COMPLETIONS, steps.reply(400, steps.openai(told, code="exceed_context_size_error")))
        return provider.answerer("acme-chat")

    @pytest.fixture
    def breaking(self, server: ScriptedServer, provider: OpenAICompatibleProvider) -> AnswerProvider:
        answerer = provider.answerer("acme-chat")
        list(answerer.stream(Prompt(system="", user="How is the well?")))  # it is known now not to think unmarked
        server.always(COMPLETIONS, steps.events('{"choices": [{"delta": {"content": "The well"}}]}', cut=True))
        return answerer

    @pytest.fixture
    def silent(self, server: ScriptedServer, provider: OpenAICompatibleProvider) -> AnswerProvider:
        server.studio.answer = []
        return provider.answerer("acme-chat")


class TestOpenAICompatibleDescriber(ImageDescriberContract):
    @pytest.fixture
    def describer(self, provider: OpenAICompatibleProvider) -> ServedDescriber:
        return provider.describer("smolvlm")

    @pytest.fixture
    def unreachable(self, far: OpenAICompatibleProvider) -> ServedDescriber:
        return far.describer("smolvlm")

    @pytest.fixture
    def blind(self, provider: OpenAICompatibleProvider) -> ServedDescriber:
        return provider.describer("acme-chat")

    @pytest.fixture
    def silent(self, server: ScriptedServer, provider: OpenAICompatibleProvider) -> ServedDescriber:
        server.studio.description = ""
        return provider.describer("smolvlm")


def test_whether_a_model_is_loaded_is_not_claimed_to_be_known(provider: OpenAICompatibleProvider) -> None:
    assert {model.loaded for model in provider.models()} == {None}
    assert provider.health().models == provider.models()
