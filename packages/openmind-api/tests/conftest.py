"""A memory in a temporary home over a folder of notes, a scripted model server, and the API served for real."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
from openmind.adapters.token_file import TokenFile
from openmind.domain.answers import AnswerReasoning, AnswerText
from openmind.domain.models import EmbedderIdentity, ModelInfo
from openmind.live import LiveMemory
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.answer_provider import Prompt, Reply
from openmind.testing.fakes.models import FakeAnswers, FakeEmbeddings, FakeProvider
from openmind_api.listening import bind
from openmind_api.server import ApiServer, prepared
from openmind_api.sse import Pace

PACE = Pace(heartbeat_s=0.1, begin_s=600.0, first_word_s=600.0, look_s=0.02)
"""A model that fails is answered with a status however long it takes; silence is broken soon."""
SLOW_MACHINE_S = 100.0
"""How long a client waits: the tests share their machine with others."""
NOTES = {
    "rent.md": "# Rent\n\nThe landlord announced a rent increase of 5 percent from January.",
    "bread.md": "# Bread\n\nThe sourdough needs 500 g of flour and 350 g of water.",
    "plants/heliotrope.txt": "Heliotrope likes the sunny corner of the garden.",
}


@attrs.define
class SlowAnswers:
    """A chat model that says a word, then waits until it is let go on, or is interrupted."""

    model: str = "fake-chat"
    go_on: threading.Event = attrs.field(factory=threading.Event)
    streams: list[SlowStream] = attrs.field(factory=list)
    first_word: str = "First "

    def context_chars(self) -> int:
        return 100_000

    def stream(self, prompt: Prompt) -> SlowStream:
        self.streams.append(SlowStream(self))
        return self.streams[-1]


@attrs.define
class SlowStream:
    """Its `close` may be called from any thread, like that of a real server."""

    answers: SlowAnswers
    at: int = 0
    closed: threading.Event = attrs.field(factory=threading.Event)

    def __iter__(self) -> SlowStream:
        return self

    def __next__(self) -> AnswerText | AnswerReasoning | Reply:
        self.at += 1
        if self.at == 1 and self.answers.first_word:
            return AnswerText(self.answers.first_word)
        while not self.answers.go_on.wait(0.01):
            if self.closed.is_set():
                raise StopIteration
        if self.at == 2:
            return AnswerText("last [1].")
        if self.at == 3:
            return Reply(f"{self.answers.first_word}last [1].", continuation="turn")
        raise StopIteration

    def close(self) -> None:
        self.closed.set()


@attrs.define
class ManyModels(FakeProvider):
    """A provider with a model of each kind."""

    def models(self) -> tuple[ModelInfo, ...]:
        seeing = ModelInfo(key="fake-eyes", name="Fake eyes", type="llm", supports_images=True)
        return (*super().models(), seeing)


@attrs.define
class World:
    """What a test plays with."""

    home: Path
    notes: Path
    provider: FakeProvider
    routes: dict[str, str] = attrs.field(factory=dict)
    """Routes of other packages."""
    package: str = "openmind-acme"
    """Whose the provider is; those of OpenMind itself are not contained."""

    @property
    def token(self) -> str:
        return TokenFile(self.home / "api_token").ensure()

    @property
    def log(self) -> list[dict[str, Any]]:
        path = self.home / "logs" / "api.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def write(self, name: str, text: str) -> Path:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def configure(self, *, chat: str | None = None, embedding: str = "builtin") -> None:
        """Write a configuration that uses the scripted provider."""
        chosen = f'chat_model = "{chat}"\n' if chat else ""
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / ".openmind-home").write_text("")
        text = f'[provider]\nname = "fake"\n[models]\n{chosen}embedding_model = "{embedding}"\n'
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def index(self) -> None:
        """Index the notes."""
        with LiveMemory(self.home, plugins=self.plugins()) as live, live.current() as memory:
            if not memory.sources.list():
                memory.sources.add(self.notes)
            memory.index()

    def plugins(self) -> Plugins:
        plugins = load_plugins()
        plugins.providers.let_in("fake", self.package)
        plugins.providers.add("fake", lambda _: self.provider)
        plugins.routes.let_in("acme", "openmind-acme")
        for name, target in self.routes.items():
            plugins.routes.add(name, target)
        return plugins

    @contextmanager
    def served(
        self, *, origins: tuple[str, ...] = (), pace: Pace = PACE, may_go_on: Callable[[], bool] = lambda: True
    ) -> Iterator[Api]:
        """Serve it over a real socket."""
        with LiveMemory(self.home, plugins=self.plugins()) as live, closing(bind(0)) as listener:
            ready = threading.Event()
            with prepared(live, origins=origins, pace=pace, ready=ready.set, may_go_on=may_go_on) as server:
                thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
                thread.start()
                assert ready.wait(SLOW_MACHINE_S)
                api = Api(world=self, port=listener.getsockname()[1], server=server, live=live, thread=thread)
                try:
                    yield api
                finally:
                    api.http.close()
                    server.should_exit = True
                    thread.join(SLOW_MACHINE_S)
                    assert not thread.is_alive()


@attrs.define
class Api:
    """A served API, and a client with its token."""

    world: World
    port: int
    server: ApiServer
    live: LiveMemory
    thread: threading.Thread
    http: httpx.Client = attrs.field(init=False)

    @http.default
    def _make_http(self) -> httpx.Client:
        return self._client({"Authorization": f"Bearer {self.world.token}"})

    def _client(self, headers: dict[str, str]) -> httpx.Client:
        # A connection that is used again may be closed by the server in just that moment.
        each = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=SLOW_MACHINE_S, limits=each)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.http.get(f"/api/v1{path}", **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return self.http.post(f"/api/v1{path}", **({} if body is None else {"json": body}), **options)

    def put(self, path: str, body: Any) -> httpx.Response:
        return self.http.put(f"/api/v1{path}", json=body)

    def patch(self, path: str, body: Any) -> httpx.Response:
        return self.http.patch(f"/api/v1{path}", json=body)

    def delete(self, path: str) -> httpx.Response:
        return self.http.delete(f"/api/v1{path}")

    def without_token(self) -> httpx.Client:
        return self._client({})

    def stream(self, path: str, body: Any) -> list[tuple[str, Any]]:
        """All events of a stream, by name and data; comments are named `:`."""
        with self.http.stream("POST", f"/api/v1{path}", json=body) as response:
            assert response.status_code == 200, response.read()
            return list(events(response))

    def raw(self, request: bytes) -> bytes:
        """Send bytes and read what comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SLOW_MACHINE_S) as connection:
            connection.sendall(request)
            received = b""
            while chunk := connection.recv(65_536):
                received += chunk
            return received

    def head(self, start: str, *lines: str, token: bool = True) -> str:
        """The head of a request, without the line that ends it."""
        mine = [f"Authorization: Bearer {self.world.token}"] if token else []
        return "".join(f"{line}\r\n" for line in (f"{start} HTTP/1.1", f"Host: localhost:{self.port}", *mine, *lines))

    def job_finished(self) -> dict[str, Any]:
        """Wait for the background job."""
        return until(lambda: found if (found := self.get("/index/status").json())["completed_at"] else None)


def events(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """Read server-sent events as they come."""
    name = ""
    for line in response.iter_lines():
        if line.startswith(":"):
            yield ":", line
        elif line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def until(look: Callable[[], Any]) -> Any:
    """Wait for something to become true, and return it."""
    ends_at = time.monotonic() + SLOW_MACHINE_S
    while time.monotonic() < ends_at:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it never happened")


@pytest.fixture(scope="session")
def waited() -> Callable[..., Any]:
    """`until`, for tests."""
    return until


@pytest.fixture(scope="session")
def read_events() -> Callable[[httpx.Response], Iterator[tuple[str, Any]]]:
    """`events`, for tests."""
    return events


@pytest.fixture(scope="session")
def make_world() -> Callable[[Path], World]:
    """Make a world anywhere."""
    return world_in


def world_in(folder: Path) -> World:
    identity = EmbedderIdentity(provider="fake", model="fake-embedder", dimension=64)
    provider = ManyModels(embeddings=FakeEmbeddings(identity=identity), answers=FakeAnswers(script=["It is so [1]."]))
    notes = folder / "notes"
    notes.mkdir()
    world = World(home=folder / "home", notes=notes, provider=provider)
    for name, text in NOTES.items():
        world.write(name, text)
    return world


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty home, and a folder of notes that is no source yet."""
    return world_in(tmp_path)


@pytest.fixture
def api(world: World) -> Iterator[Api]:
    """An empty memory, served."""
    with world.served() as api:
        yield api


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An indexed memory with a chat model, served; tests only read."""
    world = world_in(tmp_path_factory.mktemp("shared"))
    world.configure(chat="fake-chat")
    world.index()
    with world.served(origins=("http://localhost:3000",)) as api:
        yield api


@pytest.fixture
def held_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Keeps background workers from beginning until it is called, so that their job is unfinished until then."""
    folder, gate = tmp_path / "held", tmp_path / "held" / "gate"
    folder.mkdir()
    gate.touch()
    wait = f"import os, time\nwhile os.path.exists({str(gate)!r}):\n    time.sleep(0.02)\n"
    (folder / "sitecustomize.py").write_text(wait, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def let_go() -> None:
        gate.unlink(missing_ok=True)

    yield let_go
    let_go()


@pytest.fixture
def slow(world: World) -> SlowAnswers:
    """A chat model that waits; configured."""
    answers = SlowAnswers()
    world.provider.answers = answers  # type: ignore[assignment]
    world.configure(chat="fake-chat")
    world.index()
    return answers
