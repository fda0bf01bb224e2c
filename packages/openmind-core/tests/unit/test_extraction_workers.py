import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.adapters.extraction_wire import (
    MAX_LABEL_CHARS,
    MAX_PICTURE_BYTES,
    PICTURE_STARTS,
    WireError,
    failure_to_wire,
    part_from_wire,
    part_to_wire,
    payload_of,
)
from openmind.adapters.extraction_workers import MAX_TEXT_CHARS, ExtractionWorkers, limits_for
from openmind.adapters.worker_jobs import MEGABYTE, FailureKind, Limits, WorkerFailure
from openmind.application.lookout import Wait
from openmind.domain.config import ExtractionConfig, OcrConfig
from openmind.domain.documents import DocumentFacts, Picture, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.recognition import MISSED, PageNews, PageText
from openmind.ports.isolated_reader import IsolatedReader, ReadOutcome, ReadRequest
from openmind.testing.contracts.isolated_reader import IsolatedReaderContract

HERE = Path(__file__).parent

MakeReader = Callable[..., ExtractionWorkers]


def reader_in(folder: Path, *, backend: str, **options: Any) -> ExtractionWorkers:
    tight = Limits(wall_s=120, cpu_s=1, memory_bytes=150 * MEGABYTE, output_bytes=128 * MEGABYTE)
    return ExtractionWorkers(
        config=ExtractionConfig(ocr=OcrConfig(backend=backend)),
        folder=folder,
        target="extraction_targets:scripted",
        limits=lambda size: tight,
        **options,
    )


@pytest.fixture(scope="module")
def targets() -> Iterator[None]:
    """Let workers find the targets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(HERE)])
        yield


@pytest.fixture(scope="module")
def shared_reader(targets: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExtractionWorkers]:
    temporary = tmp_path_factory.mktemp("workers")
    with closing(reader_in(temporary, backend="sharp-eyes", size=2)) as reader:
        yield reader
    assert list(temporary.iterdir()) == []


@pytest.fixture
def make_reader(tmp_path: Path, targets: None) -> Iterator[MakeReader]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    made: list[ExtractionWorkers] = []

    def make(*, backend: str = "plain-eyes", **options: Any) -> ExtractionWorkers:
        made.append(reader_in(temporary, backend=backend, **options))
        return made[-1]

    yield make
    for reader in made:
        reader.close()
    assert list(temporary.iterdir()) == []


@pytest.fixture
def reader(make_reader: MakeReader) -> ExtractionWorkers:
    return make_reader(size=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "book.x"
    path.write_text("first page\fsecond page")
    return path


def request(file: Path, extractor: str, *, ticket: int = 1, ocr: bool = True) -> ReadRequest:
    return ReadRequest(
        ticket=ticket, path_bytes=os.fsencode(file), extractor=extractor.replace(" ", "-"), size=100, ocr=ocr
    )


def read(reader: IsolatedReader, file: Path, extractor: str, *, ocr: bool = True) -> ReadOutcome:
    [outcome] = reader.read([request(file, extractor, ocr=ocr)], while_waiting=lambda: None, recognised=nobody)
    return outcome


def nobody(ticket: int, news: PageNews) -> None:
    """Let pages go by."""


def texts(outcome: ReadOutcome) -> list[str]:
    assert outcome.document is not None
    return [segment.text for segment in outcome.document.segments]


def facts(outcome: ReadOutcome) -> DocumentFacts:
    assert outcome.document is not None
    return outcome.document.facts


class TestExtractionWorkers(IsolatedReaderContract):
    @pytest.fixture
    def reader(self, shared_reader: ExtractionWorkers) -> ExtractionWorkers:
        return shared_reader

    @pytest.fixture
    def closable(self, make_reader: MakeReader) -> ExtractionWorkers:
        return make_reader(size=1)

    @pytest.fixture
    def good(self, file: Path) -> ReadRequest:
        return request(file, "pages")

    @pytest.fixture
    def deadly(self, file: Path) -> Sequence[ReadRequest]:
        return [request(file, way) for way in ("abort", "loop", "swell")]

    @pytest.fixture
    def scan(self, file: Path) -> ReadRequest:
        return request(file, "book")


def test_segments_and_facts_come_out_of_the_worker(reader: ExtractionWorkers, file: Path) -> None:
    outcome = read(reader, file, "pages")

    assert outcome.document is not None
    assert outcome.document.segments[1] == Segment(
        text="second page", locator=(Place(kind="page", start=2, label="2"),)
    )
    assert facts(outcome).title == "book.x"
    assert facts(outcome).metadata["pages"] == 2
    assert facts(outcome).metadata["pid"] != os.getpid()


def test_the_first_picture_comes_out_also_when_something_goes_wrong_after_it(
    reader: ExtractionWorkers, file: Path
) -> None:
    whole, broken = reader.read(
        [request(file, "pictures"), request(file, "pictured")], while_waiting=lambda: None, recognised=nobody
    )

    assert whole.picture == Picture(data=PICTURE_STARTS["image/jpeg"] + b"0", media_type="image/jpeg")
    assert texts(whole) == ["drawn"]
    assert broken.picture == whole.picture
    assert facts(broken).reason is FileReason.PARTIAL


def test_a_crash_keeps_what_was_read_and_the_next_file_is_read(reader: ExtractionWorkers, file: Path) -> None:
    crashed, good = reader.read(
        [request(file, "abort"), request(file, "pages")], while_waiting=lambda: None, recognised=nobody
    )

    assert texts(crashed) == ["page one"]
    assert facts(crashed).reason is FileReason.PARTIAL
    assert facts(crashed).title == "Half a book"
    assert "SIGABRT" in facts(crashed).note
    assert len(texts(good)) == 2


def test_a_reader_that_somebody_else_ends_has_a_second_try(reader: ExtractionWorkers, file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(b"killed again")

    second, good, again = reader.read(
        [request(file, "killed"), request(file, "pages"), request(other, "killed")],
        while_waiting=lambda: None,
        recognised=nobody,
    )

    assert texts(second) == ["page one", "page two"]
    assert facts(second).reason is FileReason.OK
    assert len(texts(good)) == 2
    assert texts(again) == ["page one"]
    assert "ended from outside" in facts(again).note
    assert MISSED not in facts(again).metadata


def test_recognition_that_somebody_else_ends_goes_on_with_the_next_run(make_reader: MakeReader, file: Path) -> None:
    outcome = read(make_reader(size=1, backend="sharp-eyes"), file, "killed-in-book")

    assert texts(outcome) == ["page 1, 1. look"]
    assert facts(outcome).reason is FileReason.PARTIAL
    assert facts(outcome).metadata[MISSED] is True
    assert facts(outcome).note.endswith("The next run goes on.")


def test_a_loop_keeps_what_was_read(reader: ExtractionWorkers, file: Path) -> None:
    outcome = read(reader, file, "loop")

    assert texts(outcome) == ["page one"]
    assert facts(outcome).reason is FileReason.PARTIAL
    assert "too much processor time" in facts(outcome).note


def test_swelling_keeps_what_was_read(reader: ExtractionWorkers, file: Path) -> None:
    outcome = read(reader, file, "swell")

    assert texts(outcome) == ["page one"]
    assert "150 MB of memory" in facts(outcome).note


def test_a_file_that_cannot_be_read_says_why_and_costs_no_worker(reader: ExtractionWorkers, file: Path) -> None:
    before = facts(read(reader, file, "pages")).metadata["pid"]

    outcome = read(reader, file, "encrypted")

    assert outcome.document is None
    assert outcome.reason is FileReason.ENCRYPTED
    assert outcome.message == "It wants a password"
    assert facts(read(reader, file, "pages")).metadata["pid"] == before


def test_whatever_a_parser_raises_is_a_damaged_file(reader: ExtractionWorkers, file: Path) -> None:
    outcome = read(reader, file, "stumble")

    assert texts(outcome) == ["page one"]
    assert facts(outcome).note.startswith("The file is broken: its reader could make no sense of it (“/Root”)")
    assert "KeyError" not in facts(outcome).note, "a person reads it"


def test_what_an_extractor_of_another_package_raises_names_that_package(reader: ExtractionWorkers, file: Path) -> None:
    told = str(read(reader, file, "acme"))

    assert "he extractor “acme” of the package openmind-acme failed: KeyError" in told


def test_an_extractor_that_panics_fails_its_file_and_the_next_one_has_a_fresh_process(
    reader: ExtractionWorkers, file: Path
) -> None:
    names = ["pages", "acme-panic", "pages", "pages"]
    before, panic, after, again = reader.read(
        [request(file, name) for name in names], while_waiting=lambda: None, recognised=nobody
    )

    assert texts(panic) == ["page one"]
    assert facts(panic).note.startswith("The extractor “acme-panic” of the package openmind-acme failed: Panic")
    assert facts(after).metadata["pid"] != facts(before).metadata["pid"]
    assert facts(again).metadata["pid"] == facts(after).metadata["pid"]


@pytest.mark.parametrize("taken", ["all", "some"])
def test_an_extractor_that_keeps_its_handles_costs_no_other_file(
    reader: ExtractionWorkers, file: Path, taken: str
) -> None:
    greedy = file.with_name("greedy")
    greedy.write_text(taken)

    requests = [request(file, "pages"), request(greedy, "acme-greedy"), request(file, "pages")]
    before, kept, after = reader.read(requests, while_waiting=lambda: None, recognised=nobody)

    assert texts(kept) == ["greedy"]
    assert texts(after) == texts(before) == ["first page", "second page"]
    assert facts(after).metadata["pid"] != facts(before).metadata["pid"]


def test_a_file_that_could_not_be_opened_for_want_of_handles_has_a_second_try(
    reader: ExtractionWorkers, file: Path
) -> None:
    full = file.with_name("full")
    full.write_text("full")

    read_then, never = reader.read(
        [request(file, "acme-crowded"), request(full, "acme-crowded")], while_waiting=lambda: None, recognised=nobody
    )

    assert texts(read_then) == ["room"]
    assert never.reason is FileReason.CRASHED
    assert "its process could open no more files" in never.message


@pytest.mark.parametrize(("way", "told"), [("acme-loop", "processor time"), ("acme-swell", "150 MB of memory")])
def test_an_extractor_of_another_package_that_is_ended_is_named(
    make_reader: MakeReader, file: Path, way: str, told: str
) -> None:
    reader = make_reader(size=1, strangers={way: "openmind-acme"})

    outcome = read(reader, file, way)

    assert f"he extractor “{way}” of the package openmind-acme was given up" in facts(outcome).note
    assert told in facts(outcome).note


def test_memory_that_a_foreign_extractor_eats_says_nothing_of_the_size_of_the_file() -> None:
    reader = ExtractionWorkers(ExtractionConfig(), strangers={"acme": "openmind-acme"})
    swollen = WorkerFailure(FailureKind.TOO_BIG, "it needed more than 250 MB of memory")

    for extractor, reason in {"pdf": FileReason.TOO_BIG, "acme": FileReason.CRASHED}.items():
        failure = reader._failure(extractor, swollen)
        assert failure is not None
        assert failure.reason is reason
    reader.close()


def test_endless_text_is_cut_off(make_reader: MakeReader, file: Path) -> None:
    reader = make_reader(size=1)
    reader.limits = lambda size: evolve(limits_for(size), output_bytes=200 * MEGABYTE)

    outcome = read(reader, file, "endless")

    assert MAX_TEXT_CHARS - 2_000_000 <= sum(map(len, texts(outcome))) <= MAX_TEXT_CHARS
    assert facts(outcome).reason is FileReason.PARTIAL


def test_one_segment_without_end_is_cut_where_all_text_is(make_reader: MakeReader, file: Path) -> None:
    reader = make_reader(size=1)
    reader.limits = lambda size: evolve(limits_for(size), output_bytes=200 * MEGABYTE)

    outcome = read(reader, file, "one long")

    assert [len(text) for text in texts(outcome)] == [5, MAX_TEXT_CHARS - 5]
    assert facts(outcome).note == "Only the first 20,000,000 characters are searchable"


def test_what_only_openmind_may_raise_and_what_is_no_value_names_the_package(
    reader: ExtractionWorkers, file: Path
) -> None:
    told = {
        "full": "StoreFull: The disk is full",
        "banana": "TypeError: reason of ExtractionFailed is 'banana'",
        "true": "TypeError: start of a Place is True",
    }
    for way, wrong in told.items():
        file.write_text(way)
        outcome = read(reader, file, "acme-odd")

        assert outcome.message.startswith("The extractor “acme-odd” of the package openmind-acme failed: ")
        assert wrong in outcome.message
        assert outcome.reason is FileReason.CRASHED


def test_a_number_without_end_in_the_metadata_is_told_by_its_size(reader: ExtractionWorkers, file: Path) -> None:
    assert facts(read(reader, file, "acme-odd")).metadata["long"] == "a number of 16610 bits"


def test_what_is_no_regular_file_is_never_opened(reader: ExtractionWorkers, tmp_path: Path, file: Path) -> None:
    os.mkfifo(tmp_path / "pipe.x")
    (tmp_path / "link.x").symlink_to(file)

    assert read(reader, tmp_path / "pipe.x", "pages").reason is FileReason.UNSUPPORTED
    assert read(reader, tmp_path / "link.x", "pages").reason is FileReason.UNSUPPORTED
    assert read(reader, tmp_path / "gone.x", "pages").reason is FileReason.VANISHED


def test_names_of_any_bytes_are_read(reader: ExtractionWorkers, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\n'%.x")
    path.write_text("odd")

    outcome = read(reader, path, "pages")

    assert texts(outcome) == ["odd"]
    assert facts(outcome).title == "\\xff\n'%.x"


def test_an_unknown_extractor_fails_that_file(reader: ExtractionWorkers, file: Path) -> None:
    outcome = read(reader, file, "nothing")

    assert outcome.document is None
    assert "nothing" in outcome.message


def test_a_file_cannot_make_its_reader_call_another_machine(reader: ExtractionWorkers, file: Path) -> None:
    assert texts(read(reader, file, "call home")) == ["files are read without a network"]


def test_what_no_database_takes_is_replaced(reader: ExtractionWorkers, file: Path) -> None:
    outcome = read(reader, file, "surrogates")

    assert texts(outcome) == ["a\ufffdb"]
    assert facts(outcome).title == "\ufffd"
    assert facts(outcome).metadata == {"k\ufffd": ["\ufffd", None, "3 bytes"]}


def test_recognition_has_limits_of_its_own(make_reader: MakeReader, file: Path) -> None:
    reader = make_reader(size=1, backend="stuck-eyes")
    reader.limits = lambda size: Limits(wall_s=3_600, slow=Limits(wall_s=0.5))

    outcome = read(reader, file, "scan")

    assert outcome.document is None
    assert "too long" in outcome.message


def test_ocr_that_is_off_for_a_source_is_not_there(reader: ExtractionWorkers, file: Path) -> None:
    assert facts(read(reader, file, "scan", ocr=False)).reason is FileReason.NEEDS_OCR
    recognised = read(reader, file, "scan", ocr=True)
    assert texts(recognised) == ["seen"] * 3
    assert facts(recognised).metadata["engine"] == "plain-eyes"


def test_each_recognised_page_is_told_before_the_file_is_done(make_reader: MakeReader, file: Path) -> None:
    file.write_bytes(b"cut")
    told: list[tuple[int, PageNews]] = []

    [outcome] = make_reader(size=1, backend="sharp-eyes").read(
        [request(file, "book", ticket=7)],
        while_waiting=lambda: None,
        recognised=lambda ticket, news: told.append((ticket, news)),
    )

    assert facts(outcome).reason is FileReason.PARTIAL
    assert texts(outcome) == ["page 1, 1. look", "page 2, 2. look"]
    assert [(ticket, news.read and news.read.text, news.place) for ticket, news in told] == [
        (7, None, "page 1 of 3"),
        (7, "page 1, 1. look", "page 1 of 3"),
        (7, None, "page 2 of 3"),
        (7, "page 2, 2. look", "page 2 of 3"),
    ]
    assert told[1][1].read.confidence == 0.5
    assert told[1][1].read.warning == "blurred"


def test_a_page_that_was_recognised_before_is_not_read_again(make_reader: MakeReader, file: Path) -> None:
    before: list[PageText] = []
    reader = make_reader(size=1, backend="sharp-eyes")
    list(
        reader.read(
            [request(file, "book")],
            while_waiting=lambda: None,
            recognised=lambda _, news: before.append(news.read) if news.read else None,
        )
    )

    [outcome] = reader.read(
        [evolve(request(file, "book"), recognised=tuple(before[:2]))], while_waiting=lambda: None, recognised=nobody
    )

    assert texts(outcome) == ["page 1, 1. look", "page 2, 2. look", "page 3, 4. look"]


@pytest.mark.parametrize(("backend", "why"), [("broken-eyes", "libGL"), ("no-such-eyes", "no-such-eyes")])
def test_an_engine_that_does_not_start_is_told(make_reader: MakeReader, file: Path, backend: str, why: str) -> None:
    outcome = read(make_reader(size=1, backend=backend), file, "scan")

    assert outcome.reason is FileReason.NEEDS_OCR
    assert why in outcome.message


def test_an_ocr_engine_that_hangs_at_its_start_is_told_and_blamed(make_reader: MakeReader, file: Path) -> None:
    engine, said = "the OCR engine “late-eyes” of openmind-acme", list[str]()
    reader = make_reader(size=1, backend="late-eyes", strange_engine=engine, engine_plugin="acme", tell=said.append)
    reader.limits = lambda size: Limits(wall_s=3_600, slow=Limits(wall_s=3_600))

    def let_time_pass() -> None:
        """Let the time of the worker be over as soon as the engine was told of."""
        for lane in reader.pool._lanes:
            if said and lane.worker:
                lane.worker._deadline = 0.0

    [outcome] = reader.read([request(file, "scan")], while_waiting=let_time_pass, recognised=nobody)

    assert said == [Wait(engine, "its start", "acme").told]
    assert outcome.reason is FileReason.TIMEOUT
    assert outcome.message == "The OCR engine “late-eyes” of openmind-acme was given up: it took too long"


def test_an_ocr_engine_that_breaks_is_named_and_its_page_is_read_by_the_next_run(
    make_reader: MakeReader, tmp_path: Path
) -> None:
    reader = make_reader(size=1, backend="acme-eyes", strange_engine="the OCR engine “acme-eyes” of openmind-acme")
    told = {
        "raise": "failed: RuntimeError: no film",
        "exit": "failed: SystemExit: 5",
        "banana": "gives a reason that is str",
        "none": "gives NoneType instead of OcrText",
        "text": "gives a text that is 5 instead of text",
        "warning": "gives a warning that is NoneType",
        "nan": "gives a confidence that is nan instead of a number from 0 to 1",
        "nine": "gives a confidence that is 9",
        "gone": "was given up: the reader ended unexpectedly",
    }
    for way in told:
        (tmp_path / way).write_text(way)

    requests = [request(tmp_path / way, "read as told") for way in told]
    outcomes = reader.read(requests, while_waiting=lambda: None, recognised=nobody)

    for (way, wrong), outcome in zip(told.items(), outcomes, strict=True):
        assert texts(outcome) == ["page one"], way
        assert facts(outcome).title == "Two pages"
        assert facts(outcome).reason is FileReason.NEEDS_OCR
        assert facts(outcome).metadata[MISSED] is True
        assert facts(outcome).note.startswith("The OCR engine “acme-eyes” of ")
        assert wrong in facts(outcome).note


def test_an_extractor_cannot_take_the_fault_of_an_engine_for_one_of_the_file(
    make_reader: MakeReader, tmp_path: Path
) -> None:
    (tmp_path / "scan").write_text("raise")

    outcome = read(make_reader(size=1, backend="acme-eyes"), tmp_path / "scan", "careless")

    assert facts(outcome).metadata[MISSED] is True
    assert "RuntimeError: no film" in str(facts(outcome).metadata["ocr_error"])


def test_installed_extractors_are_found(tmp_path: Path) -> None:
    reader = ExtractionWorkers(config=ExtractionConfig(), folder=tmp_path, size=1)

    outcome = read(reader, tmp_path / "gone.txt", "no-such-format")
    reader.close()

    assert outcome.reason is FileReason.VANISHED


def test_time_grows_with_size_up_to_a_limit() -> None:
    assert limits_for(0).cpu_s == 10
    assert limits_for(10 * MEGABYTE).cpu_s == 60
    assert limits_for(10_000 * MEGABYTE).cpu_s == 120
    assert limits_for(0).slow is not None


# The wire.


def test_a_failure_survives_the_wire() -> None:
    failure = ExtractionFailed("why", reason=FileReason.TOO_BIG, hint="what next")

    told = part_from_wire(failure_to_wire(failure))

    assert isinstance(told, ExtractionFailed)
    assert (told.message, told.reason, told.hint) == ("Why", FileReason.TOO_BIG, "what next")


GOOD_SEGMENT = part_to_wire(Segment(text="a", locator=(Place(kind="page", start=1),)))
GOOD_FACTS = part_to_wire(DocumentFacts(title="t", metadata={"a": [1, {"b": None}]}))


@pytest.mark.parametrize(
    "message",
    [
        {},
        {**GOOD_SEGMENT, "text": 1},
        {**GOOD_SEGMENT, "text": ["a"]},
        {**GOOD_SEGMENT, "kind": None},
        {**GOOD_SEGMENT, "places": None},
        {**GOOD_SEGMENT, "places": [["page", 1, 2]]},
        {**GOOD_SEGMENT, "places": [["page", True, None, ""]]},
        {**GOOD_SEGMENT, "places": [["page", -1, None, ""]]},
        {**GOOD_SEGMENT, "places": [["page", 10**30, None, ""]]},
        {**GOOD_SEGMENT, "places": [["page", "1", None, ""]]},
        {**GOOD_SEGMENT, "places": [["page", 1, None, ""]] * 1_000},
        {**GOOD_FACTS, "reason": "great"},
        {**GOOD_FACTS, "reason": 7},
        {**GOOD_FACTS, "title": None},
        {**GOOD_FACTS, "metadata": []},
        {**GOOD_FACTS, "metadata": {"a": float("inf")}},
        {**GOOD_FACTS, "metadata": {"a": [0] * 100_000}},
        {"failure": 1, "reason": "damaged", "hint": ""},
    ],
)
def test_what_no_worker_sends_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(WireError):
        part_from_wire(message)


@pytest.mark.parametrize("media_type", ["image/png", "image/jpeg"])
def test_a_picture_travels_beside_the_message(media_type: str) -> None:
    picture = Picture(data=PICTURE_STARTS[media_type] + b"rest", media_type=media_type)

    assert part_from_wire(part_to_wire(picture), payload_of(picture)) == picture
    assert b"rest".hex() not in str(part_to_wire(picture))


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("image/webp", b"RIFF"),
        ("image/png", b""),
        ("image/png", PICTURE_STARTS["image/jpeg"]),
        ("", b""),
        ("image/jpeg", PICTURE_STARTS["image/jpeg"] + bytes(MAX_PICTURE_BYTES)),
    ],
)
def test_what_no_model_is_to_see_is_refused(media_type: str, data: bytes) -> None:
    with pytest.raises(WireError):
        part_from_wire({"picture": media_type}, data)


def test_metadata_nested_without_end_is_refused() -> None:
    nested: object = "core"
    for _ in range(50):
        nested = [nested]

    with pytest.raises(WireError):
        part_from_wire({**GOOD_FACTS, "metadata": {"a": nested}})


def test_long_labels_are_cut() -> None:
    told = part_from_wire({**GOOD_FACTS, "title": "x" * 5_000})

    assert isinstance(told, DocumentFacts)
    assert len(told.title) == MAX_LABEL_CHARS


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
flat = leaves | st.lists(leaves, max_size=4) | st.dictionaries(st.text(max_size=3), leaves, max_size=4)
json_values = flat | st.lists(flat, max_size=4) | st.dictionaries(st.text(max_size=3), flat, max_size=4)
KEYS = st.sampled_from(["text", "kind", "places", "title", "metadata", "reason", "note", "failure", "hint", "picture"])


@settings(deadline=None, max_examples=80)
@given(st.dictionaries(KEYS, json_values))
def test_nothing_that_can_be_sent_breaks_the_reader(message: dict[str, object]) -> None:
    try:
        part = part_from_wire(message)
    except WireError:
        return
    assert isinstance(part, Segment | DocumentFacts | ExtractionFailed)


texts_without_surrogates = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(deadline=None, max_examples=100)
@given(text=texts_without_surrogates, label=texts_without_surrogates, start=st.integers(0, 10**9) | st.none())
def test_segments_survive_the_wire(text: str, label: str, start: int | None) -> None:
    segment = Segment(text=text, locator=(Place(kind="rows", start=start, label=label),), kind="table")

    assert part_from_wire(part_to_wire(segment)) == segment
