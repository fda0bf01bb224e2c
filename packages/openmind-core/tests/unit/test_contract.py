"""The JSON objects that clients rely on."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain import contract, errors, problems
from openmind.domain.answers import Answer, AnswerState, Citation
from openmind.domain.documents import Place
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, JobId, RunId, SourceId
from openmind.domain.jobs import FileFailure, IndexJob, IndexReport, IndexRun, IndexTally, JobState
from openmind.domain.location_text import location_text
from openmind.domain.search import Explanation, SearchHit, SearchResult, SearchState
from openmind.domain.sources import Source
from openmind.domain.status import MemoryStatus, RemovalReport

JOB_FIELDS = {
    "job_id",
    "state",
    "total_files",
    "processed_files",
    "indexed_files",
    "skipped_files",
    "already_indexed_files",
    "failed_files",
    "chunks_created",
    "current_file",
    "error",
    "progress",
    "started_at",
    "completed_at",
    "updated_at",
}
HIT_FIELDS = {
    "id",
    "file_id",
    "source_id",
    "score",
    "source_type",
    "path",
    "file_name",
    "title",
    "snippet",
    "chunk_index",
    "metadata",
}
STATUS_FIELDS = {
    "status",
    "version",
    "provider",
    "chat_model",
    "embedding_model",
    "image_model",
    "sources",
    "indexed_files",
    "indexed_chunks",
    "indexing_state",
    "last_index_job_status",
    "watcher_state",
    "queued_watch_jobs",
}


def a_hit(**changes: object) -> SearchHit:
    values: dict[str, object] = {
        "id": "file_0011223344556677:3",
        "file_id": FileId("file_0011223344556677"),
        "source_id": SourceId("src_001122334455"),
        "score": 0.75,
        "path": "/notes/garden.md",
        "file_name": "garden.md",
        "extension": ".md",
        "title": "Garden",
        "snippet": "Prune the apple tree in March.",
        "text": "Prune the apple tree in March, on a dry day.",
        "index": 3,
        "locator": (Place(kind="heading", label="Trees"), Place(kind="lines", start=40, end=52)),
        "metadata": {"tags": ["garden"]},
        "marks": ((10, 15),),
        "also_at": ("/copy/garden.md",),
        "explanation": Explanation(words_rank=1, words_score=4.5, vector_rank=2, cosine=0.6, coverage=1.0),
    }
    return SearchHit(**(values | changes))  # type: ignore[arg-type]


def leaves(kind: type[errors.OpenMindError]) -> Iterator[type[errors.OpenMindError]]:
    children = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    if not children:
        yield kind
    for child in children:
        yield from leaves(child)


def test_a_hit_has_the_fields_clients_know() -> None:
    found = contract.hit_object(a_hit())

    assert set(found) >= HIT_FIELDS
    assert found["source_type"] == "md"
    assert found["chunk_index"] == 3
    assert found["metadata"] == {"tags": ["garden"]}
    assert found["location"] == "Trees › lines 40–52"
    assert found["also_at"] == ["/copy/garden.md"]


def test_a_hit_carries_no_vector_and_not_the_whole_passage() -> None:
    found = contract.hit_object(a_hit(), explain=True)

    assert "vector" not in found
    assert "text" not in found


def test_the_explanation_is_there_only_when_asked_for() -> None:
    assert "explanation" not in contract.hit_object(a_hit())
    assert contract.hit_object(a_hit(), explain=True)["explanation"] == {
        "words_rank": 1,
        "words_score": 4.5,
        "vector_rank": 2,
        "cosine": 0.6,
        "coverage": 1.0,
    }


def test_changing_the_object_leaves_the_hit_as_it_was() -> None:
    hit = a_hit()

    metadata = contract.hit_object(hit)["metadata"]
    assert isinstance(metadata, dict)
    metadata["tags"] = None

    assert hit.metadata == {"tags": ["garden"]}


def test_a_search_says_its_state_and_whether_it_was_degraded() -> None:
    result = SearchResult(
        query="apple", state=SearchState.NOTHING_FOUND, hits=(a_hit(),), degraded=True, degraded_reason="words only"
    )

    found = contract.search_object(result)

    assert {key: found[key] for key in ("query", "state", "degraded", "degraded_reason")} == {
        "query": "apple",
        "state": "nothing_found",
        "degraded": True,
        "degraded_reason": "words only",
    }
    assert found["results"] == [contract.hit_object(a_hit())]


def test_an_answer_has_its_sources_in_the_order_of_the_citations() -> None:
    answer = Answer(
        question="When?",
        state=AnswerState.ANSWERED,
        markdown="In March [1].",
        sources=(a_hit(), a_hit(id="other")),
        citations=(Citation(number=1, hit=a_hit()),),
    )

    found = contract.answer_object(answer)

    assert set(found) >= {"format", "session_id", "answer", "sources", "reasoning", "state"}
    assert found["format"] == "markdown"
    assert found["sources"] == [contract.hit_object(a_hit()), contract.hit_object(a_hit(id="other"))]
    assert found["citations"] == [1]
    assert contract.answer_object(answer, include_sources=False)["sources"] == []


def test_without_a_job_the_idle_job_is_all_zeros() -> None:
    found = contract.job_object(None)

    assert set(found) >= JOB_FIELDS
    assert found["job_id"] is None
    assert found["state"] == "idle"
    assert {found[key] for key in JOB_FIELDS if key.endswith("_files")} == {0}
    assert found["progress"] == 0.0


def test_a_job_shows_its_numbers_and_gives_null_for_what_is_not_yet_known() -> None:
    tally = IndexTally(indexed=2, already_indexed=1, skipped=1, failed=1, moved=1, chunks=9, total=12)
    job = IndexJob(id=JobId("job_00112233aabb"), state=JobState.RUNNING, tally=tally, started_at="2026-01-02T03:04:05Z")

    found = contract.job_object(job)

    assert set(found) >= JOB_FIELDS
    assert found["processed_files"] == 6
    assert found["progress"] == 50.0
    assert found["completed_at"] is None
    assert found["error"] is None


def test_a_run_that_has_found_nothing_yet_has_made_no_progress() -> None:
    started = IndexRun(id=RunId("run_1"), started_at="t", state=JobState.DISCOVERING)
    done = IndexRun(id=RunId("run_1"), started_at="t", state=JobState.COMPLETED)

    assert contract.run_object(started)["progress"] == 0.0
    assert contract.run_object(done)["progress"] == 100.0


def test_a_foreground_run_is_a_job_without_an_id_and_lists_its_failures() -> None:
    report = IndexReport(
        run=IndexRun(id=RunId("run_001122334455"), started_at="t", finished_at="u", state=JobState.COMPLETED),
        failures=(FileFailure(path="/a.pdf", code="damaged", message="The file is damaged."),),
        failures_total=1,
        notices=("2 deletions wait.",),
        unread_kinds={".doc": 3},
    )

    found = contract.index_object(report)

    assert set(found) >= JOB_FIELDS
    assert found["job_id"] is None
    assert found["failures"] == [{"path": "/a.pdf", "code": "damaged", "message": "The file is damaged."}]
    assert found["notices"] == ["2 deletions wait."]
    assert found["unread_kinds"] == {".doc": 3}


def test_a_source_has_the_fields_clients_know() -> None:
    source = Source(id=SourceId("src_001122334455"), path_bytes=b"/a\xff", created_at="2026-01-02T03:04:05Z")

    found = contract.source_object(source)

    assert set(found) >= {"id", "path", "recursive", "enabled", "created_at"}
    assert found["path"] == "/a\\xff"


def test_a_removal_never_deletes_user_files() -> None:
    report = RemovalReport(source_id=SourceId("src_001122334455"), source_path="/a", files_removed=3, chunks_removed=9)

    assert contract.removal_object(report) == {
        "source_id": "src_001122334455",
        "source_path": "/a",
        "files_removed": 3,
        "chunks_removed": 9,
        "user_files_deleted": False,
    }


def test_the_status_has_the_fields_clients_know() -> None:
    status = MemoryStatus(
        version="1",
        home="/h",
        provider="builtin",
        chat_model=None,
        embedding_model="builtin",
        image_model=None,
        sources=1,
        files=3,
        indexed_files=2,
        indexed_chunks=7,
        missing_vectors=0,
        by_reason={FileReason.OK: 2, FileReason.EMPTY: 1},
        last_run=IndexRun(id=RunId("run_1"), started_at="t"),
    )

    found = contract.status_object(status)

    assert set(found) >= STATUS_FIELDS
    assert found["status"] == "ready"
    assert found["indexing_state"] == "idle"
    assert found["watcher_state"] == "stopped"
    assert found["files_by_reason"] == {"ok": 2, "empty": 1}


def test_a_file_says_its_status_and_the_reason() -> None:
    record = FileRecord(
        id=FileId("file_1"),
        source_id=SourceId("src_1"),
        path_bytes=b"/a/Report.PDF",
        stat=FileStat(size=10, mtime_ns=1_500_000_000),
        scanned_ns=0,
        reason=FileReason.NEEDS_OCR,
        error="The pages are pictures.",
    )

    found = contract.file_object(record)

    assert (found["file_name"], found["extension"]) == ("Report.PDF", ".pdf")
    assert (found["status"], found["reason"]) == ("skipped", "needs_ocr")
    assert "--ocr" in found["hint"]
    assert found["modified_at"] == 1.5
    assert found["indexed_at"] is None


@pytest.mark.parametrize("kind", list(leaves(errors.OpenMindError)), ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_by_its_family(kind: type[errors.OpenMindError]) -> None:
    assert any(family in problems.STATUS for family in kind.__mro__)
    assert 400 <= problems.status_of(kind) < 600


def test_the_error_object_says_what_happened_and_what_to_do() -> None:
    found = problems.error_object(
        errors.SourceNotFound("There is no source src_1.", hint="See `openmind source list`.")
    )

    assert found == {
        "type": "urn:openmind:error:source.not_found",
        "title": "No source has that id",
        "status": 404,
        "code": "source.not_found",
        "detail": "There is no source src_1",
        "hint": "See `openmind source list`.",
    }


def test_an_error_of_a_plugin_takes_the_status_of_its_family() -> None:
    class Odd(errors.ProviderUnreachable):
        code = "provider.odd"

    assert problems.error_object(Odd("It is odd."))["status"] == 503
    assert problems.error_object(Odd("It is odd."))["title"] == "provider.odd"


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((), ""),
        ((Place(kind="page", start=12), Place(kind="heading", label="Methods")), "p. 12 › Methods"),
        ((Place(kind="page", start=12, end=13),), "pp. 12–13"),
        ((Place(kind="page", start=4, label="iv"),), "p. iv (4)"),
        ((Place(kind="page", start=4, label="4"),), "p. 4"),
        ((Place(kind="chapter", start=1, label="One"), Place(kind="heading", label="One")), "One"),
        ((Place(kind="lines", start=40, end=52),), "lines 40–52"),
        ((Place(kind="lines", start=7, end=7),), "line 7"),
        ((Place(kind="sheet", start=2, label="Budget"), Place(kind="rows", start=3, end=9)), "Budget › rows 3–9"),
        ((Place(kind="slide", start=3),), "slide 3"),
        ((Place(kind="paragraphs", start=3, end=4),), "paragraphs 3–4"),
        ((Place(kind="paragraphs", start=3),), "paragraph 3"),
        ((Place(kind="heading"),), ""),
        ((Place(kind="chapter", start=1, label="The Whale"),), "The Whale"),
    ],
)
def test_a_location_reads_like_a_reference(places: tuple[Place, ...], text: str) -> None:
    assert location_text(places) == text


@settings(deadline=None, max_examples=60)
@given(text=st.text(), score=st.floats(0, 1), start=st.integers(1), label=st.text())
def test_any_text_makes_a_json_object(text: str, score: float, start: int, label: str) -> None:
    hit = a_hit(snippet=text, path=text, score=score, locator=(Place(kind="page", start=start, label=label),))

    written = json.dumps(contract.search_object(SearchResult(query=text, state=SearchState.OK, hits=(hit,))))

    assert json.loads(written)["results"][0]["snippet"] == text
