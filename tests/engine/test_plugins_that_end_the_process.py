"""A plugin that ends its whole process: nothing that was remembered is lost, and it is told afterwards."""

import subprocess
import sys

ENDED = 7
RUN = f"""
import os, sys
from openmind import open_memory
from openmind.domain.models import EmbedderIdentity
from openmind.plugins.manager import load_plugins
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider

class Ending(FakeEmbeddings):
    def embed(self, texts, *, role):
        os._exit({ENDED})

home, model, dimension = sys.argv[1:]
provider = FakeProvider()
provider.embeddings = Ending(identity=EmbedderIdentity(provider="fake", model=model, dimension=int(dimension)))
plugins = load_plugins()
plugins.providers.add("fake", lambda _: provider)
with open_memory(home, plugins=plugins) as memory:
    memory.index()
"""


def test_a_provider_that_ends_its_process_costs_no_memory_and_is_told_by_the_status(world) -> None:
    identity = world.use().identity
    world.write("heron.md", "A heron stands in the reeds.")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
    world.write("otter.md", "An otter swims below the bridge.")

    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(world.home), identity.model, str(identity.dimension)],
        capture_output=True,
        check=False,
    )

    assert ran.returncode == ENDED, ran.stderr
    with world.memory() as memory:
        run = memory.status().last_run
        assert run is not None
        assert run.error.startswith("The process that indexed ended without a word")
        assert [hit.file_name for hit in memory.search("heron").hits] == ["heron.md"]
        assert memory.index().run.tally.indexed == 1
        assert [hit.file_name for hit in memory.search("otter").hits] == ["otter.md"]
