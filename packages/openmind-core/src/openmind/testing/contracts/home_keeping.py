"""The promises of `HomeKeeping`."""

from collections.abc import Mapping
from typing import Protocol

import pytest

from openmind.ports.home_keeping import HomeKeeping


class HomeWorld(Protocol):
    """A home in order, closed to others, that tests can bring out of order."""

    @property
    def keeper(self) -> HomeKeeping: ...

    def snapshot(self) -> Mapping[str, object]:
        """Tell all entries by their paths, each with whatever a touch would change."""
        ...

    def write_log(self, text: str) -> str:
        """Write a log of OpenMind's; returns its path."""
        ...

    def leave(self) -> str:
        """Leave a temporary folder with something in it, as a process does that is killed; returns its path."""
        ...

    def bring(self) -> tuple[str, ...]:
        """Put what OpenMind did not make wherever its own lies, for everybody to look into; returns the paths."""
        ...

    def open(self) -> tuple[str, ...]:
        """Let others look into the home and a log in it; returns the paths of what is open then."""
        ...

    def block(self) -> str:
        """Put a file where a folder of OpenMind's belongs; returns its path."""
        ...


class HomeKeepingContract:
    """Subclass and give a `world` fixture; every promise is checked."""

    def test_nothing_is_wrong_with_a_home_in_order(self, world: HomeWorld) -> None:
        condition = world.keeper.condition()

        assert (condition.open_to_others, condition.leftovers, condition.blocked) == ((), (), ())
        assert (condition.contents.strangers, condition.contents.links) == ((), ())
        assert condition.free_bytes >= 0

    def test_looking_changes_nothing(self, world: HomeWorld) -> None:
        world.write_log("one")
        world.leave()
        world.bring()
        world.open()
        before = world.snapshot()

        world.keeper.condition()
        world.keeper.logs()

        assert world.snapshot() == before

    def test_what_others_may_look_into_is_told_and_then_closed(self, world: HomeWorld) -> None:
        opened = world.open()

        assert set(world.keeper.condition().open_to_others) == set(opened)
        assert world.keeper.close_to_others() == len(opened)
        assert world.keeper.condition().open_to_others == ()
        assert world.keeper.close_to_others() == 0

    def test_leftovers_are_told_and_then_deleted_with_what_is_in_them(self, world: HomeWorld) -> None:
        world.write_log("one")
        before = world.snapshot()
        left = {world.leave(), world.leave()}

        assert set(world.keeper.condition().leftovers) == left
        assert world.keeper.drop_leftovers() == 2
        assert world.keeper.condition().leftovers == ()
        assert set(world.snapshot()) - set(before) <= {path.rpartition("/")[0] for path in left}
        assert set(before) <= set(world.snapshot())
        assert world.keeper.drop_leftovers() == 0

    def test_logs_are_listed_with_their_sizes_and_nothing_else_is(self, world: HomeWorld) -> None:
        world.leave()
        world.bring()
        sizes = {world.write_log(text): len(text) for text in ("one", "three")}

        assert {log.path: log.size_bytes for log in world.keeper.logs()} == sizes

    def test_clearing_deletes_the_logs_alone(self, world: HomeWorld) -> None:
        world.leave()
        logs = {world.write_log("one"), world.write_log("two")}
        before = world.snapshot()

        assert world.keeper.clear_logs() == 2
        assert world.keeper.logs() == ()
        assert set(before) - set(world.snapshot()) == logs
        assert world.keeper.clear_logs() == 0

    def test_a_home_without_logs_has_none_to_clear(self, world: HomeWorld) -> None:
        assert world.keeper.logs() == ()
        assert world.keeper.clear_logs() == 0

    def test_what_is_in_the_way_is_told(self, world: HomeWorld) -> None:
        blocking = world.block()

        assert world.keeper.condition().blocked == (blocking,)

    @pytest.mark.parametrize("opened", [False, True])
    def test_what_openmind_did_not_make_is_told_and_never_touched(self, world: HomeWorld, opened: bool) -> None:
        world.write_log("one")
        world.leave()
        if opened:
            world.open()
        strangers = world.bring()
        before = world.snapshot()

        assert set(world.keeper.condition().contents.strangers) == set(strangers)
        world.keeper.close_to_others()
        world.keeper.drop_leftovers()
        world.keeper.clear_logs()

        after = world.snapshot()
        assert {path: after.get(path) for path in strangers} == {path: before[path] for path in strangers}
