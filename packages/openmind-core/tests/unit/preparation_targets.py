"""What the workers of the preparation tests run: the real preparation over an extractor that obeys its file."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from openmind.adapters.worker_main import Handler, Reply, Request
from openmind.application.indexing.preparation import InProcessPreparer
from openmind.application.indexing.preparation_wire import group_from_wire, outcomes_to_wire
from openmind.domain.documents import DocumentFacts, Segment
from openmind.ports.extractor import Blob, Extractor


class Obedient:
    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        text = blob.read().decode()
        if text == "abort":
            os.abort()
        yield Segment(text=text)


def make_extractor(name: str) -> Extractor:
    return Obedient()


def read_blob(path: bytes, name: str) -> Blob:
    return Blob(name=name, path=Path(os.fsdecode(path)))


def prepare_files(setup: Mapping[str, object]) -> Handler:
    preparer = InProcessPreparer(extractor=make_extractor, read=read_blob)

    def handle(request: Request) -> Iterator[Reply]:
        if setup.get("mute"):
            return
        group = group_from_wire(request.message, request.payload)
        yield outcomes_to_wire(preparer.prepare_group(group))

    return handle
