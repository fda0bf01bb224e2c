"""What a person gave as options when choosing a provider and its models."""

from collections.abc import Mapping
from typing import Annotated

from attrs import frozen
from cyclopts import Parameter
from openmind.domain.errors import ConfigError, RemoteNotAllowed

from openmind_cli.parameters import Switch
from openmind_cli.suggestions import BUILTIN

NONE = "none"
"""What is given for no model."""


@Parameter(name="*")
@frozen(kw_only=True)
class Wishes:
    """What was given as options; None is asked for."""

    provider: Annotated[
        str | None,
        Parameter(help="Where the models come from: lmstudio, openai-compatible, builtin, or what a plugin adds."),
    ] = None
    base_url: Annotated[str | None, Parameter(help="Address of its server, such as http://localhost:1234.")] = None
    api_token_env: Annotated[str | None, Parameter(help="The environment variable that holds the server's token.")] = (
        None
    )
    allow_remote: Annotated[
        Switch, Parameter(help="Let the server be on another machine: the text of your files is then sent there.")
    ] = False
    chat_model: Annotated[str | None, Parameter(help="Key of the model that writes answers, or none.")] = None
    embedding_model: Annotated[
        str | None, Parameter(help="Key of the model that finds passages by meaning, or builtin.")
    ] = None
    image_model: Annotated[str | None, Parameter(help="Key of the model that describes pictures, or none.")] = None
    images: Annotated[bool | None, Parameter(help="Read pictures at all.")] = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The options that somebody would have to be asked for."""
        if self.provider == BUILTIN:
            return ()
        given = {
            "--provider": self.provider,
            "--chat-model": self.chat_model,
            "--embedding-model": self.embedding_model,
            "--image-model": NONE if self.images is False else self.image_model,
        }
        return tuple(option for option, value in given.items() if value is None)

    def blamed_in(self, error: ConfigError, settings: Mapping[str, object]) -> str | None:
        """The option whose value an error is about, with that value; None when it is about something else."""
        if isinstance(error, RemoteNotAllowed):
            return None
        for key, value in self.settings.items():
            if key in error.message and settings.get(key) == value:
                return f"--{key.replace('_', '-')} {value}"
        return None

    @property
    def settings(self) -> dict[str, object]:
        """The keys of `[provider]` that were given."""
        given: dict[str, object] = {"base_url": self.base_url, "api_token_env": self.api_token_env}
        return {key: value for key, value in given.items() if value is not None} | (
            {"allow_remote": True} if self.allow_remote else {}
        )


NOTHING_GIVEN = Wishes()
