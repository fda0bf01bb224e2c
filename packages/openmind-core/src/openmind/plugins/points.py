"""The entry points that name plugins, and what is wrong with the packages that bring them."""

from collections.abc import Iterable
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points

from openmind.domain.foreign_errors import named
from openmind.domain.plugins import PluginReport
from openmind.domain.sentences import as_message
from openmind.plugins.hookspecs import GROUP


def installed_points(
    packages: Iterable[Distribution] | None = None,
) -> tuple[tuple[EntryPoint, ...], tuple[PluginReport, ...]]:
    """Find the entry points of this environment, and the packages whose entry points nobody can read.

    Args:
        packages: those to look through instead, one by one; for tests.
    """
    if packages is None:
        try:
            return tuple(entry_points(group=GROUP)), ()
        except Exception:  # noqa: BLE001  one package has spoilt it for all: looked at one by one, it is found
            packages = distributions()
    points, broken = list[EntryPoint](), list[PluginReport]()
    seen = set[str]()
    for package in packages:
        name, version = _name_of(package)
        if name and name in seen:
            continue  # it is installed twice, and the first one is what is imported
        seen.add(name)
        try:
            points += package.entry_points.select(group=GROUP)
        except Exception as error:  # noqa: BLE001  a stranger's file: whatever is wrong with it is its report
            where = name or str(package.locate_file(""))
            told = as_message(f"its entry_points.txt cannot be read ({named(error)}); install that package again")
            broken.append(PluginReport(name=where, distribution=where, version=version, error=told))
    return tuple(points), tuple(broken)


def describe(point: EntryPoint) -> PluginReport:
    """Say what plugin an entry point names; what is wrong with it before it is imported is its error."""
    name, version = _name_of(point.dist) if point.dist else (point.name, "")
    error = ""
    if not name:
        place = point.dist.locate_file("") if point.dist else ""
        error = (
            f"its package has no name: the METADATA of it is missing in {place}, as after an installation or a removal "
            "that was broken off. Install it again, or remove what is left of it"
        )
    elif not EntryPoint.pattern.match(point.value):
        error = f"its entry point is “{point.value[:80]}” and neither “module” nor “module:attribute”"
    return PluginReport(name=point.name, distribution=name or point.name, version=version, error=as_message(error))


def _name_of(package: Distribution) -> tuple[str, str]:
    """The name and the version of a package; empty where they cannot be had."""
    try:
        return str(package.metadata["Name"] or ""), str(package.metadata["Version"] or "")
    except Exception:  # noqa: BLE001  without METADATA each version of Python fails in its own way
        return "", ""
