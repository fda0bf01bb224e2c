"""Origins: which web pages may talk to the API, and what a browser says about who is asking."""

import ipaddress
import re
from urllib.parse import urlsplit

from openmind.domain.errors import UsageError

_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_origin(text: str) -> str:
    """Read an origin that a person allows and write it as browsers do.

    Raises:
        UsageError: it is anything but scheme, host and port; wildcards are refused.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _refused(text) from error
    bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc or text != text.strip())
    if parts.scheme not in _DEFAULT_PORTS or not bare or not _is_host(host) or text.endswith(("?", "#", ":")):
        raise _refused(text)
    shown = f"[{host}]" if ":" in host else host
    return (
        f"{parts.scheme}://{shown}"
        if port in {None, _DEFAULT_PORTS[parts.scheme]}
        else f"{parts.scheme}://{shown}:{port}"
    )


def is_own_host(host: str, port: int) -> bool:
    """Whether the header `Host` names this server; the port may be left out."""
    return host.lower().removesuffix(f":{port}") in NAMES


def is_own_origin(origin: str, port: int) -> bool:
    """Whether a page is one that this server itself serves."""
    return origin in {f"http://{name}:{port}" for name in NAMES}


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            return ipaddress.ip_address(host).version == 6
        except ValueError:
            return False
    return _HOST.fullmatch(host) is not None and ".." not in host


def _refused(text: str) -> UsageError:
    return UsageError(
        f"“{text}” is no origin",
        hint="Give scheme, host and port only, such as http://localhost:3000; wildcards are not taken.",
    )
