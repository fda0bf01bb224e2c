"""`openmind index`: makes memory of files."""

import attrs
from cyclopts import App
from openmind import open_memory
from openmind.domain.contract import index_object
from openmind.domain.jobs import JobState

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.interrupting import stopped_by_ctrl_c
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.lines import note
from openmind_cli.render.objects import print_object
from openmind_cli.render.progress import shown_progress
from openmind_cli.render.reports import is_partial, print_report
from openmind_cli.sources import disabled_notice

app = App(name="index")
JOBS = (
    ("start", "Index in the background."),
    ("status", "Show how far the background job is."),
    ("pause", "Let the background job rest."),
    ("resume", "Let a paused job go on."),
    ("stop", "End the background job."),
    ("history", "Show what earlier runs did."),
    ("worker", "Carry out a background job in this process."),
)
for name, line in JOBS:
    app.command(f"openmind_cli.commands.jobs:{name}", name=name, help=line)


@app.default
def index(*, accept_deletions: Switch = False, retry: Switch = False, json: Json = False) -> int:
    """Read what is new or changed in the sources.

    Files that have not changed are not read again. Ctrl-C keeps what was finished; the next run goes on from there.
    Exit code 1 means that something failed or waits for you; the summary says what.

    Parameters
    ----------
    accept_deletions
        Forget files that are gone or left out now, also where so many are gone at once that OpenMind would rather ask.
    retry
        Try again what was given up: passages that the embedding model refused, files that took too long to read or
        whose reader crashed. For when something changed that OpenMind cannot see, as in the model server.
    """
    with stopped_by_ctrl_c() as control, open_memory() as memory:
        with shown_progress(quiet=json) as progress:
            report = memory.index(progress=progress, control=control, accept_deletions=accept_deletions, retry=retry)
        trouble = memory.trouble()
        if any(trouble in notice for notice in report.notices):
            trouble = ""  # the first file that needed the engine has told it
        left_out = [disabled_notice(source) for source in memory.sources.list() if not source.enabled]
    if json:
        print_object(index_object(attrs.evolve(report, notices=(*report.notices, trouble)) if trouble else report))
    else:
        print_report(report)
        for notice in filter(None, (trouble, *left_out)):
            note(notice)
    if report.run.state is JobState.STOPPED:
        return control.exit_code
    return FAILED if trouble or is_partial(report) else OK
