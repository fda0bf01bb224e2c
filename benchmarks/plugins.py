"""What plugins cost: finding thirty of them, and core alone in a fresh environment.

python benchmarks/plugins.py             # 30 packages are written into a folder on sys.path and discovered
python benchmarks/plugins.py --install   # also: what `pip install openmind-core` brings (builds it, asks an index)
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PLUGIN = """
from openmind.plugins.hookspecs import hookimpl
from openmind.ports.extractor import ExtractorInfo

@hookimpl
def openmind_register_extractors(registry):
    registry.add(ExtractorInfo(name="p{n}", version=1, extensions=frozenset({{".p{n}"}})), make)

def make(tools):
    import heavy_of_plugins
"""
DISCOVER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
started = time.process_time()
from openmind.plugins.manager import load_plugins
imported = time.process_time()
plugins = load_plugins()
done = time.process_time()
assert not plugins.broken, plugins.broken
found = sum(report.distribution.startswith("stranger-") for report in plugins.reports)
heavy = [name for name in ("heavy_of_plugins", "lance", "pandas", "httpx", "litestar", "numpy") if name in sys.modules]
print(found, (imported - started) * 1000, (done - imported) * 1000, json.dumps(heavy))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=int, default=30)
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="openmind-plugins-") as name:
        folder = Path(name)
        (folder / "heavy_of_plugins.py").write_text("raise RuntimeError('imported')")
        for number in range(arguments.packages):
            write_package(folder, number)
        runs = sorted(discover(folder) for _ in range(5))
        spent, imports, found, heavy = runs[len(runs) // 2]
        good = spent <= 100 and not heavy and found == arguments.packages
        print(f"discovery of {found} packages beside our own: {spent:.0f} ms CPU (bar 100)")
        print(f"heavy imports: {', '.join(heavy) or 'none'}")
        print(f"import of the manager before it: {imports:.0f} ms CPU")
        if arguments.install:
            good = install(folder) and good
    return int(not good)


def write_package(folder: Path, number: int) -> None:
    """Write a package as if it was installed."""
    (folder / f"stranger_{number}.py").write_text(PLUGIN.format(n=number))
    info = folder / f"stranger_{number}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: stranger-{number}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[openmind]\nstranger{number} = stranger_{number}\n")


def discover(folder: Path) -> tuple[float, float, int, list[str]]:
    """Discover the plugins in a fresh process."""
    command = [sys.executable, "-c", DISCOVER, str(folder)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found, imports, spent, heavy = told.split(" ", 3)
    return float(spent), float(imports), int(found), json.loads(heavy)


def install(folder: Path) -> bool:
    """Install core into a fresh environment."""
    core = Path(__file__).parents[1] / "packages" / "openmind-core"
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    command = ["uv", "pip", "install", "--quiet", "--python", str(environment / "bin" / "python"), str(core)]
    subprocess.run(command, check=True)
    [site] = environment.glob("lib/python*/site-packages")
    count = len(list(site.glob("*.dist-info")))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file() and path.suffix != ".pyc")
    print(f"openmind-core in a fresh environment: {count} distributions (bar 12), {size / 1e6:.1f} MB (bar 15)")
    return count <= 12 and size <= 15e6


if __name__ == "__main__":
    sys.exit(main())
