"""Where a model server listens."""

import ipaddress
from typing import Self
from urllib.parse import urlsplit

from attrs import frozen
from openmind.domain.errors import RemoteNotAllowed

_API_PATHS = ("/api/v1", "/api/v0", "/v1")
"""What people paste along with the address: the routes bring it themselves."""


@frozen(kw_only=True)
class Address:
    """The address of a model server, read once from what a person wrote."""

    shown: str
    """As it was written, without the path of an API: for sentences."""
    dialled: str
    """What is connected to. `localhost` may mean ::1 first, where LM Studio does not listen."""
    local: bool
    """Whether the bytes stay on this machine."""
    encrypted: bool

    @classmethod
    def parse(cls, written: str) -> Self:
        """Read an address.

        Raises:
            ValueError: it is not the address of a server; the message goes on after the name of the field.
        """
        parts = urlsplit(written.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must look like http://localhost:1234")
        if parts.username is not None or parts.password is not None:
            raise ValueError("must not hold a name or password: name the variable of the token instead")
        if parts.query or parts.fragment:
            raise ValueError("must end with the port or a path, without ? or #")
        host, port = parts.hostname, parts.port
        path = _without_api_path(parts.path)
        return cls(
            shown=_join(parts.scheme, host, port, path),
            dialled=_join(parts.scheme, "127.0.0.1" if host == "localhost" else host, port, path),
            local=_is_loopback(host),
            encrypted=parts.scheme == "https",
        )

    def require_local(self, *, allow_remote: bool) -> None:
        """Refuse an address on another machine unless the person allowed it.

        Raises:
            RemoteNotAllowed
        """
        if self.local or allow_remote:
            return
        raise RemoteNotAllowed(
            f"{self.shown} is not on this machine: the text of your files would leave it",
            hint="If you want that, allow it first: `openmind config set provider.allow_remote true`.",
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about where the text goes."""
        if self.local:
            return ()
        told = f"The text of your files is sent to {self.shown}, which is not this machine."
        return (told,) if self.encrypted else (told, "The connection is not encrypted.")


def _without_api_path(path: str) -> str:
    path = path.rstrip("/")
    for known in _API_PATHS:
        if path.endswith(known):
            return path.removesuffix(known).rstrip("/")
    return path


def _join(scheme: str, host: str, port: int | None, path: str) -> str:
    shown_host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown_host}{'' if port is None else f':{port}'}{path}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name may resolve to anything, at any time
