"""What routes are given, by the name of the parameter.

Plain `NamedDependency[OpenMind]` would make Litestar look inside the object, which it cannot: handlers of plugins
write `memory: Memory`.
"""

from litestar.di import NamedDependency
from litestar.params import SkipValidation
from openmind.application.memory import OpenMind
from openmind.live import LiveMemory

from openmind_api.asks import Asks
from openmind_api.slots import Slots
from openmind_api.streams import Streams

Memory = NamedDependency[SkipValidation[OpenMind]]
"""`memory`: the memory as it is configured now; for handlers of plugins."""
Live = NamedDependency[SkipValidation[LiveMemory]]
"""`live`: gives the memory as it is configured now."""
Questions = NamedDependency[SkipValidation[Asks]]
"""`asks`"""
LoadSlots = NamedDependency[SkipValidation[Slots]]
"""`loads`"""
Lasting = NamedDependency[SkipValidation[Streams]]
"""`streams`"""
