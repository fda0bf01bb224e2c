"""Values to render, and streams to render to."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout

import pytest
from openmind.domain.documents import Place
from openmind.domain.ids import FileId, SourceId
from openmind.domain.search import Explanation, SearchHit

MakeHit = Callable[..., SearchHit]
Terminal = Callable[[], AbstractContextManager["TerminalStream"]]
RealTerminal = Callable[[], AbstractContextManager[int]]


class TerminalStream(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def make_hit() -> MakeHit:
    def make(**changes: object) -> SearchHit:
        values: dict[str, object] = {
            "id": "file_0011223344556677:3",
            "file_id": FileId("file_0011223344556677"),
            "source_id": SourceId("src_001122334455"),
            "score": 0.75,
            "path": "/notes/garden.md",
            "file_name": "garden.md",
            "extension": ".md",
            "title": "Garden",
            "snippet": "Prune the apple tree in March.",
            "text": "Prune the apple tree in March.",
            "index": 3,
            "locator": (Place(kind="heading", label="Trees"), Place(kind="lines", start=40, end=52)),
            "metadata": {},
            "marks": ((10, 15),),
            "explanation": Explanation(words_rank=1, words_score=4.5, vector_rank=None, coverage=1.0),
        }
        return SearchHit(**(values | changes))

    return make


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A context in which both standard streams are a terminal of 80 columns with colours."""
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)

    @contextmanager
    def connected() -> Iterator[TerminalStream]:
        stream = TerminalStream()
        with redirect_stdout(stream), redirect_stderr(stream):
            yield stream

    return connected


@pytest.fixture
def real_terminal() -> RealTerminal:
    """A context in which both standard streams are a terminal of the system's; gives the descriptor of its reader."""
    if os.name != "posix":
        pytest.skip("a console of Windows ends the process that it belongs to")

    @contextmanager
    def connected() -> Iterator[int]:
        reader, device = os.openpty()
        with (
            os.fdopen(device, "w") as out,
            os.fdopen(os.dup(device), "w") as err,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            yield reader

    return connected
