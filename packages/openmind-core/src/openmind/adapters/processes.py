"""Names processes so that a number given away again is not taken for the old one."""

import os
import sys
from pathlib import Path

from openmind.domain.errors import JobError
from openmind.domain.jobs import ProcessMark

SAME_START_S = 1.0
"""Start times are rounded differently by different readers."""


class NoSuchProcess(Exception):
    """There is no process of that number, or it has ended and only waits to be taken note of."""


def boot_id() -> str:
    """Name this boot of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        import psutil

        return str(int(psutil.boot_time()))


def this_process() -> ProcessMark:
    """Name the process that calls."""
    return mark_of(os.getpid())


def mark_of(pid: int) -> ProcessMark:
    """Name a running process.

    Raises:
        NoSuchProcess: it has ended.
    """
    return ProcessMark(pid=pid, started_at=_started_at(pid), boot_id=boot_id())


def is_alive(mark: ProcessMark) -> bool:
    """Whether the process of a mark still runs."""
    if mark.boot_id != boot_id():
        return False
    try:
        return abs(_started_at(mark.pid) - mark.started_at) <= SAME_START_S
    except NoSuchProcess:
        return False


def end_process(mark: ProcessMark) -> None:
    """End a process by force.

    One that has ended already, or whose number was given away again, is left alone, and so is this one.

    Raises:
        JobError: it may not be ended.
    """
    import psutil

    if mark.pid == os.getpid():
        return
    try:
        process = psutil.Process(mark.pid)  # knows when it began, and so kills no other that has its number by now
        if is_alive(mark):
            process.kill()
    except psutil.NoSuchProcess:
        return
    except psutil.Error as error:
        raise JobError(
            f"The process {mark.pid} cannot be ended by this user", hint="End it as the user who started it."
        ) from error


def _started_at(pid: int) -> float:
    # psutil adds the time of the boot, which moves when somebody sets the clock: a process would seem to have died.
    return _started_after_boot(pid) if sys.platform == "linux" else _started_by_the_clock(pid)


def _started_after_boot(pid: int) -> float:
    """Seconds from the boot to the start of a process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NoSuchProcess(pid) from error
    state, *fields = stat.rpartition(")")[2].split()  # the name before it may hold anything
    if state in {"Z", "X"}:
        raise NoSuchProcess(pid)
    return int(fields[18]) / os.sysconf("SC_CLK_TCK")


def _started_by_the_clock(pid: int) -> float:
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            raise NoSuchProcess(pid)
        return float(process.create_time())
    except psutil.Error as error:
        raise NoSuchProcess(pid) from error
