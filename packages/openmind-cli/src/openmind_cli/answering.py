"""Answers a question where the person is: streamed at a terminal, whole elsewhere."""

from contextlib import suppress

from openmind import OpenMind
from openmind.domain.answers import Answer, AskRequest
from openmind.domain.errors import DocumentNotFound
from openmind.domain.ids import FileId

from openmind_cli.render.answers import print_answer
from openmind_cli.render.links import file_link


def answered(memory: OpenMind, request: AskRequest, *, stream: bool) -> Answer:
    """Ask, and print the answer with its sources.

    Args:
        memory: where the answer is looked for.
        request: the question.
        stream: whether the answer is shown while it is written.

    Raises:
        OpenMindError: as `AskService.stream`.
    """
    # Without a model there is nothing to wait for: the passages come at once.
    if not stream or memory.config.models.chat_model is None:
        answer = memory.asking.ask(request)
        print_answer(answer, links_of(memory, answer))
        return answer
    from openmind_cli.render.streaming import show

    events = memory.asking.stream(request)
    try:
        return show(events, lambda answer: links_of(memory, answer))
    finally:
        events.close()


def links_of(memory: OpenMind, answer: Answer) -> dict[FileId, str]:
    """The links of an answer's sources.

    The exact bytes of each path come from the catalog: a path that is shown may have escapes in it.
    """
    links: dict[FileId, str] = {}
    for file_id in {hit.file_id for hit in answer.sources}:
        with suppress(DocumentNotFound):  # it left the memory since it was found
            links[file_id] = file_link(memory.documents.get(file_id).path_bytes)
    return links
