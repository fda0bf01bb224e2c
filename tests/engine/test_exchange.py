"""A memory leaves as one file and comes back as it was."""

import json
import os
import re
import sqlite3
import stat
import struct
import zipfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from openmind import open_memory
from openmind.bootstrap import open_empty_memory
from openmind.domain.errors import ArchiveDamaged, IndexingBusy, MemoryNotEmpty, StoreError, StoreFull, UsageError
from openmind.domain.files import FileReason
from openmind.domain.search import SearchState


@pytest.fixture
def indexed(world, memory):
    for number in range(30):
        world.write(f"{number}.md", f"# Note {number}\n\nheliotrope number{number} in the garden")
    world.write("long.txt", "\n\n".join(f"Paragraph {part} of zinnias. " + "They grow. " * 120 for part in range(8)))
    world.write("empty.txt", "")
    (world.notes / "caf\u00e9 \udcff.txt").write_text("begonia")
    memory.index()
    return memory


@pytest.fixture
def archive(indexed, tmp_path: Path) -> Path:
    indexed.maintenance.export(tmp_path / "memory.zip")
    return tmp_path / "memory.zip"


def hits(memory, query: str) -> list[tuple[str, str, object, float]]:
    return [(hit.path, hit.text, hit.locator, hit.score) for hit in memory.search(query, limit=10).hits]


QUERIES = ["number7", "garden", "zinnias grow", "begonia", "note 12"]


def test_what_comes_back_is_what_left(world, indexed, archive: Path, tmp_path: Path) -> None:
    with open_memory(tmp_path / "other") as other:
        report = other.maintenance.import_(archive)

        assert report.files == 33
        assert report.disabled_sources == ()
        assert [hits(other, query) for query in QUERIES] == [hits(indexed, query) for query in QUERIES]
        assert [source.path_bytes for source in other.sources.list()] == [world.notes.__fspath__().encode()]
        assert other.status().by_reason == indexed.status().by_reason
        assert other.status().by_reason[FileReason.EMPTY] == 1
        assert other.maintenance.examine().findings == ()
        again = other.index().run.tally
        assert (again.already_indexed + again.skipped, again.extracted, again.embedded) == (33, 0, 0)


def test_a_served_model_s_vectors_come_back_without_embedding_anew(world, tmp_path: Path) -> None:
    embedder = world.use()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        memory.maintenance.export(tmp_path / "memory.zip")
    world.home = tmp_path / "other"
    again = world.use()
    with world.memory() as other:
        other.maintenance.import_(tmp_path / "memory.zip")

        assert not other.search("heliotrope").degraded
        assert other.index().run.tally.embedded == 0
        assert "heliotrope in the garden" not in again.embedded
    assert embedder.embedded.count("heliotrope in the garden") == 1


def test_sources_that_are_not_here_come_in_disabled_and_forget_nothing(world, archive: Path, tmp_path: Path) -> None:
    world.notes.rename(tmp_path / "elsewhere")
    with open_memory(tmp_path / "other") as other:
        report = other.maintenance.import_(archive)

        assert report.disabled_sources == (str(world.notes),)
        assert [source.enabled for source in other.sources.list()] == [False]
        assert other.search("number7").state is SearchState.NOTHING_INDEXED
    with open_memory(tmp_path / "third") as third:
        third.maintenance.import_(archive, enable_missing=True)

        assert third.search("number7").hits
        third.index()
        assert third.search("number7").hits


def test_an_archive_is_open_to_other_programs_and_to_its_owner_only(indexed, archive: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with zipfile.ZipFile(archive) as bundle:
        bundle.extractall(tmp_path / "open")
    manifest = json.loads((tmp_path / "open" / "manifest.json").read_text())
    passages = pyarrow.parquet.read_table(tmp_path / "open" / "passages.parquet").to_pylist()
    texts = pyarrow.parquet.read_table(tmp_path / "open" / "texts.parquet").to_pylist()

    assert manifest["index"]["embedder"]["provider"] == "builtin"
    assert manifest["counts"]["passages"] == len(passages)
    assert {len(row["vector"]) for row in passages} == {4 * manifest["index"]["embedder"]["dimension"]}
    assert any("heliotrope number7" in part["text"] for row in texts for part in row["segments"])
    assert list(tmp_path.glob(".memory.zip.*")) == []


def test_an_import_does_not_mix(indexed, archive: Path) -> None:
    with pytest.raises(MemoryNotEmpty):
        indexed.maintenance.import_(archive)

    assert indexed.search("number7").hits


def truncated(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])


def no_archive(archive: Path) -> None:
    archive.write_text("thesis")


def other_zip(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("../../evil.txt", "evil")


def rewritten(change):
    def rewrite(archive: Path) -> None:
        with zipfile.ZipFile(archive) as bundle:
            members = {name: bundle.read(name) for name in bundle.namelist()}
        change(members)
        with zipfile.ZipFile(archive, "w") as bundle:
            for name, data in members.items():
                bundle.writestr(name, data)

    return rewrite


def set_version(members) -> None:
    manifest = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps({**manifest, "version": 99}).encode()


def break_manifest(members) -> None:
    members["manifest.json"] = b'{"format": "openmind-archive", "version": 1}'


def lose_passages(members) -> None:
    import io

    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(members["passages.parquet"]))
    out = io.BytesIO()
    pyarrow.parquet.write_table(table.slice(0, table.num_rows - 3), out)
    members["passages.parquet"] = out.getvalue()


def break_passages(members) -> None:
    data = bytearray(members["passages.parquet"])
    data[200:2000] = b"\x5a" * 1800
    members["passages.parquet"] = bytes(data)


def column(part: str, name: str, change):
    """Rewrite a column of a part: `change` makes a value of its row number and the former value."""

    def rewrite(members) -> None:
        import io

        import pyarrow
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(io.BytesIO(members[f"{part}.parquet"]))
        place = table.schema.get_field_index(name)
        values = [change(row, value) for row, value in enumerate(table[name].to_pylist())]
        out = io.BytesIO()
        kind = table.schema.field(place)
        pyarrow.parquet.write_table(table.set_column(place, kind, pyarrow.array(values, kind.type)), out)
        members[f"{part}.parquet"] = out.getvalue()

    return rewritten(rewrite)


def first(value):
    """Change the first row alone."""
    return lambda row, former: value if row == 0 else former


def count_one_more(part: str):
    def claim(members) -> None:
        manifest = json.loads(members["manifest.json"])
        manifest["counts"][part] += 1
        members["manifest.json"] = json.dumps(manifest).encode()

    return rewritten(claim)


NOT_A_NUMBER = struct.pack("<f", float("nan"))
UNSOUND = {
    "metadata of a passage": column("passages", "metadata", first("{not json")),
    "metadata of a passage of another shape": column("passages", "metadata", first('{"locator": [{"kind": 1}]}')),
    "metadata of a file": column("files", "metadata", first("[]")),
    "settings of a source": column("sources", "config", first("{")),
    "metadata of a text": column("texts", "metadata", first("{not json")),
    "no text": column("passages", "text", first(None)),
    "unknown reason": column("files", "reason", first("bogus")),
    "unknown status": column("files", "status", first("bogus")),
    "status without that reason": column("files", "status", first("failed")),
    "size below 0": column("files", "size", first(-1)),
    "more missing than there are": column("files", "missing_vectors", first(10_000)),
    "path with ..": column("files", "path_bytes", lambda row, path: path + b"/../../../x" if row == 0 else path),
    "path with NUL": column("files", "path_bytes", lambda row, path: path + b"\0b" if row == 0 else path),
    "relative path": column("files", "path_bytes", first(b"notes/a.md")),
    "path outside its source": column("files", "path_bytes", first(b"/etc/passwd")),
    "two files with one path": column("files", "path_bytes", lambda row, path: path.rpartition(b"/")[0] + b"/same"),
    "two files with one name": column("files", "id", lambda *_: "file_1"),
    "file of no source": column("files", "source_id", first("src_other")),
    "relative source": column("sources", "path_bytes", first(b"notes")),
    "vector of no number": column("passages", "vector", lambda _, vector: NOT_A_NUMBER * (len(vector) // 4)),
    "vector of no length": column("passages", "vector", lambda _, vector: bytes(len(vector))),
    "vector cut off": column("passages", "vector", lambda row, vector: vector[:8] if row == 0 else vector),
    "passage out of order": column("passages", "chunk_index", lambda _, index: index + 1),
    "date of a passage": column("passages", "indexed_at", first("yesterday")),
    "moment of a passage": column("passages", "modified_at", first(float("inf"))),
    "fewer files than counted": count_one_more("files"),
    "fewer passages than counted": count_one_more("passages"),
    "fewer sources than counted": count_one_more("sources"),
}
"""What a row may hold that reading a memory could not rely on."""


def swap_parts(members) -> None:
    members["passages.parquet"] = members["files.parquet"]


def encrypt(archive: Path) -> None:
    """Claim that every member is encrypted."""
    with zipfile.ZipFile(archive) as bundle:
        heads = [info.header_offset + 6 for info in bundle.infolist()]
    data = bytearray(archive.read_bytes())
    central = [found.start() + 8 for found in re.finditer(rb"PK\x01\x02", bytes(data))]
    for at in (*heads, *central):
        data[at] |= 1
    archive.write_bytes(bytes(data))


def bomb(archive: Path) -> None:
    """Pack a hundred million zeros into a hundred thousand bytes."""
    with zipfile.ZipFile(archive) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    members["passages.parquet"] = bytes(100_000_000)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bundle:
        for name, data in members.items():
            bundle.writestr(name, data)


def bomb_of_parquet(members) -> None:
    """Pack a hundred million letters into a text that says so in few bytes."""
    import io

    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(members["passages.parquet"]))
    place = table.schema.get_field_index("text")
    huge = pyarrow.array(["a" * 100_000_000, *table["text"].to_pylist()[1:]])
    out = io.BytesIO()
    pyarrow.parquet.write_table(table.set_column(place, "text", huge), out, compression="zstd")
    members["passages.parquet"] = out.getvalue()


def claim_dimension(dimension: int):
    def claim(members) -> None:
        manifest = json.loads(members["manifest.json"])
        manifest["index"]["embedder"]["dimension"] = dimension
        members["manifest.json"] = json.dumps(manifest).encode()

    return claim


@pytest.mark.parametrize(
    "damage",
    [
        encrypt,
        bomb,
        rewritten(bomb_of_parquet),
        rewritten(claim_dimension(-1)),
        rewritten(claim_dimension(10**9)),
        rewritten(claim_dimension(7)),
        truncated,
        no_archive,
        other_zip,
        rewritten(set_version),
        rewritten(break_manifest),
        rewritten(lose_passages),
        rewritten(break_passages),
        rewritten(swap_parts),
    ],
    ids=[
        "encrypted",
        "bomb",
        "bomb in parquet",
        "no dimension",
        "vast dimension",
        "other dimension",
        "truncated",
        "none",
        "other zip",
        "newer",
        "manifest",
        "lost",
        "broken",
        "swapped",
    ],
)
def test_what_is_no_archive_is_refused_and_leaves_nothing(archive: Path, tmp_path: Path, damage) -> None:
    damage(archive)
    with open_memory(tmp_path / "other") as other:
        with pytest.raises(ArchiveDamaged):
            other.maintenance.import_(archive)

        assert other.sources.list() == ()
        assert other.status().files == 0
        assert list((tmp_path / "other" / "tmp").iterdir()) == []
        assert other.maintenance.examine().findings == ()
    assert not (tmp_path / "evil.txt").exists()


def test_an_archive_with_a_row_that_makes_no_sense_is_refused_and_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    sound = archive.read_bytes()
    accepted = []
    with open_memory(tmp_path / "other") as other:
        for name, damage in UNSOUND.items():
            archive.write_bytes(sound)
            damage(archive)
            try:
                other.maintenance.import_(archive)
            except ArchiveDamaged:
                assert (other.sources.list(), other.status().files) == ((), 0), name
            else:
                accepted.append(name)
                other.maintenance.flush(other.maintenance.plan_flush(include_sources=True))

        assert accepted == []
        assert other.maintenance.examine().findings == ()


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_home_that_was_made_for_an_import_that_fails_goes_again(tmp_path: Path, is_folder: bool) -> None:
    home = tmp_path / "other"
    if is_folder:
        home.mkdir()
    (tmp_path / "memory.zip").write_text("thesis")

    with pytest.raises(ArchiveDamaged), open_empty_memory(home) as other:
        other.maintenance.import_(tmp_path / "memory.zip")

    assert home.is_dir() == is_folder
    assert not is_folder or list(home.iterdir()) == []


def test_a_home_that_was_there_before_an_import_that_fails_stays(memory, world, tmp_path: Path) -> None:
    (tmp_path / "memory.zip").write_text("thesis")

    with pytest.raises(MemoryNotEmpty), open_empty_memory(world.home) as same:
        same.maintenance.import_(tmp_path / "memory.zip")

    assert len(memory.sources.list()) == 1


def test_folders_that_nobody_could_approve_come_in_disabled(archive: Path, tmp_path: Path) -> None:
    def claim_root(members) -> None:
        import io

        import pyarrow
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(io.BytesIO(members["sources.parquet"]))
        place = table.schema.get_field_index("path_bytes")
        out = io.BytesIO()
        pyarrow.parquet.write_table(table.set_column(place, table.schema.field(place), pyarrow.array([b"/"])), out)
        members["sources.parquet"] = out.getvalue()

    rewritten(claim_root)(archive)
    with open_memory(tmp_path / "other") as other:
        report = other.maintenance.import_(archive)

        assert report.disabled_sources == ("/",)
        assert [source.enabled for source in other.sources.list()] == [False]


@pytest.mark.skipif(os.name == "nt", reason="limits are those of POSIX")
def test_an_export_to_a_full_disk_leaves_nothing_and_what_was_there(indexed, archive: Path, tmp_path: Path) -> None:
    import resource

    before = archive.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(StoreFull):
            indexed.maintenance.export(archive)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert archive.read_bytes() == before
    assert [path for path in archive.parent.iterdir() if path.name.startswith(f".{archive.name}")] == []


def test_an_import_without_space_is_refused_and_leaves_nothing(archive: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_000))
    with open_memory(tmp_path / "other") as other:
        with pytest.raises(StoreFull, match="MB"):
            other.maintenance.import_(archive)

        assert other.sources.list() == ()


def replace_rows(memory, name: str, change) -> None:
    """Store other rows for the passages of a file, as a bad disk or a bad program may leave them."""
    with memory.storage.catalog.reading() as snapshot:
        [table] = snapshot.tables()
        [record] = [each for each in snapshot.list_files(limit=100) if each.path_bytes.endswith(name.encode())]
    chunks, generations = memory.storage.chunks, [record.live_generation]
    rows = list(chunks.read_generations(table.name, generations))
    chunks.delete(table.name, generations)
    chunks.add(table.name, change(rows))
    chunks.fold(table.name)


def test_what_is_damaged_is_left_out_and_named_and_the_rest_can_be_imported(world, indexed, tmp_path: Path) -> None:
    before, zeros = [hits(indexed, query) for query in QUERIES], bytes(1_024)
    replace_rows(indexed, "/7.md", lambda rows: [attrs.evolve(row, metadata="{not json") for row in rows])
    replace_rows(indexed, "/8.md", lambda rows: [attrs.evolve(row, vector=zeros[: len(row.vector)]) for row in rows])
    replace_rows(indexed, "long.txt", lambda rows: rows[:-1])
    with indexed.storage.catalog.writing() as session:
        [outside] = [each for each in session.list_files(limit=100) if each.path_bytes.endswith(b"/10.md")]
        session.record([attrs.evolve(outside, path_bytes=b"/elsewhere/10.md")], at=0.0)
    with closing(sqlite3.connect(world.home / "openmind.sqlite")) as catalog:
        catalog.execute(
            "UPDATE texts SET packed = x'00' WHERE content_hash = (SELECT content_hash FROM files WHERE path LIKE ?)",
            ("%/9.md",),
        )
        catalog.commit()

    report = indexed.maintenance.export(tmp_path / "memory.zip")

    damaged = sorted(str(world.notes / name) for name in ("7.md", "8.md", "9.md", "long.txt"))
    assert report.damaged_files == ("/elsewhere/10.md", *damaged)
    assert (report.manifest.files, report.manifest.passages) == (32, 28)
    with open_memory(tmp_path / "other") as other:
        assert other.maintenance.import_(tmp_path / "memory.zip").files == 32
        assert {Path(hit.path).name for hit in other.search("garden", limit=50).hits}.isdisjoint({"7.md", "8.md"})

        again = other.index().run.tally

        assert (again.failed, again.extracted) == (0, 0)  # all that is lost is made again from the kept text
        assert [hits(other, query) for query in QUERIES] == before
    indexed.index()
    assert indexed.maintenance.export(tmp_path / "again.zip").damaged_files == ()


def test_an_index_that_cannot_be_read_is_left_out_and_made_again_from_the_text(indexed, tmp_path: Path, world) -> None:
    for path in (world.home / "lancedb" / "chunks.lance" / "data").glob("*.lance"):
        path.write_bytes(b"")

    with world.memory() as memory:
        report = memory.maintenance.export(tmp_path / "memory.zip")

    assert (report.manifest.files, report.manifest.texts, report.manifest.passages) == (33, 32, 0)
    assert len(report.damaged_files) == 32
    with open_memory(tmp_path / "other") as other:
        other.maintenance.import_(tmp_path / "memory.zip")
        assert other.index().run.tally.extracted == 0
        assert other.search("number7").hits


def test_nothing_is_exported_while_something_is_indexed(indexed, tmp_path: Path) -> None:
    with indexed.storage.index_lock(), pytest.raises(IndexingBusy):
        indexed.maintenance.export(tmp_path / "memory.zip")


def test_a_file_that_cannot_be_written_is_told(indexed, tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        indexed.maintenance.export(tmp_path / "no" / "folder" / "memory.zip")


def test_paths_may_be_given_as_text(indexed, tmp_path: Path) -> None:
    indexed.maintenance.export(str(tmp_path / "memory.zip"))
    with open_memory(str(tmp_path / "other")) as other:
        assert other.maintenance.import_(str(tmp_path / "memory.zip")).files == 33


def test_nothing_is_exported_into_openmind_s_own_folder(world, memory) -> None:
    with pytest.raises(UsageError, match="own folder"):
        memory.maintenance.export(world.home / "logs" / "memory.zip")

    assert not (world.home / "logs" / "memory.zip").exists()


def test_an_empty_memory_can_be_exported_too(memory, tmp_path: Path) -> None:
    memory.maintenance.export(tmp_path / "memory.zip")
    with open_memory(tmp_path / "other") as other:
        other.maintenance.import_(tmp_path / "memory.zip")

        assert len(other.sources.list()) == 1
