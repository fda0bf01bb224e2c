"""What a worker process that prepares files runs: the same code as in this process, over the wire."""

from collections.abc import Iterator, Mapping

from openmind.adapters.home import Home
from openmind.adapters.toml_config import structure
from openmind.adapters.worker_main import Handler, Reply, Request
from openmind.application.indexing.preparation import group_from_wire, outcome_to_wire
from openmind.bootstrap.assembly import Assembly
from openmind.domain.config import Config
from openmind.plugins.manager import load_plugins


def prepare_files(setup: Mapping[str, object]) -> Handler:
    """Make the handler of a worker.

    Args:
        setup: `home`, `config` (the sections a worker needs, as in config.toml) and `embed`.
    """
    config = structure(dict(setup["config"]), Config, where="worker")  # type: ignore[call-overload]
    plugins = load_plugins(blocked=config.blocked_plugins)
    assembly = Assembly(home=Home.at(str(setup["home"])), config=config, plugins=plugins)
    preparer = assembly.preparation.in_process_preparer(embed=bool(setup["embed"]))

    def handle(request: Request) -> Iterator[Reply]:
        group = group_from_wire(request.message, request.payload)
        yield from map(outcome_to_wire, preparer.prepare_group(group))

    return handle
