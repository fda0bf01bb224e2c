"""The block of YAML that a Markdown file may begin with."""

import datetime
import math
from collections.abc import Iterable

import yaml
from attrs import field, frozen

from openmind_extractors.limits import MAX_METADATA_CHARS

MAX_FRONT_MATTER_CHARS = 64_000
"""A larger block is no front matter but text between two rules, or an attack on the YAML reader."""

MAX_DEPTH = 20
"""Metadata is flat in practice; the reader of YAML recurses."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the fast one is missing where PyYAML was built without C


@frozen(kw_only=True)
class FrontMatter:
    """What a front matter block says."""

    lines: int
    """How many lines of the file it takes, its fences included."""
    title: str = ""
    metadata: dict[str, object] = field(factory=dict)
    """JSON-safe, without the title."""


def front_matter(text: str) -> FrontMatter | None:
    """Read the block at the top of a text; None when there is none, or when it is something else between rules."""
    if not text.startswith(("---\n", "---\t", "--- ")):
        return None
    block = _between_fences(text)
    if block is None:
        return None
    try:
        _refuse_bombs(block)
        loaded = yaml.load(block, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None
    if not isinstance(loaded, dict) or not loaded or not all(isinstance(key, str) for key in loaded):
        return None
    title = loaded.pop("title", "")
    metadata = {key[:MAX_METADATA_CHARS]: json_safe(value) for key, value in loaded.items()}
    return FrontMatter(
        lines=block.count("\n") + 2,
        title=str(title).strip() if isinstance(title, str | int | float) else "",
        metadata=_normal_tags({key: value for key, value in metadata.items() if value is not None}),
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


def _refuse_bombs(block: str) -> None:
    """Look at the events before anything is built: aliases multiply, depth overflows the stack."""
    depth = 0
    for event in yaml.parse(block, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise yaml.YAMLError("nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def json_safe(value: object) -> object:
    """Return what JSON can hold of a value that YAML made; None for what it cannot."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value[:MAX_METADATA_CHARS]
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date):  # date-times, too
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key)[:MAX_METADATA_CHARS]: json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [json_safe(item) for item in value]
    return None


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
