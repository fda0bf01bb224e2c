"""A server that takes a request and says nothing."""

import pytest
from lmstudio_server import ScriptedServer, steps
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import TooSlow
from openmind_lmstudio.policy import Patience
from openmind_lmstudio.provider import LMStudioProvider

BRIEF = Patience(read_s=0.1, pauses_s=(0.1, 0.3))


def test_a_list_that_does_not_come_is_no_model_s_fault(
    server: ScriptedServer, connection: Connection, naps: list[float]
) -> None:
    server.always("/list", steps.stall(600))

    with pytest.raises(TooSlow, match=r"took more than 0\.1 seconds to say what it has") as raised:
        connection.get("/list", BRIEF)

    assert server.base_url in raised.value.message
    assert raised.value.hint.startswith("Restart the server")
    assert naps == []  # it was asked once


def test_a_model_that_does_not_come_to_an_end_may_be_too_large(server: ScriptedServer, connection: Connection) -> None:
    server.always("/embed", steps.stall(600))

    with pytest.raises(TooSlow) as raised:
        connection.post("/embed", {}, BRIEF)

    assert "smaller model" in raised.value.hint


def test_a_server_that_loads_by_itself_is_not_said_to_have_loaded_now(
    server: ScriptedServer, provider: LMStudioProvider
) -> None:
    server.studio.version = "other"

    [action] = provider.load(["acme/chat"])

    assert action.skipped
    assert "/api/v1/models/load" not in server.paths("POST")
