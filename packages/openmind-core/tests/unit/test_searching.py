from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from attrs import define, evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.application.recovering.suspicion import SUSPECT
from openmind.application.searching.service import SearchService
from openmind.domain.documents import Place
from openmind.domain.errors import (
    EmptyQuery,
    ProviderError,
    ProviderUnreachable,
    SourceNotFound,
    StoreDamaged,
    UsageError,
)
from openmind.domain.ids import SourceId
from openmind.domain.models import EmbedderIdentity
from openmind.domain.search import MAX_QUERY_CHARS, SearchFilters, SearchRequest, SearchResult, SearchState
from openmind.ports.chunk_store import CandidateQuery, Candidates, ChunkView
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.testing.fakes.chunk_store import MemoryChunkStore, MemoryChunkView
from openmind.testing.fakes.models import FAKE_IDENTITY, FakeEmbeddings
from openmind.testing.fakes.shelf import Shelf


def find(shelf: Shelf, query: str, **wanted: object) -> SearchResult:
    return shelf.searching().search(SearchRequest(query=query, **wanted))  # type: ignore[arg-type]


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


@pytest.fixture
def kitchen() -> Shelf:
    shelf = Shelf()
    shelf.put("/notes/bread.md", "Bake the bread for forty minutes in a hot oven.", title="Bread")
    shelf.put("/notes/soup.md", "Simmer the tomato soup slowly and add basil.", title="Soup")
    shelf.put("/papers/wheel.txt", "True the bicycle wheel by turning the spokes.", modified_at=5_000.0)
    shelf.put("/papers/deep/error.log", "The printer reported error E-1042 on Monday.")
    return shelf


# What is found


def test_a_passage_is_found_with_everything_a_person_needs(kitchen: Shelf) -> None:
    kitchen.put("/notes/oven.md", "Clean the oven.", title="House", locator=(Place(kind="page", start=12),))

    result = find(kitchen, "clean oven")

    assert result.state is SearchState.OK
    assert not result.degraded
    hit = result.hits[0]
    assert (hit.path, hit.file_name, hit.extension, hit.title) == ("/notes/oven.md", "oven.md", ".md", "House")
    assert hit.locator == (Place(kind="page", start=12),)
    assert hit.snippet == "Clean the oven."
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["Clean", "oven"]
    assert hit.id == f"{hit.file_id}:0"
    assert 0 < hit.score <= 1
    assert hit.metadata == {}


def test_the_best_passage_comes_first(kitchen: Shelf) -> None:
    assert paths(find(kitchen, "how to bake bread"))[0] == "/notes/bread.md"
    assert paths(find(kitchen, "tomato soup"))[0] == "/notes/soup.md"


def test_hits_stand_in_order_of_their_score(kitchen: Shelf) -> None:
    scores = [hit.score for hit in find(kitchen, "the bread oven error", limit=10).hits]

    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 1


def test_the_explanation_says_where_each_leg_had_it(kitchen: Shelf) -> None:
    best = find(kitchen, "bake bread").hits[0].explanation

    assert (best.words_rank, best.vector_rank) == (1, 1)
    assert best.words_score is not None
    assert best.words_score > 0
    assert best.cosine is not None
    assert best.cosine > 0.3
    assert best.coverage == pytest.approx(1.0)


def test_a_quoted_phrase_must_hold(kitchen: Shelf) -> None:
    kitchen.put("/notes/hamlet.txt", "To be, or not to be, that is the question.")
    kitchen.put("/notes/noise.txt", "Not everything is to be found where it ought to be or is.")

    assert paths(find(kitchen, '"or not to be"')) == ["/notes/hamlet.txt"]
    assert find(kitchen, '"bread soup"').hits == ()
    assert find(kitchen, '"bread soup"').state is SearchState.NOTHING_FOUND


def test_a_name_made_of_function_words_is_found_word_for_word(kitchen: Shelf) -> None:
    kitchen.put("/notes/band.txt", "The Who played in Leeds.")
    for number in range(150):
        kitchen.put(f"/noise/{number}.txt", f"Who is the one who knows who wrote letter {number}, or who read it?")

    assert paths(find(kitchen, "The Who"))[0] == "/notes/band.txt"
    assert paths(find(kitchen, "who the"))[0] != "/notes/band.txt"


def test_a_sentence_that_quotes_what_nothing_holds_is_plain_text(kitchen: Shelf) -> None:
    sentence = 'For how many minutes must the bread bake in the hot oven until it is "well and truly done"?'

    assert paths(find(kitchen, sentence))[0] == "/notes/bread.md"
    assert find(kitchen, 'hot oven "well and truly done"').hits == ()


def test_an_identifier_is_found_and_is_never_called_irrelevant(kitchen: Shelf) -> None:
    result = find(kitchen, "completely unrelated questioning of strangers about E-1042 somewhere elsewhere")

    assert result.state is SearchState.OK
    assert paths(result)[0] == "/papers/deep/error.log"


def test_equal_passages_are_one_hit_that_names_the_other_places(kitchen: Shelf) -> None:
    kitchen.put("/copy/bread.md", "Bake the bread for forty minutes in a hot oven.", title="Bread")

    result = find(kitchen, "bake bread")

    assert result.hits[0].path == "/copy/bread.md"
    assert result.hits[0].also_at == ("/notes/bread.md",)
    assert "/notes/bread.md" not in paths(result)


def test_one_file_does_not_crowd_out_the_others() -> None:
    shelf = Shelf()
    shelf.put("/a/long.md", *(f"bread number {n}" for n in range(300)))
    shelf.put("/b/other.md", "One single bread, told at some length so that it ranks last of all of them.")

    assert paths(find(shelf, "bread", limit=5)) == ["/a/long.md"] * 3 + ["/b/other.md"]
    assert paths(find(shelf, "bread", limit=5, per_file=0)) == ["/a/long.md"] * 5


def test_a_passage_is_found_and_scored_alike_whoever_else_is_there() -> None:
    shelf = Shelf()
    shelf.put("/a/big.txt", *(f"rent {n}" for n in range(1_200)))
    shelf.put("/a/rent.md", "The rent of the flat goes up in spring, and so does the deposit with the rent.")

    everywhere = {hit.path: hit for hit in find(shelf, "rent").hits}["/a/rent.md"]
    [narrowed] = find(shelf, "rent", filters=SearchFilters(extensions=(".md",))).hits

    assert everywhere.explanation.words_rank is not None
    assert everywhere.explanation.words_score == narrowed.explanation.words_score
    assert everywhere.explanation.cosine == narrowed.explanation.cosine
    assert everywhere.score == narrowed.score < 1


def test_what_one_leg_gave_the_other_scores_too_although_it_was_cut_off() -> None:
    shelf = Shelf()
    for number in range(130):
        shelf.put(f"/a/{number:03}.txt", f"rent {number}")
    for number in range(130):
        shelf.put(f"/b/{number:03}.txt", f"rent of the flat in street {number} and of the garden beside it")

    found = find(shelf, "rent of the flat", limit=20).hits

    assert {(hit.explanation.words_rank is None, hit.explanation.cosine is None) for hit in found} == {(False, False)}


def test_equal_scores_stand_in_order_of_path_and_place() -> None:
    shelf = Shelf()
    for name in ("c", "a", "b"):
        shelf.put(f"/x/{name}", f"bread {name}1", f"bread {name}2")

    found = [(hit.path, hit.index) for hit in find(shelf, "bread", limit=6).hits]

    assert found == sorted(found)


# Only what the catalog shows


def test_a_replaced_passage_is_not_found(kitchen: Shelf) -> None:
    kitchen.put("/notes/bread.md", "Nothing about loaves here any more.")

    assert "/notes/bread.md" not in paths(find(kitchen, '"forty minutes"'))


def test_a_forgotten_file_is_not_found(kitchen: Shelf) -> None:
    kitchen.forget(kitchen.put("/notes/secret.md", "The bread of yesterday."))

    assert "/notes/secret.md" not in paths(find(kitchen, "bread of yesterday", limit=10))


def test_a_disabled_source_is_not_found(kitchen: Shelf) -> None:
    kitchen.change_source(evolve(kitchen.source("/notes"), enabled=False))

    assert {path.split("/")[1] for path in paths(find(kitchen, "bread wheel error", limit=10))} == {"papers"}


def test_a_scope_hides_every_other_source(kitchen: Shelf) -> None:
    work = kitchen.source("/papers").id
    scoped = kitchen.searching(scope=(work,))

    assert paths(scoped.search(SearchRequest(query="bread wheel"))) == ["/papers/wheel.txt"]
    assert scoped.search(SearchRequest(query="bread")).state is SearchState.NOTHING_FOUND
    with pytest.raises(SourceNotFound):
        scoped.search(SearchRequest(query="bread", filters=SearchFilters(source_ids=(kitchen.source("/notes").id,))))


def test_an_empty_scope_has_nothing_indexed(kitchen: Shelf) -> None:
    assert kitchen.searching(scope=()).search(SearchRequest(query="bread")).state is SearchState.NOTHING_INDEXED


# States


def test_nothing_indexed_is_said() -> None:
    assert find(Shelf(), "bread").state is SearchState.NOTHING_INDEXED


def test_a_stranger_s_question_finds_nothing_but_shows_the_weak_hits(kitchen: Shelf) -> None:
    result = find(kitchen, "quantum chromodynamics lattice gauge theory of the proton")

    assert result.state is SearchState.NOTHING_FOUND
    assert result.hits


@pytest.mark.parametrize(
    "filters",
    [
        SearchFilters(folder="/papers"),
        SearchFilters(extensions=(".txt", ".log")),
        SearchFilters(modified_after=datetime.fromtimestamp(4_000, UTC)),
    ],
)
def test_filters_that_hide_everything_relevant_are_named_as_the_reason(kitchen: Shelf, filters: SearchFilters) -> None:
    result = find(kitchen, "tomato soup basil", filters=filters)

    assert result.state is SearchState.FILTERED_OUT
    assert "/notes/soup.md" not in paths(result)


def test_a_filter_is_not_blamed_for_what_is_nowhere(kitchen: Shelf) -> None:
    result = find(kitchen, "quantum chromodynamics lattice theory", filters=SearchFilters(folder="/papers"))

    assert result.state is SearchState.NOTHING_FOUND


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (SearchFilters(folder="/papers"), {"/papers/wheel.txt", "/papers/deep/error.log"}),
        (SearchFilters(folder="/papers/deep/"), {"/papers/deep/error.log"}),
        (SearchFilters(folder="/wor"), set()),
        (SearchFilters(extensions=(".txt",)), {"/papers/wheel.txt"}),
        (SearchFilters(modified_after=datetime.fromtimestamp(4_000, UTC)), {"/papers/wheel.txt"}),
        (SearchFilters(modified_before=datetime.fromtimestamp(900, UTC)), set()),
    ],
)
def test_filters_hold_before_anything_is_ranked(kitchen: Shelf, filters: SearchFilters, expected: set[str]) -> None:
    assert set(paths(find(kitchen, "the wheel error bread soup", limit=10, filters=filters))) == expected


def test_a_source_filter_lets_only_that_source_through(kitchen: Shelf) -> None:
    filters = SearchFilters(source_ids=(kitchen.source("/notes").id,))

    assert set(paths(find(kitchen, "the wheel error bread soup", filters=filters))) == {
        "/notes/bread.md",
        "/notes/soup.md",
    }


def test_a_source_that_is_not_there_is_an_error(kitchen: Shelf) -> None:
    with pytest.raises(SourceNotFound):
        find(kitchen, "bread", filters=SearchFilters(source_ids=(SourceId("src_000000000000"),)))


# Refusals


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_a_blank_query_is_refused(kitchen: Shelf, query: str) -> None:
    with pytest.raises(EmptyQuery):
        find(kitchen, query)


def test_a_pasted_book_is_refused(kitchen: Shelf) -> None:
    with pytest.raises(UsageError, match="4,001 characters"):
        find(kitchen, "a" * (MAX_QUERY_CHARS + 1))
    assert find(kitchen, "zebra " * 666).state is SearchState.NOTHING_FOUND


@pytest.mark.parametrize("wanted", [{"limit": 0}, {"limit": 51}, {"per_file": -1}])
def test_limits_out_of_bounds_are_refused(kitchen: Shelf, wanted: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        find(kitchen, "bread", **wanted)


# Degraded


def test_without_its_embedder_a_memory_is_searched_by_words(kitchen: Shelf) -> None:
    def embedder_for(identity: EmbedderIdentity) -> EmbeddingProvider:
        raise ProviderError(f"{identity.model} does not answer", hint="Start it.")

    searching = SearchService(catalog=kitchen.catalog, chunks=lambda: kitchen.chunks, embedder_for=embedder_for)

    result = searching.search(SearchRequest(query="bake bread"))

    assert paths(result)[0] == "/notes/bread.md"
    assert result.state is SearchState.OK
    assert result.degraded
    assert "by words only" in result.degraded_reason
    assert "fake-embedder" in result.degraded_reason


def test_an_embedder_that_is_down_degrades_the_search(kitchen: Shelf) -> None:
    kitchen.embedder.error = ProviderUnreachable("The server does not answer")

    result = find(kitchen, "bake bread")

    assert paths(result)[0] == "/notes/bread.md"
    assert result.degraded_reason == "Found by words only: The server does not answer."
    assert result.hits[0].explanation.vector_rank is None


def test_passages_without_vectors_are_found_and_counted(kitchen: Shelf) -> None:
    kitchen.put("/notes/late.md", "A rhubarb cake.", vectors=False)

    result = find(kitchen, "rhubarb")

    assert paths(result)[0] == "/notes/late.md"
    assert result.degraded_reason == "1 of 5 passages have no vectors yet and are found by words."


def test_while_no_passage_has_a_vector_the_words_decide_alone() -> None:
    shelf = Shelf()
    shelf.put("/notes/late.md", "A rhubarb cake.", vectors=False)

    result = find(shelf, "rhubarb cake")

    assert result.state is SearchState.OK
    assert result.hits[0].score == pytest.approx(1.0)
    assert result.degraded


def test_the_count_of_passages_keeps_up_with_the_memory(kitchen: Shelf) -> None:
    searching = kitchen.searching()
    searching.search(SearchRequest(query="rhubarb"))
    late = kitchen.put("/notes/late.md", "A rhubarb cake.", vectors=False)

    assert "1 of 5" in searching.search(SearchRequest(query="rhubarb")).degraded_reason

    kitchen.forget(late)

    assert not searching.search(SearchRequest(query="rhubarb")).degraded


def test_a_table_that_was_lost_leaves_nothing_indexed_and_says_why(kitchen: Shelf) -> None:
    searching = kitchen.searching()
    searching.search(SearchRequest(query="bread"))
    kitchen.chunks.quarantine("chunks")
    kitchen.chunks.create("chunks", dimension=64)
    with kitchen.catalog.writing() as session:
        session.empty_table(kitchen.table.id, at=0.0)

    result = searching.search(SearchRequest(query="bread"))

    assert result.state is SearchState.NOTHING_INDEXED
    assert "makes it again" in result.degraded_reason


@define
class CrippledView(MemoryChunkView):
    failing: str = ""

    def candidates(self, query: CandidateQuery) -> Candidates:
        found = MemoryChunkView(self.dimension, self.all_rows).candidates(query)
        if self.failing == "words":
            return evolve(found, words=(), words_error="broken index")
        return evolve(found, vectors=(), vectors_error="broken index")


@define
class CrippledStore(MemoryChunkStore):
    failing: str = ""

    @contextmanager
    def open(self, table: str) -> Iterator[ChunkView]:
        found = self._table(table)
        yield CrippledView(found.dimension, found.rows, self.failing)


@pytest.mark.parametrize(("failing", "left"), [("words", "meaning only"), ("vectors", "words only")])
def test_a_leg_that_fails_is_said_and_the_other_answers(failing: str, left: str) -> None:
    shelf = Shelf(chunks=CrippledStore(failing=failing))
    shelf.put("/notes/bread.md", "Bake the bread.")

    result = find(shelf, "bake bread")

    assert paths(result) == ["/notes/bread.md"]
    assert left in result.degraded_reason
    assert "broken index" not in result.degraded_reason, "nobody understands what the engine says"
    with shelf.catalog.reading() as snapshot:
        assert snapshot.setting(SUSPECT) is not None


def test_a_phrase_holds_even_when_the_words_leg_fails() -> None:
    shelf = Shelf(chunks=CrippledStore(failing="words"))
    shelf.put("/notes/bread.md", "Bake the bread.")
    shelf.put("/notes/other.md", "The bread, bake it.")

    assert paths(find(shelf, '"bake the bread"')) == ["/notes/bread.md"]


def test_a_table_that_cannot_be_read_is_said_and_judges_no_file(kitchen: Shelf) -> None:
    kitchen.chunks.damage("chunks")

    result = find(kitchen, "bread")

    assert result.state is SearchState.UNREADABLE
    assert result.hits == ()
    assert "cannot be read" in result.degraded_reason


def test_a_table_that_is_replaced_meanwhile_is_searched_anew(kitchen: Shelf) -> None:
    other = FakeEmbeddings(identity=evolve(FAKE_IDENTITY, model="newer"))
    opened = []

    @define
    class SwitchingStore(MemoryChunkStore):
        @contextmanager
        def open(self, table: str) -> Iterator[ChunkView]:
            opened.append(table)
            if table == "chunks":
                switch()
                raise StoreDamaged("the table is gone")
            with kitchen.chunks.open(table) as view:
                yield view

    def switch() -> None:
        kitchen.table, kitchen.embedder = filling, other
        with kitchen.catalog.writing() as session:
            session.mark_filled(filling.id, [generation for generation, *_ in session.live_generations()])
            session.switch(filling.id)

    let_go: list[EmbedderIdentity] = []
    filling = kitchen.new_table("chunks_2", other)
    with kitchen.catalog.reading() as snapshot:
        generations = [generation for generation, *_ in snapshot.live_generations()]
    kitchen.chunks.add(
        "chunks_2",
        [
            evolve(row, vector=other.embed([row.text], role="passage").row_bytes(0))
            for row in kitchen.chunks.read_generations("chunks", generations)
        ],
    )
    searching = SearchService(
        catalog=kitchen.catalog,
        chunks=SwitchingStore,
        embedder_for=lambda identity: kitchen.embedder_for(identity),
        let_go=let_go.append,
    )
    former = kitchen.embedder.identity

    result = searching.search(SearchRequest(query="bake bread"))

    assert let_go == [former]  # asking it may have had it loaded once more
    assert opened == ["chunks", "chunks_2"]
    assert paths(result)[0] == "/notes/bread.md"
    assert not result.degraded


# Whatever is typed

NASTY = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="\"*:()[]{}%_\\/+-#&|~^'AND OR NOT", max_size=60),
    st.text(alphabet="\u202e\u200b\ud800\x00😀é中文한국のß", max_size=30),
)


@settings(deadline=None, max_examples=150)
@given(NASTY)
def test_whatever_is_typed_is_a_query(query: str) -> None:
    shelf = Shelf()
    shelf.put("/notes/bread.md", "Bake the bread for forty minutes. C++ 中文 E-1042")

    if not query.strip():
        with pytest.raises(EmptyQuery):
            find(shelf, query)
    else:
        result = find(shelf, query)
        assert result.query == query.strip()
        assert all(0 <= hit.score <= 1 for hit in result.hits)
