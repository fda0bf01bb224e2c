"""Odd files and names: each gets its status, none ends the run, and the good file beside it is found."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import field, frozen
from openmind import OpenMind, open_memory
from openmind.application.indexing.triage import Triage
from openmind.domain.files import FileReason, FileRecord
from openmind.domain.jobs import IndexReport
from openmind.domain.search import SearchRequest

NOBODY = 65534
LONG = "ordinary words of a long line " * 10_000

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")


@frozen(kw_only=True)
class Odd:
    """A file that is odd in its content or its name."""

    case: str
    name: str | bytes = "odd.txt"
    content: bytes | Callable[[Path], object] = b""
    reason: FileReason | None = FileReason.OK
    """None where nothing of this name is a file of the source."""
    asked: str = ""
    """A query that finds it, if it can be found."""
    note: str = field(default="")
    """What the catalog says about it."""


def _named(case: str, name: str | bytes) -> Odd:
    return Odd(case=case, name=name, content=f"the parcel named {case} has arrived".encode(), asked=f"parcel {case}")


def _deep(folder: Path) -> None:
    """Make a file whose path has more than 4,000 characters but can still be opened."""
    here = os.getcwd()  # noqa: PTH109  a path of this length is walked in steps
    try:
        os.chdir(folder)
        while len(os.getcwd()) < 3_900:  # noqa: PTH109
            os.mkdir("d" * 90)  # noqa: PTH102
            os.chdir("d" * 90)
        name = "n" * (4_005 - len(os.getcwd()) - 5) + ".txt"  # noqa: PTH109
        Path(name).write_text("the kingfisher at the end of a long path", encoding="utf-8")
    finally:
        os.chdir(here)


def _too_deep(folder: Path) -> None:
    """Make a folder that no path can name any more."""
    here = os.getcwd()  # noqa: PTH109
    try:
        os.chdir(folder)
        for _ in range(50):
            os.mkdir("e" * 100)  # noqa: PTH102
            os.chdir("e" * 100)
        Path("lost.txt").write_text("nobody can name this", encoding="utf-8")
    finally:
        os.chdir(here)


CHINESE = "合同规定付款期限为三十天，逾期须支付利息。苹果和梨在篮子里。"
ODD = [
    Odd(case="empty", reason=FileReason.EMPTY),
    Odd(case="blank", content=b" \n\t\r\n" * 40, reason=FileReason.EMPTY),
    Odd(case="binary", content=bytes(range(256)) * 40, reason=FileReason.UNSUPPORTED, note="binary file"),
    Odd(case="program", content=b"\x7fELF\2\1\1" + b"\0" * 400, reason=FileReason.UNSUPPORTED, note="a program"),
    Odd(
        case="nul",
        content=b"a short note of a pelican with a zero\0 byte",
        reason=FileReason.PARTIAL,
        asked="pelican note",
        note="zero bytes",
    ),
    Odd(
        case="surrogates",
        content=b"a heron \xed\xa0\xbd stands in the reeds",
        reason=FileReason.PARTIAL,
        asked="heron reeds",
        note="could not be decoded",
    ),
    Odd(case="utf16 mark", content="ein Wiedehopf im Garten".encode("utf-16"), asked="Wiedehopf"),
    Odd(case="utf16 le", content="ein Pirol im Obstgarten".encode("utf-16-le"), asked="Pirol"),
    Odd(case="utf16 be", content="ein Zaunkönig im Efeu".encode("utf-16-be"), asked="zaunkonig"),
    Odd(case="utf16 chinese", content=CHINESE.encode("utf-16-le"), asked="逾期"),
    Odd(case="cp1252", content="Der Bär frißt süße Früchte, müde und träge.".encode("cp1252"), asked="susse fruchte"),
    Odd(case="gbk", content=("数据库里有很多表。" * 9).encode("gbk"), asked="数据库"),
    Odd(case="shift-jis", content=("図書館は明日も休みです。" * 9).encode("shift-jis"), asked="図書館"),
    Odd(case="one line", content=f"{LONG} axolotl {LONG}".encode()[:600_000], asked="axolotl"),
    Odd(case="no blanks", content=("合" * 50_000 + "秘密" + "同" * 50_000).encode(), asked="秘密"),
    Odd(case="letters", content=b"x" * 150_000 + b" wombat " + b"y" * 150_000, asked="wombat"),
    Odd(case="emoji", content="🎊🎈".encode() * 3_000 + "🦤 dodo".encode(), asked="🦤"),
    Odd(case="rules", name="rule.md", content=b"---\nan ocelot slept\n---\nbetween two rules", asked="ocelot"),
    Odd(case="front matter", name="only.md", content=b"---\ntitle: Quokka travel\n---\n", asked="quokka"),
    Odd(case="unclosed", name="open.md", content=b"---\ntitle: a numbat\n\nnever closed", asked="numbat"),
    Odd(case="bomb", name="bomb.md", content=b"---\na: &a [x]\nb: [*a, *a]\n---\nan okapi", asked="okapi"),
    _named("newline", "new\nline.txt"),
    _named("quotes", 'it\'s "quoted".txt'),
    _named("brackets", "[b]bold.txt"),
    _named("percent", "100% _done_.txt"),
    _named("dash", "-rf.txt"),
    _named("decomposed", "Zu\u0308rich.txt"),
    _named("undecodable", b"caf\xe9-\xff.txt"),
    _named("escape", "\x1b[31mred\x07.txt"),
    _named("backwards", "txt.\u202egnp.txt"),
    _named("blanks", "  two  blanks .txt"),
    Odd(case="long path", name="", content=_deep, asked="kingfisher", reason=None),
    Odd(case="endless path", name="", content=_too_deep, reason=None),
    Odd(case="fifo", content=lambda path: os.mkfifo(path), reason=None),
    Odd(case="loop", name="loop", content=lambda path: path.symlink_to(path.parent), reason=None),
    Odd(case="itself", content=lambda path: path.symlink_to(path), reason=None),
    Odd(case="link out", content=lambda path: path.symlink_to("/etc/hostname"), reason=None),
    Odd(case="device", content=lambda path: path.symlink_to("/dev/zero"), reason=None),
    Odd(case="dangling", content=lambda path: path.symlink_to("nowhere"), reason=None),
]


@frozen
class Indexed:
    memory: OpenMind
    report: IndexReport
    root: Path

    def records(self) -> dict[bytes, FileRecord]:
        [source] = self.memory.sources.list()
        with self.memory.storage.catalog.reading() as snapshot:
            return {record.path_bytes: record for record in snapshot.known_files(source.id)}

    def found(self, query: str) -> list[str]:
        result = self.memory.searching.search(SearchRequest(query=query, limit=5, per_file=1))
        assert not result.degraded, result.degraded_reason
        return [hit.path for hit in result.hits]


def folder_of(root: Path, odd: Odd) -> Path:
    return root / odd.case.replace(" ", "-")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    root = tmp_path_factory.mktemp("odd").resolve()
    for odd in ODD:
        folder = folder_of(root, odd)
        folder.mkdir()
        (folder / "good.txt").write_text(f"The good neighbour beside the {odd.case} specimen.", encoding="utf-8")
        path = folder / os.fsdecode(odd.name)
        if isinstance(odd.content, bytes):
            path.write_bytes(odd.content)
        else:
            odd.content(path)
    with open_memory(tmp_path_factory.mktemp("home")) as memory:
        memory.sources.add(root)
        yield Indexed(memory, memory.index(), root)


cases = pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.case)


@cases
def test_the_good_file_beside_it_is_found(indexed: Indexed, odd: Odd) -> None:
    good = folder_of(indexed.root, odd) / "good.txt"

    assert str(good) in indexed.found(f'"beside the {odd.case} specimen"')


@cases
def test_it_has_its_status(indexed: Indexed, odd: Odd) -> None:
    path = os.fsencode(folder_of(indexed.root, odd)) + b"/" + os.fsencode(odd.name)
    record = indexed.records().get(path)

    if odd.reason is None:
        assert record is None
        return
    assert record is not None
    assert record.reason is odd.reason
    assert odd.note in record.error.lower()
    if odd.reason not in {FileReason.OK, FileReason.PARTIAL}:
        assert any(failure.path.startswith(str(folder_of(indexed.root, odd))) for failure in indexed.report.failures)


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd.asked], ids=lambda odd: odd.case)
def test_it_is_found_by_what_it_says(indexed: Indexed, odd: Odd) -> None:
    folder = str(folder_of(indexed.root, odd))

    assert any(path.startswith(folder) and not path.endswith("good.txt") for path in indexed.found(odd.asked))


def test_what_cannot_be_named_is_told(indexed: Indexed) -> None:
    assert any("longer than the system can open" in notice for notice in indexed.report.notices)


def test_nothing_outside_of_the_source_was_read(indexed: Indexed) -> None:
    assert all(path.startswith(os.fsencode(indexed.root) + b"/") for path in indexed.records())
    assert not any(os.path.islink(path) for path in indexed.records())  # noqa: PTH114  the paths are bytes


def test_names_that_differ_in_case_alone_are_two_files(indexed: Indexed, tmp_path: Path) -> None:
    for name in ("Note.txt", "note.txt", "NOTE.TXT"):
        (tmp_path / name).write_text(f"the sloth of {name.swapcase()}", encoding="utf-8")
    with open_memory(tmp_path.with_name("home-of-case")) as memory:
        memory.sources.add(tmp_path)
        memory.index()
        found = memory.search("sloth")

    assert {hit.file_name for hit in found.hits} == {"Note.txt", "note.txt", "NOTE.TXT"}


def test_a_second_run_reads_none_of_them_again(indexed: Indexed) -> None:
    for path in indexed.records():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    indexed.memory.index()

    again = indexed.memory.index().run.tally

    assert (again.extracted, again.embedded, again.hashed) == (0, 0, 0)
    assert again.failed == 0


MB = 2**20
HUGE = 200 * MB


def _write_huge(path: Path) -> None:
    """Write a text whose first 20 MB are a sentence here and there between blanks; the rest takes no room."""
    blank = b"\n" * (MB // 2) + b" " * (MB // 2)
    with path.open("wb") as file:
        file.write(b"A kingfisher begins the log.\n")
        file.writelines(blank + b"An ordinary entry.\n" for _ in range(21))
        file.truncate(HUGE)
    os.utime(path, (1, 1))


def _peak_of_a_run(home: Path) -> tuple[str, float]:
    """What `openmind index` tells in a process of its own, and the most memory it took, in MB."""
    command = [sys.executable, "-m", "openmind_cli", "index"]
    told = home / "told"
    with told.open("w") as out:
        run = subprocess.Popen(command, env={**os.environ, "OPENMIND_HOME": str(home)}, stdout=out, stderr=out)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0, told.read_text()
    return told.read_text(), usage.ru_maxrss / 1024


def test_a_text_of_200_mb_is_left_out_or_read_in_part_and_takes_little_memory(tmp_path: Path) -> None:
    notes, home = tmp_path / "notes", tmp_path / "home"
    notes.mkdir()
    _write_huge(notes / "huge.txt")
    (notes / "good.txt").write_text("the good neighbour, a marmot", encoding="utf-8")
    with open_memory(home) as memory:
        memory.sources.add(notes)

    skipped, usual_mb = _peak_of_a_run(home)
    (home / "config.toml").write_text("[indexing]\nmax_file_mb = 300\n")
    cut, peak_mb = _peak_of_a_run(home)

    assert "larger than 100 MB" in skipped
    assert "Only the first 20 MB of this text were read" in cut
    assert peak_mb < usual_mb + 150
    with open_memory(home) as memory:
        found = [memory.search(query).hits[0].file_name for query in ("marmot", "kingfisher")]
        [huge] = memory.documents.list(reasons=["partial"])
    assert found == ["good.txt", "huge.txt"]
    assert huge.stat.size == HUGE


def test_a_file_that_grows_while_it_is_read_is_told_and_read_whole_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    log = notes / "log.txt"
    log.write_text("a kingfisher in the morning\n")
    (notes / "good.txt").write_text("the good neighbour, a marmot")
    os.utime(log, (1, 1))
    hashed = Triage._hash

    def hash_and_grow(self: Triage, path: bytes) -> tuple[str, bytes, bool]:
        digest = hashed(self, path)
        if path.endswith(b"log.txt"):
            with log.open("a") as file:
                file.write("an ocelot in the evening\n")
        return digest

    with open_memory(tmp_path / "home") as memory:
        memory.sources.add(notes)
        monkeypatch.setattr(Triage, "_hash", hash_and_grow)
        report = memory.index()
        neighbour = memory.search("marmot").hits[0].file_name
        half = memory.search("kingfisher").hits
        monkeypatch.undo()
        memory.index()
        [hit] = memory.search("ocelot").hits

    assert (report.run.tally.indexed, report.run.tally.skipped, report.run.tally.failed) == (1, 1, 0)
    assert report.notices == (f"{log.resolve()} changed while it was read; the next run reads it again.",)
    assert neighbour == "good.txt"
    assert all(each.file_name != "log.txt" for each in half)
    assert hit.text == "a kingfisher in the morning\nan ocelot in the evening"


@pytest.fixture
def nobody(indexed: Indexed) -> Iterator[Path]:
    """A folder of an account that is denied things; the administrator is denied nothing, and becomes nobody here.

    The index was made before: nobody may not read the engines that are imported with the first run.
    """
    folder = Path(tempfile.mkdtemp())  # not `tmp_path`: nobody may not pass through that
    uid = os.geteuid()
    try:
        if uid == 0:
            os.chown(folder, NOBODY, -1)
            os.seteuid(NOBODY)
        yield folder.resolve()
    finally:
        os.seteuid(uid)
        for path in folder.rglob("denied*"):
            path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def test_what_may_not_be_read_is_told_and_its_neighbour_found(nobody: Path) -> None:
    notes = nobody / "notes"
    (notes / "denied").mkdir(parents=True)
    (notes / "denied" / "inside.txt").write_text("an ibex behind a closed door", encoding="utf-8")
    (notes / "denied.txt").write_text("a lynx in a locked drawer", encoding="utf-8")
    (notes / "good.txt").write_text("the good neighbour, a marmot", encoding="utf-8")
    (notes / "denied").chmod(0)
    (notes / "denied.txt").chmod(0)

    with open_memory(nobody / "home") as memory:
        memory.sources.add(notes)
        report = memory.index()
        found = [hit.file_name for hit in memory.search("marmot").hits]
        (notes / "denied").chmod(0o700)
        (notes / "denied.txt").chmod(0o600)
        memory.index()
        later = [memory.search(query).hits[0].file_name for query in ("ibex", "lynx")]

    assert [(failure.code, failure.path) for failure in report.failures] == [("denied", str(notes / "denied.txt"))]
    assert report.notices == (
        f"{notes}/denied: The folder may not be read. What was remembered of it is kept. "
        "Give your account the right to read it, or leave it out with a line in .openmindignore.",
    )
    assert found == ["good.txt"]
    assert later == ["inside.txt", "denied.txt"]
