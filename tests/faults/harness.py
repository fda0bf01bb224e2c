"""Kills an index run at each step of the storage protocol, or at any moment, and looks whether anything is wrong.

A world of files changes round by round. In each round a run is killed, perhaps another one while it recovers, and a
last one ends in peace. What is checked are results: every file's own words are found by every query, in every
passage, once; what a file held before is not; a reader in another process never errs, never misses a file and never
sees half of one; nothing is embedded twice but what was under way when the process died.

The ports are wrapped to die at a step; the product knows nothing of it. Children are forked from a process that has
loaded everything and opened nothing, which makes a run as cheap as its work.
"""

import hashlib
import importlib
import json
import os
import pkgutil
import random
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import lance
import openmind_stores
from openmind import OpenMind, open_memory
from openmind.application.indexing import batch
from openmind.application.recovering import sweeping
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain.control import Wish
from openmind.domain.models import EmbedderIdentity
from openmind.plugins.manager import Plugins, load_plugins
from openmind.plugins.registries import StoreRegistry
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider

for module in pkgutil.walk_packages(openmind_stores.__path__, "openmind_stores."):
    importlib.import_module(module.name)  # before the first fork, so that children need not

Step = Callable[[str], None]
CHUNK_WRITES = frozenset(
    """
    create drop quarantine discard_quarantined add fold merge delete purge clean seal mend
    """.split()  # noqa: SIM905  a word a line would hide the list
)
BETWEEN_SEARCHES_S = 0.2
STABLE, CHANGING = 4, 6
PARAGRAPHS = 9
"""Of the long file; each is a passage of its own."""


PATIENCE_S = 120.0
PATIENCE_RUNS = 12
"""What was removed must be off the disk after both: on a machine that is busy with other things few runs fit into that
time, and one has to come after each grace."""
GRACE_S = 5.0
"""What is older than this is swept, instead of a minute or five: the rounds are short."""
JUDGED_S = GRACE_S / 2
"""What a search was to find may be swept while it lasts longer than the grace, on a machine that holds it up; the other
half is left to a writer that is held up between noting when passages died and saying so."""


def hurry() -> None:
    """Let small runs do what large ones do: commit in several batches, merge, sweep, give space back."""
    batch.BATCH_ROWS = 8
    sweeping.VERSION_AGE_S = GRACE_S
    Sweeping.sweep.__kwdefaults__["grace_s"] = GRACE_S


# Faults: ports that take notice of every step.


@attrs.frozen
class WatchedChunks:
    """A chunk store that tells of every write that is done."""

    inner: object
    step: Step

    def __getattr__(self, name: str):
        found = getattr(self.inner, name)
        if name not in CHUNK_WRITES:
            return found

        def call(*arguments, **options):
            result = found(*arguments, **options)
            self.step(f"chunks.{name}")
            return result

        return call


@attrs.frozen
class WatchedCatalog:
    """A catalog that tells of every transaction that was committed.

    What dies before its commit leaves what the step before it left; kills at any moment try that, too.
    """

    inner: object
    step: Step

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    @contextmanager
    def writing(self):
        with self.inner.writing() as session:
            yield session
        self.step("commit")

    @contextmanager
    def journalling(self, embedder):
        with self.inner.journalling(embedder) as keep:

            def told(vectors):
                keep(vectors)
                self.step("journal")

            yield told


@attrs.define
class WatchedStorage:
    """A storage whose parts tell of their steps."""

    inner: object
    step: Step

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    @property
    def catalog(self):
        return WatchedCatalog(self.inner.catalog, self.step)

    @property
    def chunks(self):
        return WatchedChunks(self.inner.chunks, self.step)


@attrs.define
class Fuse:
    """Kills this process at the n-th step."""

    die_at: int | None
    trace: Path | None = None
    steps: int = 0

    def __call__(self, name: str) -> None:
        self.steps += 1
        if self.trace is not None:
            with self.trace.open("a") as file:
                file.write(f"{self.steps} {name}\n")
        if self.steps == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)


class LoggedEmbeddings(FakeEmbeddings):
    """A server's embedder that writes down what it was asked, request by request."""

    def __init__(self, model: str, log: Path) -> None:
        dimension = 32 if int(model.rpartition("-")[2]) % 2 else 48
        super().__init__(identity=EmbedderIdentity(provider="fake", model=model, dimension=dimension))
        self.log = log

    def embed(self, texts, *, role):
        vectors = super().embed(texts, role=role)
        if role == "passage":
            names = [hashlib.sha256(f"{self.identity.model}\n{text}".encode()).hexdigest()[:16] for text in texts]
            with self.log.open("a") as file:
                file.write(json.dumps(names) + "\n")
        return vectors


class LoggedProvider(FakeProvider):
    """The server that has it."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log
        self.made: dict[str, LoggedEmbeddings] = {}

    def embedder(self, model: str) -> LoggedEmbeddings:
        return self.made.setdefault(model, LoggedEmbeddings(model, self.log))


# The world of files.


def word(*parts: object) -> str:
    """Make a word that nothing else resembles, and that no stemmer shortens."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return "".join("bdfgklmnprtvz"[byte % 13] + "aou"[byte % 3] for byte in digest[:6]) + "x"


@attrs.define
class Page:
    """A file of the world: it has a word of its own, and one of its version, in every passage."""

    number: int
    name: str
    version: int = 0
    paragraphs: int = 1

    @property
    def own(self) -> str:
        return word("own", self.number)

    @property
    def now(self) -> str:
        return word("now", self.number, self.version)

    def text(self) -> str:
        filler = "Some lines about gardens and what grows in them. " * 18
        parts = [
            f"{self.own} {self.now} {word('part', self.number, part)}. {filler if self.paragraphs > 1 else ''}"
            for part in range(self.paragraphs)
        ]
        return "\n\n".join(parts)


@attrs.define
class World:
    """Files, a home, and what was seen to go wrong."""

    base: Path
    random: random.Random
    with_models: bool = True
    pages: list[Page] = attrs.field(factory=list)
    forgotten: list[str] = attrs.field(factory=list)
    """Words that must not be found any more."""
    removed: list[str] = attrs.field(factory=list)
    """Words of files that were removed: they must not be on the disk any more once nobody can be reading them."""
    model: int = 1
    made: int = 0
    kills: int = 0
    runs: int = 0
    violations: list[str] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.notes.mkdir(parents=True)
        self.home.mkdir(mode=0o700)
        for number in range(STABLE + CHANGING):
            paragraphs = PARAGRAPHS if number in {0, STABLE} else 1
            self.pages.append(Page(number, f"page-{number}.txt", paragraphs=paragraphs))
        for page in self.pages:
            self.write(page)
        self.configure()

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def notes(self) -> Path:
        return self.base / "notes"

    @property
    def log(self) -> Path:
        return self.base / "embedded.log"

    @property
    def stop(self) -> Path:
        return self.base / "stop"

    @property
    def reader_log(self) -> Path:
        return self.base / "reader.log"

    def write(self, page: Page) -> None:
        (self.notes / page.name).write_text(page.text(), encoding="utf-8")

    def configure(self) -> None:
        (self.home / ".openmind-home").touch()
        (self.home / "config.toml").write_text(
            f'[provider]\nname = "fake"\n[models]\nembedding_model = "model-{self.model}"\n'
        )

    @contextmanager
    def memory(self, step: Step | None = None) -> Iterator[OpenMind]:
        with open_memory(self.home, plugins=self.plugins(step)) as memory:
            yield memory

    def plugins(self, step: Step | None) -> Plugins:
        plugins = load_plugins()
        plugins.providers.add("fake", lambda _: LoggedProvider(self.log))
        if step is None:
            return plugins
        local, stores = plugins.stores.find("local"), StoreRegistry()
        stores.add("local", lambda home: WatchedStorage(local(home), step))
        return attrs.evolve(plugins, stores=stores)

    # what happens to the files

    def change(self) -> None:
        """Edit some files, move, delete and copy others; now and then take another embedding model.

        Between two runs that end, no file is both moved and edited: it would be another file, that is found beside
        the former one until the run forgets what is gone. Where a run did not end, which is a violation in itself,
        the reader may therefore see a page twice.
        """
        changing = self.pages[STABLE : STABLE + CHANGING]
        edited = self.random.sample(changing, 3)
        for page in edited:
            self.forgotten.append(page.now)
            page.version += 1
            self.write(page)
        moved = self.random.choice([page for page in changing if page not in edited])
        former = moved.name
        moved.name = f"page-{moved.number}-at-{self.random.randrange(10**6)}.txt"
        (self.notes / former).rename(self.notes / moved.name)
        if len(self.pages) > STABLE + CHANGING:
            gone = self.pages.pop()
            (self.notes / gone.name).unlink()
            self.forgotten += [gone.own, gone.now]
            self.removed += [gone.own, gone.now]
        self.made += 1
        fresh = Page(1_000 + self.made, f"fresh-{self.made}.txt")
        self.pages.append(fresh)
        self.write(fresh)
        if self.with_models and self.random.random() < 0.12:
            self.model += 1
            self.configure()

    # what is done by children

    def index(self, step: Step | None = None) -> None:
        hurry()
        with self.memory(step) as memory:
            if not memory.sources.list():
                memory.sources.add(self.notes)
            memory.index()

    def check(self) -> None:
        """Look whether everything is found, and nothing else; what is wrong is raised."""
        with self.memory() as memory:
            for page in self.pages:
                part = word("part", page.number, 0)
                for asked, times in ((page.own, page.paragraphs), (page.now, page.paragraphs), (part, 1)):
                    found = holders(memory, asked)
                    wanted = [str(self.notes / page.name)] * times
                    if found != wanted:
                        raise AssertionError(f"{asked} of {page.name}: found in {found}, wanted {len(wanted)} times")
            for asked in self.forgotten[-12:]:
                if found := holders(memory, asked):
                    raise AssertionError(f"{asked} is still found in {found}")
            self._check_rows(memory)

    def _check_rows(self, memory: OpenMind) -> None:
        with memory.storage.catalog.reading() as snapshot:
            live = snapshot.live_table()
            assert live is not None
            expected = {(generation, file): rows for generation, file, rows in snapshot.live_generations()}
            garbage = {entry.generation for entry in snapshot.garbage(died_before=float("inf"), limit=10**6)}
            assert not snapshot.intents(), "intents are left"
            assert snapshot.counts().missing_vectors == 0, "vectors are missing"
        counts = {(generation, file): rows for generation, file, rows in memory.storage.chunks.counts(live.name)}
        wrong = {key: (counts.get(key), rows) for key, rows in expected.items() if counts.get(key) != rows}
        strangers = {key for key in counts if key not in expected and key[0] not in garbage}
        assert not wrong, f"rows are lost or doubled: {wrong}"
        assert not strangers, f"rows belong to nobody: {strangers}"

    def read_on(self) -> None:
        """Search for ever, until told to stop; write down everything that is wrong."""
        numbers = {page.number: page.paragraphs for page in self.pages[: STABLE + CHANGING]}
        looked = 0
        with self.memory() as memory:
            while not self.stop.exists():
                for number, paragraphs in numbers.items():
                    try:
                        wrong = self._misread(memory, number, paragraphs)
                    except Exception as error:  # noqa: BLE001  whatever a reader meets is a violation
                        wrong = f"{type(error).__name__}: {error}"
                    looked += 1
                    time.sleep(BETWEEN_SEARCHES_S)
                    if wrong:
                        with self.reader_log.open("a") as file:
                            file.write(json.dumps(wrong) + "\n")
        (self.base / "looked").write_text(str(looked))

    def _misread(self, memory: OpenMind, number: int, paragraphs: int) -> str:
        own = word("own", number)
        began = time.monotonic()
        result = memory.search(own, limit=50, per_file=0)
        if time.monotonic() - began >= JUDGED_S:
            return ""
        texts = [hit.text for hit in result.hits if own in hit.text]
        versions = {version for text in texts for version in re.findall(rf"{own} (\w+)", text)}
        if len(texts) != paragraphs or len(versions) != 1:
            told = f"page {number}: {len(texts)} of {paragraphs} passages, {len(versions)} versions"
            return f"{told}: {result.state} {result.degraded_reason}"
        if number < STABLE and versions != {word("now", number, 0)}:
            return f"page {number} never changed, and was seen otherwise"
        return ""

    # rounds

    def steps(self) -> int:
        """Count the steps of a run that has all kinds of changes to take in."""
        self.change()
        trace = self.base / "trace"
        wait(fork(lambda: self.index(Fuse(None, trace))))
        return len(trace.read_text().splitlines())

    def prepare(self) -> None:
        """Make the memory for the first time, in peace."""
        self.must("the first run", lambda: self.index())
        self.must("the first check", self.check)

    @contextmanager
    def reader(self) -> Iterator[None]:
        """Let a reader look all the time."""
        pid = fork(self.read_on)
        try:
            yield
        finally:
            self.stop.touch()
            os.waitpid(pid, 0)
            if self.reader_log.exists():
                for line in self.reader_log.read_text().splitlines():
                    self.violations.append(f"reader: {json.loads(line)}")
            self.stop.unlink()

    def round_at_step(self, number: int) -> bool:
        """Kill a run at a step; False when it ended before that step came."""
        self.change()
        killed = self._kill_at(number)
        self._finish(f"after a kill at step {number}")
        return killed

    def round_at_random(self, longest_s: float, *, again: float = 0.3) -> None:
        """Kill a run at any moment, and perhaps the next ones while they recover."""
        self.change()
        self._kill_after(self.random.uniform(0, longest_s))
        while self.random.random() < again:
            self._kill_after(self.random.uniform(0, longest_s / 2))
        self._finish("after kills at random")

    def _kill_at(self, number: int) -> bool:
        self.runs += 1
        status = wait(fork(lambda: self.index(Fuse(number))))
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        self.kills += killed
        if not killed and status != 0:
            self.violations.append(f"a run failed before step {number}")
        return killed

    def _kill_after(self, seconds: float) -> None:
        self.runs += 1
        pid = fork(self.index)
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        status = wait(pid)
        if os.WIFSIGNALED(status):
            self.kills += 1
        elif status != 0:
            self.violations.append("a run failed by itself")

    def _finish(self, when: str) -> None:
        self.runs += 1
        self.must(f"the run {when}", self.index_and_check)

    def index_and_check(self) -> None:
        self.index()
        self.check()

    def settle(self) -> None:
        """Let runs go on until what was removed is old enough to leave the disk, and see that it does."""
        deadline = time.monotonic() + PATIENCE_S
        left, runs = self.on_disk(self.removed), 0
        while left and (runs < PATIENCE_RUNS or time.monotonic() < deadline):
            self.runs, runs = self.runs + 1, runs + 1
            self.must("a run at the end", self.index)
            left = self.on_disk(self.removed)
            if left:
                time.sleep(BETWEEN_SEARCHES_S)
        if left:
            told = f"{len(left)} words of removed files are still on the disk after {runs} runs"
            self.violations.append(f"{told}: {', '.join(self.holding(left))}")
        if len(self.on_disk([page.own for page in self.pages])) < len(self.pages):
            self.violations.append("words that are remembered are not seen on the disk, so nothing was looked at")
        self.must("what killed writers left", self.look_for_leftovers)

    def on_disk(self, words: list[str]) -> set[str]:
        """Which of these words stand anywhere under the home."""
        held = [path.read_bytes() for path in self._files()]
        return {word for word in words if any(word.encode() in each for each in held)}

    def holding(self, words: Iterable[str]) -> list[str]:
        """The files under the home in which one of these words stands."""
        sought = [word.encode() for word in words]
        found = [path for path in self._files() if any(word in path.read_bytes() for word in sought)]
        return sorted(str(path.relative_to(self.home)) for path in found)

    def _files(self) -> list[Path]:
        return [path for path in self.home.rglob("*") if path.is_file()]

    def look_for_leftovers(self) -> None:
        """Fail when a file of rows or an index lies there that no version names: their words are packed."""
        for table in self.home.glob("lancedb/*.lance"):
            newest = lance.dataset(str(table))
            named = set()
            for version in newest.versions():
                data = lance.dataset(str(table), version=version["version"])
                named |= {f"data/{file.path}" for part in data.get_fragments() for file in part.data_files()}
                named |= {f"_indices/{segment.uuid}" for each in data.describe_indices() for segment in each.segments}
            found = {path.relative_to(table).as_posix() for path in [*table.glob("data/*"), *table.glob("_indices/*")]}
            assert named, "nothing was looked at"
            assert found <= named, f"nobody names {sorted(found - named)}"

    def must(self, what: str, action: Callable[[], None]) -> None:
        told = self.base / "failure"
        told.unlink(missing_ok=True)

        def noted() -> None:
            try:
                action()
            except BaseException as error:  # noqa: BLE001  written down for the parent
                where = traceback.extract_tb(error.__traceback__)[-1]
                told.write_text(f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})")
                os._exit(1)

        if wait(fork(noted)) != 0:
            self.violations.append(f"{what}: {told.read_text() if told.exists() else 'died'}")

    def embedded_twice(self) -> int:
        """Count the requests with a text that was embedded before."""
        seen: Counter[str] = Counter()
        again = 0
        for line in self.log.read_text().splitlines():
            names = json.loads(line)
            again += any(seen[name] for name in names)
            seen.update(names)
        return again


def holders(memory: OpenMind, asked: str) -> list[str]:
    """The files in whose passages a word stands, one entry a passage."""
    result = memory.search(asked, limit=50, per_file=0)
    return sorted(hit.path for hit in result.hits if asked in hit.text)


class Halfway:
    """A control that stops a run somewhere."""

    def __init__(self, after: int) -> None:
        self.left = after

    def wish(self) -> Wish:
        self.left -= 1
        return Wish.STOP if self.left < 0 else Wish.GO

    def rest(self) -> None:
        """Never called."""


def fork(action: Callable[[], None]) -> int:
    """Do something in a child; its exit code is 0 when it went well."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        # Lance must not be forked once it is at work; here it is loaded and does nothing before the fork.
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        action()
        code = 0
    except BaseException:  # noqa: BLE001  a child must never return into its parent's code
        traceback.print_exc()
    finally:
        os._exit(code)


def wait(pid: int) -> int:
    """Wait for a child; its status."""
    return os.waitpid(pid, 0)[1]
