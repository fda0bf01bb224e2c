import pytest
from openmind_lmstudio.prefixes import prefixes_for

SEARCHING = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("key", "passage", "query"),
    [
        ("text-embedding-nomic-embed-text-v1.5", "search_document: ", "search_query: "),
        ("nomic-embed-text:latest", "search_document: ", "search_query: "),
        ("text-embedding-embeddinggemma-300m-qat", "title: none | text: ", "task: search result | query: "),
        ("text-embedding-multilingual-e5-large", "passage: ", "query: "),
        ("intfloat/e5-small-v2", "passage: ", "query: "),
        ("snowflake-arctic-embed-l-v2.0", "", "query: "),
        ("snowflake-arctic-embed2:568m", "", "query: "),
        ("text-embedding-snowflake-arctic-embed-m", "", SEARCHING),
        ("text-embedding-mxbai-embed-large-v1", "", SEARCHING),
    ],
)
def test_known_families_get_the_words_they_were_trained_with(key: str, passage: str, query: str) -> None:
    prefixes = prefixes_for(key)

    assert (prefixes.before("passage"), prefixes.before("query")) == (passage, query)
    assert prefixes.version >= 1


@pytest.mark.parametrize(
    ("key", "end"),
    [
        ("Qwen3-Embedding-0.6B-GGUF", "\nQuery:"),
        ("multilingual-e5-large-instruct", "\nQuery: "),
        ("e5-mistral-7b", "\nQuery: "),
    ],
)
def test_instructed_models_get_an_instruction_before_the_question(key: str, end: str) -> None:
    assert prefixes_for(key).query.startswith("Instruct: ")
    assert prefixes_for(key).query.endswith(end)
    assert prefixes_for(key).passage == ""


@pytest.mark.parametrize(
    "key", ["text-embedding-bge-m3", "text-embedding-acme", "nomic-embed-code", "all-MiniLM-L6-v2", "granite5-small"]
)
def test_other_models_get_the_text_as_it_is(key: str) -> None:
    prefixes = prefixes_for(key)

    assert (prefixes.passage, prefixes.query, prefixes.version, prefixes.longest) == ("", "", 0, 0)
