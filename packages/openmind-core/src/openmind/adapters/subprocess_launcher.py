"""Starts background workers as processes of their own."""

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from openmind.adapters.processes import NoSuchProcess, mark_of
from openmind.domain.errors import JobError
from openmind.domain.ids import JobId
from openmind.domain.jobs import ProcessMark

WORKER = "openmind.worker"
KEPT_LOGS = 10
"""Logs of earlier jobs that are kept."""
LOG_PREFIX = "index-"
FOR_A_PERSON = "openmind: "
"""What a line in the log of a job begins with when it is a sentence for a person."""
TAIL_BYTES = 65_536
"""How far back one is looked for; where a process hangs fills a few pages."""


def log_of(logs: Path, job_id: JobId) -> Path:
    """Say where the worker of a job writes its output."""
    return logs / f"{LOG_PREFIX}{job_id}.log"


@frozen
class SubprocessJobLauncher:
    """Starts `python -m openmind.worker`, detached, with a log of its own."""

    home: Path
    logs: Path

    def launch(self, job_id: JobId) -> ProcessMark:
        """See the port."""
        return self._start(["--job-id", job_id], log_of(self.logs, job_id))

    def last_words(self, job_id: JobId) -> str:
        """See the port."""
        try:
            with log_of(self.logs, job_id).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
                lines = log.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        told = [line.removeprefix(FOR_A_PERSON).strip() for line in lines if line.startswith(FOR_A_PERSON)]
        return told[-1] if told else ""

    def launch_sweep(self) -> None:
        """See the port."""
        self._start(["--sweep"], Path(os.devnull))

    def _start(self, arguments: list[str], output: Path) -> ProcessMark:
        import subprocess  # most processes look at jobs and start none

        detached = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        try:
            self.logs.mkdir(mode=0o700, exist_ok=True)
            self._prune()
            log = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            try:
                process = subprocess.Popen(
                    # -P: the folder it starts in is no place to import from.
                    [sys.executable, "-P", "-m", WORKER, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "OPENMIND_HOME": str(self.home), "PYTHONUNBUFFERED": "1"},
                    cwd=self.home.anchor,  # so that it keeps no folder from being renamed, unmounted or removed
                    start_new_session=True,
                    creationflags=detached,
                )
            finally:
                os.close(log)
            mark = mark_of(process.pid)
        except (OSError, NoSuchProcess) as error:
            raise JobError(
                f"The background worker could not be started: {error}", hint="See: `openmind doctor`."
            ) from error
        # Somebody has to take note of its end, else a server that started it would keep it as a zombie.
        threading.Thread(target=process.wait, daemon=True, name=f"openmind-worker-{process.pid}").start()
        return mark

    def _prune(self) -> None:
        """Keep the logs of the last jobs only."""
        written = sorted(self.logs.glob(f"{LOG_PREFIX}job_*.log"), key=_modified, reverse=True)
        for old in written[KEPT_LOGS:]:
            with suppress(OSError):
                old.unlink()


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
