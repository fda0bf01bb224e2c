"""The port: taking it, on the one address that strangers cannot reach."""

import errno
import json
import socket
import sys
from contextlib import closing
from http.client import HTTPConnection, HTTPException

from openmind.domain.errors import OpenMindError, UsageError

HOST = "127.0.0.1"
"""There is no other: whoever listens elsewhere can be reached by strangers."""
ASK_S = 1.0


class PortTaken(OpenMindError):
    """Another program listens on the port, or it may not be taken."""

    code = "serve.port_taken"


def require_port(port: int) -> None:
    """Refuse a number that is no port.

    Raises:
        UsageError
    """
    if not 0 <= port <= 65_535:
        raise UsageError(f"There is no port {port}", hint="Ports go from 1 to 65535; 0 takes any that is free.")


def bind(port: int) -> socket.socket:
    """Take a port; 0 takes any that is free.

    Raises:
        UsageError: there is no such port.
        PortTaken
    """
    require_port(port)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there, the other option lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise _refusal(port, error) from error
    return listener


def _refusal(port: int, error: OSError) -> PortTaken:
    another = "Choose another port: openmind serve --port 8766"
    if error.errno != errno.EADDRINUSE:
        return PortTaken(f"Port {port} cannot be taken: {error.strerror or error}", hint=another)
    if _is_openmind(port):
        return PortTaken(
            f"Port {port} is taken by another OpenMind",
            hint=f"Use that one, should it serve this memory; or end it first. {another}",
        )
    return PortTaken(f"Port {port} is taken by another program", hint=another)


def _is_openmind(port: int) -> bool:
    """Ask whoever listens there."""
    try:
        with closing(HTTPConnection(HOST, port, timeout=ASK_S)) as connection:
            connection.request("GET", "/health")
            answer = json.loads(connection.getresponse().read(1_000))
    except (OSError, HTTPException, ValueError):
        return False
    return isinstance(answer, dict) and answer.keys() == {"status", "version"}
