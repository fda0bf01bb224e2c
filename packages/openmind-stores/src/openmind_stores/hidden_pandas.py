"""Loads modules of Arrow without pandas, which they drag in wherever it is installed and which costs a second.

Whoever imports pandas later gets it as usual.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class HiddenPandas(MetaPathFinder):
    """Says that there is no pandas, to the thread that made it only."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if fullname == "pandas" and threading.get_ident() == self.thread:
            raise ModuleNotFoundError("pandas is hidden while pyarrow.dataset loads", name="pandas")
        return None


@contextmanager
def hidden_pandas() -> Iterator[None]:
    finder = HiddenPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
