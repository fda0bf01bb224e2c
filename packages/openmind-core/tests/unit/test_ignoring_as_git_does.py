"""`.gitignore` means what git says it means: random trees with random patterns, compared with git itself."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from openmind.adapters.local_files import LocalFileTree
from openmind.domain.ids import SourceId
from openmind.domain.sources import Source
from openmind.ports.file_tree import FoundFile

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="there is no git to compare with")

FOLDERS = ["a", "b", "c", "long name", "Ünï"]
FILES = ["x.txt", "y.md", "x.log", "README", "a", "#hash", "!bang", "tail ", "[a].txt", "back\\slash", "über.txt"]
PIECES = ["a", "b", "c", "x.txt", "*.txt", "*", "**", "?", "x.*", "[ab]", "[!a]", "README", "long name", "*.md", "Ünï"]
WHOLE = [
    "", " ", "# comment", "\\#hash", "\\!bang", "tail\\ ", "tail ", "!", "/", "//", "a/", "/a", "!/a/", "**/x.txt",
    "a/**", "a/**/x.txt", "*/", "/*", "!*.md", "\\[a\\].txt", "[", "a\\", "back\\\\slash", "x.txt/", "*.log  ", "\ta",
    "a//b", "./a", "**", "/**/", "***", "a**b", "[a-", "[^b].txt", "ü*", "*.txt\r",
]  # fmt: skip


def line(chance: random.Random) -> str:
    if chance.random() < 0.4:
        return chance.choice(WHOLE)
    parts = [chance.choice(PIECES) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
    return chance.choice(["", "", "!", "!"]) + chance.choice(["", "", "/"]) + "/".join(parts) + chance.choice(["", "/"])


def plant(root: Path, chance: random.Random) -> None:
    folders = [root]
    for _ in range(6):
        folder = chance.choice(folders) / chance.choice(FOLDERS)
        if not folder.exists():
            folder.mkdir()
            folders.append(folder)
    for folder in folders:
        for name in chance.sample(FILES, 5):
            if not (folder / name).exists():
                (folder / name).write_text("text", encoding="utf-8")
        if folder == root or chance.random() < 0.3:
            lines = [line(chance) for _ in range(chance.randint(1, 6))]
            (folder / ".gitignore").write_text("\n".join(lines), encoding="utf-8")


def kept_by_git(root: Path) -> set[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_GLOBAL": os.devnull}
    environment |= {"GIT_CONFIG_SYSTEM": os.devnull, "GIT_DIR": str(root.with_name("repository"))}
    command = [str(GIT), "-c", "core.bare=false", f"--work-tree={root}"]
    subprocess.run([str(GIT), "init", "-q", "--bare", environment["GIT_DIR"]], env=environment, check=True)
    listed = subprocess.run(
        [*command, "ls-files", "--others", "--exclude-standard", "-z"],
        env=environment, cwd=root, check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    return {name for name in listed.stdout.split(b"\0") if name and not name.endswith(b".gitignore")}


def kept_by_openmind(root: Path) -> set[bytes]:
    source = Source(id=SourceId("src_1"), path_bytes=os.fsencode(root), created_at="")
    found = LocalFileTree().scan(source, lambda _: True)
    start = len(source.path_bytes) + 1
    return {one.path_bytes[start:] for one in found if isinstance(one, FoundFile)}


@pytest.mark.parametrize("seed", range(40))
def test_a_random_tree_is_seen_as_git_sees_it(tmp_path: Path, seed: int) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    plant(root, random.Random(seed))

    assert kept_by_openmind(root) == kept_by_git(root), [
        (str(path.relative_to(root)), path.read_text("utf-8")) for path in root.rglob(".gitignore")
    ]
