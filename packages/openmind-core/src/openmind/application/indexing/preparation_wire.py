"""The wire between the indexing process and its workers: a JSON object and a payload each way, for a group of files.

Passages are tens of kilobytes a file: as JSON they would be escaped here and searched for escapes there. A group goes
as a whole, since each message wakes the indexing process from what it is doing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from openmind.domain.documents import DocumentFacts
from openmind.domain.files import FileReason
from openmind.domain.preparation import (
    Preparation,
    PreparationFailure,
    PreparationRequest,
    PreparedFile,
    PreparedPassage,
)
from openmind.domain.vectors import Vectors

Wire = tuple[dict[str, object], bytes]
_Lengths = tuple[int, int, int, int, int]
"""Of a passage: its hash, then the characters of text, context, words and metadata."""


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
    """Write the outcomes of a group, one after the other."""
    messages, payloads = [], []
    for outcome in outcomes:
        message, payload = _failure(outcome) if isinstance(outcome, PreparationFailure) else _file(outcome)
        messages.append(message | {"bytes": len(payload)})
        payloads.append(payload)
    return {"outcomes": messages}, b"".join(payloads)


def outcomes_from_wire(message: Mapping[str, object], payload: bytes) -> list[Preparation]:
    """Read the outcomes that one of our own workers wrote."""
    outcomes: list[Preparation] = []
    whole = memoryview(payload)
    at = 0
    for each in cast(list[dict[str, object]], message["outcomes"]):
        after = at + cast(int, each["bytes"])
        outcomes.append(_failure_of(each) if "message" in each else _file_of(each, whole[at:after]))
        at = after
    return outcomes


def _failure(outcome: PreparationFailure) -> Wire:
    return {"ticket": outcome.ticket, "reason": outcome.reason.value, "message": outcome.message}, b""


def _failure_of(message: Mapping[str, object]) -> PreparationFailure:
    return PreparationFailure(
        ticket=cast(int, message["ticket"]),
        reason=FileReason(str(message["reason"])),
        message=str(message["message"]),
    )


def _file(outcome: PreparedFile) -> Wire:
    """Write what was prepared of a file: packed text, vectors and the strings of the passages are the payload."""
    facts = outcome.facts
    strings: list[str] = []
    passages: list[_Lengths] = []
    for p in outcome.passages:
        strings += (p.text, p.context, p.words, p.metadata)
        passages.append((p.passage, len(p.text), len(p.context), len(p.words), len(p.metadata)))
    packed = outcome.packed or b""
    vectors = outcome.vectors
    rows = vectors.data if vectors is not None else b""
    message: dict[str, object] = {
        "ticket": outcome.ticket,
        "facts": [facts.title, facts.metadata, facts.reason.value, facts.note],
        "passages": passages,
        "packed": len(packed) if outcome.packed is not None else -1,
        "vectors": len(rows),
        "dimension": vectors.dimension if vectors is not None else 0,
    }
    return message, b"".join((packed, rows, "".join(strings).encode("utf-8", "surrogatepass")))


def _file_of(message: Mapping[str, object], payload: memoryview) -> PreparedFile:
    title, metadata, reason, note = cast(tuple[str, dict[str, object], str, str], message["facts"])
    packed_size, dimension = cast(int, message["packed"]), cast(int, message["dimension"])
    after_packed = max(packed_size, 0)
    after_vectors = after_packed + cast(int, message["vectors"])
    strings = str(payload[after_vectors:], "utf-8", "surrogatepass")
    return PreparedFile(
        ticket=cast(int, message["ticket"]),
        packed=bytes(payload[:after_packed]) if packed_size >= 0 else None,
        facts=DocumentFacts(title=title, metadata=metadata, reason=FileReason(reason), note=note),
        passages=tuple(_passages(cast(list[_Lengths], message["passages"]), strings)),
        vectors=Vectors(bytes(payload[after_packed:after_vectors]), dimension) if dimension else None,
    )


def _passages(rows: Iterable[_Lengths], strings: str) -> Iterator[PreparedPassage]:
    start = 0
    for passage, text, context, words, metadata in rows:
        text += start
        context += text
        words += context
        metadata += words
        yield PreparedPassage(
            strings[start:text], strings[text:context], strings[context:words], passage, strings[words:metadata]
        )
        start = metadata
