"""Every setting is documented."""

from pathlib import Path

import pytest
from openmind.bootstrap import open_settings

DOCS = Path(__file__).parents[4] / "docs" / "cli.md"


@pytest.mark.parametrize("key", open_settings(Path("nowhere")).all())
def test_every_setting_is_documented(key: str) -> None:
    assert f"\n| `{key}` |" in DOCS.read_text(encoding="utf-8")
