import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve
from openmind.adapters.passage_workers import MOST_HERE, PassageWorkers
from openmind.adapters.worker_jobs import WorkerPlan
from openmind.adapters.worker_pool import WorkerPool
from openmind.application.indexing.preparation import InProcessPreparer, grouped
from openmind.application.indexing.preparation_wire import group_to_wire, outcomes_from_wire
from openmind.domain import packing
from openmind.domain.documents import ExtractedDocument, Segment
from openmind.domain.files import FileReason
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest, PreparedFile
from openmind.testing.contracts.preparer import PreparerContract

HERE = Path(__file__).parent

MakeWorkers = Callable[..., PassageWorkers]


def workers_in(folder: Path, **setup: object) -> PassageWorkers:
    plan = WorkerPlan(target="preparation_targets:prepare_files", setup=setup, folder=folder)
    pool = WorkerPool(plan=plan, size=2)
    return PassageWorkers(pool=pool, group=grouped, to_wire=group_to_wire, from_wire=outcomes_from_wire)


@pytest.fixture(scope="module")
def targets() -> Iterator[None]:
    """Let workers, and this process, find the targets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(HERE)])
        yield


@pytest.fixture(scope="module")
def shared_workers(targets: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PassageWorkers]:
    with closing(workers_in(tmp_path_factory.mktemp("workers"))) as workers:
        yield workers


@pytest.fixture
def make_workers(tmp_path: Path, targets: None) -> Iterator[MakeWorkers]:
    made: list[PassageWorkers] = []

    def make(**setup: object) -> PassageWorkers:
        made.append(workers_in(tmp_path, **setup))
        return made[-1]

    yield make
    for workers in made:
        workers.close()


def write(folder: Path, name: str, text: str) -> bytes:
    (folder / name).write_text(text)
    return os.fsencode(folder / name)


def asked_for(folder: Path, ticket: int, text: bytes) -> PreparationRequest:
    (folder / f"{ticket}.txt").write_bytes(text)
    return PreparationRequest(ticket=ticket, path_bytes=os.fsencode(folder / f"{ticket}.txt"), extractor="any")


@pytest.fixture
def failing(tmp_path: Path) -> Sequence[PreparationRequest]:
    return [
        asked_for(tmp_path, 100, b"\xff\xff"),
        PreparationRequest(ticket=101, path_bytes=os.fsencode(tmp_path / "gone.txt"), extractor="any"),
        PreparationRequest(ticket=102, path_bytes=b"/a.txt", packed=b"nothing that was packed"),
    ]


class TestInProcessPreparer(PreparerContract):
    @pytest.fixture
    def preparer(self, targets: None) -> InProcessPreparer:
        from preparation_targets import make_extractor, read_blob

        return InProcessPreparer(extractor=make_extractor, read=read_blob)

    @pytest.fixture
    def closable(self, preparer: InProcessPreparer) -> InProcessPreparer:
        return preparer


class TestPassageWorkers(PreparerContract):
    @pytest.fixture
    def preparer(self, shared_workers: PassageWorkers) -> PassageWorkers:
        return shared_workers

    @pytest.fixture
    def closable(self, make_workers: MakeWorkers) -> PassageWorkers:
        return make_workers()

    @pytest.fixture
    def failing(self, failing: Sequence[PreparationRequest], tmp_path: Path) -> Sequence[PreparationRequest]:
        return [*failing, asked_for(tmp_path, 103, b"abort")]


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


@pytest.fixture
def making_workers(tmp_path: Path, targets: None) -> Iterator[tuple[PassageWorkers, list[int]]]:
    """Workers beside a thread that prepares, too, and the tickets of what it prepared."""
    from preparation_targets import make_extractor, read_blob

    made: list[int] = []
    preparer = InProcessPreparer(extractor=make_extractor, read=read_blob)

    def here(group: Sequence[PreparationRequest]) -> Sequence[Preparation]:
        made.extend(request.ticket for request in group)
        return list(preparer.prepare_group(group))

    with closing(evolve(workers_in(tmp_path), here=here)) as workers:
        yield workers, made


def test_who_would_only_wait_for_workers_prepares_too(
    making_workers: tuple[PassageWorkers, list[int]], tmp_path: Path
) -> None:
    workers, made = making_workers
    requests = [asked_for(tmp_path, n, b"Sentence %d. " % n * 300) for n in range(100)]

    outcomes = list(workers.prepare(iter(requests), while_waiting=lambda: None))

    assert [outcome.ticket for outcome in outcomes] == list(range(100))
    assert all(isinstance(outcome, PreparedFile) for outcome in outcomes)
    assert made  # while the workers were starting


def test_what_takes_long_is_left_to_workers(making_workers: tuple[PassageWorkers, list[int]], tmp_path: Path) -> None:
    workers, made = making_workers
    large = evolve(asked_for(tmp_path, 1, b"Sentence. "), size=MOST_HERE)

    [prepared] = workers.prepare([large], while_waiting=lambda: None)

    assert isinstance(prepared, PreparedFile)
    assert made == []


def test_a_crash_in_a_worker_costs_one_file_also_beside_a_thread_that_prepares(
    making_workers: tuple[PassageWorkers, list[int]], tmp_path: Path
) -> None:
    workers, _ = making_workers
    crashing = evolve(asked_for(tmp_path, 0, b"abort"), size=MOST_HERE)
    others = [asked_for(tmp_path, n, b"Sentence. ") for n in range(1, 40)]

    failed, *prepared = workers.prepare([crashing, *others], while_waiting=lambda: None)

    assert isinstance(failed, PreparationFailure)
    assert failed.reason is FileReason.CRASHED
    assert [each.ticket for each in prepared if isinstance(each, PreparedFile)] == list(range(1, 40))


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
