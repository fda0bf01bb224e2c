"""A chat model of a server."""

from collections.abc import Generator, Iterator
from contextlib import closing

from attrs import evolve, frozen
from openmind.domain.answers import AnswerProgress, AnswerRestarted, AnswerText
from openmind.domain.errors import AnswerIncomplete, ContextOverflow, ModelNotFound, ProviderError
from openmind.ports.answer_provider import Prompt, Reply

from openmind_lmstudio.chat import ChatReply, ChatRequest, Talk, stream_chat
from openmind_lmstudio.completions import stream_completion
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import AnotherModel, NoModelLoaded, NothingSaid, ReasoningRefused
from openmind_lmstudio.habits import Habits
from openmind_lmstudio.lifeline import Interruptible, Lifeline
from openmind_lmstudio.models import Dialect
from openmind_lmstudio.readiness import Prepare, Ready
from openmind_lmstudio.reasoning import NO_REASONING, reasoning_setting
from openmind_lmstudio.thinking import Piece
from openmind_lmstudio.window import ASSUMED_CHAT_TOKENS, output_tokens, prompt_chars, surely_too_long


@frozen(kw_only=True)
class Attempt:
    """A request to a model as it was found."""

    ready: Ready
    request: ChatRequest
    reloaded: bool = False

    @property
    def window(self) -> int:
        return self.ready.context_length or ASSUMED_CHAT_TOKENS

    @property
    def prompt_chars(self) -> int:
        return len(self.request.system) + len(self.request.text)


class ServedAnswers:
    """One chat model of a server."""

    def __init__(self, connection: Connection, *, model: str, prepare: Prepare, habits: Habits) -> None:
        self._connection = connection
        self._habits = habits
        self._model = model
        self._prepare = prepare

    @property
    def model(self) -> str:
        return self._model

    def context_chars(self) -> int:
        """By the window that is allocated; the model is loaded to learn it."""
        return prompt_chars(self._prepare(self._model).context_length or ASSUMED_CHAT_TOKENS)

    def stream(self, prompt: Prompt) -> Interruptible[AnswerProgress | Piece | Reply]:
        """Answer piece by piece; any thread may close what is returned."""
        lifeline = Lifeline()
        return Interruptible(self._stream(prompt, lifeline), lifeline)

    def _stream(self, prompt: Prompt, lifeline: Lifeline) -> Generator[AnswerProgress | Piece | Reply, None, None]:
        """Ask, and ask once more for less when the server refuses before it said a word.

        A conversation that the server lost, or that outgrew the window, is an error: only the caller can tell the
        model again what was said before.
        """
        attempt = self._first_attempt(prompt)
        spoken = ""
        while True:
            try:
                with closing(self._talk(attempt, lifeline)) as parts:
                    for part in parts:
                        if isinstance(part, AnswerText):
                            spoken += part.text
                            yield part
                        elif isinstance(part, AnswerRestarted):
                            spoken = ""
                            yield part
                        elif isinstance(part, ChatReply):
                            if not part.cut:
                                self._habits.note(attempt.ready, attempt.request.reasoning, part.raw)
                            yield from self._finish(part, spoken)
                            return
                        elif prompt.reasoning or isinstance(part, AnswerProgress):
                            yield part
            except ProviderError as error:
                if lifeline.is_cut:
                    return  # this is how it looks from here when nobody listens any more
                if spoken:
                    raise _incomplete(error) from error
                simpler = self._simpler(attempt, error)
                if simpler is None:
                    raise
                attempt = simpler

    def _first_attempt(self, prompt: Prompt) -> Attempt:
        ready = self._prepare(self._model)
        request = ChatRequest(
            model=ready.name,
            text=prompt.user,
            system=prompt.system,
            reasoning=reasoning_setting(ready.model.reasoning, wanted=prompt.reasoning),
            keep=prompt.keep,
            previous=prompt.previous,
        )
        attempt = Attempt(ready=ready, request=request)
        if surely_too_long(attempt.window, attempt.prompt_chars):
            raise ContextOverflow(
                f"The prompt is longer than the window of “{self._model}”",
                hint="Load the model with a longer context, or ask for fewer excerpts with --limit.",
            )
        return _with_output(attempt, output_tokens(attempt.window, attempt.prompt_chars))

    def _talk(self, attempt: Attempt, lifeline: Lifeline) -> Talk:
        talk = stream_chat if attempt.ready.dialect is Dialect.NATIVE else stream_completion
        guarded = self._habits.may_think_unmarked(attempt.ready, attempt.request.reasoning)

        def heard(answered: str) -> None:
            if attempt.ready.is_other(answered):
                raise AnotherModel(self._connection.server, answered, self._model)

        return talk(self._connection, evolve(attempt.request, guarded=guarded), heard, lifeline)

    def _finish(self, reply: ChatReply, spoken: str) -> Iterator[AnswerText | Reply]:
        """Give what the whole answer has beyond the pieces, and the whole."""
        text = reply.text or spoken
        if not text.strip():
            raise NothingSaid(
                f"“{self._model}” gave no answer{', it only thought' if reply.cut or reply.reasoning else ''}",
                hint="Ask again without reasoning, or load the model with a longer context.",
            )
        if text.startswith(spoken) and text != spoken:
            yield AnswerText(text[len(spoken) :])
        if reply.cut:
            raise AnswerIncomplete("The answer was cut off at its greatest length")
        yield Reply(text, reply.response_id)

    def _simpler(self, attempt: Attempt, error: ProviderError) -> Attempt | None:
        """Choose what to leave out of a refused request; each time there is less, so it ends."""
        request = attempt.request
        if isinstance(error, ReasoningRefused) and request.reasoning is not None:
            return _with(attempt, evolve(request, reasoning=None))
        if isinstance(error, NothingSaid):
            return _with_less_thought(attempt)
        if isinstance(error, NoModelLoaded | ModelNotFound) and not attempt.reloaded:
            return self._reloaded(attempt)
        return None

    def _reloaded(self, attempt: Attempt) -> Attempt:
        ready = self._prepare(self._model)
        return Attempt(ready=ready, request=evolve(attempt.request, model=ready.name), reloaded=True)


def _with(attempt: Attempt, request: ChatRequest) -> Attempt:
    return evolve(attempt, request=request)


def _with_output(attempt: Attempt, tokens: int) -> Attempt:
    return _with(attempt, evolve(attempt.request, max_output_tokens=tokens))


def _with_less_thought(attempt: Attempt) -> Attempt | None:
    """Switch thinking off; where that cannot be done, give it all the room there is."""
    off = next((setting for setting in NO_REASONING if setting in attempt.ready.model.reasoning), None)
    if off is not None and attempt.request.reasoning not in NO_REASONING:
        return _with(attempt, evolve(attempt.request, reasoning=off))
    more = output_tokens(attempt.window, attempt.prompt_chars, at_most=attempt.window)
    if attempt.request.max_output_tokens is not None and more > attempt.request.max_output_tokens:
        return _with_output(attempt, more)
    return None


def _incomplete(error: ProviderError) -> AnswerIncomplete:
    if isinstance(error, AnswerIncomplete):
        return error
    return AnswerIncomplete(error.message, hint=error.hint)
