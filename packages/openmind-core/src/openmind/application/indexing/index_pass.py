"""One pass over the sources, step by step: what a run does between its begin and its end."""

from collections import Counter
from contextlib import suppress
from functools import partial

import attrs
from attrs import Factory, define, field

from openmind.application.indexing.attention import Attention
from openmind.application.indexing.discovery import Discovery, SourceScan, note_device
from openmind.application.indexing.embedding import Embedding
from openmind.application.indexing.forgetting import Forgetting
from openmind.application.indexing.intake import Intake
from openmind.application.indexing.means import IndexMeans
from openmind.application.indexing.plan import Plan
from openmind.application.indexing.provider_trouble import ProviderTrouble
from openmind.application.indexing.run_log import RunLog
from openmind.application.indexing.tables import LAYOUT, Target, Targets
from openmind.application.indexing.vectors_later import VectorsLater
from openmind.application.recovering.rebuilding import Rebuild
from openmind.application.recovering.recovery import Recovery
from openmind.application.recovering.sweeping import Sweeping, drop_unneeded
from openmind.domain.analysis import ANALYSER_VERSION
from openmind.domain.chunking import CHUNKING_VERSION
from openmind.domain.errors import OpenMindError, ProviderError
from openmind.domain.ids import SourceId
from openmind.domain.index import TableState
from openmind.domain.jobs import JobState
from openmind.domain.sources import Source
from openmind.ports.storage import Storage


@define(kw_only=True)
class IndexPass:
    """The work of one run, while it is under way. Needs the index lock; serves one thread."""

    means: IndexMeans
    log: RunLog
    attention: Attention
    accept: bool
    """Whether files that vanished in numbers may be forgotten."""
    retry: bool
    """Whether what was given up in an earlier run is tried again."""
    _scans: dict[SourceId, SourceScan] = field(factory=dict, init=False)
    _trouble: ProviderTrouble = field(
        default=Factory(lambda self: ProviderTrouble(self.log), takes_self=True), init=False
    )
    _plan: Plan = field(
        default=Factory(lambda self: Plan(self.means.storage.catalog, self.log.run.id), takes_self=True), init=False
    )

    _embedding: Embedding = field(
        default=Factory(
            lambda self: Embedding(
                catalog=self.means.storage.catalog,
                enough=self.attention.is_wanted_elsewhere,
                slow=self.log.mend,
                whom=lambda provider: self.means.choice().embedders.whom(provider),
            ),
            takes_self=True,
        ),
        init=False,
    )
    """One for the whole pass: what an embedder refused is not tried again."""

    @property
    def _storage(self) -> Storage:
        return self.means.storage

    @property
    def _recovery(self) -> Recovery:
        return Recovery(catalog=self._storage.catalog, chunks=self._storage.chunks)

    @property
    def _sweeping(self) -> Sweeping:
        return Sweeping(catalog=self._storage.catalog, chunks=self._storage.chunks)

    @property
    def needs_person(self) -> bool:
        """Whether a provider cannot do what it could not do, before a person does something."""
        return self._trouble.needs_person

    def carry_out(self) -> str:
        """Do everything; returns what a provider could not do.

        Raises:
            Stopped: it was asked to stop; what was committed before stays.
        """
        self.log.beat(force=True)
        for sentence in self._recovery.recover():
            self.log.mend(sentence)
        swept = self._sweeping.sweep()
        self._bring_back()
        self._discover()
        added = 0
        if self._work_waits():
            targets = self._targets()
            added = self._take_in(targets)
            self._embed_later(targets)
            self._note_layout(targets)
        self._forget()
        self._tidy(added, swept)
        return self._trouble.first

    def give_up(self) -> None:
        """Leave nothing behind that the next run would have to be told about."""
        with suppress(OpenMindError):
            self._plan.drop()

    def leave_in_order(self) -> None:
        """End after everything open was committed: the next run need not compare the stores."""
        self.give_up()
        sweeping = self._sweeping
        sweeping.clean(wrote=bool(sweeping.sweep()))
        sweeping.erase()
        sweeping.seal()

    def _bring_back(self) -> None:
        """Make lost passages again from the kept text: that needs no file, and so no source that is at hand."""
        with self._storage.catalog.reading() as snapshot:
            if not snapshot.files_without_passages(after=None, limit=1):
                return
        rebuild = Rebuild(
            storage=self._storage,
            preparer=self.means.preparer,
            now=self.means.now,
            while_waiting=self.attention.heed,
            enough=self.attention.is_wanted_elsewhere,
            beside=self.attention.beside,
            embedded=lambda count: self.log.count(embedded=count),
            lost_provider=self._trouble.lost_embedder,
        )
        rebuild.carry_out(self._targets())

    def _discover(self) -> None:
        with self._storage.catalog.writing() as session:
            session.drop_plan()
        with self._storage.catalog.reading() as snapshot:
            sources = snapshot.sources(enabled_only=True)
        discovery = Discovery(
            catalog=self._storage.catalog,
            tree=self.means.tree,
            formats=self.means.formats,
            layout=LAYOUT,
            max_bytes=self.means.max_file_bytes,
            retry=self.retry,
        )
        unchanged: Counter[str] = Counter()
        for source in sources:
            scan = discovery.scan(source, self.log.run.id, tick=self._tick)
            self._scans[source.id] = scan
            for sentence in scan.notices:
                self.log.notice(sentence)
            self.log.count(total=scan.unchanged.total() + scan.planned)
            unchanged += scan.unchanged
            self.log.unread.update(scan.unread)
            self._remember_device(source, scan)
        self.log.count(**unchanged)  # not before: of a part of the files they would be nearly all
        self.log.state(JobState.RUNNING)

    def _tick(self, scan: SourceScan) -> None:
        self.log.at(scan.source.path)
        self.attention.heed()

    def _remember_device(self, source: Source, scan: SourceScan) -> None:
        # Numbers of devices change with a reboot; with every file in its place it is the same disk.
        settled = scan.present and scan.found and scan.device is not None
        if settled and source.device != scan.device and (source.device is None or not scan.gone):
            note_device(self._storage.catalog, scan)

    def _work_waits(self) -> bool:
        """Whether anything has to be read, embedded or moved to another table."""
        if any(scan.planned for scan in self._scans.values()):
            return True
        with self._storage.catalog.reading() as snapshot:
            live = snapshot.live_table()
            missing = snapshot.counts().missing_vectors
            filling = any(table.state is TableState.FILLING for table in snapshot.tables())
        if live is None:
            return False
        embedders = self.means.choice().embedders
        if missing or filling or not embedders.is_chosen(live.identity.embedder):
            return True
        try:
            chosen = self.attention.patiently(
                lambda: embedders.chosen().identity, whom=embedders.whom(embedders.chosen_provider)
            )
        except ProviderError:
            return False  # with nothing to embed it is not missed
        return chosen != live.identity.embedder  # it came in another version

    def _targets(self) -> Targets:
        choice = self.means.choice()
        whom = choice.embedders.whom(choice.embedders.chosen_provider)
        outlook = self.attention.patiently(choice.outlook, whom=whom)
        targets = choice.targets(outlook)
        for sentence in targets.notices:
            self._trouble.chosen_otherwise(sentence, outlook.failed)
        return targets

    def _take_in(self, targets: Targets) -> int:
        intake = Intake(
            means=self.means,
            targets=targets,
            plan=self._plan,
            scans=self._scans.values(),
            log=self.log,
            attention=self.attention,
            embedding=self._embedding,
            sweeping=self._sweeping,
            trouble=self._trouble,
            retry=self.retry,
        )
        return intake.take_in()

    def _embed_later(self, targets: Targets) -> None:
        """Make the vectors of what is stored already."""
        later = VectorsLater(
            catalog=self._storage.catalog,
            chunks=self._storage.chunks,
            embedding=self._embedding,
            log=self.log,
            heed=self.attention.heed_and_beat,
            beside=self.attention.beside,
            left_out=self._trouble.refused_passages,
            retry=self.retry,
        )
        if targets.filling is not None:
            error = later.fill(targets.live, targets.filling)
            self._let_go(targets.live)
        else:
            error = later.complete(targets.live)
        if error is not None:
            self._trouble.lost_embedder(error)

    def _let_go(self, former: Target) -> None:
        """Once another table has taken over, unload what made the vectors of the former one."""
        with self._storage.catalog.reading() as snapshot:
            live = snapshot.live_table()
        if live is not None and live.id != former.table.id:
            made_by = former.table.identity.embedder
            told = self.attention.patiently(
                lambda: self.means.let_go(made_by), whom=self.means.choice().embedders.whom(made_by.provider)
            )
            if told:
                self.log.mend(told)  # nothing is undone: it takes room until the server needs that

    def _note_layout(self, targets: Targets) -> None:
        """Note that the live table is made as it would be made today: no file is left as it was before."""
        live = targets.live.table
        today = attrs.evolve(live.identity, chunking=CHUNKING_VERSION, analyser=ANALYSER_VERSION)
        if live.identity != today:
            with self._storage.catalog.writing() as session:
                session.set_identity(live.id, today)

    def _forget(self) -> None:
        forgetting = Forgetting(
            catalog=self._storage.catalog,
            tree=self.means.tree,
            formats=self.means.formats,
            plan=self._plan,
            log=self.log,
            attention=self.attention,
            accept=self.accept,
        )
        for scan in self._scans.values():
            forgetting.forget_gone(scan)

    def _tidy(self, added: int, swept: int) -> None:
        sweeping = self._sweeping
        swept += sweeping.sweep()
        self._recovery.drop_dead()
        if added:
            with self._storage.catalog.reading() as snapshot:
                tables = snapshot.tables()
            for table in tables:
                self.attention.beside(partial(self._storage.chunks.merge, table.name))
                self.attention.keep_pause()
        sweeping.clean(wrote=bool(added or swept))
        with self._storage.catalog.writing() as session:
            session.drop_plan(self.log.run.id)
            drop_unneeded(session)
        if added or swept:
            self._storage.catalog.tidy()  # the plan of a first run takes as much room as what is known of its files
        sweeping.erase()  # a source that was removed meanwhile is to leave no trace, and no later run may ever come
        sweeping.seal()
