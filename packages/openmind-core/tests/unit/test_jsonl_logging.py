"""The log: bounded, private, and without a word of what people wrote."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind.adapters.jsonl_logging import JsonlJournal

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def journal(folder: Path, **changes: object) -> JsonlJournal:
    return JsonlJournal(folder / "openmind.log", now=lambda: AT, **changes)


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "openmind.log").read_text().splitlines()]


def test_an_event_is_one_line_of_json(tmp_path: Path) -> None:
    journal(tmp_path).note("index.ended", run="run_001122334455", files=3, seconds=1.23456, troubled=False, job=None)

    assert lines(tmp_path) == [
        {
            "time": "2026-01-02T03:04:05.000+00:00",
            "pid": os.getpid(),
            "event": "index.ended",
            "run": "run_001122334455",
            "files": 3,
            "seconds": 1.235,
            "troubled": False,
            "job": None,
        }
    ]


@pytest.mark.parametrize(
    "text",
    [
        "when is the rent due",
        "/home/me/diary.txt",
        "C:\\Users\\me",
        "zwei\nZeilen",
        "Miete",
        "u7Jt0X9bQm1zKp4RvWc8Ls2Yd6Fh3Ga5",
    ],
)
def test_text_that_is_no_word_of_our_own_is_left_out(tmp_path: Path, text: str) -> None:
    journal(tmp_path).note("search", query=text)

    [line] = lines(tmp_path)
    assert line["query"] == (text if text == "Miete" else "…")


@given(st.text(min_size=1))
def test_nothing_with_a_blank_or_a_slash_is_ever_written(tmp_path_factory, text: str) -> None:
    folder = tmp_path_factory.mktemp("log")

    journal(folder).note("search", query=f"{text} ", path=f"/{text}")

    [line] = lines(folder)
    assert (line["query"], line["path"]) == ("…", "…")


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_the_log_is_for_its_owner_only(tmp_path: Path) -> None:
    log = journal(tmp_path, max_bytes=200)
    for _ in range(10):
        log.note("search", hits=1)

    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_log_is_bounded(tmp_path: Path) -> None:
    log = journal(tmp_path, max_bytes=2_000)

    for number in range(500):
        log.note("search", hits=number)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["openmind.log", "openmind.log.1", "openmind.log.2"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3 * 2_200
    newest = [*lines(tmp_path), *map(json.loads, (tmp_path / "openmind.log.1").read_text().splitlines())]
    assert max(line["hits"] for line in newest) == 499


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    log = journal(tmp_path)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: log.note("search", hits=number), range(400)))

    assert sorted(line["hits"] for line in lines(tmp_path)) == list(range(400))


def test_a_log_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    journal(tmp_path / "no" / "folder").note("search")
    (tmp_path / "openmind.log").symlink_to(tmp_path / "elsewhere")

    journal(tmp_path).note("search")

    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "no").exists()


def test_a_log_that_is_deleted_meanwhile_begins_anew(tmp_path: Path) -> None:
    log = journal(tmp_path)
    log.note("search", hits=1)
    (tmp_path / "openmind.log").unlink()

    log.note("search", hits=2)

    assert [line["hits"] for line in lines(tmp_path)] == [2]
