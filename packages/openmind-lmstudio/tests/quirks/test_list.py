"""The list of what servers do names tests that exist."""

import re
from pathlib import Path

HERE = Path(__file__).parent
ELSEWHERE = (HERE.parent / "unit" / "test_lifeline.py", HERE.parents[2] / "openmind-core/tests/unit/test_asking.py")


def test_every_line_of_the_list_names_tests_that_exist() -> None:
    files = [*HERE.glob("test_*.py"), *ELSEWHERE]
    there = {name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.M)}

    lines = re.findall(r"^\| (\d+) \|.*\| (.*) \|$", (HERE / "README.md").read_text(encoding="utf-8"), re.M)
    named = {int(number): set(re.findall(r"`(test_\w+)`", tests)) for number, tests in lines}

    assert sorted(named) == list(range(1, len(lines) + 1))
    assert all(named.values())
    assert set().union(*named.values()) - there == set()
