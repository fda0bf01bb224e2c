"""What a worker process that prepares files runs: the same code as in the indexing process, over the wire.

It builds the little it needs by itself: importing all that a memory is built from was a quarter of its start.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import cast

from openmind.adapters.blobs import read_blob
from openmind.adapters.toml_config import structure
from openmind.adapters.worker_main import Handler, Reply, Request
from openmind.application.indexing.preparation import InProcessPreparer
from openmind.application.indexing.preparation_wire import group_from_wire, outcomes_to_wire
from openmind.application.models.contained import contained
from openmind.application.models.embedders import BUILTIN
from openmind.domain.config import Config, Section
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.embedding_provider import EmbeddingProvider


def prepare_files(setup: Mapping[str, object]) -> Handler:
    """Make the handler of a worker.

    Args:
        setup: `config` (the sections a worker needs, as in config.toml) and `embed`.
    """
    config = structure(cast(Section, setup["config"]), Config, where="worker")
    plugins = load_plugins(blocked=config.blocked_plugins)
    preparer = InProcessPreparer(
        extractor=partial(plugins.extractors.build, config=config.extraction, plugins=config.plugins),
        read=read_blob,
        embedder=_embedder(plugins) if setup["embed"] else None,
    )

    def handle(request: Request) -> Iterator[Reply]:
        group = group_from_wire(request.message, request.payload)
        yield outcomes_to_wire(preparer.prepare_group(group))

    return handle


def _embedder(plugins: Plugins) -> EmbeddingProvider:
    """Make the embedder that runs in process."""
    found = plugins.providers.registered(BUILTIN)
    kind = found.value.config
    settings = None if kind is None else structure({}, kind, where="worker")
    provider = contained(lambda: found.value.factory(settings), name=BUILTIN, package=found.distribution)
    return provider.embedder(BUILTIN)
