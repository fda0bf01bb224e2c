"""A TOML file, read within bounds: no more than a configuration can be, and no FIFO is waited for."""

import errno
import os
import stat
import tomllib
from pathlib import Path

from openmind.domain.errors import ConfigError

MAX_CONFIG_BYTES = 1_000_000
"""A larger file is no configuration."""


def read_toml(path: Path) -> dict[str, object]:
    """Read a file; a missing one is empty.

    Raises:
        ConfigError: it cannot be read, or is no TOML; the message says where.
    """
    data = read_config_bytes(path)
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path} is not written in UTF-8: line {number} holds other bytes",
            hint="Save the file as UTF-8 in your editor.",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint="Mend the line it names.") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is not valid TOML: it is nested too deeply", hint="Mend it.") from error


def read_config_bytes(path: Path) -> bytes:
    """Read the bytes; there are none when the file is missing.

    Raises:
        ConfigError: it cannot be read, or is no file that can be a configuration.
    """
    try:
        data = _read_bounded(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", hint="Check its permissions.") from error
    if data is None:
        raise ConfigError(f"{path} is no regular file", hint="Put a text file in its place, or nothing.")
    if len(data) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path} is too large to be a configuration", hint="Mend or delete it.")
    return data


def _read_bounded(path: Path) -> bytes | None:
    """Read a little more than is allowed at most; None for a folder, a FIFO or a device, none of which is waited for.

    Links are followed: many keep their configuration elsewhere.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    except OSError as error:
        if error.errno in {errno.ENXIO, errno.ENODEV, errno.EISDIR}:
            return None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MAX_CONFIG_BYTES + 1)
