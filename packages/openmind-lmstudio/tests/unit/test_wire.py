import json
import sys

import pytest
from openmind_lmstudio.errors import Nonsense
from openmind_lmstudio.wire import LARGE, decode

VECTORS = {"data": [{"index": at, "embedding": [0.1, -2, 3e-7] * 400} for at in range(20)]}


@pytest.fixture(params=[True, False], ids=["msgspec", "json alone"])
def _installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without what reads numbers faster."""
    if request.param:
        pytest.importorskip("msgspec")
    else:
        monkeypatch.setitem(sys.modules, "msgspec", None)
        monkeypatch.setitem(sys.modules, "msgspec.json", None)


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize(
    "document",
    [
        VECTORS,
        {"text": "x" * LARGE, "odd": "\ud800", "deep": [[[]]], "true": True, "none": None},
        {"large": 10**30, "text": "ü" * LARGE},
        [None] * LARGE,
    ],
)
def test_a_large_reply_is_read_the_same_whatever_is_installed(document: object) -> None:
    body = json.dumps(document)
    assert len(body) >= LARGE

    assert decode(body.encode()) == document
    assert decode(body) == document


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize(
    "body", [b"[" * LARGE, b"{" + b" " * LARGE, b"<html>" + b" " * LARGE, b'{"a": "\xff"}' + b" " * LARGE, b"", b"nope"]
)
def test_what_is_no_json_is_nonsense(body: bytes) -> None:
    with pytest.raises(Nonsense) as caught:
        decode(body)

    assert "Its own log says more" in caught.value.hint


@pytest.mark.usefixtures("_installed")
def test_a_bare_nan_is_read_so_that_its_vector_can_be_refused() -> None:
    body = b'{"embedding": [' + b"0.5, " * LARGE + b"NaN]}"

    document = decode(body)

    assert isinstance(document, dict)
    assert document["embedding"][-1] != document["embedding"][-1]
