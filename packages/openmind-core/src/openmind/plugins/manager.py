"""Loads plugins one by one: a broken one is reported and takes nothing else down."""

from importlib.metadata import EntryPoint, entry_points

import pluggy
from attrs import field, frozen

from openmind.domain.errors import OpenMindError
from openmind.domain.plugins import PluginReport
from openmind.plugins import hookspecs
from openmind.plugins.registries import (
    CommandRegistry,
    ExtractorRegistry,
    ProviderRegistry,
    RouteRegistry,
    StoreRegistry,
)


@frozen(kw_only=True)
class Plugins:
    """Everything that plugins registered."""

    extractors: ExtractorRegistry = field(factory=ExtractorRegistry)
    providers: ProviderRegistry = field(factory=ProviderRegistry)
    stores: StoreRegistry = field(factory=StoreRegistry)
    commands: CommandRegistry = field(factory=CommandRegistry)
    routes: RouteRegistry = field(factory=RouteRegistry)
    reports: tuple[PluginReport, ...] = ()

    @property
    def broken(self) -> tuple[PluginReport, ...]:
        return tuple(report for report in self.reports if report.error)


def load_plugins(points: tuple[EntryPoint, ...] | None = None) -> Plugins:
    """Load what is installed in the entry-point group `openmind`, in the order of the names.

    Args:
        points: the entry points to load instead; for tests.
    """
    found = tuple(entry_points(group=hookspecs.GROUP)) if points is None else points
    plugins = Plugins()
    reports = [_load(point, plugins) for point in sorted(found, key=lambda point: point.name)]
    return Plugins(
        extractors=plugins.extractors,
        providers=plugins.providers,
        stores=plugins.stores,
        commands=plugins.commands,
        routes=plugins.routes,
        reports=tuple(reports),
    )


def _load(point: EntryPoint, plugins: Plugins) -> PluginReport:
    """Load one plugin with a manager of its own, so that what it does wrong stays with it."""
    distribution = point.dist.name if point.dist else point.name
    version = point.dist.version if point.dist else ""
    try:
        manager = pluggy.PluginManager(hookspecs.GROUP)
        manager.add_hookspecs(hookspecs)
        manager.register(point.load(), name=point.name)
        manager.check_pending()
        _register(manager, plugins, distribution)
    except OpenMindError as error:
        return PluginReport(name=point.name, distribution=distribution, version=version, error=error.message)
    except Exception as error:  # noqa: BLE001  a stranger's code: whatever it raises is its report
        told = f"{type(error).__name__}: {error}"
        return PluginReport(name=point.name, distribution=distribution, version=version, error=told)
    return PluginReport(name=point.name, distribution=distribution, version=version)


def _register(manager: pluggy.PluginManager, plugins: Plugins, distribution: str) -> None:
    hooks = (
        (manager.hook.openmind_register_extractors, plugins.extractors),
        (manager.hook.openmind_register_providers, plugins.providers),
        (manager.hook.openmind_register_stores, plugins.stores),
        (manager.hook.openmind_register_commands, plugins.commands),
        (manager.hook.openmind_register_routes, plugins.routes),
    )
    for hook, registry in hooks:
        registry.distribution = distribution
        hook(registry=registry)
