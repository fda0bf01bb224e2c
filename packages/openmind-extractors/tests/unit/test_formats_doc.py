"""`docs/formats.md` says what the code does."""

import re
from importlib import import_module
from pathlib import Path

import openmind_extractors
import pytest
from openmind.domain.files import FileReason
from openmind.plugins.registries import ExtractorRegistry

PAGE = Path(__file__).parents[4] / "docs" / "formats.md"
TEXT = PAGE.read_text(encoding="utf-8")
TESTS = Path(__file__).parent


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, its header left out."""
    section = TEXT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_reader_has_a_row_with_its_extensions(registry: ExtractorRegistry) -> None:
    described = {name.strip("`"): set(re.findall(r"`(\.\w+)`", extensions)) for name, extensions, *_ in rows("Formats")}

    assert described == {name: set(entry.value.info.extensions) for name, entry in registry.entries.items()}


def test_every_reader_has_tests_that_read_its_files(registry: ExtractorRegistry) -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.glob("test_*.py"))

    for name, entry in registry.entries.items():
        assert any(
            re.search(rf'read\(\s*f?"[^"]*{re.escape(extension)}"', tests) for extension in entry.value.info.extensions
        ), name


@pytest.mark.parametrize("row", rows("Limits"), ids=lambda row: row[0])
def test_every_limit_has_the_value_of_its_constant(row: list[str]) -> None:
    module, constant = row[0].strip("`").split(".")

    value = getattr(import_module(f"openmind_extractors.{module}"), constant)

    assert f"{value:,}" == row[1]


def test_every_limit_is_in_the_table() -> None:
    source = Path(openmind_extractors.__file__).parent
    limits = {
        f"{path.stem}.{name}"
        for path in source.glob("*.py")
        for name in re.findall(
            r"^(MAX_\w+)(?<!_SHARE)(?<!SHOWN)(?<!HEAD_CHARS) = ", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }

    assert limits <= {row[0].strip("`") for row in rows("Limits")}


def test_every_engine_of_recognition_is_described(registry: ExtractorRegistry) -> None:
    assert {row[0].strip("`") for row in rows("Text recognition")} == set(registry.ocr.entries)


def test_every_reason_is_explained_with_the_words_that_are_shown() -> None:
    explained = {row[0].strip("`"): row[1] for row in rows("When a file cannot be read")}

    assert explained == {
        reason.value: reason.words for reason in FileReason if reason not in {FileReason.OK, FileReason.PROVIDER}
    }
