import re
import subprocess
import sys
from pathlib import Path

import openmind_stores.lance
import pytest


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


HEAVY = "{'lance', 'lancedb', 'pyarrow', 'pandas', 'numpy'} & set(sys.modules)"


def test_naming_and_measuring_tables_loads_no_engine() -> None:
    done = python(
        "import sys; from pathlib import Path; from openmind_stores.lance.chunk_store import LanceChunkStore\n"
        "store = LanceChunkStore(Path('nowhere'))\n"
        "assert store.tables() == () and store.size_bytes() == 0\n"
        "store.add('chunks', []); store.delete('chunks', []); list(store.read_generations('chunks', []))\n"
        f"print({HEAVY})"
    )

    assert done.stdout == "set()\n", done.stderr


def test_the_engine_loads_without_pandas_and_lancedb() -> None:
    done = python(f"import sys, openmind_stores.lance.engine; print(sorted({HEAVY}))")

    assert done.stdout == "['lance', 'numpy', 'pyarrow']\n", done.stderr


def test_pandas_works_for_whoever_wants_it_later() -> None:
    pytest.importorskip("pandas")
    done = python(
        "import openmind_stores.lance.engine, pyarrow as pa, sys\n"
        "print(pa.table({'a': [1, 2]}).to_pandas()['a'].sum(), 'pandas' in sys.modules)"
    )

    assert done.stdout == "3 True\n", done.stderr


def test_pandas_is_hidden_from_one_thread_only() -> None:
    pytest.importorskip("pandas")
    done = python(
        "import threading\n"
        "from openmind_stores.hidden_pandas import hidden_pandas\n"
        "seen = []\n"
        "def load():\n"
        "    import pandas\n"
        "    seen.append(pandas.__name__)\n"
        "with hidden_pandas():\n"
        "    other = threading.Thread(target=load); other.start(); other.join()\n"
        "print(seen)"
    )

    assert done.stdout == "['pandas']\n", done.stderr


def test_nothing_is_said_on_stderr_and_the_environment_stays_as_it_was() -> None:
    done = python(
        "import os, tempfile; from pathlib import Path\n"
        "from openmind.testing.contracts.chunk_store_promises.samples import ask, row, unit\n"
        "from openmind_stores.lance.chunk_store import LanceChunkStore\n"
        "before = dict(os.environ)\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    store = LanceChunkStore(Path(folder)); store.create('chunks', dimension=3)\n"
        "    store.add('chunks', [row(1, 0, 'alpha', vector=unit(1, 0, 0))]); store.fold('chunks')\n"
        "    store.merge('chunks'); ask(store, 'alpha', vector=unit(1, 0, 0)); store.clean('chunks', older_than_s=0)\n"
        "    store.delete('chunks', [1]); store.drop('chunks')\n"
        "assert before == dict(os.environ)"
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_only_the_engine_imports_lance_and_only_what_packs_its_columns_arrow_too() -> None:
    folder = Path(openmind_stores.lance.__file__).parent
    importing = re.compile(r"^\s*(?:import|from) (lance|lancedb|pyarrow|pandas)\b", re.MULTILINE)

    imported = {path.name: set(importing.findall(path.read_text())) for path in folder.glob("*.py")}
    assert {name: found for name, found in imported.items() if found} == {
        "engine.py": {"lance", "pyarrow"},
        "batches.py": {"pyarrow"},
        "columns.py": {"pyarrow"},
    }
