"""The family of errors that OpenMind raises on purpose.

    OpenMindError
    ├── UsageError            the request makes no sense
    ├── SourceError           a folder cannot be, or is not, a source
    ├── HomeError             OpenMind's own folder cannot be used
    ├── ConfigError           config.toml is wrong
    ├── StoreError            the memory cannot be read or written
    ├── JobError              the indexing job cannot do that now
    ├── ProviderError         the model provider cannot do it
    ├── ExtractionFailed      one file could not be read (carries a `FileReason`)
    └── PluginError           a plugin is broken

None derives from `ValueError`: frameworks take that for a signal of their own.
"""

from typing import ClassVar, Self

from openmind.domain.files import FileReason
from openmind.domain.sentences import as_message


class OpenMindError(Exception):
    """Root of everything OpenMind raises on purpose.

    `code` is the stable, machine-readable name of the failure: clients and tests match on it, never on the
    message. The message is a sentence without its full stop; however it is given, it is kept in that form. `hint` is
    the next thing a person can do, in whole sentences, with commands in backquotes; it may be empty.
    """

    code: ClassVar[str] = "openmind"

    def __init__(self, message: str, *, hint: str = "") -> None:
        told = as_message(message)
        super().__init__(told)
        self.message = told
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        return (_restore, (type(self), self.message, self.hint, self.__dict__))


def _restore(kind: type[OpenMindError], message: str, hint: str, state: dict[str, object]) -> OpenMindError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    error.message, error.hint = message, hint
    return error


class UsageError(OpenMindError):
    """What was asked for makes no sense."""

    code = "usage"


class EmptyQuery(UsageError):
    """The query or question holds no text."""

    code = "usage.empty_query"


class SourceError(OpenMindError):
    """A folder cannot become a source, or the source cannot be used."""

    code = "source"


class SourceNotFound(SourceError):
    """No source has that id."""

    code = "source.not_found"


class SourceDisabled(SourceError):
    """The source is disabled: it is neither read nor searched, and its files are not shown."""

    code = "source.disabled"

    @classmethod
    def of(cls, source_id: str) -> Self:
        """Say which source it is, and how to enable it."""
        return cls(
            f"The source {source_id} is disabled: it is neither read nor searched",
            hint=f"Enable it: `openmind source set {source_id} --enable`.",
        )


class SourceMissing(SourceError):
    """The path does not exist."""

    code = "source.missing"


class SourceNotFolder(SourceError):
    """The path is not a folder."""

    code = "source.not_a_folder"


class SourceUnreadable(SourceError):
    """The folder may not be read."""

    code = "source.unreadable"


class SourceExists(SourceError):
    """The folder is a source already."""

    code = "source.exists"


class SourceOverlaps(SourceError):
    """The folder lies inside a source, or a source lies inside it."""

    code = "source.overlaps"


class SourceForbidden(SourceError):
    """The folder is one that OpenMind never reads: a file-system root, what a system makes up, or its own home."""

    code = "source.forbidden"


class NoSources(SourceError):
    """There is no source yet, so there is nothing to index."""

    code = "source.none"


class HomeError(OpenMindError):
    """OpenMind's own folder cannot be used."""

    code = "home"


class HomeMissing(HomeError):
    """There is no OpenMind home yet."""

    code = "home.missing"


class HomeForeign(HomeError):
    """The folder has content but OpenMind did not make it."""

    code = "home.foreign"


class HomeUnusable(HomeError):
    """The folder cannot be created, read or written."""

    code = "home.unusable"


class HomeNewer(HomeError):
    """A newer OpenMind wrote this home."""

    code = "home.newer"


class HomeUnsafe(HomeError):
    """The path is one that must never be an OpenMind home, or must never be deleted."""

    code = "home.unsafe"


class HomeServed(HomeError):
    """Another process serves this home already."""

    code = "home.served"


class ConfigError(OpenMindError):
    """The configuration is not valid, or names something that does not exist."""

    code = "config.invalid"


class RemoteNotAllowed(ConfigError):
    """The model server is on another machine, and nobody allowed that."""

    code = "config.remote"


class StoreError(OpenMindError):
    """The memory cannot be read or written."""

    code = "store"


class StoreBusy(StoreError):
    """Another process holds the lock."""

    code = "store.busy"


class StoreFull(StoreError):
    """There is no space left to write."""

    code = "store.full"


class StoreReadOnly(StoreError):
    """The home cannot be written to."""

    code = "store.read_only"


class MemoryClosed(StoreError):
    """The memory was closed before it was used."""

    code = "store.closed"


class StoreDamaged(StoreError):
    """Something that was made from the catalog cannot be read: it can be made again."""

    code = "store.damaged"


class CatalogDamaged(StoreError):
    """The catalog cannot be read: nothing else knows what it knew."""

    code = "store.catalog_damaged"


class ArchiveDamaged(StoreError):
    """The file is no archive that can be read."""

    code = "archive.damaged"


class MemoryNotEmpty(StoreError):
    """There is something in the memory that an import would mix with."""

    code = "store.not_empty"


class DocumentNotFound(StoreError):
    """No indexed file has that id."""

    code = "document.not_found"


class DocumentForbidden(StoreError):
    """The file may not be opened: it is outside every enabled source, or of a kind that runs."""

    code = "document.forbidden"


class NoOpener(StoreError):
    """This machine has no program that opens files."""

    code = "document.no_opener"


class JobError(OpenMindError):
    """The indexing job cannot do that."""

    code = "job"


class JobNotFound(JobError):
    """There is no such job, or none is unfinished."""

    code = "job.not_found"


class JobActive(JobError):
    """An unfinished job stands in the way."""

    code = "job.active"


class WorkersUnavailable(JobError):
    """The processes that read files cannot be started, or were ended."""

    code = "index.workers"


class IndexingBusy(JobError):
    """Another process is indexing."""

    code = "index.busy"


class ProviderError(OpenMindError):
    """The model provider refused, or answered nonsense."""

    code = "provider.failed"


class ProviderUnreachable(ProviderError):
    """No connection could be made to the provider."""

    code = "provider.unreachable"


class ProviderUnauthorized(ProviderError):
    """The provider wants a token, or another one."""

    code = "provider.unauthorized"


class ProviderBroken(ProviderError):
    """The package of the provider is broken: it raised what it must not, or gave what cannot be."""

    code = "provider.broken"


class ModelNotFound(ProviderError):
    """The provider has no such model, or it is of the wrong kind."""

    code = "provider.model_not_found"


class ModelNotLoaded(ProviderError):
    """The model is not loaded and could not be loaded."""

    code = "provider.model_not_loaded"


class ContextOverflow(ProviderError):
    """The text does not fit in the model's window."""

    code = "provider.context_overflow"


class AnswerIncomplete(ProviderError):
    """The model began to answer and did not finish."""

    code = "provider.incomplete"


class PassageRefused(ProviderError):
    """The embedder cannot take one text of a batch; `index` says which, counted from 0. The others may pass."""

    code = "provider.passage_refused"

    def __init__(self, message: str, *, index: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.index = index


class SessionNotFound(OpenMindError):
    """The conversation is unknown or has expired."""

    code = "session.not_found"


class TooBusy(OpenMindError):
    """More work of this kind is under way than is admitted at once."""

    code = "busy"


class PluginError(OpenMindError):
    """A plugin could not be loaded, or broke one of the rules of its hook."""

    code = "plugin.broken"


class ExtractionFailed(OpenMindError):
    """One file could not be turned into text; `reason` says why and is what the catalog records."""

    code = "extraction.failed"

    def __init__(self, message: str, *, reason: FileReason = FileReason.DAMAGED, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason

    @property
    def told(self) -> str:
        """What is kept with the file: what is wrong, and what can be done about just this."""
        return f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message
