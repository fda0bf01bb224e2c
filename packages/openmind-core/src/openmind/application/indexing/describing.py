"""Describing: a model says what is on a picture, so that it can be found."""

from collections.abc import Callable
from functools import partial

from attrs import define, field

from openmind.domain.documents import ExtractedDocument, Picture
from openmind.domain.errors import (
    ModelNotFound,
    ModelNotLoaded,
    OpenMindError,
    ProviderUnauthorized,
    ProviderUnreachable,
)
from openmind.domain.pictures import described, undescribed, without_description
from openmind.ports.image_describer import ImageDescriber

MAX_CHARS_PER_TOKEN = 8
"""A token of common models is about four characters of English; what is twice as long was not kept to its length."""
GIVES_UP_AFTER = 3
"""Pictures in a row that a model fails at before it is not asked any more in this run."""

_HOPELESS = (ModelNotFound, ModelNotLoaded, ProviderUnauthorized, ProviderUnreachable)
"""Failures that the next picture would meet as well."""


@define(kw_only=True)
class Describing:
    """The describing of one run's pictures, one after the other. Serves one thread."""

    describer: Callable[[], ImageDescriber | None]
    """Gives the model that sees, or None when pictures are not described."""
    max_new_tokens: int
    wait: Callable[[Callable[[], str]], str]
    """Makes a call that may take minutes."""
    lost: Callable[[OpenMindError], None]
    """Hears, once, that no more pictures can be described in this run."""
    _error: OpenMindError | None = field(default=None, init=False)
    _in_a_row: int = field(default=0, init=False)

    @property
    def is_lost(self) -> bool:
        """Whether the model is not asked any more."""
        return self._error is not None

    def complete(self, document: ExtractedDocument, picture: Picture | None) -> ExtractedDocument:
        """Add what a model says of the picture, or why it says nothing.

        Args:
            document: what was read, maybe with an earlier description.
            picture: what the model is to see; without one the document is done.
        """
        plain = without_description(document)
        if picture is None:
            return plain
        if self._error is not None:
            return undescribed(plain, self._error.message)
        try:
            model = self.describer()
            if model is None:
                return document
            text = self.wait(
                partial(model.describe, picture.data, media_type=picture.media_type, max_new_tokens=self.max_new_tokens)
            )
        except OpenMindError as error:
            self._note(error)
            return undescribed(plain, error.message)
        self._in_a_row = 0
        return described(plain, text, model=model.model, max_chars=self.max_new_tokens * MAX_CHARS_PER_TOKEN)

    def _note(self, error: OpenMindError) -> None:
        self._in_a_row += 1
        if isinstance(error, _HOPELESS) or self._in_a_row >= GIVES_UP_AFTER:
            self._error = error
            self.lost(error)


def unreadable(document: ExtractedDocument, why: str) -> ExtractedDocument:
    """Keep what was read before of a picture that could not be read again to be described."""
    return undescribed(without_description(document), why)
