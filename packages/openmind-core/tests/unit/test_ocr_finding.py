from openmind.application.maintenance.findings import of_ocr
from openmind.domain.files import FileReason, FileStatus
from openmind.plugins.registries import ExtractorRegistry


def test_an_engine_that_nobody_has_is_a_finding_and_one_that_is_there_is_none() -> None:
    registry = ExtractorRegistry()
    registry.let_in("eyes", "openmind-eyes")
    registry.add_ocr("sharp-eyes", lambda config: None)

    [finding] = of_ocr(lambda: registry.ocr.find("sharp-eye"))

    assert finding.code == "ocr.unknown"
    assert "sharp-eye" in finding.message
    assert list(of_ocr(lambda: registry.ocr.find("sharp-eyes"))) == []


def test_each_reason_for_which_text_is_missing_has_a_hint() -> None:
    without = {reason for reason in FileReason if not reason.hint}

    assert without == {FileReason.OK, FileReason.EMPTY}
    assert FileReason.PARTIAL.status is FileStatus.INDEXED
