"""The port to a model that sees."""

from typing import Protocol


class ImageDescriber(Protocol):
    """Describes pictures with one fixed model. Implementations are thread-safe."""

    @property
    def model(self) -> str:
        """Key of the model."""
        ...

    def describe(self, image: bytes, *, media_type: str, max_new_tokens: int = 220) -> str:
        """Say what can be seen, for search.

        Args:
            image: a whole PNG or JPEG file of at most 2,048 pixels a side.
            media_type: `image/png` or `image/jpeg`.
            max_new_tokens: about how long the description may become.

        Returns:
            A description, never empty.

        Raises:
            ProviderUnreachable: no connection.
            ProviderError: the model refused, cannot see, or said nothing.
        """
        ...
