"""What every chat model promises."""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, runtime_checkable

import pytest

from openmind.domain.answers import AnswerProgress, AnswerReasoning, AnswerText
from openmind.domain.errors import AnswerIncomplete, ContextOverflow, ProviderError, ProviderUnreachable
from openmind.ports.answer_provider import AnswerProvider, Prompt, Reply

QUESTION = Prompt(system="Answer from the excerpts.", user="[1] The well is dry.\n\nHow is the well?")
THOUGHTFUL = Prompt(system=QUESTION.system, user=QUESTION.user, reasoning=True)


@runtime_checkable
class Closable(Protocol):
    """What an answer that is read must be."""

    def close(self) -> None: ...


class AnswerProviderContract:
    """Subclass in an adapter's tests and give the fixtures; every promise is checked.

    `answerer` answers any question in several pieces, and thinks `thoughts` first when it is asked to. The others fail
    at every question: `unreachable` has no server, `overflowing` finds every prompt too long, `breaking` ends in the
    middle of its answer, `silent` ends without a word.
    """

    def test_it_names_its_model(self, answerer: AnswerProvider) -> None:
        assert answerer.model

    def test_it_knows_how_much_fits(self, answerer: AnswerProvider) -> None:
        assert answerer.context_chars() > 0

    def test_pieces_come_first_and_one_reply_with_the_whole_text_last(self, answerer: AnswerProvider) -> None:
        *pieces, last = (event for event in answerer.stream(QUESTION) if not isinstance(event, AnswerProgress))

        assert all(isinstance(piece, AnswerText) for piece in pieces)
        assert isinstance(last, Reply)
        assert last.text == "".join(piece.text for piece in pieces if isinstance(piece, AnswerText))
        assert last.text.strip()

    def test_progress_is_a_share_and_comes_before_the_first_word(self, answerer: AnswerProvider) -> None:
        events = list(answerer.stream(QUESTION))
        told = [at for at, event in enumerate(events) if isinstance(event, AnswerProgress)]
        shares = [event.share for event in events if isinstance(event, AnswerProgress)]

        assert told == list(range(len(told)))
        assert all(0 <= share <= 1 for share in shares)

    def test_it_thinks_aloud_only_when_it_is_asked_to(self, answerer: AnswerProvider, thoughts: str) -> None:
        events = list(answerer.stream(THOUGHTFUL))

        assert "".join(event.text for event in events if isinstance(event, AnswerReasoning)).strip() == thoughts
        assert not any(isinstance(event, AnswerReasoning) for event in answerer.stream(QUESTION))

    def test_thoughts_are_never_part_of_the_answer(self, answerer: AnswerProvider, thoughts: str) -> None:
        for prompt in (QUESTION, THOUGHTFUL):
            texts = [event.text for event in answerer.stream(prompt) if isinstance(event, AnswerText | Reply)]

            assert not any(thoughts in text for text in ("".join(texts[:-1]), texts[-1]))

    def test_what_is_not_kept_cannot_be_continued(self, answerer: AnswerProvider) -> None:
        *_, last = answerer.stream(QUESTION)

        assert isinstance(last, Reply)
        assert last.continuation is None

    def test_what_is_kept_can_be_followed_up(self, answerer: AnswerProvider) -> None:
        *_, first = answerer.stream(Prompt(system=QUESTION.system, user=QUESTION.user, keep=True))
        assert isinstance(first, Reply)

        follow_up = Prompt(system="", user="And the river?", keep=True, previous=first.continuation)
        *_, second = answerer.stream(follow_up)

        assert isinstance(second, Reply)
        assert second.text.strip()

    def test_closing_it_early_is_harmless(self, answerer: AnswerProvider) -> None:
        stream = answerer.stream(QUESTION)
        next(stream)
        assert isinstance(stream, Closable)
        stream.close()

        *_, last = answerer.stream(QUESTION)

        assert isinstance(last, Reply)

    def test_threads_share_it(self, answerer: AnswerProvider) -> None:
        with ThreadPoolExecutor(4) as pool:
            lasts = list(pool.map(lambda _: list(answerer.stream(QUESTION))[-1], range(8)))

        assert all(isinstance(last, Reply) and last.text.strip() for last in lasts)

    def test_without_a_server_nothing_is_said(self, unreachable: AnswerProvider) -> None:
        with pytest.raises(ProviderUnreachable):
            next(unreachable.stream(QUESTION))

    def test_a_prompt_that_does_not_fit_is_told(self, overflowing: AnswerProvider) -> None:
        with pytest.raises(ContextOverflow):
            list(overflowing.stream(QUESTION))

    def test_an_answer_that_breaks_off_is_told_after_its_text(self, breaking: AnswerProvider) -> None:
        stream = breaking.stream(QUESTION)

        assert isinstance(next(stream), AnswerText)
        with pytest.raises(AnswerIncomplete):
            assert not any(isinstance(event, Reply) for event in stream)

    def test_silence_is_no_answer(self, silent: AnswerProvider) -> None:
        with pytest.raises(ProviderError):
            list(silent.stream(QUESTION))
