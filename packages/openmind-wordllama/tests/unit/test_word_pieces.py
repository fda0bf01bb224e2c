import json

from hypothesis import example, given, settings
from hypothesis import strategies as st
from openmind_wordllama.model_files import find_model_files
from openmind_wordllama.word_pieces import BLANK, WordPieces
from tokenizers import Tokenizer

FILES = find_model_files()
PIECES = WordPieces.read(FILES.tokenizer)
TOKENIZER = Tokenizer.from_file(str(FILES.tokenizer)).model

LETTERS = st.sampled_from([*"▁▁aabcertinons<>0xFE-=.", "é", "ü", "漢", "😀"])


def by_tokenizer(word: str) -> list[int]:
    return [token.id for token in TOKENIZER.tokenize(word)]


@settings(deadline=None, max_examples=50)
@given(st.one_of(st.text(LETTERS, max_size=40), st.text(st.characters(exclude_categories=["Cs"]), max_size=40)))
@example("unbelievably")
@example("a" * 63)
@example("▁" * 37)
@example("getUserName")
@example("Straßenbahn")
def test_a_word_is_cut_as_the_tokenizer_cuts_it(word: str) -> None:
    assert PIECES.cut(BLANK + word) == by_tokenizer(BLANK + word)


def test_every_piece_of_the_vocabulary_is_cut_as_the_tokenizer_cuts_it() -> None:
    words = [BLANK + piece for piece in list(PIECES.ids)[::7]]

    assert [word for word in words if PIECES.cut(word) != by_tokenizer(word)] == []


def test_the_pairs_that_the_tokenizer_may_join_follow_from_the_vocabulary() -> None:
    listed = json.loads(FILES.tokenizer.read_bytes())["model"]["merges"]
    pairs = [tuple(pair.split(" ")) for pair in listed]

    follow = [
        (piece[:at], piece[at:])
        for piece in PIECES.ids
        for at in range(1, len(piece))
        if piece[:at] in PIECES.ids and piece[at:] in PIECES.ids
    ]

    assert sorted(follow, key=lambda pair: PIECES.rank(*pair)) == pairs
