"""The connection itself: requests that are wrong, that come ahead of their turn, in pieces or without end."""

import json
import socket
from contextlib import ExitStack, suppress

import pytest
from openmind_api.protocol import MOST_AHEAD_BYTES, PIECE_BYTES, PromptProtocol

CHUNKED = ("Content-Type: application/json", "Transfer-Encoding: chunked")
RENT = b'{"query": "rent"}'
AS_CHUNK = b"%x\r\n%s\r\n" % (len(RENT), RENT)
WRONG = {
    "no version": b"GET /health\r\nHost: localhost\r\n\r\n",
    "a version of old": b"GET /health HTTP/0.9\r\nHost: localhost\r\n\r\n",
    "a version of another protocol": b"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n",
    "HTTP/2 at once": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": bytes.fromhex("160301020001000001fc0303"),
    "a method in small letters": b"get /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a tunnel": b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an address that is not ASCII": b"GET /h\xc3\xa4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a control character in the address": b"GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a host and no path": b"GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a whole address in place of a path": b"GET http://evil.com/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a header on two lines": b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    "a header on the second line": b"GET /health HTTP/1.1\r\n Host: localhost\r\n\r\n",
    "a blank before the colon": b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "a header without a name": b"GET /health HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n",
    "NUL in a header": b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
    "CR in a header": b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
    "a control character in a header": b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\x01\r\n\r\n",
    "two lengths": b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
    "the same length twice": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n",
    "a list of lengths": b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2, 2\r\n\r\n",
    "a length with a sign": b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: +2\r\n\r\n",
    "a length without a number": b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: \r\n\r\n",
    "a length and chunks": (
        b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
    "another coding": b"POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    "another coding in chunks": b"POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "chunks in chunks": (
        b"POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
    "chunks before there were any": b"POST /health HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
}


def statuses(answer: bytes) -> list[bytes]:
    """The status of each answer."""
    return [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_two_readers_may_understand_in_two_ways_is_refused(shared, wrong) -> None:
    answer = shared.raw(WRONG[wrong])

    assert statuses(answer) == [b"400"]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "request.no_http"


@pytest.mark.parametrize("size", [b"-1", b"0x1", b"fffffffffffffffff", b"1 1", b""])
def test_a_chunk_of_no_size_is_refused(shared, size) -> None:
    head = shared.head("POST /api/v1/search", *CHUNKED)

    assert statuses(shared.raw(f"{head}\r\n".encode() + size + b"\r\na\r\n0\r\n\r\n")) == [b"400"]


def test_what_stands_behind_a_body_counts_for_nothing(shared) -> None:
    stranger = shared.head("POST /api/v1/search", *CHUNKED, "Connection: close", token=False)
    known = shared.head("POST /api/v1/search", *CHUNKED, "Connection: close")
    trailers = f"0\r\nAuthorization: Bearer {shared.world.token}\r\nHost: evil.com\r\n\r\n".encode()

    assert statuses(shared.raw(f"{stranger}\r\n".encode() + AS_CHUNK + trailers)) == [b"401"]
    assert statuses(shared.raw(f"{known}\r\n".encode() + AS_CHUNK + trailers)) == [b"200"]


@pytest.mark.parametrize("endless", [b"0\r\nX: ", b"0\r\nX: 1\r\nX: ", b"1;"])
def test_what_never_ends_behind_a_body_is_given_up(shared, endless) -> None:
    head = shared.head("POST /api/v1/search", *CHUNKED)

    answer = shared.raw(f"{head}\r\n".encode() + AS_CHUNK + endless + b"x" * 80_000)

    assert statuses(answer) == [b"431"]


def test_a_client_that_would_rather_speak_another_protocol_is_answered_in_this_one(shared) -> None:
    asks = ("Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAA")
    measured = shared.head("POST /api/v1/search", *CHUNKED[:1], *asks, "Connection: Upgrade, HTTP2-Settings", "%s")
    measured = measured.replace("%s", f"Content-Length: {len(RENT)}")
    chunked = shared.head("POST /api/v1/search", *CHUNKED, *asks, "Connection: Upgrade, HTTP2-Settings")
    bare = shared.head("GET /api/v1/status", *asks, "Connection: Upgrade, HTTP2-Settings")
    last = shared.head("GET /api/v1/status", "Connection: close")

    answer = shared.raw(
        b"".join(
            [
                f"{measured}\r\n".encode() + RENT,
                f"{chunked}\r\n".encode() + AS_CHUNK + b"0\r\n\r\n",
                f"{bare}\r\n".encode(),
                f"{measured}\r\n".encode() + RENT,
                f"{last}\r\n".encode(),
            ]
        )
    )

    assert statuses(answer) == [b"200"] * 5
    assert answer.count(b'"query":"rent"') == 3


def test_it_does_not_matter_in_which_pieces_a_request_arrives(shared) -> None:
    close = shared.head("POST /api/v1/search", *CHUNKED, "Connection: Upgrade, close", "Upgrade: h2c")
    request = f"{close}\r\n".encode() + AS_CHUNK + b"0\r\nX: y\r\n\r\n"

    with socket.create_connection(("127.0.0.1", shared.port), timeout=100) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(request)):
            connection.sendall(request[at : at + 1])
        answer = b""
        while part := connection.recv(65_536):
            answer += part

    assert statuses(answer) == [b"200"]


def test_many_requests_at_once_are_answered_in_turn(shared) -> None:
    each = f"{shared.head('GET /health', token=False)}\r\n".encode()
    last = f"{shared.head('GET /api/v1/nope', 'Connection: close')}\r\n".encode()
    assert 400 * len(each) > 4 * PIECE_BYTES

    assert statuses(shared.raw(each * 400 + last)) == [b"200"] * 400 + [b"404"]


def test_nonsense_behind_a_request_is_refused_after_its_answer(shared) -> None:
    good = f"{shared.head('GET /api/v1/status')}\r\n".encode()
    begun = f"{shared.head('POST /api/v1/search', *CHUNKED)}\r\n".encode()

    assert statuses(shared.raw(good + b"nonsense\r\n\r\n")) == [b"200", b"400"]
    assert statuses(shared.raw(good + good + begun + b"zz\r\n")) == [b"200", b"200", b"400"]


def test_what_is_sent_ahead_is_neither_kept_without_end_nor_in_the_way_of_leaving(world, slow, waited) -> None:
    with world.served() as api:
        body = b'{"question": "What about the rent increase?"}'
        lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        ask = f"{api.head('POST /api/v1/ask/stream', *lines)}\r\n".encode() + body
        ahead = f"{api.head('GET /health')}\r\n".encode()
        connection = socket.create_connection(("127.0.0.1", api.port), timeout=100)
        connection.sendall(ask + ahead)
        stream = waited(lambda: slow.streams)[0]
        connection.setblocking(False)
        with suppress(BlockingIOError):
            for _ in range(2_000):
                connection.send(ahead * 100)
        [protocol] = api.server.server_state.connections
        waited(lambda: protocol.flow.read_paused)

        assert len(protocol._ahead) <= MOST_AHEAD_BYTES + 256 * 1024
        assert len(protocol.pipeline) <= PIECE_BYTES // len(ahead)

        connection.close()
        slow.go_on.set()
        waited(lambda: not api.server.server_state.connections)
        assert stream


def test_a_client_that_asks_and_asks_and_never_reads_is_read_no_further(shared, waited) -> None:
    each = f"{shared.head('GET /openapi.json', token=False)}\r\n".encode()
    before = set(shared.server.server_state.connections)
    with socket.create_connection(("127.0.0.1", shared.port), timeout=100) as connection:
        [protocol] = waited(lambda: set(shared.server.server_state.connections) - before)
        connection.setblocking(False)
        left = memoryview(each * (4_000_000 // len(each)))

        def is_stuck() -> bool:
            nonlocal left
            with suppress(BlockingIOError):
                left = left[connection.send(left) :]
            return protocol.flow.write_paused and protocol.flow.read_paused

        waited(is_stuck)
        assert len(protocol._ahead) <= MOST_AHEAD_BYTES + 256 * 1024


def test_a_client_that_takes_nothing_of_its_answer_is_given_up(world, monkeypatch, waited) -> None:
    with world.served() as api:
        monkeypatch.setattr(PromptProtocol, "answer_s", 0.3)
        with socket.create_connection(("127.0.0.1", api.port), timeout=100) as connection, suppress(ConnectionError):
            connection.sendall(f"{api.head('GET /openapi.json', token=False)}\r\n".encode() * 2_000)
            waited(lambda: api.server.server_state.connections)

            waited(lambda: not api.server.server_state.connections)


def test_a_client_that_leaves_is_noticed_although_it_sent_another_request(world, slow, waited) -> None:
    with world.served() as api:
        body = b'{"question": "What about the rent increase?"}'
        lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        ask = f"{api.head('POST /api/v1/ask/stream', *lines)}\r\n".encode() + body
        with socket.create_connection(("127.0.0.1", api.port), timeout=100) as connection:
            connection.sendall(ask + f"{api.head('GET /health')}\r\n".encode())
            stream = waited(lambda: slow.streams)[0]

        assert waited(stream.closed.is_set)


def test_blank_lines_keep_no_connection_open(world, monkeypatch) -> None:
    with (
        world.served() as api,
        socket.create_connection(("127.0.0.1", api.port), timeout=100) as connection,
        suppress(ConnectionError),
    ):
        connection.sendall(f"{api.head('GET /health')}\r\n".encode())
        assert connection.recv(65_536)
        monkeypatch.setattr(PromptProtocol, "request_s", 0.3)
        connection.sendall(b"\r\n\r\n")
        while connection.recv(65_536):
            pass


def test_connections_that_send_nothing_keep_nobody_out(shared, monkeypatch) -> None:
    monkeypatch.setattr(PromptProtocol, "most", 4)
    monkeypatch.setattr(PromptProtocol, "request_s", 1_000.0)

    with ExitStack() as many:
        silent = [many.enter_context(socket.create_connection(("127.0.0.1", shared.port))) for _ in range(12)]
        answer = shared.raw(f"{shared.head('GET /health', 'Connection: close')}\r\n".encode())
        silent[0].settimeout(100)

        assert statuses(answer) == [b"200"]
        with suppress(ConnectionResetError):
            assert silent[0].recv(1) == b""
