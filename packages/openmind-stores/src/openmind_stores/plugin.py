"""Registers local storage with OpenMind."""

from pathlib import Path
from typing import TYPE_CHECKING

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import StoreRegistry

if TYPE_CHECKING:  # the port knows most of the domain, and `openmind --help` nothing of it
    from openmind.ports.storage import Storage


@hookimpl
def openmind_register_stores(registry: StoreRegistry) -> None:
    registry.add("local", _open_local)


def _open_local(home: Path) -> "Storage":
    from openmind_stores.storage import LocalStorage  # waits until storage is asked for

    return LocalStorage(home)
