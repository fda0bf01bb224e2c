"""Uninstalling: OpenMind's own entries of its home go, and the packages if asked. Plan, show, do."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import attrs
from attrs import frozen

from openmind.application.jobs.service import JobService
from openmind.application.maintenance.holding import hold
from openmind.domain.errors import (
    HomeError,
    HomeForeign,
    HomeServed,
    HomeUnsafe,
    HomeUnusable,
    OpenMindError,
    PluginError,
    StoreError,
)
from openmind.domain.jobs import IndexJob
from openmind.domain.paths import is_within
from openmind.domain.sources import Source
from openmind.domain.upkeep import HomeContents, PackagePlan, UninstallPlan
from openmind.ports.storage import Storage

INDEX_LOCK = "index.lock"


class HomeRemoving(Protocol):
    """Lists and deletes what OpenMind made in its home."""

    def contents(self) -> HomeContents:
        """List what is in the home."""
        ...

    def remove(self, contents: HomeContents) -> None:
        """Delete OpenMind's own entries of it, then the home itself if nothing is left."""
        ...


@frozen(kw_only=True)
class UninstallService:
    """Takes OpenMind off the machine. Works for homes that cannot be opened, too."""

    home: Path
    is_marked: bool
    """Whether the home has OpenMind's marker."""
    storage: Storage
    jobs: JobService
    keeper: HomeRemoving
    packages: Callable[[], PackagePlan]
    require_remover: Callable[[PackagePlan], None]
    """Raises `PluginError` when the packages cannot be removed, as far as that can be foreseen."""
    remove_packages: Callable[[PackagePlan], None]
    current_folder: Callable[[], Path]
    person_folder: Callable[[], Path]
    """The home folder of the person."""
    server: Callable[[], str] = lambda: ""
    """Says where the home is served, such as `at http://127.0.0.1:8765`; empty while it is not."""
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def plan(self, *, packages: bool = False) -> UninstallPlan:
        """Say what would be deleted.

        Args:
            packages: whether the installed packages are to go, too.

        Raises:
            HomeUnsafe: the home is a folder that must never be deleted.
            HomeForeign: OpenMind did not make it.
            HomeUnusable: it cannot be read.
            PluginError: the packages are to go, and what removes them is not there.
        """
        if packages:
            self.require_remover(self.packages())
        if not self._is_there():
            return UninstallPlan(home=str(self.home), exists=False, packages=self.packages(), remove_packages=packages)
        sources, job, unread = self._look_into_catalog()
        self._refuse_unsafe(sources)
        try:
            self._refuse_foreign()
            contents = self.keeper.contents()
        except OSError as error:
            raise HomeUnusable(
                f"{self.home} cannot be read: {error.strerror or error}", hint="Check its permissions."
            ) from error
        return UninstallPlan(
            home=str(self.home),
            exists=True,
            contents=contents,
            packages=self.packages(),
            remove_packages=packages,
            active_job=job,
            server=self.server(),
            unread=unread,
        )

    def uninstall(self, plan: UninstallPlan, *, wait_s: float = 10.0) -> HomeContents:
        """Carry out a plan; an unfinished job is stopped first.

        Args:
            plan: only what it lists is deleted.
            wait_s: how long a job, or whoever else writes, is waited for.

        Returns:
            What is left in the home.

        Raises:
            HomeServed: a server runs on the home; nothing was deleted.
            JobActive, IndexingBusy: somebody does not stop in time; nothing was deleted.
            HomeUnusable: something cannot be deleted.
            PluginError: the packages could not be removed; the home is gone.
        """
        left = self._remove_home(plan, wait_s) if plan.exists else HomeContents()
        if plan.remove_packages:
            self._remove_packages(plan)
        return left

    def _remove_packages(self, plan: UninstallPlan) -> None:
        try:
            self.remove_packages(plan.packages)
        except PluginError as error:
            done = f"; the data in {self.home} is deleted already" if plan.exists else ""
            raise PluginError(f"{error.message}{done}", hint=error.hint) from error

    def _remove_home(self, plan: UninstallPlan, wait_s: float) -> HomeContents:
        deadline = self.clock() + wait_s
        if server := self.server():
            raise HomeServed(
                f"This memory, {self.home}, is served {server}",
                hint="End that server first: Ctrl-C in its terminal, or end the program that started it.",
            )
        if plan.active_job is not None:
            self.jobs.halt(within_s=wait_s)
        try:
            with hold(self.storage, deadline=deadline, sleep=self.sleep, clock=self.clock):
                self.keeper.remove(_without_lock(plan.contents))
            if not self.home.is_dir():
                return HomeContents()
            self.keeper.remove(self.keeper.contents())  # the lock, now that it was given back
            return self.keeper.contents() if self.home.is_dir() else HomeContents()
        except OSError as error:
            raise HomeUnusable(
                f"{self.home} cannot be deleted: {error.strerror or error}", hint="Check its permissions."
            ) from error

    def _is_there(self) -> bool:
        try:
            self.home.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise HomeUnusable(
                f"{self.home} cannot be read: {error.strerror or error}", hint="Check its permissions."
            ) from error
        return True

    def _look_into_catalog(self) -> tuple[tuple[Source, ...], IndexJob | None, str]:
        try:
            with self.storage.catalog.reading() as snapshot:
                sources = snapshot.sources()
            job = self.jobs.current()
        except (StoreError, HomeError) as error:
            return (), None, error.message
        return sources, job if job is not None and not job.state.finished else None, ""

    def _refuse_unsafe(self, sources: tuple[Source, ...]) -> None:
        home = self.home.resolve()
        person = self.person_folder().resolve()
        if home == Path(home.anchor) or person == home or home in person.parents:
            raise HomeUnsafe(f"{self.home} is no folder to delete", hint="Set OPENMIND_HOME to OpenMind's own folder.")
        here = self.current_folder().resolve()
        if here == home or home in here.parents:
            raise HomeUnsafe(f"{self.home} is the current folder, or holds it", hint="Change to another folder first.")
        for source in sources:
            if is_within(source.path_bytes, os.fsencode(home)) or source.path_bytes == os.fsencode(home):
                raise HomeUnsafe(
                    f"The approved folder {source.path} lies in {self.home}",
                    hint="Remove that source first: `openmind source remove`.",
                )

    def _refuse_foreign(self) -> None:
        if self.is_marked:
            return
        if self.home.is_dir():
            os.listdir(self.home)
        try:
            ours = self.storage.is_ours()
        except OpenMindError:
            ours = False
        if not ours:
            raise HomeForeign(f"{self.home} was not made by OpenMind", hint="Set OPENMIND_HOME to the folder that was.")


def _without_lock(contents: HomeContents) -> HomeContents:
    """Leave out the lock that is held: some systems delete no file that is in use."""
    return attrs.evolve(contents, own=tuple(entry for entry in contents.own if Path(entry.path).name != INDEX_LOCK))
