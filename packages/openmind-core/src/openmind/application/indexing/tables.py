"""Decides which chunk tables a run writes to."""

from collections.abc import Mapping
from contextlib import suppress

from attrs import frozen

from openmind.application.indexing.provider_trouble import AFTER_MENDING
from openmind.application.models.embedders import BUILTIN, Embedders
from openmind.domain.analysis import ANALYSER_VERSION
from openmind.domain.chunking import CHUNKING_VERSION
from openmind.domain.errors import ModelNotLoaded, ProviderBroken, ProviderError
from openmind.domain.index import IndexIdentity, IndexTable, TableState, next_name
from openmind.domain.models import EmbedderIdentity
from openmind.domain.sentences import as_sentence
from openmind.ports.catalog import Catalog
from openmind.ports.chunk_store import ChunkStore
from openmind.ports.embedding_provider import EmbeddingProvider

LAYOUT = f"{CHUNKING_VERSION}.{ANALYSER_VERSION}"
"""What `FileRecord.layout` says of passages made today."""


@frozen(kw_only=True)
class Target:
    """A table that a run writes to, and the embedder that makes its vectors."""

    table: IndexTable
    embedder: EmbeddingProvider | None
    """None while the embedder is out of reach: passages are then found by words."""

    @property
    def in_process(self) -> bool:
        """Whether vectors are made where files are prepared, which is only done with the embedder of OpenMind itself.

        Another package's is asked as a server is, whether or not it runs in this process: it may hang or break.
        """
        ours = self.table.identity.embedder.provider == BUILTIN
        return ours and self.embedder is not None and self.embedder.in_process


@frozen(kw_only=True)
class Targets:
    """Where a run writes: the live table, and one that is being filled beside it."""

    live: Target
    filling: Target | None = None
    notices: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Target, ...]:
        return (self.live,) if self.filling is None else (self.live, self.filling)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(target.table.id for target in self.all)


@frozen(kw_only=True)
class Outlook:
    """What there is, and what the embedders said: all that is needed to choose, without asking a server again."""

    tables: tuple[IndexTable, ...]
    wanted: EmbedderIdentity | None
    """The chosen embedder; None when it does not tell who it is."""
    within_reach: Mapping[str, EmbeddingProvider]
    """By key of the identity."""
    notice: str = ""
    failed: ProviderError | None = None
    """Why the chosen embedder does not tell who it is."""

    @property
    def live(self) -> IndexTable | None:
        return next((table for table in self.tables if table.state is TableState.LIVE), None)

    def target(self, table: IndexTable) -> Target:
        """A table with the embedder that makes its vectors."""
        return Target(table=table, embedder=self.within_reach.get(table.identity.embedder.key))


@frozen(kw_only=True)
class TableChoice:
    """Compares the index there is with the embedder that is wanted."""

    catalog: Catalog
    chunks: ChunkStore
    embedders: Embedders

    def outlook(self) -> Outlook:
        """Look at the tables and ask the embedders who they are. May hang as long as a server does; writes nothing."""
        with self.catalog.reading() as snapshot:
            tables = snapshot.tables()
        live = next((table for table in tables if table.state is TableState.LIVE), None)
        wanted, notice, failed = self._wanted(live)
        # Where there was no room for the chosen model, none is made for the former one: they would push each other out.
        former = None if isinstance(failed, ModelNotLoaded) or live is None else live.identity.embedder
        concerned = [wanted, former]
        within_reach: dict[str, EmbeddingProvider] = {}
        for identity in filter(None, concerned):
            with suppress(ProviderError):  # of a former model; what the chosen one says is in the notice
                within_reach[identity.key] = self.embedders.matching(identity)
        return Outlook(tables=tables, wanted=wanted, within_reach=within_reach, notice=notice, failed=failed)

    def targets(self, outlook: Outlook) -> Targets:
        """Find, or make, the tables to write to. Needs the index lock, held since before the outlook."""
        tables, wanted, live = outlook.tables, outlook.wanted, outlook.live
        notices = (outlook.notice,) if outlook.notice else ()
        if live is None:
            live = self._make(next_name(tables), wanted or self.embedders.builtin().identity)
        if wanted is None:
            return Targets(live=outlook.target(live), filling=self._begun(outlook), notices=notices)
        filling = [table for table in tables if table.state is TableState.FILLING]
        keep = next((table for table in filling if table.identity.embedder == wanted), None)
        changing = live.identity.embedder != wanted
        for table in filling:
            if not changing or table is not keep:
                with self.catalog.writing() as session:
                    session.kill_table(table.id)
        if not changing:
            return Targets(live=outlook.target(live), notices=notices)
        if keep is None:
            keep = self._make(next_name((*tables, live)), wanted)
        return Targets(live=outlook.target(live), filling=outlook.target(keep), notices=notices)

    def _begun(self, outlook: Outlook) -> Target | None:
        """The table that is being filled for the chosen embedder, to be gone on with when that is back."""
        filling = [table for table in outlook.tables if table.state is TableState.FILLING]
        table = next((table for table in filling if self.embedders.is_chosen(table.identity.embedder)), None)
        return None if table is None else outlook.target(table)

    def _wanted(self, live: IndexTable | None) -> tuple[EmbedderIdentity | None, str, ProviderError | None]:
        """Ask the chosen embedder who it is; when it does not answer, say so, and go on with what there is."""
        try:
            return self.embedders.chosen().identity, "", None
        except ProviderError as error:
            is_broken = isinstance(error, ProviderBroken)
            if live is None:
                until = "Until that is mended" if is_broken else "Until it answers"
                told = f"{until}, the built-in embedder is used; the first index run after that changes over."
                return self.embedders.builtin().identity, _notice(error, told), error
            if self.embedders.is_chosen(live.identity.embedder) or isinstance(error, ModelNotLoaded):
                when = AFTER_MENDING if is_broken else "once it answers again"
                told = f"New files are found by their words; their vectors follow {when}."
            else:
                told = "The memory goes on with the embedder it was made with."
            return None, _notice(error, told), error

    def _make(self, name: str, embedder: EmbedderIdentity) -> IndexTable:
        self.chunks.quarantine(name)  # a leftover of a run that died before the catalog knew the table
        self.chunks.create(name, dimension=embedder.dimension)
        identity = IndexIdentity(embedder=embedder, chunking=CHUNKING_VERSION, analyser=ANALYSER_VERSION)
        with self.catalog.writing() as session:
            return session.add_table(name, identity)


def _notice(error: ProviderError, what_follows: str) -> str:
    return f"{as_sentence(error.message)} {what_follows} {error.hint}".rstrip()
