"""Commands that need little import little."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

APPLICATION = "openmind.application."
HEAVY = {"lance", "lancedb", "pyarrow", "pandas", "numpy", "httpx", "litestar", "onnxruntime"}
MODULES = """
import json, sys
from openmind_cli.main import main
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump([code, sorted(sys.modules)], file)
"""


def modules(openmind, tmp_path: Path, *arguments: str) -> set[str]:
    """The modules that are loaded when the command has ended."""
    listing = tmp_path / "modules.json"
    command = [sys.executable, "-c", MODULES, str(listing), *arguments]
    subprocess.run(command, env=openmind.environment(), capture_output=True, check=True, timeout=240)
    code, loaded = json.loads(listing.read_text())
    assert code == 0
    return set(loaded)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["source", "list"], ["status"]], ids=" ".join)
def test_a_light_command_imports_nothing_heavy(openmind, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Alpha.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")

    assert not modules(openmind, tmp_path, *arguments) & HEAVY


def test_the_help_imports_neither_the_engine_nor_a_prompt(openmind, tmp_path: Path) -> None:
    openmind.done("init")

    loaded = modules(openmind, tmp_path, "--help")

    assert not loaded & {"sqlite3", "questionary", "openmind.bootstrap", "openmind.application.memory"}
    assert not loaded & {"cattrs", "tomlkit", "secrets", "difflib"}
    assert not loaded & {"openmind.domain.config", "openmind.ports.storage", "openmind.ports.model_provider"}


def test_a_search_imports_only_what_it_uses(openmind, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The landlord wants a rent increase.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")

    loaded = modules(openmind, tmp_path, "search", "rent increase")

    assert {"lance", "openmind.application.searching.service"} <= loaded
    assert not loaded & {"pandas", "lancedb", "lance_namespace", "tokenizers", "safetensors", "wordllama", "httpx"}
    assert not loaded & {"rich", "tomlkit", "difflib", "secrets", "subprocess", "psutil", "asyncio", "numpy.random"}
    assert not {name for name in loaded if name.startswith(f"{APPLICATION}indexing.")}
    assert not loaded & {f"{APPLICATION}{name}" for name in ("sources", "documents", "settings", "setup", "standing")}
    assert not loaded & {f"{APPLICATION}{name}.service" for name in ("asking", "models", "maintenance")}
    assert not loaded & {"openmind.bootstrap.preparation", "openmind.adapters.local_files"}
    assert not loaded & {"openmind_extractors.pdf", "openmind_lmstudio.provider", "openmind_api.app"}


def test_output_through_a_pipe_needs_no_rich_of_ours(openmind, tmp_path: Path) -> None:
    openmind.done("init")

    assert "rich" not in modules(openmind, tmp_path, "status")


def test_the_module_runs_like_the_program(openmind) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "openmind_cli", "--version"], env=openmind.environment(), capture_output=True, check=True
    )

    assert ran.stdout.decode() == openmind.done("--version").out
