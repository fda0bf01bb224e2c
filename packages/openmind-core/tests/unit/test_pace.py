"""How fast a run goes, and how long the rest will take."""

from openmind.domain.jobs import IndexTally
from openmind.domain.pace import Pace, Stretch, pace_of


def read(indexed: int, *, already: int = 0, total: int = 1_000) -> IndexTally:
    return IndexTally(indexed=indexed, already_indexed=already, total=total)


def test_a_rate_is_taken_from_one_count_to_another_since_files_are_counted_many_at_a_time() -> None:
    stretch = Stretch()

    rates = [
        stretch.per_second(read(indexed), at)
        for indexed, at in ((0, 100.0), (0, 101.0), (0, 110.0), (200, 120.0), (200, 129.0), (400, 140.0), (400, 150.0))
    ]

    assert rates == [0.0, 0.0, 0.0, 10.0, 10.0, 10.0, 10.0]


def test_the_first_rate_after_a_pause_is_that_of_the_work_since_then() -> None:
    stretch = Stretch()
    stretch.per_second(read(0), 0.0)
    assert stretch.per_second(read(300), 30.0) == 10.0

    stretch.end()
    rates = [stretch.per_second(read(indexed), at) for indexed, at in ((300, 900.0), (300, 905.0), (310, 910.0))]

    assert rates == [0.0, 0.0, 1.0]


def test_files_that_needed_no_reading_promise_no_haste() -> None:
    stretch = Stretch()
    stretch.per_second(read(0, already=800), 0.0)

    rate = stretch.per_second(read(50, already=850), 10.0)

    assert rate == 5.0
    assert pace_of(read(50, already=850), rate) == Pace(files_per_s=5.0, seconds_left=20.0)


def test_a_rate_of_the_first_moments_is_not_told() -> None:
    stretch = Stretch()
    stretch.per_second(read(0), 0.0)

    assert stretch.per_second(read(90), 1.0) == 0.0
    assert stretch.per_second(read(90), 9.0) == 0.0
    assert stretch.per_second(read(100), 10.0) == 10.0


def test_what_was_fast_long_ago_says_nothing_about_now() -> None:
    stretch = Stretch()
    stretch.per_second(read(0), 0.0)
    for minute in range(1, 4):
        stretch.per_second(read(600), 60.0)
        rate = stretch.per_second(read(600 + minute), 60.0 * (minute + 1))

    assert rate == 1 / 60


def test_a_long_silence_makes_the_rate_smaller() -> None:
    stretch = Stretch()
    stretch.per_second(read(0), 0.0)
    stretch.per_second(read(100), 10.0)

    assert stretch.per_second(read(100), 130.0) == 1.0


def test_vectors_that_follow_have_a_rate_of_their_own() -> None:
    stretch = Stretch()
    stretch.per_second(read(0), 0.0)
    stretch.per_second(read(1_000), 10.0)

    def embedded(made: int) -> IndexTally:
        return IndexTally(indexed=1_000, total=1_000, vectors_wanted=500, vectors_made=made)

    rates = [stretch.per_second(embedded(made), at) for made, at in ((0, 11.0), (100, 15.0))]

    assert rates == [0.0, 25.0]
    assert pace_of(embedded(100), 25.0) == Pace(vectors_per_s=25.0, seconds_left=16.0)


def test_nothing_is_foretold_without_a_rate_or_without_a_rest() -> None:
    assert pace_of(read(10), 0.0) is None
    assert pace_of(read(1_000), 5.0) is None
