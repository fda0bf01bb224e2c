"""Write a corpus of prose-like text files: `python benchmarks/corpus.py FOLDER --files 10000 --size 3000`.

The same arguments write the same bytes. Words are made of syllables and fall off in frequency as those of natural
language do; about four in ten are English function words, and each file brings a few dozen words that no other file
has, so that no cache of words or vectors makes the corpus cheaper than real text.
"""

import argparse
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

FUNCTION_WORDS = """
the of and to a in is that it was for on with as be at by this had not are but from or have an they which one you were
her all she there would their we him been has when who will more no if out so said what up its about into than them
can only other new some could time these two may then do first any my now such like our over man me even most made
after also did many before must through back years where much your way well down should because each just those
people how too little state good very make world still own see men work long get here between both life being under
never day same another know while last might us great old year off come since against go came right used take three
"""
ONSETS = "b c d f g h j k l m n p r s t v w b c d f g h k l m n p r s t br cl dr fl gr pl pr sh sp st th tr"
NUCLEI = "a e i o u a e i o u ai ea ee ou"
CODAS = ("", "", "", "", "n", "r", "l", "s", "t", "m", "nd", "st")
ENDINGS = ("", "", "", "", "", "", "s", "ed", "ing", "er", "ly", "tion")

VOCABULARY = 60_000
"""Words that files share."""
ZIPF_EXPONENT = 1.05
FUNCTION_SHARE = 0.42
CHARS_PER_OWN_WORD = 120
"""A file of 3,000 characters brings 25 words of its own."""
OWN_SHARE = 0.07
HALF_PARAGRAPH = 230
FILES_PER_FOLDER = 100


def coined(rng: random.Random, syllables: int) -> str:
    return "".join(syllable(rng) for _ in range(syllables)) + rng.choice(ENDINGS)


def syllable(rng: random.Random) -> str:
    return rng.choice(ONSETS.split()) + rng.choice(NUCLEI.split()) + rng.choice(CODAS)


def shared_vocabulary(seed: int) -> list[str]:
    """Frequent words first; these tend to be short."""
    rng = random.Random(f"{seed} vocabulary")
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        share = len(words) / VOCABULARY
        words[coined(rng, rng.choice((1, 1, 2) if share < 0.02 else (1, 2, 2, 3) if share < 0.4 else (2, 3, 3)))] = None
    return list(words)


class Writer:
    """Writes texts, each from its own random numbers."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.function_words = FUNCTION_WORDS.split()
        self.vocabulary = shared_vocabulary(seed)
        self.content_weights = cumulated(1 / rank**ZIPF_EXPONENT for rank in range(3, VOCABULARY + 3))
        self.function_weights = cumulated(1 / rank for rank in range(1, len(self.function_words) + 1))

    def text(self, number: int, size: int) -> str:
        rng = random.Random(f"{self.seed} text {number}")
        size = round(size * rng.uniform(0.6, 1.4))
        own = [coined(rng, 4) for _ in range(max(3, size // CHARS_PER_OWN_WORD))]
        paragraphs = [self.heading(rng, own)]
        written = len(paragraphs[0])
        while written < size - HALF_PARAGRAPH:
            paragraph = " ".join(self.sentence(rng, own) for _ in range(rng.randint(3, 7)))
            paragraphs.append(paragraph)
            written += len(paragraph) + 2
        return "\n\n".join(paragraphs) + "\n"

    def heading(self, rng: random.Random, own: list[str]) -> str:
        return " ".join(word.capitalize() for word in (rng.choice(own), rng.choice(self.vocabulary[:2_000])))

    def sentence(self, rng: random.Random, own: list[str]) -> str:
        words = list(self.words(rng, own, rng.randint(6, 24)))
        if len(words) > 14:
            words[len(words) // 2] += ","
        return " ".join([words[0].capitalize(), *words[1:]]) + rng.choice("......?!;")

    def words(self, rng: random.Random, own: list[str], count: int) -> Iterator[str]:
        common = iter(rng.choices(self.function_words, cum_weights=self.function_weights, k=count))
        content = iter(rng.choices(self.vocabulary, cum_weights=self.content_weights, k=count))
        for _ in range(count):
            draw = rng.random()
            if draw < FUNCTION_SHARE:
                yield next(common)
            elif draw < FUNCTION_SHARE + OWN_SHARE:
                yield rng.choice(own)
            elif draw > 0.99:
                yield str(rng.randint(1, 2_100))
            else:
                yield next(content)


def cumulated(weights: Iterator[float]) -> list[float]:
    return list(itertools.accumulate(weights))


def write_corpus(folder: Path, *, files: int, size: int, seed: int = 1) -> int:
    """Write the files and return how many bytes they hold."""
    writer = Writer(seed)
    written = 0
    for number in range(files):
        path = folder / f"part-{number // FILES_PER_FOLDER:04d}" / f"note-{number:06d}.txt"
        if number % FILES_PER_FOLDER == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        written += path.write_bytes(writer.text(number, size).encode())
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=3_000, help="characters of a file, on average")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    written = write_corpus(arguments.folder, files=arguments.files, size=arguments.size, seed=arguments.seed)
    print(f"{arguments.files} files, {written / 1e6:.1f} MB in {arguments.folder}")


if __name__ == "__main__":
    main()
