"""Another embedder, a lost one, and vectors that come later."""

from openmind.domain.errors import ModelNotLoaded, PassageRefused, ProviderUnauthorized, ProviderUnreachable
from openmind.domain.models import ModelAction, ModelSelection
from openmind.domain.search import SearchState
from openmind.testing.fakes.models import FakeProvider

DOWN = ProviderUnreachable("the fake provider does not answer", hint="Start it.")


def names(memory, query: str) -> list[str]:
    return [hit.file_name for hit in memory.search(query).hits]


def test_a_server_s_embedder_embeds_each_passage_once(world) -> None:
    embedder = world.use()
    for number in range(40):
        world.write(f"{number}.txt", f"heliotrope number {number}")
    with world.memory() as memory:
        memory.sources.add(world.notes)

        report = memory.index()

        assert report.run.tally.embedded == 40
        assert len(embedder.embedded) == len(set(embedder.embedded)) == 40
        assert embedder.calls <= 4
        assert not memory.search("heliotrope").degraded


def test_an_edit_embeds_only_the_passages_that_changed(world) -> None:
    paragraphs = [f"Paragraph {number} " + f"is about subject{number} and nothing else. " * 25 for number in range(12)]
    embedder = world.use()
    world.write("long.txt", "\n\n".join(paragraphs))
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        before = len(embedder.embedded)

        world.write("long.txt", "\n\n".join([*paragraphs, "A new end about zanzibar."]))
        memory.index()

        assert before > 8
        assert len(embedder.embedded) - before <= 2


def test_with_the_server_down_files_go_live_by_their_words(world) -> None:
    embedder = world.use()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        embedder.error = DOWN
        world.write("b.txt", "chrysanthemum on the balcony")

        report = memory.index()

        assert report.run.error
        assert memory.status().missing_vectors == 1
        result = memory.search("chrysanthemum")
        assert [hit.file_name for hit in result.hits][:1] == ["b.txt"]
        assert result.degraded
        assert result.degraded_reason


def test_missing_vectors_follow_when_the_server_is_back(world) -> None:
    embedder = world.use()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        embedder.error = DOWN
        world.write("b.txt", "chrysanthemum on the balcony")
        memory.index()
        embedder.error = None

        report = memory.index()

        assert report.run.tally.extracted == 0
        assert report.run.tally.embedded == 1
        assert memory.status().missing_vectors == 0
        assert not memory.search("chrysanthemum").degraded


def test_vectors_that_follow_are_counted_while_they_are_made(world) -> None:
    embedder = world.use()
    embedder.error = DOWN
    for number in range(70):
        world.write(f"{number}.txt", f"heliotrope number {number % 60}")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        embedder.error = None
        told = []

        report = memory.index(
            progress=lambda event: told.append((event.tally.vectors_made, event.tally.vectors_wanted))
        )

        assert report.run.tally.vectors_wanted == 70
        assert report.run.tally.vectors_made == 70  # ten of them are like others
        assert report.run.tally.embedded == 60
        assert all(made <= wanted for made, wanted in told)
        assert memory.jobs.history(limit=1)[0].tally.vectors_made == 70


def test_vectors_of_another_model_are_counted_from_where_it_broke_off(world) -> None:
    world.use("one", 16)
    for number in range(40):
        world.write(f"{number}.txt", f"heliotrope number {number}")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    world.use("two", 24)
    with world.memory() as memory:
        report = memory.index()

    tally = report.run.tally
    assert (tally.processed, tally.vectors_wanted, tally.vectors_made) == (40, 40, 40)


def test_a_first_run_without_the_server_uses_the_built_in_embedder_and_changes_over_later(world) -> None:
    embedder = world.use()
    embedder.error = DOWN
    identity, world.provider.embeddings = embedder.identity, Unknown(DOWN)
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        assert names(memory, "heliotrope") == ["a.txt"]

        embedder.error = None
        world.provider.embeddings = embedder
        report = memory.index()

        assert report.run.tally.extracted == 0
        assert embedder.identity == identity
        assert embedder.embedded == ["heliotrope in the garden"]
        assert not memory.search("heliotrope").degraded


def test_another_model_is_taken_in_beside_the_former_one(world) -> None:
    first = world.use("first", dimension=64)
    for number in range(30):
        world.write(f"{number}.txt", f"heliotrope number{number}")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    second = world.use("second", dimension=32)
    with world.memory() as memory:
        assert names(memory, "number7")[:1] == ["7.txt"]  # found before anything was embedded anew

        report = memory.index()

        assert report.run.tally.extracted == 0
        assert len(second.embedded) == 30
        result = memory.search("number7")
        assert result.hits[0].file_name == "7.txt"
        assert not result.degraded
        assert result.hits[0].explanation.cosine is not None
        assert memory.index().run.tally.embedded == 0
    assert len(first.embedded) == 30


def test_the_former_model_stays_loaded_as_long_as_searches_need_it(world) -> None:
    world.use("first")
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        world.provider.loaded = {"first", "of somebody else"}

        [former] = memory.models.select(ModelSelection()).unloaded

        assert former == ModelAction(
            model="first", status="stays loaded until the new vectors are complete", skipped=True
        )
        assert not memory.search("heliotrope").degraded
    assert world.provider.loaded == {"first", "of somebody else"}
    with world.memory() as memory:
        memory.index()

        assert world.provider.loaded == {"of somebody else"}
        assert not memory.search("heliotrope").degraded


def test_the_former_model_stays_loaded_when_the_new_vectors_break_off(world) -> None:
    world.use("first")
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    second = world.use("second", dimension=32)
    world.provider.embeddings = BreaksOff(second, after=0)
    world.provider.loaded = {"first", "second"}
    with world.memory() as memory:
        memory.index()

        assert world.provider.loaded == {"first", "second"}


def test_a_former_model_with_nothing_to_find_is_unloaded_at_once(world) -> None:
    world.use("first")
    world.provider.loaded = {"first"}
    with world.memory() as memory:
        memory.models.select(ModelSelection())

    assert world.provider.loaded == set()


def test_a_former_model_that_cannot_be_unloaded_is_a_note_and_no_failure(world) -> None:
    world.use("first", dimension=64)
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    world.use("second", dimension=32)
    world.provider = StuckProvider(embeddings=world.provider.embeddings)
    with world.memory() as memory:
        report = memory.index()

        assert report.notices == report.mended
        assert report.mended == ("first is not needed any more and could not be unloaded. It is busy.",)
        assert not report.run.error
        assert not memory.search("heliotrope").degraded


def test_a_new_model_without_room_does_not_have_the_former_one_loaded_in_its_place(world) -> None:
    world.use("first")
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    world.use("second")
    world.provider = Crowded(Unknown(ModelNotLoaded("there is no room for second")))
    world.write("b.txt", "chrysanthemum on the balcony")
    with world.memory() as memory:
        report = memory.index()

        assert world.provider.asked_for == {"second"}
        assert report.run.error.startswith("There is no room for second. New files are found by their words")
        assert memory.status().missing_vectors == 1


def test_a_run_says_where_to_put_a_token_and_that_waiting_brings_none(world) -> None:
    embedder = world.use()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        embedder.error = ProviderUnauthorized("the server wants an API token", hint="Put it into TOKEN.")

        report = memory.index()

        assert (report.run.error, report.needs_person) == ("The server wants an API token. Put it into TOKEN.", True)
        embedder.error = None
        assert not memory.index().needs_person


class Crowded(FakeProvider):
    """A provider that has no room for one model."""

    def __init__(self, embedder) -> None:
        super().__init__()
        self.new = embedder
        self.asked_for = set()

    def embedder(self, model):
        self.asked_for.add(model)
        return self.new if model == "second" else super().embedder(model)


class StuckProvider(FakeProvider):
    """A provider that lets go of nothing."""

    def unload(self, keys):
        return tuple(ModelAction(model=key, status="failed: it is busy") for key in keys)


def test_a_model_that_changed_its_dimension_is_told_and_its_vectors_made_anew(world) -> None:
    world.use("same", dimension=64)
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    embedder = world.use("same", dimension=32)
    with world.memory() as memory:
        assert "32 dimensions now, and of 64 before" in memory.search("heliotrope").degraded_reason

        memory.index()

        assert embedder.embedded == ["heliotrope in the garden"]
        assert not memory.search("heliotrope").degraded


def test_an_embedder_that_is_away_is_named_once_in_a_run(world) -> None:
    world.use()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    world.provider.embeddings = Unknown(DOWN)
    world.write("b.txt", "chrysanthemum on the balcony")
    with world.memory() as memory:
        notices = memory.index().notices

        assert len([notice for notice in notices if "vectors follow" in notice or "out of reach" in notice]) == 1


def test_a_change_of_model_that_breaks_off_goes_on_where_it_was(world) -> None:
    world.use("first", dimension=64)
    for number in range(80):
        world.write(f"{number}.txt", f"heliotrope number{number}")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    second = world.use("second", dimension=32)
    world.provider.embeddings = flaky = BreaksOff(second, after=1)
    with world.memory() as memory:
        memory.index()
        assert memory.search("number7").state is SearchState.OK
        flaky.after = 1_000

        memory.index()

        assert len(second.embedded) == len(set(second.embedded)) == 80
        assert not memory.search("number7").degraded


class Unknown:
    """An embedder whose server does not even tell its identity."""

    in_process = False

    def __init__(self, error: ProviderUnreachable) -> None:
        self.error = error

    @property
    def identity(self):
        raise self.error


class BreaksOff:
    """An embedder whose server goes away after some requests."""

    def __init__(self, inner, after: int) -> None:
        self.inner, self.after = inner, after

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def embed(self, texts, *, role):
        if role == "passage":
            if self.after == 0:
                raise DOWN
            self.after -= 1
        return self.inner.embed(texts, role=role)


class Squeamish:
    """An embedder that refuses one text and takes the others."""

    def __init__(self, inner, word: str) -> None:
        self.inner, self.word = inner, word

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def embed(self, texts, *, role):
        for index, text in enumerate(texts):
            if self.word in text:
                raise PassageRefused("it cannot take this text", index=index)
        return self.inner.embed(texts, role=role)


def test_a_text_that_the_embedder_refuses_costs_only_its_own_vector(world) -> None:
    embedder = world.use()
    world.provider.embeddings = Squeamish(embedder, "poison")
    for number in range(10):
        world.write(f"{number}.txt", f"heliotrope number{number} {'poison' if number == 3 else ''}")
    with world.memory() as memory:
        memory.sources.add(world.notes)

        notices = memory.index().notices
        assert [notice.partition(": ")[0] for notice in notices] == [str(world.notes / "3.txt")]
        memory.index()

        assert len(embedder.embedded) == 9
        assert memory.status().missing_vectors == 1
        assert names(memory, "poison")[:1] == ["3.txt"]
