"""Models: what the provider offers, and which of it is used."""

from collections.abc import Callable, Sequence

from attrs import frozen

from openmind.domain.errors import ModelNotFound
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.ports.model_provider import ModelProvider


@frozen(kw_only=True)
class ModelService:
    """Talks to the configured provider."""

    provider_name: str
    selection: ModelSelection
    """What the configuration names."""
    provider: Callable[[], ModelProvider]

    def health(self) -> ProviderHealth:
        """Say whether the provider answers."""
        return self.provider().health()

    def list(self) -> tuple[ModelInfo, ...]:
        """List the provider's models.

        Raises:
            ProviderUnreachable, ProviderError
        """
        return self.provider().models()

    def load(self, keys: Sequence[str] | None = None) -> tuple[ModelAction, ...]:
        """Load models; None loads the configured ones.

        Raises:
            ModelNotFound: the provider has no model of that name.
            ProviderUnreachable, ProviderError
        """
        chosen = self.selection
        wanted = keys if keys is not None else (chosen.chat_model, chosen.embedding_model, chosen.image_model)
        names = [name for name in dict.fromkeys(wanted) if name]
        known = {model.key for model in self.list()}
        unknown = [name for name in names if name not in known and name != "builtin"]
        if unknown:
            raise ModelNotFound(f"There is no model {unknown[0]}", hint="See: openmind models list")
        return self.provider().load([name for name in names if name in known])
