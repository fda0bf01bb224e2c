"""Drafting: what a model is asked, within its window."""

from attrs import evolve, frozen

from openmind.application.asking.conversations import Conversation
from openmind.domain.answers import AskRequest, Evidence
from openmind.domain.errors import ContextOverflow
from openmind.domain.evidence import (
    EARLIER_SHARE,
    SYSTEM_PROMPT,
    Turn,
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
    fence: str
    earlier: tuple[Turn, ...] = ()
    keep: bool = False
    reasoning: bool = False
    previous: str | None = None
    """What the provider needs to go on with the conversation it keeps; None when it keeps none, or would overflow."""

    @property
    def anew(self) -> Prompt:
        """Stands by itself: recent turns are in it."""
        return self._prompt(earlier=self.earlier)

    @property
    def continued(self) -> Prompt | None:
        """Goes on with the conversation that the provider keeps, if it keeps one."""
        return None if self.previous is None else evolve(self._prompt(), previous=self.previous)

    def fewer(self) -> "Draft | None":
        """The same from the better half of the excerpts, which keep their numbers; None when there is only one."""
        excerpts = self.evidence.excerpts
        if len(excerpts) < 2:
            return None
        return evolve(self, evidence=evolve(self.evidence, excerpts=excerpts[: len(excerpts) // 2]), previous=None)

    def _prompt(self, earlier: tuple[Turn, ...] = ()) -> Prompt:
        user = user_prompt(self.evidence, fence=self.fence, earlier=earlier)
        return Prompt(system=SYSTEM_PROMPT, user=user, keep=self.keep, reasoning=self.reasoning)


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
    drafted = Draft(
        evidence=evidence,
        fence=fence,
        earlier=earlier,
        keep=conversation is not None,
        reasoning=request.reasoning,
        previous=conversation.continuation if conversation is not None else None,
    )
    kept = conversation.kept_chars if conversation is not None else 0
    if drafted.continued is not None and kept + size(drafted.continued) > window:
        return evolve(drafted, previous=None)
    return drafted


def size(prompt: Prompt) -> int:
    """Characters of a prompt."""
    return len(prompt.system) + len(prompt.user)
