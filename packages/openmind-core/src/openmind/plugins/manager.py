"""Loads plugins one by one: a broken one is reported and takes nothing else down."""

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint

import pluggy
from attrs import evolve, field, frozen

from openmind.application.lookout import BLOCKED_VARIABLE, Lookout, Wait, shared_lookout
from openmind.application.prints import prints_apart
from openmind.domain.errors import OpenMindError
from openmind.domain.foreign_errors import named
from openmind.domain.plugins import OURS, THIS_PROGRAM, HookCall, PluginReport, plugin_of
from openmind.domain.sentences import as_message
from openmind.plugins import hookspecs
from openmind.plugins.implementations import check_implementations
from openmind.plugins.points import describe, installed_points
from openmind.plugins.registries import (
    AnyRegistry,
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

    def by_hook(self) -> dict[str, AnyRegistry]:
        """The registry that each hook fills."""
        return {
            "openmind_register_extractors": self.extractors,
            "openmind_register_providers": self.providers,
            "openmind_register_stores": self.stores,
            "openmind_register_commands": self.commands,
            "openmind_register_routes": self.routes,
        }


def load_plugins(
    points: tuple[EntryPoint, ...] | None = None, *, blocked: Collection[str] = (), lookout: Lookout | None = None
) -> Plugins:
    """Load what is installed in the entry-point group `openmind`: OpenMind's own first, each lot by name.

    Args:
        points: the entry points to load instead; for tests.
        blocked: names of plugins, or of their packages, that are left out, beside those of
            `$OPENMIND_PLUGINS_BLOCKED`. Nothing of a blocked plugin is imported.
        lookout: tells of plugins that take long.
    """
    watching = lookout or shared_lookout()
    found, unreadable = installed_points() if points is None else (points, ())
    unwanted = {name.strip() for name in os.environ.get(BLOCKED_VARIABLE, "").split(",")} | set(blocked)
    plugins = Plugins()
    reports = [evolve(each, blocked=True, error="") if each.distribution in unwanted else each for each in unreadable]
    holders: dict[str, str] = {}
    described = [(describe(point), point) for point in found]
    for report, point in sorted(described, key=lambda each: (each[0].distribution not in OURS, each[0].name)):
        if report.distribution in unwanted:
            reports.append(evolve(report, blocked=True, error=""))
        elif report.name in holders:
            reports.append(evolve(report, error=report.error or _taken(report.name, holders[report.name])))
        elif report.name in unwanted:
            holders[report.name] = report.distribution
            reports.append(evolve(report, blocked=True, error=""))
        elif report.error:
            reports.append(report)
        else:
            holders[report.name] = report.distribution
            with prints_apart():
                reports.append(_load(point, report, plugins, watching))
    for registry in plugins.by_hook().values():
        registry.let_in("", THIS_PROGRAM)
    return evolve(plugins, reports=tuple(sorted(reports, key=lambda report: report.name)))


def _taken(name: str, holder: str) -> str:
    return as_message(
        f"its entry point has the name “{name}”, which is that of the package {holder}; nothing of it was imported. "
        f"It needs another name, or {holder} is left out by the name of its package"
    )


def _load(point: EntryPoint, report: PluginReport, plugins: Plugins, lookout: Lookout) -> PluginReport:
    """Load one plugin with a manager of its own, so that what it does wrong stays with it."""
    started = time.process_time()
    try:
        with _waited_for(report, "its import", lookout):
            module = point.load()
        imported = (time.process_time() - started) * 1000
        check_implementations(module)
        manager = pluggy.PluginManager(hookspecs.GROUP)
        manager.add_hookspecs(hookspecs)
        manager.register(module, name=point.name)
        manager.check_pending()
        return evolve(report, import_milliseconds=imported, calls=_register(manager, plugins, report, lookout))
    except KeyboardInterrupt:
        raise
    except OpenMindError as error:
        told = error.message
    except BaseException as error:  # noqa: BLE001  a stranger's code: whatever it raises is its report
        told = named(error)
    for registry in plugins.by_hook().values():
        registry.withdraw(report.name)
    return evolve(report, error=told)


def _register(
    manager: pluggy.PluginManager, plugins: Plugins, report: PluginReport, lookout: Lookout
) -> tuple[HookCall, ...]:
    """Call the hooks that a plugin has."""
    calls = []
    for name, registry in plugins.by_hook().items():
        hook: Callable[..., object] = getattr(manager.hook, name)
        if not getattr(manager.hook, name).get_hookimpls():
            continue
        started = time.process_time()
        registry.let_in(report.name, report.distribution)
        with _waited_for(report, f"its hook `{name}`", lookout):
            hook(registry=registry)
        spent = (time.process_time() - started) * 1000
        calls.append(HookCall(hook=name, added=registry.added_by(report.name), milliseconds=spent))
    return tuple(calls)


@contextmanager
def _waited_for(report: PluginReport, what: str, lookout: Lookout) -> Iterator[None]:
    """Say who is waited for when a plugin of another package takes long, and at Ctrl-C."""
    if report.distribution in OURS:
        yield
        return
    with lookout.over(Wait(plugin_of(report.name, report.distribution), what, report.name)):
        yield
