"""Models move in and out of the server's memory.

That is done before anything is written down, so that Ctrl-C meanwhile leaves no trace here.
"""

from attrs import evolve, frozen
from openmind.application.setup import SetupPlan, SetupReport
from openmind.bootstrap import open_beginning
from openmind.domain.models import ModelAction

from openmind_cli.render.working import loading


@frozen(kw_only=True)
class Moved:
    """What became of the models that go, and of those that come."""

    unloaded: tuple[ModelAction, ...] = ()
    loaded: tuple[ModelAction, ...] = ()

    def noted(self, report: SetupReport) -> SetupReport:
        """Say it in the report on everything else."""
        return evolve(report, selected=evolve(report.selected, unloaded=self.unloaded, loaded=self.loaded))


NOT_MOVED = Moved()


def moved_models(plan: SetupPlan, *, quiet: bool) -> Moved:
    """Unload what is not chosen any more, and load what is.

    Raises:
        JobActive, ModelNotFound, ProviderUnreachable, ProviderError: nothing was done.
    """
    with open_beginning() as beginning:
        models = beginning.models.at(plan.provider)
        with loading(models, plan.selection.keys, quiet=quiet):
            unloaded, loaded = models.exchange(plan.selection)
    return Moved(unloaded=unloaded, loaded=loaded)
