"""The port to the upkeep of OpenMind's own folder."""

from typing import Protocol

from openmind.domain.upkeep import HomeCondition, HomeEntry


class HomeKeeping(Protocol):
    """Looks at the home and tidies it; touches only what OpenMind made."""

    def condition(self) -> HomeCondition:
        """Look for what may be wrong."""
        ...

    def close_to_others(self) -> int:
        """Let nobody but the owner look into anything; returns how many entries were open."""
        ...

    def drop_leftovers(self) -> int:
        """Delete the temporary folders of processes that are gone. Needs the index lock."""
        ...

    def logs(self) -> tuple[HomeEntry, ...]:
        """List the logs."""
        ...

    def clear_logs(self) -> int:
        """Delete the logs; returns how many there were."""
        ...
