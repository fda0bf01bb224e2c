"""What some embedding models were trained to read before a text.

Servers pass the text on as it is, so the words have to come from here. Taken from the models' own cards; a model
that is not listed gets none. A change to this table needs a higher number for the family: it makes new vectors.
"""

import re

from attrs import frozen
from openmind.domain.models import EmbeddingRole


@frozen(kw_only=True)
class Prefixes:
    """The words before a text, by its role."""

    passage: str = ""
    query: str = ""
    version: int = 0
    """0 means none; goes into the identity of the embedder."""

    def before(self, role: EmbeddingRole) -> str:
        return self.passage if role == "passage" else self.query

    @property
    def longest(self) -> int:
        return max(len(self.passage), len(self.query))


_SEARCHING = "Represent this sentence for searching relevant passages: "
_INSTRUCTED = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

_FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"nomic-embed-text", Prefixes(passage="search_document: ", query="search_query: ", version=1)),
    (r"embedding-?gemma", Prefixes(passage="title: none | text: ", query="task: search result | query: ", version=1)),
    (r"qwen3-embedding", Prefixes(query=_INSTRUCTED, version=1)),
    (r"e5-[a-z0-9-]*instruct|e5-mistral", Prefixes(query=f"{_INSTRUCTED} ", version=1)),
    (r"(^|[-_/])e5-(small|base|large)", Prefixes(passage="passage: ", query="query: ", version=1)),
    (r"arctic-embed(2|-[a-z]+-v2)", Prefixes(query="query: ", version=1)),
    (r"arctic-embed", Prefixes(query=_SEARCHING, version=1)),
    (r"mxbai-embed-large", Prefixes(query=_SEARCHING, version=1)),
)


def prefixes_for(key: str) -> Prefixes:
    """Find the family of a model by its key."""
    name = key.lower()
    return next((prefixes for pattern, prefixes in _FAMILIES if re.search(pattern, name)), Prefixes())
