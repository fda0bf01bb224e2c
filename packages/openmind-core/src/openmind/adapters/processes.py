"""Names processes so that a number given away again is not taken for the old one."""

import os
from pathlib import Path

import psutil

from openmind.domain.jobs import ProcessMark

SAME_START_S = 1.0
"""Start times are rounded differently by different readers."""


def boot_id() -> str:
    """Name this boot of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return str(int(psutil.boot_time()))


def this_process() -> ProcessMark:
    """Name the process that calls."""
    return mark_of(os.getpid())


def mark_of(pid: int) -> ProcessMark:
    """Name a running process.

    Raises:
        psutil.NoSuchProcess: it has ended.
    """
    return ProcessMark(pid=pid, started_at=psutil.Process(pid).create_time(), boot_id=boot_id())


def is_alive(mark: ProcessMark) -> bool:
    """Whether the process of a mark still runs."""
    if mark.boot_id != boot_id():
        return False
    try:
        process = psutil.Process(mark.pid)
        started = process.create_time()
        zombie = process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
    return not zombie and abs(started - mark.started_at) <= SAME_START_S
