"""Whatever goes wrong is a sentence with a next step, and nothing is made or lost by it."""

import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

Write = Callable[[str, str], Path]
READERS = [
    ["search", "x"],
    ["ask", "x"],
    ["status"],
    ["status", "--files", "failed"],
    ["source", "list"],
    ["source", "remove", "src_1"],
]


@pytest.fixture
def notes(write: Write) -> Path:
    return write("a.md", "Alpha beta gamma.").parent


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_reading_without_a_home_makes_none(openmind, arguments: list[str]) -> None:
    openmind(*arguments).refused(1, str(openmind.home), "openmind source add")

    assert not openmind.home.exists()


def test_a_folder_with_other_files_is_no_home(openmind) -> None:
    openmind.home.mkdir()
    (openmind.home / "thesis.txt").write_text("mine")

    for arguments in (["init"], ["source", "add", "."], ["index"], ["search", "x"]):
        openmind(*arguments).refused(1, str(openmind.home), "OPENMIND_HOME")

    assert [path.name for path in openmind.home.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_home(openmind) -> None:
    openmind.home.write_text("mine")

    openmind("init").refused(1, "not a folder")


def test_the_home_of_a_newer_version_is_refused(openmind, notes: Path) -> None:
    openmind.done("source", "add", str(notes))
    with sqlite3.connect(openmind.home / "openmind.sqlite") as catalog:
        catalog.execute("PRAGMA user_version = 9999")
    catalog.close()

    openmind("status").refused(1, "newer")
    openmind("index").refused(1, "newer")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[models]\nchat_modle = 'x'\n", ["chat_modle", "config.toml"]),
        ("[indexing]\nworkers = 'many'\n", ["workers", "config.toml"]),
        ("[indexing]\nworkers = -1\n", ["workers"]),
        ("nonsense = 1\n", ["nonsense"]),
        ("[models\n", ["config.toml"]),
        ("[provider]\nname = 'acme'\n[models]\nembedding_model = 'acme-embed'\n", ["acme"]),
    ],
)
def test_a_wrong_configuration_names_file_and_key(openmind, notes: Path, text: str, words: list[str]) -> None:
    openmind.done("source", "add", str(notes))
    (openmind.home / "config.toml").write_text(text)

    openmind("index").refused(1, *words)


def test_a_folder_is_a_source_once(openmind, notes: Path) -> None:
    openmind.done("source", "add", str(notes))

    openmind("source", "add", str(notes)).refused(1, "already", "source list")
    openmind("source", "add", "../notes").refused(1, "already")


def test_overlapping_folders_are_refused(openmind, notes: Path) -> None:
    (notes / "inner").mkdir()
    openmind.done("source", "add", str(notes))

    openmind("source", "add", str(notes / "inner")).refused(1, "overlaps")
    openmind("source", "add", str(notes.parent)).refused(1, "overlaps")


@pytest.mark.parametrize(
    ("path", "code", "word"), [("/no/such/folder", 1, "/no/such/folder"), ("", 2, "folder"), ("/", 1, "root")]
)
def test_a_path_that_is_no_folder_of_the_persons_is_refused(openmind, path: str, code: int, word: str) -> None:
    openmind("source", "add", path).refused(code, word)


def test_a_file_is_no_source(openmind, notes: Path) -> None:
    openmind("source", "add", str(notes / "a.md")).refused(1, "not a folder")


def test_the_home_is_no_source(openmind) -> None:
    openmind.done("init")

    openmind("source", "add", str(openmind.home)).refused(1, "own folder")
    openmind("source", "add", str(openmind.home / "logs")).refused(1, "own folder")


def test_an_unknown_source_is_not_removed(openmind, notes: Path) -> None:
    openmind.done("source", "add", str(notes))

    openmind("source", "remove", "src_000000000000").refused(1, "src_000000000000", "source list")
    openmind("search", "x", "--source", "src_000000000000").refused(1, "src_000000000000")


def test_indexing_without_a_source_says_how_to_add_one(openmind) -> None:
    openmind("index").refused(1, "source add")


@pytest.mark.parametrize("command", ["search", "ask"])
def test_nothing_indexed_yet_is_an_answer(openmind, notes: Path, command: str) -> None:
    openmind.done("source", "add", str(notes))

    told = openmind.done(command, "alpha")

    assert (told.out + told.err).count("openmind index") == 1
    assert openmind.done(command, "alpha", "--json").object["state"] == "nothing_indexed"


@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_empty_query_is_a_usage_error(openmind, command: str) -> None:
    openmind.done("init")

    openmind(command).refused(2)
    openmind(command, "").refused(2)
    assert openmind(command, " \t\n", "--json").object["code"] == "usage.empty_query"


def test_a_query_that_is_too_long_is_a_usage_error(openmind) -> None:
    openmind.done("init")

    openmind("search", "x" * 4_001).refused(2, "4")


@pytest.mark.parametrize(
    "arguments",
    [
        ["serch", "x"],
        ["search", "x", "--limit", "51"],
        ["ask", "x", "--limit", "0"],
        ["source", "add"],
        ["index", "now"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(openmind, arguments: list[str]) -> None:
    openmind(*arguments).refused(2, "--help")

    assert not openmind.home.exists()


def test_a_status_of_files_that_does_not_exist_lists_the_words(openmind) -> None:
    openmind.done("init")

    openmind("status", "--files", "lost").refused(2, "lost", "too_big")


def test_a_source_that_was_not_read_yet_is_to_be_indexed_not_added(openmind, tmp_path: Path) -> None:
    openmind.done("init")
    before = openmind.done("search", "rent").err
    (tmp_path / "notes").mkdir()
    openmind.done("source", "add", str(tmp_path / "notes"))

    assert "source add" in before
    assert (
        openmind.done("search", "rent").err == "Nothing is indexed yet. `openmind index` reads the folders you added.\n"
    )
    assert openmind.done("ask", "Which rent?").out.count("openmind index") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["search", "x"], 1, "home.missing"),
        (["search", "x", "--limit", "99"], 2, "usage"),
        (["nope"], 2, "usage"),
        ([], 2, "usage"),
        (["source", "add", ""], 2, "usage"),
        (["source", "add", "/no/such/folder"], 1, "source.missing"),
    ],
)
def test_with_json_a_failure_is_the_error_object(openmind, arguments: list[str], code: int, name: str) -> None:
    told = openmind(*arguments, "--json")

    assert told.code == code
    assert told.err == ""
    assert set(told.object) == {"type", "title", "status", "code", "detail", "hint"}
    assert told.object["code"] == name
    assert told.object["detail"]
    assert told.object["hint"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions stop nobody here")
def test_an_unreadable_file_stops_nothing(openmind, notes: Path, write: Write) -> None:
    write("b.md", "Delta epsilon.").chmod(0)

    told = openmind("index")

    assert "denied" in told.out


def test_a_file_that_cannot_be_read_stops_nothing(openmind, notes: Path) -> None:
    (notes / "broken.md").write_bytes(b"\x00\x01\x02" * 500)
    (notes / "dangling.md").symlink_to(notes / "nowhere.md")
    os.mkfifo(notes / "pipe.md")
    openmind.done("source", "add", str(notes))

    openmind("index")

    assert "Alpha beta gamma." in openmind.done("search", "alpha").out


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
def test_names_of_any_bytes_are_found_and_linked(openmind, notes: Path) -> None:
    odd = os.fsencode(notes) + b"/[b]\xff\n%41#\x1b[31m.md"
    Path(os.fsdecode(odd)).write_bytes(b"The zeppelin lands at noon.")
    openmind.done("source", "add", str(notes))
    openmind.done("index")

    found = openmind.done("search", "zeppelin")
    assert found.out.splitlines()[0] == f"{notes}/[b]\\xff\\n%41#\\x1b[31m.md:1: The zeppelin lands at noon."
    assert all(line.startswith(f"{notes}/") for line in found.out.splitlines())

    asked = openmind.done("ask", "When does the zeppelin land?")
    assert "%5Bb%5D%FF%0A%2541%23%1B%5B31m.md" in asked.out
    assert "\x1b" not in asked.out


def test_a_missing_folder_is_reported_and_its_memory_kept(openmind, notes: Path) -> None:
    openmind.done("source", "add", str(notes))
    openmind.done("index")
    notes.rename(notes.with_name("elsewhere"))

    told = openmind("index")

    assert told.code == 1
    assert str(notes) in told.out
    assert "Alpha beta gamma." in openmind.done("search", "alpha").out
    assert str(notes) in openmind.done("status").out


def test_many_deletions_wait_for_consent(openmind, write: Write, notes: Path) -> None:
    for number in range(30):
        write(f"many/{number}.md", f"Note number {number} about kites.")
    openmind.done("source", "add", str(notes))
    openmind.done("index")
    for path in notes.rglob("*.md"):
        path.unlink()

    refused = openmind("index")
    assert refused.code == 1
    assert "--accept-deletions" in refused.out
    assert openmind.done("status", "--json").object["waiting_deletions"] == 31
    assert "kites" in openmind.done("search", "kites").out

    assert openmind.done("index", "--accept-deletions", "--json").object["removed_files"] == 31
    assert openmind.done("search", "kites", "--json").object["results"] == []
