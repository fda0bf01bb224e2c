"""Conversations: what follow-up questions go on with. In memory only, gone with the process."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from openmind.domain.errors import SessionNotFound
from openmind.domain.ids import SessionId, new_session_id

if TYPE_CHECKING:  # every memory has conversations, and few have turns
    from openmind.domain.evidence import Turn

IDLE_S = 4 * 60 * 60
"""A conversation is forgotten when nobody spoke in it for this long."""
MOST = 500
"""Conversations kept at once; the one that was idle longest goes first."""
TURNS = 8
"""Latest turns kept of each."""


@frozen(kw_only=True)
class Conversation:
    """A conversation as it was when it was asked for."""

    id: SessionId
    turns: "tuple[Turn, ...]" = ()
    continuation: str | None = None
    """What the provider needs to go on; None when it keeps nothing."""
    kept_chars: int = 0
    """How much of the model's window the turns that the provider keeps take up."""


@define
class Conversations:
    """Remembers conversations for a while. Thread-safe."""

    clock: Callable[[], float] = time.monotonic
    new_id: Callable[[], SessionId] = new_session_id
    _by_id: OrderedDict[SessionId, tuple[float, Conversation]] = field(factory=OrderedDict, init=False)
    """With the time of the last word, the longest idle first."""
    _lock: Lock = field(factory=Lock, init=False, repr=False)

    def begin(self) -> Conversation:
        """Begin a conversation."""
        conversation = Conversation(id=self.new_id())
        with self._lock:
            self._forget_idle()
            while len(self._by_id) >= MOST:
                self._by_id.popitem(last=False)
            self._by_id[conversation.id] = (self.clock(), conversation)
        return conversation

    def resume(self, session_id: SessionId) -> Conversation:
        """Return a conversation, and keep it from being forgotten.

        Raises:
            SessionNotFound: it is unknown, was ended, or was idle for too long.
        """
        with self._lock:
            conversation = self._known(session_id)
            self._keep(conversation)
        return conversation

    def record(self, session_id: SessionId, turn: "Turn", *, continuation: str | None, kept_chars: int) -> None:
        """Note a turn. Nothing happens when the conversation ended meanwhile."""
        with self._lock:
            if session_id in self._by_id:
                _, conversation = self._by_id[session_id]
                turns = (*conversation.turns, turn)[-TURNS:]
                self._keep(evolve(conversation, turns=turns, continuation=continuation, kept_chars=kept_chars))

    def end(self, session_id: SessionId) -> None:
        """Forget a conversation.

        Raises:
            SessionNotFound: it is unknown already.
        """
        with self._lock:
            self._known(session_id)
            del self._by_id[session_id]

    def _known(self, session_id: SessionId) -> Conversation:
        self._forget_idle()
        if session_id not in self._by_id:
            raise SessionNotFound(
                f"The conversation {session_id} is unknown or has expired", hint="Ask without it to begin a new one."
            )
        return self._by_id[session_id][1]

    def _keep(self, conversation: Conversation) -> None:
        self._by_id[conversation.id] = (self.clock(), conversation)
        self._by_id.move_to_end(conversation.id)

    def _forget_idle(self) -> None:
        oldest = self.clock() - IDLE_S
        while self._by_id and next(iter(self._by_id.values()))[0] <= oldest:
            self._by_id.popitem(last=False)
