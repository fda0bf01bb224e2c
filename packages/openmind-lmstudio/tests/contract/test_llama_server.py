"""The contracts against llama.cpp's own server, with a tiny model of random weights that is made on the spot.

Set OPENMIND_TEST_LLAMA_PYTHON to a Python that has `xllamacpp`, `gguf` and `numpy` from PyPI.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from openmind.domain.answers import AnswerText
from openmind.domain.errors import ModelNotFound
from openmind.ports.answer_provider import Prompt, Reply
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind_lmstudio.config import OpenAICompatibleConfig
from openmind_lmstudio.openai_compatible import OpenAICompatibleProvider

PYTHON = os.environ.get("OPENMIND_TEST_LLAMA_PYTHON", "")
SERVER = Path(__file__).with_name("serve_llama.py")
PROMPT = Prompt(system="Answer from the excerpts.", user="How is the well?")

pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="OPENMIND_TEST_LLAMA_PYTHON is not set"),
    pytest.mark.timeout(600),
]


@contextmanager
def serving(folder: Path, use: str) -> Iterator[OpenAICompatibleProvider]:
    """Run the server for one use, `embed` or `chat`; it ends when its standard input does."""
    with subprocess.Popen(
        [PYTHON, str(SERVER), str(folder), use],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            provider = OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=address))
            yield provider
            provider.close()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAICompatibleProvider]:
    with serving(tmp_path_factory.mktemp("embed"), "embed") as made:
        yield made


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAICompatibleProvider]:
    with serving(tmp_path_factory.mktemp("chat"), "chat") as made:
        yield made


class TestLlamaProvider(ModelProviderContract):
    """The fixture `provider` is that of this module."""


class TestLlamaEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self, provider: OpenAICompatibleProvider) -> EmbeddingProvider:
        return provider.embedder("tiny-embed")


def test_llama_tells_the_window_that_is_allocated(provider: OpenAICompatibleProvider) -> None:
    [model] = provider.models()

    assert (model.key, model.max_context_length, model.loaded) == ("tiny-embed", 2048, None)
    assert 1_000 < provider.embedder("tiny-embed").max_input_chars < 4_096


def test_llama_embeds_a_batch_of_long_texts(provider: OpenAICompatibleProvider) -> None:
    embedder = provider.embedder("tiny-embed")

    vectors = embedder.embed([f"{number} well " * 50 for number in range(40)], role="passage")

    assert (len(vectors), vectors.dimension) == (40, 64)


def test_llama_answers(talking: OpenAICompatibleProvider) -> None:
    *pieces, reply = talking.answerer("tiny-chat").stream(PROMPT)

    assert "".join(piece.text for piece in pieces if isinstance(piece, AnswerText)) == "It is dry."
    assert reply == Reply("It is dry.")


def test_llama_answers_word_by_word_once_it_is_known_to_say_what_it_means(talking: OpenAICompatibleProvider) -> None:
    list(talking.answerer("tiny-chat").stream(PROMPT))

    assert len(list(talking.answerer("tiny-chat").stream(PROMPT))) > 3


def test_llama_has_no_other_model(talking: OpenAICompatibleProvider) -> None:
    with pytest.raises(ModelNotFound):
        list(talking.answerer("another").stream(PROMPT))
