"""The scripted server, and what talks to it without waiting."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
import pytest
from openmind_lmstudio.address import Address
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.policy import Patience
from openmind_lmstudio.provider import LMStudioProvider
from openmind_lmstudio.wire import Record

sys.path.append(str(Path(__file__).parents[3] / "tests"))  # the server serves end-to-end tests too

from lmstudio_server import ScriptedServer


class Unhurried(Connection):
    """Waits for a server that is well for as long as a busy machine holds it up; where a test is brief, it is too."""

    def get(self, path: str, patience: Patience) -> Record:
        return super().get(path, without_hurry(patience))

    def post(self, path: str, body: Mapping[str, object], patience: Patience) -> Record:
        return super().post(path, body, without_hurry(patience))


def without_hurry(patience: Patience) -> Patience:
    return attrs.evolve(patience, read_s=600.0) if patience.read_s >= 1 else patience


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def naps() -> list[float]:
    """The pauses that were made, in seconds; none was waited for."""
    return []


@pytest.fixture
def connect(server: ScriptedServer, naps: list[float]) -> Iterator[Callable[..., Connection]]:
    """Open connections to the server whose pauses take no time."""
    opened: list[Connection] = []

    def open_connection(base_url: str = "", *, token: str = "", idle_s: float = 600.0) -> Connection:
        connection = Unhurried(
            Address.parse(base_url or server.base_url),
            server="LM Studio",
            token_env="LM_API_TOKEN",
            environ={"LM_API_TOKEN": token},
            sleep=naps.append,
            idle_s=idle_s,
        )
        opened.append(connection)
        return connection

    yield open_connection
    for connection in opened:
        connection.close()


@pytest.fixture
def connection(connect: Callable[..., Connection]) -> Connection:
    return connect()


@pytest.fixture
def provider(server: ScriptedServer, connection: Connection) -> LMStudioProvider:
    return LMStudioProvider(LMStudioConfig(base_url=server.base_url), connection=connection)
