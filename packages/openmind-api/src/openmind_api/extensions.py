"""Routes that other packages add below /api/v1/x. A broken one is named and left out; the others are served."""

import importlib
from collections.abc import Iterator, Mapping
from typing import cast

from attrs import frozen
from litestar import Litestar, Router
from litestar.di import NamedDependency, Provide
from litestar.params import SkipValidation
from litestar.types import ControllerRouterHandler
from openmind.application.lookout import Lookout, Wait, shared_lookout
from openmind.application.memory import OpenMind
from openmind.domain.foreign_errors import named
from openmind.domain.plugins import plugin_of
from openmind.live import LiveMemory
from openmind.plugins.registries import Registered

from openmind_api.errors import PACKAGE

PREFIX = "/x"


@frozen(kw_only=True)
class Extensions:
    """What other packages added."""

    routers: tuple[Router, ...] = ()
    broken: tuple[str, ...] = ()
    """A sentence for each that cannot be served."""


def load_extensions(
    entries: Mapping[str, Registered[str]], dependencies: Mapping[str, Provide], lookout: Lookout | None = None
) -> Extensions:
    """Import what was registered. Each is tried in an application of its own, so that it cannot spoil ours.

    Args:
        entries: the routers, as they were registered.
        dependencies: what handlers may ask for.
        lookout: tells of those that take long.
    """
    routers, broken = list[Router](), list[str]()
    watching = lookout or shared_lookout()
    for entry in entries.values():
        try:
            with watching.over(_wait(entry)):
                router = _router(entry)
                Litestar([router], dependencies=dict(dependencies), openapi_config=None, logging_config=None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  a stranger's code: whatever it raises is its report
            broken.append(
                f"The routes “{entry.name}” of the package {entry.distribution} cannot be served ({named(error)})"
            )
        else:
            routers.append(router)
    return Extensions(routers=tuple(routers), broken=tuple(broken))


def _wait(entry: Registered[str]) -> Wait:
    whom = plugin_of(entry.plugin, entry.distribution)
    return Wait(whom, f"the import of its routes “{entry.name}”", entry.plugin)


def _router(entry: Registered[str]) -> Router:
    module, _, attribute = entry.value.partition(":")
    handler = cast(ControllerRouterHandler, getattr(importlib.import_module(module), attribute))
    memory = Provide(borrowed_memory)
    return Router(
        f"{PREFIX}/{entry.name}",
        route_handlers=[handler],
        dependencies={"memory": memory},
        opt={PACKAGE: entry.distribution},
    )


def borrowed_memory(live: NamedDependency[SkipValidation[LiveMemory]]) -> Iterator[OpenMind]:
    """Give a handler the memory as it is configured now, for as long as it works."""
    with live.current() as memory:
        yield memory
