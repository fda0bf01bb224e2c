"""One search over one snapshot of both stores."""

from collections.abc import Collection, Iterable, Mapping

from attrs import evolve, field, frozen

from openmind.application.searching.gathering import gather
from openmind.application.searching.legs import Legs
from openmind.domain.chunks import ChunkKey, StoredPassage
from openmind.domain.files import FileBrief
from openmind.domain.headings import headings_of, names_of
from openmind.domain.ids import FileId, SourceId
from openmind.domain.models import RetrievalProfile
from openmind.domain.packing import read_metadata
from openmind.domain.paths import name_of
from openmind.domain.queries import AnalysedQuery
from openmind.domain.ranking import Ranked, arrange
from openmind.domain.relevance import AskedWord, Signals, coverage, holds_phrase, is_relevant, is_worth_showing, weigh
from openmind.domain.search import Explanation, SearchHit
from openmind.domain.snippets import snippet
from openmind.ports.catalog import CatalogReader
from openmind.ports.chunk_store import Candidate, CandidateQuery, ChunkFilter, ChunkView, WordsQuery

LEG = 100
"""Candidates of each leg."""
SPREAD = 10
"""Candidates of each leg for each hit that is wanted: equal passages and crowded files use them up."""
WIDE = 1_000
"""Candidates of the one further attempt when they were used up all the same."""
PROSE = 6
"""With so many telling words outside its quotes, a query is a sentence that quotes something."""
WITNESSES = 3
"""The best of each leg that are read in any case: they decide how much of the query is met."""

MENDED = "the next `openmind index` mends it."
NO_LEG = (f"Nothing can be found: the index is damaged; {MENDED}",)
FAILED: Mapping[tuple[bool, bool], tuple[str, ...]] = {
    (False, False): (),
    (True, False): (f"Found by meaning only: the index of words is damaged; {MENDED}",),
    (False, True): (f"Found by words only: the index of vectors is damaged; {MENDED}",),
    (True, True): NO_LEG,
}
"""What is told when the words leg, the vectors leg, or both failed."""


@frozen(kw_only=True)
class Question:
    """What is looked for, understood and embedded."""

    query: AnalysedQuery
    whole: tuple[str, ...] = ()
    """The query as one run of words, where its function words may be the point: `The Who`."""
    vector: bytes | None = field(default=None, repr=False)
    """None when the vectors leg is not to be asked."""
    profile: RetrievalProfile = field(factory=RetrievalProfile)
    limit: int
    per_file: int


@frozen(kw_only=True)
class SnapshotHits:
    """What a search found."""

    hits: tuple[SearchHit, ...] = ()
    relevant: bool = False
    notes: tuple[str, ...] = ()
    """A sentence for each leg that failed."""


@frozen(kw_only=True)
class SnapshotSearch:
    """Searches a catalog snapshot and the version of the table that was opened after it."""

    reader: CatalogReader
    view: ChunkView
    sources: frozenset[SourceId]
    """Sources that may show up."""
    filter: ChunkFilter
    everything: ChunkFilter
    """What would take part without a person's filters: its best passages are what scores are measured by."""
    passages: int
    """How many passages there are."""

    def find(self, question: Question) -> SnapshotHits:
        """Ask both legs, fuse them, and decide whether anything relevant was found.

        Quoted phrases must hold; only a whole sentence of which no passage holds the quoted part is taken for plain
        text.

        Raises:
            StoreDamaged: the table cannot be read.
        """
        found = self._enough(question)
        if question.query.phrases and not found.hits and _is_prose(question.query):
            found = self._enough(evolve(question, query=evolve(question.query, phrases=())))
        return found

    def _enough(self, question: Question) -> SnapshotHits:
        """Look among as many candidates as it takes, in two steps at most."""
        width = max(LEG, SPREAD * question.limit)
        found, more = self._find(question, width)
        if more and width < WIDE:
            found, _ = self._find(question, WIDE)
        return found

    def _find(self, question: Question, width: int) -> tuple[SnapshotHits, bool]:
        """Look among `width` candidates of each leg; says also whether more candidates may give more hits."""
        query, profile = question.query, question.profile
        legs = self._side_by_side(question, self._with_phrases(query, self._ask(question, width)))
        legs, models = self._measured(query, legs)
        asked = self._weigh(query)
        draft = _arranged(legs.ranked(profile, coverage=1.0), question)
        read = {*(one.key for one in draft), *legs.first(WITNESSES)}
        there = self.view.passages({*read, *models})
        rows = {key: row for key, row in there.items() if key in read}
        best = max((coverage(asked, row.words) for row in rows.values()), default=0.0)
        anywhere = max((coverage(asked, row.words) for row in there.values()), default=0.0)
        chosen = _arranged(legs.ranked(profile, coverage=anywhere), question)
        if missing := {one.key for one in chosen} - rows.keys():
            rows |= self.view.passages(missing)
        hits = tuple(
            _hit(one, row, legs.files[one.key.file_id], query, legs.explain(one.key, coverage(asked, row.words)))
            for one in chosen
            if (row := rows.get(one.key)) is not None
        )
        signals = Signals(coverage=best, cosine=legs.best_cosine, exact=_is_exact(query, rows.values()))
        relevant = bool(hits) and is_relevant(signals, cosine_floor=profile.cosine_floor)
        more = legs.full and len(hits) < question.limit
        if relevant:
            hits = _worth_showing(hits, profile)
        return SnapshotHits(hits=hits, relevant=relevant, notes=legs.notes), more

    def _ask(self, question: Question, width: int) -> Legs:
        """Get candidates, and leave out what the catalog does not show."""
        asked = question.query.asked
        words = WordsQuery(terms=asked, phrases=question.query.phrases) if asked else None
        query = CandidateQuery(words=words, vector=question.vector, filter=self.filter, limit=width)
        found = gather(self.view, query, files=question.limit)
        files = self._files((*found.words, *found.vectors))
        failed = (bool(found.words_error), bool(found.vectors_error))
        return Legs(
            words=None if words is None or found.words_error else self._shown(found.words, files),
            vectors=None if question.vector is None or found.vectors_error else self._shown(found.vectors, files),
            files=files,
            background=found.background,
            full=max(len(found.words), len(found.vectors)) >= width,
            notes=FAILED[failed],
        )

    def _measured(self, query: AnalysedQuery, legs: Legs) -> tuple[Legs, tuple[ChunkKey, ...]]:
        """Measure by the best of everything, also where filters leave it out: a filter makes no passage better."""
        if self.filter == self.everything or legs.words is None:
            return legs, ()
        words = WordsQuery(terms=query.asked, phrases=query.phrases)
        found = self.view.candidates(CandidateQuery(words=words, filter=self.everything, limit=WITNESSES)).words
        best = max((one.score for one in found), default=0.0)
        return evolve(legs, best_words=best), tuple(one.key for one in found)

    def _files(self, candidates: Iterable[Candidate]) -> dict[FileId, FileBrief]:
        return self.reader.briefs({one.key.file_id for one in candidates})

    def _shown(self, candidates: Iterable[Candidate], files: Mapping[FileId, FileBrief]) -> dict[ChunkKey, Candidate]:
        """Keep the passages that are live, of sources that may show up."""
        return {
            one.key: one
            for one in candidates
            if (file := files.get(one.key.file_id)) is not None
            and file.live_generation == one.key.generation
            and file.source_id in self.sources
        }

    def _side_by_side(self, question: Question, legs: Legs) -> Legs:
        """Add the passages that hold the whole query word for word; loose function words would never find them."""
        if not question.whole or legs.words is None:
            return legs
        words = WordsQuery(terms=(), phrases=(question.whole,))
        found = self.view.candidates(CandidateQuery(words=words, filter=self.filter, limit=LEG)).words
        files = self._files(found)
        runs = self._shown(found, files)
        return evolve(legs, words={**runs, **legs.words}, runs=frozenset(runs), files={**legs.files, **files})

    def _with_phrases(self, query: AnalysedQuery, legs: Legs) -> Legs:
        """Keep only what holds the quoted phrases; the words leg has made sure of that, the vectors leg has not."""
        if not query.phrases or legs.vectors is None:
            return legs
        if legs.words is not None:
            holding: Collection[ChunkKey] = legs.words.keys()
        else:
            rows = self.view.passages(legs.vectors.keys())
            holding = {
                key for key, row in rows.items() if all(holds_phrase(phrase, row.words) for phrase in query.phrases)
            }
        return evolve(legs, vectors={key: one for key, one in legs.vectors.items() if key in holding})

    def _weigh(self, query: AnalysedQuery) -> tuple[AskedWord, ...]:
        terms = tuple(dict.fromkeys(query.asked))
        return weigh(terms, self.view.document_share(terms), passages=self.passages)


def _arranged(ranked: Iterable[Ranked], question: Question) -> tuple[Ranked, ...]:
    return arrange(ranked, limit=question.limit, per_file=question.per_file)


def _worth_showing(hits: tuple[SearchHit, ...], profile: RetrievalProfile) -> tuple[SearchHit, ...]:
    """Leave out what is far behind the best hit; of a search that found nothing relevant, all is shown."""
    best = hits[0].score
    return tuple(
        hit
        for hit in hits
        if is_worth_showing(hit.explanation, score=hit.score, best=best, cosine_floor=profile.cosine_floor)
    )


def _is_exact(query: AnalysedQuery, passages: Iterable[StoredPassage]) -> bool:
    """Whether a phrase or an identifier was met whole. What was found with a phrase in the query holds it."""
    if query.phrases:
        return True
    return any(f" {identifier} " in f" {one.words} " for one in passages for identifier in query.identifiers)


def _is_prose(query: AnalysedQuery) -> bool:
    quoted = {term for phrase in query.phrases for term in phrase}
    return len(set(query.asked) - quoted) >= PROSE


def _hit(
    ranked: Ranked, passage: StoredPassage, file: FileBrief, query: AnalysedQuery, explanation: Explanation
) -> SearchHit:
    """Make a hit: path and name as the catalog has them, the rest as the passage says."""
    key = passage.key
    locator, _, metadata = read_metadata(passage.metadata)
    title = file.title or passage.title
    shown, marks = snippet(passage.text, query, names=names_of(title, locator), bare=headings_of(locator))
    return SearchHit(
        id=f"{key.file_id}:{key.index}",
        file_id=key.file_id,
        source_id=file.source_id,
        score=ranked.score,
        path=ranked.path,
        file_name=name_of(file.path_bytes),
        extension=passage.extension,
        title=title,
        snippet=shown,
        marks=marks,
        text=passage.text,
        index=key.index,
        locator=locator,
        metadata=metadata,
        also_at=ranked.also_at,
        explanation=explanation,
    )
