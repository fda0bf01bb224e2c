"""Choosing a provider, its models, and folders: by options, by questions, or by taking what is suggested."""

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, field, frozen
from openmind.application.setup import Beginning, SetupPlan
from openmind.domain.errors import ConfigError, ModelNotFound, ProviderError, RemoteNotAllowed, SourceError, UsageError
from openmind.domain.models import ModelInfo, ModelSelection, ProviderChoice, ProviderHealth
from openmind.domain.sentences import as_sentence

from openmind_cli.pasted import pasted_path
from openmind_cli.prompts import Option, Prompter
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import note
from openmind_cli.suggestions import (
    BUILTIN,
    advice,
    chat_models,
    embedding_models,
    image_models,
    is_recommended,
    nearest,
    suggested,
)
from openmind_cli.wishes import NONE, Wishes

FIRST_SERVER = "lmstudio"
SAYS_WHAT = "`openmind setup --help` says what the options take."
USUAL_FOLDERS = ("Documents", "Desktop", "Downloads", "Notes", "Pictures")
_ABOUT = {
    BUILTIN: "finds by words and meaning, offline; writes no answers",
    "lmstudio": "finds better, writes answers, describes pictures",
    "openai-compatible": "Ollama, llama.cpp, vLLM and their like",
}


@frozen(kw_only=True)
class Choosing:
    """Makes a plan. Nothing is changed meanwhile, so it can be broken off at any question."""

    beginning: Beginning
    wishes: Wishes
    prompter: Prompter | None
    """Without one, what is not given is what is suggested."""
    given_folders: tuple[str, ...] = ()
    person: Path = field(factory=Path.home)
    """The person's own folder, in which the usual folders are looked for."""
    _heard: dict[str, ProviderHealth] = field(factory=dict, init=False)
    """What providers said of themselves in this sitting, by `repr` of the choice: each is asked once."""

    def plan(self, *, folders: bool) -> SetupPlan:
        """Choose everything; the folders only where they are wanted.

        Raises:
            UsageError, ConfigError: what was given makes no sense.
            ModelNotFound: a model that was given is not there.
            ProviderUnreachable, ProviderError: nobody can be asked what to do about it.
            SourceError: a folder that was given cannot be read.
        """
        given = tuple(self.beginning.folder(pasted_path(path)) for path in self.given_folders)
        provider = self._provider()
        selection, images = self._models(provider)
        chosen = given or (self._folders() if folders else ())
        return SetupPlan(provider=provider, selection=selection, images=images, folders=chosen)

    # provider

    def _provider(self) -> ProviderChoice:
        given = self._given_provider()
        if self.prompter is None:
            return self._without_asking(given)
        choice = given or self._asked_provider(self.prompter)
        while True:
            reached = self._reached(choice, self.prompter)
            if reached is not None:
                return reached
            choice = self._asked_provider(self.prompter)

    def _given_provider(self) -> ProviderChoice | None:
        name = self.wishes.provider
        if name is None:
            return None
        known = [provider.name for provider in self.beginning.models.providers()]
        if name not in known:
            raise UsageError(f"There is no provider {name}", hint=f"There are: {', '.join(known)}.")
        if name == BUILTIN and self.wishes.settings:
            raise UsageError("The built-in provider has no server", hint="Leave out --base-url and its like.")
        return self._configured(name)

    def _configured(self, name: str) -> ProviderChoice:
        """The provider as it is configured already, where it is, with what was given on top."""
        config = self.beginning.config
        if name == BUILTIN:
            return ProviderChoice(name=name)
        before = config.provider_settings if config.provider_name == name else {}
        return ProviderChoice(name=name, settings={**before, **self.wishes.settings})

    def _without_asking(self, given: ProviderChoice | None) -> ProviderChoice:
        server = self._usual_server()
        if given is None and self.wishes.settings:
            given = server  # whoever gives an address means a server
        if given is not None:
            try:
                health = self._asked(given)
            except RemoteNotAllowed as error:
                raise RemoteNotAllowed(error.message, hint="If you want that, add --allow-remote.") from error
            if health.error is not None:
                raise health.error
            if not health.reachable:
                self.beginning.models.at(given).list()  # raises what is wrong, with what to do about it
            better = self._fits_better(given, health)
            if better is not None and self.wishes.provider is None:
                return self._without_asking(better)
            if better is not None:
                raise ProviderError(
                    f"What answers there is not {self._shown_name(given)}, so nothing was changed",
                    hint=f"Choose what fits: `{self._command(given, health)}`.",
                )
            for told in (health.message, *health.notices):
                note(one_line(told))
            return given
        if server is None or not self._health(server).reachable:
            return ProviderChoice(name=BUILTIN)
        return self._fits_better(server, self._health(server)) or server

    def _fits_better(self, choice: ProviderChoice, health: ProviderHealth) -> ProviderChoice | None:
        """The provider that was meant for what answers there; None when the choice is fine, or in use already."""
        config = self.beginning.config
        in_use = (choice.name, dict(choice.settings)) == (config.provider_name, config.provider_settings)
        return None if health.fits_better is None or in_use else evolve(choice, name=health.fits_better)

    def _shown_name(self, choice: ProviderChoice) -> str:
        known = {provider.name: provider.display_name for provider in self.beginning.models.providers()}
        return known.get(choice.name, choice.name)

    def _command(self, choice: ProviderChoice, health: ProviderHealth) -> str:
        address = choice.settings.get("base_url")
        where = f" --base-url {address}" if address else ""
        return f"openmind setup --provider {health.fits_better}{where}"

    def _usual_server(self) -> ProviderChoice | None:
        """The server that is configured, else LM Studio."""
        installed = {provider.name for provider in self.beginning.models.providers()}
        configured = self.beginning.config.provider_name
        name = FIRST_SERVER if configured == BUILTIN else configured
        return self._configured(name) if name in installed else None

    def _asked(self, choice: ProviderChoice) -> ProviderHealth:
        """What a provider says of itself; that it did not answer is not kept."""
        name = repr(choice)
        health = self._heard.get(name)
        if health is None:
            try:
                health = self.beginning.models.at(choice).health()
            except ConfigError as error:
                option = self.wishes.blamed_in(error, choice.settings)
                if option is None:
                    raise
                raise UsageError(f"{option} cannot be used. {error.message}", hint=SAYS_WHAT) from error
            if health.reachable:
                self._heard[name] = health
        return health

    def _health(self, choice: ProviderChoice) -> ProviderHealth:
        try:
            return self._asked(choice)
        except ConfigError as error:
            return ProviderHealth(provider=choice.name, reachable=False, message=error.message)

    def _asked_provider(self, prompter: Prompter) -> ProviderChoice:
        server = self._usual_server()
        health = self._health(server) if server is not None else None
        if server is not None and health is not None and not health.reachable:
            prompter.tell(health.message)
            if server.name == FIRST_SERVER:
                prompter.tell(
                    "LM Studio is a free program that runs models on this machine: https://lmstudio.ai. Start the "
                    "server in its Developer tab, or with `lms server start`.",
                    "The built-in embedder needs nothing; `openmind setup` can be run again at any time.",
                )
        first = server.name if server is not None and health is not None and health.reachable else BUILTIN
        providers = sorted(self.beginning.models.providers(), key=lambda known: known.name != first)
        options = [
            Option(known.display_name, known.name, about=_ABOUT.get(known.name, ""), chosen=known.name == first)
            for known in providers
        ]
        return self._configured(prompter.select("Which models shall OpenMind use?", options))

    def _reached(self, choice: ProviderChoice, prompter: Prompter) -> ProviderChoice | None:
        """Make sure that a provider answers; None when another one is wanted."""
        while True:
            try:
                health = self._asked(choice)
            except RemoteNotAllowed as error:
                prompter.tell(f"{error.message}.")
                if prompter.confirm("Do you want that?", default=False):
                    choice = evolve(choice, settings={**choice.settings, "allow_remote": True})
                else:
                    choice = self._at_another_address(choice, prompter)
                continue
            except ConfigError as error:
                prompter.tell(error.message)
                choice = self._at_another_address(choice, prompter)
                continue
            if health.reachable:
                prompter.tell(health.message, *health.notices)
                better = self._fits_better(choice, health)
                if better is None:
                    return choice
                if prompter.confirm(f"Use the provider {better.name} for it?"):
                    choice = better
                    continue
                return None
            prompter.tell(health.message)
            match prompter.select("What now?", _WHAT_NOW):
                case "again":
                    continue
                case "address":
                    choice = self._at_another_address(choice, prompter)
                case _:
                    return None

    def _at_another_address(self, choice: ProviderChoice, prompter: Prompter) -> ProviderChoice:
        written = prompter.text("Address of the server:", default=str(choice.settings.get("base_url", "http://")))
        kept = {key: value for key, value in choice.settings.items() if key != "allow_remote"}
        return evolve(choice, settings={**kept, "base_url": written.strip()})

    # models

    def _models(self, provider: ProviderChoice) -> tuple[ModelSelection, bool | None]:
        models = self._asked(provider).models
        if models is None:
            models = self.beginning.models.at(provider).list()
        former = self.beginning.models.selection
        same = provider.name == self.beginning.config.provider_name
        suggestion = suggested(models, former if same else ModelSelection())
        wishes, prompter = self.wishes, self.prompter
        for key in (wishes.chat_model, wishes.embedding_model, wishes.image_model):
            if key not in (None, NONE, BUILTIN) and key not in {model.key for model in models}:
                raise ModelNotFound(f"There is no model {key}", hint=nearest(key, [model.key for model in models]))
        if provider.name != BUILTIN:
            for told in advice(models):
                note(told) if prompter is None else prompter.tell(told)
        embedding = wishes.embedding_model or self._embedding(models, suggestion)
        chat = _model_or_none(wishes.chat_model) if wishes.chat_model else self._chat(models, suggestion)
        image, images = self._given_image() or self._image(models, suggestion)
        return ModelSelection(chat_model=chat, embedding_model=embedding, image_model=image), images

    def _given_image(self) -> tuple[str | None, bool | None] | None:
        """What was given about pictures; None when nothing was."""
        if self.wishes.images is False:
            return None, False
        return (_model_or_none(self.wishes.image_model), self.wishes.images) if self.wishes.image_model else None

    def _embedding(self, models: Sequence[ModelInfo], suggestion: ModelSelection) -> str:
        offered = embedding_models(models)
        if self.prompter is None or len(offered) < 2:
            return suggestion.embedding_model
        options = [
            Option(
                "Built-in" if model.key == BUILTIN else model.key,
                model.key,
                about="works at once, needs no server; less exact" if model.key == BUILTIN else _about(model),
                chosen=model.key == suggestion.embedding_model,
            )
            for model in offered
        ]
        return self.prompter.select("Which model finds passages by meaning (embedding model)?", options)

    def _chat(self, models: Sequence[ModelInfo], suggestion: ModelSelection) -> str | None:
        offered = chat_models(models)
        if self.prompter is None or not offered:
            return suggestion.chat_model
        options: list[Option[str | None]] = [
            Option(model.key, model.key, about=_about(model), chosen=model.key == suggestion.chat_model)
            for model in offered
        ]
        none = Option[str | None]("None", None, about="`ask` shows the passages that fit best")
        return self.prompter.select("Which model writes answers (chat model)?", [*options, none])

    def _image(self, models: Sequence[ModelInfo], suggestion: ModelSelection) -> tuple[str | None, bool | None]:
        offered = image_models(models)
        if self.prompter is None or not offered:
            return suggestion.image_model, self.wishes.images
        options: list[Option[tuple[str | None, bool]]] = [
            Option(
                model.key,
                (model.key, True),
                about=_about(model, "recommended" if is_recommended(model) else ""),
                chosen=model.key == suggestion.image_model,
            )
            for model in offered
        ]
        none = Option[tuple[str | None, bool]](
            "None",
            (None, True),
            about="pictures are found by what is written on them",
            chosen=suggestion.image_model is None,
        )
        out = Option[tuple[str | None, bool]]("Leave pictures out", (None, False))
        return self.prompter.select("Which model describes pictures?", [*options, none, out])

    # folders

    def _folders(self) -> tuple[Path, ...]:
        if self.prompter is None:
            return ()
        another = Path()
        known = {source.path for source in self.beginning.sources}
        usual = [self.person / name for name in USUAL_FOLDERS]
        options = [
            Option(str(path), path, disabled="a source already" if str(path.resolve()) in known else "")
            for path in usual
            if path.is_dir()
        ]
        options += [Option(path, Path(path), disabled="a source already") for path in sorted(known - _shown(usual))]
        options.append(Option("Another folder …", another, chosen=not options))
        ticked = self.prompter.check("Which folders may OpenMind read? Nothing in them is changed.", options)
        chosen = [path for path in ticked if path != another]
        while another in ticked:
            written = self.prompter.text("Path of the folder, or Enter when there is no other:")
            if not written.strip():
                break
            try:
                chosen.append(self.beginning.folder(pasted_path(written)))
            except SourceError as error:  # asked again with nothing in the line: the next path is pasted there
                self.prompter.tell(as_sentence(error.message))
        return tuple(dict.fromkeys(chosen))


_WHAT_NOW = (
    Option("Try again", "again", chosen=True),
    Option("Another address", "address"),
    Option("Another provider", "provider"),
)


def _shown(paths: Sequence[Path]) -> set[str]:
    return {str(path.resolve()) for path in paths}


def _model_or_none(given: str) -> str | None:
    return None if given == NONE else given


def _about(model: ModelInfo, more: str = "") -> str:
    window = f"window of {model.max_context_length:,}" if model.max_context_length else ""
    parts = (more, "loaded" if model.loaded else "", model.quantization or "", window)
    return ", ".join(part for part in parts if part)
