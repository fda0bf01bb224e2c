import pytest
from openmind.domain.answers import AnswerReasoning, AnswerText
from openmind.domain.errors import ProviderError, ProviderUnreachable
from openmind.ports.answer_provider import Prompt, Reply
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind.testing.fakes.models import FakeAnswers, FakeEmbeddings, FakeProvider

PROMPT = Prompt(system="Answer.", user="What is it?")


class TestFakeEmbeddings(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self) -> FakeEmbeddings:
        return FakeEmbeddings()


class TestFakeProvider(ModelProviderContract):
    @pytest.fixture
    def provider(self) -> FakeProvider:
        return FakeProvider()


class TestFakeProviderWithChat(ModelProviderContract):
    @pytest.fixture
    def provider(self) -> FakeProvider:
        return FakeProvider(answers=FakeAnswers())


def test_shared_words_bring_fake_vectors_together() -> None:
    cat, other_cat, moon = (
        FakeEmbeddings().embed(["the small cat sleeps", "a small cat", "orbit of moons"], role="passage").rows()
    )

    def cosine(one: list[float], other: list[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert cosine(cat, other_cat) > 0.3 > cosine(cat, moon)


def test_a_fake_embedder_counts_what_it_embeds() -> None:
    embedder = FakeEmbeddings()

    embedder.embed(["one", "two"], role="passage")
    embedder.embed(["three"], role="query")

    assert embedder.calls == 2
    assert embedder.embedded == ["one", "two", "three"]


def test_a_fake_embedder_fails_when_told_to() -> None:
    with pytest.raises(ProviderUnreachable):
        FakeEmbeddings(error=ProviderUnreachable("down")).embed(["one"], role="query")


def test_a_fake_chat_model_follows_its_script_and_ends_with_the_whole_text() -> None:
    model = FakeAnswers(script=["First turn.", "Second."])

    first, second = list(model.stream(PROMPT)), list(model.stream(PROMPT))

    assert first == [AnswerText("First "), AnswerText("turn."), Reply("First turn.")]
    assert second[-1] == Reply("Second.")
    assert model.prompts == [PROMPT, PROMPT]


def test_a_fake_chat_model_breaks_off_where_its_script_does() -> None:
    model = FakeAnswers(script=[["Half an", ProviderError("gone")]])
    stream = model.stream(PROMPT)

    assert [next(stream), next(stream)] == [AnswerText("Half "), AnswerText("an")]
    with pytest.raises(ProviderError):
        next(stream)


def test_a_fake_chat_model_thinks_only_when_asked_to() -> None:
    model = FakeAnswers(thoughts="Hmm.")

    silent = list(model.stream(PROMPT))
    loud = list(model.stream(Prompt(system="", user="", reasoning=True)))

    assert AnswerReasoning("Hmm.") not in silent
    assert loud[0] == AnswerReasoning("Hmm.")


def test_a_fake_chat_model_notices_that_nobody_listens_any_more() -> None:
    model = FakeAnswers(script=["One two three."])
    stream = model.stream(PROMPT)
    next(stream)

    stream.close()  # type: ignore[attr-defined]

    assert model.closed_early == 1
