import pytest
from openmind_lmstudio.models import Model, read_openai
from openmind_lmstudio.wire import Record, decode


def read(entry: dict[str, object]) -> Model:
    [model] = read_openai(Record.of({"data": [entry]}))
    return model


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("nomic-embed-text:latest", "embedding"),
        ("BAAI/bge-m3", "embedding"),
        ("all-minilm", "embedding"),
        ("intfloat/e5-large", "embedding"),
        ("llama3.2:3b", "llm"),
        ("bgelike", "llm"),
        ("gpt-oss-20b", "llm"),
    ],
)
def test_the_kind_of_a_model_is_guessed_from_its_name(key: str, kind: str) -> None:
    assert read({"id": key}).type == kind


@pytest.mark.parametrize(
    ("key", "sees"),
    [
        ("llava:7b", True),
        ("Qwen/Qwen2.5-VL-3B-Instruct", True),
        ("qwen3-vl:4b", True),
        ("ggml-org/SmolVLM-500M-Instruct-GGUF", True),
        ("llama3.2-vision", True),
        ("gemma3:4b", True),
        ("gemma3:1b", False),
        ("llama3.2:3b", False),
        ("text-embedding-vlm", False),
    ],
)
def test_whether_a_model_sees_is_guessed_from_its_name(key: str, sees: bool) -> None:
    assert read({"id": key}).vision is sees


@pytest.mark.parametrize(
    ("entry", "window", "allocated"),
    [
        ({"max_model_len": 8_192}, 8_192, 8_192),
        ({"meta": {"n_ctx": 4_096, "n_ctx_train": 32_768}}, 4_096, 4_096),
        ({"meta": {"n_ctx_train": 32_768}}, 32_768, None),
        ({}, None, None),
    ],
)
def test_the_window_is_read_where_a_server_tells_it(
    entry: dict[str, object], window: int | None, allocated: int | None
) -> None:
    model = read({"id": "m", **entry})

    assert model.max_context_length == window
    assert model.instances[0].context_length == allocated


def test_a_model_that_is_listed_twice_comes_once() -> None:
    models = read_openai(Record.of({"data": [{"id": "m"}, {"id": "n"}, {"id": "m"}]}))

    assert [model.key for model in models] == ["m", "n"]


def test_what_has_the_wrong_type_counts_as_absent() -> None:
    record = Record.of(decode('{"a": 1, "b": true, "c": "x", "d": null, "e": -1, "f": 1e99, "g": 2.0}'))

    assert record.text("a") == ""
    assert (record.count("a"), record.count("b"), record.count("e"), record.count("f"), record.count("g")) == (
        1,
        None,
        None,
        None,
        2,
    )
    assert (record.flag("b"), record.flag("a")) == (True, False)
    assert record.items("c") == []
    assert Record.of([1]).text("x") == ""
