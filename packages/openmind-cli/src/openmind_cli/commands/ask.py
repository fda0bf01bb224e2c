"""`openmind ask`."""

from openmind import open_memory
from openmind.domain.answers import Answer, AnswerState, AskRequest
from openmind.domain.contract import answer_object, hit_object
from openmind.domain.problems import problem
from openmind.domain.search import DEFAULT_ASK_LIMIT

from openmind_cli.answering import answered
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import AskLimit, Json
from openmind_cli.render.jobs import under_way_notice
from openmind_cli.render.lines import note
from openmind_cli.render.objects import print_object
from openmind_cli.terminal import is_terminal


def ask(
    *question: str,
    limit: AskLimit = DEFAULT_ASK_LIMIT,
    reasoning: bool = False,
    stream: bool | None = None,
    json: Json = False,
) -> int:
    """Answer a question from your files; without a question, talk about them.

    Without a chat model the passages that fit best are shown.

    Parameters
    ----------
    question
        The question, in your own words. When it is left out a conversation begins.
    limit
        How many passages the answer may rest on; 1 to 20.
    reasoning
        Let the model think before it answers, and show what it thinks.
    stream
        Show the answer while it is written; that is what a terminal gets anyway.
    """
    streamed = is_terminal() if stream is None else stream
    if not question and not json:
        from openmind_cli.commands.chat import chat  # only a conversation needs line editing

        return chat(limit=limit, reasoning=reasoning, stream=streamed)
    request = AskRequest(question=" ".join(question), limit=limit, reasoning=reasoning)
    with open_memory(create=False) as memory:
        answer = memory.asking.ask(request) if json else answered(memory, request, stream=streamed)
        notices = [told for told in (memory.trouble(), under_way_notice(memory.jobs.latest())) if told]
    if not json:
        for notice in notices:
            note(notice)
    failed = answer.state is AnswerState.PROVIDER_FAILED
    if json:
        print_object({**(_failure(answer) if failed else answer_object(answer)), "notices": notices})
    return FAILED if failed or answer.state in {AnswerState.INCOMPLETE, AnswerState.UNREADABLE} else OK


def _failure(answer: Answer) -> dict[str, object]:
    """The error object, and what was found before the model failed."""
    failure = problem(
        answer.error or "The model gave no answer.",
        code=answer.error_code or "provider.failed",
        title="The model provider could not answer",
        status=503,
        hint=answer.error_hint,
    )
    return {**failure, "state": answer.state.value, "sources": [hit_object(hit) for hit in answer.sources]}
