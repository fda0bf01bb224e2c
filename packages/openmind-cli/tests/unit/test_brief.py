"""A process that ends in a hurry forgets nothing."""

import subprocess
import sys

PROGRAM = """
import atexit, gc, sys, threading
from openmind_cli import brief
brief.begin()
done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
brief.end(5)
done.set()
thread.join()
atexit.register(print, "registered")
sys.stderr.write(f"collects: {gc.isenabled()}")
sys.stdout.write("written\\n")
brief.end(3)
print("taken apart")
"""


def test_what_is_written_registered_or_at_work_is_not_lost() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (3, "written\nregistered\n", "collects: False")
