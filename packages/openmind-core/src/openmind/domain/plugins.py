"""What is known of the installed plugins."""

from collections.abc import Mapping

from attrs import frozen

OURS = frozenset(f"openmind-{part}" for part in ("core", "stores", "wordllama", "lmstudio", "extractors", "cli", "api"))
"""The packages of OpenMind itself. They register like any other, but first: no stranger can take a name of theirs."""
THIS_PROGRAM = "this program"
"""Who registers what no package does: the program that uses OpenMind as a library."""


def provider_of(name: str, package: str = "") -> str:
    """Name a provider as a part of a sentence; its package where that is neither ours nor unknown."""
    return _named("provider", name, package)


def engine_of(name: str, package: str = "") -> str:
    """Name an OCR engine in the same way."""
    return _named("OCR engine", name, package)


def plugin_of(name: str, package: str) -> str:
    """Name a plugin in the same way."""
    return _named("plugin", name, package)


def _named(kind: str, name: str, package: str) -> str:
    told = f"the {kind} “{name}”"
    return f"{told} of the package {package}" if package and package not in {*OURS, THIS_PROGRAM} else told


@frozen(kw_only=True)
class HookCall:
    """One hook of one plugin, as it was called."""

    hook: str
    added: tuple[str, ...] = ()
    """The names it registered."""
    milliseconds: float = 0.0
    """CPU time."""


@frozen(kw_only=True)
class PluginReport:
    """One installed plugin, and what is wrong with it."""

    name: str
    """Of its entry point."""
    distribution: str
    version: str
    error: str = ""
    """What is wrong, as a sentence; nothing of a plugin with an error is used."""
    blocked: bool = False
    """Whether it was left out because somebody said so."""
    import_milliseconds: float = 0.0
    """CPU time that its import took."""
    calls: tuple[HookCall, ...] = ()

    @property
    def is_used(self) -> bool:
        return not (self.error or self.blocked)


@frozen
class PluginReports:
    """All installed plugins."""

    reports: tuple[PluginReport, ...] = ()

    @property
    def broken(self) -> tuple[PluginReport, ...]:
        """Those that could not be loaded, or broke a rule."""
        return tuple(report for report in self.reports if report.error)


def names_blocked(plugins: Mapping[str, object]) -> frozenset[str]:
    """The names that `[plugins] blocked` leaves out, whether or not the rest of the section is right."""
    blocked = plugins.get("blocked")
    return frozenset(map(str, blocked)) if isinstance(blocked, list) else frozenset()
