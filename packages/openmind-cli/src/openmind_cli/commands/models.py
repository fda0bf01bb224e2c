"""`openmind models`: what the provider offers, and which of it is used."""

from collections.abc import Iterable

from cyclopts import App
from openmind import open_memory
from openmind.application.models.service import ModelService
from openmind.application.setup import SetupPlan, set_up
from openmind.bootstrap import open_beginning
from openmind.domain.contract import actions_object, job_object, models_object, selection_object
from openmind.domain.models import ModelAction

from openmind_cli.begin import Begun, begin_indexing
from openmind_cli.choosing import Choosing
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.moving import NOT_MOVED, moved_models
from openmind_cli.parameters import Json, Switch
from openmind_cli.prompts import Prompter, find_prompter
from openmind_cli.render.lines import Span, line, note, print_lines
from openmind_cli.render.models import action_lines, print_models, report_lines, selection_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.reports import is_partial, print_report
from openmind_cli.render.working import loading
from openmind_cli.suggestions import BUILTIN, advice_for_none
from openmind_cli.wishes import NOTHING_GIVEN, Wishes

NEXT_RUN = "The next `openmind index` goes through your files with the new model."

app = App(name="models", help="Show, load and choose models.")


@app.command(name="list")
def list_models(*, json: Json = False) -> int:
    """List the models that can be chosen, and what they are used for."""
    with open_memory(create=False) as memory:
        models, selection, provider = memory.models.list(), memory.models.selection, memory.models.provider_name
    if json:
        chosen = {
            "chat_model": selection.chat_model,
            "embedding_model": selection.embedding_model,
            "image_model": selection.image_model,
        }
        print_object({**models_object(provider, models), "selected": chosen})
        return OK
    print_models(models, selection)
    if provider != BUILTIN:
        for told in advice_for_none(models):
            note(told)
    return OK


@app.command
def load(*key: str, json: Json = False) -> int:
    """Load models into the provider's memory; without a key the ones that are used.

    Parameters
    ----------
    key
        Keys of models, as `openmind models list` shows them.
    """
    with (
        open_memory(create=False) as memory,
        loading(memory.models, key or memory.models.selection.keys, quiet=json),
    ):
        actions = memory.models.load(key or None)
        by_itself = _loads_by_itself(memory.models, actions)
    if json:
        print_object({"results": actions_object(actions)})
    elif all(action.model == BUILTIN for action in actions):
        print_lines(
            [line("Nothing is to be loaded: no model of a server is chosen. `openmind models update` chooses.")]
        )
    else:
        done = "This server loads models by itself, when they are asked." if by_itself else "Loaded."
        print_lines([line(done), *action_lines(actions)] if _all_well(actions) else action_lines(actions))
    return OK if _all_well(actions) else FAILED


@app.command
def update(
    wishes: Wishes = NOTHING_GIVEN,
    *,
    load: bool = True,
    index: bool = True,
    yes: Switch = False,
    json: Json = False,
) -> int:
    """Choose the provider and its models anew.

    Models that were used before and are not chosen any more are unloaded, the
    chosen ones loaded; others that are loaded there are left alone. Another
    embedding model is taken in beside the former one, which answers searches
    until that is done. Ctrl-C at any question leaves everything as it was.

    Parameters
    ----------
    load
        Load and unload models; otherwise only the configuration is written.
    index
        Offer to begin with what another embedding or image model has to do.
    yes
        Ask nothing: take what OpenMind suggests for everything that is not given.
    """
    prompter = find_prompter(wishes.missing, yes=yes, quiet=json)
    plan = _planned(wishes, prompter)
    moved = moved_models(plan, quiet=json) if load else NOT_MOVED
    with open_memory() as memory:
        former = memory.models.selection.image_model
        report = moved.noted(set_up(memory, plan, load=False))
        has_sources = bool(memory.sources.list())
    if not json:
        shown = selection_lines(plan.provider.name, plan.selection, images=plan.images)
        print_lines([line(Span("The models are chosen.", "bold")), *shown, *report_lines(report.selected)])
    due = has_sources and (report.selected.embedder_changed or plan.selection.image_model not in (None, former))
    begun = _begun(prompter, yes=yes, quiet=json) if due and index else Begun()
    if json:
        job = job_object(begun.job) if begun.job is not None else None
        print_object({**selection_object(report.selected), "index_job": job})
    else:
        _tell_index(begun, due=due)
    return FAILED if report.not_loaded or (begun.report is not None and is_partial(begun.report)) else OK


def _planned(wishes: Wishes, prompter: Prompter | None) -> SetupPlan:
    with open_beginning() as beginning:
        beginning.require_idle()
        try:
            return Choosing(beginning=beginning, wishes=wishes, prompter=prompter).plan(folders=False)
        except KeyboardInterrupt:
            note("Nothing was changed.")
            raise


def _begun(prompter: Prompter | None, *, yes: bool, quiet: bool) -> Begun:
    """Begin with what the choice brings, if that is wanted."""
    if prompter is not None:
        try:
            wanted = prompter.confirm(
                "Your files have to be gone through with the new model. Begin now, in the background?"
            )
        except KeyboardInterrupt:
            note(f"The models are chosen, and stay so. {NEXT_RUN}")
            raise
        if not wanted:
            return Begun()
    elif not yes:
        return Begun()
    return begin_indexing(background=True, quiet=quiet)


def _tell_index(begun: Begun, *, due: bool) -> None:
    if begun.report is not None:
        print_report(begun.report)
    elif begun.job is not None:
        print_lines([line("Your files are gone through in the background. How far that is: `openmind index status`")])
    elif due:
        print_lines([line(NEXT_RUN)])


def _loads_by_itself(models: ModelService, actions: Iterable[ModelAction]) -> bool:
    """Whether the server takes models in when they are asked, and not before."""
    wanted = {action.model for action in actions if not action.failed} - {BUILTIN}
    return bool(wanted) and any(not model.loaded for model in models.list() if model.key in wanted)


def _all_well(actions: Iterable[ModelAction]) -> bool:
    return not any(action.failed for action in actions)
