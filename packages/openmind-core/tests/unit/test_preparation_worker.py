import subprocess
import sys


def test_a_preparing_worker_imports_no_more_than_it_needs() -> None:
    code = "import sys, openmind.preparation_worker; print(*sys.modules)"

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    modules = set(told.stdout.split())
    unneeded = {
        "openmind.bootstrap",
        "openmind.application.memory",
        "openmind.domain.matching",
        "numpy",
        "sqlite3",
        "tomlkit",
    }
    assert not modules & unneeded
