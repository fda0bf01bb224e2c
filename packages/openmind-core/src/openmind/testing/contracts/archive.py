"""What every archive promises.

Subclass `ArchiveContract` and give a fixture `archive`.
"""

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from attrs import evolve

from openmind.domain.archives import KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Place, Segment
from openmind.domain.errors import ArchiveDamaged, StoreError
from openmind.domain.ids import Generation
from openmind.ports.archive import Archive, ArchiveContents
from openmind.testing.contracts.catalog_promises.samples import identity, record, source
from openmind.testing.contracts.chunk_store_promises.samples import row, unit

T = TypeVar("T")

DIMENSION = identity().embedder.dimension
SOURCES = [source("notes"), source("other", enabled=False)]
FILES = [record(1), record(2, generation=Generation(3)), record(3, generation=Generation(7))]
TEXTS = [
    KeptText(
        content_hash=record(2).content_hash,
        extractor="markdown/1",
        document=ExtractedDocument(
            segments=(Segment(text="É — one\ntwo", locator=(Place(kind="lines", start=1, end=2),)),),
            facts=DocumentFacts(title="A note", metadata={"tags": ["a"]}),
        ),
    )
]
PASSAGES = [
    row(3, 0, "heron", vector=unit(1, *[0] * (DIMENSION - 1))),
    row(3, 1, "otter"),
    row(7, 0, "“quoted”", vector=unit(0, 1, *[0] * (DIMENSION - 2))),
]
MANIFEST = Manifest(
    written_by="0.1.0",
    created_at="2026-01-02T03:04:05+00:00",
    identity=identity(),
    sources=len(SOURCES),
    files=len(FILES),
    texts=len(TEXTS),
    passages=len(PASSAGES),
)


class ChangedMindError(Exception):
    """Ends writing early."""


class ArchiveContract:
    """Subclass and give a fixture `archive`; every promise is checked."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """Where an archive is written: alone in a folder."""
        (tmp_path / "out").mkdir()
        return tmp_path / "out" / "memory.openmind"

    @pytest.fixture
    def room(self, tmp_path: Path) -> Path:
        (tmp_path / "room").mkdir()
        return tmp_path / "room"

    def test_everything_comes_back_in_the_order_in_which_it_was_written(
        self, archive: Archive, path: Path, room: Path
    ) -> None:
        archive.write(path, contents())

        with archive.open(path, room=room) as opened:
            assert opened.manifest == MANIFEST
            assert list(opened.sources()) == SOURCES
            assert list(opened.files()) == FILES
            assert list(opened.texts()) == TEXTS
            assert list(opened.passages()) == PASSAGES

    def test_a_memory_that_holds_nothing_comes_back_too(self, archive: Archive, path: Path, room: Path) -> None:
        empty = evolve(MANIFEST, identity=None, sources=0, files=0, texts=0, passages=0)
        archive.write(path, ArchiveContents(sources=[], passages=[], files=[], texts=[], manifest=lambda: empty))

        with archive.open(path, room=room) as opened:
            assert opened.manifest == empty
            assert [*opened.sources(), *opened.files(), *opened.texts(), *opened.passages()] == []

    def test_streams_are_read_once_in_the_order_of_the_fields(self, archive: Archive, path: Path) -> None:
        read: list[str] = []

        def told(name: str, items: Iterable[T]) -> Iterator[T]:
            for item in items:
                read.append(name)
                yield item

        def manifest() -> Manifest:
            read.append("manifest")
            return MANIFEST

        archive.write(
            path,
            ArchiveContents(
                sources=told("sources", SOURCES),
                passages=told("passages", PASSAGES),
                files=told("files", FILES),
                texts=told("texts", TEXTS),
                manifest=manifest,
            ),
        )

        assert read == ["sources"] * 2 + ["passages"] * 3 + ["files"] * 3 + ["texts", "manifest"]

    def test_the_file_is_for_its_owner_only(self, archive: Archive, path: Path) -> None:
        archive.write(path, contents())

        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0

    def test_what_cannot_be_written_to_its_end_leaves_nothing(self, archive: Archive, path: Path) -> None:
        with pytest.raises(ChangedMindError):
            archive.write(path, contents(breaking_off(PASSAGES)))

        assert list(path.parent.iterdir()) == []

    def test_what_cannot_be_written_to_its_end_leaves_the_archive_before_as_it_was(
        self, archive: Archive, path: Path, room: Path
    ) -> None:
        archive.write(path, contents())

        with pytest.raises(ChangedMindError):
            archive.write(path, contents(breaking_off(PASSAGES[:1])))

        assert list(path.parent.iterdir()) == [path]
        with archive.open(path, room=room) as opened:
            assert list(opened.passages()) == PASSAGES

    def test_a_place_that_cannot_be_written_is_an_error(self, archive: Archive, path: Path) -> None:
        path.write_bytes(b"a file, and no folder")

        with pytest.raises(StoreError):
            archive.write(path / "memory.openmind", contents())

    def test_nothing_stays_in_the_room_for_temporary_files(self, archive: Archive, path: Path, room: Path) -> None:
        archive.write(path, contents())

        with archive.open(path, room=room) as opened:
            list(opened.passages())

        assert list(room.iterdir()) == []
        assert list(path.parent.iterdir()) == [path]

    @pytest.mark.parametrize(
        "data",
        [b"", b"a letter to a friend", b"PK\x03\x04" + bytes(200)],
        ids=["empty", "text", "a zip file that breaks off"],
    )
    def test_what_is_no_archive_is_told(self, archive: Archive, path: Path, room: Path, data: bytes) -> None:
        path.write_bytes(data)

        with pytest.raises(ArchiveDamaged):
            read_all(archive, path, room)

    def test_an_archive_that_was_cut_off_is_damaged(self, archive: Archive, path: Path, room: Path) -> None:
        archive.write(path, contents())
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])

        with pytest.raises(ArchiveDamaged):
            read_all(archive, path, room)

    def test_an_archive_that_is_not_there_is_an_error(self, archive: Archive, path: Path, room: Path) -> None:
        with pytest.raises(StoreError):
            read_all(archive, path, room)


def contents(passages: Iterable[ChunkRow] = PASSAGES) -> ArchiveContents:
    return ArchiveContents(sources=SOURCES, passages=passages, files=FILES, texts=TEXTS, manifest=lambda: MANIFEST)


def breaking_off(rows: Iterable[ChunkRow]) -> Iterator[ChunkRow]:
    yield from rows
    raise ChangedMindError


def read_all(archive: Archive, path: Path, room: Path) -> None:
    """Read an archive to its end, as an import does."""
    with archive.open(path, room=room) as opened:
        for stream in (opened.sources(), opened.files(), opened.texts(), opened.passages()):
            list(stream)
