"""Identifiers: opaque strings whose prefix says what they name."""

from collections.abc import Callable
from typing import NewType

SourceId = NewType("SourceId", str)
FileId = NewType("FileId", str)
RunId = NewType("RunId", str)
JobId = NewType("JobId", str)
SessionId = NewType("SessionId", str)

Generation = NewType("Generation", int)
"""Number of one version of one file's passages; it grows and is never used again."""

TokenHex = Callable[[int], str]


def random_hex(size_bytes: int) -> str:
    """Bytes that nobody can guess, as twice as many digits."""
    import secrets  # waits until it is asked for: `openmind --help` names nothing

    return secrets.token_hex(size_bytes)


def new_source_id(token_hex: TokenHex = random_hex) -> SourceId:
    return SourceId(f"src_{token_hex(6)}")


def new_file_id(token_hex: TokenHex = random_hex) -> FileId:
    return FileId(f"file_{token_hex(8)}")


def new_run_id(token_hex: TokenHex = random_hex) -> RunId:
    return RunId(f"run_{token_hex(6)}")


def new_job_id(token_hex: TokenHex = random_hex) -> JobId:
    return JobId(f"job_{token_hex(6)}")


def new_session_id(token_hex: TokenHex = random_hex) -> SessionId:
    return SessionId(f"chat_{token_hex(8)}")
