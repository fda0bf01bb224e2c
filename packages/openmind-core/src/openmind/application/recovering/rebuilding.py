"""Rebuilding: passages that were lost are made again from the kept text. No file of a person is read."""

from collections.abc import Callable, Iterator
from datetime import datetime

import attrs
from attrs import define, field

from openmind.application.indexing.batch import Entry, Filled, OpenBatch
from openmind.application.indexing.embedding import Embedding
from openmind.application.indexing.tables import LAYOUT, Targets
from openmind.domain.errors import ProviderError
from openmind.domain.files import FileRecord
from openmind.domain.preparation import PreparationFailure, PreparationRequest, PreparedFile
from openmind.ports.preparer import Preparer
from openmind.ports.storage import Storage

PAGE = 200


@define(kw_only=True)
class Rebuild:
    """Makes the passages of files that lost theirs. Needs the index lock; serves one thread."""

    storage: Storage
    preparer: Callable[[int, bool], Preparer]
    """Makes where text is prepared; see `IndexMeans`."""
    now: Callable[[], datetime]
    while_waiting: Callable[[], None] = lambda: None
    """Called several times a second; what it raises ends the work, and what was committed before stays."""
    enough: Callable[[], bool] = lambda: False
    """Whether something else is wanted: vectors then follow later."""
    beside: Callable[[Callable[[], Filled]], Filled] = lambda write: write()
    """See `OpenBatch`."""
    embedded: Callable[[int], None] = lambda _: None
    lost_provider: Callable[[ProviderError], None] = lambda _: None
    rebuilt: int = field(default=0, init=False)
    """Files whose passages are back."""
    _waiting: dict[int, FileRecord] = field(factory=dict, init=False)

    def carry_out(self, targets: Targets) -> int:
        """Bring back what can be; returns how many files that were. The rest is read again by the next run."""
        with self.storage.catalog.reading() as snapshot:
            few = len(snapshot.files_without_passages(after=None, limit=PAGE))
        if not few:
            return 0
        in_process = next((target for target in targets.all if target.in_process), None)
        batch = self._batch(targets)
        preparer = self.preparer(few if few < PAGE else 10 * PAGE, in_process is not None)
        try:
            for outcome in preparer.prepare(self._requests(), while_waiting=self.while_waiting):
                record = self._waiting.pop(outcome.ticket)
                if isinstance(outcome, PreparationFailure):
                    continue  # its text is damaged: the file itself is read again
                batch.put(_entry(record, outcome, in_process.table.id if in_process else 0))
                self.rebuilt += 1
                if batch.due:
                    batch.commit()
            batch.commit()
        finally:
            preparer.close()
        return self.rebuilt

    def _batch(self, targets: Targets) -> OpenBatch:
        return OpenBatch(
            catalog=self.storage.catalog,
            chunks=self.storage.chunks,
            tree=None,
            embedding=Embedding(catalog=self.storage.catalog, enough=self.enough),
            targets=targets,
            now=self.now,
            embedded=self.embedded,
            unstable=lambda _: None,
            lost_provider=self.lost_provider,
            beside=self.beside,
        )

    def _requests(self) -> Iterator[PreparationRequest]:
        after = None
        ticket = 0
        while True:
            with self.storage.catalog.reading() as snapshot:
                page = snapshot.files_without_passages(after=after, limit=PAGE)
                texts = {record.id: snapshot.text(record.content_hash, record.extractor) for record in page}
            if not page:
                return
            after = page[-1].id
            for record in page:
                packed = texts[record.id]
                if packed is None:
                    continue
                ticket += 1
                self._waiting[ticket] = record
                yield PreparationRequest(ticket=ticket, path_bytes=record.path_bytes, packed=packed, size=len(packed))


def _entry(record: FileRecord, prepared: PreparedFile, table_id: int) -> Entry:
    whole = attrs.evolve(record, layout=LAYOUT, chunk_count=len(prepared.passages))
    return Entry(record=whole, passages=prepared.passages, vectors=prepared.vectors_of(table_id))
