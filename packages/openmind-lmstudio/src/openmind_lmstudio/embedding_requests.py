"""Requests to `/v1/embeddings` for one model, which may come and go behind them."""

import threading

from openmind.domain.errors import ModelNotFound
from openmind.domain.vectors import Vectors

from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import AnotherModel, NoModelLoaded, Nonsense, said_by
from openmind_lmstudio.policy import EMBED, EMBED_FIRST, Patience
from openmind_lmstudio.readiness import Prepare, Ready
from openmind_lmstudio.vectors import read_vectors


class EmbeddingRequests:
    """Sends texts and checks what comes back. The caller sends one request at a time."""

    def __init__(
        self,
        connection: Connection,
        *,
        model: str,
        prepare: Prepare,
        patience: Patience = EMBED,
        first_patience: Patience = EMBED_FIRST,
    ) -> None:
        self._connection = connection
        self._model = model
        self._prepare = prepare
        self._patience = patience
        self._first_patience = first_patience
        self._answered = False
        self._build: tuple[str, int] | None = None
        self._preparing = threading.Lock()
        self._ready: Ready | None = None

    def ready(self) -> Ready:
        """Find the model, loading it if need be. Looked up once, and again when it went away.

        Raises:
            ModelNotFound, ModelNotLoaded, ProviderUnreachable, ProviderError
        """
        with self._preparing:
            if self._ready is None:
                self._ready = self._prepare(self._model)
            return self._ready

    def send(self, texts: list[str]) -> Vectors:
        """Embed; when the model is not there any more, load it once and ask once more.

        Raises:
            NoVector: what came for one text is no vector.
            ModelNotLoaded: the model went away again.
            ProviderUnreachable, ProviderError
        """
        ready = self.ready()
        try:
            return self._request(ready, texts)
        except (NoModelLoaded, ModelNotFound) as error:
            if isinstance(error, ModelNotFound) and ready.name == self._model:
                raise
            self._forget(ready)
            return self._request(self.ready(), texts)

    def _request(self, ready: Ready, texts: list[str]) -> Vectors:
        patience = self._patience if self._answered else self._first_patience
        reply = self._connection.post("/v1/embeddings", {"model": ready.name, "input": texts}, patience)
        answered = reply.text("model")
        if ready.is_stranger(answered):
            raise AnotherModel(self._connection.server, answered, self._model)
        with said_by(self._connection.server):
            vectors = read_vectors(reply, len(texts), self._model)
        self._require_same_build(ready.model.revision, vectors.dimension)
        self._answered = True
        return vectors

    def _require_same_build(self, revision: str, dimension: int) -> None:
        """Refuse to mix vectors: every batch must come from what the first one came from."""
        build = (revision, dimension)
        if self._build is None:
            self._build = build
        elif self._build != build:
            told = [f"{name or 'an unnamed build'} of {width} dimensions" for name, width in (self._build, build)]
            raise Nonsense(
                f"“{self._model}” was {told[0]} and is now {told[1]}",
                hint="Start again, so that everything is embedded anew with the model as it is now.",
            )

    def _forget(self, ready: Ready) -> None:
        """Look the model up again before the next request; the window of a reloaded one may differ."""
        with self._preparing:
            if self._ready is ready:
                self._ready, self._answered = None, False
