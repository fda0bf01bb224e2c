"""What the standard streams are."""

import io
from pathlib import Path

from openmind_cli.terminal import same_eyes


def test_outputs_that_lead_to_one_place_are_read_by_the_same_eyes(tmp_path: Path) -> None:
    with (
        (tmp_path / "all.txt").open("w") as out,
        (tmp_path / "all.txt").open("w") as same,
        (tmp_path / "errors.txt").open("w") as other,
    ):
        assert same_eyes(out, same)
        assert not same_eyes(out, other)
        assert not same_eyes(out, io.StringIO())
