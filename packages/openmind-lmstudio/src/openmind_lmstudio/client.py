"""The routes of LM Studio that list, load and unload models."""

from openmind.domain.errors import ConfigError, ModelNotFound, ProviderError

from openmind_lmstudio import policy
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import Nonsense, RequestRefused, RouteUnknown
from openmind_lmstudio.models import Dialect, Listing, Model, read_native, read_openai, read_v0


class LMStudioClient:
    """What LM Studio can do, as methods. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

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
            f"something answers at {self.connection.address.shown}, but it is not {self.connection.server}",
            hint="Correct base_url under [provider] in config.toml; if the server wants a token, set that too.",
        )

    def model(self, key: str) -> Model:
        """Look one model up.

        Raises:
            ModelNotFound
            ProviderUnreachable, ProviderError
        """
        found = self.list_models().find(key)
        if found is None:
            raise ModelNotFound(
                f"{self.connection.server} has no model “{key}”",
                hint="`openmind models list` shows what is there, `openmind models update` chooses anew.",
            )
        return found
