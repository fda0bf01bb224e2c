"""An embedder behind a server."""

import threading
from collections.abc import Sequence

from openmind.domain.models import EmbedderIdentity, EmbeddingRole, RetrievalProfile
from openmind.domain.vectors import Vectors

from openmind_lmstudio.connection import Connection
from openmind_lmstudio.embedding_requests import EmbeddingRequests
from openmind_lmstudio.errors import TooSlow
from openmind_lmstudio.isolation import HARMLESS, embed_or_isolate
from openmind_lmstudio.prefixes import prefixes_for
from openmind_lmstudio.turns import Turns
from openmind_lmstudio.window import ASSUMED_EMBEDDING_TOKENS, MAX_CHARS_PER_TOKEN, passage_chars

MAX_BATCH = 32

SERVER_PROFILE = RetrievalProfile(words_weight=0.45, cosine_floor=0.25)
"""Not measured: one value for every model that a person may choose. The floor is low because models differ in what
they call far: with it, only what is far for all of them counts as irrelevant."""

_BLANK = "."
"""Sent for a text without a word: an empty string is refused by some servers and crashes others."""


class ServedEmbeddings:
    """One embedding model of a server.

    Args:
        requests: to the model.
        connection: to the server.
        provider: the name of the provider, for the identity.
        model: key of the model.
        turns: shared by all embedders of the server. One request is under way at a time: servers queue them at
            best and crash at worst.
    """

    def __init__(
        self, requests: EmbeddingRequests, *, connection: Connection, provider: str, model: str, turns: Turns
    ) -> None:
        self._requests = requests
        self._connection = connection
        self._provider = provider
        self._model = model
        self._turns = turns
        self._prefixes = prefixes_for(model)
        self._batch_size = MAX_BATCH
        self._identifying = threading.Lock()
        self._identity: EmbedderIdentity | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """No route tells the dimension: one text is embedded to learn it."""
        with self._identifying:
            if self._identity is None:
                with self._turns.turn():
                    probe = self._requests.send([HARMLESS])
                self._identity = EmbedderIdentity(
                    provider=self._provider,
                    model=self._model,
                    revision=self._requests.ready().model.revision,
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
        """Embed in batches; other threads get their turn between two of them.

        Raises:
            PassageRefused: one text is refused or takes the engine down.
            ModelNotLoaded: the model went away and could not be loaded again.
            ProviderUnreachable, ProviderError
        """
        dimension = self.identity.dimension
        window = self._window
        inputs = [self._input(text, role, window) for text in texts]
        parts = []
        done = 0
        while done < len(inputs):
            batch = self._next_batch(inputs, done, window)
            with self._turns.turn():
                parts.append(embed_or_isolate(batch, self._send, sleep=self._connection.sleep, start=done))
            done += len(batch)
        return Vectors.concat(parts, dimension)

    def _send(self, texts: list[str]) -> Vectors:
        """Send a batch, and smaller ones from then on when it took too long."""
        try:
            return self._requests.send(texts)
        except TooSlow:
            self._batch_size = max(1, len(texts) // 2)
            raise

    def _input(self, text: str, role: EmbeddingRole, window: int) -> str:
        """Put a text on one line behind its prefix, cut where no tokenizer could still make it fit."""
        line = " ".join(filter(None, text.replace("\0", " ").splitlines())).strip() or _BLANK
        return self._prefixes.before(role) + line[: window * MAX_CHARS_PER_TOKEN]

    def _next_batch(self, inputs: Sequence[str], start: int, window: int) -> list[str]:
        """Take texts up to the number, and to the characters that as many full windows hold."""
        room = self._batch_size * passage_chars(window)
        batch: list[str] = []
        for text in inputs[start : start + self._batch_size]:
            room -= len(text)
            if batch and room < 0:
                break
            batch.append(text)
        return batch

    @property
    def _window(self) -> int:
        return self._requests.ready().context_length or ASSUMED_EMBEDDING_TOKENS
