"""Takes off the disk what nobody may see any more.

Whatever takes a source or files out of memory notes in the same transaction that their text is still on the disk. The
note goes only when it is not: a process that is killed on the way leaves it, and the next run goes on with it.
"""

import time
from collections.abc import Callable

from attrs import frozen

from openmind.application.recovering.suspicion import seal_key
from openmind.domain.index import TableState
from openmind.ports.catalog import Catalog, CatalogReader, CatalogWriter, GarbageEntry
from openmind.ports.chunk_store import ChunkStore

GRACE_S = 60.0
"""Replaced passages stay this long: a search that began before the change may still need them."""
VERSION_AGE_S = 300.0
"""Old versions of a table are deleted after this long: a reader in another process may have one open."""
MOST_DEAD = 1_000
"""Ranges of dead generations after which a run sweeps while it still writes: each makes a search a little dearer."""
SWEEP = 5_000
"""Generations that are swept at once."""

ERASE = "erase"
"""Name of the setting that says when (POSIX seconds) a source was removed that may still be on the disk."""
PURGE = "purge"
"""Name of the setting that says that (and when, POSIX seconds) files were forgotten that the tables may still hold."""
CLEAN_AFTER = "clean_after"
"""Name of the setting that says when (POSIX seconds, a time for each run that forgot files, the earliest first) the
versions that hold forgotten files are old enough to go."""


def owe_erasure(session: CatalogWriter) -> None:
    """Note, in the transaction that deletes a source, that nothing of it may stay on the disk."""
    session.set_setting(ERASE, str(time.time()))


def owes_erasure(snapshot: CatalogReader) -> bool:
    """Whether text of a removed source may still be on the disk."""
    return snapshot.setting(ERASE) is not None


def owe_purge(session: CatalogWriter) -> None:
    """Note, in the transaction that forgets files, that their text has to go from the disk once nobody reads it."""
    session.set_setting(PURGE, str(time.time()))


@frozen(kw_only=True)
class Sweeping:
    """Deletes rows, versions and texts. Needs the index lock."""

    catalog: Catalog
    chunks: ChunkStore
    clock: Callable[[], float] = time.time

    def sweep(self, *, grace_s: float = GRACE_S) -> int:
        """Delete the passages that nobody may see for so long; returns how many generations.

        Their text stays in the files of the table until these are written anew.
        """
        swept = 0
        while entries := self._due(grace_s):
            by_table: dict[int, list[GarbageEntry]] = {}
            for entry in entries:
                by_table.setdefault(entry.table_id, []).append(entry)
            with self.catalog.reading() as snapshot:
                names = {table.id: table.name for table in snapshot.tables()}
            for table_id, dead in by_table.items():
                if table_id in names:
                    self.chunks.delete(names[table_id], [entry.generation for entry in dead])
            with self.catalog.writing() as session:
                session.drop_garbage(entries)
            swept += len(entries)
        return swept

    def sweep_if_crowded(self) -> None:
        """Sweep when so much is dead that keeping it out of every search costs time."""
        with self.catalog.reading() as snapshot:
            live = snapshot.live_table()
            crowded = live is not None and len(snapshot.visibility(live.id).dead) > MOST_DEAD
        if crowded:
            self.sweep()

    def clean(self, *, wrote: bool = True) -> None:
        """Give back the space of old versions, and go on with taking forgotten files off the disk.

        Args:
            wrote: whether anything was written. If not, only versions that hold forgotten files go, once they are old
                enough; looking for that starts no engine.
        """
        self._purge()
        due = _times(self._setting(CLEAN_AFTER))
        now = self.clock()
        owed = bool(due) and due[0] <= now
        if not wrote and not owed:
            return
        for table in self._tables():
            self.chunks.clean(table, older_than_s=VERSION_AGE_S)
        if owed:
            with self.catalog.writing() as session:
                session.set_setting(CLEAN_AFTER, " ".join(str(each) for each in due if each > now) or None)

    def erase(self) -> None:
        """Take off the disk at once what removed sources left there, old versions of the tables included.

        A search in another process that still reads an old version opens the newest one instead.
        """
        while (removed := self._setting(ERASE)) is not None:
            self.sweep(grace_s=0.0)
            for table in self._tables():
                self.chunks.purge(table)
                self.chunks.clean(table, older_than_s=0.0)
            with self.catalog.writing() as session:
                session.drop_plan()
                drop_unneeded(session)
            self.catalog.tidy()
            with self.catalog.writing() as session:
                session.set_setting(PURGE, None)
                session.set_setting(CLEAN_AFTER, None)
                if session.setting(ERASE) == removed:  # else another source was removed meanwhile
                    session.set_setting(ERASE, None)

    def seal(self) -> None:
        """Note what the tables look like now, as the last thing a run does.

        What was moved aside goes: it may hold what a person removed, and what it held was made again or will be.
        """
        self.chunks.discard_quarantined()
        with self.catalog.reading() as snapshot:
            tables = [table for table in snapshot.tables() if table.state is not TableState.DEAD]
            noted = {table.id: snapshot.setting(seal_key(table)) or "" for table in tables}
        seals = {table.id: self.chunks.seal(table.name, former=noted[table.id]) for table in tables}
        if seals != noted:
            with self.catalog.writing() as session:
                for table in tables:
                    session.set_setting(seal_key(table), seals[table.id])

    def _purge(self) -> None:
        """Write the tables without forgotten files, whose passages are swept by now, those of earlier days included.

        What is left of them is in old versions.
        """
        if self._setting(PURGE) is None:
            return
        for table in self._tables():
            self.chunks.purge(table)
        with self.catalog.writing() as session:
            session.set_setting(PURGE, None)
            due = (*_times(session.setting(CLEAN_AFTER)), self.clock() + VERSION_AGE_S)
            session.set_setting(CLEAN_AFTER, " ".join(map(str, due)))

    def _due(self, grace_s: float) -> tuple[GarbageEntry, ...]:
        with self.catalog.reading() as snapshot:
            return snapshot.garbage(died_before=self.clock() - grace_s, limit=SWEEP)

    def _tables(self) -> list[str]:
        with self.catalog.reading() as snapshot:
            return [table.name for table in snapshot.tables() if table.state is not TableState.DEAD]

    def _setting(self, name: str) -> str | None:
        with self.catalog.reading() as snapshot:
            return snapshot.setting(name)


def _times(noted: str | None) -> tuple[float, ...]:
    return tuple(map(_time, (noted or "").split()))


def _time(noted: str) -> float:
    """Read a time; what is none has come, so that nothing is kept for longer than it may be."""
    try:
        return float(noted)
    except ValueError:
        return 0.0


def drop_unneeded(session: CatalogWriter) -> None:
    """Delete the texts that no file has, and kept vectors once no passage is left that waits for one.

    Passages that were lost wait, too: what was saved of them is all that keeps a server from making it again.
    """
    session.drop_unused_texts()
    counts = session.counts()
    filling = any(table.state is TableState.FILLING for table in session.tables())
    lost = session.files_without_passages(after=None, limit=1)
    if not counts.missing_vectors and not lost and not (filling and counts.files):
        session.drop_journal()
