"""What is known already is not made again: vectors of an edited page, twins of a file, a passage that is refused."""

import threading

import attrs
import pytest
from openmind.domain.control import Wish
from openmind.domain.errors import PassageRefused, ProviderUnreachable
from openmind.domain.files import FileReason
from openmind.domain.index import TableState
from openmind.domain.jobs import JobState
from openmind.testing.fakes.models import FakeEmbeddings
from openmind_stores.sqlite.tables.files import FileReading


class Refusing(FakeEmbeddings):
    """Cannot take one passage."""

    def embed(self, texts, *, role):
        for at, text in enumerate(texts):
            if "poison" in text and role == "passage":
                raise PassageRefused("The model cannot take it", index=at)
        return super().embed(texts, role=role)


class Away(FakeEmbeddings):
    """A server that does not answer."""

    def embed(self, texts, *, role):
        raise ProviderUnreachable("The server does not answer")


@pytest.mark.parametrize("hyphen", ["", "\u00ad"])
def test_an_edited_page_keeps_the_vectors_of_what_stayed_also_with_characters_that_nobody_sees(world, hyphen) -> None:
    world.use()
    paragraphs = [
        f"Para{hyphen}graph {number} " + " ".join(f"word{number}x{place}" for place in range(120))
        for number in range(8)
    ]
    world.write("a.txt", "\n\n".join(paragraphs))
    with world.memory() as memory:
        memory.sources.add(world.notes)
        assert memory.index().run.tally.embedded >= 8
        world.write("a.txt", "\n\n".join([*paragraphs[:-1], paragraphs[-1] + " and an end"]))

        assert memory.index().run.tally.embedded <= 3


def test_a_file_with_many_twins_is_looked_up_once_a_batch(world, memory, monkeypatch) -> None:
    for number in range(30):
        world.write(f"f{number}.txt", "the licence of this garden")
    memory.index()
    for number in range(30):
        world.write(f"g{number}.txt", "the licence of this garden")
    asked: list[str] = []
    look_up = FileReading.files_with_content

    def counted(reader: FileReading, content_hash: str):
        asked.append(content_hash)
        return look_up(reader, content_hash)

    monkeypatch.setattr(FileReading, "files_with_content", counted)
    tally = memory.index().run.tally

    assert (tally.indexed, tally.extracted) == (30, 0)
    assert len(asked) < 10


@pytest.mark.parametrize("in_process", [False, True])
def test_a_passage_that_is_refused_does_not_keep_a_change_of_the_model_from_its_end(world, in_process) -> None:
    world.write("a.txt", "garden")
    world.write("bad.txt", "poison")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    identity = world.use().identity
    world.provider.embeddings = Refusing(identity=identity, in_process=in_process)
    with world.memory() as memory:
        memory.index()
        with memory.storage.catalog.reading() as snapshot:
            tables = [(table.state, table.identity.embedder.model) for table in snapshot.tables()]

    assert tables == [(TableState.LIVE, identity.model)]


def test_an_embedder_of_another_package_that_hangs_in_this_process_can_be_stopped(world) -> None:
    world.write("a.txt", "garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    asked, released, over = threading.Event(), threading.Event(), threading.Event()

    class Hanging(FakeEmbeddings):
        def embed(self, texts, *, role):
            if role == "passage":
                asked.set()
                released.wait(120)
                over.set()
            return super().embed(texts, role=role)

    class StopOnceAsked:
        def wish(self) -> Wish:
            return Wish.STOP if asked.is_set() else Wish.GO

        def rest(self) -> None:
            """Never called."""

    world.provider.embeddings = Hanging(identity=world.use().identity, in_process=True)
    with world.memory() as memory:
        state = memory.indexing.run(control=StopOnceAsked()).run.state
        assert state is JobState.STOPPED
        assert not over.is_set()
    released.set()


def told(memory) -> list[tuple[str, str]]:
    return [
        (record.path_bytes.rpartition(b"/")[2].decode(), record.error)
        for record in memory.documents.list(reasons=["partial"])
    ]


REFUSED = "The embedding model fails at one of its passages, found by words alone: The model cannot take it"


def test_a_refused_passage_is_told_of_and_not_tried_again_until_its_text_changes(world) -> None:
    identity = world.use().identity
    world.provider.embeddings = Refusing(identity=identity)
    world.write("a.txt", "garden")
    world.write("bad.txt", "poison")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        first = memory.index()
        after_one, missing = told(memory), memory.status().missing_vectors
        memory.index()
        willing = world.provider.embeddings = FakeEmbeddings(identity=identity)
    with world.memory() as memory:
        again = memory.index()
        after_two = told(memory)
        assert "poison" not in " ".join(willing.embedded)
        assert (again.run.tally.vectors_wanted, again.notices) == (0, ())
        world.write("bad.txt", "poison, watered down")
        memory.index()
        mended = [record.reason for record in memory.documents.list()]

        assert after_one == after_two == [("bad.txt", REFUSED)]
        assert [REFUSED in notice for notice in first.notices] == [True]
        assert (missing, memory.status().missing_vectors) == (1, 0)
        assert mended == [FileReason.OK, FileReason.OK]


def test_refused_passages_are_tried_again_when_a_person_asks(world) -> None:
    identity = world.use().identity
    world.provider.embeddings = Refusing(identity=identity)
    world.write("bad.txt", "poison")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        in_vain = memory.index(retry=True)
        still = told(memory)
        world.provider.embeddings = FakeEmbeddings(identity=identity)  # something changed in the server
    with world.memory() as memory:
        memory.index(retry=True)

        assert [REFUSED in notice for notice in in_vain.notices] == [True]
        assert still == [("bad.txt", REFUSED)]
        assert (told(memory), memory.status().missing_vectors) == ([], 0)


def test_a_passage_that_the_new_model_refuses_is_told_of_and_tried_again_with_the_next_model(world) -> None:
    world.write("bad.txt", "poison")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    identity = world.use().identity
    world.provider.embeddings = Refusing(identity=identity)
    with world.memory() as memory:
        memory.index()
        changed = (told(memory), memory.status().missing_vectors)
        world.provider.embeddings = FakeEmbeddings(identity=attrs.evolve(identity, revision="2"))
    with world.memory() as memory:
        memory.index()

        assert changed == ([("bad.txt", REFUSED)], 1)
        assert (told(memory), memory.status().missing_vectors) == ([], 0)


def test_a_server_that_went_away_does_not_make_a_refused_passage_good(world) -> None:
    identity = world.use().identity
    world.provider.embeddings = Refusing(identity=identity)
    world.write("bad.txt", "poison")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        world.provider.embeddings = Away(identity=identity)
    with world.memory() as memory:
        memory.index()

        assert told(memory) == [("bad.txt", REFUSED)]
