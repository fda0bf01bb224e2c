"""Answers a question where the person is: streamed at a terminal, whole elsewhere."""

from collections.abc import Iterator
from contextlib import suppress

from openmind import OpenMind
from openmind.domain.answers import Answer, AnswerEvent, AnswerFinished, AskRequest
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
    model = memory.config.models.chat_model
    # Without a model there is nothing to wait for: the passages come at once.
    if model is None:
        answer = memory.asking.ask(request)
        print_answer(answer, links_of(memory, answer))
        return answer
    from openmind_cli.render.waiting import waiting

    with waiting("Looking in your files …") as wait:
        events = memory.asking.stream(request)
        if events.asks_model:
            wait.now(f"Loading {model} if it is not loaded …")
        try:
            return _shown(memory, wait.until_spoken(events, model), stream=stream)
        finally:
            events.close()


def _shown(memory: OpenMind, events: Iterator[AnswerEvent], *, stream: bool) -> Answer:
    if stream:
        from openmind_cli.render.streaming import show

        return show(events, lambda answer: links_of(memory, answer))
    *_, finished = events
    assert isinstance(finished, AnswerFinished)
    print_answer(finished.answer, links_of(memory, finished.answer))
    return finished.answer


def links_of(memory: OpenMind, answer: Answer) -> dict[FileId, str]:
    """The links of an answer's sources.

    The exact bytes of each path come from the catalog: a path that is shown may have escapes in it.
    """
    links: dict[FileId, str] = {}
    for file_id in {hit.file_id for hit in answer.sources}:
        with suppress(DocumentNotFound):  # it left the memory since it was found
            links[file_id] = file_link(memory.documents.get(file_id).path_bytes)
    return links
