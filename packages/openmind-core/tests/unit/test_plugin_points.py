"""Packages that are installed in part, or wrongly: they are named, and no other plugin is lost with them."""

from importlib.metadata import EntryPoint, distributions
from pathlib import Path

import pytest
from openmind.domain.plugins import PluginReport
from openmind.plugins.manager import load_plugins
from openmind.plugins.points import installed_points

METADATA = "Metadata-Version: 2.1\nName: openmind-acme\nVersion: 1.0\n"
GOOD = "Metadata-Version: 2.1\nName: openmind-good\nVersion: 2.0\n"


def install(folder: Path, name: str, entry_points: str | bytes, metadata: str | None) -> None:
    place = folder / f"{name}.dist-info"
    place.mkdir()
    data = entry_points if isinstance(entry_points, bytes) else entry_points.encode()
    (place / "entry_points.txt").write_bytes(data)
    if metadata is not None:
        (place / "METADATA").write_text(metadata)


def points_in(folder: Path) -> tuple[tuple[EntryPoint, ...], tuple[PluginReport, ...]]:
    return installed_points(distributions(path=[str(folder)]))


@pytest.mark.parametrize("metadata", [None, "", "Version: 1.0\n"])
def test_a_package_without_a_name_is_told_as_installed_in_part(metadata: str | None, tmp_path: Path) -> None:
    install(tmp_path, "openmind_acme-1.0", "[openmind]\nacme = no_matter\n", metadata)

    points, unreadable = points_in(tmp_path)
    [report] = load_plugins(points).reports

    assert not unreadable
    assert (report.name, report.distribution) == ("acme", "acme")
    assert report.error.startswith("Its package has no name: the METADATA of it is missing in ")
    assert str(tmp_path) in report.error
    [blocked] = load_plugins(points, blocked=["acme"]).reports
    assert (blocked.blocked, blocked.error) == (True, "")


def test_an_entry_point_that_names_no_module_is_shown(tmp_path: Path) -> None:
    install(tmp_path, "openmind_acme-1.0", "[openmind]\nacme = !!! ???\n", METADATA)

    [report] = load_plugins(points_in(tmp_path)[0]).reports

    assert (report.distribution, report.version) == ("openmind-acme", "1.0")
    assert report.error == "Its entry point is “!!! ???” and neither “module” nor “module:attribute”"


@pytest.mark.parametrize("text", ["[openmind]\nacme\n", b"[openmind]\nacme = caf\xe9\n"])
def test_entry_points_that_nobody_can_read_hide_no_other_package(
    text: str | bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "openmind_acme-1.0", text, METADATA)
    install(tmp_path, "openmind_good-2.0", "[openmind]\ngood = no_matter\n", GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))

    points, [report] = installed_points()

    assert {"good", "cli"} <= {point.name for point in points}
    assert report.distribution == "openmind-acme"
    assert report.error.startswith("Its entry_points.txt cannot be read (")
