"""The exit code of each way a command can end."""

from collections.abc import Mapping

from openmind.domain import errors
from openmind.domain.errors import OpenMindError

OK = 0
FAILED = 1
"""Done in part, refused, or the model provider failed."""
USAGE = 2
INTERRUPTED = 130

EXIT_CODES: Mapping[type[OpenMindError], int] = {
    errors.UsageError: USAGE,
    errors.SourceError: FAILED,
    errors.HomeError: FAILED,
    errors.ConfigError: FAILED,
    errors.StoreError: FAILED,
    errors.JobError: FAILED,
    errors.ProviderError: FAILED,
    errors.SessionNotFound: FAILED,
    errors.TooBusy: FAILED,
    errors.PluginError: FAILED,
    errors.ExtractionFailed: FAILED,
}
"""The exit code of each family of errors; the nearest ancestor counts."""


def exit_code_of(error: type[OpenMindError]) -> int:
    """The exit code of an error."""
    return next((EXIT_CODES[kind] for kind in error.__mro__ if kind in EXIT_CODES), FAILED)
