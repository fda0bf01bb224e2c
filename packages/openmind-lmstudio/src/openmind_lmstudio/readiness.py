"""A model that can be asked now."""

from collections.abc import Callable

from attrs import frozen

from openmind_lmstudio.models import Dialect, Listing, Model


@frozen(kw_only=True)
class Ready:
    """A model as the server has it at this moment."""

    model: Model
    name: str
    """What requests name: the key, or the instance with the longest window when the key may mean another one."""
    context_length: int | None
    """Tokens of the window that is allocated; None when the server does not tell."""
    dialect: Dialect
    strangers: frozenset[str]
    """Names of other models: an answer that bears one of them is not from this one."""

    @classmethod
    def of(cls, model: Model, listing: Listing) -> "Ready":
        """Choose the instance to ask."""
        instance = model.roomiest
        own = {model.key, *(instance.id for instance in model.instances)}
        others = {
            name
            for other in listing.models
            if other.key != model.key
            for name in (other.key, *(instance.id for instance in other.instances))
        }
        return cls(
            model=model,
            name=model.key if instance is None else instance.id,
            context_length=None if instance is None else instance.context_length,
            dialect=listing.dialect,
            strangers=frozenset(others - own),
        )

    def is_stranger(self, answered: str) -> bool:
        """Whether the name in an answer is that of another model. Servers add variants and numbers to names.

        LM Studio answers with the name of what it asked, or its file; other servers may answer with a name of their own
        making, so that only the name of another model they list tells anything.
        """
        if self.is_other(answered):
            return True
        told = self.dialect is not Dialect.OPENAI and not answered.endswith(".gguf")
        return told and bool(answered) and not self._is_own(answered)

    def is_other(self, answered: str) -> bool:
        """Whether the name in an answer is that of another model that the server has listed."""
        if answered in self.strangers:
            return True
        return _bare(answered) in self.strangers and not self._is_own(answered)

    def _is_own(self, answered: str) -> bool:
        return _bare(answered) in {_bare(self.model.key), _bare(self.name)}


def _bare(name: str) -> str:
    """A model's name without the publisher, the variant and the number of the instance."""
    return name.rpartition("/")[2].partition("@")[0].partition(":")[0]


Prepare = Callable[[str], Ready]
"""Makes a model ready by its key, loading it if need be and possible."""
