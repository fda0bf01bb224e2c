"""Whom a run waits for is told, before a person has to guess."""

from threading import Event
from typing import cast

import pytest
from attrs import define, field
from openmind.application.indexing.attention import SLOW_ANSWER_S, Attention, Stopped
from openmind.application.indexing.run_log import RunLog
from openmind.domain.control import Wish

WHOM = "the provider “acme” of the package openmind-acme"


@define
class Told:
    """A log that keeps what it is told, and answers the question once it was told something."""

    answered: Event = field(factory=Event)
    sentences: list[str] = field(factory=list)

    def mend(self, sentence: str) -> None:
        self.sentences.append(sentence)
        self.answered.set()

    def beat(self) -> None:
        """A sign of life."""


@define
class Wants:
    """A control that wants the same all the time."""

    it: Wish

    def wish(self) -> Wish:
        return self.it

    def rest(self) -> None:
        """Never called."""


def attention(log: Told, wish: Wish) -> Attention:
    seconds = iter(range(0, 1_000_000, SLOW_ANSWER_S // 2))
    return Attention(control=Wants(wish), log=cast(RunLog, log), clock=lambda: float(next(seconds)))


def test_a_provider_that_does_not_answer_is_named_with_its_package() -> None:
    log = Told()

    assert attention(log, Wish.GO).patiently(log.answered.wait, whom=WHOM)

    told = f"The provider “acme” of the package openmind-acme has not answered for {SLOW_ANSWER_S} seconds, and is"
    assert log.sentences[0].startswith(told)


def test_a_run_that_is_stopped_while_it_waits_says_for_whom() -> None:
    log = Told()

    with pytest.raises(Stopped):
        attention(log, Wish.STOP).patiently(log.answered.wait, whom=WHOM)

    assert set(log.sentences) == {f"When the run was stopped, it waited for {WHOM}."}
