"""The floor of a first index: what no implementation can leave out, in one straight line.

`python benchmarks/floor.py FOLDER` reads, hashes, splits, embeds with the built-in embedder, writes a LanceDB table in
batches of thousands and builds its text index once. No catalog, no extraction, no protocol, one process. It prints the
CPU seconds of each stage, which include those of the threads that Lance and Arrow start.
"""

import argparse
import hashlib
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHUNK_CHARS = 1_000
OVERLAP_CHARS = 175
BATCH_ROWS = 8_000


class Stages:
    """CPU seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        before = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - before

    def print(self) -> None:
        total = sum(self.seconds.values())
        for name, seconds in self.seconds.items():
            print(f"{name:<12} {seconds:8.2f} s {seconds / total:6.1%}")
        print(f"{'all':<12} {total:8.2f} s CPU")


def split(text: str) -> Iterator[str]:
    """Cut text into pieces that overlap, at blanks."""
    start = 0
    while start < len(text):
        end = start + CHUNK_CHARS
        if end < len(text):
            end = max(text.rfind(" ", start + CHUNK_CHARS // 2, end), start + CHUNK_CHARS // 2)
        yield text[start:end]
        if end >= len(text):
            return
        start = text.find(" ", end - OVERLAP_CHARS) + 1 or end


def index(corpus: Path, folder: Path) -> tuple[Stages, int, int]:
    stages = Stages()
    with stages.stage("import"):
        import lance
        import pyarrow as pa
        from openmind_wordllama.embeddings import WordLlamaEmbeddings
    embedder = WordLlamaEmbeddings()
    schema = pa.schema(
        [
            pa.field("id", pa.string()),
            pa.field("path", pa.string()),
            pa.field("content_hash", pa.string()),
            pa.field("text", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), embedder.identity.dimension)),
        ]
    )
    table = folder / "chunks.lance"
    files = rows = 0
    batch: list[tuple[str, str, str, str]] = []

    def write() -> None:
        ids, paths, hashes, texts = (list(column) for column in zip(*batch, strict=True))
        with stages.stage("embed"):
            vectors = embedder.embed(texts, role="passage")
        with stages.stage("write"):
            values = pa.Array.from_buffers(
                pa.float32(), len(batch) * vectors.dimension, [None, pa.py_buffer(vectors.data)]
            )
            columns = [pa.array(column) for column in (ids, paths, hashes, texts)]
            columns.append(pa.FixedSizeListArray.from_arrays(values, vectors.dimension))
            lance.write_dataset(
                pa.Table.from_arrays(columns, schema=schema), table, mode="append" if table.exists() else "create"
            )
        batch.clear()

    for path in sorted(corpus.rglob("*.txt")):
        with stages.stage("read"):
            data = path.read_bytes()
        with stages.stage("hash"):
            content_hash = hashlib.sha256(data).hexdigest()
        with stages.stage("split"):
            pieces = list(split(data.decode()))
        batch.extend((f"{files}:{number}", str(path), content_hash, piece) for number, piece in enumerate(pieces))
        files += 1
        rows += len(pieces)
        if len(batch) >= BATCH_ROWS:
            write()
    if batch:
        write()
    with stages.stage("text index"):
        lance.dataset(table).create_scalar_index(
            "text", "INVERTED", with_position=True, remove_stop_words=False, stem=True
        )
    return stages, files, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpus", type=Path, help="a folder of .txt files, for instance made by corpus.py")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="openmind-floor-") as folder:
        stages, files, rows = index(arguments.corpus, Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    stages.print()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{files} files, {rows} passages, {size / 1e6:.0f} MB on disk, peak RSS {usage.ru_maxrss / 1024:.0f} MB")
    print(f"whole process {usage.ru_utime + usage.ru_stime:.2f} s CPU")


if __name__ == "__main__":
    main()
