"""Upkeep: what is in OpenMind's own folder, and what flushing or uninstalling would take away."""

from attrs import field, frozen

from openmind.domain.jobs import IndexJob


@frozen(kw_only=True)
class HomeEntry:
    """A file or folder below the home."""

    path: str
    size_bytes: int
    """Of everything in it."""


@frozen(kw_only=True)
class HomeContents:
    """Everything in the home, by whose it is."""

    own: tuple[HomeEntry, ...] = ()
    """What OpenMind made: files, and folders that hold nothing else."""
    strangers: tuple[str, ...] = ()
    """Paths of what it did not make; these are never deleted."""
    links: tuple[str, ...] = ()
    """Entries of OpenMind that somebody replaced by links: the link may go, what it leads to stays."""

    @property
    def size_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.own)


@frozen(kw_only=True)
class HomeCondition:
    """What may be wrong with the home."""

    contents: HomeContents
    open_to_others: tuple[str, ...] = ()
    """Entries that others than their owner may look into."""
    leftovers: tuple[str, ...] = ()
    """Temporary folders; their processes are gone unless something is being indexed."""
    blocked: tuple[str, ...] = ()
    """What stands where a folder of OpenMind's belongs and is none, or is a folder where a lock belongs."""
    free_bytes: int = 0
    """On the disk of the home."""


@frozen(kw_only=True)
class FlushPlan:
    """What a flush would delete. The folders that are sources, and their files, are never touched."""

    home: str
    sources: int
    include_sources: bool
    """Whether the records of the sources go, too."""
    files: int
    indexed_files: int
    chunks: int
    jobs: int
    runs: int
    text_bytes: int
    disk_bytes: int
    logs: tuple[HomeEntry, ...] = ()
    active_job: IndexJob | None = None
    """A job that would be stopped first."""


@frozen(kw_only=True)
class PackagePlan:
    """How the installed packages would be removed."""

    names: tuple[str, ...]
    """Distributions, in order of name."""
    kind: str
    """What manages the environment: `uv tool`, `pipx`, `uv` or `pip`."""
    place: str
    """The environment."""
    commands: tuple[tuple[str, ...], ...]


@frozen(kw_only=True)
class UninstallPlan:
    """What uninstalling would delete."""

    home: str
    exists: bool
    contents: HomeContents = field(factory=HomeContents)
    packages: PackagePlan
    remove_packages: bool
    """Whether the packages go, too."""
    active_job: IndexJob | None = None
    """A job that would be stopped first."""
    server: str = ""
    """Where the home is served, `at http://127.0.0.1:8765`; that server has to be ended first."""
    unread: str = ""
    """Why the catalog could not be looked at; then nobody knows whether a job is under way."""
