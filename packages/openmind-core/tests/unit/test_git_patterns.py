import time
import warnings

import pytest
from openmind.adapters.git_patterns import opinion_of

# What `git check-ignore` says of each.
SAID = [
    ("[[:alpha:]].md", ["a.md", "Z.md", "deep/q.md"], ["1.md", "ab.md", ".md"]),
    ("[[:digit:]x]", ["7", "x"], ["a", "[", ":"]),
    ("[^[:space:]]", ["a"], [" ", "\t"]),
    ("[![:upper:]-]", ["a", "1"], ["A", "-"]),
    ("[[:foo:]]", [], ["f", "o", ":"]),
    ("[[:alpha]", [":", "a", "l", "["], ["b", "]"]),
    ("[[a]", ["[", "a"], ["b", "]"]),
    ("[[]z[]].md", ["[z].md"], ["z.md", "[z[].md"]),
    ("a\t", ["a\t"], ["a"]),
    ("a  ", ["a"], ["a ", "a  "]),
    ("a\\ ", ["a "], ["a", "a\\"]),
    ("a\\\\ ", ["a\\"], ["a", "a "]),
    ("[f-F]", ["f"], ["F", "a", "G"]),
    ("[!f-F]", ["a"], ["f"]),
    ("[a\\-c]", ["a", "-", "c"], ["b", "\\"]),
    ("[\\]]", ["]"], ["\\"]),
    ("[a-]", ["a", "-"], ["b"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[!]a]", ["b"], ["]", "a"]),
    ("[a-c--]", ["b", "-"], ["d"]),
    ("x[+-9]y/z", ["x+y/z", "x1y/z"], ["x/y/z"]),
    ("[ab", [], ["a", "[ab"]),
    ("a\\", [], ["a", "a\\"]),
    ("/***/b.md", ["b.md", "x/b.md", "x/y/b.md"], ["xb.md"]),
    ("/a.md", ["a.md"], ["x/a.md"]),
    ("x/a.md", ["x/a.md"], ["y/x/a.md", "a.md"]),
    ("**/a.md", ["a.md", "x/y/a.md"], ["xa.md"]),
    ("x/**", ["x/y", "x/y/z"], ["x", "x/", "y/x/z"]),
    ("x/**/z", ["x/z", "x/y/z", "x/y/y/z"], ["xz", "x/yz"]),
    ("x/a**b/z", ["x/ab/z", "x/a1b/z"], ["x/a/b/z"]),
    ("x/*", ["x/y"], ["x/y/z"]),
    ("x?y", ["x1y", "x\u00e9y"], ["xy", "x/y"]),
    ("x/", ["x/", "deep/x/"], ["x"]),
    ("a*b*c", ["abc", "a1b2c", "abcbc"], ["ab", "acb"]),
    ("*.tar.*", ["a.tar.gz", ".tar.", "a.tar.tar.b"], ["a.tar"]),
    ("#a", [], ["#a"]),
    ("\\#a", ["#a"], ["a"]),
    ("\\!a", ["!a"], ["a"]),
    ("a\0b", ["a"], ["ab"]),
    ("/", [], ["a", "a/"]),
    ("//a", [], ["a", "x/a"]),
    ("!", [], ["a"]),
    ("(a|b)&&{2}", ["(a|b)&&{2}"], ["a", "b"]),
    ("[a||b&&c~~d--e]", ["a", "|", "&", "~"], ["f"]),
]


@pytest.mark.parametrize(("pattern", "named", "others"), SAID)
def test_a_pattern_names_what_it_names_in_git(pattern: str, named: list[str], others: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opinion = opinion_of([pattern])

    assert [path for path in named + others if opinion(path)] == named


def test_the_last_pattern_that_speaks_of_a_path_decides() -> None:
    opinion = opinion_of(["*.md", "*.txt", "!a.*", "/a.txt", "!deep/"])

    assert [opinion(path) for path in ("a.md", "b.md", "a.txt", "x/a.txt", "deep/", "deep")] == [
        False,
        True,
        True,
        False,
        False,
        None,
    ]


def test_no_pattern_takes_for_ever_and_all_are_understood() -> None:
    opinion = opinion_of(["*a" * 20 + "b", "**/a/" * 20 + "b", "x/" + "**/*a*a*a*/" * 8 + "b", "[[]" * 500])
    started = time.process_time()

    assert opinion("a" * 250) is None
    assert opinion("a" * 40 + "b") is True
    assert opinion("a/" * 1_000 + "c") is None
    assert opinion("a/" * 1_000 + "b") is True
    assert opinion("x/" + "aaaa/" * 800 + "c") is None
    assert opinion("x/" + "aaaa/" * 800 + "b") is True
    assert time.process_time() - started < 5
