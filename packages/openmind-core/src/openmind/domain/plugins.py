"""What is known of the installed plugins."""

from attrs import frozen


@frozen(kw_only=True)
class PluginReport:
    """One installed plugin, and what is wrong with it."""

    name: str
    distribution: str
    version: str
    error: str = ""


@frozen
class PluginReports:
    """All installed plugins."""

    reports: tuple[PluginReport, ...] = ()

    @property
    def broken(self) -> tuple[PluginReport, ...]:
        """Those that could not be loaded, or broke a rule."""
        return tuple(report for report in self.reports if report.error)
