"""What starts workers keeps its promises; the workers are stand-ins that only say which job they were given."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from attrs import define, field
from openmind.adapters.processes import is_alive
from openmind.adapters.subprocess_launcher import FOR_A_PERSON, SubprocessJobLauncher, log_of
from openmind.application.lookout import warn
from openmind.domain.errors import JobError
from openmind.domain.ids import JobId
from openmind.domain.jobs import ProcessMark
from openmind.testing.contracts.job_launcher import JobLauncherContract, LaunchPromises, LaunchWorld, Started
from openmind.testing.fakes.jobs import FakeProcesses
from openmind.worker import _told_to_a_person

PATIENCE_S = 120
"""Far more than a shell needs to start."""
STAND_IN = """#!/bin/sh
for argument; do last=$argument; done
echo "$last"
echo "$last" >&2
echo "$$ $last" > {folder}/$$.draft
mv {folder}/$$.draft {folder}/$$.started
read -r line < {folder}/hold
"""
ELSEWHERE = """
import json, sys
from pathlib import Path
from attrs import asdict
from openmind.adapters.subprocess_launcher import SubprocessJobLauncher
sys.executable, home, job_id = sys.argv[1:]
print(json.dumps(asdict(SubprocessJobLauncher(Path(home), Path(home, "logs")).launch(job_id))))
"""


@define
class ShellWorkers:
    """Where a shell script stands in for the interpreter that would be started."""

    folder: Path
    interpreter: Path
    python: str

    @property
    def launcher(self) -> SubprocessJobLauncher:
        return SubprocessJobLauncher(self.folder, self.folder / "logs")

    @property
    def broken(self) -> SubprocessJobLauncher:
        return SubprocessJobLauncher(self.folder, self.interpreter / "logs")

    def started(self, number: int) -> Sequence[Started]:
        end = time.monotonic() + PATIENCE_S
        while len(found := sorted(self.folder.glob("*.started"))) < number:
            assert time.monotonic() < end, f"of {number} workers only {len(found)} began"
            time.sleep(0.01)
        told = [path.read_text().split() for path in found]
        return [Started(int(pid), None if word == "--sweep" else JobId(word)) for pid, word in told]

    def is_alive(self, mark: ProcessMark) -> bool:
        return is_alive(mark)

    def launch_elsewhere(self, job_id: JobId) -> ProcessMark:
        command = [self.python, "-c", ELSEWHERE, str(self.interpreter), str(self.folder), job_id]
        return ProcessMark(**json.loads(subprocess.run(command, capture_output=True, check=True).stdout))

    def log(self, job_id: JobId) -> str:
        return log_of(self.folder / "logs", job_id).read_text()


class TestSubprocessJobLauncher(JobLauncherContract):
    @pytest.fixture
    def world(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShellWorkers]:
        folder = tmp_path / "home"
        folder.mkdir(mode=0o700)
        interpreter = folder / "interpreter"
        interpreter.write_text(STAND_IN.format(folder=f"'{folder}'"))
        interpreter.chmod(0o700)
        hold = folder / "hold"
        os.mkfifo(hold)
        held = os.open(hold, os.O_RDWR)
        python = sys.executable
        monkeypatch.setattr(sys, "executable", str(interpreter))
        try:
            yield ShellWorkers(folder, interpreter, python)
        finally:
            hold.unlink()
            os.close(held)  # each stand-in that reads comes to an end, and none that has yet to begin can wait


def test_the_last_words_of_a_job_are_its_last_line_for_a_person(tmp_path: Path) -> None:
    launcher, job = SubprocessJobLauncher(tmp_path, tmp_path / "logs"), JobId("job_000000000001")
    log = log_of(tmp_path / "logs", job)
    log.parent.mkdir()

    log.write_text("a library: loads weights\n")
    assert launcher.last_words(job) == ""

    log.write_text(f"{FOR_A_PERSON}It waits.\n{FOR_A_PERSON}It hangs.\nTimeout (0:01:00)!\nThread 0x1\n  File x\n")
    assert launcher.last_words(job) == "It hangs."


def test_what_a_worker_logs_is_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    with _told_to_a_person():
        warn("It hangs.")

    assert capsys.readouterr().err == f"{FOR_A_PERSON}It hangs.\n"


@define
class ImaginedWorkers:
    launcher: FakeProcesses = field(factory=FakeProcesses)
    broken: FakeProcesses = field(factory=lambda: FakeProcesses(error=JobError("there are too many processes")))

    def started(self, number: int) -> Sequence[Started]:
        jobs = [
            Started(pid, job) for pid, job in zip(sorted(self.launcher.running), self.launcher.launched, strict=True)
        ]
        return [*jobs, *(Started(0, None) for _ in range(self.launcher.sweeps))]

    def is_alive(self, mark: ProcessMark) -> bool:
        return self.launcher.alive(mark)


class TestFakeProcesses(LaunchPromises):
    @pytest.fixture
    def world(self) -> LaunchWorld:
        return ImaginedWorkers()
