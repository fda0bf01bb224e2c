import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "sdk.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_every_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "flat.md").write_text(
        "# The flat\n\nThe landlord wants a rent increase of 40 euros from May.\n"
    )

    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, str(PAGE), "exec"), names)

    printed = capsys.readouterr().out
    assert "1 files" in printed
    assert "ok False" in printed
    assert "flat.md" in printed
    for expected in (
        "1 hit below notes",
        "filtered_out",
        "ended: evidence_only",
        "letters flat.md",
        "1 file\n",
        "{<SearchState.OK: 'ok'>}",
        "source.missing",
    ):
        assert expected in printed
    assert re.search(r"^0 ", printed, re.MULTILINE)
