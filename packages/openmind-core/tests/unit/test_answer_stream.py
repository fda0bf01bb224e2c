"""An answer that one thread reads and another ends."""

import threading
from collections.abc import Generator, Iterator

import pytest
from openmind.application.asking.answer_stream import AnswerStream, Line
from openmind.domain.answers import AnswerText


class Patient:
    """Words that never come, until somebody hangs up."""

    def __init__(self) -> None:
        self.hung_up = threading.Event()
        self.waiting = threading.Event()

    def __iter__(self) -> Iterator[AnswerText]:
        return self

    def __next__(self) -> AnswerText:
        self.waiting.set()
        self.hung_up.wait(120)
        raise StopIteration

    def close(self) -> None:
        self.hung_up.set()


def stream_of(words: Iterator[AnswerText], closed: list[str]) -> AnswerStream:
    line = Line()

    def events() -> Generator[AnswerText, None, None]:
        try:
            yield AnswerText("begun ")
            yield from line.listen(words)
        finally:
            closed.append("events")

    return AnswerStream(events(), line)


def test_an_answer_is_read_to_its_end() -> None:
    closed: list[str] = []

    found = list(stream_of(iter([AnswerText("one"), AnswerText("two")]), closed))

    assert [event.text for event in found] == ["begun ", "one", "two"]
    assert closed == ["events"]


def test_closing_between_two_words_ends_it() -> None:
    closed: list[str] = []
    stream = stream_of(iter([AnswerText("one"), AnswerText("two")]), closed)
    next(stream)
    next(stream)

    stream.close()

    assert closed == ["events"]
    with pytest.raises(StopIteration):
        next(stream)
    stream.close()


def test_closing_before_the_first_word_asks_no_model() -> None:
    asked: list[str] = []

    def words() -> Iterator[AnswerText]:
        asked.append("asked")
        yield AnswerText("never")

    stream = stream_of(words(), [])

    stream.close()

    assert list(stream) == []
    assert asked == []


def test_another_thread_ends_the_wait_for_a_word() -> None:
    closed: list[str] = []
    words = Patient()
    stream = stream_of(words, closed)
    found: list[AnswerText] = []
    reader = threading.Thread(target=lambda: found.extend(stream))
    reader.start()
    assert words.waiting.wait(60)

    stream.close()
    assert words.hung_up.is_set(), "else closing would wait for the next word"
    reader.join(60)

    assert not reader.is_alive()
    assert [event.text for event in found] == ["begun "]
    assert closed == ["events"]


def test_a_plain_generator_ends_with_its_next_word() -> None:
    closed: list[str] = []
    waiting, go_on = threading.Event(), threading.Event()

    def words() -> Iterator[AnswerText]:
        try:
            waiting.set()
            go_on.wait(60)
            yield AnswerText("one")
            yield AnswerText("two")
        finally:
            closed.append("words")

    stream = stream_of(words(), closed)
    found: list[AnswerText] = []
    reader = threading.Thread(target=lambda: found.extend(stream))
    reader.start()
    assert waiting.wait(60)

    stream.close()
    assert closed == []
    go_on.set()
    reader.join(60)

    assert closed == ["words", "events"]
    assert [event.text for event in found] == ["begun ", "one"]
