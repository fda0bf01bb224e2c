"""Providers of other packages, contained: whatever they do wrong is an error that names them, and harms nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from inspect import isgenerator
from math import hypot
from typing import Self, TypeVar

from attrs import define, evolve, field, frozen

from openmind.application.blame import blamed
from openmind.application.models.embedders import BUILTIN
from openmind.domain.embedder_faults import fault_of_identity, fault_of_longest_input, fault_of_profile
from openmind.domain.errors import OpenMindError, PassageRefused, ProviderBroken, ProviderError
from openmind.domain.models import (
    EmbedderIdentity,
    EmbeddingRole,
    ModelAction,
    ModelInfo,
    ModelSelection,
    ProviderHealth,
    RetrievalProfile,
)
from openmind.domain.plugins import OURS, THIS_PROGRAM, provider_of
from openmind.domain.sentences import counted
from openmind.domain.vectors import Vectors
from openmind.ports.answer_provider import AnswerPart, AnswerProvider, Prompt, Reply
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.model_provider import ModelProvider

T = TypeVar("T")
UNIT_TOLERANCE = 0.01
"""How far from 1 the length of a vector may be: half precision on its way costs less than that."""


@frozen
class Blame:
    """Turns what a stranger's code raises, and what it gives back, into errors that name it."""

    provider: str
    package: str

    def taken(self) -> AbstractContextManager[None]:
        """Let OpenMind's own errors and Ctrl-C pass; any other is a `ProviderBroken`."""
        return blamed(provider_of(self.provider, self.package), self.error)

    def error(self, told: str) -> ProviderBroken:
        if self.package == THIS_PROGRAM:
            return ProviderBroken(
                f"the embedder “{self.provider}” of this program is broken: {told}",
                hint="Mend what is given to `open_memory`.",
            )
        return ProviderBroken(
            f"the provider “{self.provider}” of the package {self.package} is broken: {told}",
            hint="Update that package, or choose another provider: `openmind setup`.",
        )

    def refuse(self, fault: str) -> None:
        """Raise what an embedder says of itself that cannot be; nothing happens when it is empty.

        Raises:
            ProviderBroken
        """
        if fault:
            raise self.error(fault)

    def expect(self, value: object, kind: type[T], what: str) -> T:
        """Return a value of the kind it has to be.

        Raises:
            ProviderBroken: it is of another one.
        """
        if not isinstance(value, kind):
            raise self.error(f"{what} is {type(value).__name__} and not {kind.__name__}")
        return value


def contained(
    make: Callable[[], ModelProvider],
    *,
    name: str,
    package: str,
    not_closed: Callable[[OpenMindError], None] = lambda _: None,
) -> ModelProvider:
    """Make a provider; one of another package is contained.

    Args:
        make: makes it.
        name: what it is registered as.
        package: the distribution that registered it.
        not_closed: hears why it could not be closed.

    Raises:
        ProviderBroken: its package is.
    """
    if package in OURS:
        return make()
    blame = Blame(name, package)
    with blame.taken():
        return ContainedProvider(make(), blame, not_closed)


@frozen
class ContainedProvider:
    """A `ModelProvider` of another package."""

    inner: ModelProvider
    blame: Blame
    not_closed: Callable[[OpenMindError], None] = lambda _: None
    """Hears why the provider could not be closed."""

    @property
    def display_name(self) -> str:
        with self.blame.taken():
            return self.blame.expect(self.inner.display_name, str, "its display name")

    def health(self) -> ProviderHealth:
        """See the port. What the provider raises is what is wrong with it."""
        try:
            with self.blame.taken():
                return self.blame.expect(self.inner.health(), ProviderHealth, "its health")
        except ProviderError as error:
            return ProviderHealth(provider=self.blame.provider, reachable=False, message=error.message)

    def models(self) -> tuple[ModelInfo, ...]:
        with self.blame.taken():
            return tuple(self.blame.expect(model, ModelInfo, "one of its models") for model in self.inner.models())

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return self._actions(lambda: self.inner.load(keys), keys)

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return self._actions(lambda: self.inner.unload(keys), keys)

    def _actions(self, act: Callable[[], tuple[ModelAction, ...]], keys: Sequence[str]) -> tuple[ModelAction, ...]:
        with self.blame.taken():
            actions = tuple(self.blame.expect(action, ModelAction, "what it did") for action in act())
        if [action.model for action in actions] != list(keys):
            raise self.blame.error("it does not say what became of each model")
        return actions

    def embedder(self, model: str) -> EmbeddingProvider:
        with self.blame.taken():
            return ContainedEmbeddings(self.inner.embedder(model), model, self.blame)

    def answerer(self, model: str) -> AnswerProvider:
        with self.blame.taken():
            return ContainedAnswers(self.inner.answerer(model), self.blame)

    def describer(self, model: str) -> ImageDescriber:
        with self.blame.taken():
            return ContainedDescriber(self.inner.describer(model), self.blame)

    def selection(self) -> ModelSelection | None:
        with self.blame.taken():
            return self.inner.selection()

    def close(self) -> None:
        """See the port. What is raised here comes too late to matter: whoever closes has their result already."""
        try:
            with self.blame.taken():
                self.inner.close()
        except OpenMindError as error:
            self.not_closed(error)


@frozen
class ContainedEmbeddings:
    """An `EmbeddingProvider` of another package: its vectors are looked at before any is kept."""

    inner: EmbeddingProvider
    key: str
    blame: Blame

    @property
    def identity(self) -> EmbedderIdentity:
        """What it says it is, under the names that the configuration has for it: an index is looked up by them."""
        with self.blame.taken():
            told = self.blame.expect(self.inner.identity, EmbedderIdentity, "the identity of its embedder")
            self.blame.refuse(fault_of_identity(told))
            if told.provider == BUILTIN != self.blame.provider:
                self.blame.refuse(f"the identity of its embedder has the provider “{BUILTIN}”, which is OpenMind's own")
            return evolve(told, provider=self.blame.provider, model=self.key)

    @property
    def max_input_chars(self) -> int:
        with self.blame.taken():
            longest = self.inner.max_input_chars
            self.blame.refuse(fault_of_longest_input(longest))
            return longest

    @property
    def in_process(self) -> bool:
        with self.blame.taken():
            return bool(self.inner.in_process)

    @property
    def profile(self) -> RetrievalProfile:
        with self.blame.taken():
            profile = self.blame.expect(self.inner.profile, RetrievalProfile, "the profile of its embedder")
            self.blame.refuse(fault_of_profile(profile))
            return profile

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        # What it says of itself is looked at with a query, too: a search then says why there are no vectors.
        dimension, _ = self.identity.dimension, self.max_input_chars
        try:
            with self.blame.taken():
                vectors = self.blame.expect(self.inner.embed(texts, role=role), Vectors, "what its embedder gives")
                self._check(vectors, len(texts), dimension)
        except PassageRefused as refusal:
            if refusal.index not in range(len(texts)):
                raise self.blame.error(f"its embedder refuses text {refusal.index} of {len(texts)}") from refusal
            raise
        return vectors

    def _check(self, vectors: Vectors, count: int, dimension: int) -> None:
        if vectors.dimension != dimension:
            raise self.blame.error(f"its embedder gives vectors of {vectors.dimension} numbers, not of {dimension}")
        if len(vectors) != count:
            told = f"{counted(len(vectors), 'vector')} for {counted(count, 'text')}"
            raise self.blame.error(f"its embedder gives {told}")
        for row in vectors.rows():
            if not abs(hypot(*row) - 1) <= UNIT_TOLERANCE:  # NaN compares as false
                raise self.blame.error(f"its embedder gives a vector of length {hypot(*row):.3g}, not of length 1")


@frozen
class ContainedAnswers:
    """An `AnswerProvider` of another package."""

    inner: AnswerProvider
    blame: Blame

    @property
    def model(self) -> str:
        with self.blame.taken():
            return self.blame.expect(self.inner.model, str, "the name of its chat model")

    def context_chars(self) -> int:
        with self.blame.taken():
            return self.blame.expect(self.inner.context_chars(), int, "the window of its chat model")

    def stream(self, prompt: Prompt) -> Iterator[AnswerPart]:
        with self.blame.taken():
            return ContainedWords(iter(self.inner.stream(prompt)), self.blame)


@define(eq=False)
class ContainedWords:
    """What a chat model of another package says. A generator would not do: no other thread could end its wait."""

    inner: Iterator[AnswerPart]
    blame: Blame
    _replied: bool = field(default=False, init=False)
    _closed: bool = field(default=False, init=False)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AnswerPart:
        with ExitStack() as stack:
            stack.callback(self.close)
            event = self._next()
            stack.pop_all()
        return event

    def close(self) -> None:
        """End what is being waited for, from whatever thread.

        Raises:
            ValueError: it is a plain generator, and its reader is inside it.
            ProviderBroken: it could not be closed.
        """
        self._closed = True
        if isgenerator(self.inner) and self.inner.gi_running:
            raise ValueError("the reader is inside it")
        with self.blame.taken():
            getattr(self.inner, "close", lambda: None)()

    def _next(self) -> AnswerPart:
        with self.blame.taken():
            event = next(self.inner, None)
        if event is None:
            if self._replied or self._closed:
                raise StopIteration
            raise self.blame.error("its chat model ends without a reply")
        if self._replied or not isinstance(event, AnswerPart):
            raise self.blame.error(f"its chat model gives {type(event).__name__} where none is due")
        self._replied = isinstance(event, Reply)
        return event


@frozen
class ContainedDescriber:
    """An `ImageDescriber` of another package."""

    inner: ImageDescriber
    blame: Blame

    @property
    def model(self) -> str:
        with self.blame.taken():
            return self.blame.expect(self.inner.model, str, "the name of its model that sees")

    def describe(self, image: bytes, *, media_type: str, max_new_tokens: int = 220) -> str:
        with self.blame.taken():
            told = self.inner.describe(image, media_type=media_type, max_new_tokens=max_new_tokens)
        return self.blame.expect(told, str, "its description")
