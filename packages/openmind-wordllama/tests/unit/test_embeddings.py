import socket
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.errors import ModelNotFound, ModelNotLoaded
from openmind.domain.vectors import Vectors
from openmind_wordllama import word_vectors
from openmind_wordllama.embeddings import WordLlamaEmbeddings
from openmind_wordllama.model_files import WHEEL_VERSION, ModelFiles, find_model_files
from openmind_wordllama.word_vectors import CACHED_WORDS, SLICE_WORDS, WordVectors
from tokenizers import Tokenizer

EMBEDDER = WordLlamaEmbeddings()


def embed(*texts: str) -> Vectors:
    return EMBEDDER.embed(texts, role="passage")


def cosine(one: str, other: str) -> float:
    a, b = embed(one, other).rows()
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_meaning_brings_texts_together() -> None:
    query = "how to repair a broken bicycle wheel"

    assert cosine(query, "fixing the spokes of a bike") > cosine(query, "a recipe for tomato soup with basil") + 0.15


def test_passages_and_queries_are_treated_alike() -> None:
    assert EMBEDDER.embed(["a text"], role="query") == EMBEDDER.embed(["a text"], role="passage")


def test_vectors_are_those_of_tokenising_the_whole_line() -> None:
    text = "Static embeddings know no order: the model sums its tokens, e.g. 3.14159 or naïve café."
    files = find_model_files()
    loaded = WordVectors.load(files)

    ids = Tokenizer.from_file(str(files.tokenizer)).encode(text, add_special_tokens=False).ids
    expected = loaded._weights[ids].astype(np.float32).sum(axis=0)
    expected /= np.linalg.norm(expected)

    assert np.frombuffer(embed(text).data, "<f4") == pytest.approx(expected, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=6), st.integers(0, 700))
def test_every_bit_of_a_vector_depends_on_its_text_alone(texts: list[str], neighbours: int) -> None:
    crowd = [f"word{n} and more of them" for n in range(neighbours // 4)]

    together = embed(*crowd, *texts)
    alone = [embed(text).data for text in texts]

    assert [together.row_bytes(len(crowd) + n) for n in range(len(texts))] == alone


def test_a_full_cache_changes_no_vector() -> None:
    before = embed("a quiet word", "unspaced" * 40)
    rounds = (CACHED_WORDS // SLICE_WORDS) + 2

    for n in range(rounds):
        embed(" ".join(f"new{n}x{word}" for word in range(SLICE_WORDS)))

    assert embed("a quiet word", "unspaced" * 40) == before


def test_the_cache_never_outgrows_its_bound() -> None:
    vectors = WordVectors.load(find_model_files())

    for n in range(CACHED_WORDS // SLICE_WORDS + 3):
        vectors.embed([" ".join(f"n{n}w{word}" for word in range(SLICE_WORDS))])
        assert len(vectors._rows) <= CACHED_WORDS

    assert vectors._sums.nbytes == (CACHED_WORDS + SLICE_WORDS) * word_vectors.DIMENSION * 4


def test_queries_leave_no_words_behind_and_have_the_vectors_of_passages() -> None:
    vectors = WordVectors.load(find_model_files())
    texts = ["a quiet word", "unspaced" * 40 + " beside a word", " ".join(f"w{n}" for n in range(2 * SLICE_WORDS))]
    vectors.embed(["a word"])
    known = dict(vectors._rows)

    asked = vectors.embed(texts, keep=False)

    assert vectors._rows == known
    assert asked == WordVectors.load(find_model_files()).embed(texts)


@pytest.mark.parametrize("words", [SLICE_WORDS - 1, SLICE_WORDS, SLICE_WORDS + 1, 3 * SLICE_WORDS + 7])
def test_texts_longer_than_a_slice_count_every_word(words: int) -> None:
    text = " ".join(["cat"] * (words - 1) + ["dog"])
    cat, dog = (np.frombuffer(embed(word).data, "<f4") for word in ("cat", "dog"))
    loaded = WordVectors.load(find_model_files())
    lengths = [np.linalg.norm(loaded._weights[loaded._token_ids(word)].astype(np.float32)) for word in ("cat", "dog")]

    expected = (words - 1) * lengths[0] * cat + lengths[1] * dog
    expected /= np.linalg.norm(expected)

    assert np.frombuffer(embed(text).data, "<f4") == pytest.approx(expected, abs=1e-4)


def test_texts_without_a_word_share_one_vector() -> None:
    blank, tabs = embed(" ", "\t\n\u3000").rows()

    assert blank == tabs


def test_a_word_of_three_hundred_thousand_characters_is_embedded() -> None:
    [row] = embed("0x" + "deadbeef" * 37_500).rows()

    assert sum(component * component for component in row) == pytest.approx(1.0, abs=1e-5)


def test_it_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the embedder opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert len(WordLlamaEmbeddings().embed(["offline"], role="query")) == 1


def test_embedding_a_question_imports_neither_wordllama_nor_a_tokenizer() -> None:
    code = (
        "import sys; from openmind_wordllama.embeddings import WordLlamaEmbeddings;"
        "WordLlamaEmbeddings().embed(['a'], role='query'); print({'wordllama', 'tokenizers'} & set(sys.modules))"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "set()"


def test_another_model_is_refused_when_it_is_used() -> None:
    other = WordLlamaEmbeddings("potion")

    with pytest.raises(ModelNotFound):
        other.embed(["a"], role="query")
    with pytest.raises(ModelNotFound):
        _ = other.identity


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00" * 100])
def test_damaged_files_are_a_sentence(tmp_path: Path, content: bytes) -> None:
    good = find_model_files()
    bad = tmp_path / "bad"
    bad.write_bytes(content)

    for files in (ModelFiles(weights=bad, tokenizer=good.tokenizer), ModelFiles(weights=good.weights, tokenizer=bad)):
        with pytest.raises(ModelNotLoaded, match="cannot be read"):
            WordVectors.load(files)


def test_a_missing_wheel_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openmind_wordllama.model_files.find_spec", lambda _: None)

    with pytest.raises(ModelNotLoaded, match="not installed"):
        find_model_files()


def test_the_identity_names_the_wheel_that_is_installed() -> None:
    assert version("wordllama") == WHEEL_VERSION
    assert WHEEL_VERSION in EMBEDDER.identity.revision
