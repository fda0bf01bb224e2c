"""The block of YAML that a Markdown file may begin with."""

from collections.abc import Iterable, Iterator

import yaml
from attrs import field, frozen

from openmind_extractors.limits import MAX_METADATA_CHARS

MAX_FRONT_MATTER_CHARS = 64_000
"""A larger block is no front matter but text between two rules, or an attack on the YAML reader."""

MAX_DEPTH = 20
"""Metadata is flat in practice; the reader of YAML recurses."""

_PARSER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # the fast one is missing where PyYAML was built without C

_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
"""Plain values that say that there is none."""

_VALUE = re.compile(r"([^\s:#\-\[\]{}\"'&*!|>%@`][^:\n]*?)[ \t]*:(?:[ \t]+(.*))?")
"""A line `key: value`; keys stand at the margin and are words."""


@frozen(kw_only=True)
class FrontMatter:
    """What a front matter block says."""

    lines: int
    """How many lines of the file it takes, its fences included."""
    title: str = ""
    metadata: dict[str, object] = field(factory=dict)
    """Texts as they are written, lists and mappings of them; without the title."""


def front_matter(text: str) -> FrontMatter | None:
    """Read the block at the top of a text; None when there is none, or when it is something else between rules."""
    if not text.startswith(("---\n", "---\t", "--- ")):
        return None
    block = _between_fences(text)
    if block is None:
        return None
    try:
        loaded = _composed(block)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        loaded = _line_by_line(block)
    if not isinstance(loaded, dict) or not loaded:
        return None
    title = loaded.pop("title", "")
    metadata = {key[:MAX_METADATA_CHARS]: value for key, value in loaded.items() if value is not None}
    return FrontMatter(
        lines=block.count("\n") + 2,
        title=title.strip() if isinstance(title, str) else "",
        metadata=_normal_tags(metadata),
    )


def _between_fences(text: str) -> str | None:
    """Return the lines between the first line, `---`, and the next `---` or `...`."""
    end_of_first = text.find("\n")
    if end_of_first < 0 or text[:end_of_first].rstrip() != "---":
        return None
    head = text[end_of_first + 1 : end_of_first + 1 + MAX_FRONT_MATTER_CHARS]
    start = 0
    while start < len(head):
        stop = head.find("\n", start)
        line = head[start:] if stop < 0 else head[start:stop]
        if line.rstrip() in {"---", "..."}:
            return head[:start] or None
        if stop < 0:
            return None
        start = stop + 1
    return None


class _Attack(Exception):
    """What was written to exhaust its reader: no line of it is worth a look."""


def _composed(block: str) -> object:
    """Make values of the events of YAML: every scalar is the text that was written, whatever it looks like.

    `10:10` is no number of seconds, `007` no 7, `No` no falsehood, and `2024-13-45` no broken date.

    Raises:
        _Attack: aliases multiply, depth overflows the stack.
        yaml.YAMLError: it is no YAML, or holds more than one document.
    """
    events = _document(block)
    made = _value(next(events), events, depth=0)
    if next(events, None) is not None:
        raise yaml.YAMLError("there is more than one document")
    return made


def _normal_tags(metadata: dict[str, object]) -> dict[str, object]:
    """Turn `tags: a, b` and `tags: [a, b]` into the same list of words."""
    tags = metadata.get("tags")
    if isinstance(tags, str):
        metadata["tags"] = _words(tags.replace(",", " ").split())
    elif isinstance(tags, list):
        metadata["tags"] = _words(str(tag) for tag in tags if tag is not None)
    return metadata


def _words(tags: Iterable[str]) -> list[str]:
    return [tag.strip().removeprefix("#") for tag in tags if tag.strip()]
