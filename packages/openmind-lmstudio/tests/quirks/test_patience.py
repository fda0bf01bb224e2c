"""How long each request may take and when it is sent again, played against servers that are slow, broken or away."""

from collections.abc import Callable, Mapping

import pytest
from lmstudio_server import ScriptedServer, embedding, llm, steps
from lmstudio_server.server import Step
from openmind.domain.errors import OpenMindError
from openmind.ports.answer_provider import Prompt
from openmind.testing.contracts.image_describer import PNG
from openmind_lmstudio.address import Address
from openmind_lmstudio.chat import ChatRequest
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import TooSlow
from openmind_lmstudio.lifeline import Lifeline
from openmind_lmstudio.policy import Patience
from openmind_lmstudio.provider import LMStudioProvider
from openmind_lmstudio.transport import CONNECT_S, Transport
from openmind_lmstudio.wire import Record

MODELS, LOAD, UNLOAD = "/api/v1/models", "/api/v1/models/load", "/api/v1/models/unload"
EMBED, CHAT, SEE = "/v1/embeddings", "/api/v1/chat", "/v1/chat/completions"
QUESTION = ChatRequest(model="c", text="How is the well?")
PROMPT = Prompt(system="Be brief.", user="How is the well?")


class Timed(Connection):
    """Notes what each request is allowed."""

    allowed: list[tuple[str, float]]

    def get(self, path: str, patience: Patience) -> Record:
        self.allowed.append((path, patience.read_s))
        return super().get(path, patience)

    def post(self, path: str, body: Mapping[str, object], patience: Patience) -> Record:
        self.allowed.append((path, patience.read_s))
        return super().post(path, body, patience)


def test_each_request_gets_the_time_that_it_may_need(server: ScriptedServer) -> None:
    server.studio.models = [embedding("e"), llm("c", loaded=False), llm("eyes", vision=True)]
    connection = Timed(Address.parse(server.base_url), server="LM Studio")
    connection.allowed = []
    provider = LMStudioProvider(LMStudioConfig(base_url=server.base_url), connection=connection)
    embedder = provider.embedder("e")

    embedder.embed(["a"], role="passage")
    provider.load(["c"])
    LMStudioClient(connection).chat(QUESTION)
    provider.describer("eyes").describe(PNG, media_type="image/png")
    provider.unload(["e"])
    server.studio.jit = False
    embedder.embed(["b"], role="passage")
    provider.close()

    assert [seconds for path, seconds in connection.allowed if path == EMBED] == [600, 120, 120, 600]
    others = {entry for entry in connection.allowed if entry[0] != EMBED}
    assert others == {(MODELS, 5), (LOAD, 600), (UNLOAD, 30), (CHAT, 600), (SEE, 600)}
    assert CONNECT_S == 2


Ask = Callable[[LMStudioProvider, LMStudioClient], object]


def ask_list(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return client.list_models()


def ask_load(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return client.load_model("c")


def ask_unload(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return client.unload("c")


def ask_embed(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return client.embed("e", ["a"])


def ask_chat(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return client.chat(QUESTION)


def ask_stream(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return list(provider.answerer("c").stream(PROMPT))


def ask_see(provider: LMStudioProvider, client: LMStudioClient) -> object:
    return provider.describer("eyes").describe(PNG, media_type="image/png")


BROKEN, FAILED = steps.drop, steps.reply(500, steps.flat("boom"))
REFUSED = steps.reply(403, steps.native("Not you.", code="invalid_api_key"))


@pytest.mark.parametrize(
    ("ask", "path", "broken", "failed"),
    [
        (ask_list, MODELS, 3, 3),
        (ask_load, LOAD, 1, 1),
        (ask_unload, UNLOAD, 2, 2),
        (ask_embed, EMBED, 3, 3),
        (ask_chat, CHAT, 1, 1),
        (ask_stream, CHAT, 1, 1),
        (ask_see, SEE, 1, 1),
    ],
)
def test_a_request_is_sent_again_only_where_it_does_no_harm(
    server: ScriptedServer,
    provider: LMStudioProvider,
    connection: Connection,
    ask: Ask,
    path: str,
    broken: int,
    failed: int,
) -> None:
    server.studio.models = [embedding("e"), llm("c"), llm("eyes", vision=True)]
    client = LMStudioClient(connection)

    def attempts(step: Step) -> int:
        before = server.paths().count(path)
        server.always(path, step)
        with pytest.raises(OpenMindError):
            ask(provider, client)
        return server.paths().count(path) - before

    assert (attempts(BROKEN), attempts(FAILED), attempts(REFUSED)) == (broken, failed, 1)


@pytest.mark.parametrize("path", [CHAT, SEE])
def test_a_question_to_nobody_is_asked_once_more(
    connect: Callable[..., Connection], naps: list[float], path: str
) -> None:
    from openmind_lmstudio import policy

    with pytest.raises(OpenMindError, match="does not answer"):
        connect("http://127.0.0.1:9").post(path, {"model": "c"}, {CHAT: policy.CHAT, SEE: policy.DESCRIBE}[path])

    assert naps == [0.3]


def test_a_stream_that_never_begins_is_given_up(server: ScriptedServer) -> None:
    server.always(CHAT, steps.stall(600))
    transport = Transport(Address.parse(server.base_url), token="", server="LM Studio")

    with (
        pytest.raises(TooSlow, match=r"0\.2 seconds"),
        transport.stream("POST", CHAT, b"{}", first_s=0.2, idle_s=60, lifeline=Lifeline()),
    ):
        raise AssertionError("it never began")

    transport.close()
