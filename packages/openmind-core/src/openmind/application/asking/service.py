"""Ask: a question, what was found for it, and what a model makes of that."""

import secrets
import time
from collections.abc import Callable, Generator
from contextlib import closing

from attrs import evolve, frozen

from openmind.application.asking.answer_stream import AnswerStream, HungUp, Line
from openmind.application.asking.conversations import Conversation, Conversations
from openmind.application.asking.drafting import Draft, draft, size
from openmind.application.asking.replying import replies
from openmind.application.searching.service import SearchService
from openmind.domain.answers import (
    MAX_ASK_LIMIT,
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerProgress,
    AnswerReasoning,
    AnswerRestarted,
    AnswerStarted,
    AnswerState,
    AnswerText,
    AskRequest,
    Evidence,
    Excerpt,
)
from openmind.domain.arguments import whole_number
from openmind.domain.citations import check
from openmind.domain.errors import ProviderError, UsageError
from openmind.domain.evidence import Turn, as_markdown
from openmind.domain.journal import SILENCE, Journal
from openmind.domain.refusals import refuses, without_refusals
from openmind.domain.search import SearchHit, SearchRequest, SearchResult, SearchState
from openmind.domain.streamed_text import TextGate
from openmind.ports.answer_provider import AnswerProvider, Prompt, Reply

NOT_IN_FILES = "Your files do not seem to hold anything about this."
UNREADABLE = "Your files could not be searched, so that this says nothing about what they hold."
NOT_IN_THESE_FILES = "The files that your filters let through hold nothing about this; others may."
BREAKS_OFF = "*The answer breaks off here.*"


def new_fence() -> str:
    """Make a word that no document can know."""
    return f"Q{secrets.token_hex(8)}"


@frozen(kw_only=True)
class AskService:
    """Answers questions from the files. Thread-safe."""

    searching: SearchService
    answerer: Callable[[], AnswerProvider | None]
    """Gives the chosen chat model, or None when excerpts are to be shown instead."""
    conversations: Conversations
    new_fence: Callable[[], str] = new_fence
    journal: Journal = SILENCE
    clock: Callable[[], float] = time.monotonic

    def ask(self, request: AskRequest) -> Answer:
        """Answer a question; see `stream`."""
        events = list(self.stream(request))
        finished = events[-1]
        assert isinstance(finished, AnswerFinished)
        return finished.answer

    def stream(self, request: AskRequest) -> AnswerStream:
        """Answer a question piece by piece.

        The search is done when this returns; the model is loaded and works while the events are read. `AnswerStarted`
        comes first and `AnswerFinished` last; what the latter holds is the answer. The pieces before it are checked as
        it is. A model that fails is a state of the answer, not an error. Closing the stream, from any thread, stops the
        model, or the wait for it to be loaded.

        Raises:
            EmptyQuery: the question has no text.
            UsageError: the question is too long, or the limit out of bounds.
            SessionNotFound: the conversation is unknown or has expired.
            SourceNotFound, StoreError: as for a search.
        """
        if not 1 <= whole_number(request.limit, "the limit") <= MAX_ASK_LIMIT:
            raise UsageError(f"The limit must be between 1 and {MAX_ASK_LIMIT}, not {request.limit}")
        conversation = self._resumed(request)
        result = self.searching.search(
            SearchRequest(query=request.question, limit=request.limit, filters=request.filters)
        )
        if conversation is None and request.conversation:
            conversation = self.conversations.begin()
        begun = _begun(result, conversation)
        if result.state is not SearchState.OK:
            return AnswerStream(self._noted(_told(self._empty_handed(begun, result.state))))
        try:
            model = self.answerer()
            if model is None:
                return AnswerStream(self._noted(_told(_excerpts(begun, result))))
        except ProviderError as error:
            return AnswerStream(self._noted(_failed(_excerpts(begun, result), error)))
        line = Line()
        return AnswerStream(
            self._noted(self._answer(model, line, request, result, conversation, begun)), line, asks_model=True
        )

    def _noted(self, events: Generator[AnswerEvent, None, None]) -> Generator[AnswerEvent, None, None]:
        """Note how an answer ended; what was asked and answered is nobody's business."""
        began = self.clock()
        with closing(events):
            for event in events:
                if isinstance(event, AnswerFinished):
                    answer = event.answer
                    seconds = self.clock() - began
                    self.journal.note("answer", state=answer.state.value, code=answer.error_code, seconds=seconds)
                yield event

    def _resumed(self, request: AskRequest) -> Conversation | None:
        return None if request.session_id is None else self.conversations.resume(request.session_id)

    def _empty_handed(self, begun: Answer, state: SearchState) -> Answer:
        if state is SearchState.NOTHING_INDEXED:
            return evolve(begun, state=AnswerState.NOTHING_INDEXED, markdown=self.searching.how_to_begin())
        if state is SearchState.UNREADABLE:
            return evolve(begun, state=AnswerState.UNREADABLE, markdown=UNREADABLE)
        return evolve(begun, markdown=NOT_IN_THESE_FILES if state is SearchState.FILTERED_OUT else NOT_IN_FILES)

    def _answer(
        self,
        model: AnswerProvider,
        line: Line,
        request: AskRequest,
        result: SearchResult,
        conversation: Conversation | None,
        begun: Answer,
    ) -> Generator[AnswerEvent, None, None]:
        """Wait for the model to be there, write down what fits its window, and let it speak."""
        try:
            window = line.wait(model.context_chars)
            drafted = draft(request, result, conversation, window=window, fence=self.new_fence())
        except HungUp:
            return
        except ProviderError as error:
            yield from _failed(_excerpts(begun, result), error)
            return
        yield from self._generate(model, line, drafted, conversation, evolve(begun, sources=_hits(drafted.evidence)))

    def _generate(
        self, model: AnswerProvider, line: Line, drafted: Draft, conversation: Conversation | None, begun: Answer
    ) -> Generator[AnswerEvent, None, None]:
        """Let the model speak, and check what it said."""
        yield AnswerStarted(sources=begun.sources, session_id=begun.session_id, model=model.model)
        gate, said, thoughts = TextGate(drafted.evidence), "", ""
        try:
            for asked, prompt, event in replies(model, line, drafted):
                if isinstance(event, AnswerProgress):
                    yield event
                elif isinstance(event, AnswerReasoning):
                    thoughts += event.text
                    yield event
                elif isinstance(event, AnswerRestarted):
                    gate, said = TextGate(drafted.evidence), ""
                    yield event
                elif isinstance(event, AnswerText):
                    said += event.text
                    if shown := gate.let(event.text):
                        yield AnswerText(shown)
                else:
                    begun = evolve(begun, reasoning=thoughts or None, sources=_hits(asked.evidence))
                    answer = _checked(event.text, asked.evidence, begun)
                    if answer.state is AnswerState.ANSWERED and (rest := gate.rest()):
                        yield AnswerText(rest)
                    if conversation is not None:
                        self._record(conversation, prompt, event, answer)
                    yield AnswerFinished(answer)
                    return
            raise ProviderError(f"The model {model.model} ended without an answer")
        except ProviderError as error:
            if rest := gate.rest():
                yield AnswerText(rest)
            yield AnswerFinished(_broken_off(said, drafted.evidence, evolve(begun, reasoning=thoughts or None), error))

    def _record(self, conversation: Conversation, prompt: Prompt, reply: Reply, answer: Answer) -> None:
        before = conversation.kept_chars if prompt.previous is not None else 0
        self.conversations.record(
            conversation.id,
            Turn(answer.question, answer.markdown),
            continuation=reply.continuation,
            kept_chars=before + size(prompt) + len(reply.text),
        )


def _hits(evidence: Evidence) -> tuple[SearchHit, ...]:
    return tuple(excerpt.hit for excerpt in evidence.excerpts)


def _begun(result: SearchResult, conversation: Conversation | None) -> Answer:
    """Note what is true of the answer however it ends."""
    return Answer(
        question=result.query,
        state=AnswerState.NOT_IN_FILES,
        markdown="",
        session_id=conversation.id if conversation is not None else None,
        degraded=result.degraded,
        degraded_reason=result.degraded_reason,
    )


def _told(answer: Answer) -> Generator[AnswerEvent, None, None]:
    """Give an answer that no model has to write."""
    yield AnswerStarted(sources=answer.sources, session_id=answer.session_id)
    yield AnswerText(answer.markdown)
    yield AnswerFinished(answer)


def _failed(answer: Answer, error: ProviderError) -> Generator[AnswerEvent, None, None]:
    """Tell that the model could not even begin: no text comes first, so that a client may take it for an error."""
    yield AnswerStarted(sources=answer.sources, session_id=answer.session_id)
    yield AnswerFinished(_blaming(evolve(answer, state=AnswerState.PROVIDER_FAILED), error))


def _excerpts(begun: Answer, result: SearchResult) -> Answer:
    """Show what was found in place of an answer."""
    numbered = tuple(Excerpt(number=number, hit=hit) for number, hit in enumerate(result.hits, 1))
    evidence = Evidence(question=result.query, excerpts=numbered)
    return evolve(begun, state=AnswerState.EVIDENCE_ONLY, markdown=as_markdown(evidence), sources=result.hits)


def _checked(text: str, evidence: Evidence, begun: Answer) -> Answer:
    """Take a whole reply for what it is."""
    if not text.strip():
        raise ProviderError("The model said nothing", hint="Ask again, or choose another chat model.")
    found = check(without_refusals(text), evidence)
    if refuses(text) or not found.markdown:
        return evolve(begun, state=AnswerState.NOT_IN_FILES, markdown=NOT_IN_FILES, sources=())
    return evolve(
        begun,
        state=AnswerState.ANSWERED,
        markdown=found.markdown,
        citations=found.citations,
        unknown_citations=found.unknown,
    )


def _broken_off(said: str, evidence: Evidence, begun: Answer, error: ProviderError) -> Answer:
    """Keep what was said before the model failed, marked; without a word of it, show the excerpts."""
    found = check(said, evidence)
    if not found.markdown:
        return _blaming(evolve(begun, state=AnswerState.PROVIDER_FAILED, markdown=as_markdown(evidence)), error)
    answer = evolve(
        begun,
        state=AnswerState.INCOMPLETE,
        markdown=f"{found.markdown}\n\n{BREAKS_OFF}",
        citations=found.citations,
        unknown_citations=found.unknown,
    )
    return _blaming(answer, error)


def _blaming(answer: Answer, error: ProviderError) -> Answer:
    return evolve(answer, error=error.message, error_code=error.code, error_hint=error.hint)
