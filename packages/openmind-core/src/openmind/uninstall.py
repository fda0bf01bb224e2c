"""Puts uninstalling together: unlike a memory, it needs a home neither to open nor to be of this version."""

from functools import partial
from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.adapters.packages import plan_packages, remove_packages, require_remover
from openmind.adapters.processes import end_process, is_alive
from openmind.adapters.serve_lock import server_of
from openmind.adapters.subprocess_launcher import SubprocessJobLauncher
from openmind.application.jobs.service import JobService
from openmind.application.maintenance.uninstalling import UninstallService
from openmind.bootstrap.contained_storage import open_storage
from openmind.bootstrap.services import utc_now
from openmind.configuration import readable_config
from openmind.plugins.manager import Plugins, load_plugins


def uninstall_service(home: Path | str | None = None, *, plugins: Plugins | None = None) -> UninstallService:
    """Make what plans and carries out uninstalling; nothing is made or changed by that.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.

    Raises:
        ConfigError: the storage is not installed.
        PluginError: it is broken.
    """
    place = Home.at(home)
    config = readable_config(home)
    known = plugins or load_plugins(blocked=config.blocked_plugins)
    storage = open_storage(known.stores, config.storage.name, place.folder)
    return UninstallService(
        home=place.folder,
        is_marked=place.is_marked,
        storage=storage,
        jobs=JobService(
            catalog=storage.catalog,
            launcher=SubprocessJobLauncher(place.folder, place.logs),
            alive=is_alive,
            end_process=end_process,
            now=utc_now,
        ),
        keeper=HomeKeeper(place.folder),
        packages=plan_packages,
        require_remover=require_remover,
        remove_packages=remove_packages,
        server=partial(server_of, place.serve_lock),
        current_folder=Path.cwd,
        person_folder=Path.home,
    )
