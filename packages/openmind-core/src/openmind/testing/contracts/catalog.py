"""What every catalog promises.

Subclass `CatalogContract` and give two fixtures: `catalog`, empty and ready, and `impatient_catalog`, which waits a
fraction of a second for another writer instead of five.
"""

from openmind.testing.contracts.catalog_promises.files import FilePromises
from openmind.testing.contracts.catalog_promises.generations import GenerationPromises
from openmind.testing.contracts.catalog_promises.index_tables import IndexTablePromises
from openmind.testing.contracts.catalog_promises.plans import PlanPromises
from openmind.testing.contracts.catalog_promises.runs import RunPromises
from openmind.testing.contracts.catalog_promises.sessions import SessionPromises
from openmind.testing.contracts.catalog_promises.sources import SourcePromises
from openmind.testing.contracts.catalog_promises.texts import TextPromises


class CatalogContract(
    SessionPromises,
    SourcePromises,
    FilePromises,
    GenerationPromises,
    IndexTablePromises,
    TextPromises,
    PlanPromises,
    RunPromises,
):
    """One test for each promise of `openmind.ports.catalog`."""
