"""A memory in a temporary home, over a folder of notes, with real stores and a fake model server."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import attrs
import pytest
from openmind import OpenMind, open_memory
from openmind.adapters.home import Home
from openmind.application.indexing import batch
from openmind.domain.models import EmbedderIdentity
from openmind.plugins.manager import Plugins, load_plugins
from openmind.plugins.registries import ProviderRegistry
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider


@attrs.define
class World:
    """What a test plays with."""

    home: Path
    notes: Path
    provider: FakeProvider

    @contextmanager
    def memory(self) -> Iterator[OpenMind]:
        with open_memory(self.home, plugins=self._plugins()) as memory:
            yield memory

    def use(self, model: str = "fake-embedder", dimension: int = 64) -> FakeEmbeddings:
        """Configure the fake server's embedder."""
        Home(self.home).create()
        (self.home / "config.toml").write_text(
            f'[provider]\nname = "fake"\n[models]\nembedding_model = "{model}"\n', encoding="utf-8"
        )
        identity = EmbedderIdentity(provider="fake", model=model, dimension=dimension)
        self.provider.embeddings = FakeEmbeddings(identity=identity)
        return self.provider.embeddings

    def write(self, name: str, text: str) -> Path:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def _plugins(self) -> Plugins:
        plugins = load_plugins()
        registry: ProviderRegistry = plugins.providers
        registry.add("fake", lambda _: self.provider)
        return plugins


@pytest.fixture(autouse=True)
def batches_are_not_closed_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run commits what is full or what it is asked to: a slow machine makes the same batches as a fast one."""
    for limit in ("FIRST_BATCH_SECONDS", "BATCH_SECONDS"):
        monkeypatch.setattr(batch, limit, float("inf"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    notes = tmp_path / "notes"
    notes.mkdir()
    return World(home=tmp_path / "home", notes=notes, provider=FakeProvider())


@pytest.fixture
def memory(world: World) -> Iterator[OpenMind]:
    """A memory with the built-in embedder whose one source is the folder of notes."""
    with world.memory() as opened:
        opened.sources.add(world.notes)
        yield opened


Opening = Callable[[], AbstractContextManager[OpenMind]]
