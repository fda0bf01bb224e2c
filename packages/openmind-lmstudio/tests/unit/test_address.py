import pytest
from openmind_lmstudio.address import Address


@pytest.mark.parametrize(
    ("written", "dialled"),
    [
        ("http://localhost:1234", "http://127.0.0.1:1234"),
        ("  http://LOCALHOST:1234/v1/ ", "http://127.0.0.1:1234"),
        ("http://127.0.0.1", "http://127.0.0.1"),
        ("http://[::1]:1234/api/v1", "http://[::1]:1234"),
        ("https://models.example/lm/v1", "https://models.example/lm"),
        ("http://localhost:1234/v1x", "http://127.0.0.1:1234/v1x"),
    ],
)
def test_an_address_is_read_as_people_write_it(written: str, dialled: str) -> None:
    assert Address.parse(written).dialled == dialled


def test_what_is_shown_is_what_was_written() -> None:
    assert Address.parse("http://localhost:1234/v1").shown == "http://localhost:1234"


@pytest.mark.parametrize(
    "written",
    [
        "",
        "localhost:1234",
        "ftp://localhost",
        "http://",
        "http://user:secret@localhost",
        "http://localhost?key=1",
        "http://localhost/#x",
        "http://localhost:port",
        "http://localhost:99999",
        "http://[::1",
    ],
)
def test_what_is_no_address_of_a_server_is_refused(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  any wording
        Address.parse(written)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("192.168.0.2", False),
        ("localhost.example", False),
        ("127.0.0.1.nip.io", False),
        ("2130706433", False),
        ("[fe80::1]", False),
    ],
)
def test_only_loopback_is_local(host: str, local: bool) -> None:
    assert Address.parse(f"http://{host}:1234").local is local
