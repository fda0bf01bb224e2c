"""What the text of a passage costs before it is stored: cleaning, dividing, packing, analysing.

    python benchmarks/analyser.py [FOLDER]

FOLDER holds text files (UTF-8); without one, made-up English is measured. German, Russian and Chinese are always made
up, so that text beyond ASCII is compared in the same run. Figures are CPU time, the best of several rounds.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from openmind.domain.analysis import analyse_query, passage_words
from openmind.domain.chunking import split
from openmind.domain.documents import ExtractedDocument, Place, Segment
from openmind.domain.packing import pack, unpack
from openmind.domain.snippets import snippet
from openmind.domain.text import clean

PASSAGE, DOCUMENT, SAMPLE = 800, 3_000, 400_000
PASSAGES, MEGABYTES, DOCUMENTS = 52_000, 30, 10_000
"""What a folder of 30 MB comes to; the bars are for that."""
ROUNDS = 5
QUESTION = "who pays for the repair of the heating, and until when?"

LETTERS = {
    "English": "abcdefghijklmnoprstuvwy",
    "German": "abcdefghiklmnoprstuvwzäöüß",
    "Russian": "абвгдежзийклмнопрстуфхцчшыьэюя",
}
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 2_500)]

Item = TypeVar("Item")


def spaced(rng: random.Random, letters: str) -> str:
    """Make up prose: sentences of words, now and then a hyphen, a number or a name."""
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(4_000)]
    words += [f"{rng.choice(words)}-{rng.choice(words)}" for _ in range(60)] + [str(number) for number in range(60)]
    text = ""
    while len(text) < SAMPLE:
        sentence = " ".join(rng.choices(words, k=rng.randint(6, 24)))
        text += sentence.capitalize() + rng.choice([". ", ". ", ", ", "? ", ".\n\n"])
    return text


def unspaced(rng: random.Random) -> str:
    text = ""
    while len(text) < SAMPLE:
        text += "".join(rng.choices(HAN, k=rng.randint(5, 14))) + rng.choice("，。，、")
    return text


def read(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "\n\n".join(clean(path.read_text(encoding="utf-8", errors="replace")) for path in files)


def measured(work: Callable[[Item], object], items: Sequence[Item]) -> float:
    """Return CPU seconds for one item."""
    best = float("inf")
    for _ in range(ROUNDS):
        before = time.process_time()
        for item in items:
            work(item)
        best = min(best, time.process_time() - before)
    return best / max(len(items), 1)


def parts(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def as_document(text: str) -> ExtractedDocument:
    lines = Place(kind="lines", start=1, end=text.count("\n") + 1)
    return ExtractedDocument(segments=(Segment(text=text, locator=(lines,)),))


def analyse(passage: str) -> str:
    return passage_words(passage, context="The flat › Heating", file_name="flat.md", path="/home/ann/notes/flat.md")


def main() -> None:
    rng = random.Random(7)
    english = read(Path(sys.argv[1])) if len(sys.argv) > 1 else spaced(rng, LETTERS["English"])
    print(f"analysing passages of {PASSAGE} characters: µs each, seconds for {PASSAGES:,}, times English")
    texts = {"English": english, **{name: spaced(rng, LETTERS[name]) for name in ("German", "Russian")}}
    texts["Chinese"] = unspaced(rng)
    base = 0.0
    for name, text in texts.items():
        cost = measured(analyse, parts(text, PASSAGE))
        base = base or cost
        print(f"  {name:<8} {cost * 1e6:8.1f} µs {cost * PASSAGES:7.2f} s {cost / base:6.1f}")

    documents = [as_document(part) for part in parts(english, DOCUMENT)]
    packed = [pack(document) for document in documents]
    size = len(english) / 1e6
    per_megabyte = MEGABYTES / size
    query = analyse_query(QUESTION)
    print(f"English, {size:.1f} MB, scaled to {MEGABYTES} MB in {DOCUMENTS:,} documents: CPU seconds")
    print(f"  clean    {measured(clean, [english]) * per_megabyte:7.2f}")
    print(f"  split    {measured(lambda one: list(split(one)), documents) * DOCUMENTS:7.2f}")
    print(f"  pack     {measured(pack, documents) * DOCUMENTS:7.2f}")
    print(f"  unpack   {measured(unpack, packed) * DOCUMENTS:7.2f}")
    print("for a search: µs")
    print(f"  query    {measured(analyse_query, [QUESTION]) * 1e6:7.0f}")
    print(f"  snippet  {measured(lambda part: snippet(part, query), parts(english, PASSAGE)[:200]) * 1e6:7.0f}")


if __name__ == "__main__":
    main()
