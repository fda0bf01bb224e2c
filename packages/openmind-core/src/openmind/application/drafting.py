"""Drafting: what a model is asked, within its window."""

from attrs import frozen

from openmind.application.conversations import Conversation
from openmind.domain.answers import AskRequest, Evidence
from openmind.domain.errors import ContextOverflow
from openmind.domain.evidence import (
    EARLIER_SHARE,
    SYSTEM_PROMPT,
    gather,
    recent,
    room_for_excerpts,
    user_prompt,
)
from openmind.domain.search import SearchResult
from openmind.ports.answer_provider import Prompt


@frozen(kw_only=True)
class Draft:
    """One turn, ready to be asked."""

    evidence: Evidence
    anew: Prompt
    """Stands by itself: recent turns are in it."""
    continued: Prompt | None = None
    """Goes on with the conversation that the provider keeps; None when it keeps none, or it would overflow."""


def draft(
    request: AskRequest, result: SearchResult, conversation: Conversation | None, *, window: int, fence: str
) -> Draft:
    """Write the prompts of one turn.

    Args:
        request: what was asked.
        result: what was found for it.
        conversation: what it goes on with, if anything.
        window: how many characters of prompt fit beside the answer.
        fence: a word that no document can know.

    Raises:
        ContextOverflow: not a single excerpt fits.
    """
    question = request.question.strip()
    turns = conversation.turns if conversation is not None else ()
    earlier = recent(turns, room=int(window * EARLIER_SHARE))
    room = room_for_excerpts(window, question, earlier, fence)
    evidence = gather(question, result.hits, room=room, fence=fence)
    if not evidence.excerpts:
        raise ContextOverflow(
            "The window of the chat model is too small for the question and one excerpt",
            hint="Load the model with a larger context length.",
        )
    anew = Prompt(
        system=SYSTEM_PROMPT,
        user=user_prompt(evidence, fence=fence, earlier=earlier),
        keep=conversation is not None,
        reasoning=request.reasoning,
    )
    if conversation is None or conversation.continuation is None:
        return Draft(evidence=evidence, anew=anew)
    continued = Prompt(
        system=SYSTEM_PROMPT,
        user=user_prompt(evidence, fence=fence),
        previous=conversation.continuation,
        keep=True,
        reasoning=request.reasoning,
    )
    fits = conversation.kept_chars + size(continued) <= window
    return Draft(evidence=evidence, anew=anew, continued=continued if fits else None)


def size(prompt: Prompt) -> int:
    """Characters of a prompt."""
    return len(prompt.system) + len(prompt.user)
