"""The commands `openmind serve` and `openmind api`."""

import os
import sys
from contextlib import closing, suppress
from typing import Literal

from openmind.adapters.home import Home
from openmind.adapters.token_file import TokenFile
from openmind.domain.errors import UsageError

DEFAULT_PORT = 8765


def serve(*, port: int = DEFAULT_PORT, allow_origin: tuple[str, ...] = ()) -> int:
    """Serve the loopback API to other programs on this machine.

    It listens on 127.0.0.1 only, and one memory has one server. Clients read their token from the file `api_token` in
    OpenMind's folder.

    Parameters
    ----------
    port
        Where to listen; 0 takes any port that is free.
    allow_origin
        A web page that may use the API, such as http://localhost:3000. May be given several times.
    """
    from openmind_api.listening import bind, require_port
    from openmind_api.origins import parse_origin

    require_port(port)
    origins = tuple(map(parse_origin, allow_origin))

    # Not sooner: this loads the server, and what was typed wrongly is said at once.
    from openmind.adapters.serve_lock import sole_server
    from openmind.live import LiveMemory

    from openmind_api.c_heap import bound_arenas
    from openmind_api.server import prepared

    bound_arenas()
    os.umask(0o077)  # whatever is written from here on is for its owner only
    home = Home.at(None)
    home.create()
    with sole_server(home.serve_lock) as sole, closing(bind(port)) as listener, LiveMemory(home.folder) as live:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        sole.announce(address)
        greeting = f"OpenMind is served at {address} (Ctrl-C ends it)"
        with prepared(
            live, origins=origins, ready=lambda: _say(greeting), may_go_on=sole.is_sole, tell=_warn
        ) as server:
            for sentence in server.application.broken:
                _warn(sentence)
            server.run(sockets=[listener])
        if not sole.is_sole():
            _warn(f"{home.serve_lock} was deleted, so that another server may be started: this one has ended.")
    return 0


def api(what: Literal["token"], /, *, rotate: bool = False, yes: bool = False) -> int:
    """Show or change the token of the loopback API.

    Parameters
    ----------
    what
        `token`: the token that clients must send.
    rotate
        Make a new token; clients with the former one are refused from then on.
    yes
        Do not ask.
    """
    home = Home.at(None)
    home.create()
    tokens = TokenFile(home.token_file)
    if rotate and not (yes or _agreed()):
        _say("The token stays as it is.")
        return 0
    _say(tokens.rotate() if rotate else tokens.ensure())
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("A new token locks out every client that has the former one", hint="Add `--yes` to make it.")
    sys.stderr.write("Clients with the former token are refused from then on. Make a new one? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _warn(sentence: str) -> None:
    with suppress(OSError):  # a server whose terminal is gone goes on
        sys.stderr.write(f"openmind: {sentence}\n")
        sys.stderr.flush()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
