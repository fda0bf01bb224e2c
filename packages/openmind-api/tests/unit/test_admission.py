"""The gate's decision about a request, whatever its headers are."""

from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_api import problems
from openmind_api.gate import Admission, Arrival, same

PORT = 8765
TOKEN = "t" * 43
ADMISSION = Admission(token=lambda: TOKEN, allowed_origins=frozenset({"http://localhost:3000"}))


def arrival(*headers: tuple[bytes, bytes], method: str = "GET", path: str = "/api/v1/status") -> Arrival:
    scope = {
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost:8765"), *headers],
        "server": ("127.0.0.1", PORT),
    }
    return Arrival.of(scope)


def with_token(*headers: tuple[bytes, bytes], **others: str) -> Arrival:
    return arrival((b"authorization", f"Bearer {TOKEN}".encode()), *headers, **others)


def test_the_token_lets_a_request_in() -> None:
    assert ADMISSION.refusal(with_token()) is None
    assert ADMISSION.refusal(arrival()) is problems.NO_TOKEN


def test_an_open_path_needs_no_token_but_the_right_host() -> None:
    assert ADMISSION.refusal(arrival(path="/health")) is None
    assert ADMISSION.refusal(arrival((b"host", b"evil.com"), path="/health")) is problems.FOREIGN_HOST


def test_without_a_token_nobody_is_let_in() -> None:
    nobody = Admission(token=lambda: None)

    assert nobody.refusal(with_token()) is problems.NO_TOKEN
    assert nobody.refusal(arrival((b"authorization", b"Bearer "))) is problems.NO_TOKEN


def test_a_header_sent_twice_counts_as_none() -> None:
    twice = with_token((b"authorization", f"Bearer {TOKEN}".encode()))

    assert ADMISSION.refusal(twice) is problems.NO_TOKEN


def test_hosts_come_before_tokens_and_tokens_before_bodies() -> None:
    big = ((b"content-length", b"99999999"), (b"content-type", b"text/plain"))

    assert ADMISSION.refusal(arrival((b"host", b"x"), *big, method="POST")) is problems.FOREIGN_HOST
    assert ADMISSION.refusal(arrival(*big, method="POST")) is problems.NO_TOKEN
    assert ADMISSION.refusal(with_token(*big, method="POST")) is problems.TOO_LARGE
    assert ADMISSION.refusal(with_token((b"content-length", b"1"), method="POST")) is problems.NO_JSON


def test_a_write_without_a_body_needs_no_media_type() -> None:
    form = (b"content-type", b"application/x-www-form-urlencoded")

    assert ADMISSION.refusal(with_token(method="POST")) is None
    assert ADMISSION.refusal(with_token(form, (b"content-length", b"0"), method="POST")) is None
    assert ADMISSION.refusal(with_token(form, (b"transfer-encoding", b"chunked"), method="POST")) is problems.NO_JSON


NAMES = st.sampled_from([b"host", b"origin", b"authorization", b"sec-fetch-site", b"content-type", b"content-length"])
HEADERS = st.lists(st.tuples(NAMES, st.binary(max_size=30)), max_size=6)


@given(HEADERS, st.sampled_from(["GET", "POST", "OPTIONS", "TRACE"]), st.text(max_size=20))
@settings(deadline=None, max_examples=300)
def test_whatever_is_sent_without_the_token_is_refused(headers, method, path) -> None:
    found = ADMISSION.refusal(arrival(*headers, method=method, path=f"/api/{path}"))

    assert found is not None


@given(st.text(max_size=50), st.text(max_size=50))
@settings(deadline=None, max_examples=200)
def test_tokens_are_the_same_when_their_texts_are(one, other) -> None:
    assert same(one, other) == (one == other)
    assert same(one, one)
