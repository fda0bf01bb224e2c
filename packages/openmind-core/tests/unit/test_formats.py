"""Who reads which extension."""

from openmind.application.indexing.formats import Formats, claims
from openmind.domain.config import ExtractionConfig
from openmind.ports.extractor import ExtractorInfo


def info(name: str, *extensions: str, replaces: frozenset[str] = frozenset()) -> ExtractorInfo:
    return ExtractorInfo(name=name, version=1, extensions=frozenset(extensions), replaces=replaces)


def reader(extension: str, *infos: ExtractorInfo) -> str:
    found = Formats.of(infos, ExtractionConfig()).reader(extension)
    assert found is not None
    return found.name


def test_of_two_that_claim_an_extension_the_first_has_it() -> None:
    assert reader(".pdf", info("pdf", ".pdf"), info("other", ".pdf")) == "pdf"


def test_one_that_replaces_another_has_what_both_claim() -> None:
    better = info("better", ".pdf", replaces=frozenset({"pdf"}))

    assert reader(".pdf", info("pdf", ".pdf", ".fdf"), better) == "better"
    assert reader(".fdf", info("pdf", ".pdf", ".fdf"), better) == "pdf"


def test_rivals_are_known_in_order() -> None:
    found = claims([info("a", ".x"), info("b", ".x", replaces=frozenset({"a"})), info("c", ".y")])

    assert [rival.name for rival in found[".x"]] == ["b", "a"]
    assert [rival.name for rival in found[".y"]] == ["c"]
