"""The promises of an extractor, and what is particular to this one."""

import pytest
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.ports.extractor import Blob, ExtractorInfo
from openmind.testing.contracts.extractor import ExtractorContract, Sample
from openmind.testing.plugins import load_plugin
from openmind_bibtex.extractor import BibtexExtractor, entries
from openmind_bibtex.plugin import INFO

SAMPLE = Sample(
    name="papers.bib",
    data=b"""@string{acm = "ACM Press"}

@article{lamport1978,
  title = {Time, Clocks, and the Ordering of Events},
  author = {Leslie Lamport},
}

@book{knuth1968, title = {The Art of Computer Programming}}
""",
    must_include=("Ordering of Events", "Leslie Lamport", "Computer Programming"),
    must_not_include=("ACM Press",),
)


class TestBibtex(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> BibtexExtractor:
        return BibtexExtractor()

    @pytest.fixture
    def info(self) -> ExtractorInfo:
        return INFO

    @pytest.fixture
    def sample(self) -> Sample:
        return SAMPLE


def test_an_entry_knows_its_key_and_its_lines() -> None:
    parts = list(BibtexExtractor().extract(Blob(name="papers.bib", data=SAMPLE.data)))

    assert [part.locator for part in parts if isinstance(part, Segment)] == [
        (Place(kind="heading", label="lamport1978"), Place(kind="lines", start=3, end=6)),
        (Place(kind="heading", label="knuth1968"), Place(kind="lines", start=8, end=8)),
    ]
    assert parts[-1] == DocumentFacts(metadata={"entries": 2})


def test_a_brace_too_many_harms_only_its_own_entry() -> None:
    assert [entry.key for entry in entries("@misc{one, title={a}}}\n@misc{two, title={{b}")] == ["one", "two"]


def test_openmind_takes_the_plugin() -> None:
    assert "bibtex" in load_plugin("openmind_bibtex.plugin").extractors.entries
