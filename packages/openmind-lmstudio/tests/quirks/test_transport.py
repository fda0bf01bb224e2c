"""What LM Studio does on the wire: each test names the quirk that it plays."""

import json
import os
import ssl
from collections.abc import Callable
from typing import Any

import pytest
from lmstudio_server import ScriptedServer, steps
from openmind.domain.errors import ConfigError, ProviderError, ProviderUnauthorized, ProviderUnreachable
from openmind.ports.answer_provider import Prompt
from openmind_lmstudio import policy
from openmind_lmstudio.address import Address
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.config import LMStudioConfig, OpenAICompatibleConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import Nonsense, TooSlow
from openmind_lmstudio.openai_compatible import OpenAICompatibleProvider
from openmind_lmstudio.policy import Patience
from openmind_lmstudio.provider import LMStudioProvider

MODELS, CHAT = "/api/v1/models", "/api/v1/chat"


def test_status_200_with_an_error_is_no_success(server: ScriptedServer, provider: LMStudioProvider) -> None:
    for path in (MODELS, "/api/v0/models", "/v1/models"):
        server.always(path, steps.reply(200, steps.flat(f"Unexpected endpoint or method. (GET {path})")))

    health = provider.health()

    assert not health.reachable
    assert "not LM Studio" in health.message


def test_status_200_without_the_expected_key_is_no_success(server: ScriptedServer, provider: LMStudioProvider) -> None:
    for path in (MODELS, "/api/v0/models", "/v1/models"):
        server.always(path, steps.reply(200, {"ok": True}))

    with pytest.raises(ProviderError, match="not LM Studio"):
        provider.models()


@pytest.mark.parametrize("body", [b"<html>It works!</html>", b"", b"[" * 100_000, b"null", b'"models"', b"\xff\xfe"])
def test_another_product_on_the_port_is_told_apart(
    server: ScriptedServer, provider: LMStudioProvider, body: bytes
) -> None:
    for path in (MODELS, "/api/v0/models", "/v1/models"):
        server.always(path, steps.raw(body))

    with pytest.raises(ProviderError, match="not LM Studio"):
        provider.models()


def test_another_server_is_not_called_an_older_lm_studio(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.version = "other"

    [notice] = provider.health().notices

    assert "not LM Studio" in notice
    assert "openai-compatible" in notice


def test_a_server_before_0_4_shows_in_the_shape_of_its_answers(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.version = "0.3"

    health = provider.health()

    assert health.reachable
    assert "older version" in " ".join(health.notices)
    assert [(model.key, model.type) for model in provider.models()][:2] == [
        ("text-embedding-acme", "embedding"),
        ("acme/chat", "llm"),
    ]


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/api/v1", "/api/v1/", "//", "/api/v0"])
def test_a_base_url_with_a_path_too_many_still_finds_the_routes(
    server: ScriptedServer, connect: Callable[..., Connection], tail: str
) -> None:
    client = LMStudioClient(connect(server.base_url + tail))

    assert client.health_check()
    assert server.paths() == [MODELS]


def test_a_stale_connection_is_opened_again(
    server: ScriptedServer, provider: LMStudioProvider, naps: list[float]
) -> None:
    provider.models()
    server.script(MODELS, steps.drop)

    assert provider.models()
    assert naps == [policy.LIST.pauses_s[0]]


def test_each_request_has_a_connection_of_its_own(server: ScriptedServer, provider: LMStudioProvider) -> None:
    provider.models()
    provider.models()

    assert len({request.connection for request in server.requests}) == 2


def test_a_server_that_is_gone_is_told_after_a_few_attempts(
    server: ScriptedServer, provider: LMStudioProvider, naps: list[float]
) -> None:
    server.stop()

    with pytest.raises(ProviderUnreachable) as raised:
        provider.models()

    assert server.base_url in raised.value.message
    assert raised.value.hint
    assert naps == list(policy.LIST.pauses_s)


def test_a_failing_server_is_asked_again_and_then_told(
    server: ScriptedServer, provider: LMStudioProvider, naps: list[float]
) -> None:
    server.always(MODELS, steps.reply(500, steps.native("boom", type="internal_error")))

    with pytest.raises(ProviderError, match="HTTP 500, internal_error"):
        provider.models()

    assert len(server.requests) == 3
    assert naps == list(policy.LIST.pauses_s)


def test_a_reply_that_does_not_come_is_given_up(server: ScriptedServer, connection: Connection) -> None:
    server.always("/slow", steps.stall(600))

    with pytest.raises(TooSlow, match="more than"):
        connection.get("/slow", Patience(read_s=0.1))


def test_a_reply_that_trickles_is_given_up_too(server: ScriptedServer, connection: Connection) -> None:
    def trickle(exchange: Any) -> None:
        exchange.begin_stream()
        for _ in range(100):
            exchange.wait(0.05)
            exchange.write(b" ")

    server.always("/slow", trickle)

    with pytest.raises(TooSlow):
        connection.get("/slow", Patience(read_s=0.3))


def _head_without_end(exchange: Any) -> None:
    """Send headers one by one; after 10 s, which nobody is to wait for, the reply comes after all."""
    exchange.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n")
    for number in range(500):
        exchange.wait(0.02)
        exchange.handler.wfile.write(b"X-Line: %d\r\n" % number)
    exchange.handler.wfile.write(b"\r\n{}")


def test_headers_that_trickle_are_given_up_too(server: ScriptedServer, connection: Connection) -> None:
    server.always("/slow", _head_without_end)

    with pytest.raises(TooSlow, match=r"took more than 0\.3 seconds to say what it has"):
        connection.get("/slow", Patience(read_s=0.3))


def test_headers_of_an_answer_that_trickle_are_given_up_too(
    server: ScriptedServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openmind_lmstudio.connection.STREAM", Patience(read_s=0.3))
    server.always("/slow", _head_without_end)

    with pytest.raises(TooSlow, match="more than"), connection.stream("/slow", {}):
        pass


def test_an_error_page_is_a_failure_of_the_server(server: ScriptedServer, connection: Connection) -> None:
    server.always("/page", steps.raw(b"<h1>Bad gateway</h1>", status=502))

    with pytest.raises(ProviderError, match="HTTP 502"):
        connection.get("/page", policy.LIST)


def test_another_product_is_told_apart_on_any_route(server: ScriptedServer, connection: Connection) -> None:
    server.always("/page", steps.raw(b"<h1>Hello</h1>"))

    with pytest.raises(Nonsense, match="does not talk like a model server"):
        connection.get("/page", policy.LIST)
    with pytest.raises(Nonsense, match=r"^What answers at"), connection.stream("/page", {}):
        pass


def test_the_client_says_whether_the_server_is_healthy(
    server: ScriptedServer, connect: Callable[..., Connection]
) -> None:
    assert LMStudioClient(connect()).health_check()
    assert not LMStudioClient(connect("http://127.0.0.1:9")).health_check()


def test_a_reply_without_end_is_given_up(
    server: ScriptedServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from openmind_lmstudio import transport

    monkeypatch.setattr(transport, "MAX_REPLY_BYTES", 1_000)
    server.always("/long", steps.raw(b"[" + b"0," * 10_000, content_type="application/json"))

    with pytest.raises(Nonsense, match="without end"):
        connection.get("/long", policy.LIST)


def test_line_separators_inside_an_event_do_not_tear_it(server: ScriptedServer, provider: LMStudioProvider) -> None:
    server.studio.answer = ["one\u2028two", "\u2029three\u0085", "four\r\nfive"]

    *_, reply = provider.answerer("acme/chat").stream(Prompt(system="", user="?"))

    assert reply.text == "one\u2028two\u2029three\u0085four\r\nfive"


def test_events_come_with_any_line_end_comments_and_many_data_lines(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    end = {"type": "chat.end", "result": {"output": [{"type": "message", "content": "It is dry."}]}}
    halves = json.dumps(end).split(", ", 1)
    server.script(
        CHAT,
        steps.events(
            b": keep-alive\r\n\r\n",
            b'event: message.delta\rdata: {"content": "It is"}\r\r',
            b'data:{"type": "message.delta",\r\ndata:"content": " dry."}\r\n\r\n',
            b"event: something.new\nid: 7\nretry: 10\ndata: {}\n\n",
            f"data: {halves[0]},\ndata: {halves[1]}\n\n".encode(),
        ),
    )

    *pieces, reply = provider.answerer("acme/chat").stream(Prompt(system="", user="?"))

    assert [piece.text for piece in pieces] == ["It is", " dry."]
    assert reply.text == "It is dry."


def test_localhost_is_dialled_as_ipv4_and_shown_as_it_was_written(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    assert server.base_url.startswith("http://localhost:")

    message = provider.health().message

    assert server.requests[0].headers["host"].startswith("127.0.0.1:")
    assert server.base_url in message


def test_proxies_of_the_environment_are_not_used(
    server: ScriptedServer, provider: LMStudioProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    assert provider.health().reachable
    assert server.requests


@pytest.mark.parametrize("url", ["http://192.168.1.5:1234", "http://example.com", "http://localhost.evil.example"])
@pytest.mark.parametrize(
    ("make", "config"),
    [(LMStudioProvider, LMStudioConfig), (OpenAICompatibleProvider, OpenAICompatibleConfig)],
)
def test_a_remote_server_needs_permission(make: type, config: type, url: str) -> None:
    with pytest.raises(ConfigError, match="would leave it") as raised:
        make(config(base_url=url))

    assert "allow_remote" in raised.value.hint


def test_a_remote_server_that_is_allowed_is_warned_of(connect: Callable[..., Connection]) -> None:
    address = Address.parse("http://192.0.2.1:1234")
    address.require_local(allow_remote=True)

    assert "not this machine" in " ".join(address.notices)
    assert "not encrypted" in " ".join(address.notices)
    assert "not encrypted" not in " ".join(Address.parse("https://192.0.2.1").notices)


def test_a_redirect_is_not_followed_with_the_token(server: ScriptedServer, connect: Callable[..., Connection]) -> None:
    with ScriptedServer() as elsewhere:
        server.always(MODELS, steps.redirect(f"{elsewhere.base_url}{MODELS}"))
        connection = connect(token="secret-token")

        with pytest.raises(ProviderError, match="elsewhere"):
            connection.get(MODELS, policy.LIST)

        assert elsewhere.requests == []


def test_a_redirect_of_one_route_is_no_older_server(server: ScriptedServer, connect: Callable[..., Connection]) -> None:
    server.always(MODELS, steps.redirect("http://127.0.0.1:9/login"))

    health = LMStudioProvider(LMStudioConfig(base_url=server.base_url), connection=connect()).health()

    assert not health.reachable
    assert "redirect" in health.message
    assert server.paths() == [MODELS]


def test_a_token_is_asked_for_when_the_server_wants_one(
    server: ScriptedServer, connect: Callable[..., Connection]
) -> None:
    server.studio.token = "right"

    with pytest.raises(ProviderUnauthorized, match="token"):
        LMStudioClient(connect(token="wrong")).list_models()
    assert LMStudioClient(connect(token="right\n")).list_models().models


def test_a_token_is_always_sent_when_there_is_one(server: ScriptedServer, connect: Callable[..., Connection]) -> None:
    LMStudioClient(connect(token="sk-1")).list_models()
    LMStudioClient(connect()).list_models()

    assert [request.headers.get("authorization") for request in server.requests] == ["Bearer sk-1", None]


def test_the_token_shows_nowhere(
    server: ScriptedServer, connect: Callable[..., Connection], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    token = "sk-very-secret"
    connection = connect(token=token)
    server.studio.token = "another"
    server.always("/echo", steps.reply(400, steps.native(f"you sent {token}")))

    told = []
    for path in (MODELS, "/echo"):
        with pytest.raises(ProviderError) as raised:
            connection.get(path, policy.LIST)
        told += [repr(raised.value), raised.value.hint, str(raised.value.__cause__)]
    told += [repr(connection), repr(connection._open()), repr(connection._open()._exchanges.headers)]

    assert token not in " ".join(told)
    assert token not in caplog.text


def test_a_token_that_cannot_be_a_header_is_refused(connect: Callable[..., Connection]) -> None:
    with pytest.raises(ConfigError, match="LM_API_TOKEN"):
        connect(token="two\nlines").get(MODELS, policy.LIST)


def test_a_token_that_cannot_be_a_header_makes_an_unhealthy_sentence(
    server: ScriptedServer, connect: Callable[..., Connection]
) -> None:
    provider = LMStudioProvider(LMStudioConfig(base_url=server.base_url), connection=connect(token="ü"))

    assert not provider.health().reachable


def test_the_environment_is_read_when_none_is_given(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "MY_TOKEN", "from-the-environment")
    provider = LMStudioProvider(LMStudioConfig(base_url=server.base_url, api_token_env="MY_TOKEN"))

    provider.models()
    provider.close()

    assert server.requests[0].headers["authorization"] == "Bearer from-the-environment"


def test_no_authority_is_trusted_without_tls() -> None:
    from openmind_lmstudio.transport import _trust

    plain, encrypted = _trust(Address.parse("http://localhost")), _trust(Address.parse("https://localhost"))

    assert plain.verify_mode == encrypted.verify_mode == ssl.CERT_REQUIRED
    assert plain.cert_store_stats()["x509_ca"] == 0
