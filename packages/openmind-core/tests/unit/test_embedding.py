"""Asking a server for vectors."""

import itertools
from collections.abc import Sequence
from threading import Event

from attrs import define, field
from openmind.application.indexing.embedding import REQUEST_TEXTS, SLOW_REQUEST_S, Embedding
from openmind.domain.errors import ProviderUnreachable
from openmind.domain.models import EmbeddingRole
from openmind.domain.vectors import Vectors
from openmind.testing.fakes.catalog import MemoryCatalog
from openmind.testing.fakes.models import FakeEmbeddings


@define(kw_only=True)
class Sleepy(FakeEmbeddings):
    """Answers when it is woken."""

    woken: Event = field(factory=Event)

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        assert self.woken.wait(60)
        return FakeEmbeddings.embed(self, texts, role=role)


def test_a_model_that_takes_long_is_named_while_it_is_waited_for() -> None:
    sleepy = Sleepy()
    told: list[str] = []

    def slow(sentence: str) -> None:
        told.append(sentence)
        sleepy.woken.set()

    seconds = itertools.count(0, SLOW_REQUEST_S)
    embedding = Embedding(catalog=MemoryCatalog(), slow=slow, clock=lambda: next(seconds))
    vectors, error = embedding.embed(sleepy, ["a heron"], known={}, until=0, told=lambda _: None)

    assert (len(vectors), error) == (1, None)
    identity = sleepy.identity
    assert f"The model {identity.model} of the provider “{identity.provider}” took longer" in told[0]


@define(kw_only=True)
class Failing(FakeEmbeddings):
    """Answers once and is gone."""

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        if self.embedded:
            raise ProviderUnreachable("the server does not answer")
        return FakeEmbeddings.embed(self, texts, role=role)


def test_what_came_before_a_server_went_away_is_journalled() -> None:
    catalog, embedder = MemoryCatalog(), Failing()
    texts = [f"text {number}" for number in range(2 * REQUEST_TEXTS)]

    vectors, error = Embedding(catalog=catalog).embed(embedder, texts, known={}, until=1e9, told=lambda _: None)

    assert isinstance(error, ProviderUnreachable)
    with catalog.reading() as snapshot:
        assert snapshot.vectors(embedder.identity.key, list(vectors)) == vectors
    assert len(vectors) == REQUEST_TEXTS
