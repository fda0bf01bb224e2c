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
from openmind.domain.texts import Texts
from openmind.domain.vectors import Vectors

Wire = tuple[dict[str, object], bytes]
_File = tuple[int, str, str, int, int]
"""Ticket, path, extractor, and the sizes of the packed text and of the bytes; −1 for none."""


def group_to_wire(requests: Sequence[PreparationRequest]) -> Wire:
    """Write a group of requests; packed texts and bytes of files are the payload, one after the other."""
    files: list[_File] = []
    payload: list[bytes] = []
    for request in requests:
        packed, data = request.packed, request.data
        path = request.path_bytes.decode("latin-1")
        files.append((request.ticket, path, request.extractor, _size(packed), _size(data)))
        payload += (packed or b"", data or b"")
    return {"files": files}, b"".join(payload)


def group_from_wire(message: Mapping[str, object], payload: bytes) -> list[PreparationRequest]:
    """Read a group of requests."""
    requests = []
    at = 0

    def taken(size: int) -> bytes | None:
        nonlocal at
        at += max(size, 0)
        return None if size < 0 else payload[at - size : at]

    for ticket, path, extractor, packed, data in cast(list[_File], message["files"]):
        requests.append(
            PreparationRequest(
                ticket=ticket,
                path_bytes=path.encode("latin-1"),
                extractor=extractor,
                packed=taken(packed),
                data=taken(data),
            )
        )
    return requests


def _size(buffer: bytes | None) -> int:
    return -1 if buffer is None else len(buffer)


def outcomes_to_wire(outcomes: Iterable[Preparation]) -> Wire:
    """Write the outcomes of a group; the buffers of their passages are the payload, one after the other."""
    messages: list[dict[str, object]] = []
    payload: list[bytes] = []
    for outcome in outcomes:
        if isinstance(outcome, PreparationFailure):
            messages.append({"ticket": outcome.ticket, "reason": outcome.reason.value, "message": outcome.message})
            continue
        buffers = _buffers(outcome)
        messages.append(_told(outcome) | {"sizes": [len(buffer) for buffer in buffers]})
        payload += buffers
    return {"outcomes": messages}, b"".join(payload)


def outcomes_from_wire(message: Mapping[str, object], payload: bytes) -> list[Preparation]:
    """Read the outcomes that one of our own workers wrote."""
    outcomes: list[Preparation] = []
    at = 0
    for each in cast(list[dict[str, object]], message["outcomes"]):
        if "message" in each:
            outcomes.append(_failure(each))
            continue
        buffers = []  # bytes, for views of the payload are objects that the garbage collector goes through
        for size in cast(list[int], each["sizes"]):
            buffers.append(payload[at : at + size])
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


def _buffers(outcome: PreparedFile) -> list[bytes]:
    """Give the buffers of a file, in the order in which `_file` takes them."""
    passages, vectors = outcome.passages, outcome.vectors
    columns = (passages.texts, passages.words, passages.metadata)
    return [
        outcome.packed or b"",
        vectors.data if vectors is not None else b"",
        passages.hashes,
        *(buffer for column in columns for buffer in (column.data, column.sizes)),
    ]


def _file(message: Mapping[str, object], packed: bytes, vectors: bytes, hashes: bytes, *columns: bytes) -> PreparedFile:
    title, metadata, reason, note = cast(tuple[str, dict[str, object], str, str], message["facts"])
    dimension = cast(int, message["dimension"])
    texts, words, places = map(Texts, columns[::2], columns[1::2])
    return PreparedFile(
        ticket=cast(int, message["ticket"]),
        packed=packed if message["packed"] else None,
        facts=DocumentFacts(title=title, metadata=metadata, reason=FileReason(reason), note=note),
        passages=Passages(texts, words, places, hashes),
        vectors=Vectors(vectors, dimension) if dimension else None,
    )
