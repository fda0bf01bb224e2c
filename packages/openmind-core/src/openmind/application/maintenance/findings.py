"""What is wrong, in sentences: made from what was looked at."""

from collections.abc import Callable, Iterator
from datetime import datetime

from openmind.application.maintenance.store_comparison import StoreComparison
from openmind.domain.checkup import Finding
from openmind.domain.errors import ConfigError, OpenMindError, ProviderUnreachable
from openmind.domain.jobs import IndexJob, IndexRun
from openmind.domain.models import ProviderHealth
from openmind.domain.plugins import PluginReports
from openmind.domain.upkeep import HomeCondition
from openmind.ports.storage import StorageHealth

LOW_DISK_BYTES = 500_000_000
LOW_DISK_SHARE = 0.5
"""Of the memory's own size: a change of the embedding model needs room for a second table."""
SHOWN = 5


def of_home(condition: HomeCondition, *, idle: bool) -> Iterator[Finding]:
    """What is wrong with the home; temporary folders only count while nobody indexes."""
    if condition.blocked:
        yield Finding(
            code="home.blocked",
            message=f"Something else stands where OpenMind's own belongs: {_some(condition.blocked)}",
            hint="Move that away; then run `openmind doctor` again.",
        )
    if condition.open_to_others:
        yield Finding(
            code="home.open",
            message=f"Others may look into {_some(condition.open_to_others)}",
            repair="takes that right away",
        )
    if condition.leftovers and idle:
        yield Finding(
            code="home.leftovers",
            message=f"{len(condition.leftovers)} temporary folders of processes that are gone are left",
            repair="deletes them",
        )
    needed = max(LOW_DISK_BYTES, int(condition.contents.size_bytes * LOW_DISK_SHARE))
    if condition.free_bytes < needed:
        yield Finding(
            code="disk.low",
            message=f"Only {condition.free_bytes / 1e6:,.1f} MB are free on the disk of the home",
            hint="Free some space before the next index run.",
        )


def of_writing(unwritable: str) -> Iterator[Finding]:
    """That nothing can be written, and why; nothing when something can."""
    if unwritable:
        yield Finding(
            code="home.read_only",
            message=f"{unwritable}: what is remembered can be found, and nothing new can be read",
            hint="Make the home writable, then run `openmind index`.",
        )


def of_catalog(health: StorageHealth) -> Iterator[Finding]:
    """What is wrong with the catalog, and what is left of damage to the passages."""
    for sentence in health.damage[:SHOWN]:
        yield Finding(
            code="catalog.damaged",
            message=sentence,
            hint="Restore the home from a backup, or begin anew: move openmind.sqlite and lancedb away, then "
            "run `openmind source add FOLDER`.",
        )
    if health.quarantined:
        yield Finding(
            code="table.quarantined",
            message=f"Passages that could not be read were moved aside: {_some(health.quarantined)}",
            repair="deletes them; what they held was made again",
        )


def of_stores(compared: StoreComparison, *, blocked: bool) -> Iterator[Finding]:
    """Where the stores differ; nothing can be made again while something stands where the passages belong."""
    for found in compared.tables:
        name = found.table.name
        if found.unreadable:
            yield Finding(
                code="table.unreadable",
                message=found.unreadable,
                repair="" if blocked else "makes it again from the kept text",
                hint="`openmind doctor --repair` makes it again once the way is free." if blocked else "",
            )
        if found.lost_files:
            yield Finding(
                code="table.lost",
                message=f"Passages of {found.lost_files:,} files are missing or doubled in the table {name}",
                repair="makes them again from the kept text",
            )
        if found.orphans:
            yield Finding(
                code="table.orphans",
                message=f"The table {name} holds {found.orphans:,} versions of files that nobody knows",
                repair="deletes them",
            )
    if compared.unknown_tables:
        yield Finding(
            code="table.unknown",
            message=f"The catalog does not know the tables {_some(compared.unknown_tables)}",
            repair="deletes them",
        )
    if compared.begun:
        yield Finding(
            code="generations.begun",
            message=f"{compared.begun:,} versions of files were begun and never finished",
            repair="gives them up",
        )
    if compared.unpublished:
        yield Finding(
            code="files.unpublished",
            message=f"{compared.unpublished:,} files have no passages although they were read",
            repair="makes them again from the kept text",
            hint="Where no text is kept, the next `openmind index` reads the file again.",
        )


def of_jobs(job: IndexJob | None, run: IndexRun | None, now: datetime, *, words: str = "") -> Iterator[Finding]:
    """What is wrong with the background job, of which its log says these words, and with the run that goes on."""
    told = f". Its log says: {words}" if words else ""
    if job is not None and job.is_stuck(now):
        yield Finding(
            code="job.stuck",
            message=f"The background job {job.id}{_worker(job)} has given no sign of life for more than a minute{told}",
            hint="`openmind index stop --force` ends it; its log in the folder logs says where it hangs.",
        )
    elif run is not None and (still_s := run.still_s(now)):
        yield Finding(
            code="job.still",
            message=f"The indexing that goes on has finished nothing for {still_s / 60:,.0f} minutes{told}",
            hint="A large file or a slow model may take that long; else "
            + ("`openmind index stop`, then `openmind index start`." if run.job_id else "end it with Ctrl-C."),
        )


def _worker(job: IndexJob) -> str:
    return f" (process {job.process.pid})" if job.process else ""


def of_plugins(plugins: PluginReports) -> Iterator[Finding]:
    """What is wrong with the installed plugins."""
    for report in plugins.broken:
        yield Finding(
            code="plugin.broken",
            message=f"The plugin {report.name} of the package {report.distribution} is broken: {report.error}",
            hint="Update that package or uninstall it.",
        )


def of_config(trouble: ConfigError) -> Finding:
    """That the settings cannot be used."""
    return Finding(code="config.invalid", message=trouble.message, hint=trouble.hint)


def of_ocr(check: Callable[[], object]) -> Iterator[Finding]:
    """Whether the configured OCR engine is one that there is."""
    try:
        check()
    except OpenMindError as error:
        yield Finding(code="ocr.unknown", message=error.message, hint=error.hint)


def of_provider(ask: Callable[[], ProviderHealth]) -> Iterator[Finding]:
    """Whether the configured provider answers."""
    try:
        health = ask()
    except OpenMindError as error:
        yield Finding(code="provider.unreachable", message=error.message, hint=error.hint)
        return
    if not health.reachable:
        yield Finding(
            code="provider.unreachable",
            message=health.message,
            # Only where nothing answers is there something to be started; else the message says what to do.
            hint="Start it, or choose another: `openmind models update`."
            if health.error is None or isinstance(health.error, ProviderUnreachable)
            else "",
        )


def _some(names: tuple[str, ...]) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
