import pytest
from openmind.ports.notebook import Forgetful
from openmind.testing.contracts.notebook import NotebookContract


class Scribbled(Forgetful):
    def look_up(self, name: str) -> str:
        return "scribble"


def test_a_promise_that_is_broken_is_shown_with_its_values() -> None:
    with pytest.raises(AssertionError, match="assert 'scribble' == ''"):
        NotebookContract().test_what_was_never_noted_is_nothing(Scribbled())
