"""A fake of a model that sees."""

from attrs import define, field

from openmind.domain.errors import OpenMindError, ProviderError


@define(kw_only=True)
class FakeDescriber:
    """Says the same of every picture and keeps the pictures it got."""

    model: str = "fake-eyes"
    description: str = "A red bicycle leans on a wall."
    error: OpenMindError | None = None
    """What every call raises instead of answering."""
    images: list[bytes] = field(factory=list, init=False)
    max_new_tokens: list[int] = field(factory=list, init=False)

    def describe(self, image: bytes, *, media_type: str, max_new_tokens: int = 220) -> str:
        self.images.append(image)
        self.max_new_tokens.append(max_new_tokens)
        if self.error is not None:
            raise self.error
        if not self.description:
            raise ProviderError(f"the fake model said nothing about the {media_type}")
        return self.description
