import random
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain import packing
from openmind.domain.chunks import Chunk
from openmind.domain.compression import compress
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Place, Segment
from openmind.domain.errors import StoreDamaged
from openmind.domain.files import FileReason

TEXT = st.text(st.characters(), max_size=30)
NUMBER = st.none() | st.integers(0, 10**9)
PLACE = st.builds(Place, kind=st.sampled_from(["page", "lines", "heading"]), start=NUMBER, end=NUMBER, label=TEXT)
SEGMENT = st.builds(
    Segment, text=TEXT, locator=st.lists(PLACE, max_size=3).map(tuple), kind=st.sampled_from(["text", "code"])
)
METADATA = st.dictionaries(TEXT, TEXT | NUMBER | st.booleans() | st.lists(TEXT, max_size=2), max_size=3)
FACTS = st.builds(DocumentFacts, title=TEXT, metadata=METADATA, reason=st.sampled_from(FileReason), note=TEXT)
DOCUMENT = st.builds(ExtractedDocument, segments=st.lists(SEGMENT, max_size=4).map(tuple), facts=FACTS)

SAMPLE = ExtractedDocument(
    segments=(
        Segment(
            text="Rent: 900 €\n" * 50,
            locator=(Place(kind="heading", label="Flat"), Place(kind="lines", start=1, end=50)),
        ),
        Segment(text="数据", kind="code"),
    ),
    facts=DocumentFacts(title="Flat", metadata={"tags": ["home"]}, reason=FileReason.PARTIAL, note="Half of it."),
)


@settings(deadline=None, max_examples=100)
@given(DOCUMENT)
def test_a_document_comes_back_as_it_was(document: ExtractedDocument) -> None:
    assert packing.unpack(packing.pack(document)) == document


def test_the_same_document_packs_to_the_same_bytes_and_is_smaller() -> None:
    packed = packing.pack(SAMPLE)

    assert packed == packing.pack(SAMPLE)
    assert len(packed) < 300


@pytest.mark.parametrize("size", [1, 300, 1_900, 2_000, 7_500, 7_700, 16_000])
def test_what_is_repeated_from_far_before_is_packed_once(size: int) -> None:
    noise = random.Random(size).randbytes(size).hex()[:size]
    twice = ExtractedDocument(segments=(Segment(text=noise + noise),), facts=DocumentFacts())
    once = ExtractedDocument(segments=(Segment(text=noise),), facts=DocumentFacts())

    packed = packing.pack(twice)

    assert packing.unpack(packed) == twice
    assert len(packed) < len(packing.pack(once)) + 20 + size // 50


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"OMTX",
        b"not a packed document at all",
        b"XXXX" + packing.pack(SAMPLE)[4:],
        b"OMTX\x63" + packing.pack(SAMPLE)[5:],
        packing.pack(SAMPLE)[:-1],
        packing.pack(SAMPLE) + b"x",
        packing._HEADER.pack(b"OMTX", 1, 2, 2**60) + zlib.compress(b"{}"),
        packing._HEADER.pack(b"OMTX", 1, 2, 2) + zlib.compress(b"{}"),
        packing._HEADER.pack(b"OMTX", 1, 9, 2) + zlib.compress(b"{}"),
        packing._HEADER.pack(b"OMTX", 1, 4, 4) + zlib.compress(b"null"),
    ],
)
def test_what_is_damaged_says_so(data: bytes) -> None:
    with pytest.raises(StoreDamaged):
        packing.unpack(data)


@pytest.mark.parametrize(
    "plan",
    [
        '{"facts":["","",  "ok",""],"segments":[]}',
        '{"facts":["",{},"unheard of",""],"segments":[]}',
        '{"facts":["",{},"ok",""],"segments":[[99,"text",[]]]}',
        '{"facts":["",{},"ok",""],"segments":[[-1,"text",[]]]}',
        '{"facts":["",{},"ok",""],"segments":[[0,"text",[]]]}',
        '{"facts":["",{},"ok",""],"segments":[[4,"text",[{"kind":5}]]]}',
        '{"facts":["",{},"ok",""],"segments":[[4,"text",[{"kind":"page","start":"x"}]]]}',
        '{"facts":["",{},"ok",""],"segments":[[4,"text",{}]]}',
        '{"facts":["",{},"ok",""],"segments":[7]}',
        "[" * 100_000,
    ],
)
def test_a_plan_that_makes_no_sense_is_damage(plan: str) -> None:
    content = plan.encode() + b"text"
    header = packing._HEADER.pack(b"OMTX", 1, len(plan), len(content))

    with pytest.raises(StoreDamaged):
        packing.unpack(header + zlib.compress(content))


@pytest.mark.parametrize(
    ("version", "bomb"), [(1, zlib.compress(bytes(50_000_000))), (3, compress(bytes(50_000_000), often=packing._OFTEN))]
)
def test_a_bomb_is_not_unpacked(version: int, bomb: bytes) -> None:
    with pytest.raises(StoreDamaged):
        packing.unpack(packing._HEADER.pack(b"OMTX", version, 2, 1_000) + bomb)


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_bytes_never_raise_anything_else(noise: bytes, at: int) -> None:
    packed = packing.pack(SAMPLE)
    damaged = packed[:at] + noise + packed[at + len(noise) :]

    with suppress(StoreDamaged):
        packing.unpack(damaged)


@settings(deadline=None, max_examples=100)
@given(st.lists(PLACE, max_size=3).map(tuple), TEXT, METADATA)
def test_what_is_stored_with_a_passage_comes_back(
    locator: tuple[Place, ...], context: str, metadata: dict[str, object]
) -> None:
    chunk = Chunk(index=0, text="text", locator=locator, context=context)

    stored = packing.chunk_metadata(chunk, DocumentFacts(metadata=metadata))

    stored.encode("ascii")
    assert packing.read_metadata(stored) == (locator, context, metadata)


def test_metadata_without_anything_is_empty() -> None:
    assert packing.read_metadata("{}") == ((), "", {})


@pytest.mark.parametrize(
    "text", ["", "[]", "nonsense", '{"locator":5}', '{"context":5}', '{"document":[]}', '{"locator":[5]}']
)
def test_damaged_metadata_says_so(text: str) -> None:
    with pytest.raises(StoreDamaged):
        packing.read_metadata(text)


def test_a_locator_is_short_json() -> None:
    locator = (Place(kind="heading", label="Flat"), Place(kind="lines", start=3, end=4), Place(kind="page", start=1))

    written = packing.locator_to_json(locator)

    assert written == [
        {"kind": "heading", "label": "Flat"},
        {"kind": "lines", "start": 3, "end": 4},
        {"kind": "page", "start": 1},
    ]
    assert packing.locator_from_json(written) == locator
    with pytest.raises(StoreDamaged):
        packing.locator_from_json({"kind": "page"})


@pytest.mark.parametrize(("version", "left_out"), [(1, b""), (2, packing._OFTEN)])
def test_a_document_that_was_packed_by_a_former_version_is_still_read(version: int, left_out: bytes) -> None:
    content = b'{"facts":["",{},"ok",""],"segments":[[5,"text",[]]]}hello'
    zlib_stream = zlib.compressobj(zdict=left_out)
    packed = packing._HEADER.pack(b"OMTX", version, len(content) - 5, len(content))
    packed += zlib_stream.compress(content) + zlib_stream.flush()

    assert packing.unpack(packed).segments[0].text == "hello"


def test_threads_pack_side_by_side() -> None:
    documents = [ExtractedDocument(segments=(Segment(text=f"Heron {n}. " * 3_000),)) for n in range(16)]
    alone = [packing.pack(document) for document in documents]

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(packing.pack, documents * 4))

    assert together == alone * 4


def test_packing_waits_for_its_library_until_there_is_a_text() -> None:
    script = "import sys, openmind.domain.packing; assert not {'backports.zstd', 'compression.zstd'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_most_documents_say_of_themselves_takes_hardly_any_room() -> None:
    facts = DocumentFacts(
        metadata={"file_type": "text", "extraction_method": "text", "encoding": "utf-8", "encoding_source": "utf-8"}
    )
    segment = Segment(text="hello", locator=(Place(kind="lines", start=1, end=9),))

    assert len(packing.pack(ExtractedDocument(segments=(segment,), facts=facts))) < 90
