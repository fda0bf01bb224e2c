"""Gives passages their vectors when the embedder is a server: journalled, reused, within a time budget."""

import hashlib
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

from attrs import field, frozen

from openmind.application.patience import patiently
from openmind.domain.errors import PassageRefused, ProviderError, ProviderUnreachable
from openmind.domain.plugins import provider_of
from openmind.domain.refused_passages import RefusedPassages
from openmind.domain.vectors import Vectors
from openmind.ports.catalog import Catalog
from openmind.ports.embedding_provider import EmbeddingProvider

T = TypeVar("T")


class _Enough(Exception):
    """Something else is wanted before the request is done."""


REQUEST_TEXTS = 32
"""Texts in one request: what is lost, at most, when the process dies while it is under way."""
LONGEST_REQUEST_S = 600
"""A request that takes longer hangs."""
SLOW_REQUEST_S = 30
"""Whom a request that takes longer waits for is told."""
LOOKUP = 500
"""Journal entries that are looked up at once."""


def input_hash(text: str) -> bytes:
    """Name the exact input of an embedder."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


@frozen(kw_only=True)
class Embedding:
    """Embeds texts through a server, each of them once."""

    catalog: Catalog
    enough: Callable[[], bool] = lambda: False
    """Asked several times a second; True ends the work early, and abandons a request that hangs."""
    slow: Callable[[str], None] = lambda _: None
    """Hears, several times a second, for whom a request waits that takes long."""
    whom: Callable[[str], str] = provider_of
    """Names a provider and, where it is a stranger's, its package."""
    clock: Callable[[], float] = time.monotonic
    _refused: dict[tuple[str, bytes], str] = field(factory=dict, init=False)
    """Why an embedder cannot take a text, by its key and `input_hash`; it is not tried again within a run."""

    def lacks(self, embedder: EmbeddingProvider, text: str, vectors: Container[bytes]) -> bool:
        """Whether a text should still get a vector."""
        name = input_hash(text)
        return name not in vectors and (embedder.identity.key, name) not in self._refused

    def refusals(self, embedder: EmbeddingProvider, texts: Iterable[str]) -> RefusedPassages:
        """Which of these texts the embedder could not take in this run."""
        if not self._refused:
            return RefusedPassages(0)
        key = embedder.identity.key
        whys = [why for text in texts if (why := self._refused.get((key, input_hash(text)))) is not None]
        return RefusedPassages(len(whys), whys[0] if whys else "")

    def embed(
        self,
        embedder: EmbeddingProvider,
        texts: Sequence[str],
        *,
        known: Mapping[bytes, bytes],
        until: float,
        told: Callable[[int], None],
    ) -> tuple[dict[bytes, bytes], ProviderError | None]:
        """Embed what is not known yet, request by request, until the time is up or the provider fails.

        Args:
            embedder: a server's.
            texts: N texts, possibly equal ones.
            known: vectors there are already, by `input_hash`.
            until: a value of the clock; at least one request is made, unless it is `enough` before.
            told: hears how many texts each request embedded.

        Returns:
            Vectors (float32 bytes) by `input_hash`, perhaps not of all texts, and the error that ended the work.
        """
        key = embedder.identity.key
        wanted = {input_hash(text): text for text in texts}
        vectors = {name: known[name] for name in wanted if name in known}
        missing = [name for name in wanted if name not in vectors and (key, name) not in self._refused]
        for names in _slices(missing, LOOKUP):
            with self.catalog.reading() as snapshot:
                vectors.update(snapshot.vectors(key, names))
        missing = [name for name in missing if name not in vectors]
        if not missing:
            return vectors, None
        with self.catalog.journalling(key) as keep:
            for names in _slices(missing, REQUEST_TEXTS):
                if self.enough():
                    break
                try:
                    fresh = patiently(
                        partial(self._request, embedder, wanted, names),
                        while_waiting=partial(self._heed, embedder, self.clock()),
                    )
                except _Enough:
                    break
                except ProviderError as error:
                    return vectors, error
                keep(fresh)
                vectors.update(fresh)
                told(len(fresh))
                if self.clock() >= until:
                    break
        return vectors, None

    def _heed(self, embedder: EmbeddingProvider, began: float) -> None:
        if self.enough():
            raise _Enough
        waited = self.clock() - began
        if waited < SLOW_REQUEST_S:
            return
        named = f"The model {embedder.identity.model} of {self.whom(embedder.identity.provider)}"
        minutes = LONGEST_REQUEST_S // 60
        if waited >= LONGEST_REQUEST_S:
            raise ProviderUnreachable(f"{named} did not answer within {minutes} minutes")
        self.slow(
            f"{named} took longer than {SLOW_REQUEST_S} seconds for a request; up to {minutes} minutes are waited."
        )

    def _request(
        self, embedder: EmbeddingProvider, wanted: Mapping[bytes, str], names: list[bytes]
    ) -> dict[bytes, bytes]:
        """Embed the texts of one request; one that the embedder refuses is left out, the others go again."""
        while names:
            try:
                rows = embed_whole(embedder, [wanted[name] for name in names])
            except PassageRefused as refusal:
                self._refused[embedder.identity.key, names[refusal.index]] = refusal.message
                names = [name for at, name in enumerate(names) if at != refusal.index]
                continue
            return {name: rows.row_bytes(at) for at, name in enumerate(names)}
        return {}


def embed_whole(embedder: EmbeddingProvider, texts: Sequence[str]) -> Vectors:
    """Embed passages of any length: what is longer than the model's window is the mean of its windows.

    Cutting a passage silently would leave its end to be found by nobody.
    """
    window = max(1, embedder.max_input_chars)
    if all(len(text) <= window for text in texts):
        return embedder.embed(texts, role="passage")
    pieces = [[text[at : at + window] for at in range(0, len(text), window)] for text in texts]
    try:
        rows = embedder.embed([piece for parts in pieces for piece in parts], role="passage").rows()
    except PassageRefused as refusal:
        owner = [at for at, parts in enumerate(pieces) for _ in parts][refusal.index]
        raise PassageRefused(refusal.message, index=owner, hint=refusal.hint) from refusal
    remaining = iter(rows)
    means = [_mean(list(islice(remaining, len(parts)))) for parts in pieces]
    return Vectors.from_rows(means, embedder.identity.dimension)


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    sums = [sum(column) for column in zip(*rows, strict=True)]
    length = sum(value * value for value in sums) ** 0.5
    return [value / length for value in sums] if length else list(rows[0])


def _slices(items: Iterable[T], size: int) -> Iterable[list[T]]:
    stream = iter(items)
    while part := list(islice(stream, size)):
        yield part
