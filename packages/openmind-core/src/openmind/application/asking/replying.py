"""Replying: a model is asked, and asked for less where it refuses before it said a word."""

from collections.abc import Iterator

from openmind.application.asking.answer_stream import Line
from openmind.application.asking.drafting import Draft
from openmind.domain.answers import AnswerProgress
from openmind.domain.errors import ContextOverflow, ProviderError, ProviderUnauthorized, ProviderUnreachable
from openmind.ports.answer_provider import AnswerPart, AnswerProvider, Prompt


def replies(model: AnswerProvider, line: Line, drafted: Draft) -> Iterator[tuple[Draft, Prompt, AnswerPart]]:
    """Ask the model; each event comes with what it answers.

    Raises:
        ProviderError: it refused everything that may be asked, or failed when it had begun to speak.
    """
    refused: ProviderError | None = None
    for attempt, prompt, remedies in _attempts(drafted):
        if refused is not None and not isinstance(refused, remedies):
            continue
        spoke = False
        try:
            for event in line.listen(model.stream(prompt)):
                spoke = spoke or not isinstance(event, AnswerProgress)
                yield attempt, prompt, event
            return
        except (ProviderUnreachable, ProviderUnauthorized):
            raise
        except ProviderError as error:
            if spoke:
                raise
            refused = error
    assert refused is not None
    raise refused


def _attempts(drafted: Draft) -> Iterator[tuple[Draft, Prompt, type[ProviderError]]]:
    """What to ask, one after the other, each with the refusal of the one before that it may mend.

    A provider may have lost the earlier turns, refuse their sum as too long, or stumble over its own template: they
    are told anew. Text with fewer characters to a token than any that was reckoned with may be too long all the same:
    half of the excerpts are asked then.
    """
    if drafted.continued is not None:
        yield drafted, drafted.continued, ProviderError
    yield drafted, drafted.anew, ProviderError
    fewer = drafted.fewer()
    if fewer is not None:
        yield fewer, fewer.anew, ContextOverflow
