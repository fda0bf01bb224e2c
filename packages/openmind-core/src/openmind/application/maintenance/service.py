"""Maintenance: what keeps a memory sound, small and private."""

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from openmind.application.maintenance.doctor import Doctor
from openmind.application.maintenance.exchange import ExchangeService
from openmind.application.maintenance.flushing import FlushService
from openmind.application.maintenance.source_coverage import CoverageService
from openmind.domain.archives import ExportReport, ImportReport
from openmind.domain.checkup import Checkup, Repair
from openmind.domain.coverage import SourceCoverage
from openmind.domain.unread import UnreadFile
from openmind.domain.upkeep import FlushPlan


@frozen(kw_only=True)
class MaintenanceService:
    """Examines, repairs and empties a memory. Files of the person are never changed."""

    doctor: Doctor
    flushing: FlushService
    covering: CoverageService
    exchange: ExchangeService

    def examine(self) -> Checkup:
        """Look for what is wrong; see `Doctor.examine`."""
        return self.doctor.examine()

    def repair(self) -> Repair:
        """Mend what can be mended; see `Doctor.repair`."""
        return self.doctor.repair()

    def coverage(self) -> Iterator[SourceCoverage]:
        """Say how much of each source can be found; see `CoverageService.sweep`."""
        return self.covering.sweep()

    def unread(self) -> Iterator[UnreadFile]:
        """Name the files of kinds that nothing reads; see `CoverageService.unread`."""
        return self.covering.unread()

    def export(self, path: str | os.PathLike[str]) -> ExportReport:
        """Write everything that is remembered to one file; see `ExchangeService.export`."""
        return self.exchange.export(Path(path).expanduser())

    def import_(self, path: str | os.PathLike[str], *, enable_missing: bool = False) -> ImportReport:
        """Read such a file into an empty memory; see `ExchangeService.import_`."""
        return self.exchange.import_(Path(path).expanduser(), enable_missing=enable_missing)

    def plan_flush(self, *, include_sources: bool = False) -> FlushPlan:
        """Say what a flush would delete; see `FlushService.plan`."""
        return self.flushing.plan(include_sources=include_sources)

    def flush(self, plan: FlushPlan, *, wait_s: float = 10.0) -> bool:
        """Empty the memory; see `FlushService.flush`."""
        return self.flushing.flush(plan, wait_s=wait_s)
