"""Sums of token vectors, word by word: what makes the built-in embedder fast.

A text's vector is the sum of its tokens' vectors, scaled to unit length. Tokens never span two words, and people
use the same words again and again: so the sum of each word is computed once and kept, and a text costs one gather
and one sum over its words. Compared with tokenising whole texts this is five times faster, and the vectors differ
by a thousandth (line breaks are not tokens here).
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field
from numpy.typing import NDArray
from openmind.domain.errors import ModelNotLoaded

from openmind_wordllama.model_files import ModelFiles
from openmind_wordllama.model_weights import map_weights
from openmind_wordllama.word_pieces import BLANK, WordPieces

if TYPE_CHECKING:  # it waits for the first passage
    from tokenizers.models import Model

Floats = NDArray[np.float32]

DIMENSION = 256
CACHED_WORDS = 32_768
"""Most words whose sums are kept: 32 MB of float32 and about 3 MB of names. A full cache is emptied: the words in
use are back after a few hundred texts, and nothing has to be counted or ordered for that."""
CACHED_WORD_CHARS = 64
"""Longer words are not kept: they are hashes, links and unspaced scripts, which seldom come again."""
SLICE_WORDS = 512
"""Words summed at once. The buffer stays within the processor's cache and is never given back to the system, which
doubles the speed. It is also where long texts are cut, counted from their own start: so the order of additions,
and with it every last bit of a vector, depends on the text alone."""


@define
class WordVectors:
    """The loaded model with its cache of words."""

    _weights: NDArray[np.float16]
    _pieces: WordPieces
    _files: ModelFiles
    _tokens: "Model | None" = field(default=None, init=False)
    _rows: dict[str, int] = field(factory=dict, init=False)
    _sums: Floats = field(init=False)
    """Sums of the kept words, then room for one slice of words that are not kept."""
    _gathered: Floats = field(init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def __attrs_post_init__(self) -> None:
        self._sums = np.empty((CACHED_WORDS + SLICE_WORDS, DIMENSION), np.float32)
        self._gathered = np.empty((SLICE_WORDS, DIMENSION), np.float32)

    @classmethod
    def load(cls, files: ModelFiles) -> "WordVectors":
        """Read weights and vocabulary.

        Raises:
            ModelNotLoaded: the files are damaged, or not those of this model.
        """
        try:
            weights = map_weights(files.weights)
            pieces = WordPieces.read(files.tokenizer)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _unusable() from error
        if weights.shape != (len(pieces.ids), DIMENSION):
            raise _unusable()
        return cls(weights, pieces, files)

    def embed(self, texts: Sequence[str], *, keep: bool = True) -> bytes:
        """Embed texts into rows of little-endian float32 of unit length.

        Args:
            texts: what to embed.
            keep: whether their words are likely to come again soon, so that their sums are kept.
        """
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        if keep:
            self._tokenizer()
        for rows, starts, words in _slices(texts):
            with self._lock:
                vectors[rows] += self._sum(words, starts, keep=keep)
        lengths = np.sqrt(np.square(vectors).sum(axis=1))
        vectors[lengths == 0, 0] = lengths[lengths == 0] = 1.0  # no word at all: some fixed direction
        vectors /= lengths[:, None]
        return vectors.astype("<f4", copy=False).tobytes()

    def _sum(self, words: list[str], starts: list[int], *, keep: bool) -> Floats:
        """Sum the vectors of runs of words: from each start up to the next."""
        rows = self._rows_of(words, keep=keep)
        gathered = self._gathered[: len(words)]
        np.take(self._sums, rows, axis=0, out=gathered, mode="clip")
        return np.add.reduceat(gathered, starts, axis=0)

    def _rows_of(self, words: list[str], *, keep: bool) -> NDArray[np.intp]:
        """Find the rows of `_sums` that belong to words, computing what is not there."""
        distinct = dict.fromkeys(words)
        unseen = [word for word in distinct if word not in self._rows]
        if keep and len(self._rows) + len(unseen) > CACHED_WORDS:
            self._rows.clear()
            unseen = list(distinct)
        short = [word for word in unseen if len(word) <= CACHED_WORD_CHARS]
        long = [word for word in unseen if len(word) > CACHED_WORD_CHARS] if len(short) < len(unseen) else []
        if keep:
            first = len(self._rows)
            self._compute(short, first)
            self._rows.update(zip(short, range(first, first + len(short)), strict=True))
            passing = long
        else:
            self._compute(short, CACHED_WORDS)
            passing = short + long
        if not passing:
            return np.fromiter(map(self._rows.__getitem__, words), np.intp, len(words))
        at = {word: row for row, word in enumerate(passing, CACHED_WORDS)}
        self._compute_long(long, CACHED_WORDS + len(passing) - len(long))
        return np.array([at[word] if word in at else self._rows[word] for word in words], np.intp)

    def _compute(self, words: list[str], first: int) -> None:
        """Write the sums of short words into the rows from `first` on, a buffer of tokens at a time."""
        ids: list[int] = []
        starts: list[int] = []
        for word in words:
            if len(ids) > SLICE_WORDS:
                first = self._write(ids, starts, first)
                ids, starts = [], []
            starts.append(len(ids))
            ids += self._token_ids(word)
        if words:
            self._write(ids, starts, first)

    def _write(self, ids: list[int], starts: list[int], first: int) -> int:
        after = first + len(starts)
        np.add.reduceat(self._weights[ids].astype(np.float32), starts, axis=0, out=self._sums[first:after])
        return after

    def _compute_long(self, words: list[str], first: int) -> None:
        """Write the sums of words of any length, piece by piece, into the rows from `first` on."""
        for row, word in enumerate(words, first):
            ids = self._token_ids(word)
            self._sums[row] = 0
            for at in range(0, len(ids), SLICE_WORDS):
                self._sums[row] += self._weights[ids[at : at + SLICE_WORDS]].astype(np.float32).sum(axis=0)

    def _token_ids(self, word: str) -> list[int]:
        """Cut a word into tokens. The tokenizer is fast, but slow to read: a few short words do without."""
        try:
            if self._tokens is None and len(word) <= CACHED_WORD_CHARS:
                return self._pieces.cut(BLANK + word)
            return [token.id for token in self._tokenizer().tokenize(BLANK + word)]
        except UnicodeEncodeError:  # a lone surrogate
            return self._token_ids(word.encode("utf-8", "replace").decode())

    def _tokenizer(self) -> "Model":
        if self._tokens is None:
            from tokenizers import Tokenizer

            try:
                self._tokens = Tokenizer.from_file(str(self._files.tokenizer)).model
            except Exception as error:  # it knows no other kind
                raise _unusable() from error
        return self._tokens


def _slices(texts: Sequence[str]) -> Iterator[tuple[list[int], list[int], list[str]]]:
    """Cut texts into slices of at most `SLICE_WORDS` words: row of each text, where it starts, the words.

    No text is twice in one slice, and a text of more words than a slice has slices of its own.
    """
    rows: list[int] = []
    starts: list[int] = []
    words: list[str] = []
    for row, text in enumerate(texts):
        found = text.split()
        if len(words) + len(found) > SLICE_WORDS and words:
            yield rows, starts, words
            rows, starts, words = [], [], []
        if len(found) > SLICE_WORDS:
            for at in range(0, len(found), SLICE_WORDS):
                yield [row], [0], found[at : at + SLICE_WORDS]
        elif found:
            rows.append(row)
            starts.append(len(words))
            words += found
    if words:
        yield rows, starts, words


def _unusable() -> ModelNotLoaded:
    return ModelNotLoaded(
        "the files of the built-in embedder cannot be read",
        hint="Install the package wordllama again, or choose another embedding model.",
    )
