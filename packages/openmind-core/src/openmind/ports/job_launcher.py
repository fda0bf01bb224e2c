"""The port that starts background workers."""

from typing import Protocol

from openmind.domain.ids import JobId
from openmind.domain.jobs import ProcessMark


class JobLauncher(Protocol):
    """Starts workers that outlive this process."""

    def launch(self, job_id: JobId) -> ProcessMark:
        """Start a process that carries out a job, detached, its output in a log of its own.

        Raises:
            JobError: it could not be started.
        """
        ...

    def last_words(self, job_id: JobId) -> str:
        """Return the last sentence for a person in the log of a job, such as for whom its worker waits.

        Empty when there is none, as for a job that was never launched.
        """
        ...

    def launch_sweep(self) -> None:
        """Start a process that takes off the disk what removed sources left there, detached.

        Raises:
            JobError: it could not be started.
        """
        ...
