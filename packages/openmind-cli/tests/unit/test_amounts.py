"""Numbers as a person reads them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_cli.render.amounts import between, count, duration, moment, size


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_960, "1.0 MB"), (2_340_000_000, "2.3 GB")]
)
def test_a_size_has_the_unit_that_keeps_it_short(number: int, text: str) -> None:
    assert size(number) == text


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**18))
def test_every_size_is_short(number: int) -> None:
    assert len(size(number)) <= 12


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (0.42, "0.4 s"),
        (9.95, "10 s"),
        (59.4, "59 s"),
        (65, "1 min 05 s"),
        (7_260, "2 h 01 min"),
    ],
)
def test_a_duration_is_rough(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_is_singular() -> None:
    assert count(1, "file") == "1 file"
    assert count(1_200, "file") == "1,200 files"


def test_text_that_is_no_time_stays_as_it_is() -> None:
    assert moment("soon") == "soon"
    assert between("soon", "later") is None
    assert between("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:02+00:00") == 2.0
    assert between("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:02") is None
