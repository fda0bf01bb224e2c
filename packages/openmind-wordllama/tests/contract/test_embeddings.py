import pytest
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind_wordllama.embeddings import WordLlamaEmbeddings
from openmind_wordllama.provider import BuiltinProvider

LOADED_ONCE = WordLlamaEmbeddings()


class TestWordLlamaEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self) -> WordLlamaEmbeddings:
        return LOADED_ONCE


class TestBuiltinProvider(ModelProviderContract):
    @pytest.fixture
    def provider(self) -> BuiltinProvider:
        return BuiltinProvider()
