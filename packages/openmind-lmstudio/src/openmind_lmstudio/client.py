"""The routes of LM Studio, one method each."""

import threading

from attrs import evolve
from openmind.domain.errors import ConfigError, ModelNotFound, ModelNotLoaded, ProviderError
from openmind.domain.vectors import Vectors

from openmind_lmstudio import chat, completions, policy, responses
from openmind_lmstudio.chat import ChatReply, ChatRequest
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import Nonsense, RequestRefused, RouteUnknown, ServerFailed, said_by
from openmind_lmstudio.models import Dialect, Listing, ModelType, read_native, read_openai, read_v0
from openmind_lmstudio.readiness import Ready
from openmind_lmstudio.reasoning import effort_setting
from openmind_lmstudio.vectors import read_vectors


class LMStudioClient:
    """What LM Studio can do, as methods. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._loading = threading.Lock()

    def health_check(self) -> bool:
        """Say whether LM Studio answers and lets us in."""
        try:
            self.list_models()
        except (ProviderError, ConfigError):
            return False
        return True

    def list_models(self) -> Listing:
        """List every downloaded model, and find out on the way how the server talks.

        A route that it does not know is answered with status 200 and an error: what a server is shows in the shape
        of its answers alone.

        Raises:
            ProviderUnreachable, ProviderUnauthorized
            ProviderError: it is no model server.
        """
        for dialect, path, read in (
            (Dialect.NATIVE, "/api/v1/models", read_native),
            (Dialect.V0, "/api/v0/models", read_v0),
            (Dialect.OPENAI, "/v1/models", read_openai),
        ):
            try:
                return Listing(dialect=dialect, models=read(self.connection.get(path, policy.LIST)))
            except (RouteUnknown, RequestRefused, Nonsense):
                continue
        raise Nonsense(
            f"What answers at {self.connection.address.shown} is not {self.connection.server}",
            hint="Say where it is: `openmind setup --base-url URL`; for others add `--provider openai-compatible`.",
        )

    def load_model(self, key: str, context_length: int | None = None) -> None:
        """Load an instance, whether or not there is one. Takes as long as the model takes.

        Raises:
            ModelNotFound, ModelNotLoaded
            ProviderUnreachable, ProviderError
        """
        body: dict[str, object] = {"model": key}
        if context_length is not None:
            body["context_length"] = context_length
        try:
            self.connection.post("/api/v1/models/load", body, policy.LOAD)
        except (ServerFailed, RequestRefused) as error:
            raise ModelNotLoaded(
                f"{self.connection.server} could not load “{key}”",
                hint="There may be too little memory: unload other models, or choose a smaller one.",
            ) from error

    def load_model_if_needed(
        self, key: str, context_length: int | None = None, *, kind: ModelType | None = None
    ) -> Ready:
        """Load a model unless an instance with enough context is there, and read what was really allocated.

        Servers before 0.4 load by themselves when a model is asked for.

        Args:
            key: of the model.
            context_length: the window that is wanted; None takes any.
            kind: what it is to be used as.

        Raises:
            ModelNotFound: it is not there, or of another kind.
            ModelNotLoaded, ProviderUnreachable, ProviderError
        """
        ready = self._look_up(key, kind)
        if _suffices(ready, context_length):
            return ready
        with self._loading:
            ready = self._look_up(key, kind)  # another thread may have been faster: twice would be two instances
            if not _suffices(ready, context_length):
                self.load_model(key, context_length)
                ready = self._look_up(key, kind)
        if not ready.model.loaded:
            raise ModelNotLoaded(f"{self.connection.server} loaded “{key}” and let it go at once")
        return ready

    def unload(self, instance_id: str) -> bool:
        """Unload one instance; says whether it was there.

        Raises:
            ProviderUnreachable, ProviderError
        """
        try:
            self.connection.post("/api/v1/models/unload", {"instance_id": instance_id}, policy.UNLOAD)
        except ModelNotFound:
            return False
        return True

    def embed(self, model: str, texts: list[str]) -> Vectors:
        """Embed one batch, as it is.

        Raises:
            ProviderUnreachable, ProviderError
        """
        reply = self.connection.post("/v1/embeddings", {"model": model, "input": texts}, policy.EMBED_FIRST)
        with said_by(self.connection.server):
            return read_vectors(reply, len(texts))

    def chat(self, request: ChatRequest) -> ChatReply:
        """Ask, and wait for the whole answer.

        Raises:
            ProviderUnreachable, ProviderError
        """
        if self.list_models().dialect is Dialect.NATIVE:
            reply = self.connection.post(chat.ROUTE, chat.body_of(request, stream=False), policy.CHAT)
            return chat.read_reply(reply, request)
        reply = self.connection.post(completions.ROUTE, completions.body_of(request, stream=False), policy.CHAT)
        return completions.read_completion(reply)

    def respond_with_reasoning(self, request: ChatRequest, effort: str = "medium") -> ChatReply:
        """Ask a model to think as hard as it can be told to, and wait for the whole answer.

        Raises:
            ProviderUnreachable, ProviderError
        """
        listing = self.list_models()
        if listing.dialect is not Dialect.NATIVE:
            reply = self.connection.post(responses.ROUTE, responses.body_of(request, effort), policy.CHAT)
            return responses.read_response(reply)
        model = listing.find(request.model)
        offered = () if model is None else model.reasoning
        request = evolve(request, reasoning=effort_setting(offered, effort))
        return chat.read_reply(
            self.connection.post(chat.ROUTE, chat.body_of(request, stream=False), policy.CHAT), request
        )

    def _look_up(self, key: str, kind: ModelType | None) -> Ready:
        listing = self.list_models()
        model = listing.find(key)
        if model is None:
            raise ModelNotFound(
                f"{self.connection.server} has no model “{key}”",
                hint="`openmind models list` shows what is there, `openmind models update` chooses anew.",
            )
        if listing.dialect is Dialect.OPENAI:
            return Ready.of(model, listing)  # its type is only a guess
        if kind == "embedding" and model.type != kind:
            raise ModelNotFound(
                f"“{key}” cannot embed: {self.connection.server} takes it for a chat model",
                hint="Choose an embedding model with `openmind models update`, or correct its type in the server.",
            )
        if kind == "llm" and model.type != kind:
            raise ModelNotFound(
                f"“{key}” cannot chat: it is an embedding model", hint="Choose one with `openmind models update`."
            )
        return Ready.of(model, listing)


def _suffices(ready: Ready, context_length: int | None) -> bool:
    """Whether nothing has to be loaded, or nothing can be."""
    if ready.dialect is not Dialect.NATIVE:
        return True
    return ready.model.loaded and (context_length is None or (ready.context_length or 0) >= context_length)
