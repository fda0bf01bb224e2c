"""The chunk store by itself: `python benchmarks/store.py --rows 100000`.

Writes synthetic passages of 130 words with 256-dimensional vectors and prints CPU milliseconds (all threads) of what
the store is asked to do. Each figure that has a bar says whether it is met.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from corpus import Writer
from openmind.application.recovering.recovery import Recovery
from openmind.domain.chunks import ChunkRow, passage_hash
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import IndexIdentity, Visibility
from openmind.domain.models import EmbedderIdentity
from openmind.domain.sources import Source
from openmind.ports.catalog import Publication
from openmind.ports.chunk_store import CandidateQuery, ChunkFilter, WordsQuery
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.storage import LocalStorage
from processes import cpu_seconds

TABLE = "chunks"
DIMENSION = 256
ROWS_PER_FILE = 5
WORDS_PER_PASSAGE = 130
TOPICS = 200
NEWEST = Generation(2**40)


class Passages:
    """An endless supply of rows, the same each time."""

    def __init__(self, seed: int = 1) -> None:
        self.writer = Writer(seed)
        self.random = np.random.default_rng(seed)
        self.topics = self.random.normal(size=(TOPICS, DIMENSION))
        self.made = 0

    def take(self, count: int) -> list[ChunkRow]:
        return self.pick(count, 1)

    def pick(self, count: int, every: int) -> list[ChunkRow]:
        """Go on by `count` rows and make only some of them."""
        vectors = self.vectors(count)
        rows = [self.row(self.made + at, vectors[at].tobytes()) for at in range(0, count, every)]
        self.made += count
        return rows

    def vectors(self, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        vectors = self.topics[self.random.integers(0, TOPICS, count)] + self.random.normal(size=(count, DIMENSION))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype("<f4")

    def row(self, number: int, vector: bytes) -> ChunkRow:
        file = number // ROWS_PER_FILE
        words = self.words(number)
        path = f"/home/ada/documents/folder-{file % 100:02d}/note-{file:07d}.txt"
        return ChunkRow(
            generation=Generation(file + 1),
            file_id=FileId(f"file_{file:016x}"),
            source_id=SourceId(f"src_{file % 20:012x}"),
            path=path,
            file_name=path.rpartition("/")[2],
            extension=(".txt", ".md", ".pdf", ".csv")[file % 4],
            title="",
            text=words.capitalize(),
            words=words,
            vector=vector,
            index=number % ROWS_PER_FILE,
            content_hash=f"{file:064x}",
            modified_at=1.7e9 + file,
            indexed_at="2026-01-02T03:04:05Z",
            passage=passage_hash(words),
            metadata='{"locator": [["lines", 1, 9, ""]], "context": ""}',
        )

    def words(self, number: int) -> str:
        text = self.writer.text(number, WORDS_PER_PASSAGE * 6)
        return " ".join("".join(char if char.isalnum() else " " for char in text.lower()).split()[:WORDS_PER_PASSAGE])


def queries(rows: list[ChunkRow], count: int = 60) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Ask for six words of a passage, near its vector."""
    random = np.random.default_rng(7)
    for row in rows[:: max(1, len(rows) // count)][:count]:
        near = np.frombuffer(row.vector or b"", "<f4") + random.normal(size=DIMENSION) * 0.03
        words = list(dict.fromkeys(row.words.split()))[10:16]
        yield tuple(words), (near / np.linalg.norm(near)).astype("<f4").tobytes()


def cpu_ms(act: Callable[[], object]) -> float:
    before = time.process_time()
    act()
    return (time.process_time() - before) * 1_000


def report(name: str, *figures: float, bar: tuple[float, ...] = (), unit: str = "ms") -> None:
    text = " / ".join(f"{figure:8.1f}" for figure in figures)
    verdict = ""
    if bar:
        met = all(figure <= most for figure, most in zip(figures, bar, strict=True))
        verdict = f"{'ok' if met else 'MISSED'} (bar {' / '.join(f'{most:g}' for most in bar)})"
    print(f"{name:<58} {text} {unit:<4} {verdict}", flush=True)


def percentiles(times: list[float]) -> tuple[float, float]:
    ordered = sorted(times)
    return ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]


class Search:
    """Times the same questions under various conditions, each asked through a view of its own."""

    def __init__(self, store: LanceChunkStore, asked: list[tuple[tuple[str, ...], bytes]]) -> None:
        self.store = store
        self.asked = asked

    def time(
        self, *, words: bool = True, vectors: bool = True, where: ChunkFilter | None = None
    ) -> tuple[float, float]:
        where = where or ChunkFilter(visible=Visibility(newest=NEWEST))
        times = []
        for terms, vector in self.asked:
            query = CandidateQuery(
                words=WordsQuery(terms=terms) if words else None, vector=vector if vectors else None, filter=where
            )
            times.append(cpu_ms(partial(self.ask, query)))
        return percentiles(times)

    def ask(self, query: CandidateQuery) -> None:
        with self.store.open(TABLE) as view:
            found = view.candidates(query)
            if found.words_error or found.vectors_error:
                raise SystemExit(found.words_error + found.vectors_error)


def recall(store: LanceChunkStore, rows: int, asked: list[bytes]) -> float:
    """Share of the ten nearest vectors, in percent, that the vectors leg gives first."""
    passages = Passages()
    nearest: list[list[tuple[float, int]]] = [[] for _ in asked]
    for start in range(0, rows, 10_000):
        matrix = passages.vectors(10_000)
        for best, vector in zip(nearest, asked, strict=True):
            cosines = matrix @ np.frombuffer(vector, "<f4")
            best += [(float(cosines[at]), start + int(at)) for at in np.argsort(-cosines)[:10]]
    hits = 0
    for best, vector in zip(nearest, asked, strict=True):
        true = {number for _, number in sorted(best, reverse=True)[:10]}
        with store.open(TABLE) as view:
            query = CandidateQuery(vector=vector, filter=ChunkFilter(visible=Visibility(newest=NEWEST)))
            found = view.candidates(query).vectors[:10]
        hits += len(true & {(each.key.generation - 1) * ROWS_PER_FILE + each.key.index for each in found})
    return hits / len(asked) * 10


def dead(count: int, rows: int) -> ChunkFilter:
    """Let every other of the first generations be dead, so that none are neighbours."""
    step = max(2, rows // ROWS_PER_FILE // count)
    ranges = tuple((Generation(at * step + 1), Generation(at * step + 1)) for at in range(count))
    return ChunkFilter(visible=Visibility(newest=NEWEST, dead=ranges))


def grow(store: LanceChunkStore, passages: Passages, *, rows: int, batch: int) -> None:
    store.create(TABLE, dimension=DIMENSION)
    times = []
    for _ in range(rows // batch):
        some = passages.take(batch)
        times.append((cpu_ms(partial(store.add, TABLE, some)), cpu_ms(partial(store.fold, TABLE))))
    print(f"add+fold of {batch:,} rows, ms: {' '.join(f'{add:.0f}+{fold:.0f}' for add, fold in times)}")


def build(folder: Path, rows: int) -> None:
    """Run in a process of its own, whose peak memory is that of the build; 10,000 rows are in hand all the time."""
    passages, store = Passages(), LanceChunkStore(folder)
    Passages().take(10_000)
    peaks = watch_steps()
    grow(store, passages, rows=rows, batch=10_000)
    segments_size = store.size_bytes()
    merging = cpu_ms(lambda: store.merge(TABLE))
    for step, (before, most) in peaks.items():
        bar = (before, 400.0) if "words" in step and rows <= 100_000 else ()
        report(f"{step}: MB before and at most", before, most, bar=bar, unit="MB")
    report("merge at the end of a run", merging)
    store.clean(TABLE, older_than_s=0)
    report("bytes per row, before and after cleaning", segments_size / rows, store.size_bytes() / rows, unit="B")


COLD = """
import json, sys
from pathlib import Path
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import CandidateQuery, ChunkFilter, WordsQuery
terms, vector = json.loads(sys.argv[2]), bytes.fromhex(sys.argv[3])
query = CandidateQuery(
    words=WordsQuery(terms=tuple(terms)), vector=vector, filter=ChunkFilter(visible=Visibility(newest=2**40))
)
with LanceChunkStore(Path(sys.argv[1])).open("chunks") as view:
    found = view.candidates(query)
    view.document_share(terms)
    assert view.passages([candidate.key for candidate in found.words[:10]])
assert "pandas" not in sys.modules and "lancedb" not in sys.modules
"""


def cold_seconds(folder: Path) -> dict[str, float]:
    """CPU of a process that imports, opens, asks both legs and fetches ten rows, and of `import lancedb`."""
    [(terms, vector)] = queries(Passages().take(1), 1)
    search = [sys.executable, "-c", COLD, str(folder), json.dumps(terms), vector.hex()]
    return cpu_seconds({"search": search, "lancedb": [sys.executable, "-c", "import lancedb"]}, runs=3)


def watch_steps() -> dict[str, tuple[float, float]]:
    """Note the peak memory of each step of upkeep from now on: MB before the call that took most, and at its peak."""
    from openmind_stores.lance.engine import Dataset

    peaks: dict[str, tuple[float, float]] = {}
    for name in ("append", "fold_index", "build_vector_index", "compact"):
        setattr(Dataset, name, noting(peaks, name, getattr(Dataset, name)))
    return peaks


def noting(peaks: dict[str, tuple[float, float]], name: str, act: Callable[..., None]) -> Callable[..., None]:
    def noted(*arguments: object, **options: object) -> None:
        step = f"{name} {arguments[1]}" if name == "fold_index" else name
        Path("/proc/self/clear_refs").write_text("5")  # the peak is that of what follows
        before = resident_mb("VmRSS")
        act(*arguments, **options)
        peaks[step] = max(peaks.get(step, (0.0, 0.0)), (before, resident_mb("VmHWM")), key=lambda pair: pair[1])

    return noted


def resident_mb(what: str) -> float:
    """Resident memory of this process; what getrusage says includes the parent's before the fork."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(what)).split()[1]) / 1024


def in_child(*arguments: str) -> str:
    done = subprocess.run([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def measure(rows: int, folder: Path) -> None:
    small = LanceChunkStore(folder / "small")
    grow(small, Passages(), rows=10_000, batch=10_000)
    cold = cold_seconds(small.folder)
    report("cold: both legs over 10,000 rows, a whole process", cold["search"], bar=(0.9,), unit="s")
    report("import lancedb, for comparison", cold["lancedb"], unit="s")
    grow(LanceChunkStore(folder / "flat"), Passages(), rows=50_000, batch=5_000)

    print(in_child("build", str(folder / "large"), "--rows", str(rows)))
    reconcile(LanceChunkStore(folder / "large"), rows)
    searches(LanceChunkStore(folder / "large"), rows)


def searches(store: LanceChunkStore, rows: int) -> None:
    """Ask a table that `build` made, then write to it."""
    passages = Passages()
    kept: list[ChunkRow] = []
    for _ in range(rows // 10_000):
        kept += passages.pick(10_000, rows // 1_000)
    search = Search(store, list(queries(kept)))
    report(f"{rows:,} rows, words: p50 / p95", *search.time(vectors=False))
    report(f"{rows:,} rows, vectors", *search.time(words=False))
    report(f"{rows:,} rows, both", *search.time(), bar=(35, 80) if rows <= 100_000 else ())
    visible = Visibility(newest=NEWEST)
    for name, where in {
        "source": ChunkFilter(visible=visible, source_ids=(SourceId(f"src_{3:012x}"),)),
        "extension": ChunkFilter(visible=visible, extensions=(".md", ".txt")),
        "date": ChunkFilter(visible=visible, modified_after=1.7e9 + rows / ROWS_PER_FILE * 0.9),
        "folder": ChunkFilter(visible=visible, path_prefix="/home/ada/documents/folder-07/"),
        "1,000 dead generations": dead(1_000, rows),
        "10,000 dead generations": dead(10_000, rows),
    }.items():
        bar = (45, 90) if rows <= 100_000 and "10,000" not in name else ()
        report(f"{rows:,} rows, both, filter by {name}", *search.time(where=where), bar=bar)
    report("of the ten nearest, found", recall(store, rows, [vector for _, vector in search.asked]), unit="%")
    with store.open(TABLE) as view:
        terms, vector = search.asked[0]
        query = CandidateQuery(words=WordsQuery(terms=terms), vector=vector, filter=ChunkFilter(visible=visible))
        found = [candidate.key for candidate in view.candidates(query).words[:50]]
        report("share of six terms", *[cpu_ms(lambda: view.document_share(terms)) for _ in range(2)])
        report("50 rows just found", cpu_ms(lambda: view.passages(found)))
    with store.open(TABLE) as view:
        report("50 rows by key", cpu_ms(lambda: view.passages(found)))
    report(f"counts of {rows:,} rows", cpu_ms(lambda: deque(store.counts(TABLE), maxlen=0)))
    fresh = passages.take(10_000)
    store.add(TABLE, fresh)
    report("with 10,000 rows outside the indexes, visible", *search.time())
    hidden = Visibility(newest=Generation(fresh[0].generation - 1))
    report("with 10,000 rows outside the indexes, not yet live", *search.time(where=ChunkFilter(visible=hidden)))
    report("fold of these", cpu_ms(lambda: store.fold(TABLE)))
    report("both, after the fold", *search.time())
    old = [Generation(number * 50 + 1) for number in range(rows // ROWS_PER_FILE // 50)]
    report(f"delete {len(old)} generations", cpu_ms(lambda: store.delete(TABLE, old)))
    report("both, after the deletion", *search.time())
    report("merge", cpu_ms(lambda: store.merge(TABLE)))
    report("both, after the merge", *search.time())


def reconcile(store: LanceChunkStore, rows: int) -> None:
    """Let recovery compare a table that `build` made with a catalog that says the same."""
    with tempfile.TemporaryDirectory(prefix="openmind-store-") as name:
        storage = LocalStorage(Path(name) / "home")
        storage.initialise()
        files = rows // ROWS_PER_FILE
        embedder = EmbedderIdentity(provider="none", model="none", dimension=DIMENSION)
        with storage.catalog.writing() as session:
            session.add_source(Source(id=SourceId("src_all"), path_bytes=b"/home/ada", created_at="2026-01-02"))
            table = session.add_table(TABLE, IndexIdentity(embedder=embedder, chunking=1, analyser=1))
            session.begin([table.id], files)
            session.publish(map(publication, range(files)), table_ids=[table.id], at=1.0)
        recovery = Recovery(catalog=storage.catalog, chunks=store)
        told: list[str] = []
        taken = cpu_ms(lambda: told.extend(recovery.recover()))
        report(f"reconciling {rows:,} rows at the start of a run", taken, bar=(1_500,) if rows == 1_000_000 else ())
        if told:
            raise SystemExit(" ".join(told))


def publication(file: int) -> Publication:
    record = FileRecord(
        id=FileId(f"file_{file:016x}"),
        source_id=SourceId("src_all"),
        path_bytes=f"/home/ada/{file}.txt".encode(),
        stat=FileStat(size=1, mtime_ns=1),
        scanned_ns=1,
        content_hash=f"{file:064x}",
        reason=FileReason.OK,
        extractor="text 1",
        layout="1.1",
        live_generation=Generation(file + 1),
        chunk_count=ROWS_PER_FILE,
    )
    return Publication(record=record)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("step", nargs="?", choices=["measure", "build", "searches", "reconcile"], default="measure")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    if arguments.step == "build":
        build(arguments.folder, arguments.rows)
    elif arguments.step == "reconcile":
        reconcile(LanceChunkStore(arguments.folder), arguments.rows)
    elif arguments.step == "searches":
        searches(LanceChunkStore(arguments.folder), arguments.rows)
    else:
        with tempfile.TemporaryDirectory(prefix="openmind-store-") as folder:
            measure(arguments.rows, Path(folder))


if __name__ == "__main__":
    main()
