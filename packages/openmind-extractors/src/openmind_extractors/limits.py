"""Limits that several formats share, each with its reason."""

from collections.abc import Iterator

MAX_TEXT_CHARS = 20_000_000
"""Text kept of one file: 20 novels. More is a log or a dump, and the memory for one file stays bounded."""

MAX_HEADING_CHARS = 200
"""A longer heading is a paragraph that was marked as one; the path stays readable."""

MAX_METADATA_CHARS = 2_000
"""One value of a document's metadata: it is repeated with each of its passages."""

SEGMENT_CHARS = 48_000
"""Text gathered before it is handed on: few segments are fast, and a frame of this size passes any pipe."""

MAX_SEGMENT_CHARS = 1_000_000
"""A longer single line is cut, so that a frame stays below its cap."""


def divided(text: str) -> Iterator[str]:
    """Yield the pieces of a text, each no longer than a segment may be; of most texts that is one."""
    for start in range(0, len(text), MAX_SEGMENT_CHARS):
        yield text[start : start + MAX_SEGMENT_CHARS]
