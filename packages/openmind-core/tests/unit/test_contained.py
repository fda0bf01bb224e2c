"""Providers of other packages: whatever they do wrong is an error that names them."""

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from threading import Event, Thread

import pytest
from attrs import evolve
from openmind.application.models.contained import Blame, ContainedProvider
from openmind.application.models.own_embedder import identity_of
from openmind.domain.answers import AnswerText
from openmind.domain.errors import OpenMindError, PassageRefused, ProviderError, UsageError
from openmind.domain.models import EmbeddingRole, RetrievalProfile
from openmind.domain.plugins import THIS_PROGRAM
from openmind.domain.vectors import Vectors
from openmind.ports.answer_provider import Prompt, Reply
from openmind.testing.contracts.embedding_provider import EmbeddingProviderContract
from openmind.testing.contracts.model_provider import ModelProviderContract
from openmind.testing.fakes.images import FakeDescriber
from openmind.testing.fakes.models import FAKE_IDENTITY, FakeAnswers, FakeEmbeddings, FakeProvider

BLAME = Blame("acme", "openmind-acme")
QUESTION = Prompt(system="", user="How is the well?")


def contained(provider: object) -> ContainedProvider:
    return ContainedProvider(provider, BLAME)  # type: ignore[arg-type]


class TestAGoodProvider(ModelProviderContract):
    @pytest.fixture
    def provider(self) -> ContainedProvider:
        return contained(FakeProvider(answers=FakeAnswers()))


class TestItsEmbedder(EmbeddingProviderContract):
    @pytest.fixture
    def embedder(self) -> object:
        return contained(FakeProvider()).embedder("fake-embedder")


def test_an_embedder_goes_by_the_names_that_the_configuration_has_for_it() -> None:
    identity = contained(FakeProvider()).embedder("fake-embedder").identity

    assert (identity.provider, identity.model) == ("acme", "fake-embedder")


class Embeds(FakeEmbeddings):
    """An embedder that answers with what it is told to."""

    answer: Callable[[Sequence[str]], object]

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        return self.answer(texts)  # type: ignore[return-value]


def rows(count: int, *first: float) -> Vectors:
    return Vectors.from_rows([[*first, *[0.0] * (64 - len(first))]] * count, 64)


def fails(error: BaseException) -> object:
    raise error


class Unspeakable(Exception):
    """An error that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError("not even that")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda texts: None, "NoneType and not Vectors"),
        (lambda texts: [[1.0] * 64 for _ in texts], "list and not Vectors"),
        (lambda texts: rows(len(texts) - 1, 1.0), "gives 1 vector for 2 texts"),
        (lambda texts: Vectors.from_rows([[1.0]] * len(texts), 1), "vectors of 1 numbers, not of 64"),
        (lambda texts: rows(len(texts), math.nan), "a vector of length nan"),
        (lambda texts: rows(len(texts), math.inf), "a vector of length inf"),
        (lambda texts: rows(len(texts), 0.0), "a vector of length 0"),
        (lambda texts: rows(len(texts), 3.0), "a vector of length 3"),
        (lambda texts: fails(RuntimeError("boom")), "it raised RuntimeError: boom"),
        (lambda texts: fails(SystemExit(4)), "it raised SystemExit: 4"),
        (lambda texts: fails(GeneratorExit()), "it raised GeneratorExit"),
        (lambda texts: fails(BaseException("panicked")), "it raised BaseException: panicked"),
        (lambda texts: fails(Unspeakable()), "it raised Unspeakable"),
        (lambda texts: fails(PassageRefused("too odd", index=7)), "refuses text 7 of 2"),
    ],
)
def test_vectors_that_are_wrong_are_never_kept(answer: Callable[[Sequence[str]], object], told: str) -> None:
    inner = Embeds()
    inner.answer = answer  # type: ignore[method-assign]
    embedder = contained(FakeProvider(embeddings=inner)).embedder("fake-embedder")

    with pytest.raises(ProviderError, match="The provider “acme” of the package openmind-acme is broken") as caught:
        embedder.embed(["one", "two"], role="passage")

    assert told in caught.value.message


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"dimension": "256"}, "has the dimension '256', which is no whole number"),
        ({"dimension": True}, "has the dimension True, which is no whole number"),
        ({"dimension": 0}, "has the dimension 0, and 1 to 32,768 is possible"),
        ({"dimension": 10**9}, "has the dimension 1,000,000,000, and 1 to 32,768 is possible"),
        ({"prompt_version": None}, "has the prompt_version None, which is no whole number"),
        ({"revision": None}, "has the revision None, which is no text"),
        ({"provider": ""}, "lacks the name of its provider"),
    ],
)
def test_an_identity_that_cannot_be_is_told_before_anything_is_made_by_it(
    changes: dict[str, object], told: str
) -> None:
    inner = FakeEmbeddings(identity=evolve(FAKE_IDENTITY, **changes))  # type: ignore[arg-type]
    embedder = contained(FakeProvider(embeddings=inner)).embedder("fake-embedder")

    for use in (lambda: embedder.identity, lambda: embedder.embed(["one"], role="query")):
        with pytest.raises(
            ProviderError, match="“acme” of the package openmind-acme is broken: the identity"
        ) as caught:
            use()
        assert told in caught.value.message
    with pytest.raises(UsageError, match=re.escape(told)):
        identity_of(inner)


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        (FakeEmbeddings(max_input_chars=0), "longest input of the embedder is 0, which is no whole number from 1"),
        (FakeEmbeddings(max_input_chars=True), "is True, which is no whole number from 1"),
        (
            FakeEmbeddings(profile=RetrievalProfile(words_weight=math.nan)),
            "has the words_weight nan, which is no number from 0 to 1",
        ),
        (
            FakeEmbeddings(profile=RetrievalProfile(cosine_floor="0.5")),  # type: ignore[arg-type]
            "has the cosine_floor '0.5', which is no number from -1 to 1",
        ),
    ],
)
def test_what_an_embedder_says_of_itself_is_looked_at(inner: FakeEmbeddings, told: str) -> None:
    embedder = contained(FakeProvider(embeddings=inner)).embedder("fake-embedder")

    with pytest.raises(ProviderError, match=re.escape(told)):
        _ = embedder.max_input_chars, embedder.profile


def test_an_embedder_that_says_it_takes_nothing_is_told_with_a_query_too() -> None:
    embedder = contained(FakeProvider(embeddings=FakeEmbeddings(max_input_chars=0))).embedder("fake-embedder")

    with pytest.raises(ProviderError, match="package openmind-acme is broken: the longest input"):
        embedder.embed(["one"], role="query")


def test_an_embedder_of_another_provider_cannot_pass_for_the_one_that_comes_with_openmind() -> None:
    inner = FakeEmbeddings(identity=evolve(FAKE_IDENTITY, provider="builtin"))

    with pytest.raises(ProviderError, match="has the provider “builtin”, which is OpenMind's own"):
        _ = contained(FakeProvider(embeddings=inner)).embedder("fake-embedder").identity


def test_what_is_no_embedder_is_refused_with_what_it_lacks() -> None:
    with pytest.raises(UsageError, match="object is no embedder: it has no identity, max_input_chars, in_process, pro"):
        identity_of(object())


def test_ctrl_c_passes_a_provider_and_tells_which_one() -> None:
    told = "Interrupted while the provider “acme” of the package openmind-acme was waited for"
    with pytest.raises(KeyboardInterrupt, match=told), BLAME.taken():
        raise KeyboardInterrupt


class Broken:
    """A provider of which nothing works."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(f"no {name}")


@pytest.mark.parametrize(
    "use",
    [
        lambda provider: provider.display_name,
        lambda provider: provider.models(),
        lambda provider: provider.load(["a"]),
        lambda provider: provider.unload(["a"]),
        lambda provider: provider.embedder("a"),
        lambda provider: provider.answerer("a"),
        lambda provider: provider.describer("a"),
        lambda provider: provider.selection(),
    ],
)
def test_whatever_it_raises_names_it(use: Callable[[ContainedProvider], object]) -> None:
    with pytest.raises(ProviderError, match="openmind-acme is broken: it raised RuntimeError"):
        use(contained(Broken()))


def test_closing_never_fails_and_is_told_apart() -> None:
    told: list[OpenMindError] = []

    ContainedProvider(Broken(), BLAME, told.append).close()  # type: ignore[arg-type]

    assert [error.message for error in told] == [BLAME.error("it raised RuntimeError: no close").message]


def test_health_tells_what_it_raises() -> None:
    health = contained(Broken()).health()

    assert not health.reachable
    assert "openmind-acme is broken" in health.message


class Silent(FakeAnswers):
    def stream(self, prompt: Prompt) -> Iterator[object]:  # type: ignore[override]
        yield from ()


class Babbles(FakeAnswers):
    def stream(self, prompt: Prompt) -> Iterator[object]:  # type: ignore[override]
        yield "just text"


class Breaks(FakeAnswers):
    def stream(self, prompt: Prompt) -> Iterator[object]:  # type: ignore[override]
        raise RuntimeError("boom")
        yield


@pytest.mark.parametrize(
    ("answers", "told"),
    [(Silent(), "ends without a reply"), (Babbles(), "gives str"), (Breaks(), "RuntimeError: boom")],
)
def test_an_answer_that_is_wrong_is_told(answers: FakeAnswers, told: str) -> None:
    answerer = contained(FakeProvider(answers=answers)).answerer("fake-chat")

    with pytest.raises(ProviderError, match=told):
        list(answerer.stream(QUESTION))


class Waits:
    """A server that says nothing until somebody hangs up."""

    model = "fake-chat"

    def __init__(self) -> None:
        self.asked, self.closed = Event(), Event()

    def stream(self, prompt: Prompt) -> "Waits":
        return self

    def __iter__(self) -> "Waits":
        return self

    def __next__(self) -> Reply:
        self.asked.set()
        assert self.closed.wait(60)
        raise StopIteration

    def close(self) -> None:
        self.closed.set()


def test_another_thread_ends_the_wait_for_its_next_word() -> None:
    waits = Waits()
    words = contained(FakeProvider(answers=waits)).answerer("fake-chat").stream(QUESTION)  # type: ignore[arg-type]
    heard: list[object] = []
    reader = Thread(target=lambda: heard.extend(words))
    reader.start()

    assert waits.asked.wait(60)
    words.close()  # type: ignore[attr-defined]
    reader.join(60)

    assert not reader.is_alive()
    assert heard == []


class Dawdles(Waits):
    """A plain generator, which only its reader can close."""

    def stream(self, prompt: Prompt) -> Iterator[AnswerText]:  # type: ignore[override]
        try:
            self.asked.set()
            assert self.closed.wait(60)
            yield AnswerText("late")
        finally:
            self.asked.clear()


def test_a_plain_generator_says_that_only_its_reader_can_close_it() -> None:
    dawdles = Dawdles()
    words = contained(FakeProvider(answers=dawdles)).answerer("fake-chat").stream(QUESTION)  # type: ignore[arg-type]
    heard: list[object] = []
    reader = Thread(target=lambda: heard.append(next(words)))
    reader.start()
    assert dawdles.asked.wait(60)

    with pytest.raises(ValueError, match="inside"):
        words.close()  # type: ignore[attr-defined]
    dawdles.close()
    reader.join(60)
    words.close()  # type: ignore[attr-defined]

    assert heard == [AnswerText("late")]
    assert not dawdles.asked.is_set()


def test_a_description_is_text() -> None:
    class Numbers(FakeDescriber):
        def describe(self, image: bytes, *, media_type: str, max_new_tokens: int = 220) -> str:
            return 7  # type: ignore[return-value]

    describer = contained(FakeProvider(eyes=Numbers())).describer(Numbers().model)

    with pytest.raises(ProviderError, match="its description is int and not str"):
        describer.describe(b"", media_type="image/png")


def test_actions_are_one_for_each_model() -> None:
    class Forgets(FakeProvider):
        def load(self, keys: Sequence[str]) -> tuple[()]:
            return ()

    with pytest.raises(ProviderError, match="does not say what became of each model"):
        contained(Forgets()).load(["a"])


class Loud(FakeAnswers):
    """Prints at each step, also when it is told to end."""

    def stream(self, prompt: Prompt) -> Iterator[object]:  # type: ignore[override]
        try:
            print("a stranger begins")
            yield AnswerText("It is deep.")
            yield Reply()
        finally:
            print("a stranger ends")


@pytest.mark.parametrize("missing", [("stdout", "stderr"), ("stderr",), ("stdout",)])
def test_a_provider_may_print_in_a_program_without_a_console(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    with monkeypatch.context() as patch:
        for name in missing:
            patch.setattr(sys, name, None)
        with BLAME.taken():
            print("a stranger begins", flush=True)
        print("ours")


def test_output_that_was_sent_elsewhere_meanwhile_is_as_it_was_after_the_next_call() -> None:
    usual, elsewhere = sys.stdout, StringIO()
    call = BLAME.taken()
    call.__enter__()
    with redirect_stdout(elsewhere):
        call.__exit__(None, None, None)
        print("ours")

    with BLAME.taken():
        pass

    assert elsewhere.getvalue() == "ours\n"
    assert sys.stdout is usual


def test_what_a_provider_prints_stays_out_of_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    def shouts(texts: Sequence[str]) -> Vectors:
        print("a stranger embeds")
        another = Thread(target=print, args=("ours",))
        another.start()
        another.join()
        return rows(len(texts), 1.0)

    embedder = Embeds()
    embedder.answer = shouts
    before = sys.stdout

    contained(FakeProvider(embeddings=embedder)).embedder("fake-embedder").embed(["a"], role="passage")
    events = contained(FakeProvider(answers=Loud())).answerer("fake-chat").stream(QUESTION)
    next(events)
    print("the answer")
    events.close()  # type: ignore[attr-defined]

    assert capsys.readouterr() == ("ours\nthe answer\n", "a stranger embeds\na stranger begins\na stranger ends\n")
    assert sys.stdout is before


def test_an_embedder_of_this_program_is_blamed_on_no_package() -> None:
    told = Blame("mine", THIS_PROGRAM).error("it raised ValueError: boom")

    assert told.message == "The embedder “mine” of this program is broken: it raised ValueError: boom"
    assert "open_memory" in told.hint
