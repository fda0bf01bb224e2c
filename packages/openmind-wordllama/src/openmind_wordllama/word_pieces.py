"""Cuts single words into tokens knowing only the vocabulary: soon ready, for the few words of a question.

The tokenizer of the model joins neighbours by byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909), for which it
reads a ranked list of 61,249 pairs: that takes longer than a whole search. In a vocabulary of the Llama kind the list
follows from the pieces. Two pieces may be joined when what they make is a piece: the one with the lower id first, of
two ways to make it the one with the lower ids, and blanks without a letter last of all.
"""

import json
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import cast

from attrs import frozen

BLANK = "▁"
"""How the vocabulary writes a blank, with which a word begins."""

Rank = tuple[bool, int, int, int]
_NEVER: Rank = (True, sys.maxsize, 0, 0)


@frozen
class WordPieces:
    """The vocabulary: the id of each piece."""

    ids: Mapping[str, int]

    @classmethod
    def read(cls, tokenizer: Path) -> "WordPieces":
        """Read the vocabulary, and no more, from the file of the tokenizer, where the pairs stand behind it.

        Raises:
            OSError: it cannot be read.
            ValueError: it is no such file.
        """
        content = tokenizer.read_bytes()
        start, end = content.index(b"{", content.index(b'"vocab":')), content.rindex(b'"merges":')
        ids = json.loads(content[start : content.rindex(b"}", start, end) + 1])
        if not all(_of_byte(byte) in ids for byte in range(256)):
            raise ValueError("the vocabulary lacks bytes")
        return cls(cast(dict[str, int], ids))

    def cut(self, word: str) -> list[int]:
        """Give the ids of the tokens of a word, as the tokenizer does. The time grows with the square of its length.

        Raises:
            UnicodeEncodeError: it holds half a character.
        """
        pieces = [piece for character in word for piece in self._begin(character)]
        while len(pieces) > 1:
            rank, at = min((self.rank(*pair), at) for at, pair in enumerate(pairwise(pieces)))
            if rank == _NEVER:
                break
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return [self.ids[piece] for piece in pieces]

    def _begin(self, character: str) -> list[str]:
        """What a character is before anything is joined: itself, or its bytes where it is no piece."""
        return [character] if character in self.ids else [_of_byte(byte) for byte in character.encode()]

    def rank(self, left: str, right: str) -> Rank:
        """When two pieces are joined: the lowest first."""
        joined = self.ids.get(left + right)
        if joined is None:
            return _NEVER
        return (not (left + right).strip(BLANK), joined, self.ids[left], self.ids[right])


def _of_byte(byte: int) -> str:
    return f"<0x{byte:02X}>"
