from openmind.application.recent_measure import RecentMeasure


def test_what_was_measured_a_moment_ago_is_not_measured_again() -> None:
    times, found = iter([0.0, 4.9, 5.0]), iter([10, 20])
    size = RecentMeasure(lambda: next(found), for_s=5.0, clock=lambda: next(times))

    assert [size.found() for _ in range(3)] == [10, 10, 20]
