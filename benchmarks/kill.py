"""Kill index runs by the hundred and count what goes wrong: `python benchmarks/kill.py --kills 500`.

Each round changes files and kills a run: first at every step of the storage protocol, then at any moment, also while
the next run recovers. Then a run ends in peace, and every query must find exactly what the files hold. A reader in
another process looks all the time. At the end, no word of a removed file may be left anywhere under the home. The
last line says how many violations there were; the exit code is 1 when there is one. The harness is that of the tests,
`tests/faults/harness.py`; needs a system that can fork.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))

from harness import World
from job_world import JobWorld

SHOWN = 20
LONGEST_S = 1.0
"""A run of these small worlds is over after this, on a machine that has nothing else to do."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500, help="how many runs are killed at least, in all")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop after this long and a kill all the same"
    )
    parser.add_argument("--no-steps", action="store_true", help="leave out the kills at numbered steps")
    parser.add_argument("--again", type=float, default=0.3, help="chance that a run that recovers is killed, too")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--jobs", action="store_true", help="kill workers of background jobs")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="openmind-kill-") as name:
        world = (JobWorld if arguments.jobs else World)(Path(name) / "world", random.Random(arguments.seed))
        world.prepare()
        with world.reader():
            number = 0
            while not arguments.no_steps and world.round_at_step(number := number + 1):
                tell(arguments, world)
            while world.kills < arguments.kills and (not world.kills or time.monotonic() - started < arguments.seconds):
                world.round_at_random(LONGEST_S, again=arguments.again)
                tell(arguments, world)
        world.settle()
        found = {
            "seed": arguments.seed,
            "steps": max(0, number - 1),
            "kills": world.kills,
            "runs": world.runs,
            "models": world.model,
            "searches": int((world.base / "looked").read_text()),
            "requests_embedded_twice": world.embedded_twice(),
            "removed_words": len(world.removed),
            "violations": world.violations,
        }
    if found["requests_embedded_twice"] > found["kills"]:
        found["violations"].append("more was embedded twice than what was under way when a run was killed")
    report(found, as_json=arguments.json)
    return int(bool(found["violations"]))


def tell(arguments: argparse.Namespace, world: World) -> None:
    if not arguments.json:
        print(f"\r{world.kills} kills, {len(world.violations)} violations", end="", flush=True)


def report(found: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found))
        return
    print()
    for violation in found["violations"][:SHOWN]:
        print(f"- {violation}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{found['kills']} kills in {found['runs']} runs, {found['steps']} of them at numbered steps; "
        f"{found['models'] - 1} changes of the model; {found['searches']} searches meanwhile; "
        f"{found['requests_embedded_twice']} requests embedded twice; {used.ru_utime + used.ru_stime:.0f} s CPU"
    )
    print(f"violations: {len(found['violations'])} (seed {found['seed']})")


if __name__ == "__main__":
    sys.exit(main())
