"""Prints JSON."""

import json
import sys
from collections.abc import Iterable

from openmind.domain.contract import Object


def print_object(found: Object) -> None:
    """Print an object. It is ASCII, so that every locale can carry it and no terminal obeys it."""
    print(json.dumps(found, indent=2, ensure_ascii=True))


def print_list(name: str, items: Iterable[Object]) -> None:
    """Print an object with one list in it, item by item, however long it is."""
    sys.stdout.write(f'{{\n  "{name}": [')
    separator = "\n    "
    for item in items:
        sys.stdout.write(separator + json.dumps(item, ensure_ascii=True))
        separator = ",\n    "
    sys.stdout.write("\n  ]\n}\n")
