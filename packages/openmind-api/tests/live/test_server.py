"""The server as a whole: configuration that changes, tokens that rotate, clients that are slow, its log."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest
from openmind.adapters.serve_lock import sole_server
from openmind.adapters.token_file import TokenFile
from openmind_api.protocol import PromptProtocol


def test_a_change_of_the_configuration_is_seen_by_the_next_request(world, api) -> None:
    before = api.get("/status").json()

    world.configure(chat="fake-chat")

    assert before["provider"] == "builtin"
    assert api.get("/status").json()["provider"] == "fake"
    assert api.get("/models").json()["provider"] == "fake"
    assert api.get("/providers/status").json()["provider"] == "fake"


def test_a_configuration_that_is_not_valid_is_told_until_it_is_mended(world, api) -> None:
    (world.home / "config.toml").write_text("[models]\nchat_modle = 'x'\n")
    broken = api.get("/status")
    (world.home / "config.toml").write_text("")

    assert broken.status_code == 409
    assert broken.json()["code"] == "config.invalid"
    assert "chat_modle" in broken.json()["detail"]
    assert api.get("/status").status_code == 200


def test_a_request_in_flight_keeps_the_configuration_it_began_with(world, slow, waited) -> None:
    with world.served() as api, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(api.post, "/ask", {"question": "What about the rent increase?"})
        waited(lambda: slow.streams)
        world.configure(chat=None)
        assert api.get("/status").json()["chat_model"] is None
        slow.go_on.set()
        answered = asked.result().json()
        later = api.post("/ask", {"question": "What about the rent increase?"}).json()

    assert (answered["state"], answered["answer"]) == ("answered", "First last [1].")
    assert later["state"] == "evidence_only"


def test_conversations_go_on_when_the_configuration_changes(world, slow) -> None:
    slow.go_on.set()
    with world.served() as api:
        session = api.post("/ask", {"question": "What about the rent increase?"}).json()["session_id"]
        world.configure(chat=None)

        again = api.post("/ask", {"question": "What about the rent?", "session_id": session})

    assert again.status_code == 200
    assert again.json()["session_id"] == session


def test_all_clients_change_over_together(world, api) -> None:
    def look(_: int) -> str:
        return api.get("/status").json()["provider"]

    with ThreadPoolExecutor(8) as pool:
        before = set(pool.map(look, range(16)))
        world.configure()
        after = set(pool.map(look, range(32)))

    assert (before, after) == ({"builtin"}, {"fake"})


def test_a_rotated_token_counts_at_once_and_the_former_no_more(world, api) -> None:
    former = world.token
    fresh = TokenFile(world.home / "api_token").rotate()

    refused = api.get("/status")
    admitted = api.get("/status", headers={"Authorization": f"Bearer {fresh}"})

    assert fresh != former
    assert refused.status_code == 401
    assert admitted.status_code == 200


def test_without_a_token_file_nobody_is_let_in(world, api) -> None:
    token = world.token
    (world.home / "api_token").unlink()

    assert api.get("/status", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert api.get("/status", headers={"Authorization": "Bearer"}).status_code == 401
    assert api.http.get("/health").status_code == 200


def test_a_chunked_body_that_is_too_large_is_413(shared) -> None:
    def chunks():
        yield b'{"query": "'
        for _ in range(20):
            yield b"x" * 65_536
        yield b'"}'

    response = shared.post("/search", content=chunks(), headers={"Content-Type": "application/json"})

    assert response.status_code == 413
    assert response.json()["code"] == "request.too_large"


def test_a_body_that_is_too_large_is_413_before_it_is_read(shared) -> None:
    lines = ("Content-Type: application/json", "Content-Length: 2000000", "Connection: close")
    head = shared.head("POST /api/v1/search", *lines)

    answer = shared.raw(f"{head}\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_of_exactly_one_mebibyte_is_read(shared) -> None:
    body = b'{"query": "x"' + b" " * (1024 * 1024 - 14) + b"}"
    assert len(body) == 1024 * 1024

    response = shared.post("/search", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 200


def test_a_client_that_never_finishes_its_request_is_given_up(world, monkeypatch) -> None:
    with world.served() as api:
        monkeypatch.setattr(PromptProtocol, "request_s", 0.3)
        for begun in (
            b"",
            b"GET /health HT",
            b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{",
        ):
            with (
                socket.create_connection(("127.0.0.1", api.port), timeout=100) as connection,
                suppress(ConnectionError),  # a slow machine may send when it was given up already
            ):
                connection.sendall(begun)
                while connection.recv(1_000):
                    pass
        monkeypatch.undo()
        assert api.http.get("/health").status_code == 200


def test_each_request_is_one_json_line_without_query_body_or_token(world) -> None:
    with world.served() as api:
        api.get("/files", params={"limit": 7})
        api.post("/search", {"query": "a very private question"})
        api.get("/nope/very-private")
        api.http.get("/health?token=very-private")
        with api.without_token() as http:
            http.get("/api/v1/status")
        token = world.token

    lines = world.log
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("GET", "/api/v1/files", 200),
        ("POST", "/api/v1/search", 200),
        ("GET", "-", 404),
        ("GET", "/health", 200),
        ("GET", "-", 401),
    ]
    assert all(
        line.keys() == {"time", "event", "request_id", "method", "path", "status", "bytes", "ms"} for line in lines
    )
    text = (world.home / "logs" / "api.jsonl").read_text()
    assert "private" not in text
    assert "limit" not in text
    assert token not in text


def test_a_bug_is_500_with_the_request_id_and_nothing_of_the_inside(world, monkeypatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("openmind.application.memory.OpenMind.status", broken)
    with world.served() as api:
        response = api.get("/status")

    assert response.status_code == 500
    assert response.json()["code"] == "internal"
    assert response.headers["x-request-id"] in response.json()["hint"]
    assert "secret" not in response.text
    [bug] = [line for line in world.log if line["event"] == "bug"]
    assert bug["request_id"] == response.headers["x-request-id"]
    assert "RuntimeError" in str(bug)
    assert "secret" not in str(bug)


def test_requests_over_one_connection_are_answered_in_turn(shared) -> None:
    head = shared.head("GET /api/v1/status")

    answers = shared.raw(f"{head}\r\n{head}Connection: close\r\n\r\n".encode())

    assert answers.count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1"])
def test_what_is_no_http_is_400_like_every_other_failure(shared, version) -> None:
    answer = shared.raw(b"nonsense " + version + b"\r\n\r\n")

    head, _, body = answer.partition(b"\r\n\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head.decode().splitlines()[1:])
    assert head.startswith(b"HTTP/1.1 400")
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-content-type-options"] == "nosniff"
    assert json.loads(body)["code"] == "request.no_http"
    [line] = [line for line in shared.world.log if line.get("request_id") == headers["x-request-id"]]
    assert (line["status"], line["path"], line["bytes"]) == (400, "-", len(body))


def test_a_body_that_turns_to_nonsense_is_one_request_that_failed(shared, waited) -> None:
    earlier = shared.get("/status").headers["x-request-id"]
    waited(lambda: any(line.get("request_id") == earlier for line in shared.world.log))
    before = len(shared.world.log)
    head = shared.head("POST /api/v1/search", "Transfer-Encoding: chunked", "Content-Type: application/json")

    answer = shared.raw(f'{head}\r\n5\r\n{{"que\r\nzz\r\n'.encode())

    assert answer.startswith(b"HTTP/1.1 400")
    # Its line comes after every line of the request before it, and a moment after its answer.
    later = shared.get("/status").headers["x-request-id"]
    waited(lambda: any(line.get("request_id") == later for line in shared.world.log))
    assert [line["status"] for line in shared.world.log[before:] if line["status"] >= 400] == [400]


def test_a_body_that_turns_to_nonsense_after_the_answer_ends_the_connection_quietly(shared, caplog) -> None:
    head = shared.head("POST /api/v1/search", "Transfer-Encoding: chunked", token=False)
    with socket.create_connection(("127.0.0.1", shared.port), timeout=100) as connection:
        connection.sendall(f"{head}\r\n".encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 401")
        connection.sendall(b"zz\r\n")
        with suppress(ConnectionResetError):
            while connection.recv(65_536):
                pass

    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_the_server_ends_when_it_is_not_the_only_one_of_its_home_any_more(world) -> None:
    world.home.mkdir(mode=0o700)
    (world.home / ".openmind-home").write_text("")
    with sole_server(world.home / "serve.lock") as sole, world.served(may_go_on=sole.is_sole) as api:
        assert api.get("/status").status_code == 200
        (world.home / "serve.lock").unlink()

        api.thread.join(100)

        assert not api.thread.is_alive()


def test_a_server_that_is_told_to_end_does_not_wait_for_its_next_look(world, monkeypatch) -> None:
    monkeypatch.setattr("openmind_api.server.LOOK_S", 10_000.0)
    with world.served() as api:
        assert api.http.get("/health").status_code == 200
        api.server.should_exit = True

        api.thread.join(100)

        assert not api.thread.is_alive()


def test_the_server_ends_while_clients_are_connected_but_idle(world) -> None:
    with world.served() as api, httpx.Client(base_url=api.url, trust_env=False, timeout=100) as client:
        client.get("/health")
        api.server.config.timeout_graceful_shutdown = None  # it would wait for ever, if it waited for them
        api.server.should_exit = True

        api.thread.join(60)

        assert not api.thread.is_alive()
