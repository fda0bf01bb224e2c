"""A small memory in memory: texts put where indexing would have put them."""

import hashlib

from attrs import define, evolve, field

from openmind.application.searching.service import SearchService
from openmind.domain import packing
from openmind.domain.analysis import passage_words
from openmind.domain.chunks import Chunk, ChunkRow, passage_hash
from openmind.domain.documents import DocumentFacts, Locator
from openmind.domain.errors import ProviderError
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import IndexIdentity, IndexTable
from openmind.domain.models import EmbedderIdentity
from openmind.domain.paths import extension_of, name_of
from openmind.domain.sources import Source
from openmind.ports.catalog import Publication
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.testing.fakes.catalog import MemoryCatalog
from openmind.testing.fakes.chunk_store import MemoryChunkStore
from openmind.testing.fakes.models import FakeEmbeddings

CREATED = "2026-01-01T00:00:00Z"


@define(kw_only=True)
class Shelf:
    """Holds sources and files, and searches them."""

    embedder: FakeEmbeddings = field(factory=FakeEmbeddings)
    catalog: MemoryCatalog = field(factory=MemoryCatalog)
    chunks: MemoryChunkStore = field(factory=MemoryChunkStore)
    table: IndexTable = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.table = self.new_table("chunks")

    def new_table(self, name: str, embedder: FakeEmbeddings | None = None) -> IndexTable:
        """Make a table for an embedder; the first one is live."""
        identity = IndexIdentity(embedder=(embedder or self.embedder).identity, chunking=1, analyser=1)
        self.chunks.create(name, dimension=identity.embedder.dimension)
        with self.catalog.writing() as session:
            return session.add_table(name, identity)

    def source(self, path: str) -> Source:
        """Find a source, or add it."""
        with self.catalog.writing() as session:
            for source in session.sources():
                if source.path == path:
                    return source
            source_id = SourceId(f"src_{hashlib.sha256(path.encode()).hexdigest()[:12]}")
            added = Source(id=source_id, path_bytes=path.encode(), created_at=CREATED)
            session.add_source(added)
            return added

    def change_source(self, source: Source) -> None:
        with self.catalog.writing() as session:
            session.update_source(source)

    def put(
        self,
        path: str,
        *texts: str,
        title: str = "",
        locator: Locator = (),
        vectors: bool = True,
        modified_at: float = 1_000.0,
        source: str | None = None,
    ) -> FileRecord:
        """Put a file with these passages at a path; what was there before is garbage."""
        holder = self.source(source or path.rsplit("/", 1)[0])
        with self.catalog.writing() as session:
            [generation] = session.begin([self.table.id], 1)
        record = self._record(path, holder, title, len(texts), modified_at, generation)
        record = evolve(record, missing_vectors=0 if vectors else len(texts))
        chunks = [Chunk(index=at, text=text, locator=locator, context=title) for at, text in enumerate(texts)]
        self.chunks.add(self.table.name, [self._row(chunk, record, vectors=vectors) for chunk in chunks])
        with self.catalog.writing() as session:
            session.publish([Publication(record=record)], table_ids=[self.table.id], at=0.0)
        return record

    def forget(self, record: FileRecord) -> None:
        """Take a file out of the catalog; its rows stay where they are."""
        with self.catalog.writing() as session:
            session.forget([record.id], at=0.0)

    def searching(self, scope: tuple[SourceId, ...] | None = None) -> SearchService:
        return SearchService(
            catalog=self.catalog, chunks=lambda: self.chunks, embedder_for=self.embedder_for, scope=scope
        )

    def embedder_for(self, identity: EmbedderIdentity) -> EmbeddingProvider:
        if self.embedder.identity != identity:
            raise ProviderError(f"{identity.model} is another model now")
        return self.embedder

    def _record(
        self, path: str, source: Source, title: str, chunks: int, modified_at: float, generation: Generation
    ) -> FileRecord:
        digest = hashlib.sha256(path.encode()).hexdigest()
        return FileRecord(
            id=FileId(f"file_{digest[:16]}"),
            source_id=source.id,
            path_bytes=path.encode(),
            stat=FileStat(size=chunks, mtime_ns=int(modified_at * 1_000_000_000)),
            scanned_ns=0,
            content_hash=digest,
            reason=FileReason.OK,
            title=title,
            live_generation=generation,
            chunk_count=chunks,
            indexed_at=CREATED,
        )

    def _row(self, chunk: Chunk, record: FileRecord, *, vectors: bool) -> ChunkRow:
        path, name = record.path_bytes.decode(), name_of(record.path_bytes)
        assert record.live_generation is not None
        return ChunkRow(
            generation=record.live_generation,
            file_id=record.id,
            source_id=record.source_id,
            path=path,
            file_name=name,
            extension=extension_of(name),
            title=record.title,
            text=chunk.text,
            words=passage_words(chunk.text, context=chunk.context, file_name=name, path=path),
            vector=self.embedder.embed([chunk.embedded_text], role="passage").row_bytes(0) if vectors else None,
            index=chunk.index,
            content_hash=record.content_hash,
            modified_at=record.stat.modified_at,
            indexed_at=record.indexed_at,
            passage=passage_hash(chunk.text),
            metadata=packing.chunk_metadata(chunk, DocumentFacts(title=record.title)),
        )
