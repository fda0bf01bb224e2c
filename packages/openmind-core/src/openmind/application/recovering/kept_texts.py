"""Kept texts that are damaged: the files they came from are read again."""

from collections.abc import Iterator

import attrs

from openmind.domain import packing
from openmind.domain.errors import StoreDamaged
from openmind.domain.files import FileRecord
from openmind.ports.catalog import Catalog, CatalogReader

PAGE = 500
TO_BE_READ = ""
"""The layout of a record that no plan takes for up to date."""


def read_damaged_again(catalog: Catalog) -> int:
    """Let the next plan read the files whose kept text cannot be unpacked; returns how many these are.

    Unpacks every text, so it is done only once somebody met damage. What was made of the text stays to be found.
    """
    found, after = 0, b""
    while True:
        with catalog.reading() as snapshot:
            page = snapshot.list_files(after=after, limit=PAGE)
            damaged = list(_damaged(snapshot, page))
        if not page:
            return found
        after, found = page[-1].path_bytes, found + len(damaged)
        if damaged:
            with catalog.writing() as session:
                session.record([attrs.evolve(record, layout=TO_BE_READ) for record in damaged], at=0.0)


def _damaged(snapshot: CatalogReader, page: tuple[FileRecord, ...]) -> Iterator[FileRecord]:
    for record in page:
        packed = snapshot.text(record.content_hash, record.extractor) if record.content_hash else None
        if packed is not None:
            try:
                packing.unpack(packed)
            except StoreDamaged:
                yield record
