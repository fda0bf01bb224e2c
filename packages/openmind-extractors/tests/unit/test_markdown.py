import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind.domain.files import FileReason
from openmind_extractors.front_matter import front_matter
from openmind_extractors.markdown import divide

NOTE = """\
---
title: Bread
tags: [baking, "#sourdough"]
date: 2024-03-01
rating: 4.5
---
# Sourdough

Feed the starter.

## Dough ##

Mix and wait.

```python
# not a heading

flour = 500
```

| step | hours |
|------|------:|
| rise | 8     |
| bake | 1     |

Baking
------

Hot oven.
"""


def test_front_matter_becomes_title_and_metadata(read) -> None:
    reading = read("bread.md", NOTE.encode())

    assert reading.facts.title == "Bread"
    assert reading.facts.metadata["tags"] == ["baking", "sourdough"]
    assert reading.facts.metadata["date"] == "2024-03-01"
    assert reading.facts.metadata["rating"] == 4.5
    assert reading.facts.metadata["file_type"] == "markdown"
    assert "4.5" not in reading.text
    assert reading.of_kind("form") == []


def test_headings_of_both_styles_are_a_path_with_exact_lines(read) -> None:
    reading = read("bread.md", NOTE.encode())

    assert reading.where("Feed") == "heading Sourdough › lines 7–9"
    assert reading.where("Mix") == "heading Sourdough › heading Dough › lines 11–13"
    assert reading.where("Hot") == "heading Sourdough › heading Baking › lines 26–29"


def test_code_and_tables_are_segments_of_their_own(read) -> None:
    reading = read("bread.md", NOTE.encode())

    assert reading.of_kind("code") == ["```python\n# not a heading\n\nflour = 500\n```"]
    assert reading.of_kind("table") == ["| step | hours |\n|------|------:|\n| rise | 8     |\n| bake | 1     |"]
    assert reading.where("flour") == "heading Sourdough › heading Dough › lines 15–19"
    assert reading.where("bake |") == "heading Sourdough › heading Dough › lines 21–24"


def test_the_first_heading_of_level_one_is_the_title(read) -> None:
    assert read("a.md", b"## Small\n\ntext\n\n# Big `one`\n").facts.title == "Big `one`"


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA rule, then text.\n\n---\n\nMore.\n",
        "---\nJust a sentence between rules\n---\nMore.\n",
        "---\n- a list\n- of things\n---\nMore.\n",
        "---\ntitle: never closed\n\nMore.\n",
        "--- \n: [broken yaml\n---\nMore.\n",
        "---\n---\nMore.\n",
        "---\n1: number as key\n---\nMore.\n",
    ],
)
def test_a_rule_is_not_front_matter(read, text: str) -> None:
    reading = read("note.md", text.encode())

    assert front_matter(text) is None
    assert "More." in reading.text
    assert reading.text.replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize("rest", ["", "\n", "\n \n\t\n"])
def test_a_file_of_nothing_but_front_matter_is_its_own_text(read, rest: str) -> None:
    reading = read("note.md", f"---\ntitle: Zanzibar\ndate: 2024-03-01\n---\n{rest}".encode())

    [segment] = reading.segments
    assert segment.text == "title: Zanzibar\ndate: 2024-03-01"
    assert reading.where("Zanzibar") == "lines 2–3"
    assert reading.facts.title == "Zanzibar"
    assert reading.facts.reason is FileReason.OK


@pytest.mark.parametrize(
    "written",
    ["10:10", "007", "1.10", "0x1F", "1_000", "No", "2026-01-02", "true", "1e3", "Plan: phase two", "@home", "*star",
        "*Bold* move", "{{title}}", "[Draft] plan", "`code`", "!important", "100% done", "NaN"],
)  # fmt: skip
def test_titles_tags_and_dates_are_kept_as_they_are_written(written: str) -> None:
    matter = front_matter(f"---\ntitle: {written}\ndate: {written}\ntags:\n- one\n- 1.10\n- No\nrating: 4.5\n---\nx\n")

    assert matter is not None
    assert matter.title == written
    assert matter.metadata["date"] in (written, True if written == "true" else written)
    assert matter.metadata["tags"] == ["one", "1.10", "No"]
    assert matter.metadata["rating"] == 4.5


def test_a_value_that_is_no_yaml_costs_no_other_its_meaning() -> None:
    matter = front_matter(
        "---\ntitle: Plan: phase two\n# a comment\ndate: {{date}}\ntags: [baking, '#bread']\n"
        "about: |\n  two\n  lines\n---\nx\n"
    )

    assert matter is not None
    assert matter.lines == 9
    assert matter.title == "Plan: phase two"
    assert matter.metadata == {
        "date": "{{date}}", "tags": ["baking", "bread"], "about": "two\nlines", "topics": ["two lines"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["Note: he said: no", "title: a: b\nand a sentence", "remember: this: that\nmore: of it"]
)
def test_text_between_rules_that_only_looks_like_entries_stays_text(read, text: str) -> None:
    assert front_matter(f"---\n{text}\n---\nMore.\n") is None
    assert text in read("a.md", f"---\n{text}\n---\nMore.\n".encode()).text


def test_other_texts_of_front_matter_are_topics() -> None:
    matter = front_matter(
        "---\ntitle: Bread\ndescription: How Zanzibar\n  bakes\nauthor: [Ada, Max]\nlayout: post\nrating: 4\n---\nx\n"
    )

    assert matter is not None
    assert matter.metadata["topics"] == ["How Zanzibar bakes", "Ada", "Max"]
    assert matter.metadata["description"] == "How Zanzibar bakes"


def test_front_matter_that_is_an_attack_is_text(read) -> None:
    laughs = "---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n---\nbody\n"
    deep = "---\na: " + "[" * 30_000 + "\n---\nbody\n"
    large = "---\na: '" + "x" * 70_000 + "'\n---\nbody\n"
    code = "---\na: !!python/object/apply:os.system ['true']\n---\nbody\n"

    for text in (laughs, deep, large, code):
        assert front_matter(text) is None
        assert "body" in read("a.md", text.encode()).text


def test_front_matter_is_json_safe(read) -> None:
    text = (
        "---\nwhen: 2024-01-02T03:04:05Z\nhuge: 123456789012345678901234567890\nnan: .nan\n"
        "raw: !!binary aGVsbG8=\nnested: {1: [2024-01-01, null]}\nset: !!set {a, b}\n---\nx\n"
    )

    metadata = read("a.md", text.encode()).facts.metadata

    json.dumps(metadata, allow_nan=False)
    assert metadata["huge"] == "123456789012345678901234567890"
    assert "raw" not in metadata


@pytest.mark.parametrize("line", ["#hashtag", "    # indented code", "####### seven", "#", "text # not", "\\# escaped"])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    assert [block.path for block in divide([line]).found] == [()]


def test_a_rule_after_a_blank_line_and_a_list_are_no_headings() -> None:
    lines = ["text", "", "---", "- item", "---", "two", "lines", "---", "a | b", "---"]

    assert all(block.path == () for block in divide(lines).found)


def test_a_fence_inside_a_fence_does_not_close_it() -> None:
    lines = ["````md", "```", "# inside", "```", "````", "after"]

    assert [(b.kind, b.start, b.stop) for b in divide(lines).found] == [("code", 0, 5), ("text", 5, 6)]


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert [(b.kind, b.start, b.stop) for b in divide(["a", "~~~", "b", "# c"]).found] == [
        ("text", 0, 1),
        ("code", 1, 4),
    ]


@given(st.lists(st.sampled_from(["# a", "## b", "```", "~~~", "text", "", "---", "===", "| a |", "|-|", "- x"])))
def test_blocks_cover_every_line_once(lines: list[str]) -> None:
    covered = [line for block in divide(lines).found for line in range(block.start, block.stop)]

    assert covered == list(range(len(lines)))


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "|-" * 20_000, "`" * 20_000, "# " * 20_000, "\n> " * 20_000, "```a\n" * 20_001, "a\n=\n" * 20_000],
)
def test_hostile_text_takes_linear_time(read, text: str) -> None:
    started = time.process_time()

    read("hostile.md", text.encode())

    assert time.process_time() - started < 5


def test_an_empty_file_is_empty(read) -> None:
    assert read("empty.md", b"").reason is FileReason.EMPTY
