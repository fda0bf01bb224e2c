"""Search: what is asked, of which files, and how it ended."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from attrs import evolve, field, frozen

from openmind.application.models.embedders import BUILTIN
from openmind.application.patience import patiently
from openmind.application.recovering.suspicion import suspect
from openmind.application.searching.snapshot_search import NO_LEG, Question, SnapshotHits, SnapshotSearch
from openmind.application.searching.tallies import PassageTally, count
from openmind.domain.analysis import analyse_query
from openmind.domain.arguments import text, whole_number
from openmind.domain.errors import EmptyQuery, ProviderError, SourceDisabled, SourceNotFound, StoreDamaged, UsageError
from openmind.domain.function_words import ENGLISH
from openmind.domain.ids import SourceId
from openmind.domain.index import IndexTable
from openmind.domain.jobs import JobState
from openmind.domain.journal import SILENCE, Journal
from openmind.domain.models import EmbedderIdentity, RetrievalProfile
from openmind.domain.plugins import provider_of
from openmind.domain.queries import AnalysedQuery
from openmind.domain.search import (
    MAX_QUERY_CHARS,
    MAX_SEARCH_LIMIT,
    SearchFilters,
    SearchRequest,
    SearchResult,
    SearchState,
    how_to_begin,
)
from openmind.domain.sentences import as_sentence
from openmind.domain.sources import Source
from openmind.domain.text import as_seen
from openmind.ports.catalog import Catalog, CatalogReader, MemoryCounts
from openmind.ports.chunk_store import ChunkFilter, ChunkStore
from openmind.ports.embedding_provider import EmbeddingProvider

T = TypeVar("T")
LONGEST_RUN = 4
"""Longer queries have enough other words to be found by."""
ATTEMPTS = 3
"""A table may be replaced by another between two looks at the catalog; hardly ever twice in a row."""
MOST_PATIENCE_S = 10.0
"""A server that takes longer to embed a query is busy or hangs: the words have an answer meanwhile."""
UNREADABLE = "The index cannot be read; `openmind index` makes it again from the kept text, or says what is in its way."


class _TooSlow(Exception):
    """A server took too long."""


@frozen(kw_only=True)
class Meaning:
    """A query as the embedder of one table sees it."""

    table: IndexTable
    vector: bytes | None = None
    profile: RetrievalProfile
    notes: tuple[str, ...] = ()
    """Why there is no vector."""


@frozen(kw_only=True)
class SearchService:
    """Finds passages by words and by meaning. Thread-safe."""

    catalog: Catalog
    chunks: Callable[[], ChunkStore]
    """Called with the first search: making the store imports its engine."""
    embedder_for: Callable[[EmbedderIdentity], EmbeddingProvider]
    """Gives the embedder that made a table; a `ProviderError` says why there is none."""
    whom: Callable[[str], str] = provider_of
    """Names a provider and, where it is a stranger's, its package."""
    is_chosen: Callable[[EmbedderIdentity], bool] = lambda _: True
    """Whether a table was made by the embedding model that the configuration names."""
    let_go: Callable[[EmbedderIdentity], object] = lambda _: None
    """Unloads the embedder of a table that is not searched any more."""
    scope: tuple[SourceId, ...] | None = None
    """Only these sources exist for whoever asks; None means all."""
    tally: PassageTally = field(factory=PassageTally, eq=False)
    journal: Journal = SILENCE
    clock: Callable[[], float] = time.monotonic

    def search(self, request: SearchRequest) -> SearchResult:
        """Find the passages nearest to a query, best first.

        Whatever is typed is a query: double quotes mean a phrase, everything else is plain text. A leg that cannot
        take part, or an index that is not whole, shows in `degraded`.

        Raises:
            EmptyQuery: the query has no text.
            UsageError: the query is too long, or a limit is out of bounds.
            SourceNotFound: a filter names a source that is not there.
            SourceDisabled: a filter names a source that is not to be searched now.
            StoreError: the catalog cannot be read.
        """
        began = self.clock()
        result = self._search(request)
        self.journal.note(
            "search",
            state=result.state.value,
            hits=len(result.hits),
            degraded=result.degraded,
            seconds=self.clock() - began,
        )
        return result

    def _search(self, request: SearchRequest) -> SearchResult:
        query = checked(request)
        analysed = analyse_query(query)
        question = Question(
            query=analysed, whole=whole(query, analysed), limit=request.limit, per_file=request.per_file
        )
        unreadable = _result(query, SearchState.UNREADABLE, SnapshotHits(), (UNREADABLE,))
        meaning: Meaning | None = None
        for _ in range(ATTEMPTS):
            try:
                found = self._look(query, request.filters, question, meaning)
                if isinstance(found, IndexTable):
                    meaning = self._embed(found, query, former=meaning)
                    found = self._look(query, request.filters, question, meaning)
            except StoreDamaged:
                continue  # the table may just have been replaced: look at the catalog again
            if found is None:
                return self._empty(query, unreadable)
            if isinstance(found, SearchResult):
                return found if found.hits else self._empty(query, found)
        suspect(self.catalog)
        return self._empty(query, unreadable)

    def _embed(self, table: IndexTable, query: str, *, former: Meaning | None) -> Meaning:
        """Have a server embed a query for a table, outside of any transaction: it may keep us waiting."""
        try:
            meaning = self._patiently(partial(self._ask, table, query))
        except _TooSlow:
            embedder = table.identity.embedder
            slow = f"{embedder.model} of {self.whom(embedder.provider)} did not answer within {MOST_PATIENCE_S:g} s"
            told = f"Found by words only: {slow}."
            meaning = Meaning(table=table, profile=RetrievalProfile(), notes=(told,))
        if former is not None:
            self._let_go(former.table.identity.embedder)
        return meaning

    def _let_go(self, former: EmbedderIdentity) -> None:
        """Unload what was asked before another table took over: asking may have had it loaded once more."""
        with suppress(_TooSlow):
            self._patiently(partial(self.let_go, former))

    def _patiently(self, call: Callable[[], T]) -> T:
        """Make a call that a server may keep waiting.

        Raises:
            _TooSlow: it took too long, and is left to itself.
        """
        deadline = self.clock() + MOST_PATIENCE_S

        def heed() -> None:
            if self.clock() > deadline:
                raise _TooSlow

        return patiently(call, while_waiting=heed)

    def _ask(self, table: IndexTable, query: str) -> Meaning:
        """Ask the embedder of a table."""
        identity = table.identity.embedder
        profile = RetrievalProfile()
        try:
            embedder = self.embedder_for(identity)
            profile = embedder.profile
            vectors = embedder.embed([as_seen(query) or query], role="query")
        except ProviderError as error:
            note = f"Found by words only: {as_sentence(error.message)} {error.hint}".rstrip()
            return Meaning(table=table, profile=profile, notes=(note,))
        return Meaning(table=table, vector=vectors.row_bytes(0), profile=profile)

    def _look(
        self, query: str, filters: SearchFilters, question: Question, meaning: Meaning | None
    ) -> SearchResult | IndexTable | None:
        """Search one snapshot.

        The embedder that comes with OpenMind is asked in the same session; any other has been asked before.

        Returns:
            What was found; the table that is live now where its embedder is yet to be asked; None when there is none.

        Raises:
            StoreDamaged: the table cannot be read.
            CatalogDamaged: the catalog cannot be read.
        """
        with self.catalog.reading() as snapshot:
            table = snapshot.live_table()
            if table is None:
                return None
            if table.identity.embedder.provider == BUILTIN:
                meaning = self._ask(table, query)
            if meaning is None or table.identity.embedder != meaning.table.identity.embedder:
                return table
            sources = snapshot.sources()
            allowed = self._allowed(sources)
            wanted = _wanted(sources, allowed, filters)
            counts = self.tally.of(snapshot, table, None if self.scope is None else allowed)
            everything = ChunkFilter(
                visible=snapshot.visibility(table.id),
                source_ids=None if len(allowed) == len(sources) else tuple(sorted(allowed)),
            )
            with self.chunks().open(table.name) as view:
                search = SnapshotSearch(
                    reader=snapshot,
                    view=view,
                    sources=wanted,
                    filter=_narrowed(everything, filters, wanted),
                    everything=everything,
                    passages=counts.chunks,
                )
                some_vectors = counts.missing_vectors < counts.chunks
                asked = evolve(question, vector=meaning.vector if some_vectors else None, profile=meaning.profile)
                found = search.find(asked)
                state = SearchState.OK if found.relevant else SearchState.NOTHING_FOUND
                if not found.relevant and filters:
                    unfiltered = evolve(search, sources=allowed, filter=everything)
                    if unfiltered.find(evolve(asked, limit=1)).relevant:
                        state = SearchState.FILTERED_OUT
                if not found.hits and set(NO_LEG) <= set(found.notes):
                    state = SearchState.UNREADABLE
            standing_in = self._standing_in(snapshot, table)
        if found.notes:
            suspect(self.catalog)
        return _result(query, state, found, (*meaning.notes, *standing_in, *found.notes, *_incomplete(counts)))

    def _standing_in(self, snapshot: CatalogReader, table: IndexTable) -> tuple[str, ...]:
        """Say why another embedder stands in for the chosen one, as far as the last run knows: nobody is asked."""
        if self.is_chosen(table.identity.embedder):
            return ()
        ended = next((run for run in snapshot.runs(limit=2) if run.state.finished), None)
        if ended is None or ended.state is not JobState.COMPLETED or not ended.error:
            return ()
        return (f"The embedding model that was chosen is not in use. {as_sentence(ended.error)}",)

    def how_to_begin(self) -> str:
        """Say what to do about a memory in which nothing is indexed yet."""
        with self.catalog.reading() as snapshot:
            return how_to_begin(snapshot.sources())

    def _empty(self, query: str, result: SearchResult) -> SearchResult:
        """Tell a memory with nothing in it from one in which nothing was found."""
        with self.catalog.reading() as snapshot:
            allowed = None if self.scope is None else self._allowed(snapshot.sources())
            counts = count(snapshot, allowed)
        if counts.chunks:
            return result
        notes = (UNREADABLE,) if counts.indexed_files else ()
        return _result(query, SearchState.NOTHING_INDEXED, SnapshotHits(), notes)

    def _allowed(self, sources: tuple[Source, ...]) -> frozenset[SourceId]:
        return frozenset(
            source.id for source in sources if source.enabled and (self.scope is None or source.id in self.scope)
        )


def checked(request: SearchRequest) -> str:
    """Return the query without the blanks around it.

    Raises:
        EmptyQuery, UsageError
    """
    query = text(request.query, "the query").strip()
    if not query:
        raise EmptyQuery("There is nothing to look for", hint="Say in a few words what you look for.")
    if len(query) > MAX_QUERY_CHARS:
        raise UsageError(
            f"The query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are taken",
            hint="Use its most telling sentence.",
        )
    if not 1 <= whole_number(request.limit, "the limit") <= MAX_SEARCH_LIMIT:
        raise UsageError(f"The limit must be between 1 and {MAX_SEARCH_LIMIT}, not {request.limit}")
    if whole_number(request.per_file, "the most hits of one file") < 0:
        raise UsageError(f"The most hits of one file cannot be {request.per_file}", hint="0 means no limit.")
    return query


def whole(query: str, analysed: AnalysedQuery) -> tuple[str, ...]:
    """Return a short query as one run of words if it is little more than function words: they are what it is about."""
    telling = [term for term in analysed.terms if term not in ENGLISH]
    if analysed.phrases or len(analysed.terms) > LONGEST_RUN or len(telling) > 1:
        return ()
    run = next(iter(analyse_query(f'"{query}"').phrases), ())
    return run if 1 < len(run) <= LONGEST_RUN else ()


def _wanted(sources: tuple[Source, ...], allowed: frozenset[SourceId], filters: SearchFilters) -> frozenset[SourceId]:
    disabled = {source.id for source in sources if not source.enabled}
    for source_id in filters.source_ids:
        if source_id in disabled:
            raise SourceDisabled.of(source_id)
        if source_id not in allowed:
            raise SourceNotFound(f"There is no source {source_id}", hint="`openmind source list` shows them.")
    return frozenset(filters.source_ids) or allowed


def _narrowed(everything: ChunkFilter, filters: SearchFilters, wanted: frozenset[SourceId]) -> ChunkFilter:
    after, before = filters.modified_after, filters.modified_before
    return evolve(
        everything,
        source_ids=tuple(sorted(wanted)) if filters.source_ids else everything.source_ids,
        path_prefix=f"{filters.folder.rstrip('/')}/" if filters.folder else None,
        extensions=filters.extensions,
        modified_after=after.timestamp() if after else None,
        modified_before=before.timestamp() if before else None,
    )


def _incomplete(counts: MemoryCounts) -> tuple[str, ...]:
    if not counts.missing_vectors:
        return ()
    return (f"{counts.missing_vectors:,} of {counts.chunks:,} passages have no vectors yet and are found by words.",)


def _result(query: str, state: SearchState, found: SnapshotHits, notes: tuple[str, ...]) -> SearchResult:
    return SearchResult(
        query=query, state=state, hits=found.hits, degraded=bool(notes), degraded_reason=" ".join(notes)
    )
