"""Where a text matches a query: what is marked in a snippet.

The index decides what is found; this shows it. It works on the text as it stands, folds it as the analyser does, and
keeps for each folded character where it came from.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from attrs import frozen

from openmind.domain import scripts
from openmind.domain.folding import fold, fold_case
from openmind.domain.function_words import UNMARKED
from openmind.domain.identifiers import JOINT, MAX_TOKEN, identifiers_of
from openmind.domain.queries import AnalysedQuery
from openmind.domain.stems import forms

Span = tuple[int, int]

_CLUSTER = re.compile(
    "(?s:.)[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u3099\u309a\uff9e\uff9f]*"
)
"""A letter with its marks, and half-width kana with its voicing: what is folded together."""
_TOKEN = re.compile(rf"[{scripts.UNSPACED}]+|(?:[^\W_{scripts.UNSPACED}]|[\u0900-\u0963\u0966-\u0dff])+(?:\+\+|#)?")
_DIVIDED = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,40})-\s+([^\W\d_]{2,40})")
_ENDLESS = re.compile(rf"[^\W{scripts.UNSPACED}]{{{MAX_TOKEN + 1},}}")
"""Letters and digits without a break: data, of which nobody wants to see more than what was looked for."""
_LEAST_BURIED = 3
PHRASE, EXACT, PLAIN = 4.0, 2.0, 1.0


@frozen
class Match:
    """A stretch of text that matches a term, a phrase or an identifier."""

    start: int
    end: int
    term: str
    """What it matches; the same for all its places."""
    weight: float


@frozen
class Unit:
    """A word or a pair of characters, as the index has them, with its place in the text."""

    start: int
    end: int
    word: str

    def agrees(self, term: str) -> bool:
        return self.word == term or (self.word[:2] == term[:2] and not forms(self.word).isdisjoint(forms(term)))


@frozen
class FoldedText:
    """Folded text that knows where each of its characters came from."""

    text: str
    folded: str
    origins: tuple[int, ...] | None
    """Offset in the text of each folded character and of the end; None where they are the same."""

    @classmethod
    def of(cls, text: str) -> "FoldedText":
        if text.isascii():
            return cls(text, text.lower(), None)
        clusters = _CLUSTER.findall(text)
        table = {cluster: fold_case(fold(cluster)) for cluster in set(clusters)}
        pieces = [table[cluster] for cluster in clusters]
        starts = accumulate(map(len, clusters), initial=0)
        origins = [start for start, piece in zip(starts, pieces, strict=False) for _ in piece]
        return cls(text, "".join(pieces), (*origins, len(text)))

    def place(self, start: int, end: int) -> Span:
        """Return the stretch of text that became folded characters `start` to `end`."""
        if self.origins is None:
            return start, end
        last = self.origins[end - 1]
        # One character may have become several: go on to where the next one begins.
        while self.origins[end] == last:
            end += 1
        return self.origins[start], self.origins[end]

    def units(self) -> Iterator[Unit]:
        if self.origins is None:  # nothing of ASCII is unspaced, stemmed or elsewhere
            yield from (Unit(*token.span(), token.group()) for token in _TOKEN.finditer(self.folded))
            return
        for token in _TOKEN.finditer(self.folded):
            word, at = token.group(), token.start()
            if scripts.RUN.match(word):
                for offset, pair in enumerate(scripts.pairs(word)):
                    yield Unit(*self.place(at + offset, at + offset + len(pair)), pair)
            else:
                yield Unit(*self.place(at, token.end()), *scripts.stem([word]))

    def divided(self) -> Iterator[Unit]:
        """Find words that a hyphen divides at the end of a line."""
        for found in _DIVIDED.finditer(self.folded):
            yield Unit(*self.place(*found.span()), *scripts.stem([found[1] + found[2]]))

    def alone(self, character: str) -> Iterator[Match]:
        """Find a character of an unspaced script, which its pairs hide."""
        if scripts.RUN.match(character):
            for found in re.finditer(character, self.folded):
                yield Match(*self.place(*found.span()), character, PLAIN)

    def buried(self, terms: Iterable[str]) -> Iterator[Match]:
        """Find what stands amid an endless token."""
        for token in _ENDLESS.finditer(self.folded):
            for term in terms:
                if len(term) >= _LEAST_BURIED and (at := token.group().find(term)) >= 0:
                    yield Match(*self.place(token.start() + at, token.start() + at + len(term)), term, PLAIN)

    def literally(self, identifier: str) -> Iterator[Match]:
        """Find an identifier as it stands."""
        if identifier not in self.folded:
            return
        for found in re.finditer(rf"(?<![^\W_])v?{re.escape(identifier)}(?![^\W_])", self.folded):
            yield Match(*self.place(*found.span()), identifier, EXACT)


def matching_spans(text: str, query: AnalysedQuery) -> tuple[Span, ...]:
    """Find the stretches of a text that match a query: ascending, disjoint, as offsets in the text."""
    return merged((match.start, match.end) for match in matches(text, query))


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Join spans that overlap or touch."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def matches(text: str, query: AnalysedQuery) -> list[Match]:
    """Find each place of each phrase, identifier and term, in the order of the text; they may overlap."""
    if not query.terms:
        return []
    folded = FoldedText.of(text)
    units = list(folded.units())
    found = [match for phrase in query.phrases for match in _phrase_matches(units, phrase)]
    terms = set(query.terms)
    if found:
        # Loose words of a phrase that is there would only distract from it.
        terms -= {term for phrase in query.phrases for term in phrase}
    found += [match for identifier in query.identifiers for match in folded.literally(identifier)]
    if terms - UNMARKED:
        terms -= UNMARKED
    found += [match for term in terms if len(term) == 1 for match in folded.alone(term)]
    found += _term_matches(text, [*units, *folded.divided()], terms)
    found += folded.buried(sorted(terms))
    return sorted(found, key=lambda match: (match.start, match.end))


def _phrase_matches(units: Sequence[Unit], phrase: tuple[str, ...]) -> Iterator[Match]:
    last = len(phrase) - 1
    for at in range(len(units) - last):
        if all(units[at + offset].agrees(term) for offset, term in enumerate(phrase)):
            yield Match(units[at].start, units[at + last].end, " ".join(phrase), PHRASE)


def _term_matches(text: str, units: Sequence[Unit], terms: set[str]) -> Iterator[Match]:
    wanted = {form: term for term in sorted(terms) for form in forms(term)} | {term: term for term in terms}
    heads = {form[:2] for form in wanted}
    for unit in units:
        if unit.word[:2] in heads:
            for form in forms(unit.word):
                if form in wanted:
                    yield Match(unit.start, unit.end, wanted[form], PLAIN)
                    break
        written = text[unit.start : unit.end]
        if len(written) <= MAX_TOKEN and JOINT.search(written):
            yield from _written_otherwise(unit, written, terms)


def _written_otherwise(unit: Unit, written: str, terms: set[str]) -> Iterator[Match]:
    """Match a unit by what else it is found by: `username` in `getUserName`."""
    for identifier in identifiers_of(fold(written)):
        for other in identifier.indexed:
            if other in terms:
                yield Match(unit.start, unit.end, other, PLAIN)
