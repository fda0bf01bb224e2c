"""The settings are documented as they are."""

import re
from pathlib import Path

import pytest
from openmind.bootstrap import open_settings

DOCS = Path(__file__).parents[4] / "docs" / "cli.md"
SETTINGS = open_settings(Path("nowhere")).all()
TABLE = DOCS.read_text(encoding="utf-8").split("\n| setting | default | meaning |\n", 1)[1].split("\n\n", 1)[0]


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_is_documented_with_its_default(key: str) -> None:
    value = SETTINGS[key]
    default = "none" if value is None else str(value).lower()

    assert re.search(rf"^\| `{re.escape(key)}` \| `?{re.escape(default)}`? \|", TABLE, re.MULTILINE)


def test_every_setting_that_is_documented_exists() -> None:
    assert set(re.findall(r"^\| `(.+?)` \|", TABLE, re.MULTILINE)) == set(SETTINGS)
