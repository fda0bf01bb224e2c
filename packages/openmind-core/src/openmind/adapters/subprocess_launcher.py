"""Starts background workers as processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
from attrs import frozen

from openmind.adapters.processes import mark_of
from openmind.domain.errors import JobError
from openmind.domain.ids import JobId
from openmind.domain.jobs import ProcessMark


@frozen
class SubprocessJobLauncher:
    """Starts `python -m openmind.worker`, detached, with a log of its own."""

    home: Path
    logs: Path

    def launch(self, job_id: JobId) -> ProcessMark:
        """See the port."""
        try:
            self.logs.mkdir(mode=0o700, exist_ok=True)
            log = os.open(self.logs / f"index-{job_id}.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            try:
                process = subprocess.Popen(
                    [sys.executable, "-m", "openmind.worker", "--job-id", job_id],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "OPENMIND_HOME": str(self.home)},
                    cwd=self.home,
                    start_new_session=True,
                )
            finally:
                os.close(log)
            return mark_of(process.pid)
        except (OSError, psutil.Error) as error:
            raise JobError(f"The indexing worker could not be started: {error}", hint="See: openmind doctor") from error
