"""Kinds of files that nothing reads."""

import pytest
from openmind.domain.unread import MOST_KINDS, NO_EXTENSION, OTHER, added, hint_for, kind_of, of_setting, to_setting


def test_kinds_of_several_sources_add_up_with_the_most_frequent_first() -> None:
    assert list(added({".doc": 2, ".zip": 1}, {".zip": 5}, {}).items()) == [(".zip", 6), (".doc", 2)]


def test_a_folder_of_thousands_of_extensions_is_remembered_by_the_most_frequent_ones() -> None:
    kinds = {f".{number}": 1 for number in range(5_000)} | {".jpg": 9}

    kept = of_setting(to_setting(kinds))

    assert len(kept) == MOST_KINDS + 1
    assert next(iter(kept.items())) == (".jpg", 9)
    assert sum(kept.values()) == 5_009
    assert added(kept, kept)[OTHER] == 2 * kept[OTHER]


def test_a_source_without_such_files_keeps_no_setting() -> None:
    assert to_setting({}) is None
    assert of_setting(None) == {}


@pytest.mark.parametrize("kept", ["no JSON", "[1]", "5", '{".doc": "many"}'])
def test_what_was_not_written_as_kinds_tells_of_none(kept: str) -> None:
    assert of_setting(kept) == {}


def test_a_kind_has_its_own_hint_and_a_file_without_an_extension_is_a_kind() -> None:
    assert ".docx" in hint_for(".doc")
    assert "Unpack" in hint_for(".zip")
    assert hint_for(".strange") == ""
    assert kind_of("") == NO_EXTENSION
