import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from openmind.domain.errors import JobActive, JobError
from openmind.domain.ids import JobId
from openmind.domain.jobs import IndexJob, JobState, ProcessMark
from openmind.domain.search import SearchState
from openmind.testing.fakes.jobs import FakeProcesses


def on_disk(home: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in home.rglob("*") if path.is_file())


def unfinished(memory, process: ProcessMark | None = None) -> IndexJob:
    at = memory.jobs.now().isoformat()
    job = IndexJob(id=JobId("job_000000000000"), state=JobState.RUNNING, started_at=at, updated_at=at, process=process)
    with memory.storage.catalog.writing() as session:
        session.add_job(attrs.evolve(job, state=JobState.PENDING))
        session.change_job(job, expected=JobState.PENDING)
    return job


def test_a_forgotten_source_is_gone_at_once_without_the_index_lock(world, memory) -> None:
    path = world.write("a.txt", "zanzibar quartz in the garden")
    memory.index()
    [source] = memory.sources.list()

    with memory.storage.index_lock():  # as while another process indexes
        report = memory.sources.forget(source.id)

    assert (report.files_removed, report.chunks_removed) == (1, 1)
    assert memory.search("zanzibar quartz").state is SearchState.NOTHING_INDEXED
    assert path.exists()


def test_what_was_forgotten_is_swept_by_the_next_run(world, memory, tmp_path) -> None:
    world.write("a.txt", "zanzibar quartz in the garden")
    memory.index()
    [source] = memory.sources.list()
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("heliotrope")

    memory.sources.forget(source.id)
    memory.sources.add(other)
    memory.index()

    with memory.storage.catalog.reading() as snapshot:
        assert snapshot.garbage(died_before=float("inf"), limit=10) == ()


def test_a_dismissed_source_is_taken_off_the_disk_by_another_process(world, memory) -> None:
    world.write("a.txt", "zanzibarquartz in the garden")
    memory.index()
    [source] = memory.sources.list()
    processes = FakeProcesses()

    attrs.evolve(memory.sources, sweep_elsewhere=processes.launch_sweep).dismiss(source.id)
    assert processes.sweeps == 1
    assert "zanzibarquartz" in on_disk(world.home)
    command = [sys.executable, "-m", "openmind.worker", "--sweep"]
    subprocess.run(command, env={**os.environ, "OPENMIND_HOME": str(world.home)}, check=True)

    assert "zanzibarquartz" not in on_disk(world.home)


def test_a_dismissed_source_is_gone_also_where_no_process_can_be_started(world, memory) -> None:
    world.write("a.txt", "zanzibar quartz in the garden")
    memory.index()
    [source] = memory.sources.list()
    processes = FakeProcesses(error=JobError("there are too many processes"))

    attrs.evolve(memory.sources, sweep_elsewhere=processes.launch_sweep).dismiss(source.id)

    assert memory.sources.list() == ()
    assert memory.search("zanzibar quartz").state is SearchState.NOTHING_INDEXED


def test_no_source_is_removed_while_a_job_is_unfinished(world, memory) -> None:
    from openmind.adapters.processes import this_process

    [source] = memory.sources.list()
    unfinished(memory, this_process())

    for remove in (memory.sources.forget, memory.sources.remove):
        with pytest.raises(JobActive):
            remove(source.id)
    assert memory.sources.list() == (source,)


def test_a_job_whose_worker_died_is_not_in_the_way(world, memory) -> None:
    [source] = memory.sources.list()
    unfinished(memory, ProcessMark(pid=2**22 + 1, started_at=0.0, boot_id="another"))

    memory.sources.forget(source.id)

    assert memory.sources.list() == ()
