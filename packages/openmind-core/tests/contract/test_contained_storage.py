"""Storage of another package: contained, it keeps each promise of the port, and breaks none without its name."""

from collections.abc import Callable
from pathlib import Path

import pytest
from openmind.application.lookout import Wait
from openmind.bootstrap.contained_storage import contained_storage, open_storage
from openmind.domain.errors import OpenMindError, PluginError, StoreBusy
from openmind.plugins.registries import StoreRegistry
from openmind.ports.storage import Storage
from openmind.testing.contracts.storage import StorageContract
from openmind.testing.fakes.hanging import Hanging
from openmind.testing.fakes.storage import MemoryStorages


class TestContainedStorage(StorageContract):
    @pytest.fixture
    def make_storage(self) -> Callable[[Path], Storage]:
        storages = MemoryStorages()
        return lambda home: contained_storage(storages.at(home), "acme", "openmind-acme")


class Broken:
    """Storage whose member of one name does what it is told."""

    def __init__(self, home: Path, name: str, way: Callable[[], object]) -> None:
        self._sound = MemoryStorages().at(home)
        self._name, self._way = name, way

    def __getattr__(self, name: str) -> object:
        if name != self._name:
            return getattr(self._sound, name)
        return self._way() if name in {"catalog", "chunks", "archive"} else lambda *_: self._way()


def failing(error: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


class Half:
    """A catalog that can be asked nothing but whether it is tidy."""

    def tidy(self) -> str:
        return "yes"


@pytest.fixture
def broken(tmp_path: Path) -> Callable[..., Storage]:
    def build(name: str, way: Callable[[], object]) -> Storage:
        registry = StoreRegistry()
        registry.let_in("acme", "openmind-acme")
        registry.add("acme", lambda home: Broken(home, name, way))  # type: ignore[arg-type, return-value]  # it is broken
        return open_storage(registry, "acme", tmp_path)

    return build


@pytest.mark.parametrize(
    ("name", "way", "use", "told"),
    [
        (
            "initialise",
            failing(RuntimeError("no disk")),
            lambda it: it.initialise(),
            "`initialise` raised RuntimeError",
        ),
        ("initialise", failing(SystemExit(3)), lambda it: it.initialise(), "raised SystemExit: 3"),
        ("close", failing(OSError("gone")), lambda it: it.close(), "`close` raised OSError: gone"),
        ("catalog", failing(RuntimeError()), lambda it: it.catalog, "`catalog` raised RuntimeError"),
        ("catalog", lambda: None, lambda it: it.catalog, "`catalog` gives NoneType, which has no “journalling”"),
        ("catalog", Half, lambda it: it.catalog, "`catalog` gives Half, which has no “journalling”"),
        ("chunks", lambda: 5, lambda it: it.chunks, "`chunks` gives int, which has no"),
        ("examine", lambda: None, lambda it: it.examine(), "`examine` gives NoneType instead of StorageHealth"),
        ("size_bytes", lambda: "1 MB", lambda it: it.size_bytes(), "`size_bytes` gives str instead of int"),
        ("index_lock", lambda: None, lambda it: it.index_lock(), "gives NoneType instead of AbstractContextManager"),
    ],
)
def test_what_storage_of_another_package_does_wrong_names_it(
    broken: Callable[..., Storage],
    name: str,
    way: Callable[[], object],
    use: Callable[[Storage], object],
    told: str,
) -> None:
    with pytest.raises(PluginError) as caught:
        use(broken(name, way))

    assert caught.value.message.startswith("The store “acme” of openmind-acme is broken: its `")
    assert told in caught.value.message
    assert "`[storage]`" in caught.value.hint


def test_a_session_that_breaks_names_its_storage_and_keeps_the_errors_of_its_user(tmp_path: Path) -> None:
    storage = contained_storage(MemoryStorages().at(tmp_path), "acme", "openmind-acme")
    storage.initialise()

    with pytest.raises(LookupError, match="mine"), storage.catalog.writing():
        raise LookupError("mine")
    with storage.catalog.reading() as snapshot, pytest.raises(PluginError, match="`sources` raised TypeError"):
        snapshot.sources(of="nobody")  # type: ignore[call-arg]


def test_errors_that_storage_is_to_raise_pass(broken: Callable[..., Storage]) -> None:
    busy = StoreBusy("another process writes")

    with pytest.raises(OpenMindError) as caught:
        broken("index_lock", failing(busy)).index_lock()

    assert caught.value is busy


def test_ctrl_c_passes_storage_and_tells_which_one(broken: Callable[..., Storage]) -> None:
    told = "Interrupted while the store “acme” of openmind-acme was at .*; OPENMIND_PLUGINS_BLOCKED=acme leaves it out"
    with pytest.raises(KeyboardInterrupt, match=told):
        broken("examine", failing(KeyboardInterrupt())).examine()


def test_what_is_no_storage_is_refused_when_it_is_made(tmp_path: Path) -> None:
    registry = StoreRegistry()
    registry.let_in("acme", "openmind-acme")
    registry.add("acme", lambda home: None)  # type: ignore[arg-type, return-value]

    with pytest.raises(PluginError, match="its factory gives NoneType, which has no “archive”"):
        open_storage(registry, "acme", tmp_path)


@pytest.mark.parametrize(
    ("name", "what", "use"),
    [
        ("examine", "its `examine`", lambda storage: storage.examine()),
        ("catalog", "its `catalog`", lambda storage: storage.catalog),
    ],
)
def test_storage_that_hangs_is_told_with_the_call_and_the_package(
    tmp_path: Path, name: str, what: str, use: Callable[[Storage], object]
) -> None:
    night = Hanging()

    def hang() -> object:
        night.hang()
        raise StoreBusy("it went on")

    storage = contained_storage(
        Broken(tmp_path, name, hang),  # type: ignore[arg-type]  # it is broken
        "attic",
        "openmind-attic",
        plugin="roof",
        lookout=night.lookout(),
    )

    with pytest.raises(StoreBusy):
        use(storage)

    assert Wait("the store “attic” of openmind-attic", what, "roof").told in night.said
