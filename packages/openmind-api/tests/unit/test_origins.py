"""Which origins a person may allow, and which hosts and origins are our own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.errors import UsageError
from openmind_api.origins import is_own_host, is_own_origin, parse_origin


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://app.example", "https://app.example"),
        ("HTTPS://App.Example", "https://app.example"),
        ("https://app.example:443", "https://app.example"),
        ("http://app.example:80", "http://app.example"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("http://192.168.1.2", "http://192.168.1.2"),
    ],
)
def test_an_exact_origin_is_written_as_browsers_write_it(text, origin) -> None:
    assert parse_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "null",
        "http://*",
        "http://*.example",
        "*://example.com",
        "example.com",
        "localhost:3000",
        "//example.com",
        "ftp://example.com",
        "file:///etc",
        "http://",
        "http://user@example.com",
        "http://user:password@example.com",
        "http://@example.com",
        "http://example.com/",
        "http://example.com/path",
        "http://example.com?query",
        "http://example.com?",
        "http://example.com#fragment",
        "http://example.com#",
        "http://example.com:",
        "http://example.com:99999",
        "http://example.com:x",
        "http://example.com, http://other.com",
        " http://example.com",
        "http://example.com\n",
        "http://exa mple.com",
        "http://example..com",
        "http://-example.com",
        "http://[::1",
        "http://[nonsense]",
        "http://ex\u00e4mple.com",
    ],
)
def test_anything_else_is_refused(text) -> None:
    with pytest.raises(UsageError, match="is no origin"):
        parse_origin(text)


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=200)
def test_whatever_is_taken_stays_as_it_is(text) -> None:
    try:
        origin = parse_origin(text)
    except UsageError:
        return

    assert parse_origin(origin) == origin
    assert "*" not in origin


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LocalHost:8765", "[::1]:8765", "localhost"])
def test_our_hosts(host) -> None:
    assert is_own_host(host, 8765)


@pytest.mark.parametrize(
    "host", ["", "evil.com", "evil.com:8765", "localhost:80", "localhost.:8765", "127.0.0.1:8765:8765", "::1:8765"]
)
def test_foreign_hosts(host) -> None:
    assert not is_own_host(host, 8765)


def test_our_origins_have_our_port() -> None:
    assert is_own_origin("http://localhost:8765", 8765)
    assert not is_own_origin("http://localhost", 8765)
    assert not is_own_origin("https://localhost:8765", 8765)
    assert not is_own_origin("null", 8765)
    assert not is_own_origin("", 8765)
