"""The whole engine at work where the system kills whatever makes a socket, child processes included."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import openmind_cli
import pytest

SOCKET = {"x86_64": 41, "aarch64": 198}.get(platform.machine())
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux" or SOCKET is None, reason="needs the filters of Linux"),
]
SAMPLES = Path(openmind_cli.__file__).parent / "samples"

FILTERED = """
import ctypes, os, socket, struct, sys

LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
NUMBER_OF_CALL, FIRST_ARGUMENT = 0, 16
rules = b"".join(struct.pack("HBBI", *rule) for rule in [
    (LOAD, 0, 0, NUMBER_OF_CALL),
    (IF_EQUAL, 0, 3, int(sys.argv[1])),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (IF_EQUAL, 1, 0, socket.AF_UNIX),
    (RETURN, 0, 0, KILL_PROCESS),
    (RETURN, 0, 0, ALLOW),
])
buffer = ctypes.create_string_buffer(rules)
program = ctypes.create_string_buffer(struct.pack("HL", len(rules) // 8, ctypes.addressof(buffer)))
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
prctl = ctypes.CDLL(None).prctl
assert prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and prctl(PR_SET_SECCOMP, FILTER, program, 0, 0) == 0
if (child := os.fork()) == 0:
    socket.socket()
    os._exit(0)
assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "a socket was made"
"""
WORK = """
import json
from openmind import open_memory

with open_memory(sys.argv[2]) as memory:
    memory.sources.add(sys.argv[3])
    tally = memory.index().run.tally
    found = memory.search("rules of the well", limit=3)
    answer = memory.ask("When is the harvest supper?")
    status = memory.status()
print(json.dumps([tally.indexed, tally.failed, found.state, len(found.hits), answer.state, status.indexed_files]))
"""


def test_indexing_searching_asking_and_status_make_no_socket_in_any_process(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FILTERED + WORK, str(SOCKET), str(tmp_path / "home"), str(SAMPLES)],
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )

    assert ran.returncode == 0, (ran.returncode, ran.stderr[-2000:])
    indexed, failed, found, hits, answered, files = json.loads(ran.stdout)
    assert (indexed, failed) == (files, 0)
    assert files == 8
    assert (found, answered) == ("ok", "evidence_only")
    assert hits > 0
