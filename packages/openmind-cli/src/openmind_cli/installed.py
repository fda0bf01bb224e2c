"""What each installed plugin adds, and where two get into each other's way."""

from collections.abc import Iterator
from typing import Any

from attrs import frozen
from openmind.application.indexing.formats import claims
from openmind.domain.plugins import PluginReport
from openmind.plugins.manager import Plugins
from openmind.plugins.registries import Registry


@frozen
class Installed:
    """An installed plugin."""

    report: PluginReport
    adds: dict[str, list[str]]
    """The names that it registered, by kind; kinds without any are left out."""
    overrides: dict[str, list[str]]
    """Extensions that it reads though others would, by the name of the other extractor."""
    notes: tuple[str, ...]
    """What a person should know of it."""

    def as_object(self, *, trace: bool) -> dict[str, object]:
        """What a program is told."""
        report = self.report
        told: dict[str, object] = {
            "name": report.name,
            "distribution": report.distribution,
            "version": report.version,
            "adds": self.adds,
            "overrides": self.overrides,
            "notes": list(self.notes),
            "blocked": report.blocked,
            "error": report.error or None,
        }
        if trace:
            told["import_ms"] = round(report.import_milliseconds, 1)
            told["calls"] = [
                {"hook": call.hook, "added": list(call.added), "ms": round(call.milliseconds, 1)}
                for call in report.calls
            ]
        return told


def look_at(found: Plugins, *, storage: str) -> list[Installed]:
    """Gather what there is to know of each plugin, in order of name; `storage` is the one that is configured."""
    return [
        Installed(
            report,
            adds=_adds(report.name, found),
            overrides=_overrides(report.name, found),
            notes=(
                *_lost(report.name, found),
                *_replaces_nobody(report.name, found),
                *_keeps_the_memory(report.name, found, storage),
            ),
        )
        if report.is_used  # else it may have the name of one that is
        else Installed(report, adds={}, overrides={}, notes=())
        for report in found.reports
    ]


def names_taken(found: Plugins) -> dict[str, str]:
    """The names of plugins and of what they registered, each with its package."""
    registered = {
        name: entry.distribution for each in _registries(found).values() for name, entry in each.entries.items()
    }
    return registered | {report.name: report.distribution for report in found.reports if report.is_used}


def _registries(found: Plugins) -> dict[str, Registry[Any]]:
    return {
        "extractors": found.extractors,
        "ocr": found.extractors.ocr,
        "providers": found.providers,
        "stores": found.stores,
        "commands": found.commands,
        "routes": found.routes,
    }


def _adds(plugin: str, found: Plugins) -> dict[str, list[str]]:
    names = {
        kind: sorted(name for name, entry in registry.entries.items() if entry.plugin == plugin)
        for kind, registry in _registries(found).items()
    }
    return {kind: listed for kind, listed in names.items() if listed}


def _rivalries(found: Plugins) -> Iterator[tuple[str, str, list[str]]]:
    """Each extension that several extractors want, with who has it and who has not."""
    for extension, rivals in claims(entry.value.info for entry in found.extractors.entries.values()).items():
        if len(rivals) > 1:
            yield extension, rivals[0].name, [rival.name for rival in rivals[1:]]


def _overrides(plugin: str, found: Plugins) -> dict[str, list[str]]:
    entries = found.extractors.entries
    told: dict[str, list[str]] = {}
    for extension, winner, losers in _rivalries(found):
        if entries[winner].plugin == plugin:
            for loser in losers:
                told.setdefault(loser, []).append(extension)
    return told


def _lost(plugin: str, found: Plugins) -> Iterator[str]:
    entries = found.extractors.entries
    for extension, winner, losers in _rivalries(found):
        if entries[winner].plugin == plugin:
            yield f"reads {extension} instead of {', '.join(losers)}"
        for loser in losers:
            if entries[loser].plugin == plugin and entries[winner].plugin != plugin:
                yield f"{extension} is read by {winner} of {entries[winner].distribution}"


def _replaces_nobody(plugin: str, found: Plugins) -> Iterator[str]:
    entries = found.extractors.entries
    for name, entry in entries.items():
        unknown = sorted(entry.value.info.replaces - entries.keys())
        if entry.plugin == plugin and unknown:
            yield f"{name} is to replace {', '.join(unknown)}, and there is no such extractor"


def _keeps_the_memory(plugin: str, found: Plugins, storage: str) -> Iterator[str]:
    """Where there is a choice, which storage is used."""
    entries = found.stores.entries
    if len(entries) > 1 and storage in entries and entries[storage].plugin == plugin:
        yield f"the store {storage} is used"
