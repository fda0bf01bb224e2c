"""The background worker: `python -m openmind.worker --job-id ID` carries out one job and ends."""

import argparse
import os
import sys
import traceback

from openmind.bootstrap import open_worker
from openmind.domain.errors import OpenMindError
from openmind.domain.ids import JobId


def main(argv: list[str] | None = None) -> int:
    """Carry out a job; 0 when it ended as it should, 1 when it failed."""
    parser = argparse.ArgumentParser(prog="python -m openmind.worker", description=__doc__)
    parser.add_argument("--job-id", required=True)
    job_id = JobId(parser.parse_args(argv).job_id)
    os.umask(0o077)
    try:
        with open_worker() as worker:
            state = worker.carry_out(job_id)
    except OpenMindError as error:
        print(f"{error.message}. {error.hint}", file=sys.stderr)  # noqa: T201  the job's own log
        return 1
    except Exception:  # noqa: BLE001  the log is all that is left of this process
        traceback.print_exc()
        return 1
    print(f"{job_id}: {state}")  # noqa: T201  the job's own log
    return 0


if __name__ == "__main__":
    sys.exit(main())
