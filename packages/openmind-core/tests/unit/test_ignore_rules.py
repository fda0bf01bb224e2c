import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.adapters.ignore_files import MAX_BYTES, MAX_LINES, IgnoreRules
from openmind.adapters.ignore_rules import generated_folders, is_foreign, is_noise, is_secret
from openmind.domain.errors import ExtractionFailed

NOTHING: frozenset[bytes] = frozenset()


def rules(*, git: bytes | None = None, own: bytes | None = None, configured: tuple[str, ...] = ()) -> IgnoreRules:
    files = {b"/s/.gitignore": git, b"/s/.openmindignore": own}
    names = [path.removeprefix(b"/s/") for path, data in files.items() if data is not None]
    return IgnoreRules.of(b"/s/", configured).inside(b"/s/", names, lambda path: files[path] or b"")


def left_out(checked: IgnoreRules, path: bytes) -> bool:
    name = path.rstrip(b"/").rpartition(b"/")[2]
    return checked.leave_out(path, name, folder=path.endswith(b"/"), generated=NOTHING)


@pytest.mark.parametrize(
    "name",
    [
        b".git",
        b".venv",
        b".cache",
        b"venv",
        b"node_modules",
        b"Node_Modules",
        b"__pycache__",
        b"build",
        b"dist",
        b"Assets.xcassets",
        b"Mail.app",
        b"Holiday.photoslibrary",
        b"AppData",
        b"$RECYCLE.BIN",
    ],
)
def test_noisy_folders(name: bytes) -> None:
    assert is_noise(name, folder=True)


@pytest.mark.parametrize("name", [b"Build", b"notes", b"target", b"bin", b"Node", b"app", b"my.apple", b"vendor"])
def test_folders_that_a_person_may_well_have_made(name: bytes) -> None:
    assert not is_noise(name, folder=True)


@pytest.mark.parametrize(
    "name",
    [b"~$letter.docx", b"a.tmp", b"film.part", b"x.crdownload", b".DS_Store", b"._a.txt", b"notes.txt~", b".a.swp"],
)
def test_temporary_names(name: bytes) -> None:
    assert is_noise(name, folder=False)


@pytest.mark.parametrize("name", [b"a.txt", b"build", b"part.txt", b"~notes.txt", b"template.tmpl"])
def test_ordinary_names(name: bytes) -> None:
    assert not is_noise(name, folder=False)
    assert not is_secret(name, folder=False)


@pytest.mark.parametrize(
    "name",
    [b"server.pem", b"server.KEY", b"id_rsa", b"id_ed25519.pub", b"id_rsa.txt", b".env", b".env.local", b"all.kdbx"],
)
def test_secret_files(name: bytes) -> None:
    assert is_secret(name, folder=False)


@pytest.mark.parametrize("name", [b"id_card.pdf", b"keynotes.txt", b"environment.md", b"pemmican.txt"])
def test_files_that_only_look_like_secrets(name: bytes) -> None:
    assert not is_secret(name, folder=False)


@pytest.mark.parametrize("name", [b".ssh", b".gnupg", b".aws", b"Keychains", b".mozilla"])
def test_secret_folders(name: bytes) -> None:
    assert is_secret(name, folder=True)


@pytest.mark.parametrize(
    "names",
    [
        [b".openmind-home", b"config.toml"],
        [b"CACHEDIR.TAG"],
        [b"pyvenv.cfg", b"lib/"],
        [b"places.sqlite", b"notes.txt"],
        [b"Login Data"],
        [b"Keychains/", b"Application Support/", b"Mail/"],
    ],
)
def test_folders_that_are_never_a_persons_own(names: list[bytes]) -> None:
    assert is_foreign(names)


def test_a_folder_with_documents_is_a_persons_own() -> None:
    assert not is_foreign([b"notes.txt", b"Keychains/", b"Cookies"])


def test_ordinary_words_mean_generated_files_only_in_a_project() -> None:
    assert b"target" in generated_folders([b"Cargo.toml", b"target/"])
    assert not generated_folders([b"notes.txt", b"target/"])

    in_a_project = generated_folders([b"package.json"])
    assert IgnoreRules().leave_out(b"/s/out/", b"out", folder=True, generated=in_a_project)
    assert not IgnoreRules().leave_out(b"/s/out.txt", b"out", folder=False, generated=in_a_project)


def test_git_patterns_leave_out_and_bring_back_as_git_does() -> None:
    checked = rules(git=b"# comment\r\n\r\n*.log\r\n!keep.log\r\nlogs/\r\n/only-here.txt\r\n\\!odd.txt\r\n")

    assert left_out(checked, b"/s/a.log")
    assert not left_out(checked, b"/s/keep.log")
    assert left_out(checked, b"/s/deep/logs/")
    assert not left_out(checked, b"/s/logs")
    assert left_out(checked, b"/s/only-here.txt")
    assert not left_out(checked, b"/s/deep/only-here.txt")
    assert left_out(checked, b"/s/!odd.txt")


def test_a_pattern_speaks_of_what_it_names_and_not_of_what_is_in_it() -> None:
    inside = rules(git=b"a/**\n!a/keep.txt\n*.log\n!/b/\n")

    assert not left_out(inside, b"/s/a/")
    assert not left_out(inside, b"/s/a/keep.txt")
    assert left_out(inside, b"/s/a/other.txt")
    assert left_out(inside, b"/s/b/x.log")


def test_only_openminds_own_file_brings_back_what_is_noisy_or_hidden() -> None:
    assert left_out(rules(git=b"!build/\n!.plans/"), b"/s/build/")
    assert not left_out(rules(own=b"!build/\n!.plans/"), b"/s/build/")
    assert not left_out(rules(own=b"!build/\n!.plans/"), b"/s/.plans/")


def test_only_the_configuration_brings_back_secrets() -> None:
    assert left_out(rules(own=b"!.ssh/\n!*.pem"), b"/s/.ssh/")
    assert left_out(rules(git=b"!*.pem"), b"/s/a.pem")
    assert not left_out(rules(configured=("!*.pem",)), b"/s/a.pem")


def test_the_nearest_file_that_speaks_of_a_path_decides() -> None:
    outer = rules(own=b"*.txt")
    inner = outer.inside(b"/s/sub/", [b".openmindignore"], lambda path: b"!here.txt")

    assert left_out(inner, b"/s/sub/other.txt")
    assert not left_out(inner, b"/s/sub/here.txt")
    assert left_out(outer, b"/s/here.txt")


def test_the_configuration_is_the_outermost_word() -> None:
    checked = rules(configured=("*.txt",), own=b"!a.txt")

    assert not left_out(checked, b"/s/a.txt")
    assert left_out(checked, b"/s/b.txt")


def test_patterns_and_names_that_are_no_utf8_match_each_other() -> None:
    checked = rules(git=b"caf\xe9.txt\n")

    assert left_out(checked, b"/s/caf\xe9.txt")
    assert not left_out(checked, b"/s/caf\xc3\xa9.txt")


def test_a_byte_order_mark_is_no_part_of_the_first_pattern() -> None:
    assert left_out(rules(git=b"\xef\xbb\xbf*.log"), b"/s/a.log")


def test_lines_that_are_no_patterns_are_passed_over() -> None:
    checked = rules(git=b"!\n/\n***/\n[\n[z-a]\n\\\n\x00\n*.log\n")

    assert left_out(checked, b"/s/a.log")
    assert not left_out(checked, b"/s/a.txt")


def test_rules_that_are_too_many_are_not_used_in_part() -> None:
    for data in (b"*.log\n" + b"x" * MAX_BYTES, b"*.log\n" * MAX_LINES):
        with pytest.raises(ExtractionFailed, match="more than 256 KB or 5,000 lines"):
            rules(git=data)


@settings(deadline=None, max_examples=150)
@given(data=st.binary(max_size=200), path=st.binary(min_size=1, max_size=60).filter(lambda name: b"\0" not in name))
def test_no_ignore_file_and_no_name_breaks_the_rules(data: bytes, path: bytes) -> None:
    checked = rules(git=data, own=data)
    name = re.sub(rb"/+", b"/", path.strip(b"/")) or b"a"

    assert left_out(checked, b"/s/" + name) in {True, False}
    assert left_out(checked, b"/s/" + name + b"/") in {True, False}
