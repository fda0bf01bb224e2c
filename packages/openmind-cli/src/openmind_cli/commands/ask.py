"""`openmind ask`."""

from contextlib import suppress

from openmind import OpenMind, open_memory
from openmind.domain.answers import DEFAULT_ASK_LIMIT, Answer, AnswerState
from openmind.domain.contract import answer_object, hit_object, problem
from openmind.domain.errors import DocumentNotFound
from openmind.domain.ids import FileId

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import AskLimit, Json
from openmind_cli.render.answers import print_answer
from openmind_cli.render.links import file_link
from openmind_cli.render.objects import print_object


def ask(*question: str, limit: AskLimit = DEFAULT_ASK_LIMIT, json: Json = False) -> int:
    """Answer a question from your files.

    Without a chat model the passages that fit best are shown.

    Parameters
    ----------
    question
        The question, in your own words.
    limit
        How many passages the answer may rest on; 1 to 20.
    """
    with open_memory(create=False) as memory:
        answer = memory.ask(" ".join(question), limit=limit)
        links = {} if json else links_of(memory, answer)
    failed = answer.state is AnswerState.PROVIDER_FAILED
    if json:
        print_object(_failure(answer) if failed else answer_object(answer))
    else:
        print_answer(answer, links)
    return FAILED if failed else OK


def links_of(memory: OpenMind, answer: Answer) -> dict[FileId, str]:
    """The links of an answer's sources.

    The exact bytes of each path come from the catalog: a path that is shown may have escapes in it.
    """
    links: dict[FileId, str] = {}
    for file_id in {hit.file_id for hit in answer.sources}:
        with suppress(DocumentNotFound):  # it left the memory since it was found
            links[file_id] = file_link(memory.documents.get(file_id).path_bytes)
    return links


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
