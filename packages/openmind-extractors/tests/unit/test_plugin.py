import subprocess
import sys

import pytest
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind_extractors.routing import build

HEAVY = [
    "pypdf",
    "pypdfium2",
    "PIL",
    "rapidocr",
    "onnxruntime",
    "cv2",
    "numpy",
    "mammoth",
    "html5lib",
    "pandas",
    "chardet",
    "yaml",
    "python_calamine",
    "zipfile",
]


def loaded_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and return which of the heavy modules it loaded."""
    program = f"import sys\n{code}\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


REGISTER = """
from openmind.plugins.registries import ExtractorRegistry, ExtractionTools
from openmind.ports.extractor import Blob
from openmind_extractors import plugin
registry = ExtractorRegistry()
plugin.openmind_register_extractors(registry)
def read(name, file, data):
    extractor = registry.entries[name].value.factory(ExtractionTools())
    return list(extractor.extract(Blob(name=file, data=data)))
"""


def test_registering_loads_nothing_heavy() -> None:
    assert loaded_after(REGISTER) == set()


def test_reading_text_in_the_indexing_process_loads_nothing_heavy() -> None:
    assert loaded_after(REGISTER + "read('text', 'a.txt', b'Hello')\nread('code', 'a.py', b'x = 1')") == set()
    assert loaded_after(REGISTER + "read('markdown', 'a.md', b'# Hello')") == {"yaml"}


def test_a_page_loads_only_its_own_parser() -> None:
    assert loaded_after(REGISTER + "read('html', 'a.html', b'<p>Hello')") <= {"html5lib", "zipfile"}


def test_what_can_crash_is_isolated_and_what_is_slow_comes_last(registry: ExtractorRegistry) -> None:
    infos = {name: entry.value.info for name, entry in registry.entries.items()}

    in_process = {name for name, info in infos.items() if not info.isolated}
    assert in_process == {"text", "markdown", "code"}
    assert {name for name, info in infos.items() if info.effort == 2} == {"image"}
    assert {name for name, info in infos.items() if info.effort == 0} == in_process


def test_no_extension_is_claimed_twice(registry: ExtractorRegistry) -> None:
    claimed = [extension for entry in registry.entries.values() for extension in entry.value.info.extensions]

    assert len(claimed) == len(set(claimed))
    assert all(extension == extension.lower() and extension.startswith(".") for extension in claimed)


def test_both_engines_of_recognition_are_registered(registry: ExtractorRegistry) -> None:
    assert set(registry.ocr.entries) == {"rapidocr", "ocrmypdf"}


def test_every_isolated_format_has_a_reader(registry: ExtractorRegistry) -> None:
    for name, entry in registry.entries.items():
        if entry.value.info.isolated:
            assert hasattr(build(name, ExtractionTools()), "extract")


def test_an_unknown_reader_is_an_error() -> None:
    with pytest.raises(ExtractionFailed) as caught:
        build("nonsense", ExtractionTools())

    assert caught.value.reason is FileReason.UNSUPPORTED
