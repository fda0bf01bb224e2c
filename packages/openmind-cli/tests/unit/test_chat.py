"""A conversation at a terminal, with a model that says what it was told to say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import define
from openmind.domain.answers import AnswerReasoning, AnswerText
from openmind.domain.errors import ProviderUnreachable
from openmind.live import LiveMemory
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.answer_provider import Prompt, Reply
from openmind.testing.fakes.models import FakeAnswers, FakeProvider
from openmind_cli.commands.chat import Chat

FERRY = "When does the ferry leave?"


@define
class Lines:
    """A person who types lines; an exception among them is what the keyboard raises."""

    script: list[str | type[BaseException]]

    def __call__(self) -> str:
        line = self.script.pop(0) if self.script else EOFError
        if isinstance(line, str):
            return line
        raise line


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider(answers=FakeAnswers(script=["An hour before high water [1]."]))


@pytest.fixture
def plugins(provider: FakeProvider) -> Plugins:
    plugins = load_plugins()
    plugins.providers.add("fake", lambda _: provider)
    return plugins


@pytest.fixture
def live(tmp_path: Path, plugins: Plugins) -> Iterator[LiveMemory]:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.md").write_text("# Harbour\n\nThe ferry leaves an hour before high water.\n")
    home = tmp_path / "home"
    with LiveMemory(home, plugins=plugins) as opened:
        (home / "config.toml").write_text('[provider]\nname = "fake"\n[models]\nchat_model = "fake-chat"\n')
        with opened.current() as memory:
            memory.sources.add(notes)
            memory.index()
        yield opened


@pytest.fixture
def talk(live: LiveMemory):
    def run(*script: str | type[BaseException], stream: bool = False, reasoning: bool = False) -> Chat:
        chat = Chat(live=live, limit=5, reasoning=reasoning, stream=stream)
        chat.run(Lines(list(script)))
        return chat

    return run


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_is_answered_with_its_sources(talk, capsys, stream: bool) -> None:
    talk(FERRY, stream=stream)

    told = capsys.readouterr().out
    assert told.startswith("An hour before high water [1].\n\nSources\n[1] harbour.md")


def test_a_follow_up_goes_on_with_what_was_said(talk, provider) -> None:
    chat = talk(FERRY, "Which ferry leaves?")

    first, second = provider.answers.prompts
    assert first.keep
    assert first.previous is None
    assert second.previous == "turn-1"
    assert "high water" in second.user
    assert chat.session is not None


def test_clear_forgets_what_was_said(talk, provider, live, capsys) -> None:
    chat = talk(FERRY, "/clear", FERRY)

    assert [prompt.previous for prompt in provider.answers.prompts] == [None, None]
    assert "Forgotten" in capsys.readouterr().err
    with live.current() as memory:
        assert len(memory.asking.conversations._by_id) == 1
    assert chat.session is not None


def test_clear_with_nothing_said_is_no_mistake(talk, capsys) -> None:
    talk("/clear")

    assert "Forgotten" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["/exit", "/quit", EOFError])
def test_there_are_three_ways_out(talk, provider, way) -> None:
    talk(way, FERRY)

    assert provider.answers.prompts == []


def test_ctrl_c_leaves_only_when_it_is_meant(talk, provider, capsys) -> None:
    talk(KeyboardInterrupt, FERRY, KeyboardInterrupt, KeyboardInterrupt, FERRY)

    assert len(provider.answers.prompts) == 1
    assert "Once more" in capsys.readouterr().err


def test_empty_lines_and_unknown_commands_ask_nothing(talk, provider, capsys) -> None:
    talk("", "   ", "/hlep", "/help")

    assert provider.answers.prompts == []
    told = capsys.readouterr().err
    assert "no command /hlep" in told
    assert told.count("/clear forgets") == 2


def test_a_path_is_a_question(talk, capsys) -> None:
    talk("/etc/hosts ferry?")

    assert "no command" not in capsys.readouterr().err


def test_what_goes_wrong_with_one_question_does_not_end_the_talk(talk, provider, capsys) -> None:
    provider.answers.script = [ProviderUnreachable("the fake is down", hint="Start it."), "Back again [1]."]

    talk(FERRY, "?" * 20_000, FERRY)

    told = capsys.readouterr()
    assert "The fake is down" in told.err
    assert "Start it." in told.err
    assert "openmind: " in told.err
    assert "Back again [1]." in told.out


def test_ctrl_c_breaks_off_an_answer_and_nothing_else(talk, provider, capsys) -> None:
    provider.answers = Interrupted(script=["Half an answer.", "Whole [1]."])

    talk(FERRY, FERRY, stream=True)

    told = capsys.readouterr()
    assert "Broken off." in told.err
    assert "Half" in told.out
    assert "Half an answer." not in told.out
    assert "Whole [1]." in told.out


@define(kw_only=True)
class Interrupted(FakeAnswers):
    """A model during whose first words somebody presses Ctrl-C."""

    def stream(self, prompt: Prompt) -> Iterator[AnswerText | AnswerReasoning | Reply]:
        for event in FakeAnswers.stream(self, prompt):
            yield event
            if len(self.prompts) == 1:
                raise KeyboardInterrupt


def test_a_conversation_that_expired_begins_anew(talk, provider, live, capsys) -> None:
    class Expires(str):
        def strip(self, chars=None) -> str:
            with live.current() as memory:
                memory.asking.conversations._by_id.clear()
            return FERRY

    chat = talk(FERRY, Expires(FERRY))

    assert [prompt.previous for prompt in provider.answers.prompts] == [None, None]
    assert "too long ago" in capsys.readouterr().err
    assert chat.session is not None


def test_another_model_that_is_configured_meanwhile_answers_the_next_question(talk, provider, live) -> None:
    class Reconfigures(str):
        def strip(self, chars=None) -> str:
            (live.home.folder / "config.toml").write_text(
                '[provider]\nname = "fake"\n[models]\nchat_model = "other-chat"\n'
            )
            return FERRY

    talk(FERRY, Reconfigures(FERRY))

    assert len(provider.answers.prompts) == 1


def test_reasoning_is_asked_for_only_when_it_is_wanted(talk, provider, capsys) -> None:
    provider.answers.thoughts = "Let me see."
    talk(FERRY, stream=True)
    assert "Let me see" not in capsys.readouterr().err

    talk(FERRY, stream=True, reasoning=True)

    assert [prompt.reasoning for prompt in provider.answers.prompts] == [False, True]
    assert "Let me see" in capsys.readouterr().err
