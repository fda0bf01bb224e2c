"""Set-up: from nothing to a memory that knows its models and its folders."""

from pathlib import Path

from attrs import frozen

from openmind.application.memory import OpenMind
from openmind.application.models.service import ModelService, require_idle
from openmind.application.sources import resolve_folder
from openmind.domain.config import Config
from openmind.domain.errors import SourceError, SourceExists
from openmind.domain.models import ModelSelection, ProviderChoice, SelectionReport
from openmind.domain.sources import Source


@frozen(kw_only=True)
class Beginning:
    """What can be looked at before there is a memory. Nothing is made or written."""

    home: Path
    config: Config
    """Of the memory, or the defaults while there is none."""
    models: ModelService
    sources: tuple[Source, ...]
    busy: bool
    """Whether files are being indexed."""

    def require_idle(self) -> None:
        """Refuse to ask for what could not be changed now.

        Raises:
            JobActive
        """
        require_idle(self.busy)

    def folder(self, path: str) -> Path:
        """The folder that a path names, if it can be read.

        Raises:
            SourceMissing, SourceNotFolder, SourceUnreadable, SourceForbidden
        """
        return resolve_folder(path, home=self.home)


@frozen(kw_only=True)
class SetupPlan:
    """What a person chose; nothing of it is done yet."""

    provider: ProviderChoice
    selection: ModelSelection
    images: bool | None = None
    """Whether pictures are indexed at all; None leaves that as it is."""
    folders: tuple[Path, ...] = ()


@frozen(kw_only=True)
class SetupReport:
    """What became of a plan."""

    selected: SelectionReport
    added: tuple[Source, ...] = ()
    already: tuple[Path, ...] = ()
    """Folders that were sources before."""
    refused: tuple[str, ...] = ()
    """A sentence for each folder that could not be added."""

    @property
    def not_loaded(self) -> tuple[str, ...]:
        """Chosen models that could not be loaded."""
        return tuple(action.model for action in self.selected.loaded if action.failed)


def set_up(memory: OpenMind, plan: SetupPlan, *, load: bool = True) -> SetupReport:
    """Write the choice down, load its models, and approve its folders. The memory must be opened again to use them.

    Args:
        memory: any, with whatever configuration.
        plan: what is to be done.
        load: whether the provider's memory is changed: models that are not chosen any more leave it, others come.

    Raises:
        JobActive: files are being indexed.
        ModelNotFound: there is no such model, or it cannot do what it is chosen for.
        ProviderUnreachable, ProviderError: the models could not be looked up.
        ConfigError: the configuration cannot be written.
    """
    selected = memory.models.at(plan.provider).select(plan.selection, load=load, images=plan.images)
    added: list[Source] = []
    already: list[Path] = []
    refused: list[str] = []
    for folder in plan.folders:
        try:
            added.append(memory.sources.add(folder))
        except SourceExists:
            already.append(folder)
        except SourceError as error:
            refused.append(error.message)
    return SetupReport(selected=selected, added=tuple(added), already=tuple(already), refused=tuple(refused))
