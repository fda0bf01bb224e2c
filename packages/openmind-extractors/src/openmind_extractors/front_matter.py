"""The block of YAML that a Markdown file may begin with."""

import json
import re
from collections.abc import Iterable, Iterator

import yaml
from attrs import field, frozen

from openmind_extractors.limits import MAX_METADATA_CHARS

MAX_FRONT_MATTER_CHARS = 64_000
"""A larger block is no front matter but text between two rules, or an attack on the YAML reader."""

MAX_DEPTH = 20
"""Metadata is flat in practice; nothing that is nested deeper is looked at."""

MAX_TOPICS_CHARS = 400
"""More of what else a block says would not fit beside a passage anyway."""

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the fast one is missing where PyYAML was built without C
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_NO_JSON = frozenset({"NaN", "Infinity", "-Infinity"})
"""Words that only Python takes for numbers."""
_TAGS = "tag:yaml.org,2002:"
_READ_AS_WRITTEN = frozenset(
    _TAGS + kind for kind in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map", "set", "omap", "pairs")
)
_BINARY = _TAGS + "binary"
_ENTRY = re.compile(r"([\w-]+)[ \t]*:(?:[ \t]+(.*))?")
_USUAL = frozenset(
    {"title", "tags", "aliases", "date", "created", "updated", "author", "description", "summary", "category", "layout"}
)
"""Keys that tell a block that is no YAML from a text between two rules."""
_TOLD_ELSEWHERE = frozenset({"title", "tags", "aliases", "topics", "date", "layout", "draft"})
"""What is matched by itself, or says nothing about the content."""
_LETTER = re.compile(r"[^\W\d_]")


class Plain(str):
    """A scalar without quotes: it may stand for a number, a truth or nothing."""

    __slots__ = ()


@frozen(kw_only=True)
class FrontMatter:
    """What a front matter block says."""

    lines: int
    """How many lines of the file it takes, its fences included."""
    title: str = ""
    """As it is written, whatever it looks like."""
    metadata: dict[str, object] = field(factory=dict)
    """JSON-safe, without the title. A number or a truth is one only where its text is the way JSON writes it:
    `1.10`, `007`, `10:10`, `No` and dates stay what they are."""


def front_matter(text: str) -> FrontMatter | None:
    """Read the block at the top of a text; None when there is none, or when it is something else between rules."""
    if not text.startswith(("---\n", "---\t", "--- ")):
        return None
    block = _between_fences(text)
    if block is None:
        return None
    try:
        loaded = _composed(block)
    except yaml.YAMLError:
        loaded = _entry_by_entry(block)
    if not isinstance(loaded, dict) or not loaded or not all(map(_LETTER.search, loaded)):
        return None
    title = loaded.get("title")
    metadata = {key[:MAX_METADATA_CHARS]: _typed(value) for key, value in loaded.items() if key != "title"}
    metadata["tags"] = _words(loaded.get("tags"))
    metadata["topics"] = _topics(loaded)
    return FrontMatter(
        lines=block.count("\n") + 2,
        title=title.strip() if isinstance(title, str) else "",
        metadata={key: value for key, value in metadata.items() if value not in (None, [])},
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


def _composed(block: str) -> object:
    """Make values of the events of YAML, every scalar as it is written; nothing is built that the text does not hold.

    Raises:
        yaml.YAMLError: it is no YAML, repeats parts of itself, is nested too deeply or asks for objects.
    """
    events = (
        event
        for event in yaml.parse(block, Loader=_PARSER)
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent)
    )
    try:
        return _value(next(events), events, 0)
    except StopIteration:
        return None
    except (ValueError, OverflowError) as error:  # characters and escapes that its scanner stumbles over
        raise yaml.YAMLError(str(error)) from error


def _value(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> object:
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
        raise yaml.YAMLError("aliases are not allowed")
    if depth > MAX_DEPTH:
        raise yaml.YAMLError("nested too deeply")
    if event.tag not in (None, "!", _BINARY) and event.tag not in _READ_AS_WRITTEN:
        raise yaml.YAMLError("objects are not allowed")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_value(item, events, depth + 1) for item in _items(events)]
    mapping: dict[str, object] = {}
    for key_event in _items(events):
        key = _value(key_event, events, depth + 1)
        if not isinstance(key, str):
            raise yaml.YAMLError("a key is no text")
        mapping[str(key)] = _value(next(events), events, depth + 1)
    return mapping


def _items(events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    while not isinstance(event := next(events), yaml.CollectionEndEvent):
        yield event


def _scalar(event: yaml.ScalarEvent) -> str | None:
    if event.tag == _BINARY:
        return None
    if event.style or event.tag:
        return str(event.value)
    return None if event.value in _NOTHING else Plain(event.value)


def _entry_by_entry(block: str) -> dict[str, object] | None:
    """Read a block that is no YAML as a whole: a value that is none is the text behind its colon.

    `title: Plan: phase two`, `title: @home` and the `date: {{date}}` of a template cost no other line its meaning.
    None where lines at the margin are no entries, or none of them is a usual one: it is text between two rules.
    """
    entries: dict[str, list[str]] = {}
    for line in block.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t-" and entries:
            entries[next(reversed(entries))].append(line)
            continue
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            return None
        entries.pop(entry[1], None)
        entries[entry[1]] = [line]
    if not _USUAL & entries.keys():
        return None
    return {key: _entry_value(key, lines) for key, lines in entries.items()}


def _entry_value(key: str, lines: list[str]) -> object:
    try:
        loaded = _composed("\n".join(lines))
    except yaml.YAMLError:
        loaded = None
    if isinstance(loaded, dict):
        return loaded.get(key)
    found = _ENTRY.fullmatch(lines[0])
    first = found[2] or "" if found else ""
    return " ".join(filter(None, (line.strip() for line in (first, *lines[1:]))))


def _typed(value: object) -> object:
    """Return what JSON holds of a value: a number or a truth where JSON would write it just so, else the text."""
    if isinstance(value, dict):
        return {key[:MAX_METADATA_CHARS]: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if not isinstance(value, str):
        return None
    text = str(value)[:MAX_METADATA_CHARS]
    return _number_or_truth(text) if isinstance(value, Plain) and len(text) < 20 else text


def _number_or_truth(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    told = isinstance(value, int | float) and json.dumps(value) == text and text not in _NO_JSON
    return value if told else text


def _words(tags: object) -> list[str]:
    """Turn `tags: a, b` and `tags: [a, b]` into the same list of words."""
    named = tags.replace(",", " ").split() if isinstance(tags, str) else _texts(tags)
    return [tag.strip().removeprefix("#") for tag in named if tag.strip()]


def _topics(loaded: dict[str, object]) -> list[str]:
    """List the texts of the other entries: description, author and whatever a person keeps there."""
    topics = [str(text) for text in _texts(loaded.get("topics"))]
    for key, value in loaded.items():
        if key not in _TOLD_ELSEWHERE:
            topics += [" ".join(text.split()) for text in _texts(value) if _LETTER.search(text)]
    kept: list[str] = []
    room = MAX_TOPICS_CHARS
    for text in topics:
        if room > 0:
            kept.append(text[:room])
            room -= len(text)
    return kept


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value if isinstance(value, list) else value.values():
            yield from _texts(item)
