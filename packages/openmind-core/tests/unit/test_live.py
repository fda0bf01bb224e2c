"""A memory that follows its configuration."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from openmind.application.memory import OpenMind
from openmind.domain.answers import AskRequest
from openmind.domain.errors import ConfigError, HomeForeign, HomeMissing, MemoryClosed
from openmind.live import LiveMemory
from openmind.plugins.manager import Plugins, load_plugins
from openmind.testing.fakes.models import FakeProvider


class Closable(FakeProvider):
    """Notes that it was closed."""

    closed = 0

    def close(self) -> None:
        Closable.closed += 1


@pytest.fixture
def plugins() -> Plugins:
    Closable.closed = 0
    found = load_plugins()
    found.providers.add("fake", lambda _: Closable())
    return found


@pytest.fixture
def live(tmp_path: Path, plugins: Plugins) -> Iterator[LiveMemory]:
    with LiveMemory(tmp_path / "home", plugins=plugins) as live:
        yield live


def configure(live: LiveMemory, text: str) -> None:
    live.home.config_file.write_text(text)


def provider(live: LiveMemory) -> str:
    with live.current() as memory:
        return memory.status().provider


def test_the_same_memory_is_given_while_nothing_changes(live: LiveMemory) -> None:
    with live.current() as one, live.current() as other:
        assert one is other


def test_a_changed_configuration_gives_another_memory(live: LiveMemory) -> None:
    with live.current() as before:
        configure(live, '[provider]\nname = "fake"\n')
        with live.current() as after:
            assert after is not before
            assert after.config.provider_name == "fake"
        assert before.config.provider_name == "builtin"
        assert before.status().provider == "builtin"  # it can still be used


def test_plugins_are_loaded_once_as_long_as_the_same_ones_are_left_out(tmp_path: Path) -> None:
    with LiveMemory(tmp_path / "home") as live:
        loaded = live.plugins
        configure(live, "[indexing]\n")
        with live.current():
            assert live.plugins is loaded

        configure(live, '[plugins]\nblocked = ["acme"]\n')
        with live.current():
            assert live.plugins is not loaded


def test_a_change_that_changes_only_blanks_is_a_change_that_costs_nothing(live: LiveMemory) -> None:
    with live.current() as before:
        configure(live, "\n")
        with live.current() as after:
            assert after.config == before.config


def test_a_former_memory_is_closed_when_its_last_user_is_done(live: LiveMemory) -> None:
    configure(live, '[provider]\nname = "fake"\n')
    with live.current() as first, live.current():
        assert first.models.health().reachable
        configure(live, "")
        assert provider(live) == "builtin"
        assert Closable.closed == 0

    assert Closable.closed == 1


def test_a_former_memory_that_nobody_uses_is_closed_at_once(live: LiveMemory) -> None:
    configure(live, '[provider]\nname = "fake"\n')
    with live.current() as memory:
        memory.models.health()

    configure(live, "")

    assert provider(live) == "builtin"
    assert Closable.closed == 1


def test_a_configuration_that_is_not_valid_is_told_until_it_is_mended(live: LiveMemory) -> None:
    configure(live, "[provider\n")
    for _ in range(2):
        with pytest.raises(ConfigError), live.current():
            pass

    configure(live, '[provider]\nname = "fake"\n')

    assert provider(live) == "fake"


def test_conversations_go_on(live: LiveMemory) -> None:
    with live.current() as memory:
        session = memory.asking.ask(AskRequest(question="what?", conversation=True)).session_id
    configure(live, '[provider]\nname = "fake"\n')

    with live.current() as memory:
        again = memory.asking.ask(AskRequest(question="and?", session_id=session)).session_id

    assert again == session is not None


def test_closing_waits_for_nobody_and_spares_those_at_work(live: LiveMemory) -> None:
    with live.current() as memory:
        live.close()
        assert memory.status().sources == 0

    live.close()
    with pytest.raises(MemoryClosed), live.current():
        pass


def test_a_home_that_is_somebody_else_s_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")

    with pytest.raises(HomeForeign):
        LiveMemory(tmp_path)


def test_a_home_that_was_removed_is_told(live: LiveMemory) -> None:
    for path in sorted(live.home.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    live.home.folder.rmdir()
    live.home.folder.mkdir()
    configure(live, "[indexing]\n")

    with pytest.raises((HomeMissing, HomeForeign)), live.current():
        pass


def test_many_threads_see_one_configuration_each(live: LiveMemory) -> None:
    """Whoever works sees either the one configuration or the other, and in the end all see the last."""
    seen: list[tuple[str, str | None]] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            with live.current() as memory:
                seen.append((memory.config.provider_name, memory.config.models.chat_model))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(10):
        name = "fake" if number % 2 else "builtin"
        chat = f'chat_model = "{name}-chat"\n'
        live.home.config_file.with_name("next").write_text(f'[provider]\nname = "{name}"\n[models]\n{chat}')
        live.home.config_file.with_name("next").replace(live.home.config_file)
        with live.current() as memory:
            assert memory.config.provider_name == name
    stop.set()
    for thread in threads:
        thread.join()

    assert set(seen) <= {("builtin", None), ("fake", "fake-chat"), ("builtin", "builtin-chat")}


def test_memory_is_the_whole_of_it(live: LiveMemory) -> None:
    with live.current() as memory:
        assert isinstance(memory, OpenMind)
        assert memory.home == live.home.folder
