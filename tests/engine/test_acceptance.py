"""What the first acceptable build must prove, as far as it needs no API. One test a sentence.

The sentences about the API are tested beside it.
"""

import io
import itertools
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from openmind.adapters.home import Home
from openmind.application.searching.service import SearchService
from openmind.domain.chunking import ChunkingPolicy, split
from openmind.domain.documents import ExtractedDocument, Segment
from openmind.domain.jobs import JobState
from openmind.domain.search import SearchRequest
from openmind.testing.fakes.images import FakeDescriber
from openmind.testing.fakes.shelf import Shelf
from openmind_cli.main import main
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.provider import LMStudioProvider
from PIL import Image

sys.path.append(str(Path(__file__).parents[1]))

from lmstudio_server import ScriptedServer


@pytest.fixture
def home(world, monkeypatch) -> Path:
    monkeypatch.setenv("OPENMIND_HOME", str(world.home))
    return world.home


def rows(home: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / "openmind.sqlite")) as catalog:
        return catalog.execute(sql).fetchall()


def test_acceptance_init_creates_app_data_directories_and_sqlite_tables(home) -> None:
    assert main(["init"]) == 0

    tables = {name for (name,) in rows(home, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"sources", "files", "index_runs", "index_jobs"} <= tables
    assert home.is_dir()


def test_acceptance_source_add_records_a_user_approved_source(world, home) -> None:
    assert main(["source", "add", str(world.notes)]) == 0

    assert rows(home, "SELECT path, enabled FROM sources") == [(str(world.notes), 1)]


def test_acceptance_source_list_shows_recorded_sources(world, home, capsys) -> None:
    main(["source", "add", str(world.notes)])
    capsys.readouterr()

    assert main(["source", "list"]) == 0

    assert str(world.notes) in capsys.readouterr().out.replace("\n", "")


def test_acceptance_initialization_cleans_indexed_data_orphaned_by_legacy_source_removal(home) -> None:
    Home(home).create()
    with closing(sqlite3.connect(home / "openmind.sqlite")) as catalog:
        catalog.executescript(
            "CREATE TABLE sources (id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE,"
            " recursive INTEGER NOT NULL DEFAULT 1, enabled INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL);"
            "CREATE TABLE files (id TEXT PRIMARY KEY, source_id TEXT NOT NULL, path TEXT NOT NULL UNIQUE,"
            " name TEXT NOT NULL, extension TEXT NOT NULL, size INTEGER NOT NULL, modified_at REAL NOT NULL,"
            " content_hash TEXT NOT NULL, status TEXT NOT NULL, indexed_at TEXT, error TEXT);"
            "INSERT INTO files VALUES ('f', 'removed', '/gone/a.md', 'a.md', '.md', 1, 1, 'x', 'indexed', NULL, NULL);"
        )

    assert main(["init"]) == 0

    assert rows(home, "SELECT COUNT(*) FROM files") == [(0,)]


def test_acceptance_the_scanner_finds_supported_files_and_ignores_noisy_folders(world, memory) -> None:
    for name in ("kept.md", "node_modules/left-pad/readme.md", ".git/description.txt", "__pycache__/x.txt"):
        world.write(name, f"The text of {name}.")
    world.write("program.exe", "MZ")

    memory.index()

    found = {record.path_bytes.decode().removeprefix(f"{world.notes}/"): record for record in memory.documents.list()}
    assert {name for name, record in found.items() if record.live_generation} == {"kept.md"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("plain.txt", "The heliotrope blooms.", "heliotrope blooms"),
        ("page.html", "<html><body><p>The <b>heliotrope</b> blooms.</p></body></html>", "heliotrope blooms"),
        ("table.csv", "plant,month\nheliotrope,May\n", "heliotrope May"),
        ("note.md", "# Garden\n\nThe heliotrope *blooms*.\n", "heliotrope blooms"),
    ],
)
def test_acceptance_extractors_turn_supported_test_files_into_text(world, memory, name, content, words) -> None:
    world.write(name, content)

    memory.index()

    [hit] = memory.search(words).hits
    assert hit.file_name == name
    assert all(word in hit.text for word in words.split()[:1])


def test_acceptance_the_image_extractor_stores_descriptions_and_not_raw_image_bytes(world) -> None:
    world.provider.eyes = FakeDescriber()
    Home(world.home).create()
    (world.home / "config.toml").write_text('[provider]\nname = "fake"\n[extraction.images]\nmodel = "fake-eyes"\n')
    packed = io.BytesIO()
    Image.effect_noise((200, 200), 80).convert("RGB").save(packed, "PNG")
    (world.notes / "bike.png").write_bytes(packed.getvalue())

    with world.memory() as memory:
        memory.sources.add(world.notes, ocr=False)
        memory.index()
        [hit, *_] = memory.search("red bicycle").hits

    assert "red bicycle" in hit.text
    stored = b"".join(path.read_bytes() for path in world.home.rglob("*") if path.is_file())
    assert packed.getvalue()[200:400] not in stored


def test_acceptance_the_chunker_creates_overlapping_chunks_with_stable_source_metadata() -> None:
    words = " ".join(f"word{number}" for number in range(2_000))
    document = ExtractedDocument(segments=(Segment(text=words),))

    chunks, again = (list(split(document, ChunkingPolicy())) for _ in range(2))

    assert chunks == again
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    for former, latter in itertools.pairwise(chunks):
        assert latter.text.split()[0] in former.text.split()


def test_acceptance_sqlite_file_records_can_be_inserted_and_updated(world, memory) -> None:
    world.write("note.md", "The first text.")
    memory.index()
    before = rows(world.home, "SELECT id, content_hash, status FROM files")

    world.write("note.md", "Another text, which is longer.")
    memory.index()

    [(file_id, content_hash, status)] = rows(world.home, "SELECT id, content_hash, status FROM files")
    assert (file_id, status) == (before[0][0], "indexed")
    assert content_hash != before[0][1]


def test_acceptance_the_search_service_ranks_with_a_fake_embedder_and_a_fake_vector_store() -> None:
    shelf = Shelf()
    shelf.put("/notes/bread.md", "Bake the bread for forty minutes.")
    shelf.put("/notes/garden.md", "The heliotrope in the garden blooms in May.")
    service: SearchService = shelf.searching()

    found = service.search(SearchRequest(query="heliotrope garden"))

    assert found.hits[0].file_name == "garden.md"
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_acceptance_the_lm_studio_client_lists_and_loads_models() -> None:
    with ScriptedServer() as server, closing(LMStudioProvider(LMStudioConfig(base_url=server.base_url))) as provider:
        keys = [model.key for model in provider.models()]

        provider.load(keys[0])

        assert len(keys) > 1
        assert next(model for model in provider.models() if model.key == keys[0]).loaded


def test_acceptance_sqlite_can_create_and_update_indexing_job_status(world, home) -> None:
    main(["source", "add", str(world.notes)])
    assert main(["index", "start"]) == 0
    [(created,)] = rows(home, "SELECT id FROM index_jobs")

    for _ in range(1_200):
        [(job, status)] = rows(home, "SELECT id, status FROM index_jobs")
        if JobState(status).finished:
            break
        time.sleep(0.1)

    assert (job, status) == (created, JobState.COMPLETED.value)
