"""The settings under `[provider]` of both providers of this package."""

import re

from attrs import Attribute, field, frozen

from openmind_lmstudio.address import Address

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _is_address(_: object, attribute: "Attribute[str]", value: str) -> None:
    try:
        Address.parse(value)
    except ValueError as error:
        raise ValueError(f"{attribute.name} {error}") from None


def _is_variable(_: object, attribute: "Attribute[str]", value: str) -> None:
    if value and not _VARIABLE.fullmatch(value):
        raise ValueError(f"{attribute.name} must be the name of an environment variable, or empty")


@frozen(kw_only=True)
class LMStudioConfig:
    """`[provider]` with `name = "lmstudio"`."""

    base_url: str = field(default="http://localhost:1234", validator=_is_address)
    """Where LM Studio's server listens."""
    api_token_env: str = field(default="LM_API_TOKEN", validator=_is_variable)
    """The environment variable that holds the token; it need not exist. Empty sends none."""
    allow_remote: bool = False
    """Whether the server may be on another machine: the text of your files is then sent there."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about where the text goes."""
        return Address.parse(self.base_url).notices


@frozen(kw_only=True)
class OpenAICompatibleConfig:
    """`[provider]` with `name = "openai-compatible"`: Ollama, llama.cpp, vLLM and their like."""

    base_url: str = field(default="http://localhost:11434", validator=_is_address)
    """Where the server listens; the default is Ollama's."""
    api_token_env: str = field(default="", validator=_is_variable)
    """The environment variable that holds the key, if the server wants one."""
    allow_remote: bool = False
    """Whether the server may be on another machine: the text of your files is then sent there."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about where the text goes."""
        return Address.parse(self.base_url).notices
