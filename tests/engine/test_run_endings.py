"""How a run ends is written down, also when its end fails."""

import pytest
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain.control import Wish
from openmind.domain.errors import StoreDamaged
from openmind.domain.jobs import JobState


class Stop:
    """A control that wants the run to end."""

    def wish(self) -> Wish:
        return Wish.STOP

    def rest(self) -> None:
        """Never called."""


def test_a_run_that_fails_while_it_is_being_stopped_is_told_as_failed_and_looked_at_closely(
    world, memory, monkeypatch
) -> None:
    world.write("a.txt", "heliotrope")

    def damaged(_: Sweeping) -> None:
        raise StoreDamaged("The passages cannot be read")

    monkeypatch.setattr(Sweeping, "seal", damaged)
    with pytest.raises(StoreDamaged):
        memory.indexing.run(control=Stop())

    with memory.storage.catalog.reading() as snapshot:
        [run] = snapshot.runs(limit=2)
        assert (run.state, run.error) == (JobState.FAILED, "The passages cannot be read")
        assert snapshot.setting("suspect")
