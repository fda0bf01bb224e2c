from io import BytesIO

from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.adapters.blobs import read_blob
from openmind.adapters.framing import FrameKind, encode, read_frame
from openmind.application.indexing.preparation_wire import (
    group_from_wire,
    group_to_wire,
    outcomes_from_wire,
    outcomes_to_wire,
)
from openmind.domain.documents import DocumentFacts
from openmind.domain.files import FileReason
from openmind.domain.passages import Passage, Passages
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest, PreparedFile
from openmind.domain.vectors import Vectors

ANY_TEXT = st.text(st.characters(), max_size=20)
"""Half characters and control characters, too."""
PASSAGES = st.builds(Passage, ANY_TEXT, ANY_TEXT, st.integers(-(2**63), 2**63 - 1), ANY_TEXT)


def asked(packed: bytes | None, data: bytes | None) -> PreparationRequest:
    return PreparationRequest(ticket=3, path_bytes=b"/caf\xe9.txt", extractor="text", packed=packed, data=data)


def sent(*outcomes: Preparation) -> list[Preparation]:
    """Send the outcomes of a group as a worker does, and read them as its parent does."""
    frame = encode(FrameKind.PART, *outcomes_to_wire(outcomes))
    read = read_frame(BytesIO(frame), max_bytes=len(frame))
    assert read is not None
    return outcomes_from_wire(read[0].message, read[0].payload)


@given(st.lists(PASSAGES, max_size=4), st.none() | st.binary(max_size=8), st.booleans(), ANY_TEXT)
@settings(max_examples=50, deadline=None)
def test_what_a_worker_prepared_arrives_as_it_was(passages, packed, embedded, title) -> None:
    vectors = Vectors(bytes(range(8)) * len(passages), 2) if embedded else None
    facts = DocumentFacts(title=title, metadata={"file_type": "text", "odd": title})
    outcome = PreparedFile(ticket=7, packed=packed, facts=facts, passages=Passages.of(passages), vectors=vectors)

    failure = PreparationFailure(ticket=8, reason=FileReason.DAMAGED, message=title)

    assert sent(outcome, failure, outcome) == [outcome, failure, outcome]


@given(st.lists(st.builds(asked, st.none() | st.binary(max_size=8), st.none() | st.binary(max_size=8)), max_size=4))
@settings(max_examples=50, deadline=None)
def test_what_a_worker_is_asked_arrives_as_it_was(requests) -> None:
    frame = encode(FrameKind.REQUEST, *group_to_wire(requests))
    read = read_frame(BytesIO(frame), max_bytes=len(frame))

    assert read is not None
    assert group_from_wire(read[0].message, read[0].payload) == requests


def test_a_small_file_is_read_through_the_handle_that_was_checked(tmp_path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("as it was")

    blob = read_blob(str(path).encode(), "note.txt")
    path.write_text("as it became")

    assert blob.head() == b"as it was"


def test_a_large_file_is_left_to_its_extractor(tmp_path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"x" * 1_000_001)

    assert read_blob(str(path).encode(), "log.txt").data is None
