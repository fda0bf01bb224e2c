"""Numbers that pages tell are those of the code."""

from importlib.metadata import version
from pathlib import Path

import pytest
from openmind.domain.relevance import COVERAGE_FLOOR, LONE_COVERAGE_FLOOR
from openmind.domain.search import DEFAULT_PER_FILE
from openmind_wordllama.embeddings import PROFILE

DOCS = Path(__file__).parents[2] / "docs"
WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("search.md", f"weight of the words beside this embedder: {PROFILE.words_weight} with the built-in one"),
        (
            "search.md",
            f"cover less than {COVERAGE_FLOOR} of the query ({LONE_COVERAGE_FLOOR} when there are no vectors)",
        ),
        ("search.md", f"below the floor of the embedder ({PROFILE.cosine_floor} for the built-in one)"),
        ("search.md", f"At most {WORDS[DEFAULT_PER_FILE]} hits come from one file"),
        ("privacy.md", f"(https://pypi.org/project/wordllama/) {version('wordllama')}"),
    ],
)
def test_a_page_tells_what_the_code_has(page: str, sentence: str) -> None:
    assert sentence in " ".join((DOCS / page).read_text(encoding="utf-8").split())
