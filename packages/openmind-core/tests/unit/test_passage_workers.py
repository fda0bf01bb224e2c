import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openmind.adapters.passage_workers import PassageWorkers
from openmind.adapters.worker_jobs import WorkerPlan
from openmind.adapters.worker_pool import WorkerPool
from openmind.application.indexing.preparation import InProcessPreparer, grouped
from openmind.application.indexing.preparation_wire import group_to_wire, outcomes_from_wire
from openmind.domain import packing
from openmind.domain.documents import ExtractedDocument, Segment
from openmind.domain.files import FileReason
from openmind.domain.preparation import PreparationFailure, PreparationRequest, PreparedFile

HERE = Path(__file__).parent

MakeWorkers = Callable[..., PassageWorkers]


@pytest.fixture
def make_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeWorkers]:
    monkeypatch.setattr(sys, "path", [*sys.path, str(HERE)])
    made: list[PassageWorkers] = []

    def make(**setup: object) -> PassageWorkers:
        plan = WorkerPlan(target="preparation_targets:prepare_files", setup=setup, folder=tmp_path)
        pool = WorkerPool(plan=plan, size=2)
        made.append(PassageWorkers(pool=pool, group=grouped, to_wire=group_to_wire, from_wire=outcomes_from_wire))
        return made[-1]

    yield make
    for workers in made:
        workers.close()


def write(folder: Path, name: str, text: str) -> bytes:
    (folder / name).write_text(text)
    return os.fsencode(folder / name)


def test_workers_give_what_this_process_would(make_workers: MakeWorkers, tmp_path: Path) -> None:
    from preparation_targets import make_extractor, read_blob  # found by the path that the fixture sets

    requests = [
        PreparationRequest(ticket=n, path_bytes=write(tmp_path, f"{n} ü.txt", f"Sentence {n}. " * 300), extractor="any")
        for n in range(30)
    ]

    here = InProcessPreparer(extractor=make_extractor, read=read_blob)
    assert list(make_workers().prepare(iter(requests), while_waiting=lambda: None)) == list(
        here.prepare(requests, while_waiting=lambda: None)
    )


def test_text_that_was_read_before_is_prepared_without_its_file(make_workers: MakeWorkers) -> None:
    packed = packing.pack(ExtractedDocument(segments=(Segment(text="kept text"),)))

    [prepared] = make_workers().prepare(
        [PreparationRequest(ticket=7, path_bytes=b"/gone.txt", packed=packed)], while_waiting=lambda: None
    )

    assert isinstance(prepared, PreparedFile)
    assert prepared.ticket == 7
    assert prepared.packed is None
    assert [passage.text for passage in prepared.passages] == ["kept text"]


def test_a_crash_is_one_failed_file(make_workers: MakeWorkers, tmp_path: Path) -> None:
    texts = ["good", "abort", "good too"]
    requests = [
        PreparationRequest(ticket=n, path_bytes=write(tmp_path, f"{n}.txt", text), extractor="any")
        for n, text in enumerate(texts)
    ]

    first, crashed, last = make_workers().prepare(requests, while_waiting=lambda: None)

    assert isinstance(first, PreparedFile)
    assert isinstance(crashed, PreparationFailure)
    assert (crashed.ticket, crashed.reason) == (1, FileReason.CRASHED)
    assert "SIGABRT" in crashed.message
    assert isinstance(last, PreparedFile)


def test_a_file_that_cannot_be_read_is_one_failed_file(make_workers: MakeWorkers, tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "")
    (tmp_path / "a.txt").write_bytes(b"\xff\xff")

    [failed] = make_workers().prepare(
        [PreparationRequest(ticket=1, path_bytes=path, extractor="any")], while_waiting=lambda: None
    )

    assert isinstance(failed, PreparationFailure)
    assert failed.message.startswith("The reader “any” broke down (“'utf-8' codec can't decode byte 0xff")


def test_a_worker_without_an_answer_is_a_failed_file(make_workers: MakeWorkers) -> None:
    [failed] = make_workers(mute=True).prepare(
        [PreparationRequest(ticket=1, path_bytes=b"/a")], while_waiting=lambda: None
    )

    assert isinstance(failed, PreparationFailure)
    assert failed.reason is FileReason.CRASHED
