"""Waiting for what may hang."""

import threading

import pytest
from openmind.application.patience import patiently


class NotNow(Exception):
    pass


def test_the_outcome_comes_back() -> None:
    assert patiently(lambda: 7, while_waiting=lambda: None) == 7


def test_what_the_call_raises_is_raised() -> None:
    def fail() -> None:
        raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        patiently(fail, while_waiting=lambda: None)


def test_a_call_that_hangs_is_left_to_itself() -> None:
    free = threading.Event()
    asked = []

    def lose_patience() -> None:
        asked.append(True)
        if len(asked) == 3:
            raise NotNow

    with pytest.raises(NotNow):
        patiently(lambda: free.wait(60), while_waiting=lose_patience)

    free.set()
    assert len(asked) == 3
