"""Problems: what clients and commands are told of an error, and the HTTP status of each."""

from collections.abc import Mapping
from typing import Final

from openmind.domain import errors
from openmind.domain.contract import Object
from openmind.domain.errors import OpenMindError

STATUS: Final[Mapping[type[OpenMindError], int]] = {
    errors.UsageError: 400,
    errors.EmptyQuery: 422,
    errors.SourceError: 400,
    errors.SourceNotFound: 404,
    errors.SourceDisabled: 403,
    errors.SourceExists: 409,
    errors.SourceOverlaps: 409,
    errors.HomeError: 500,
    errors.HomeMissing: 404,
    errors.HomeNewer: 409,
    errors.HomeServed: 409,
    errors.ConfigError: 409,
    errors.RemoteNotAllowed: 503,
    errors.StoreError: 500,
    errors.StoreBusy: 409,
    errors.StoreFull: 507,
    errors.ArchiveDamaged: 400,
    errors.MemoryNotEmpty: 409,
    errors.DocumentNotFound: 404,
    errors.DocumentForbidden: 403,
    errors.NoOpener: 409,
    errors.JobError: 409,
    errors.JobNotFound: 404,
    errors.WorkersUnavailable: 500,
    errors.ProviderError: 503,
    errors.ModelNotFound: 400,
    errors.SessionNotFound: 404,
    errors.TooBusy: 429,
    errors.PluginError: 500,
    errors.ExtractionFailed: 500,
}
"""The HTTP status of each family of errors; the nearest ancestor counts."""


def status_of(error: type[OpenMindError]) -> int:
    """The HTTP status of an error."""
    return next((STATUS[kind] for kind in error.__mro__ if kind in STATUS), 500)


def problem(detail: str, *, code: str, title: str, status: int, hint: str = "") -> Object:
    """The error object, for a failure that is none of ours."""
    return {
        "type": f"urn:openmind:error:{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
        "hint": hint,
    }


def error_object(error: OpenMindError) -> Object:
    """The error object: what happened, its stable name, and what a person can do next."""
    kind = type(error)
    title = (kind.__doc__ or error.code).strip().splitlines()[0].rstrip(".")
    return problem(error.message, code=error.code, title=title, status=status_of(kind), hint=error.hint)
