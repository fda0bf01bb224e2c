"""What listeners hear of a run."""

from datetime import UTC, datetime

from openmind.application.indexing.run_log import RunLog, end_dead_runs
from openmind.domain.events import Progress
from openmind.domain.ids import RunId
from openmind.domain.jobs import IndexRun, JobState
from openmind.domain.recognition import PageNews, PageText
from openmind.testing.fakes.catalog import MemoryCatalog

PAGE = PageNews(PageText(name="x", text="", confidence=1.0, warning=""), 2, 9)


def test_the_file_that_is_waited_for_is_named_and_its_pages_while_they_are_recognised() -> None:
    heard: list[Progress] = []
    log = RunLog(
        catalog=MemoryCatalog(),
        run=IndexRun(id=RunId("run_1"), started_at="t", state=JobState.RUNNING),
        sink=heard.append,
        now=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        clock=iter(range(0, 1_000, 10)).__next__,
    )

    log.at("/next.pdf")
    log.waits_for("/slow.pdf")
    log.waits_for("/slow.pdf", PAGE)
    log.waits_for("/slow.pdf", PAGE)
    saved = log.run.current_file
    log.waits_for("/other.pdf")

    told = [(event.current_file, event.recognising, event.page, event.pages) for event in heard]
    assert told == [
        ("/next.pdf", False, 0, 0),
        ("/slow.pdf", False, 0, 0),
        ("/slow.pdf", True, 2, 9),
        ("/slow.pdf", True, 2, 9),
        ("/other.pdf", False, 0, 0),
    ]
    assert saved == "/slow.pdf, page 2 of 9"


def test_another_file_is_told_at_once_since_its_reader_may_leave_no_moment_to_tell_it_later() -> None:
    heard: list[Progress] = []
    log = RunLog(
        catalog=MemoryCatalog(),
        run=IndexRun(id=RunId("run_1"), started_at="t", state=JobState.RUNNING),
        sink=heard.append,
        now=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        clock=lambda: 0.0,
    )

    log.state(JobState.RUNNING)
    for path in ("/a.txt", "/a.txt", "/b.txt", ""):
        log.waits_for(path)

    assert [event.current_file for event in heard] == ["", "/a.txt", "/b.txt", ""]


def test_a_sign_of_life_is_no_progress() -> None:
    times = iter(datetime(2026, 1, 2, 3, minute, tzinfo=UTC) for minute in range(10))
    log = RunLog(
        catalog=MemoryCatalog(),
        run=IndexRun(id=RunId("run_1"), started_at="t"),
        sink=lambda _: None,
        now=lambda: next(times),
    )

    def progressed_at_minute() -> int:
        log.save()
        return datetime.fromisoformat(log.run.progressed_at).minute

    assert [progressed_at_minute(), progressed_at_minute()] == [0, 0]
    log.count(indexed=1)
    assert [progressed_at_minute(), progressed_at_minute()] == [2, 2]
    log.waits_for("/scan.pdf", PAGE)
    assert progressed_at_minute() == 4
    assert log.run.heartbeat_at == "2026-01-02T03:05:00+00:00"


def test_a_run_whose_process_died_ended_with_its_last_sign_of_life() -> None:
    catalog = MemoryCatalog()
    began, last = "2026-01-02T03:04:05+00:00", "2026-01-02T03:05:05+00:00"
    with catalog.writing() as session:
        session.save_run(IndexRun(id=RunId("run_1"), started_at=began, state=JobState.RUNNING, heartbeat_at=last))
        session.save_run(IndexRun(id=RunId("run_2"), started_at=began, state=JobState.DISCOVERING))

    end_dead_runs(catalog)

    with catalog.reading() as snapshot:
        ended = {run.id: (run.state, run.finished_at) for run in snapshot.runs(limit=9)}
    assert ended == {"run_1": (JobState.FAILED, last), "run_2": (JobState.FAILED, began)}


def test_the_pace_that_is_told_and_saved_begins_anew_after_a_pause() -> None:
    heard: list[Progress] = []
    catalog, times = MemoryCatalog(), [0.0]
    log = RunLog(
        catalog=catalog,
        run=IndexRun(id=RunId("run_1"), started_at="t", state=JobState.DISCOVERING),
        sink=heard.append,
        now=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        clock=lambda: times[0],
    )
    log.count(total=1_000, already_indexed=400)

    for state, seconds, indexed in (
        (JobState.RUNNING, 100.0, 100),
        (JobState.PAUSED, 5_000.0, 0),
        (JobState.RUNNING, 20.0, 10),
    ):
        log.state(state)
        times[0] += seconds
        log.count(indexed=indexed)
        log.beat(force=True)

    assert [event.per_second for event in heard] == [0.0, 1.0, 0.0, 0.0, 0.0, 0.5]
    with catalog.reading() as snapshot:
        saved = snapshot.run(RunId("run_1"))
    assert saved is not None
    assert saved.per_second == 0.5
