"""What a new user does, from the first command to the last."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

Write = Callable[[str, str], Path]


def test_a_folder_becomes_memory_and_follows_its_changes(openmind, write: Write, tmp_path: Path) -> None:
    bread = write("kitchen/bread.md", "# Bread\n\n## Sourdough\n\nFeed the starter with rye flour every morning.\n")
    write("garden.txt", "Prune the apple tree in March, on a dry and frostless day.\n")
    write("empty.md", "")
    notes = tmp_path / "notes"

    added = openmind.done("source", "add", str(notes))
    assert str(notes) in added.out
    assert "openmind index" in added.err

    indexed = openmind.done("index")
    assert re.search(r"indexed +2 +\(\d passages\)", indexed.out)
    assert re.search(r"skipped +1\b", indexed.out)
    assert f"{notes / 'empty.md'}: The file holds no text" in indexed.out

    found = openmind.done("search", "rye flour")
    assert found.out.splitlines()[0].startswith(f"{bread}:")
    assert "Feed the starter with rye flour" in found.out

    asked = openmind.done("ask", "When is the apple tree pruned?")
    assert "Prune the apple tree in March" in asked.out
    assert (notes / "garden.txt").as_uri() in asked.out

    again = openmind.done("index")
    assert re.search(r"already indexed +2\b", again.out)
    assert re.search(r"\n  indexed +0\b", again.out)

    bread.write_text("# Bread\n\nThe oven is heated to 250 degrees with a stone.\n", encoding="utf-8")
    (notes / "garden.txt").rename(notes / "orchard.txt")
    changed = openmind.done("index", "--json").object
    assert (changed["indexed_files"], changed["moved_files"], changed["failed_files"]) == (1, 1, 0)

    assert "250 degrees" in openmind.done("search", "oven stone").out
    assert "Feed the starter" not in openmind.done("search", "rye flour").out
    assert str(notes / "orchard.txt") in openmind.done("search", "apple tree").out

    bread.unlink()
    assert openmind.done("index", "--json").object["removed_files"] == 1
    assert str(bread) not in openmind.done("search", "oven stone").out

    shown = openmind.done("status")
    assert "1 file, 1 passage\n" in shown.out

    [source] = openmind.done("source", "list", "--json").object["sources"]
    removed = openmind.done("source", "remove", source["id"])
    assert "2 files, 1 passage" in removed.out
    assert (notes / "orchard.txt").is_file()
    assert openmind.done("search", "apple tree", "--json").object["state"] == "nothing_indexed"


def test_a_source_can_be_named_by_its_path(openmind, write: Write, tmp_path: Path) -> None:
    write("a.md", "Alpha.")
    openmind.done("source", "add", str(tmp_path / "notes"))

    openmind.done("source", "remove", "../notes")

    assert openmind.done("source", "list").out == ""


def test_filters_narrow_a_search(openmind, write: Write, tmp_path: Path) -> None:
    write("one/tea.md", "Green tea is steeped at 70 degrees.")
    write("two/tea.txt", "Black tea is steeped in boiling water.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    openmind.done("index")

    def paths(*options: str) -> list[str]:
        results = openmind.done("search", "tea steeped", "--json", *options).object["results"]
        return sorted(hit["file_name"] + " " + Path(hit["path"]).parent.name for hit in results)

    assert paths() == ["tea.md one", "tea.txt two"]
    assert paths("--ext", "TXT") == ["tea.txt two"]
    assert paths("--folder", str(tmp_path / "notes" / "one")) == ["tea.md one"]
    assert paths("--limit", "1") in (["tea.md one"], ["tea.txt two"])
    assert paths("--after", "2100-01-01") == []
    assert openmind.done("search", "tea", "--json", "--before", "1990-01-01").object["state"] == "filtered_out"


def test_init_says_whether_the_home_was_there(openmind) -> None:
    assert openmind.done("init", "--json").object == {"home": str(openmind.home), "created": True}
    assert openmind.done("init", "--json").object == {"home": str(openmind.home), "created": False}
    assert str(openmind.home) in openmind.done("init").out


def test_the_demo_shows_a_search_and_an_answer_and_leaves_nothing(openmind, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    told = openmind("demo", env={"TMPDIR": str(temporary)})

    assert told.code == 0, told
    assert "pump-and-water.md" in told.out
    assert "harvest-supper.md" in told.out
    assert "Marit bakes eight loaves" in told.out
    assert "openmind source add" in told.out
    assert not openmind.home.exists()
    assert list(temporary.iterdir()) == []


def test_plugins_lists_what_is_installed(openmind) -> None:
    told = openmind.done("plugins")

    assert "commands: ask, " in told.out
    assert not openmind.home.exists()
    assert {plugin["name"] for plugin in openmind.done("plugins", "--json").object["plugins"]} >= {"cli", "stores"}
