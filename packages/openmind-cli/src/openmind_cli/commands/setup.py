"""`openmind setup`."""

from openmind import open_memory
from openmind.application.setup import SetupPlan, SetupReport, set_up
from openmind.bootstrap import open_beginning
from openmind.domain.contract import index_object, job_object, selection_object, source_object

from openmind_cli.begin import Begun, begin_indexing
from openmind_cli.choosing import Choosing
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.moving import moved_models
from openmind_cli.parameters import Json, Several, Switch
from openmind_cli.prompts import Prompter, find_prompter
from openmind_cli.render.banner import print_banner
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import BLANK, Line, Span, line, note, print_lines
from openmind_cli.render.models import pair, report_lines, selection_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.reports import is_partial, print_report
from openmind_cli.wishes import NOTHING_GIVEN, Wishes


def setup(
    wishes: Wishes = NOTHING_GIVEN,
    *,
    folder: Several = (),
    index: bool = True,
    yes: Switch = False,
    json: Json = False,
) -> int:
    """Choose models and folders, and begin to read.

    What is not given as an option is asked for. Nothing is changed before the
    last question is answered; Ctrl-C at any question leaves everything as it
    was. It can be run again at any time.

    Parameters
    ----------
    folder
        A folder to read; may be given several times.
    index
        Begin to read at the end, as `[indexing]` in the configuration says.
    yes
        Ask nothing: take what OpenMind suggests for everything that is not given.
    """
    prompter = find_prompter(wishes.missing, yes=yes, quiet=json)
    plan = _planned(wishes, prompter, folder)
    if plan is None:
        return FAILED
    moved = moved_models(plan, quiet=json)
    with open_memory() as memory:
        report = moved.noted(set_up(memory, plan, load=False))
        config = memory.config.indexing
    wanted = index and config.auto_start_after_setup and plan.selection.embedding_model not in report.not_loaded
    begun = begin_indexing(background=config.background, quiet=json) if wanted else Begun()
    if json:
        print_object(_object(report, begun))
    else:
        _tell(plan, report, begun, shown=prompter is not None)
    unwell = report.not_loaded or report.refused or (begun.report is not None and is_partial(begun.report))
    return FAILED if unwell else OK


def _planned(wishes: Wishes, prompter: Prompter | None, folders: tuple[str, ...]) -> SetupPlan | None:
    """What the person wants; None when they decided against it."""
    with open_beginning() as beginning:
        beginning.require_idle()
        if prompter is not None:
            print_banner()
        choosing = Choosing(beginning=beginning, wishes=wishes, prompter=prompter, given_folders=folders)
        try:
            plan = choosing.plan(folders=True)
            if prompter is None:
                return plan
            nothing = [] if plan.folders or beginning.sources else [pair("read", "no folder yet")]
            print_lines([BLANK, *_plan_lines(plan), *nothing, BLANK])
            if prompter.confirm("Set up OpenMind like this?"):
                return plan
        except KeyboardInterrupt:
            note("Nothing was changed.")
            raise
    note("Nothing was changed.")
    return None


def _plan_lines(plan: SetupPlan) -> list[Line]:
    shown = [*selection_lines(plan.provider.name, plan.selection, images=plan.images)]
    return [*shown, *(pair("read", str(path)) for path in plan.folders)]


def _tell(plan: SetupPlan, report: SetupReport, begun: Begun, *, shown: bool) -> None:
    """Say what was done; the plan only to whoever has not said yes to it."""
    done = [line(Span("OpenMind is set up.", "bold")), *([] if shown else _plan_lines(plan))]
    print_lines([*done, *report_lines(report.selected)])
    for sentence in report.refused:
        note(f"{one_line(sentence)}.")
    if begun.report is not None:
        print_report(begun.report)
        print_lines([line("Ask about your files: `openmind ask`")])
    elif begun.job is not None:
        print_lines(
            [
                line("Your files are being read in the background."),
                line("How far that is: `openmind index status`"),
                line("Ask about them meanwhile: `openmind ask`"),
            ]
        )
    elif not (report.added or report.already):
        print_lines([line("Name a folder to read: `openmind source add FOLDER`, then `openmind index`", wraps=True)])
    else:
        print_lines([line("Read your files: `openmind index start`"), line("How far that is: `openmind index status`")])


def _object(report: SetupReport, begun: Begun) -> dict[str, object]:
    return {
        **selection_object(report.selected),
        "sources_added": [source_object(source) for source in report.added],
        "sources_refused": list(report.refused),
        "index_job": job_object(begun.job) if begun.job is not None else None,
        "index": index_object(begun.report) if begun.report is not None else None,
    }
