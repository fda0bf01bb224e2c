"""Server-sent events out of a byte stream.

Lines end at CR and LF only. Python's and httpx's line splitters also end them at U+0085, U+2028 and U+2029, which
may stand inside the JSON of an event and would tear it apart.
"""

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from openmind_lmstudio.errors import Nonsense

MAX_EVENT_BYTES = 8 * 1024 * 1024
MAX_STREAM_BYTES = 64 * 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")


@frozen(kw_only=True)
class ServerEvent:
    """One event: its name, empty when the server gave none, and its data."""

    name: str
    data: str


def read_events(
    chunks: Iterable[bytes], *, max_event: int = MAX_EVENT_BYTES, max_stream: int = MAX_STREAM_BYTES
) -> Iterator[ServerEvent]:
    """Parse events as they arrive. An event that the stream breaks off in the middle of a line does not come.

    Raises:
        Nonsense: an event or the whole stream is longer than any answer could be.
    """
    name, data, size = "", list[str](), 0
    for line in _lines(chunks, max_line=max_event, max_stream=max_stream):
        if not line:
            if data:
                yield ServerEvent(name=name, data="\n".join(data))
            name, data, size = "", [], 0
            continue
        size += len(line)
        if size > max_event:
            raise Nonsense("The server sent an event without end")
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"event":
            name = text
        elif field == b"data":
            data.append(text)
    if data:
        yield ServerEvent(name=name, data="\n".join(data))


def _lines(chunks: Iterable[bytes], *, max_line: int, max_stream: int) -> Iterator[bytes]:
    """Split at CR LF, LF and CR, each line as soon as its end is there."""
    begun, size, total = list[bytes](), 0, 0
    after_cr, first = False, True
    for chunk in chunks:
        total += len(chunk)
        if total > max_stream:
            raise Nonsense("The server sent a stream without end")
        start = 1 if after_cr and chunk.startswith(b"\n") else 0  # the second half of a CR LF that was cut in two
        for end in _LINE_END.finditer(chunk, start):
            line = b"".join([*begun, chunk[start : end.start()]])
            yield line.removeprefix(_BYTE_ORDER_MARK) if first else line
            begun, size, start, first = [], 0, end.end(), False
        if chunk:
            after_cr = chunk.endswith(b"\r")
        if start < len(chunk):
            begun.append(chunk[start:])
            size += len(chunk) - start
        if size > max_line:
            raise Nonsense("The server sent an event without end")
