"""The wire between the indexing process and its workers: a JSON object and a payload each way, for a group of files.

Passages are tens of kilobytes a file: as JSON they would be escaped here and searched for escapes there. They travel as
the columns that the chunk store writes, and nobody on the way makes anything of them. A group goes as a whole, since
each message wakes the indexing process from what it is doing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from openmind.domain.documents import DocumentFacts
from openmind.domain.files import FileReason
from openmind.domain.passages import Passages
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest, PreparedFile
from openmind.domain.texts import Buffer, Texts
from openmind.domain.vectors import Vectors

Wire = tuple[dict[str, object], bytes]


def group_to_wire(requests: Sequence[PreparationRequest]) -> Wire:
    """Write a group of requests; packed texts travel one after the other as the payload."""
    files = [
        [
            request.ticket,
            request.path_bytes.decode("latin-1"),
            request.extractor,
            -1 if request.packed is None else len(request.packed),
        ]
        for request in requests
    ]
    return {"files": files}, b"".join(request.packed or b"" for request in requests)


def group_from_wire(message: Mapping[str, object], payload: bytes) -> list[PreparationRequest]:
    """Read a group of requests."""
    requests = []
    at = 0
    for ticket, path, extractor, packed in cast(list[tuple[int, str, str, int]], message["files"]):
        after = at + max(packed, 0)
        requests.append(
            PreparationRequest(
                ticket=ticket,
                path_bytes=path.encode("latin-1"),
                extractor=extractor,
                packed=payload[at:after] if packed >= 0 else None,
            )
        )
        at = after
    return requests


def outcomes_to_wire(outcomes: Iterable[Preparation]) -> Wire:
    """Write the outcomes of a group; the buffers of their passages are the payload, one after the other."""
    messages: list[dict[str, object]] = []
    payload: list[Buffer] = []
    for outcome in outcomes:
        if isinstance(outcome, PreparationFailure):
            messages.append({"ticket": outcome.ticket, "reason": outcome.reason.value, "message": outcome.message})
            continue
        buffers = _buffers(outcome)
        messages.append(_told(outcome) | {"sizes": [len(buffer) for buffer in buffers]})
        payload += buffers
    return {"outcomes": messages}, b"".join(payload)


def outcomes_from_wire(message: Mapping[str, object], payload: bytes) -> list[Preparation]:
    """Read the outcomes that one of our own workers wrote; passages stay where they are in the payload."""
    outcomes: list[Preparation] = []
    whole = memoryview(payload)
    at = 0
    for each in cast(list[dict[str, object]], message["outcomes"]):
        if "message" in each:
            outcomes.append(_failure(each))
            continue
        buffers = []
        for size in cast(list[int], each["sizes"]):
            buffers.append(whole[at : at + size])
            at += size
        outcomes.append(_file(each, *buffers))
    return outcomes


def _failure(message: Mapping[str, object]) -> PreparationFailure:
    return PreparationFailure(
        ticket=cast(int, message["ticket"]),
        reason=FileReason(str(message["reason"])),
        message=str(message["message"]),
    )


def _told(outcome: PreparedFile) -> dict[str, object]:
    """Say what is not in the buffers."""
    facts, vectors = outcome.facts, outcome.vectors
    return {
        "ticket": outcome.ticket,
        "facts": [facts.title, facts.metadata, facts.reason.value, facts.note],
        "packed": outcome.packed is not None,
        "dimension": vectors.dimension if vectors is not None else 0,
    }


def _buffers(outcome: PreparedFile) -> list[Buffer]:
    """Give the buffers of a file, in the order in which `_file` takes them."""
    passages, vectors = outcome.passages, outcome.vectors
    columns = (passages.texts, passages.words, passages.metadata)
    return [
        outcome.packed or b"",
        vectors.data if vectors is not None else b"",
        passages.hashes,
        *(buffer for column in columns for buffer in (column.data, column.sizes)),
    ]


def _file(
    message: Mapping[str, object], packed: memoryview, vectors: memoryview, hashes: memoryview, *columns: memoryview
) -> PreparedFile:
    title, metadata, reason, note = cast(tuple[str, dict[str, object], str, str], message["facts"])
    dimension = cast(int, message["dimension"])
    texts, words, places = map(Texts, columns[::2], columns[1::2])
    return PreparedFile(
        ticket=cast(int, message["ticket"]),
        packed=bytes(packed) if message["packed"] else None,
        facts=DocumentFacts(title=title, metadata=metadata, reason=FileReason(reason), note=note),
        passages=Passages(texts, words, places, hashes),
        vectors=Vectors(vectors, dimension) if dimension else None,
    )
