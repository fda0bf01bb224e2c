"""What the README shows of a terminal is what a terminal shows."""

import difflib
import os
import re
import shutil
import sys
from pathlib import Path

import openmind_cli
import pexpect
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a terminal")
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SAMPLES = Path(openmind_cli.__file__).parent / "samples"
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]")


def recorded() -> str:
    """The block after the mark, as it was recorded."""
    return re.findall(r"<!-- recorded -->\n```text\n(.*?)```", README, re.DOTALL)[0]


def shown(command: str, home: Path) -> str:
    """What a terminal of eighty columns holds after a command."""
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENMIND_", "LC_", "LANG", "COLUMNS", "LINES"))
        },
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    told, _ = pexpect.run(
        command,
        cwd=str(home),
        env=environment,
        timeout=240,
        withexitstatus=True,
        encoding="utf-8",
        dimensions=(50, 80),
    )
    return told


def tidy(text: str) -> str:
    """Leave out colours, what a bar drew over, times and ids, which differ from run to run."""
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in STYLE.sub("", text).replace("\r\n", "\n").splitlines()]
    text = "\n".join(line for line in lines if line and "━" not in line)
    return re.sub(r"\bin [\d.]+ m?s\b", "in … s", re.sub(r"src_[0-9a-f]+", "src_…", text)).strip()


def test_what_the_readme_shows_of_a_terminal_is_what_a_terminal_shows(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "notes", tmp_path / "notes")
    commands = re.findall(r"^\$ (.*)$", recorded(), re.MULTILINE)
    assert len(commands) >= 3

    session = "\n".join(f"$ {command}\n{shown(command, tmp_path)}" for command in commands)

    now, then = tidy(session).replace(str(tmp_path), "/home/ada").splitlines(), tidy(recorded()).splitlines()
    alike = difflib.SequenceMatcher(None, now, then, autojunk=False).ratio()
    assert alike > 0.9, "record it again:\n" + "\n".join(now)
