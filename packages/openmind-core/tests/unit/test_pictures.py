import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.application.indexing.formats import Formats
from openmind.domain.config import ExtractionConfig, ImagesConfig
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Segment
from openmind.domain.files import FileReason
from openmind.domain.pictures import described, key_of, undescribed, without_description
from openmind.ports.extractor import ExtractorInfo

INFO = ExtractorInfo(name="image", version=1, extensions=frozenset({".png", ".avif"}), effort=2, pictures=True)
PLAIN = ExtractorInfo(name="text", version=1, extensions=frozenset({".txt"}))

words = st.text("abc ;:", min_size=1, max_size=12).map(str.strip)
documents = st.builds(
    lambda texts, method, note: ExtractedDocument(
        segments=tuple(Segment(text=text) for text in texts),
        facts=DocumentFacts(
            title="t",
            metadata={"file_type": "image"} | ({"extraction_method": method} if method else {}),
            reason=FileReason.PARTIAL if note else FileReason.OK,
            note=note,
        ),
    ),
    st.lists(words, max_size=3),
    st.sampled_from(["", "metadata", "metadata+ocr"]),
    st.sampled_from(["", "only the first 50 pages were read"]),
)


@given(documents, words, words)
@settings(deadline=None)
def test_what_was_added_can_be_taken_out_again(document: ExtractedDocument, text: str, why: str) -> None:
    assert without_description(described(document, text, model="eyes")) == document
    assert without_description(described(document, text, model="eyes", max_chars=3)) == document
    assert without_description(undescribed(document, why)) == document
    assert without_description(document) == document


def test_a_description_comes_first_and_the_model_is_named() -> None:
    document = ExtractedDocument(
        segments=(Segment(text="stop"),), facts=DocumentFacts(metadata={"extraction_method": "metadata+ocr"})
    )

    found = described(document, " A red\r\nbicycle.\x00 ", model="eyes")

    assert [segment.text for segment in found.segments] == ["A red\nbicycle.", "stop"]
    assert found.segments[0].kind == "picture"
    assert found.facts.metadata == {
        "image_description_model": "eyes",
        "extraction_method": "description+metadata+ocr",
    }
    assert found.facts.reason is FileReason.OK


def test_a_description_without_end_is_cut_and_that_is_told() -> None:
    found = described(ExtractedDocument(), "a red bicycle " * 1_000, model="eyes", max_chars=13)

    assert [segment.text for segment in found.segments] == ["a red bicycle"]
    assert found.facts.reason is FileReason.PARTIAL
    assert found.facts.note == "its description was longer than it may be, and was cut"


def test_a_lack_of_a_description_is_a_part_that_is_missing() -> None:
    found = undescribed(ExtractedDocument(facts=DocumentFacts(reason=FileReason.PARTIAL, note="a")), "b")

    assert found.facts.reason is FileReason.PARTIAL
    assert found.facts.note == "a; the picture was not described: b"


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        ({}, "image/1+eyes"),
        ({"image_description_model": "eyes"}, "image/1+eyes"),
        ({"image_description_model": "former"}, "image/1+former"),
        ({"image_description_error": "no"}, "image/1"),
        ({"image_description_error": "no", "image_description_model": "eyes"}, "image/1"),
    ],
)
def test_the_key_of_a_record_says_whether_its_description_is_due(metadata: dict[str, object], key: str) -> None:
    assert key_of(metadata, plain_key="image/1", wanted="image/1+eyes") == key


def test_formats_name_the_model_where_there_are_pictures() -> None:
    config = ExtractionConfig(images=ImagesConfig(model="eyes"))

    formats = Formats.of([INFO, PLAIN], config)

    assert {extension: info.key for extension, info in formats.by_extension.items()} == {
        ".png": "image/1+eyes",
        ".avif": "image/1+eyes",
        ".txt": "text/1",
    }
    assert Formats.of([INFO], ExtractionConfig()).by_extension[".png"].key == "image/1"


def test_pictures_can_be_left_out_whatever_their_extension() -> None:
    config = ExtractionConfig(images=ImagesConfig(enabled=False))

    assert set(Formats.of([INFO, PLAIN], config).by_extension) == {".txt"}
