"""What one file is known to hold is never taken for what another one holds."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from openmind.application.indexing.triage import Triage
from openmind.domain.errors import ProviderUnreachable
from openmind.domain.models import RetrievalProfile


def first(memory, query: str) -> str:
    return memory.search(query).hits[0].file_name


def write_old(world, name: str, text: str):
    path = world.write(name, text)
    os.utime(path, (1, 1))
    return path


def test_a_file_rewritten_after_it_was_hashed_does_not_lend_its_text_to_its_twin(world, memory, monkeypatch) -> None:
    leader = write_old(world, "a.txt", "heliotrope in the garden")
    write_old(world, "b.txt", "heliotrope in the garden")
    hashed = Triage._hash

    def hash_and_rewrite(self, path: bytes) -> str:
        digest = hashed(self, path)
        if path.endswith(b"b.txt"):
            leader.write_text("zanzibar quartz")
        return digest

    monkeypatch.setattr(Triage, "_hash", hash_and_rewrite)
    memory.index()
    monkeypatch.setattr(Triage, "_hash", hashed)
    memory.index()

    assert first(memory, "heliotrope garden") == "b.txt"
    assert first(memory, "zanzibar quartz") == "a.txt"


def test_a_file_that_vanishes_does_not_take_its_twin_along(world, memory, monkeypatch) -> None:
    leader = write_old(world, "a.txt", "heliotrope in the garden")
    write_old(world, "b.txt", "heliotrope in the garden")
    hashed = Triage._hash

    def hash_and_delete(self, path: bytes) -> str:
        digest = hashed(self, path)
        if path.endswith(b"b.txt"):
            leader.unlink()
        return digest

    monkeypatch.setattr(Triage, "_hash", hash_and_delete)
    memory.index()

    assert first(memory, "heliotrope garden") == "b.txt"


def test_a_touched_file_is_found_by_its_new_date(world, memory) -> None:
    path = write_old(world, "a.txt", "heliotrope in the garden")
    memory.index()

    os.utime(path, (1_700_000_000, 1_700_000_000))
    report = memory.index()

    assert (report.run.tally.already_indexed, report.run.tally.embedded) == (1, 0)
    recent = memory.search("heliotrope", modified_after=datetime(2023, 1, 1, tzinfo=UTC))
    assert [hit.file_name for hit in recent.hits] == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time of change")
def test_two_files_of_one_size_and_date_that_change_places_are_told_apart(world, memory) -> None:
    for name, text in (("a.txt", "heliotrope in the yard"), ("b.txt", "zanzibar in the quartz"), ("c.txt", "c" * 22)):
        write_old(world, name, text)
    memory.index()

    (world.notes / "a.txt").rename(world.notes / "t")
    (world.notes / "b.txt").rename(world.notes / "a.txt")
    (world.notes / "t").rename(world.notes / "b.txt")
    tally = memory.index().run.tally

    assert (tally.hashed, tally.indexed) == (2, 2)
    assert {query: first(memory, query) for query in ("heliotrope yard", "zanzibar quartz")} == {
        "heliotrope yard": "b.txt",
        "zanzibar quartz": "a.txt",
    }


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time of change")
def test_files_that_change_places_and_then_names_are_found_where_they_are(world, memory) -> None:
    write_old(world, "a.txt", "heliotrope in the yard")
    write_old(world, "b.txt", "zanzibar in the quartz")
    memory.index()

    (world.notes / "a.txt").rename(world.notes / "t")
    (world.notes / "b.txt").rename(world.notes / "a.txt")
    (world.notes / "t").rename(world.notes / "c.txt")
    tally = memory.index().run.tally

    assert (tally.embedded, tally.extracted) == (0, 0)
    [heliotrope] = memory.search("heliotrope yard").hits
    [zanzibar] = memory.search("zanzibar quartz").hits
    assert (heliotrope.file_name, heliotrope.also_at) == ("c.txt", ())
    assert (zanzibar.file_name, zanzibar.also_at) == ("a.txt", ())


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time of change")
def test_an_edit_whose_date_was_put_back_is_read(world, memory) -> None:
    path = write_old(world, "a.txt", "heliotrope")
    memory.index()

    path.write_text("heliograph", encoding="utf-8")
    os.utime(path, (1, 1))
    memory.index()

    assert [hit.file_name for hit in memory.search("heliograph").hits] == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time of change")
def test_other_rights_cost_a_hash_once_and_nothing_else(world, memory) -> None:
    path = write_old(world, "a.txt", "heliotrope in the garden")
    memory.index()

    path.chmod(0o400)
    once, twice = memory.index().run.tally, memory.index().run.tally

    assert (once.hashed, once.extracted, once.embedded, once.already_indexed) == (1, 0, 0, 1)
    assert (twice.hashed, twice.already_indexed) == (0, 1)


def test_a_memory_that_knows_no_times_of_change_notes_them_without_reading(world, memory) -> None:
    path = write_old(world, "a.txt", "heliotrope in the garden")
    memory.index()
    with closing(sqlite3.connect(world.home / "openmind.sqlite")) as connection, connection:
        connection.execute("UPDATE files SET ctime_ns = NULL")

    tally = memory.index().run.tally

    assert (tally.hashed, tally.already_indexed) == (0, 1)
    with closing(sqlite3.connect(world.home / "openmind.sqlite")) as connection:
        assert connection.execute("SELECT ctime_ns, title FROM files").fetchone()[0] == path.stat().st_ctime_ns


def test_what_is_ignored_now_is_forgotten(world, memory) -> None:
    write_old(world, "secret/a.txt", "zanzibar quartz")
    write_old(world, "b.txt", "heliotrope")
    memory.index()

    world.write(".openmindignore", "secret/\n")
    report = memory.index()

    assert report.run.tally.removed == 1
    assert all(hit.file_name != "a.txt" for hit in memory.search("zanzibar quartz").hits)


def test_a_raised_limit_takes_in_what_was_too_big(world) -> None:
    write_old(world, "big.txt", "heliotrope " * 150_000)
    with world.memory():
        (world.home / "config.toml").write_text("[indexing]\nmax_file_mb = 1\n")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        assert memory.index().run.tally.skipped == 1
    (world.home / "config.toml").write_text("[indexing]\nmax_file_mb = 5\n")
    with world.memory() as memory:
        assert memory.index().run.tally.indexed == 1


def test_removing_a_source_does_not_hide_that_another_lost_passages(world, memory, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "k.txt").write_text("chrysanthemum")
    write_old(world, "a.txt", "heliotrope")
    memory.sources.add(other)
    memory.index()
    shutil.copytree(world.home / "lancedb", tmp_path / "earlier")
    write_old(world, "b.txt", "zanzibar quartz")
    memory.index()
    shutil.rmtree(world.home / "lancedb")
    shutil.copytree(tmp_path / "earlier", world.home / "lancedb")

    memory.sources.remove(memory.sources.list()[1].id)
    memory.index()

    assert first(memory, "zanzibar quartz") == "b.txt"


def test_a_source_can_be_removed_while_the_index_is_lost(world, memory) -> None:
    write_old(world, "a.txt", "heliotrope")
    memory.index()
    shutil.rmtree(world.home / "lancedb")

    memory.sources.remove(memory.sources.list()[0].id)

    assert memory.sources.list() == ()


def test_an_outage_does_not_throw_away_a_change_of_model_that_was_begun(world) -> None:
    world.use("first", dimension=64)
    for number in range(40):
        write_old(world, f"{number}.txt", f"heliotrope number{number}")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    second = world.use("second", dimension=32)
    world.provider.embeddings = server = Server(second, requests=1)
    with world.memory() as memory:
        memory.index()
        server.up = False
        write_old(world, "new.txt", "zanzibar quartz")
        memory.index()
        server.up, server.requests = True, 1_000

        memory.index()

        assert len(second.embedded) == len(set(second.embedded)) == 41
        assert not memory.search("number7").degraded


def test_a_run_that_breaks_down_says_so(world, memory) -> None:
    write_old(world, "a.txt", "heliotrope")

    def hang_up(_: object) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        memory.index(progress=hang_up)

    assert memory.status().indexing_state is None


class Server:
    """An embedder that goes away after some requests, and may be down altogether."""

    in_process = False
    profile = RetrievalProfile()
    max_input_chars = 8_000

    def __init__(self, inner, requests: int) -> None:
        self.inner, self.requests, self.up = inner, requests, True

    @property
    def identity(self):
        if not self.up:
            raise ProviderUnreachable("the fake provider does not answer")
        return self.inner.identity

    def embed(self, texts, *, role):
        if not self.up or (role == "passage" and self.requests == 0):
            raise ProviderUnreachable("the fake provider does not answer")
        if role == "passage":
            self.requests -= 1
        return self.inner.embed(texts, role=role)
