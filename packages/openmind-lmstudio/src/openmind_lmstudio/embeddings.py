"""An embedder behind `/v1/embeddings`."""

import threading
from collections.abc import Sequence

from openmind.domain.errors import ContextOverflow, ModelNotFound, PassageRefused, ProviderError
from openmind.domain.models import EmbedderIdentity, EmbeddingRole, RetrievalProfile
from openmind.domain.vectors import Vectors

from openmind_lmstudio import policy
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import (
    EngineCrashed,
    NoModelLoaded,
    Nonsense,
    RequestRefused,
    ServerFailed,
    TooSlow,
)
from openmind_lmstudio.prefixes import prefixes_for
from openmind_lmstudio.readiness import Prepare, Ready
from openmind_lmstudio.turns import Turns
from openmind_lmstudio.vectors import NoVector, read_vectors
from openmind_lmstudio.window import ASSUMED_EMBEDDING_TOKENS, MAX_CHARS_PER_TOKEN, passage_chars

MAX_BATCH = 32
RECOVERY_S = 1.0
"""What an engine gets to come back after a crash."""

SERVER_PROFILE = RetrievalProfile(words_weight=0.45, cosine_floor=0.25)
"""Not measured: one value for every model that a person may choose. The floor is low because models differ in what
they call far: with it, only what is far for all of them counts as irrelevant."""

_PROBE = "OpenMind"
_BLANK = "."
"""Sent for a text without a word: an empty string is refused by some servers and crashes others."""

_BLAMES_A_TEXT = (EngineCrashed, RequestRefused, ContextOverflow, ServerFailed, TooSlow)
"""Failures of a batch that one of its texts may have caused."""


class ServedEmbeddings:
    """One embedding model of a server.

    One request is under way at a time: servers queue them at best and crash at worst.
    """

    def __init__(self, connection: Connection, *, provider: str, model: str, prepare: Prepare, turns: Turns) -> None:
        self._connection = connection
        self._provider = provider
        self._model = model
        self._prepare = prepare
        self._turns = turns
        self._prefixes = prefixes_for(model)
        self._batch = MAX_BATCH
        self._warm = False
        self._preparing = threading.Lock()
        self._ready: Ready | None = None
        self._identifying = threading.Lock()
        self._identity: EmbedderIdentity | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """No route tells the dimension: one text is embedded to learn it."""
        with self._identifying:
            if self._identity is None:
                revision = self._get_ready().model.revision
                with self._turns.turn():
                    probe = self._embed_or_reload([_PROBE])
                self._identity = EmbedderIdentity(
                    provider=self._provider,
                    model=self._model,
                    revision=revision,
                    dimension=probe.dimension,
                    prompt_version=self._prefixes.version,
                )
            return self._identity

    @property
    def max_input_chars(self) -> int:
        """By the window that is allocated, not by the one the model was trained with."""
        return passage_chars(self._window) - self._prefixes.longest

    @property
    def in_process(self) -> bool:
        return False

    @property
    def profile(self) -> RetrievalProfile:
        return SERVER_PROFILE

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        """Embed in batches; a text that the server cannot take is found and named.

        Raises:
            PassageRefused: one text is refused or takes the engine down; the others would pass.
            ModelNotLoaded: the model went away and could not be loaded again.
        """
        dimension = self.identity.dimension
        inputs = [self._input(text, role) for text in texts]
        parts = []
        done = 0
        while done < len(inputs):
            batch = self._next_batch(inputs, done)
            with self._turns.turn():
                parts.append(self._embed_or_isolate(batch, done))
            done += len(batch)
        return Vectors.concat(parts, dimension)

    def _input(self, text: str, role: EmbeddingRole) -> str:
        """Put a text on one line behind its prefix, cut where no tokenizer could still make it fit."""
        line = " ".join(text.replace("\0", " ").split()) or _BLANK
        return self._prefixes.before(role) + line[: self._window * MAX_CHARS_PER_TOKEN]

    def _next_batch(self, inputs: Sequence[str], start: int) -> list[str]:
        """Take texts up to the number and to the characters that as many full windows hold."""
        room = self._batch * passage_chars(self._window)
        batch: list[str] = []
        for text in inputs[start : start + self._batch]:
            room -= len(text)
            if batch and room < 0:
                break
            batch.append(text)
        return batch

    def _embed_or_isolate(self, batch: list[str], start: int) -> Vectors:
        """Embed a batch; when it fails because of a text, halve it until that text stands alone."""
        try:
            return self._embed_or_reload(batch)
        except NoVector as error:
            raise self._blame(batch, error.index, start, error) from error
        except _BLAMES_A_TEXT as error:
            if isinstance(error, TooSlow):
                self._batch = max(1, len(batch) // 2)
            self._recover(error)
            if len(batch) == 1:
                return self._try_again(batch, start)
            middle = len(batch) // 2
            parts = [
                self._embed_or_isolate(batch[:middle], start),
                self._embed_or_isolate(batch[middle:], start + middle),
            ]
            return Vectors.concat(parts, parts[0].dimension)

    def _try_again(self, batch: list[str], start: int) -> Vectors:
        """Give a lone text a second chance: the failure may have come from elsewhere."""
        try:
            return self._embed_or_reload(batch)
        except (NoVector, *_BLAMES_A_TEXT) as error:
            self._recover(error)
            raise self._blame(batch, 0, start, error) from error

    def _blame(self, batch: list[str], index: int, start: int, error: ProviderError) -> ProviderError:
        """Name the text as the cause, unless the server fails at a harmless one too: then it is the server."""
        try:
            self._embed_or_reload([_PROBE])
        except ProviderError as also:
            return also
        return PassageRefused(
            f"{self._connection.server} cannot embed a passage of {len(batch[index])} characters: {error.message}",
            index=start + index,
        )

    def _recover(self, error: ProviderError) -> None:
        if isinstance(error, EngineCrashed):
            self._connection.sleep(RECOVERY_S)

    def _embed_or_reload(self, texts: list[str]) -> Vectors:
        """Embed; when the model is not there any more, load it once and ask once more."""
        ready = self._get_ready()
        try:
            return self._request(ready, texts)
        except (NoModelLoaded, ModelNotFound) as error:
            if isinstance(error, ModelNotFound) and ready.name == self._model:
                raise
            self._forget_ready(ready)
            return self._request(self._get_ready(), texts)

    def _request(self, ready: Ready, texts: list[str]) -> Vectors:
        patience = policy.EMBED if self._warm else policy.EMBED_FIRST
        reply = self._connection.post("/v1/embeddings", {"model": ready.name, "input": texts}, patience)
        answered = reply.text("model")
        if ready.is_stranger(answered):
            raise Nonsense(
                f"{self._connection.server} answered with “{answered}” instead of “{self._model}”",
                hint="Load the embedding model with `openmind models load`.",
            )
        vectors = read_vectors(reply, len(texts))
        if self._identity is not None and vectors.dimension != self._identity.dimension:
            raise Nonsense(
                f"“{self._model}” answers with {vectors.dimension} instead of {self._identity.dimension} dimensions",
                hint="Another model may be loaded under its name.",
            )
        self._warm = True
        return vectors

    @property
    def _window(self) -> int:
        return self._get_ready().context_length or ASSUMED_EMBEDDING_TOKENS

    def _get_ready(self) -> Ready:
        with self._preparing:
            if self._ready is None:
                ready = self._prepare(self._model)
                if self._identity is not None and ready.model.revision != self._identity.revision:
                    raise Nonsense(
                        f"“{self._model}” is now another build ({ready.model.revision})",
                        hint="Start again, so that the passages are embedded anew.",
                    )
                self._ready = ready
            return self._ready

    def _forget_ready(self, ready: Ready) -> None:
        """Look again before the next request; the window of a reloaded model may differ."""
        with self._preparing:
            if self._ready is ready:
                self._ready = None
                self._warm = False
