"""`openmind demo`."""

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from openmind import OpenMind, open_memory
from openmind.domain.contract import answer_object, index_object, search_object

from openmind_cli.answering import links_of
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json
from openmind_cli.render.answers import print_answer
from openmind_cli.render.hits import print_result
from openmind_cli.render.lines import BLANK, Line, Span, line, print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.progress import shown_progress
from openmind_cli.render.reports import print_report

QUERY = "what to do with the pump before the first frost"
QUESTION = "When is the harvest supper, and who brings the bread?"


def demo(*, json: Json = False) -> int:
    """Try OpenMind on sample files: index them, search, and ask.

    It uses a temporary folder that is deleted afterwards. Your own files and your own memory are not touched.
    """
    with _sample_memory() as memory:
        return _as_json(memory) if json else _told(memory)


@contextmanager
def _sample_memory() -> Iterator[OpenMind]:
    """An empty memory with the sample files as its source."""
    samples = files("openmind_cli") / "samples"
    with (
        as_file(samples) as folder,
        tempfile.TemporaryDirectory(prefix="openmind-demo-") as temporary,
        open_memory(Path(temporary) / "home") as memory,
    ):
        memory.sources.add(folder)
        yield memory


def _as_json(memory: OpenMind) -> int:
    report, result, answer = memory.index(), memory.search(QUERY, limit=3), memory.ask(QUESTION, limit=3)
    print_object(
        {"index": index_object(report), "search": search_object(result), "ask": answer_object(answer)},
    )
    return OK if result.hits else FAILED


def _told(memory: OpenMind) -> int:
    print_lines([_step("openmind index", "reads the sample files")])
    with shown_progress() as progress:
        report = memory.index(progress=progress)
    print_report(report)
    print_lines([BLANK, _step(f'openmind search "{QUERY}"', "finds passages by meaning and by words")])
    result = memory.search(QUERY, limit=3)
    print_result(result)
    print_lines([BLANK, _step(f'openmind ask "{QUESTION}"', "answers from the files")])
    answer = memory.ask(QUESTION, limit=3)
    print_answer(answer, links_of(memory, answer))
    print_lines(
        [
            BLANK,
            line(Span("That was a memory of sample files; it is deleted now. For your own files:", "bold")),
            *(line(step, indent=2) for step in first_steps(os.environ)),
            line("openmind source add ~/Documents", indent=2),
            line("openmind index", indent=2),
            line('openmind search "what you are looking for"', indent=2),
        ]
    )
    return OK if result.hits else FAILED


def first_steps(environment: Mapping[str, str]) -> list[str]:
    """What makes `openmind` a command of the shell, where it is none: after `uv run`, or beside a PATH without it."""
    program = Path(sys.executable).with_name("openmind")
    on_path = shutil.which("openmind", path=environment.get("PATH")) and "UV" not in environment
    return [] if on_path or not program.exists() else [f"alias openmind={shlex.quote(str(program))}"]


def _step(command: str, what: str) -> Line:
    return line(Span(f"$ {command}", "bold"), Span(f"   # {what}", "dim"))
