"""Background jobs, in words."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import attrs
import pytest
from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexJob, IndexRun, IndexTally, JobState, ProcessMark
from openmind_cli.commands import jobs
from openmind_cli.main import main
from openmind_cli.render.jobs import (
    history_rows,
    job_lines,
    job_of,
    print_history,
    rows_of,
    status_object,
    under_way_notice,
    unread_notice,
)

BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_job(**changes: object) -> IndexJob:
    values: dict[str, object] = {
        "id": JobId("job_001122334455"),
        "state": JobState.RUNNING,
        "tally": IndexTally(indexed=90, already_indexed=100, skipped=10, total=400, chunks=1_234),
        "current_file": "/home/me/a\nb.md",
        "started_at": BEGAN.isoformat(),
        "updated_at": (BEGAN + timedelta(seconds=10)).isoformat(),
        "per_second": 10.0,
        "process": ProcessMark(pid=4711, started_at=1.0, boot_id="boot"),
    }
    return IndexJob(**(values | changes))


def table(job: IndexJob | None, seconds: float = 10) -> dict[str, str]:
    return dict(rows_of(job, BEGAN + timedelta(seconds=seconds)))


def test_the_table_says_how_far_it_is() -> None:
    job = a_job()

    rows = table(job)

    assert rows["state"] == "running (process 4711)"
    assert (rows["total files"], rows["processed"], rows["already indexed"]) == ("400", "200", "100")
    assert (rows["passages"], rows["progress"]) == ("1,234", "50 %")
    assert rows["pace"] == "10.0 files/s, about 20 s left"
    assert rows["current file"] == "/home/me/a\\nb.md"


def test_what_the_log_says_of_a_job_that_hangs_stands_in_the_table() -> None:
    job = a_job(state=JobState.PENDING)

    assert dict(rows_of(job, BEGAN, words="The plugin\nhangs."))["its log says"] == "The plugin\\nhangs."
    assert status_object(job, BEGAN, words="It hangs.")["log_says"] == "It hangs."
    assert status_object(job, BEGAN)["log_says"] is None


def test_without_a_job_it_is_idle() -> None:
    assert table(None) == {"state": "idle: nothing was indexed yet"}
    assert status_object(None, BEGAN)["state"] == "idle"
    assert status_object(None, BEGAN)["stuck"] is False


def test_folders_that_are_not_there_are_named_beside_a_job_that_passed_them_over() -> None:
    done = a_job(state=JobState.COMPLETED, tally=IndexTally())

    assert ("not there now", "/mnt/u\\nsb; what was read from it is kept") in rows_of(
        done, BEGAN, missing=["/mnt/u\nsb"]
    )
    assert dict(rows_of(None, BEGAN, missing=["/mnt/usb"]))["not there now"].startswith("/mnt/usb;")
    assert status_object(done, BEGAN, missing=["/mnt/usb"])["missing_sources"] == ["/mnt/usb"]


def test_vectors_that_follow_the_files_have_their_own_count_and_pace() -> None:
    tally = IndexTally(indexed=400, total=400, vectors_wanted=5_000, vectors_made=1_200)
    job = a_job(tally=tally, per_second=110.0)

    rows = table(job)
    assert (rows["progress"], rows["vectors"]) == ("100 %", "1,200 of 5,000 passages (24 %)")
    assert rows["pace"] == "110.0 passages/s, about 35 s left"
    shown = status_object(job, BEGAN)
    assert (shown["vectors_wanted"], shown["vectors_made"], shown["vectors_per_second"]) == (5_000, 1_200, 110.0)
    assert shown["files_per_second"] is None
    assert "vectors follow: 1,200 of 5,000 passages (24 %)" in under_way_notice(job)


def test_nothing_is_said_of_the_pace_of_a_job_that_rests() -> None:
    paused = a_job(state=JobState.PAUSED, error="the model server does not answer")

    assert "pace" not in table(paused)
    assert status_object(paused, BEGAN)["seconds_left"] is None
    assert table(paused)["reason"] == "the model server does not answer"


def test_progress_never_passes_a_hundred_and_nothing_found_is_no_progress() -> None:
    assert table(a_job(tally=IndexTally(indexed=12, total=10)))["progress"] == "100 %"
    for state in (JobState.DISCOVERING, JobState.STOPPED, JobState.FAILED):
        assert table(a_job(state=state, tally=IndexTally()))["progress"] == "0 %"
    assert table(a_job(state=JobState.COMPLETED, tally=IndexTally()))["progress"] == "100 %"


def test_a_silent_job_shows_as_stuck() -> None:
    assert "stuck" in table(a_job(), seconds=120)["state"]
    assert status_object(a_job(), BEGAN + timedelta(seconds=120))["stuck"] is True


def test_a_job_that_lives_and_finishes_nothing_says_for_how_long_and_what_can_be_done() -> None:
    at = BEGAN + timedelta(seconds=10)
    begun = IndexRun(id=RunId("run_1"), started_at=BEGAN.isoformat(), progressed_at=BEGAN.isoformat())
    still_s = begun.still_s(BEGAN + timedelta(minutes=12))

    rows = dict(rows_of(a_job(), at, still_s=still_s))
    in_front = dict(rows_of(a_job(id=JobId("")), at, still_s=still_s))

    assert rows["no progress"] == "nothing was finished for 12 min 00 s"
    assert "`openmind index stop`, then `openmind index start`" in rows["next"]
    assert "Ctrl-C in its terminal, then `openmind index`" in in_front["next"]
    assert status_object(a_job(), at, still_s=still_s)["still_s"] == 720
    assert begun.still_s(BEGAN + timedelta(minutes=4)) == 0.0
    assert attrs.evolve(begun, state=JobState.PAUSED).still_s(BEGAN + timedelta(hours=9)) == 0.0
    assert "no progress" not in table(a_job())


def test_a_table_that_is_followed_keeps_its_rows_while_there_is_nothing_to_say() -> None:
    silent = a_job(current_file="", per_second=0.0)

    assert table(silent).keys() == table(a_job()).keys()
    assert not any(line.plain.startswith(("pace", "current")) for line in job_lines(table(silent).items()))


def test_a_finished_job_says_how_long_it_took() -> None:
    ended = (BEGAN + timedelta(seconds=65)).isoformat()

    rows = table(a_job(state=JobState.FAILED, error="the disk is full", completed_at=ended))

    assert rows["error"] == "the disk is full"
    assert rows["ended"].endswith("after 1 min 05 s")
    assert rows["state"] == "failed"


def test_a_run_in_the_foreground_is_shown_without_a_job() -> None:
    run = IndexRun(id=RunId("run_1"), started_at=BEGAN.isoformat(), tally=IndexTally(indexed=1, total=2))

    job = job_of(run)

    assert table(job)["job"].startswith("none")
    assert status_object(job, BEGAN)["job_id"] is None


@pytest.mark.parametrize(
    ("job", "step"),
    [
        (a_job(), ""),
        (a_job(state=JobState.PAUSED), "`openmind index resume` lets it go on, `openmind index stop` ends it"),
        (a_job(state=JobState.PAUSED, error="gone"), "it goes on by itself"),
        (a_job(state=JobState.FAILED, error="full"), "`openmind index start` goes on from there"),
        (a_job(state=JobState.STOPPED), "`openmind index start` goes on from there"),
        (a_job(state=JobState.COMPLETED), ""),
    ],
)
def test_a_job_that_does_not_go_on_says_what_can_be_done(job: IndexJob, step: str) -> None:
    assert table(job).get("next", "").startswith(step)
    assert bool(step) == ("next" in table(job))


def test_beside_what_was_found_an_early_end_of_the_last_run_is_told() -> None:
    run = IndexRun(id=RunId("run_1"), started_at=BEGAN.isoformat(), tally=IndexTally(indexed=4, total=10))

    for state in (JobState.STOPPED, JobState.FAILED):
        assert "ended early after 4 of 10 files" in unread_notice(attrs.evolve(run, state=state))
        assert unread_notice(attrs.evolve(run, state=state, tally=IndexTally(indexed=10, total=10))) == ""
    assert unread_notice(attrs.evolve(run, state=JobState.COMPLETED)) == ""
    assert unread_notice(run) == ""
    assert unread_notice(None) == ""


def test_a_history_through_a_pipe_begins_with_its_heads(capsys) -> None:
    print_history([IndexRun(id=RunId("run_1"), started_at=BEGAN.isoformat(), state=JobState.COMPLETED)])

    heads, row = capsys.readouterr().out.splitlines()
    assert heads.split("\t")[:2] == ["began", "state"]
    assert len(row.split("\t")) == len(heads.split("\t"))


def test_the_history_has_one_row_a_run() -> None:
    run = IndexRun(
        id=RunId("run_1"),
        started_at=BEGAN.isoformat(),
        finished_at=(BEGAN + timedelta(seconds=5)).isoformat(),
        state=JobState.COMPLETED,
        tally=IndexTally(indexed=1_000, failed=2),
    )

    by_command, by_job = history_rows([run, attrs.evolve(run, job_id=JobId("job_1"), error="a\nb")])

    assert by_command[1:4] == ("completed", "5.0 s", "1,000")
    assert by_command[-2:] == ("command", "")
    assert by_job[-2:] == ("job_1", "a\\nb")


@pytest.mark.parametrize("state", JobState)
def test_every_state_can_be_shown(state: JobState) -> None:
    assert state.value.replace("_", " ") in table(a_job(state=state))["state"]


def test_beside_what_was_found_a_pause_tells_its_reason() -> None:
    assert under_way_notice(a_job(state=JobState.PAUSED, error="the model server does not answer")) == (
        "Indexing is paused (200 of 400 files): The model server does not answer."
    )
    assert "is paused" in under_way_notice(a_job(state=JobState.PAUSED))


@attrs.define
class InterruptedStart:
    """The jobs of a memory where Ctrl-C comes while one is started: before it is there, or after."""

    found: list[IndexJob | None]

    def current(self) -> IndexJob | None:
        return self.found.pop(0)

    def begin(self) -> tuple[IndexJob, bool]:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("after", "told"),
    [(a_job(), f"{a_job().id} indexes in the background all the same"), (None, "Interrupted\n")],
)
def test_a_start_that_is_interrupted_names_the_job_that_goes_on_all_the_same(
    after: IndexJob | None, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @attrs.frozen
    class Memory:
        jobs: InterruptedStart

    monkeypatch.setattr(jobs, "open_memory", lambda: nullcontext(Memory(InterruptedStart([None, after]))))

    assert main(["index", "start"]) == 130
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("given", ["nan", "-1", "3601"])
def test_a_wait_that_is_no_time_is_refused_with_what_can_be_given(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flush", "--wait", given]) == 2
    assert "from 0 to 3,600" in capsys.readouterr().err
