"""What an extractor may yield: whoever writes one is told which field is wrong."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from openmind.adapters.extraction_wire import WireError, part_from_wire
from openmind.domain.documents import SEGMENT_KINDS, DocumentFacts, Picture, Place, Segment, check_yielded
from openmind.ports.extractor import Blob, Extractor
from openmind.testing.contracts.extractor import ExtractorContract, Sample, read

WRONG: list[tuple[Any, str]] = [
    (DocumentFacts(reason=cast(Any, None)), "reason of a DocumentFacts is None, and has to be FileReason"),
    (DocumentFacts(title=cast(Any, None)), "title of a DocumentFacts is None, and has to be str"),
    (Segment(text=cast(Any, b"x")), "text of a Segment is b'x', and has to be str"),
    (Segment(text="x", locator=cast(Any, [Place(kind="page")])), "locator of a Segment is .* and has to be tuple"),
    (Segment(text="x", locator=(Place(kind="page", label=cast(Any, 3)),)), "label of a Place is 3, and has to be str"),
    (Segment(text="x", locator=(Place(kind="lines", start=-4),)), "start of a Place is -4"),
    (Picture(data=b"", media_type=cast(Any, None)), "media_type of a Picture is None"),
    (
        Segment(text="x", kind="nonsense"),
        "kind of a Segment is 'nonsense', and has to be one of text, code, table, anno",
    ),
    ("text", "may not yield 'text'"),
]


class Careless:
    def __init__(self, part: Any) -> None:
        self.part = part

    def extract(self, blob: Blob) -> Iterator[Any]:
        yield self.part


@pytest.mark.parametrize(("part", "told"), WRONG)
def test_a_field_of_the_wrong_type_is_named_also_by_the_contract_suite(part: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        check_yielded(part)
    with pytest.raises(TypeError, match=told):
        read(cast(Extractor, Careless(part)), b"x", "a.x")


def test_what_is_left_to_its_defaults_is_right() -> None:
    for part in (DocumentFacts(), Segment(text="x"), Segment(text="x", locator=(Place(kind="page", start=1),))):
        check_yielded(part)


@pytest.mark.parametrize("kind", SEGMENT_KINDS)
def test_each_kind_of_segment_is_taken(kind: str) -> None:
    check_yielded(Segment(text="x", kind=kind))


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (Place(kind="lines", start=3), None),
        (Place(kind="lines", start=2), "“Row your boat” is given line 2 of the file, and stands on line 3"),
        (Place(kind="lines", start=7), "a Segment ends on line 7, and a.x has 4 lines"),
        (Place(kind="lines", start=3, end=9), "a Segment ends on line 9"),
    ],
)
def test_the_contract_suite_looks_whether_the_lines_are_those_of_the_file(place: Place, told: str | None) -> None:
    sample = Sample(name="a.x", data=b"Row\n\nRow your boat\n", must_include=("Row your boat",))
    extractor = cast(Extractor, Careless(Segment(text="Row your boat", locator=(place,))))
    check = ExtractorContract().test_lines_of_the_text_are_lines_of_the_file

    if told is None:
        check(extractor, sample)
    else:
        with pytest.raises(AssertionError, match=told):
            check(extractor, sample)


def test_a_wrong_field_on_its_way_out_of_a_worker_is_named() -> None:
    with pytest.raises(WireError, match="title is NoneType instead of str"):
        part_from_wire({"title": None, "metadata": {}, "reason": "ok", "note": ""})
