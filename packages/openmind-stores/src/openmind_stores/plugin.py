"""Registers local storage with OpenMind."""

from pathlib import Path

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import StoreRegistry
from openmind.ports.storage import Storage


@hookimpl
def openmind_register_stores(registry: StoreRegistry) -> None:
    registry.add("local", _open_local)


def _open_local(home: Path) -> Storage:
    from openmind_stores.storage import LocalStorage  # waits until storage is asked for

    return LocalStorage(home)
