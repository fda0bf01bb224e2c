"""Fakes of models: an embedder that hashes words, a chat model with a script, a provider of both and of eyes."""

from __future__ import annotations

import hashlib
from math import sqrt
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from openmind.domain.answers import AnswerReasoning, AnswerRestarted, AnswerText
from openmind.domain.errors import ModelNotFound, OpenMindError, ProviderError, ProviderUnreachable
from openmind.domain.models import (
    EmbedderIdentity,
    EmbeddingRole,
    ModelAction,
    ModelInfo,
    ModelSelection,
    ProviderHealth,
    RetrievalProfile,
)
from openmind.domain.vectors import Vectors
from openmind.ports.answer_provider import AnswerPart, Prompt, Reply
from openmind.testing.fakes.images import FakeDescriber

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from openmind.ports.image_describer import ImageDescriber

FAKE_PROFILE = RetrievalProfile(words_weight=0.6, cosine_floor=0.5)
FAKE_IDENTITY = EmbedderIdentity(provider="fake", model="fake-embedder", dimension=64)


@define(kw_only=True)
class FakeEmbeddings:
    """Each word points somewhere of its own; a text is the sum of its words. Counts what it is asked."""

    identity: EmbedderIdentity = FAKE_IDENTITY
    profile: RetrievalProfile = FAKE_PROFILE
    max_input_chars: int = 8_000
    in_process: bool = False
    error: OpenMindError | None = None
    """What every call raises instead of answering."""
    calls: int = field(default=0, init=False)
    embedded: list[str] = field(factory=list, init=False)
    """Every text that was embedded, in order."""

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        self.calls += 1
        if self.error is not None:
            raise self.error
        self.embedded += texts
        return Vectors.from_rows((self._vector(text) for text in texts), self.identity.dimension)

    def _vector(self, text: str) -> list[float]:
        sums = [0.0] * self.identity.dimension
        for word in text.casefold().split():
            for at, sign in self._directions(word):
                sums[at] += sign
        length = sqrt(sum(component * component for component in sums))
        if length == 0:
            sums[0] = length = 1.0
        return [component / length for component in sums]

    def _directions(self, word: str) -> Iterator[tuple[int, float]]:
        """Choose the components a word adds to, by its hash."""
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=12).digest()
        for at in range(0, len(digest), 3):
            place = int.from_bytes(digest[at : at + 2], "big") % self.identity.dimension
            yield place, 1.0 if digest[at + 2] & 1 else -1.0


@define(kw_only=True)
class FakeAnswers:
    """A chat model that says what it was told to say, turn by turn, and keeps the prompts it got.

    An error in the script is raised in its turn; after a text, as `[text, error]`, the text comes first.
    `[text, AnswerRestarted(), text]` takes the first text back.
    """

    script: list[str | OpenMindError | list[str | OpenMindError | AnswerRestarted]] = field(factory=list)
    """One entry a turn; when it is used up, the last one is said again."""
    model: str = "fake-chat"
    window: int | OpenMindError = 100_000
    thoughts: str = ""
    """Said as reasoning when it is asked for."""
    forgetful: bool = False
    """Whether every continuation is lost."""
    prompts: list[Prompt] = field(factory=list, init=False)
    closed_early: int = field(default=0, init=False)
    """How many streams were closed before their end."""

    def context_chars(self) -> int:
        if isinstance(self.window, OpenMindError):
            raise self.window
        return self.window

    def stream(self, prompt: Prompt) -> Iterator[AnswerPart]:
        self.prompts.append(prompt)
        if self.forgetful and prompt.previous is not None:
            raise ProviderError("the conversation is not stored any more")
        turn = self.script[min(len(self.prompts), len(self.script)) - 1] if self.script else "It is so [1]."
        said = ""
        try:
            if prompt.reasoning and self.thoughts:
                yield AnswerReasoning(self.thoughts)
            for part in turn if isinstance(turn, list) else [turn]:
                if isinstance(part, OpenMindError):
                    raise part
                if isinstance(part, AnswerRestarted):
                    said = ""
                    yield part
                    continue
                for piece in pieces(part):
                    said += piece
                    yield AnswerText(piece)
        except GeneratorExit:
            self.closed_early += 1
            raise
        yield Reply(said, continuation=f"turn-{len(self.prompts)}" if prompt.keep else None)


def pieces(text: str) -> Iterator[str]:
    """Cut a text into words, as a model would send it."""
    word = ""
    for character in text:
        word += character
        if character == " ":
            yield word
            word = ""
    if word:
        yield word


@define(kw_only=True)
class FakeProvider:
    """A provider of one embedder and, if it is given one, a chat model."""

    embeddings: FakeEmbeddings = field(factory=FakeEmbeddings)
    answers: FakeAnswers | None = None
    eyes: FakeDescriber | None = None
    reachable: bool = True
    loaded: set[str] = field(factory=set, init=False)

    @property
    def display_name(self) -> str:
        return "Fake"

    def health(self) -> ProviderHealth:
        message = "The fake provider is ready." if self.reachable else "The fake provider is down."
        return ProviderHealth(provider="fake", reachable=self.reachable, message=message)

    def models(self) -> tuple[ModelInfo, ...]:
        self._require_reachable()
        key = self.embeddings.identity.model
        models = [ModelInfo(key=key, name="Fake embedder", type="embedding", loaded=key in self.loaded)]
        if self.answers is not None:
            chat = self.answers.model
            models.append(ModelInfo(key=chat, name="Fake chat model", type="llm", loaded=chat in self.loaded))
        if self.eyes is not None:
            sees = self.eyes.model
            loaded = sees in self.loaded
            models.append(ModelInfo(key=sees, name="Fake eyes", type="llm", loaded=loaded, supports_images=True))
        return tuple(models)

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        known = {model.key for model in self.models()}
        actions = []
        for key in keys:
            status = "loaded" if key in known else "failed: there is no such model"
            actions.append(ModelAction(model=key, status=status, skipped=key in self.loaded))
            self.loaded |= {key} & known
        return tuple(actions)

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        actions = tuple(ModelAction(model=key, status="unloaded", skipped=key not in self.loaded) for key in keys)
        self.loaded -= set(keys)
        return actions

    def embedder(self, model: str) -> FakeEmbeddings:
        if model == self.embeddings.identity.model:
            return self.embeddings
        return FakeEmbeddings(
            identity=evolve(FAKE_IDENTITY, model=model), error=ModelNotFound(f"there is no model “{model}”")
        )

    def answerer(self, model: str) -> FakeAnswers:
        if self.answers is None:
            raise ModelNotFound("the fake provider has no chat model")
        return self.answers if model == self.answers.model else FakeAnswers(model=model)

    def describer(self, model: str) -> ImageDescriber:
        if self.eyes is None:
            raise ModelNotFound("the fake provider has no model that sees")
        if model == self.eyes.model:
            return self.eyes
        return FakeDescriber(model=model, error=ModelNotFound(f"there is no model “{model}”"))

    def selection(self) -> ModelSelection | None:
        return None

    def close(self) -> None:
        """Nothing is held open."""

    def _require_reachable(self) -> None:
        if not self.reachable:
            raise ProviderUnreachable("the fake provider does not answer")
