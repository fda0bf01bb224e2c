"""A conversation: what `openmind ask` is without a question."""

import sys
from collections.abc import Callable
from contextlib import suppress

from attrs import define, field
from openmind import OpenMind, open_memory
from openmind.domain.answers import Answer, AskRequest
from openmind.domain.errors import EmptyQuery, OpenMindError, SessionNotFound
from openmind.domain.ids import SessionId
from openmind.live import LiveMemory

from openmind_cli.answering import answered
from openmind_cli.exit_codes import OK
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import BLANK, note, print_lines
from openmind_cli.terminal import is_terminal

PROMPT = "ask> "
COMMANDS = {
    "/clear": "forgets what was said so far",
    "/exit": "ends the conversation, as do /quit and Ctrl-D",
    "/help": "shows this",
}
LEAVE = frozenset({"/exit", "/quit"})
ReadLine = Callable[[], str]
"""Asks for the next question; raises `EOFError` at the end and `KeyboardInterrupt` at Ctrl-C."""


def chat(*, limit: int, reasoning: bool, stream: bool) -> int:
    """Answer one question after the other, each with what was said before in mind.

    Raises:
        EmptyQuery: nobody is there to ask.
        HomeMissing: there is no memory.
    """
    if not is_terminal(sys.stdin):
        raise EmptyQuery("There is no question", hint='Ask one: `openmind ask "…"`.')
    with open_memory(create=False) as memory:
        _greet(memory)
        home = memory.home
    with LiveMemory(home) as live:
        Chat(live=live, limit=limit, reasoning=reasoning, stream=stream).run(line_reader())
    return OK


@define(kw_only=True)
class Chat:
    """The loop. The history is in memory only: of the conversation in the memory, of the questions in the prompt."""

    live: LiveMemory
    limit: int
    reasoning: bool
    stream: bool
    session: SessionId | None = field(default=None, init=False)

    def run(self, read: ReadLine) -> None:
        """Ask and answer until the person leaves."""
        leaving = False
        while True:
            try:
                line = read().strip()
            except EOFError:
                return
            except KeyboardInterrupt:
                if leaving:
                    return
                leaving = True
                note("Once more, or /exit, leaves.")
                continue
            leaving = False
            if line in LEAVE:
                return
            if line:
                self._take(line)

    def _take(self, line: str) -> None:
        """Do what a line asks for; whatever goes wrong, the next one can follow."""
        try:
            self._do(line)
        except KeyboardInterrupt:
            note("Broken off.")
        except OpenMindError as error:
            note(f"openmind: {one_line(error.message)}")
            if error.hint:
                note(f"  {one_line(error.hint)}")

    def _do(self, line: str) -> None:
        if line == "/clear":
            self._clear()
        elif line.startswith("/") and line[1:].isalpha():
            if line != "/help":
                note(f"There is no command {one_line(line)}.")
            for command, what in COMMANDS.items():
                note(f"{command} {what}")
        else:
            self._answer(line)

    def _clear(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            with self.live.current() as memory, suppress(SessionNotFound):  # it may have expired
                memory.asking.conversations.end(session)
        note("Forgotten. The next question begins anew.")

    def _answer(self, question: str) -> None:
        with self.live.current() as memory:
            try:
                answer = self._ask(memory, question)
            except SessionNotFound:
                note("What was said before was too long ago and is forgotten.")
                self.session = None
                answer = self._ask(memory, question)
        self.session = answer.session_id or self.session
        print_lines([BLANK])

    def _ask(self, memory: OpenMind, question: str) -> Answer:
        request = AskRequest(
            question=question,
            limit=self.limit,
            reasoning=self.reasoning,
            session_id=self.session,
            conversation=True,
        )
        return answered(memory, request, stream=self.stream)


def line_reader() -> ReadLine:
    """Read lines at a terminal, with a history that is gone with the process."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.output import create_output

    # The questions are no result: where the answers go to a file, they are asked for on standard error.
    output = create_output(sys.stdout if is_terminal() else sys.stderr)
    session: PromptSession[str] = PromptSession(PROMPT, history=InMemoryHistory(), output=output)
    return session.prompt


def _greet(memory: OpenMind) -> None:
    model = memory.config.models.chat_model
    told = f"{one_line(model)} answers from your files." if model else "There is no chat model, so passages are shown."
    note(f"{told} /help shows the commands, /exit leaves.")
