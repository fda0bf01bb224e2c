"""Which plugins a home takes in."""

from pathlib import Path

import pytest
from openmind.installed import installed_plugins


def blocked(home: Path) -> list[str]:
    return [report.name for report in installed_plugins(home).reports if report.blocked]


@pytest.mark.parametrize("rest", ["", "[indexing]\nworkers = 'many'\n", "[nonsense]\n"])
def test_what_a_home_leaves_out_is_left_out_whatever_else_is_wrong_with_its_configuration(
    tmp_path: Path, rest: str
) -> None:
    (tmp_path / "config.toml").write_text(f'{rest}[plugins]\nblocked = ["extractors"]\n')

    assert blocked(tmp_path) == ["extractors"]


@pytest.mark.parametrize("text", ["no TOML", "plugins = 3", "[plugins]\nblocked = 'extractors'"])
def test_a_configuration_that_makes_no_sense_leaves_nothing_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)

    assert blocked(tmp_path) == []
