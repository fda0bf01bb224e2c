"""`openmind dev`: for people who look into OpenMind itself."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number
from openmind.adapters.home import Home

from openmind_cli.exit_codes import OK
from openmind_cli.following import Followed, follow, last_lines, stream_lm_studio
from openmind_cli.parameters import Switch
from openmind_cli.render.lines import note

app = App(name="dev", help="Look into OpenMind itself.")
Which = Literal["openmind", "index", "all"]


@app.command
def logs(
    *,
    follow_log: Annotated[bool, Parameter(name="--follow", negative="--no-follow")] = True,
    lines: Annotated[int, Parameter(validator=Number(gte=0, lte=100_000))] = 40,
    log: Which = "openmind",
    lm_studio: Switch = False,
) -> int:
    """Show what happened, and what happens, until Ctrl-C.

    Logs hold numbers, ids and states; never text of a document, a query or a token.

    Parameters
    ----------
    follow_log
        Go on showing what is added.
    lines
        How many lines of each log are shown first.
    log
        Which: openmind (events), index (the output of the newest background job) or all.
    lm_studio
        Show what LM Studio is asked instead, by its own program `lms`.
    """
    if lm_studio:
        return stream_lm_studio()
    home = Home.at(None)
    home.require()
    chosen = _chosen(home.logs, log)
    if not chosen:
        note("There is no such log yet.")
    logs_to_show = [Followed(path, name=path.name if len(chosen) > 1 else "") for path in chosen]
    for each in logs_to_show:
        last_lines(each, lines)
    if follow_log:
        follow(logs_to_show)
    return OK


def _chosen(folder: Path, which: Which) -> list[Path]:
    """The logs that are asked for; the log of events even where there is none yet, so that it can be waited for."""
    events = [folder / "openmind.log"]
    jobs = sorted(folder.glob("index-*.log"), key=lambda path: path.stat().st_mtime)[-1:]
    server = [path for path in (folder / "api.jsonl",) if path.exists()]
    return {"openmind": events, "index": jobs, "all": [*events, *jobs, *server]}[which]
