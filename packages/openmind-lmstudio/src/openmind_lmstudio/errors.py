"""What a server's refusals mean: the one place where they become OpenMind's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from attrs import field, frozen
from openmind.domain.errors import (
    ContextOverflow,
    ModelNotFound,
    ModelNotLoaded,
    ProviderError,
    ProviderUnauthorized,
    ProviderUnreachable,
)


class ConnectionLost(ProviderUnreachable):
    """The connection broke before the reply was whole."""


class TooSlow(ProviderError):
    """The server did not go on within its time."""


class Nonsense(ProviderError):
    """The reply is not what the route promises."""

    def __init__(
        self, message: str, *, hint: str = "Its own log says more; update it, or choose another model."
    ) -> None:
        super().__init__(message, hint=hint)


@contextmanager
def said_by(server: str) -> Iterator[None]:
    """Name the server whose reply is nonsense, where whoever read the reply did not know it."""
    try:
        yield
    except Nonsense as error:
        if type(error) is not Nonsense or server in error.message:
            raise
        raise Nonsense(f"{server} answered nonsense: {error.message}", hint=error.hint) from error


class NoModelServer(Nonsense):
    """What answers is another kind of program."""


class AnotherModel(Nonsense):
    """A model has answered that was not asked."""

    def __init__(self, server: str, answered: str, asked: str) -> None:
        super().__init__(
            f"{server} answered with “{answered}” instead of “{asked}”",
            hint="Load the model that you chose: `openmind models load`.",
        )


class Redirected(ProviderError):
    """Something in front of the server, or another program, answers with a redirect, which is not followed."""


class RouteUnknown(ProviderError):
    """The server does not know the route: another product, or an older version."""


class NoModelLoaded(ModelNotLoaded):
    """The model was loaded once and is not any more."""


class EngineCrashed(ProviderError):
    """The engine behind the server died over a request."""


class ReasoningRefused(ProviderError):
    """The model does not take that reasoning setting."""


class ConversationLost(ProviderError):
    """The server does not know the earlier turn any more."""


class StreamBroken(ProviderError):
    """A stream ended before its last event."""


class NothingSaid(ProviderError):
    """The server reports success, and there is no answer."""


class CannotSee(ProviderError):
    """The model takes no pictures."""


class ServerFailed(ProviderError):
    """The server failed at something that may work the next time."""


class RequestRefused(ProviderError):
    """The server refused the request, without a reason that is known here."""


@frozen(kw_only=True)
class Refusal:
    """A refusal as it came over the wire, whichever of three envelopes it was in."""

    status: int
    text: str = field(default="", repr=False)
    """The server's own words. They may echo what a person wrote, so no message repeats them."""
    code: str = ""
    type: str = ""
    param: str = ""

    @classmethod
    def read(cls, status: int, document: object) -> Self | None:
        """Find a refusal in a reply; None when the reply is one of success. The status alone proves nothing."""
        error = document.get("error") if isinstance(document, dict) else None
        if isinstance(error, str):
            return cls(status=status, text=error)
        if isinstance(error, dict):
            return cls(
                status=status,
                text=_word(error, "message"),
                code=_word(error, "code"),
                type=_word(error, "type"),
                param=_word(error, "param"),
            )
        return cls(status=status) if status >= 400 or error else None

    @property
    def summary(self) -> str:
        """Say what is safe to repeat: ` (HTTP 400, model_not_found)`, or nothing where only the text says why.

        A refusal inside a reply of success bears no status of its own.
        """
        told = [f"HTTP {self.status}"] if self.status >= 400 else []
        told += [word for word in (self.code or self.type,) if word]
        return f" ({', '.join(told)})" if told else ""

    def says(self, *markers: str) -> bool:
        """Whether the beginning of the server's words holds one of these."""
        start = self.text[:400].lower()
        return any(marker in start for marker in markers)


def _word(error: dict[str, object], key: str) -> str:
    value = error.get(key)
    return value if isinstance(value, str) else ""


_NOT_LOADED = ("no models loaded", "model is not loaded", "model not loaded", "model unloaded", "no model loaded")
_CRASHED = ("has crashed", "model crashed")
_OVERFLOW = (
    "n_ctx",
    "context length",
    "context size",
    "context window",
    "tokens to keep",
    "exceeds the available context",
    "physical batch size",
)

_CHOOSE_SEEING = "Choose a model that sees with `openmind models update`."


@frozen(kw_only=True)
class TokenSource:
    """Where a token is taken from."""

    variable: str = ""
    """The environment variable; empty when none is named."""
    sent: bool = False
    """Whether there was one to send."""


NO_TOKEN = TokenSource()


def translate(refusal: Refusal, *, server: str, model: str = "", token: TokenSource = NO_TOKEN) -> ProviderError:
    """Name a refusal: by status, then code and type, then parameter, then known words."""
    named = f"“{model}”" if model else "The model"
    loaded = named if model else "the model"
    codes = {refusal.code, refusal.type}
    if refusal.status in (401, 403) or "invalid_api_key" in codes:
        if token.sent:
            return ProviderUnauthorized(
                f"{server} does not accept the API token in {token.variable}",
                hint=f"Check what the environment variable {token.variable} holds; the server made the token.",
            )
        return ProviderUnauthorized(
            f"{server} wants an API token",
            hint=f"Put the token into the environment variable {token.variable}."
            if token.variable
            else "Name the environment variable that holds it: `openmind config set provider.api_token_env NAME`.",
        )
    if refusal.says("unexpected endpoint"):
        return RouteUnknown(f"{server} does not know this request", hint="Update it, or check base_url.")
    if refusal.says("not embedding", "does not support embedding"):
        return ModelNotFound(f"{named} is no embedding model", hint="Choose one with `openmind models update`.")
    if "model_not_found" in codes:
        return ModelNotFound(
            f"{server} has no model {named}" if model else f"{server} does not have the model",
            hint="`openmind models list` shows what is there, `openmind models update` chooses anew.",
        )
    if refusal.says(*_CRASHED):
        return EngineCrashed(f"{named} crashed", hint="Load it again in the server, or choose another one.")
    if refusal.says(*_NOT_LOADED):
        return NoModelLoaded(f"{server} has not loaded {loaded}", hint="Run `openmind models load`.")
    if "model_load_failed" in codes or refusal.says("failed to load model"):
        return ModelNotLoaded(
            f"{server} could not load {loaded}",
            hint="There may be too little memory: unload other models, or choose a smaller one.",
        )
    if "previous_response_not_found" in codes or refusal.param == "previous_response_id":
        return ConversationLost(f"{server} does not know the earlier turn any more")
    if refusal.param == "reasoning" or refusal.says("reasoning configuration"):
        return ReasoningRefused(f"{named} does not take the reasoning setting")
    if "exceed_context_size_error" in codes or refusal.says(*_OVERFLOW):
        return ContextOverflow(
            f"The text does not fit in the window of {loaded}",
            hint="Load the model with a longer context, or ask for fewer excerpts with --limit.",
        )
    if refusal.says("support image", "must be a base64 encoded image", "image input", "vision"):
        return CannotSee(f"{named} did not take the picture", hint=_CHOOSE_SEEING)
    if refusal.status == 404:
        return RouteUnknown(f"{server} does not know this request", hint="Update it, or check base_url.")
    if refusal.status >= 500 or refusal.status == 429:
        return ServerFailed(f"{server} failed{refusal.summary}", hint="Its own log says more.")
    return RequestRefused(f"{server} refused the request{refusal.summary}", hint="Its own log says more.")
