import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_cli.pasted import pasted_path


@pytest.mark.parametrize(
    ("pasted", "path"),
    [
        ("/home/me/notes", "/home/me/notes"),
        ("  /home/me/notes \n", "/home/me/notes"),
        ("'/home/me/My Files'", "/home/me/My Files"),
        ('"/home/me/My Files"', "/home/me/My Files"),
        (r"/home/me/My\ Files", "/home/me/My Files"),
        (r"'/home/me/it'\''s'", "/home/me/it's"),
        ("~/notes", "~/notes"),
        ("'~/notes'", "~/notes"),
        ("file:///home/me/My%20Files", "/home/me/My Files"),
        ("'", "'"),
        ("", ""),
    ],
)
def test_a_pasted_path_is_what_the_person_means(pasted: str, path: str) -> None:
    assert pasted_path(pasted, posix=True) == path


@pytest.mark.parametrize(
    ("pasted", "path"),
    [
        (r"C:\Users\me\Notes", r"C:\Users\me\Notes"),
        (r'"C:\Users\me\My Notes"', r"C:\Users\me\My Notes"),
        ("file:///C:/Users/me/My%20Notes", "C:/Users/me/My Notes"),
    ],
)
def test_on_windows_a_backslash_is_part_of_the_path(pasted: str, path: str) -> None:
    assert pasted_path(pasted, posix=False) == path


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1).map("/home/my {}/x y".format))
def test_what_a_shell_quotes_is_read(path: str) -> None:
    assert pasted_path(shlex.quote(path), posix=True) == path
