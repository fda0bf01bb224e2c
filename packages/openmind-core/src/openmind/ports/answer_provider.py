"""The port to a chat model."""

from collections.abc import Iterator
from typing import Protocol

from attrs import frozen

from openmind.domain.answers import AnswerProgress, AnswerReasoning, AnswerRestarted, AnswerText


@frozen(kw_only=True)
class Prompt:
    """What a model is asked, already within its window."""

    system: str
    user: str
    previous: str | None = None
    """Continuation token that an earlier `Reply` gave; None starts anew."""
    keep: bool = False
    """Whether the provider may store the turn so that it can be continued."""
    reasoning: bool = False


@frozen
class Reply:
    """Last event of a stream: the whole text, and how to go on from it."""

    text: str
    continuation: str | None = None


AnswerPart = AnswerProgress | AnswerText | AnswerReasoning | AnswerRestarted | Reply


class AnswerProvider(Protocol):
    """Writes text with one fixed chat model. Implementations are thread-safe."""

    @property
    def model(self) -> str:
        """Key of the model."""
        ...

    def context_chars(self) -> int:
        """How many characters of prompt fit beside the answer, by the window that is really loaded.

        Raises:
            ProviderUnreachable, ProviderError
        """
        ...

    def stream(self, prompt: Prompt) -> Iterator[AnswerPart]:
        """Answer piece by piece; exactly one `Reply` comes last.

        Reasoning comes only when it was asked for, and never inside `AnswerText`. Progress may come before either, and
        is no part of what is said. After `AnswerRestarted` the text so far is none either.

        Closing the iterator stops the generation. Another thread may do that while a piece is waited for: an iterator
        that allows it ends the wait at once, a plain generator raises `ValueError` and is closed with its next piece.

        Raises:
            ProviderUnreachable: no connection; nothing was generated.
            ContextOverflow: the prompt does not fit.
            AnswerIncomplete: the stream ended early; the text so far was yielded.
            ProviderError: the provider refused, answered nonsense, or nothing at all; or it does not know the turn
                that `previous` names any more, and nothing was generated.
        """
        ...
