"""What others build on stays as it is, and every part of it has what it needs."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import openmind
import openmind.ports
import openmind.testing.contracts
import pytest
from openmind.domain import errors, problems
from openmind.plugins import hookspecs

HEAVY = [
    "lance",
    "lancedb",
    "pyarrow",
    "pandas",
    "numpy",
    "httpx",
    "litestar",
    "onnxruntime",
    "cv2",
    "pypdfium2",
    "mammoth",
]


def leaves(family: type[errors.OpenMindError]) -> list[type[errors.OpenMindError]]:
    """List the public errors; adapters may have kinds of their own that go by the code of what they derive from."""
    children = [child for child in family.__subclasses__() if child.__module__ == errors.__name__]
    return [family, *(leaf for child in children for leaf in leaves(child))]


def test_the_public_names_are_these() -> None:
    assert sorted(openmind.__all__) == ["OpenMind", "open_memory"]


@pytest.mark.parametrize("error", leaves(errors.OpenMindError))
def test_every_error_has_a_code_of_its_own_and_a_status(error: type[errors.OpenMindError]) -> None:
    others = {other.code for other in leaves(errors.OpenMindError) if other is not error}

    assert error.code not in others
    assert 400 <= problems.status_of(error) < 600


def test_no_error_is_taken_for_the_end_of_a_stream() -> None:
    assert not issubclass(errors.OpenMindError, (ValueError, StopIteration))


def test_there_are_five_hooks() -> None:
    hooks = [name for name in vars(hookspecs) if name.startswith("openmind_register_")]

    assert len(hooks) == 5


def test_every_port_has_a_contract_suite() -> None:
    suites = {module.name for module in pkgutil.iter_modules(openmind.testing.contracts.__path__)}

    assert {module.name for module in pkgutil.iter_modules(openmind.ports.__path__)} <= suites


def test_every_promise_of_a_port_is_written_down() -> None:
    for module in pkgutil.iter_modules(openmind.ports.__path__):
        for name, kind in inspect.getmembers(importlib.import_module(f"openmind.ports.{module.name}"), inspect.isclass):
            if getattr(kind, "_is_protocol", False) and kind.__module__.startswith("openmind.ports"):
                assert kind.__doc__, f"{name} promises nothing"


@pytest.mark.parametrize(
    "command",
    [["--help"], ["--version"], ["source", "list"], ["status"]],
)
def test_light_commands_import_no_engine(command: list[str], tmp_path, monkeypatch) -> None:
    from openmind.adapters.home import Home

    Home(tmp_path / "home").create()
    code = (
        "import sys\n"
        "from openmind_cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        check=False,
        env={"OPENMIND_HOME": str(tmp_path / "home"), "PATH": "", "HOME": str(tmp_path)},
    )

    assert ran.stdout.splitlines()[-1] == "heavy: []", ran.stderr


def test_a_search_imports_no_pandas_and_no_lancedb(tmp_path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("heliotrope in the garden")
    code = (
        "import sys\n"
        "from openmind import open_memory\n"
        "with open_memory(sys.argv[1]) as memory:\n"
        "    memory.sources.add(sys.argv[2])\n"
        "    memory.index()\n"
        "    assert memory.search('heliotrope').hits\n"
        "print([name for name in ('pandas', 'lancedb', 'onnxruntime', 'pypdfium2', 'mammoth') if name in sys.modules])"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "home"), str(tmp_path / "notes")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.strip() == "[]"
