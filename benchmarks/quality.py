"""How good the search is: nDCG@10 of words, vectors and both, and how honestly "nothing relevant" is decided.

    python benchmarks/quality.py DIR [--embedder builtin|MODULE:FACTORY] [--only NAME …]

DIR holds one folder a collection: `docs.jsonl` (`id`, `title`, `text`), `queries.jsonl` (`id`, `text`) and `qrels.tsv`
(query id, document id, gain). Each document becomes a file of its own, indexed and searched by the product as it is.
`words` and `vectors` are the same search with all the weight on one leg. Put your own files and questions into that
shape to measure them.

Answerability: the questions of a collection put to its own files should be answered, those of the others refused.
"""

import argparse
import importlib
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from attrs import evolve, field, frozen
from openmind import OpenMind, open_memory
from openmind.application.searching.service import SearchService
from openmind.domain.models import EmbedderIdentity, EmbeddingRole, RetrievalProfile
from openmind.domain.search import SearchRequest, SearchResult, SearchState
from openmind.domain.vectors import Vectors
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider

DEPTH = 10
FOREIGN_QUESTIONS = 60
"""Most questions of one collection that are put to another."""


@frozen(kw_only=True)
class Collection:
    """Documents, questions, and which documents answer which question."""

    name: str
    documents: Sequence[Mapping[str, str]]
    questions: Mapping[str, str]
    gains: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, folder: Path) -> "Collection":
        gains: dict[str, dict[str, float]] = {}
        for line in (folder / "qrels.tsv").read_text("utf-8").splitlines():
            question, document, gain = line.split("\t")
            gains.setdefault(question, {})[document] = float(gain)
        questions = {row["id"]: row["text"] for row in read_lines(folder / "queries.jsonl")}
        return cls(
            name=folder.name,
            documents=list(read_lines(folder / "docs.jsonl")),
            questions={key: text for key, text in questions.items() if key in gains},
            gains=gains,
        )

    def write(self, folder: Path) -> None:
        """Write one file a document, named by its place in the collection."""
        folder.mkdir()
        for number, document in enumerate(self.documents):
            heading = f"# {document['title']}\n\n" if document["title"] else ""
            (folder / f"{number}.md").write_text(f"{heading}{document['text']}\n", "utf-8")

    def document(self, file_name: str) -> str:
        return self.documents[int(file_name.removesuffix(".md"))]["id"]


def read_lines(path: Path) -> Iterator[Mapping[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@frozen
class Weighted:
    """An embedder whose vectors weigh otherwise beside the words."""

    embedder: EmbeddingProvider
    profile: RetrievalProfile = field()

    @property
    def identity(self) -> EmbedderIdentity:
        return self.embedder.identity

    @property
    def max_input_chars(self) -> int:
        return self.embedder.max_input_chars

    @property
    def in_process(self) -> bool:
        return self.embedder.in_process

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        return self.embedder.embed(texts, role=role)


def weighted(searching: SearchService, words_weight: float) -> SearchService:
    """Return the same search with another weight of the words."""

    def embedder_for(identity: EmbedderIdentity) -> EmbeddingProvider | None:
        embedder = searching.embedder_for(identity)
        return embedder and Weighted(embedder, evolve(embedder.profile, words_weight=words_weight))

    return evolve(searching, embedder_for=embedder_for)


def search(searching: SearchService, question: str) -> SearchResult:
    return searching.search(SearchRequest(query=question[:4_000], limit=DEPTH, per_file=1))


def ndcg(found: Sequence[str], gains: Mapping[str, float]) -> float:
    """Normalised discounted cumulative gain of the first ten."""
    reached = sum(gains.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(found[:DEPTH]))
    ideal = sorted(gains.values(), reverse=True)[:DEPTH]
    return reached / sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ideal))


def quality(collection: Collection, searching: SearchService) -> tuple[float, float]:
    """Put the collection's own questions: nDCG, and the share for which nothing clearly relevant was found."""
    results = {key: search(searching, text) for key, text in collection.questions.items()}
    gained = mean(
        ndcg([collection.document(hit.file_name) for hit in result.hits], collection.gains[key])
        for key, result in results.items()
    )
    return gained, refused(results.values())


def refused(results: Iterable[SearchResult]) -> float:
    return mean(result.state is SearchState.NOTHING_FOUND for result in results)


def mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


@contextmanager
def indexed(collection: Collection, embedder: EmbeddingProvider | None, folder: Path) -> Iterator[OpenMind]:
    """Index a collection in a home of its own."""
    home, files = folder / "home", folder / "files"
    home.mkdir()
    collection.write(files)
    plugins = load_plugins()
    with open_memory(home, plugins=plugins):
        pass
    if embedder is not None:
        choose(embedder, plugins, home)
    with open_memory(home, plugins=plugins) as memory:
        memory.sources.add(files)
        report = memory.index()
        tally = report.run.tally
        if tally.failed:
            raise SystemExit(f"{collection.name}: {tally.failed} files failed: {report.failures[0].message}")
        if tally.indexed < len(collection.documents):
            print(
                f"  {collection.name}: {len(collection.documents) - tally.indexed} files have no text", file=sys.stderr
            )
        yield memory


def choose(embedder: EmbeddingProvider, plugins: Plugins, home: Path) -> None:
    """Register an embedder as a provider of its own, and name it in the configuration."""
    provider = FakeProvider(embeddings=cast(FakeEmbeddings, embedder))
    plugins.providers.distribution = "benchmark"
    plugins.providers.add(embedder.identity.provider, lambda _: provider)
    (home / "config.toml").write_text(
        f'[provider]\nname = "{embedder.identity.provider}"\n\n'
        f'[models]\nembedding_model = "{embedder.identity.model}"\n',
        "utf-8",
    )


def named_embedder(name: str) -> EmbeddingProvider | None:
    """Build the embedder that the command line names; None is the built-in one."""
    if name == "builtin":
        return None
    module, _, factory = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    made: EmbeddingProvider = getattr(importlib.import_module(module), factory)()
    return made


def measure(collection: Collection, others: Sequence[Collection], embedder: EmbeddingProvider | None) -> list[float]:
    """Measure one collection: words, vectors, both, own and strangers' questions refused."""
    with tempfile.TemporaryDirectory() as folder, indexed(collection, embedder, Path(folder)) as memory:
        searching = memory.searching
        strangers = [list(other.questions.values())[:FOREIGN_QUESTIONS] for other in others]
        words, _ = quality(collection, weighted(searching, 1.0))
        vectors, _ = quality(collection, weighted(searching, 0.0))
        both, own = quality(collection, searching)
        foreign = [refused(search(searching, question) for question in questions) for questions in strangers]
        return [words, vectors, both, own, mean(foreign) if foreign else math.nan]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", default="builtin", metavar="builtin|MODULE:FACTORY")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="measure only these collections")
    chosen = parser.parse_args()
    collections = [Collection.read(path.parent) for path in sorted(chosen.folder.glob("*/qrels.tsv"))]
    if not collections:
        parser.error(f"{chosen.folder} has no folder with docs.jsonl, queries.jsonl and qrels.tsv")
    embedder = named_embedder(chosen.embedder)
    print(
        f"{'collection':16} {'files':>6} {'words':>7} {'vectors':>7} {'both':>7}   {'own refused':>11} {'strangers':>9}"
    )
    rows = []
    for collection in collections:
        if chosen.only and collection.name not in chosen.only:
            continue
        others = [other for other in collections if other is not collection]
        row = measure(collection, others, embedder)
        rows.append(row)
        print(line(collection.name, len(collection.documents), row), flush=True)
    print(
        line(
            "mean", sum(len(one.documents) for one in collections), [mean(column) for column in zip(*rows, strict=True)]
        )
    )
    print(f"CPU {time.process_time():.0f} s")


def line(name: str, files: int, row: Sequence[float]) -> str:
    words, vectors, both, own, strangers = row
    return f"{name:16} {files:6} {words:7.3f} {vectors:7.3f} {both:7.3f}   {own:10.1%} {strangers:10.1%}"


if __name__ == "__main__":
    main()
