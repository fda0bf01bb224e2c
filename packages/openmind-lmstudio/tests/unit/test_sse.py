import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_lmstudio.errors import Nonsense
from openmind_lmstudio.sse import ServerEvent, read_events

ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut bytes as a network may."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@settings(deadline=None, max_examples=200)
@given(texts=st.lists(st.text(), max_size=5), end=ENDS, places=st.lists(st.integers(0, 10_000), max_size=8))
def test_events_survive_any_text_line_end_and_cut(texts: list[str], end: str, places: list[int]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    stream = "".join(
        f": hello{end}event: say{end}data: {json.dumps({'text': text}, ensure_ascii=False)}{end}{end}" for text in texts
    )

    events = list(read_events(cut(stream.encode(), places)))

    assert [event.name for event in events] == ["say"] * len(texts)
    assert [json.loads(event.data)["text"] for event in events] == texts


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=4))
def test_cuts_never_change_what_is_read(data: bytes, places: list[int]) -> None:
    assert list(read_events(cut(data, places))) == list(read_events([data]))


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b"data\n\n", [("", "")]),
        (b"data:no blank\n\n", [("", "no blank")]),
        (b"event: x\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data: last\n", [("", "last")]),
        (b"data: torn", []),
        (b"id: 1\nretry: 2\ndata: a\n\n\n\n", [("", "a")]),
        (b"data: \xe2\x80\xa8\xc2\x85\n\n", [("", "\u2028\x85")]),
        (b"data: \xff\n\n", [("", "\ufffd")]),
    ],
)
def test_the_format_is_read_as_it_is_written_down(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert list(read_events([stream])) == [ServerEvent(name=name, data=data) for name, data in events]


def test_an_event_comes_as_soon_as_it_is_whole() -> None:
    def chunks():  # type: ignore[no-untyped-def]
        yield b"data: a\r\r"
        raise AssertionError("read too far")

    assert next(read_events(chunks())).data == "a"


@pytest.mark.parametrize("chunk", [b"data: xxxxxxxxxx\n", b"xxxxxxxxxxxxxxxxx"])
def test_an_event_without_end_is_given_up(chunk: bytes) -> None:
    with pytest.raises(Nonsense):
        list(read_events([chunk] * 100, max_event=1_000))


def test_a_stream_without_end_is_given_up() -> None:
    with pytest.raises(Nonsense):
        list(read_events([b"data: x\n\n"] * 1_000, max_stream=1_000))
