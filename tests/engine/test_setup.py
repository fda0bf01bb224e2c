"""From nothing to a memory that knows its models and its folders."""

import pytest
from openmind.application.setup import SetupPlan, set_up
from openmind.bootstrap import open_beginning
from openmind.domain.errors import HomeForeign, JobActive, ModelNotFound, SourceMissing
from openmind.domain.ids import new_run_id
from openmind.domain.jobs import IndexRun, JobState
from openmind.domain.models import ModelSelection, ProviderChoice
from openmind.testing.fakes.images import FakeDescriber
from openmind.testing.fakes.models import FakeAnswers

FAKE = ProviderChoice(name="fake")
MODELS = ModelSelection(chat_model="fake-chat", embedding_model="fake-embedder", image_model="fake-eyes")


@pytest.fixture
def provider(world):
    world.provider.answers = FakeAnswers()
    world.provider.eyes = FakeDescriber()
    return world.provider


def plan(world, **changes) -> SetupPlan:
    return SetupPlan(**{"provider": FAKE, "selection": MODELS, "folders": (world.notes,), **changes})


def test_looking_around_makes_nothing(world, provider) -> None:
    with open_beginning(world.home, plugins=world._plugins()) as beginning:
        assert beginning.sources == ()
        assert not beginning.busy
        assert "fake" in {known.name for known in beginning.models.providers()}
        assert [model.key for model in beginning.models.at(FAKE).list()][-1] == "builtin"
        assert beginning.folder(str(world.notes)) == world.notes.resolve()
        with pytest.raises(SourceMissing):
            beginning.folder(str(world.notes / "nowhere"))
    assert not world.home.exists()


def test_a_folder_of_somebody_else_is_refused_before_anything_is_asked(world) -> None:
    world.home.mkdir()
    (world.home / "thesis.txt").write_text("mine")

    with pytest.raises(HomeForeign), open_beginning(world.home):
        pass


def test_a_plan_is_carried_out(world, provider) -> None:
    with world.memory() as memory:
        report = set_up(memory, plan(world))

    assert [source.path for source in report.added] == [str(world.notes)]
    assert report.selected.embedder_changed
    assert report.not_loaded == ()
    assert provider.loaded == {"fake-chat", "fake-embedder", "fake-eyes"}
    with world.memory() as memory:
        assert memory.config.provider_name == "fake"
        assert memory.models.selection == MODELS
        assert memory.config.extraction.images.enabled


def test_carried_out_twice_it_changes_nothing_more(world, provider) -> None:
    with world.memory() as memory:
        set_up(memory, plan(world))
    with world.memory() as memory:
        report = set_up(memory, plan(world))

        assert report.added == ()
        assert report.already == (world.notes,)
        assert not report.selected.embedder_changed
        assert len(memory.sources.list()) == 1


def test_pictures_can_be_left_out_and_taken_in_again(world, provider) -> None:
    for images in (False, True):
        with world.memory() as memory:
            set_up(memory, plan(world, images=images))
        with world.memory() as memory:
            assert memory.config.extraction.images.enabled is images


def test_a_model_that_is_not_there_changes_nothing(world, provider) -> None:
    with world.memory() as memory, pytest.raises(ModelNotFound):
        set_up(memory, plan(world, selection=ModelSelection(chat_model="nobody")))

    with world.memory() as memory:
        assert memory.sources.list() == ()
        assert memory.config.provider_name == "builtin"


def test_a_folder_inside_another_is_told_and_the_rest_is_done(world, provider) -> None:
    inner = world.notes / "inner"
    inner.mkdir()

    with world.memory() as memory:
        report = set_up(memory, plan(world, folders=(world.notes, inner)))

    assert len(report.added) == 1
    assert len(report.refused) == 1
    assert "overlaps" in report.refused[0]


def test_a_model_that_cannot_be_loaded_is_told(world, provider, monkeypatch) -> None:
    from openmind.domain.models import ModelAction

    monkeypatch.setattr(
        type(provider), "load", lambda _, keys: tuple(ModelAction(model=k, status="failed: no memory") for k in keys)
    )
    with world.memory() as memory:
        report = set_up(memory, plan(world))

    assert set(report.not_loaded) == {"fake-chat", "fake-embedder", "fake-eyes"}


def test_nothing_is_changed_while_files_are_indexed(world, provider) -> None:
    with world.memory() as memory:
        run = IndexRun(id=new_run_id(), started_at="2026-01-01T00:00:00+00:00", state=JobState.RUNNING)
        with memory.storage.catalog.writing() as session:
            session.save_run(run)

        with pytest.raises(JobActive):
            set_up(memory, plan(world))

        assert memory.sources.list() == ()
    with open_beginning(world.home, plugins=world._plugins()) as beginning:
        assert beginning.busy
