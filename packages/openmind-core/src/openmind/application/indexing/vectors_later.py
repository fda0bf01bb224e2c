"""Makes the vectors that are still missing: of a table that is filled, and of passages that went live by words."""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence

import attrs
from attrs import define, field

from openmind.application.indexing.batch import BATCH_ROWS
from openmind.application.indexing.embedding import Embedding, embed_whole, input_hash
from openmind.application.indexing.run_log import RunLog
from openmind.application.indexing.tables import Target
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ProviderError
from openmind.domain.files import FileReason, FileRecord
from openmind.domain.ids import FileId, Generation
from openmind.domain.packing import stored_input
from openmind.domain.refused_passages import RefusedPassages, is_given_up, is_marked, marked
from openmind.ports.catalog import Catalog, CatalogReader, Publication
from openmind.ports.chunk_store import ChunkStore
from openmind.ports.embedding_provider import EmbeddingProvider

PAGE = 500
"""Files that are looked up at once."""
STEP_S = 0.5
"""How long a server is kept busy before a wish to stop is heard."""
STEP_TEXTS = 1_000
"""The same for an embedder that runs in this process."""


@define(kw_only=True)
class VectorsLater:
    """Embeds passages that are stored already. Needs the index lock; reads no user file."""

    catalog: Catalog
    chunks: ChunkStore
    embedding: Embedding
    log: RunLog
    """Hears how many passages are to get vectors, and how many have theirs."""
    heed: Callable[[], None]
    """Called between batches; raises to end the work, which goes on with the next run."""
    beside: Callable[[Callable[[], None]], None] = lambda write: write()
    """Lets the chunk store write; may raise before it is done."""
    left_out: Callable[[FileRecord, RefusedPassages], None] = lambda record, refused: None
    """Hears of a file with passages that the embedder cannot take."""
    retry: bool = False
    """Whether passages that it refused in an earlier run are tried again."""
    clock: Callable[[], float] = time.monotonic
    _ahead: int = field(default=0, init=False)
    """Vectors of the group at hand that were counted as they came."""

    def fill(self, live: Target, filling: Target) -> ProviderError | None:
        """Copy every live passage to the filling table, with vectors of its embedder; then switch.

        Returns:
            The provider's error that ended the work early, if one did.
        """
        if filling.embedder is None:
            return None  # the run has told why
        with self.catalog.reading() as snapshot:
            filled = sum(chunks for _, _, chunks in snapshot.filled_generations(filling.table.id))
            self.log.count(vectors_wanted=max(0, snapshot.counts().chunks - filled))
        after: FileId | None = None
        while True:
            self.heed()
            with self.catalog.reading() as snapshot:
                files = snapshot.unfilled(filling.table.id, after=after, limit=PAGE)
            if not files:
                self._switch(filling)
                return None
            for group in _groups(files):
                after = group[-1].id
                error = self._fill(live, filling, filling.embedder, group)
                if error is not None:
                    return error

    def complete(self, live: Target) -> ProviderError | None:
        """Give vectors to the live passages that have none, as new generations.

        Returns:
            The provider's error that ended the work early, if one did.
        """
        if live.embedder is None:
            return None  # the run has told why
        with self.catalog.reading() as snapshot:
            wanted = sum(
                file.missing_vectors for page in _pages(snapshot) for file in page if not self._is_given_up(file)
            )
        self.log.count(vectors_wanted=wanted)
        after: FileId | None = None
        while True:
            self.heed()
            with self.catalog.reading() as snapshot:
                files = next(_pages(snapshot, after), ())
            if not files:
                return None
            after = files[-1].id
            for group in _groups([file for file in files if not self._is_given_up(file)]):
                error = self._complete(live, live.embedder, group)
                if error is not None:
                    return error

    def _is_given_up(self, file: FileRecord) -> bool:
        return not self.retry and is_given_up(file)

    def _fill(
        self, live: Target, filling: Target, embedder: EmbeddingProvider, files: Sequence[FileRecord]
    ) -> ProviderError | None:
        generations = [file.live_generation for file in files if file.live_generation is not None]
        rows = list(self.chunks.read_generations(live.table.name, generations))
        vectors, error = self._vectors(filling, embedder, rows)
        self._settle(rows, vectors)
        marks = self._marks(embedder, files, rows, vectors)
        whole = self._whole(embedder, generations, rows, vectors)
        name = filling.table.name
        fresh = [
            attrs.evolve(row, vector=vectors.get(input_hash(stored_input(row))))
            for row in rows
            if row.generation in whole
        ]

        def write() -> None:
            self.chunks.delete(name, whole)  # rows that went there without a vector
            self.chunks.add(name, fresh)
            self.chunks.fold(name)

        self.beside(write)
        with self.catalog.writing() as session:
            session.mark_filled(filling.table.id, whole)
            session.record(marks.values(), at=time.time())
            session.drop_vectors(embedder.identity.key, list(vectors))
        return error

    def _complete(self, live: Target, embedder: EmbeddingProvider, files: Sequence[FileRecord]) -> ProviderError | None:
        by_generation = {file.live_generation: file for file in files if file.live_generation is not None}
        rows = list(self.chunks.read_generations(live.table.name, by_generation.keys()))
        known = {input_hash(stored_input(row)): row.vector for row in rows if row.vector is not None}
        lacking = [row for row in rows if row.vector is None]
        vectors, error = self._vectors(live, embedder, lacking)
        self._settle(lacking, vectors)
        vectors.update(known)
        marks = self._marks(embedder, files, rows, vectors)
        gained = {row.generation for row in rows if row.vector is None and input_hash(stored_input(row)) in vectors}
        whole = [number for number in self._whole(embedder, list(by_generation), rows, vectors) if number in gained]
        if not whole:
            with self.catalog.writing() as session:
                session.record(marks.values(), at=time.time())
            return error
        ids = [live.table.id]
        with self.catalog.writing() as session:
            fresh = dict(zip(whole, session.begin(ids, len(whole)), strict=True))
        renewed = [
            attrs.evolve(row, generation=fresh[row.generation], vector=vectors.get(input_hash(stored_input(row))))
            for row in rows
            if row.generation in fresh
        ]

        def write() -> None:
            self.chunks.add(live.table.name, renewed)
            self.chunks.fold(live.table.name)

        self.beside(write)
        without = Counter(row.generation for row in rows if input_hash(stored_input(row)) not in vectors)
        with self.catalog.writing() as session:
            publications = [
                Publication(
                    record=attrs.evolve(
                        marks.get(by_generation[old].id, by_generation[old]),
                        live_generation=new,
                        missing_vectors=without[old],
                    )
                )
                for old, new in fresh.items()
            ]
            published = {publication.record.id for publication in publications}
            session.record([mark for id, mark in marks.items() if id not in published], at=time.time())
            session.publish(publications, table_ids=ids, at=time.time())
            session.drop_vectors(embedder.identity.key, list(vectors))
        return error

    def _count(self, embedded: int) -> None:
        """Count at once, since a group of passages may take a server hours."""
        self.log.count(embedded=embedded, vectors_made=embedded)
        self._ahead += embedded

    def _settle(self, rows: Sequence[ChunkRow], vectors: Container[bytes]) -> None:
        """Count also what needed no embedding: equal passages, and what an earlier run had made."""
        made = sum(input_hash(stored_input(row)) in vectors for row in rows)
        self.log.count(vectors_made=made - self._ahead)
        self._ahead = 0

    def _switch(self, filling: Target) -> None:
        """Let the filled table take over. Passages that its embedder refused go on to be missing there."""
        with self.catalog.reading() as snapshot:
            files = [file for file in _partial_files(snapshot) if is_marked(file)]
        generations = [file.live_generation for file in files if file.live_generation is not None]
        rows = self.chunks.read_generations(filling.table.name, generations) if generations else ()
        missing = Counter(row.generation for row in rows if row.vector is None)
        still = [
            attrs.evolve(file, missing_vectors=missing[generation])
            for file in files
            if (generation := file.live_generation) is not None and generation in missing
        ]
        with self.catalog.writing() as session:
            session.switch(filling.table.id)
            session.record(still, at=time.time())

    def _marks(
        self,
        embedder: EmbeddingProvider,
        files: Sequence[FileRecord],
        rows: Sequence[ChunkRow],
        vectors: Container[bytes],
    ) -> dict[FileId, FileRecord]:
        """The records, by id, that have to say something else now of what the embedder refuses."""
        texts: dict[Generation | None, list[str]] = {}
        for row in rows:
            texts.setdefault(row.generation, []).append(stored_input(row))
        marks = {}
        for file in files:
            own = texts.get(file.live_generation, [])
            refused = self.embedding.refusals(embedder, own)
            if refused:
                self.left_out(file, refused)
            elif any(input_hash(text) not in vectors for text in own):
                continue  # not tried yet
            mark = marked(file, refused)
            if mark != file:
                marks[file.id] = mark
        return marks

    def _whole(
        self,
        embedder: EmbeddingProvider,
        generations: Sequence[Generation],
        rows: Sequence[ChunkRow],
        vectors: Container[bytes],
    ) -> list[Generation]:
        """Generations of which every passage has a vector now, or will have none in this run."""
        lacking = {row.generation for row in rows if self.embedding.lacks(embedder, stored_input(row), vectors)}
        return [generation for generation in generations if generation not in lacking]

    def _vectors(
        self, target: Target, embedder: EmbeddingProvider, rows: Sequence[ChunkRow]
    ) -> tuple[dict[bytes, bytes], ProviderError | None]:
        texts = [stored_input(row) for row in rows]
        if target.in_process:
            return self._in_process(embedder, texts)
        vectors: dict[bytes, bytes] = {}
        lacking = texts
        while lacking:
            self.heed()
            until = self.clock() + STEP_S
            vectors, error = self.embedding.embed(embedder, texts, known=vectors, until=until, told=self._count)
            if error is not None:
                return vectors, error
            lacking = [text for text in texts if self.embedding.lacks(embedder, text, vectors)]
        return vectors, None

    def _in_process(
        self, embedder: EmbeddingProvider, texts: Sequence[str]
    ) -> tuple[dict[bytes, bytes], ProviderError | None]:
        vectors: dict[bytes, bytes] = {}
        for start in range(0, len(texts), STEP_TEXTS):
            self.heed()
            some = texts[start : start + STEP_TEXTS]
            try:
                matrix = embed_whole(embedder, some)
            except ProviderError as error:
                return vectors, error
            self._count(len(some))
            vectors.update({input_hash(text): matrix.row_bytes(at) for at, text in enumerate(some)})
        return vectors, None


def _groups(files: Sequence[FileRecord]) -> Iterator[list[FileRecord]]:
    """Cut a page of files into groups of a batch's size; a file larger than that is a group of its own."""
    group: list[FileRecord] = []
    rows = 0
    for file in files:
        if group and rows + file.chunk_count > BATCH_ROWS:
            yield group
            group, rows = [], 0
        group.append(file)
        rows += file.chunk_count
    if group:
        yield group


def _pages(snapshot: CatalogReader, after: FileId | None = None) -> Iterator[Sequence[FileRecord]]:
    """Page through the files that lack vectors."""
    while files := snapshot.files_without_vectors(after=after, limit=PAGE):
        yield files
        after = files[-1].id


def _partial_files(snapshot: CatalogReader) -> Iterator[FileRecord]:
    after: bytes | None = b""
    while after is not None:
        page = snapshot.list_files(reasons=(FileReason.PARTIAL,), after=after, limit=PAGE)
        yield from page
        after = page[-1].path_bytes if page else None
