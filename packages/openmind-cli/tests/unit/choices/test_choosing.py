"""How a provider, its models and folders are chosen: nothing is changed meanwhile, whatever the person answers."""

from pathlib import Path

import pytest
from openmind.bootstrap import open_beginning, open_settings
from openmind.domain.errors import (
    ModelNotFound,
    ProviderError,
    ProviderUnreachable,
    RemoteNotAllowed,
    SourceMissing,
    UsageError,
)
from openmind.domain.models import ModelSelection, ProviderChoice
from openmind_cli.choosing import Choosing
from openmind_cli.wishes import Wishes

ADDRESS = "http://localhost:4321"
WHICH, EMBED, CHAT, EYES, FOLDERS = (
    "Which models shall OpenMind use?",
    "Which model finds passages by meaning (embedding model)?",
    "Which model writes answers (chat model)?",
    "Which model describes pictures?",
    "Which folders may OpenMind read? Nothing in them is changed.",
)
ALL = ModelSelection(chat_model="chat-a", embedding_model="embed-a", image_model="smolvlm-500m-instruct")


def test_enter_all_the_way_takes_what_is_suggested(plan, person, home: Path) -> None:
    somebody = person(..., ..., ..., ...)

    made = plan(somebody)

    assert made.provider == ProviderChoice(name="lmstudio")
    assert made.selection == ALL
    assert somebody.asked == [WHICH, EMBED, CHAT, EYES]
    assert not home.exists()


def test_what_is_offered_says_what_it_is(plan, person) -> None:
    somebody = person(..., ..., ..., ...)
    plan(somebody)

    assert somebody.offered[WHICH][0] == "LM Studio (finds better, writes answers, describes pictures)"
    assert somebody.offered[EMBED] == [
        "embed-a (loaded, F16)",
        "embed-b",
        "Built-in (works at once, needs no server; less exact)",
    ]
    assert somebody.offered[CHAT][0] == "chat-a (window of 32,768)"
    assert somebody.offered[EYES][0] == "smolvlm-500m-instruct (recommended)"
    assert somebody.offered[EYES][-1] == "Leave pictures out"


def test_every_other_answer_can_be_given(plan, person) -> None:
    made = plan(person("LM Studio", "embed-b", "None", "None"))

    assert made.selection == ModelSelection(embedding_model="embed-b")
    assert made.images is True


def test_pictures_can_be_left_out(plan, person) -> None:
    made = plan(person(..., ..., ..., "Leave pictures out"))

    assert made.images is False
    assert made.selection.image_model is None


def test_no_server_no_problem(plan, person, servers) -> None:
    servers.up.clear()
    somebody = person(...)

    made = plan(somebody)

    assert made.provider.name == "builtin"
    assert made.selection == ModelSelection()
    assert somebody.offered[WHICH][0].startswith("Built-in")
    assert "Nobody answers" in somebody.told[0]
    assert "lms server start" in somebody.told[1]


def test_a_server_that_is_started_meanwhile_is_found(plan, person, servers) -> None:
    models = servers.up.pop("http://localhost:1234")

    class Starts:
        def __eq__(self, label: object) -> bool:
            servers.up["http://localhost:1234"] = models
            return label == "Try again"

        __hash__ = None

    made = plan(person("LM Studio", Starts(), ..., ..., ...))

    assert made.provider.name == "lmstudio"


def test_a_server_may_listen_elsewhere(plan, person, servers) -> None:
    servers.up[ADDRESS] = servers.up.pop("http://localhost:1234")

    made = plan(person("LM Studio", "Another address", ADDRESS, ..., ..., ...))

    assert made.provider.settings == {"base_url": ADDRESS}


def test_what_is_no_address_is_told_and_asked_again(plan, person, servers) -> None:
    servers.up[ADDRESS] = servers.up.pop("http://localhost:1234")
    somebody = person("LM Studio", "Another address", "localhost", ADDRESS, ..., ..., ...)

    plan(somebody)

    assert any("must look like" in told for told in somebody.told)


def test_another_provider_can_be_chosen_after_all(plan, person, servers) -> None:
    servers.up.clear()

    made = plan(person("LM Studio", "Another provider", "Built-in"))

    assert made.provider.name == "builtin"


def test_a_server_on_another_machine_has_to_be_allowed(plan, person, servers) -> None:
    servers.up["http://big:1"] = servers.up.pop("http://localhost:1234")
    servers.notices = ("The text of your files is sent to http://big:1.",)
    somebody = person("LM Studio", "Another address", "http://big:1", True, ..., ..., ...)

    made = plan(somebody)

    assert made.provider.settings == {"base_url": "http://big:1", "allow_remote": True}
    assert "The text of your files is sent to http://big:1." in somebody.told


def test_refusing_a_server_on_another_machine_asks_for_another_address(plan, person, servers) -> None:
    servers.up[ADDRESS] = servers.up.pop("http://localhost:1234")
    somebody = person("LM Studio", "Another address", "http://big:1", ..., ADDRESS, ..., ..., ...)

    made = plan(somebody)

    assert made.provider.settings == {"base_url": ADDRESS}


def test_a_server_without_models_says_what_to_download(plan, person, servers) -> None:
    servers.up["http://localhost:1234"] = []
    somebody = person("LM Studio")

    made = plan(somebody)

    assert made.selection == ModelSelection()
    told = " ".join(somebody.told)
    assert "text-embedding-nomic-embed-text-v1.5" in told
    assert "SmolVLM-500M-Instruct" in told
    assert "openmind models update" in told


@pytest.mark.parametrize("signal", [KeyboardInterrupt])
@pytest.mark.parametrize("at", range(5))
def test_ctrl_c_at_any_question_changes_nothing(plan, person, home: Path, at: int, signal) -> None:
    with pytest.raises(KeyboardInterrupt):
        plan(person(*[...] * at, signal), folders=True)

    assert not home.exists()


# Options instead of answers.


def test_what_is_given_is_not_asked(plan, person) -> None:
    somebody = person()

    made = plan(
        somebody, provider="lmstudio", chat_model="none", embedding_model="builtin", image_model="smolvlm-500m-instruct"
    )

    assert somebody.asked == []
    assert made.selection == ModelSelection(image_model="smolvlm-500m-instruct")


def test_without_anybody_what_is_left_open_is_what_is_suggested(plan) -> None:
    assert plan().selection == ALL
    assert plan(images=False).selection.image_model is None
    assert plan(provider="builtin").selection == ModelSelection()


def test_without_anybody_and_without_a_server_the_built_in_one_is_taken(plan, servers) -> None:
    servers.up.clear()

    assert plan().provider.name == "builtin"
    with pytest.raises(ProviderUnreachable):
        plan(provider="lmstudio")


def test_a_model_that_is_not_there_is_told_at_once(plan, person) -> None:
    for wish in ("chat_model", "embedding_model", "image_model"):
        with pytest.raises(ModelNotFound, match="nobody"):
            plan(**{wish: "nobody"})
    with pytest.raises(ModelNotFound):
        plan(person(...), chat_model="nobody")


def test_a_provider_that_is_not_there_is_told_with_those_that_are(plan) -> None:
    with pytest.raises(UsageError) as caught:
        plan(provider="olama")

    assert "openai-compatible" in caught.value.hint


def test_the_built_in_provider_has_no_address(plan) -> None:
    with pytest.raises(UsageError):
        plan(provider="builtin", base_url=ADDRESS)


@pytest.mark.parametrize("provider", ["lmstudio", None])
def test_an_option_that_makes_no_sense_is_blamed_itself(plan, provider: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        plan(provider=provider, base_url="garbage")

    assert caught.value.message == "--base-url garbage cannot be used. base_url must look like http://localhost:1234"


def test_an_option_that_makes_no_sense_is_blamed_before_anything_is_asked(plan, person) -> None:
    with pytest.raises(UsageError, match="--base-url garbage"):
        plan(person(), provider="lmstudio", base_url="garbage")


def test_without_anybody_a_server_that_does_not_answer_is_waited_for_once(plan, servers) -> None:
    servers.up.clear()

    with pytest.raises(ProviderUnreachable):
        plan(provider="lmstudio")

    assert servers.asked == 1


def test_an_address_is_never_passed_over_for_the_built_in_embedder(plan, servers) -> None:
    servers.up.clear()

    with pytest.raises(ProviderUnreachable):
        plan(base_url="http://localhost:1")


def test_a_provider_that_was_named_for_another_server_is_refused_with_the_one_that_fits(plan, servers) -> None:
    servers.fits_better = "openai-compatible"

    with pytest.raises(ProviderError, match="is not LM Studio") as caught:
        plan(provider="lmstudio", base_url="http://localhost:1234")

    assert "`openmind setup --provider openai-compatible --base-url http://localhost:1234`" in caught.value.hint


@pytest.mark.parametrize("wishes", [{}, {"base_url": "http://localhost:1234"}])
def test_without_a_name_the_provider_that_fits_is_taken(plan, servers, wishes: dict[str, str]) -> None:
    servers.fits_better = "openai-compatible"

    assert plan(**wishes).provider == ProviderChoice(name="openai-compatible", settings=wishes)


def test_a_person_is_offered_the_provider_that_fits(plan, person, servers) -> None:
    servers.fits_better = "openai-compatible"

    made = plan(person("LM Studio", True, ..., ..., ...))

    assert made.provider.name == "openai-compatible"


def test_without_anybody_another_machine_needs_the_option_and_is_warned_of(plan, servers, capsys) -> None:
    servers.up["http://big:1"] = servers.up["http://localhost:1234"]
    servers.notices = ("The text of your files is sent to http://big:1.",)

    with pytest.raises(RemoteNotAllowed) as caught:
        plan(provider="lmstudio", base_url="http://big:1")
    assert "--allow-remote" in caught.value.hint
    assert plan(provider="lmstudio", base_url="http://big:1", allow_remote=True).provider.settings == {
        "base_url": "http://big:1",
        "allow_remote": True,
    }
    assert "is sent to http://big:1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wishes", "missing"),
    [
        ({}, ("--provider", "--chat-model", "--embedding-model", "--image-model")),
        ({"provider": "builtin"}, ()),
        ({"provider": "lmstudio", "chat_model": "a"}, ("--embedding-model", "--image-model")),
        ({"provider": "lmstudio", "chat_model": "a", "embedding_model": "b", "images": False}, ()),
    ],
)
def test_what_is_missing_can_be_named(wishes: dict[str, object], missing: tuple[str, ...]) -> None:
    assert Wishes(**wishes).missing == missing


# What was chosen before.


def test_what_was_chosen_before_is_suggested_again(home: Path, plugins, person, tmp_path: Path) -> None:
    settings = open_settings(home, plugins=plugins)
    for key, value in {
        "provider.name": "openai-compatible",
        "provider.base_url": "http://localhost:1234",
        "models.embedding_model": "embed-b",
        "extraction.images.model": "smolvlm-500m-instruct",
    }.items():
        settings.set(key, value)
    somebody = person(..., ..., ..., ...)

    with open_beginning(home, plugins=plugins) as beginning:
        made = Choosing(beginning=beginning, wishes=Wishes(), prompter=somebody).plan(folders=False)

    assert made.provider == ProviderChoice(name="openai-compatible", settings={"base_url": "http://localhost:1234"})
    assert made.selection.embedding_model == "embed-b"
    assert somebody.offered[WHICH][0].startswith("Another server")


# Folders.


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "person" / "Documents"
    folder.mkdir(parents=True)
    return folder


def test_usual_folders_are_offered_and_none_is_taken_for_granted(plan, person, documents: Path) -> None:
    somebody = person([])

    made = plan(somebody, folders=True, provider="builtin")

    assert made.folders == ()
    assert somebody.offered[FOLDERS] == [str(documents), "Another folder …"]
    assert plan(person([str(documents)]), folders=True, provider="builtin").folders == (documents,)


def test_other_folders_can_be_pasted_in_quotes_or_with_a_tilde(
    plan, person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folders = [tmp_path / "my notes", tmp_path / "letters"]
    for folder in folders:
        folder.mkdir()
    somebody = person(["Another folder …"], f"'{folders[0]}'", str(tmp_path / "nowhere"), "~/letters", "")

    made = plan(somebody, folders=True, provider="builtin")

    assert made.folders == tuple(folders)
    assert any("There is no folder" in told for told in somebody.told)


def test_a_folder_that_is_given_must_be_there(plan, tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()

    assert plan(given=(f"{tmp_path}/a\\ b",), provider="builtin").folders == (tmp_path / "a b",)
    with pytest.raises(SourceMissing):
        plan(given=(str(tmp_path / "nowhere"),), provider="builtin")


def test_folders_that_are_sources_are_shown_and_cannot_be_chosen(
    home: Path, plugins, person, documents: Path, tmp_path: Path
) -> None:
    from openmind import open_memory

    other = tmp_path / "other"
    other.mkdir()
    with open_memory(home, plugins=plugins) as memory:
        memory.sources.add(documents)
        memory.sources.add(other)
    somebody = person([])

    with open_beginning(home, plugins=plugins) as beginning:
        choosing = Choosing(
            beginning=beginning,
            wishes=Wishes(provider="builtin"),
            prompter=somebody,
            person=tmp_path / "person",
        )
        choosing.plan(folders=True)

    assert somebody.offered[FOLDERS] == [str(documents), str(other), "Another folder …"]
