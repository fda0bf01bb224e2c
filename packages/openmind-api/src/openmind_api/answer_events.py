"""A streamed answer: the events of the service as the events of the contract."""

from collections.abc import AsyncIterator

from attrs import frozen
from litestar.types import Receive
from openmind.domain.answers import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerReasoning,
    AnswerRestarted,
    AnswerStarted,
    AnswerState,
    AnswerText,
)
from openmind.domain.contract import answer_object, hit_object
from openmind.live import LiveMemory

from openmind_api.asks import AskRun, Asks
from openmind_api.problems import Refusal
from openmind_api.refused import Refused
from openmind_api.schemas.requests import Ask
from openmind_api.sse import HEARTBEAT, Events, Pace, error_event, event

TOLD = ("session_id", "state", "answer", "citations", "unknown_citations", "degraded", "degraded_reason")
"""What the last event says of the answer."""
BROKEN = {AnswerState.PROVIDER_FAILED, AnswerState.INCOMPLETE}


@frozen(kw_only=True)
class AnswerEvents:
    """Streams the answers to questions."""

    live: LiveMemory
    asks: Asks
    pace: Pace

    async def of(self, ask: Ask, receive: Receive) -> Events:
        """Stream the answer to one question."""
        async with self.asks.begin(self.live, ask.request(), receive) as run:
            known = await _opening(run, self.pace)
            async for chunk in _written(ask, _read(run, known, self.pace)):
                yield chunk


async def whole_answer(run: AskRun) -> Answer:
    """Wait for the whole answer.

    Raises:
        Refused: the model could not begin, the client left, or the server stops.
        OpenMindError
    """
    while True:
        found = await run.next()
        if isinstance(found, AnswerFinished):
            if found.answer.state is AnswerState.PROVIDER_FAILED:
                raise Refused(provider_failed(found.answer))
            return found.answer


def provider_failed(answer: Answer) -> Refusal:
    """Say that no answer could begin."""
    return Refusal(
        status=503,
        code=answer.error_code or "provider.failed",
        title="The model provider could not answer",
        detail=answer.error or "The model gave no answer.",
        hint=answer.error_hint,
    )


async def _opening(run: AskRun, pace: Pace) -> list[AnswerEvent]:
    """Wait a moment for what may fail, so that it can still be answered with a status."""
    started = await run.next(pace.begin_s)
    if started is None:
        return []
    second = await run.next(pace.first_word_s)
    if isinstance(second, AnswerFinished) and second.answer.state is AnswerState.PROVIDER_FAILED:
        raise Refused(provider_failed(second.answer))
    return [started] if second is None else [started, second]


async def _read(run: AskRun, known: list[AnswerEvent], pace: Pace) -> AsyncIterator[AnswerEvent | None]:
    """Go on where the opening was; None where nothing came for a while."""
    if not known:
        yield None
    for found in known:
        yield found
    latest: AnswerEvent | None = known[-1] if known else None
    while not isinstance(latest, AnswerFinished):
        latest = await run.next(pace.heartbeat_s)
        yield latest


async def _written(ask: Ask, events: AsyncIterator[AnswerEvent | None]) -> Events:
    said = False
    async for found in events:
        match found:
            case None:
                yield HEARTBEAT
            case AnswerStarted():
                yield event("meta", {"format": "markdown", "session_id": found.session_id, "reasoning": ask.reasoning})
            case AnswerReasoning():
                yield event("reasoning", {"text": found.text})
            case AnswerRestarted():
                said = False
                yield event("restart", {})
            case AnswerText():
                said = True
                yield event("delta", {"text": found.text})
            case AnswerFinished():
                for chunk in _ending(ask, found.answer, said=said):
                    yield chunk


def _ending(ask: Ask, answer: Answer, *, said: bool) -> list[bytes]:
    chunks = []
    broken = answer.state in BROKEN
    if not said and not broken and answer.markdown:
        chunks.append(event("delta", {"text": answer.markdown}))
    if ask.include_sources:
        chunks.append(event("sources", {"sources": [hit_object(hit) for hit in answer.sources]}))
    whole = answer_object(answer, include_sources=False)
    told = {key: whole[key] for key in TOLD}
    if broken:
        failure = provider_failed(answer).body()
        chunks.append(error_event({**told, **failure}))
    else:
        chunks.append(event("done", told))
    return chunks
