"""What every embedder promises."""

from concurrent.futures import ThreadPoolExecutor
from math import fsum, isfinite, sqrt

import pytest

from openmind.domain.embedder_faults import fault_of_identity, fault_of_longest_input, fault_of_profile
from openmind.domain.models import EmbeddingRole
from openmind.domain.vectors import Vectors
from openmind.ports.embedding_provider import EmbeddingProvider

ODD_TEXTS = (
    " \n\t ",
    "\x00\x01",
    "a lone \ud800 surrogate",
    "👩‍👩‍👧 \u202eright to left\u202c",
    "https://example.com/" + "a" * 2_000,
    "同じ文章がここにあります。" * 40,
    "word " * 2_000,
)


class EmbeddingProviderContract:
    """Subclass in an adapter's tests and give an `embedder` fixture; every promise is checked."""

    @pytest.mark.parametrize("role", ["passage", "query"])
    def test_no_texts_no_vectors(self, embedder: EmbeddingProvider, role: EmbeddingRole) -> None:
        vectors = embedder.embed([], role=role)

        assert len(vectors) == 0
        assert vectors.dimension == embedder.identity.dimension

    @pytest.mark.parametrize("role", ["passage", "query"])
    def test_vectors_have_the_declared_dimension_and_unit_length(
        self, embedder: EmbeddingProvider, role: EmbeddingRole
    ) -> None:
        vectors = embedder.embed(["a line\nand another", "cats"], role=role)

        assert vectors.dimension == embedder.identity.dimension
        assert lengths(vectors) == pytest.approx([1.0, 1.0], abs=1e-4)

    def test_vectors_come_in_the_order_of_the_texts(self, embedder: EmbeddingProvider) -> None:
        texts = ["cats sleep", "dogs bark loudly", "a ship sails", "cats sleep"]

        together = embedder.embed(texts, role="passage").rows()
        alone = [embedder.embed([text], role="passage").rows()[0] for text in texts]

        for one, other in zip(together, alone, strict=True):
            assert one == pytest.approx(other, abs=1e-4)

    def test_the_same_text_gives_the_same_vector_whatever_else_is_in_the_batch(
        self, embedder: EmbeddingProvider
    ) -> None:
        text = "the weather was mild for the season"
        crowd = [f"sentence number {n} about something else" for n in range(70)]

        before = embedder.embed([text], role="passage").rows()[0]
        amid = embedder.embed([*crowd, text, *crowd[:5]], role="passage").rows()[70]

        assert amid == pytest.approx(before, abs=1e-4)

    def test_different_texts_give_different_vectors(self, embedder: EmbeddingProvider) -> None:
        one, other = embedder.embed(["a recipe for bread", "the orbit of the moon"], role="passage").rows()

        assert one != pytest.approx(other, abs=1e-3)

    @pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
    def test_odd_texts_give_finite_unit_vectors(self, embedder: EmbeddingProvider, text: str) -> None:
        vectors = embedder.embed([text, "plain"], role="passage")

        assert lengths(vectors) == pytest.approx([1.0, 1.0], abs=1e-4)
        assert all(isfinite(component) for row in vectors.rows() for component in row)

    def test_the_identity_never_changes(self, embedder: EmbeddingProvider) -> None:
        before = embedder.identity
        embedder.embed(["anything"], role="passage")

        assert embedder.identity == before
        assert embedder.identity.provider
        assert embedder.identity.model
        assert embedder.identity.dimension >= 1
        assert fault_of_identity(embedder.identity) == ""

    def test_what_it_says_about_itself_makes_sense(self, embedder: EmbeddingProvider) -> None:
        assert fault_of_longest_input(embedder.max_input_chars) == ""
        assert embedder.max_input_chars >= 200
        assert embedder.in_process in (True, False)
        assert 0 <= embedder.profile.words_weight <= 1
        assert -1 <= embedder.profile.cosine_floor <= 1
        assert fault_of_profile(embedder.profile) == ""

    def test_threads_share_it(self, embedder: EmbeddingProvider) -> None:
        batches = [[f"text {n} of batch {batch}" for n in range(8)] for batch in range(16)]

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda batch: embedder.embed(batch, role="passage").rows(), batches))

        for batch, rows in zip(batches, results, strict=True):
            for row, again in zip(rows, embedder.embed(batch, role="passage").rows(), strict=True):
                assert row == pytest.approx(again, abs=1e-4)


def lengths(vectors: Vectors) -> list[float]:
    return [sqrt(fsum(component * component for component in row)) for row in vectors.rows()]
