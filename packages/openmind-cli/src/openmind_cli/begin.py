"""Begins to index after a choice was made: in the background where that works, else here."""

from attrs import frozen
from openmind import open_memory
from openmind.domain.errors import IndexingBusy, JobError
from openmind.domain.jobs import IndexJob, IndexReport

from openmind_cli.render.lines import note
from openmind_cli.render.progress import shown_progress


@frozen(kw_only=True)
class Begun:
    """What was begun; nothing when neither is there."""

    job: IndexJob | None = None
    report: IndexReport | None = None


def begin_indexing(*, background: bool, quiet: bool = False) -> Begun:
    """Index what the sources hold, with the configuration as it is now.

    Args:
        background: whether a job is started for it.
        quiet: whether nothing is told meanwhile.
    """
    with open_memory() as memory:
        if not memory.sources.list():
            return Begun()
        if background:
            try:
                return Begun(job=memory.jobs.start())
            except IndexingBusy as error:
                note(error.message)
                return Begun()
            except JobError as error:
                note(f"{error.message}. So it is done here.")
        with shown_progress(quiet=quiet) as progress:
            return Begun(report=memory.index(progress=progress))
