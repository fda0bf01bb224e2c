"""What this package adds to OpenMind. Nothing heavy is imported here: that is the provider's business."""

from attrs import field, frozen, validators
from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ProviderRegistry
from openmind.ports.model_provider import ModelProvider

OPENMIND_HOOKS = 1


@frozen(kw_only=True)
class LettersConfig:
    """The keys of `[provider]` beside `name`, with their defaults."""

    dimension: int = field(default=256, validator=[validators.ge(16), validators.le(4_096)])


@hookimpl
def openmind_register_providers(registry: ProviderRegistry) -> None:
    registry.add("letters", make, config=LettersConfig)


def make(config: LettersConfig) -> ModelProvider:
    """Make the provider; this does no I/O."""
    from openmind_letters.provider import LettersProvider

    return LettersProvider(config)
