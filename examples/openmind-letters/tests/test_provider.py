"""The promises of a provider and of its embedder, and what is particular to these."""

import pytest
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind.testing.plugins import load_plugin
from openmind_letters.embeddings import LetterEmbeddings
from openmind_letters.plugin import LettersConfig
from openmind_letters.provider import LettersProvider


class TestEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self) -> LetterEmbeddings:
        return LetterEmbeddings(dimension=256)


class TestProvider(ModelProviderContract):
    @pytest.fixture
    def provider(self) -> LettersProvider:
        return LettersProvider(LettersConfig())


def test_a_word_with_a_slip_is_near_the_right_one() -> None:
    right, slip, other = LetterEmbeddings(dimension=256).embed(["landlord", "landlrd", "bicycle"], role="query").rows()

    assert sum(a * b for a, b in zip(right, slip, strict=True)) > sum(a * b for a, b in zip(right, other, strict=True))


def test_openmind_takes_the_plugin() -> None:
    assert "letters" in load_plugin("openmind_letters.plugin").providers.entries
