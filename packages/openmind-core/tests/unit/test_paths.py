import pytest
from openmind.domain.paths import extension_of


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("notes.MD", ".md"),
        ("a.tar.gz", ".gz"),
        (".bashrc", ""),
        ("README", ".txt"),
        ("Todo", ".txt"),
        ("LICENSE.md", ".md"),
        ("a.out", ".out"),
        ("program", ""),
    ],
)
def test_a_name_tells_the_kind_of_its_file(name: str, extension: str) -> None:
    assert extension_of(name) == extension
