"""Models: what the provider offers, and which of it is used."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager

from attrs import evolve, frozen

from openmind.application.models.embedders import BUILTIN
from openmind.domain.errors import JobActive, ModelNotFound, OpenMindError
from openmind.domain.models import (
    EmbedderIdentity,
    ModelAction,
    ModelInfo,
    ModelSelection,
    ProviderChoice,
    ProviderHealth,
    ProviderInfo,
    SelectionReport,
)
from openmind.domain.sentences import as_sentence
from openmind.ports.model_provider import ModelProvider

LIST = "See: `openmind models list`."
STAYS = "stays loaded until the new vectors are complete"
"""The status of the embedder that searches need until another one has taken over."""


@frozen(kw_only=True)
class ModelService:
    """Talks to the configured provider, or to one that may become it."""

    configured_name: str
    """The provider that the configuration names."""
    selection: ModelSelection
    """The models that it names."""
    configured: Callable[[], ModelProvider]
    """Gives that provider; it stays open."""
    reach: Callable[[ProviderChoice], ModelProvider]
    """Makes a provider that is not configured; whoever asks closes it."""
    installed: Callable[[], tuple[ProviderInfo, ...]]
    save: Callable[[ModelSelection, ProviderChoice | None, bool | None], None]
    """Writes the configuration; the provider stays as it is without a choice, and so does whether pictures count."""
    busy: Callable[[], bool]
    """Whether anything is being indexed."""
    serving: Callable[[], EmbedderIdentity | None] = lambda: None
    """Tells which embedder searches need; None while there is nothing to find."""
    choice: ProviderChoice | None = None

    def at(self, choice: ProviderChoice) -> "ModelService":
        """The same service as if another provider was configured; selecting models there configures it."""
        return evolve(self, choice=choice)

    @property
    def provider_name(self) -> str:
        """Whose models these are."""
        return self.configured_name if self.choice is None else self.choice.name

    def providers(self) -> tuple[ProviderInfo, ...]:
        """List the providers that are installed, in order of name."""
        return self.installed()

    def health(self) -> ProviderHealth:
        """Say whether the provider answers, and what can be chosen where it told that as well."""
        with self._provider() as provider:
            health = provider.health()
        return health if health.models is None else evolve(health, models=(*health.models, *self._builtin()))

    def list(self) -> tuple[ModelInfo, ...]:
        """List the models that can be chosen: the provider's and, last, the embedder that comes with OpenMind.

        Raises:
            ProviderUnreachable, ProviderError
        """
        with self._provider() as provider:
            return (*provider.models(), *self._builtin())

    def load(self, keys: Sequence[str] | None = None) -> tuple[ModelAction, ...]:
        """Load models, one action a model in order; None loads the configured ones.

        Raises:
            ModelNotFound: the provider has no model of that name.
            ProviderUnreachable, ProviderError
        """
        wanted = self.selection.keys if keys is None else tuple(dict.fromkeys(keys))
        with self._provider() as provider:
            if set(wanted) - {BUILTIN}:
                _require(wanted, _by_key(provider.models()))
            return _load(provider, wanted)

    def exchange(self, wanted: ModelSelection) -> tuple[tuple[ModelAction, ...], tuple[ModelAction, ...]]:
        """Unload the models of the former configuration that are not wanted any more, and load those that are.

        The embedder of the table that is searched stays until another table takes over: see `let_go`.
        Nothing is written down, so that it can be broken off; a failure is a status.

        Returns:
            What was done to those that go, and to those that come.

        Raises:
            JobActive, ModelNotFound, ProviderUnreachable, ProviderError: see `select`; nothing was done.
        """
        require_idle(self.busy())
        with self._provider() as provider:
            _check(wanted, provider)
            return self._unload_former(wanted), _load(provider, wanted.keys)

    def select(self, wanted: ModelSelection, *, load: bool = True, images: bool | None = None) -> SelectionReport:
        """Choose models, and write them down; the memory must be opened again to use them.

        Args:
            wanted: the models.
            load: whether the provider's memory follows, as `exchange` does it; otherwise it is left alone.
            images: whether pictures are indexed at all; None leaves that as it is.

        Raises:
            JobActive: something is being indexed.
            ModelNotFound: there is no such model, or it cannot do what it is chosen for.
            ProviderUnreachable, ProviderError: the models could not be looked up.
            ConfigError: the configuration cannot be written.
        """
        unloaded, loaded = self.exchange(wanted) if load else ((), ())
        require_idle(self.busy())  # a run may have begun while models were loaded
        if not load:
            with self._provider() as provider:
                _check(wanted, provider)
        self.save(wanted, self.choice, images)
        return SelectionReport(
            provider=self.provider_name,
            selection=wanted,
            embedder_changed=_embedder(self.provider_name, wanted) != _embedder(self.configured_name, self.selection),
            unloaded=unloaded,
            loaded=loaded,
        )

    def let_go(self, former: EmbedderIdentity) -> str:
        """Unload the embedder of a table that is not searched any more, unless it is chosen for something.

        Returns:
            A sentence on why it is still loaded; empty where all is well.
        """
        if former.provider != self.configured_name or former.model in {BUILTIN, *self.selection.keys}:
            return ""
        [action] = self._unload([former.model])
        if not action.failed:
            return ""
        return f"{former.model} is not needed any more and could not be unloaded. {as_sentence(action.reason)}"

    @contextmanager
    def _provider(self) -> Iterator[ModelProvider]:
        if self.choice is None:
            yield self.configured()
        else:
            with closing(self.reach(self.choice)) as provider:
                yield provider

    def _unload_former(self, wanted: ModelSelection) -> tuple[ModelAction, ...]:
        kept = wanted.keys if self.provider_name == self.configured_name else ()
        keys = [key for key in self.selection.keys if key not in {BUILTIN, *kept}]
        staying = [key for key in keys if key == self._needed_by_searches()]
        stay = tuple(ModelAction(model=key, status=STAYS, skipped=True) for key in staying)
        return self._unload([key for key in keys if key not in staying]) + stay

    def _needed_by_searches(self) -> str | None:
        """The model that searches go on to need whatever is chosen, as long as its provider stays."""
        serving = self.serving() if self.provider_name == self.configured_name else None
        return serving.model if serving is not None and serving.provider == self.configured_name else None

    def _unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        try:
            return self.configured().unload(keys) if keys else ()
        except OpenMindError as error:  # the former provider may be what went wrong, and why another is chosen
            return tuple(ModelAction(model=key, status=f"failed: {error.message}") for key in keys)

    def _builtin(self) -> tuple[ModelInfo, ...]:
        if self.provider_name == BUILTIN:
            return ()
        with closing(self.reach(ProviderChoice(name=BUILTIN))) as provider:
            return provider.models()


def require_idle(busy: bool, *, what: str = "The models") -> None:
    """Refuse to change models, or something else, under a run that uses them.

    Raises:
        JobActive
    """
    if busy:
        raise JobActive(
            f"{what} cannot be changed while files are being indexed",
            hint="Wait until that is done, or stop it: `openmind index stop`.",
        )


def _by_key(models: Iterable[ModelInfo]) -> dict[str, ModelInfo]:
    return {model.key: model for model in models}


def _embedder(provider: str, selection: ModelSelection) -> tuple[str, str]:
    """Name an embedder as the identity of an index does."""
    model = selection.embedding_model
    return (BUILTIN if model == BUILTIN else provider, model)


def _load(provider: ModelProvider, keys: Sequence[str]) -> tuple[ModelAction, ...]:
    served = [key for key in keys if key != BUILTIN]
    actions = {action.model: action for action in provider.load(served)} if served else {}
    actions[BUILTIN] = ModelAction(model=BUILTIN, status="loaded", skipped=True)
    return tuple(actions[key] for key in keys if key in actions)


def _require(keys: Iterable[str], known: Collection[str]) -> None:
    for key in keys:
        if key != BUILTIN and key not in known:
            raise ModelNotFound(f"There is no model {key}", hint=LIST)


def _check(wanted: ModelSelection, provider: ModelProvider) -> None:
    """Refuse models that are not there, or of the wrong kind."""
    # The embedder that comes with OpenMind needs no server that answers.
    known = _by_key(provider.models()) if set(wanted.keys) - {BUILTIN} else {}
    if wanted.chat_model == BUILTIN:
        raise ModelNotFound("The model builtin cannot chat", hint=LIST)
    if wanted.image_model == BUILTIN:
        raise ModelNotFound("The model builtin cannot see images", hint=LIST)
    _require(wanted.keys, known)
    chat, image = known.get(wanted.chat_model or ""), known.get(wanted.image_model or "")
    embedder = None if wanted.embedding_model == BUILTIN else known[wanted.embedding_model]
    if chat is not None and chat.type != "llm":
        raise ModelNotFound(f"The model {chat.key} cannot chat", hint=LIST)
    if embedder is not None and embedder.type != "embedding":
        raise ModelNotFound(f"The model {embedder.key} is no embedding model", hint=LIST)
    if image is not None and not image.supports_images:
        raise ModelNotFound(f"The model {image.key} cannot see images", hint=LIST)
