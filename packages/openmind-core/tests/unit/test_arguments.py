from pathlib import Path

import pytest
from openmind.application.path_arguments import path_text
from openmind.domain.arguments import text, texts, whole_number
from openmind.domain.errors import UsageError


def test_what_is_right_is_taken_as_it_is() -> None:
    assert text("rent", "the query") == "rent"
    assert texts(["md", ".txt"], "extensions") == ("md", ".txt")
    assert texts((name for name in ("md",)), "extensions") == ("md",)
    assert whole_number(3, "the limit") == 3


@pytest.mark.parametrize("value", ["md", b"md", 3, None, ["md", 3]])
def test_one_text_is_not_taken_for_several(value: object) -> None:
    with pytest.raises(UsageError, match="Extensions must be a list of texts") as caught:
        texts(value, "extensions")

    assert caught.value.hint


@pytest.mark.parametrize("value", ["5", 5.0, True, None])
def test_a_limit_is_a_whole_number(value: object) -> None:
    with pytest.raises(UsageError, match="The limit must be a whole number"):
        whole_number(value, "the limit")


def test_a_query_is_a_text() -> None:
    with pytest.raises(UsageError, match="The query must be a text"):
        text(None, "the query")


@pytest.mark.parametrize("value", [5, None, b"notes", ["notes"], "no\0tes"])
def test_a_path_is_a_text_or_stands_for_one(value: object) -> None:
    with pytest.raises(UsageError, match="The folder must be a path") as caught:
        path_text(value, "the folder")

    assert "\0" not in caught.value.message
    assert path_text(Path("notes"), "the folder") == path_text("notes", "the folder") == "notes"
