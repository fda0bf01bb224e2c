"""What reads files and makes passages of them: here, or in worker processes."""

import os

import attrs
from attrs import frozen

from openmind.adapters.blobs import read_blob
from openmind.adapters.extraction_workers import ExtractionWorkers
from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.adapters.passage_workers import PassageWorkers
from openmind.adapters.worker_jobs import WorkerPlan
from openmind.adapters.worker_pool import WorkerPool
from openmind.application.indexing.formats import Formats
from openmind.application.indexing.preparation import InProcessPreparer, grouped
from openmind.application.indexing.preparation_wire import group_to_wire, outcomes_from_wire
from openmind.application.models.embedders import BUILTIN
from openmind.bootstrap.providers import Providers
from openmind.domain.config import Config
from openmind.domain.plugins import OURS, THIS_PROGRAM, engine_of
from openmind.plugins.registries import ExtractorEntry, ExtractorRegistry, Registered
from openmind.ports.extractor import Extractor, ExtractorInfo
from openmind.ports.isolated_reader import IsolatedReader
from openmind.ports.preparer import Preparer

WORKERS_PAY_OFF = 300
"""Fewer files are prepared sooner in this process than worker processes could start."""
MOST_WORKERS = 4
"""More gain nothing: one process commits what they prepare."""
MOST_READERS = 2
"""Each may need as much memory as OCR does."""


@frozen(kw_only=True)
class Preparation:
    """Makes extractors and workers as one configuration wants them."""

    registry: ExtractorRegistry
    config: Config
    home: Home
    providers: Providers

    def formats(self) -> Formats:
        """The formats that are installed."""
        return Formats.of(map(_contained, self.registry.entries.values()), self.config.extraction)

    def extractor(self, name: str) -> Extractor:
        """Make an extractor that runs in this process.

        Raises:
            ConfigError: it is not installed.
            PluginError: it cannot be made.
        """
        return self.registry.build(name, self.config.extraction, plugins=self.config.plugins)

    def in_process_preparer(self, *, embed: bool) -> InProcessPreparer:
        """Prepare files here."""
        embedder = self.providers.embedder(BUILTIN, BUILTIN) if embed else None
        return InProcessPreparer(extractor=self.extractor, read=read_blob, embedder=embedder)

    def preparer(self, files: int, embed: bool) -> Preparer:
        """Prepare files where it is done soonest."""
        HomeKeeper(self.home.folder).drop_leftovers()  # of a run that was killed: whoever prepares has the index lock
        workers = self.config.indexing.workers or min(os.cpu_count() or 1, MOST_WORKERS)
        if files < WORKERS_PAY_OFF or workers < 2:
            return self.in_process_preparer(embed=embed)
        here = self.in_process_preparer(embed=embed)
        setup = {"config": self._worker_config(), "embed": embed}
        plan = WorkerPlan(target="openmind.preparation_worker:prepare_files", setup=setup, folder=self.home.temporary)
        return PassageWorkers(
            pool=WorkerPool(plan=plan, size=workers - 1),  # this process is the other one
            group=grouped,
            to_wire=group_to_wire,
            from_wire=outcomes_from_wire,
            here=lambda group: list(here.prepare_group(group)),
        )

    def _worker_config(self) -> dict[str, object]:
        """The sections that a worker needs; a server's token is not among them."""
        return {"extraction": attrs.asdict(self.config.extraction), "plugins": self.config.plugins}

    def reader(self) -> IsolatedReader:
        """Read hostile files elsewhere."""
        size = min(self.config.indexing.workers or os.cpu_count() or 1, MOST_READERS)
        return ExtractionWorkers(
            self.config.extraction,
            plugins=self.config.plugins,
            strangers={
                name: entry.distribution
                for name, entry in self.registry.entries.items()
                if entry.distribution not in OURS | {THIS_PROGRAM}
            },
            strange_engine=self._strange_engine(),
            engine_plugin=self._engine_plugin(),
            folder=self.home.temporary,
            size=size,
        )

    def _strange_engine(self) -> str:
        """The configured OCR engine as a part of a sentence; empty where it is ours, or not installed."""
        engine = self.registry.ocr.entries.get(self.config.extraction.ocr.backend)
        if engine is None or engine.distribution in OURS:
            return ""
        return engine_of(engine.name, engine.distribution)

    def _engine_plugin(self) -> str:
        engine = self.registry.ocr.entries.get(self.config.extraction.ocr.backend)
        return "" if engine is None else engine.plugin


def _contained(entry: Registered[ExtractorEntry]) -> ExtractorInfo:
    """What is known of an extractor. That of another package runs isolated, whatever it says of itself.

    Only a process of its own can be ended when it hangs, and keeps to itself what it prints and takes.
    """
    info = entry.value.info
    return info if entry.distribution in OURS | {THIS_PROGRAM} else attrs.evolve(info, isolated=True)
