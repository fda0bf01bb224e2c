"""Every route of the contract, and every status it may answer with."""

import os
import stat
from pathlib import Path

import pytest
from openmind.domain.errors import ProviderUnreachable

JOB = {
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
HIT = {
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


def problem(response, status: int, code: str) -> None:
    """Check that a response is the problem object of the contract."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert isinstance(body["detail"], str)
    assert body["detail"]
    assert body["status"] == status
    assert body["code"] == code
    assert body.keys() >= {"type", "title", "status", "code", "detail", "hint"}
    assert response.headers["x-request-id"]


# Health and status


def test_health_tells_status_and_version_and_nothing_else(shared) -> None:
    with shared.without_token() as http:
        response = http.get("/health")

    assert response.status_code == 200
    assert response.json().keys() == {"status", "version"}
    assert response.json()["status"] == "ok"


def test_status_of_an_empty_memory(api) -> None:
    found = api.get("/status").json()

    assert found["status"] == "ready"
    assert found["provider"] == "builtin"
    assert found["embedding_model"] == "builtin"
    assert found["chat_model"] is None
    assert found["image_model"] is None
    assert (found["sources"], found["indexed_files"], found["indexed_chunks"]) == (0, 0, 0)
    assert found["indexing_state"] == "idle"
    assert found["last_index_job_status"] is None
    assert (found["watcher_state"], found["queued_watch_jobs"]) == ("stopped", 0)


def test_status_of_a_memory_with_files(shared) -> None:
    found = shared.get("/status").json()

    assert (found["sources"], found["indexed_files"]) == (1, 3)
    assert found["indexed_chunks"] >= 3
    assert found["chat_model"] == "fake-chat"
    assert found["provider"] == "fake"


def test_status_that_has_not_changed_is_304(shared) -> None:
    first = shared.get("/status")

    again = shared.get("/status", headers={"If-None-Match": first.headers["etag"]})
    other = shared.get("/status", headers={"If-None-Match": '"another"'})

    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == first.headers["etag"]
    assert other.status_code == 200


# Providers and models


def test_providers_are_listed_with_the_configured_one(shared) -> None:
    providers = {provider["name"]: provider for provider in shared.get("/providers").json()["providers"]}

    assert providers["fake"] == {"name": "fake", "display_name": "Fake", "configured": True}
    assert providers["lmstudio"]["display_name"] == "LM Studio"
    assert not providers["lmstudio"]["configured"]


def test_the_provider_says_whether_it_answers(world, api) -> None:
    world.configure()
    up = api.get("/providers/status").json()
    world.provider.reachable = False
    down = api.get("/providers/status").json()

    assert up == {"provider": "fake", "reachable": True, "message": "The fake provider is ready.", "notices": []}
    assert not down["reachable"]
    assert down["message"]


def test_models_are_listed_by_what_they_can_do(shared) -> None:
    found = shared.get("/models").json()

    assert found["provider"] == "fake"
    assert [model["key"] for model in found["chat_models"]] == ["fake-chat", "fake-eyes"]
    assert [model["key"] for model in found["embedding_models"]] == ["fake-embedder", "builtin"]
    assert [model["key"] for model in found["image_models"]] == ["fake-eyes"]
    assert isinstance(found["chat_models"][0].pop("loaded"), bool)  # others may have asked for it already
    assert found["chat_models"][0] == {
        "key": "fake-chat",
        "name": "Fake chat model",
        "type": "llm",
        "supports_images": False,
        "max_context_length": None,
        "quantization": None,
    }


def test_models_of_a_provider_that_is_down_are_503(world, api) -> None:
    world.configure()
    world.provider.reachable = False

    problem(api.get("/models"), 503, "provider.unreachable")
    problem(api.post("/models/load", {"model_keys": ["fake-chat"]}), 503, "provider.unreachable")
    problem(api.put("/models/selection", {"embedding_model": "fake-embedder"}), 503, "provider.unreachable")


def test_named_models_are_loaded_once(world, api) -> None:
    world.configure()

    first = api.post("/models/load", {"model_keys": ["fake-chat", "fake-embedder"]}).json()
    again = api.post("/models/load", {"model_keys": ["fake-chat"]}).json()

    assert first["results"] == [
        {"model": "fake-chat", "status": "loaded", "skipped": False},
        {"model": "fake-embedder", "status": "loaded", "skipped": False},
    ]
    assert again["results"] == [{"model": "fake-chat", "status": "loaded", "skipped": True}]


@pytest.mark.parametrize("body", [{}, {"model_keys": None}])
def test_without_names_the_configured_models_are_loaded(world, api, body) -> None:
    world.configure(chat="fake-chat")

    found = api.post("/models/load", body).json()

    assert [result["model"] for result in found["results"]] == ["fake-chat", "builtin"]


def test_a_model_that_is_not_there_cannot_be_loaded(world, api) -> None:
    world.configure()

    problem(api.post("/models/load", {"model_keys": ["nobody"]}), 400, "provider.model_not_found")


def test_choosing_models_is_seen_by_the_next_request(world, api) -> None:
    world.configure(chat="fake-chat", embedding="fake-embedder")
    api.post("/models/load", {})

    found = api.put("/models/selection", {"embedding_model": "builtin", "image_model": "fake-eyes"})

    assert found.status_code == 200, found.text
    assert found.json() == {
        "provider": "fake",
        "chat_model": None,
        "embedding_model": "builtin",
        "image_model": "fake-eyes",
        "unload_results": [
            {"model": "fake-chat", "status": "unloaded", "skipped": False},
            {"model": "fake-embedder", "status": "unloaded", "skipped": False},
        ],
        "load_results": [
            {"model": "builtin", "status": "loaded", "skipped": True},
            {"model": "fake-eyes", "status": "loaded", "skipped": False},
        ],
        "index_job": None,
    }
    status = api.get("/status").json()
    assert (status["chat_model"], status["embedding_model"], status["image_model"]) == (None, "builtin", "fake-eyes")


def test_choosing_models_without_loading_leaves_the_provider_alone(world, api) -> None:
    world.configure(chat="fake-chat")
    api.post("/models/load", {})

    found = api.put("/models/selection", {"embedding_model": "fake-embedder", "load": False}).json()

    assert (found["unload_results"], found["load_results"]) == ([], [])
    assert world.provider.loaded == {"fake-chat"}


@pytest.mark.parametrize(
    "body",
    [
        {"embedding_model": "nobody"},
        {"embedding_model": "fake-chat"},
        {"embedding_model": "fake-embedder", "chat_model": "fake-embedder"},
        {"embedding_model": "fake-embedder", "image_model": "fake-chat"},
    ],
)
def test_a_model_that_cannot_do_it_is_not_chosen(world, api, body) -> None:
    world.configure(chat="fake-chat")
    before = (world.home / "config.toml").read_bytes()

    problem(api.put("/models/selection", body), 400, "provider.model_not_found")

    assert (world.home / "config.toml").read_bytes() == before


# Sources


def test_a_source_is_added_listed_and_removed(world, api) -> None:
    added = api.post("/sources", {"path": str(world.notes)})

    assert added.status_code == 201
    source = added.json()
    assert source.keys() >= {"id", "path", "recursive", "enabled", "created_at"}
    assert (source["path"], source["recursive"], source["enabled"]) == (str(world.notes), True, True)
    assert api.get("/sources").json()["sources"] == [source]
    removed = api.delete(f"/sources/{source['id']}")
    assert removed.status_code == 200
    assert removed.json() == {
        "source_id": source["id"],
        "source_path": str(world.notes),
        "files_removed": 0,
        "chunks_removed": 0,
        "user_files_deleted": False,
    }
    assert api.get("/sources").json()["sources"] == []


def test_what_cannot_be_a_source_is_refused(world, api) -> None:
    api.post("/sources", {"path": str(world.notes)})

    problem(api.post("/sources", {"path": str(world.notes / "nowhere")}), 400, "source.missing")
    problem(api.post("/sources", {"path": str(world.notes / "rent.md")}), 400, "source.not_a_folder")
    problem(api.post("/sources", {"path": "/"}), 400, "source.forbidden")
    problem(api.post("/sources", {"path": "/a\0b"}), 400, "usage")
    problem(api.post("/sources", {"path": str(world.notes)}), 409, "source.exists")
    problem(api.post("/sources", {"path": str(world.notes / "plants")}), 409, "source.overlaps")


def test_an_unknown_source_cannot_be_changed_or_removed(api) -> None:
    problem(api.delete("/sources/src_000000000000"), 404, "source.not_found")
    problem(api.patch("/sources/src_000000000000", {"ocr": False}), 404, "source.not_found")


def test_how_a_source_is_read_can_be_changed_one_by_one(world, api) -> None:
    source = api.post("/sources", {"path": str(world.notes)}).json()
    one = f"/sources/{source['id']}"

    for change in ({"ocr": False}, {"code": True}, {"enabled": False}, {"enabled": True, "code": False}):
        source |= change
        changed = api.patch(one, change)
        assert (changed.status_code, changed.json()) == (200, source)
        assert api.get("/sources").json()["sources"] == [source]


def test_a_disabled_source_is_not_found_until_it_is_enabled(world) -> None:
    world.index()
    with world.served() as api:
        one = f"/sources/{api.get('/sources').json()['sources'][0]['id']}"

        def found() -> list[str]:
            return [hit["file_name"] for hit in api.post("/search", {"query": "heliotrope"}).json()["results"]][:1]

        assert found() == ["heliotrope.txt"]
        file = api.get("/files").json()["files"][0]["id"]
        api.patch(one, {"enabled": False})
        assert found() == []
        id = one.rpartition("/")[2]
        for response in (
            api.post("/search", {"query": "heliotrope", "sources": [id]}),
            api.get("/files", params={"source_id": id}),
            api.get(f"/documents/{file}"),
            api.get(f"/documents/{file}/chunks"),
        ):
            assert (response.status_code, response.json()["code"]) == (403, "source.disabled")
            assert f"openmind source set {id} --enable" in response.json()["hint"]
        assert api.get("/files").json() == {"files": [], "next": None}
        api.patch(one, {"enabled": True})
        assert found() == ["heliotrope.txt"]


@pytest.mark.parametrize("change", [{}, {"enabled": None}, {"ocr": 1}, {"path": "/"}, {"recursive": False}, []])
def test_a_change_that_says_nothing_or_anything_else_is_refused(world, api, change) -> None:
    source = api.post("/sources", {"path": str(world.notes)}).json()

    problem(api.patch(f"/sources/{source['id']}", change), 422, "request.invalid")
    assert api.get("/sources").json()["sources"] == [source]


# Indexing


def test_without_a_job_the_index_is_idle(api) -> None:
    found = api.get("/index/status").json()

    assert found.keys() >= JOB
    assert found["job_id"] is None
    assert found["state"] == "idle"
    assert found["progress"] == 0.0
    for action in ("pause", "resume", "stop"):
        problem(api.post(f"/index/{action}"), 404, "job.not_found")


@pytest.mark.parametrize("body", [None, {}])
def test_files_are_indexed_in_the_background(world, api, body) -> None:
    api.post("/sources", {"path": str(world.notes)})

    started = api.post("/index/start", body)

    assert started.status_code == 202
    assert started.json().keys() >= JOB
    assert started.json()["state"] == "pending"
    finished = api.job_finished()
    assert finished["job_id"] == started.json()["job_id"]
    assert (finished["state"], finished["indexed_files"], finished["progress"]) == ("completed", 3, 100.0)
    assert api.get("/status").json()["last_index_job_status"] == "completed"
    assert api.post("/search", {"query": "heliotrope"}).json()["results"]


def test_a_second_start_gives_the_active_job_and_stands_in_the_way(world, api, held_worker) -> None:
    source = api.post("/sources", {"path": str(world.notes)}).json()
    first = api.post("/index/start").json()

    second = api.post("/index/start")
    removal = api.delete(f"/sources/{source['id']}")
    choice = api.put("/models/selection", {"embedding_model": "builtin"})
    paused, resumed, stopped = (api.post(f"/index/{action}") for action in ("pause", "resume", "stop"))
    held_worker()

    assert second.status_code == 202
    assert second.json()["job_id"] == first["job_id"]
    problem(removal, 409, "job.active")
    problem(choice, 409, "job.active")
    assert paused.json()["state"] == "pause_requested"
    assert resumed.status_code == 200
    assert stopped.json()["state"] == "stop_requested"
    assert api.job_finished()["state"] == "stopped"


def test_the_progress_of_indexing_comes_as_events(world, api, read_events) -> None:
    api.post("/sources", {"path": str(world.notes)})
    api.post("/index/start")

    with api.http.stream("GET", "/api/v1/index/events") as response:
        found = list(read_events(response))

    assert response.headers["content-type"].startswith("text/event-stream")
    names = [name for name, _ in found if name != ":"]
    assert names[0] == "job"
    assert names[-1] == "done"
    assert found[-1][1]["state"] == "completed"
    assert all(data.keys() >= JOB for name, data in found if name != ":")


# Search and ask


def test_search_finds_and_says_where(shared) -> None:
    found = shared.post("/search", {"query": "  rent increase ", "limit": 3}).json()

    assert found.keys() >= {"query", "results", "state", "degraded", "degraded_reason"}
    assert (found["query"], found["state"], found["degraded"]) == ("rent increase", "ok", False)
    hit = found["results"][0]
    assert hit.keys() >= HIT
    assert hit["file_name"] == "rent.md"
    assert hit["source_type"] == "md"
    assert isinstance(hit["metadata"], dict)
    assert 0 <= hit["score"] <= 1
    assert "explanation" not in hit


def test_search_explains_when_asked(shared) -> None:
    [hit, *_] = shared.post("/search", {"query": "rent increase", "explain": True}).json()["results"]

    assert hit["explanation"].keys() == {"words_rank", "words_score", "vector_rank", "cosine", "coverage"}


def test_search_can_be_narrowed(shared) -> None:
    source = shared.get("/sources").json()["sources"][0]
    query = {"query": "heliotrope garden"}
    folder = str(shared.world.notes / "plants")

    def states(**filters: object) -> tuple[str, list[str]]:
        found = shared.post("/search", {**query, **filters}).json()
        return found["state"], [hit["file_name"] for hit in found["results"]]

    assert states(sources=[source["id"]], folder=folder, extensions=["txt"]) == ("ok", ["heliotrope.txt"])
    assert states(modified_after="2001-01-01T00:00:00Z")[0] == "ok"
    assert states(modified_before="2001-01-01T00:00:00Z")[0] == "filtered_out"
    assert states(extensions=[".md"])[0] == "filtered_out"
    problem(shared.post("/search", {**query, "sources": ["src_000000000000"]}), 404, "source.not_found")


def test_search_of_an_empty_memory_says_so(api) -> None:
    assert api.post("/search", {"query": "anything"}).json()["state"] == "nothing_indexed"


def test_a_search_whose_embedder_is_down_is_degraded(world) -> None:
    world.configure(embedding="fake-embedder")
    world.index()
    world.provider.embeddings.error = ProviderUnreachable("It is down")

    with world.served() as api:
        found = api.post("/search", {"query": "rent increase"})

    assert found.status_code == 200
    assert found.json()["degraded"] is True
    assert "It is down" in found.json()["degraded_reason"]
    assert found.json()["results"]


def test_ask_answers_with_sources(shared) -> None:
    found = shared.post("/ask", {"question": "What about the rent increase?"}).json()

    assert found["format"] == "markdown"
    assert found["answer"] == "It is so [1]."
    assert found["state"] == "answered"
    assert found["session_id"].startswith("chat_")
    assert found["sources"][0].keys() >= HIT
    assert found["reasoning"] is None


def test_ask_leaves_sources_out_on_request(shared) -> None:
    body = {"question": "What about the rent increase?", "include_sources": False}

    assert shared.post("/ask", body).json()["sources"] == []


def test_ask_goes_on_with_a_conversation_until_it_is_ended(shared) -> None:
    first = shared.post("/ask", {"question": "What about the rent increase?"}).json()
    session = first["session_id"]

    second = shared.post("/ask", {"question": "When does the rent rise?", "session_id": session}).json()
    ended = shared.delete(f"/chat/sessions/{session}")

    assert second["session_id"] == session
    assert ended.json() == {"session_id": session, "ended": True}
    problem(shared.delete(f"/chat/sessions/{session}"), 404, "session.not_found")
    problem(shared.post("/ask", {"question": "And?", "session_id": session}), 404, "session.not_found")
    problem(shared.post("/ask/stream", {"question": "And?", "session_id": session}), 404, "session.not_found")


def test_ask_without_a_chat_model_shows_the_passages(world) -> None:
    world.index()

    with world.served() as api:
        found = api.post("/ask", {"question": "What about the rent increase?"}).json()

    assert found["state"] == "evidence_only"
    assert "rent increase" in found["answer"]


def test_an_index_that_is_gone_says_nothing_about_the_files(world) -> None:
    world.write("rent.md", "The rent increase is 40 euros.\n")
    world.index()
    with world.served() as api:
        (world.home / "lancedb").rename(world.home / "elsewhere")
        found = api.post("/search", {"query": "rent increase"}).json()
        answered = api.post("/ask", {"question": "What about the rent increase?"}).json()

    assert (found["state"], found["results"], found["degraded"]) == ("unreadable", [], True)
    assert answered["state"] == "unreadable"
    assert "could not be searched" in answered["answer"]


def test_ask_says_when_nothing_is_indexed_or_nothing_fits(api, shared) -> None:
    assert api.post("/ask", {"question": "What about the rent?"}).json()["state"] == "nothing_indexed"
    assert shared.post("/ask", {"question": "zymurgy quokka xylophone"}).json()["state"] == "not_in_files"


def test_ask_gives_reasoning_only_on_request(world) -> None:
    world.provider.answers.thoughts = "Let me think."
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        plain = api.post("/ask", {"question": "What about the rent increase?"}).json()
        thought = api.post("/ask", {"question": "What about the rent increase?", "reasoning": True}).json()

    assert plain["reasoning"] is None
    assert thought["reasoning"] == "Let me think."


# Documents, files, opening


def test_a_document_has_its_passages_and_no_vectors(shared) -> None:
    hit = shared.post("/search", {"query": "rent increase"}).json()["results"][0]

    found = shared.get(f"/documents/{hit['file_id']}").json()

    assert found.keys() >= {
        "id",
        "source_id",
        "path",
        "file_name",
        "extension",
        "status",
        "size",
        "modified_at",
        "indexed_at",
        "error",
        "chunks",
    }
    assert (found["extension"], found["status"], found["error"]) == (".md", "indexed", None)
    assert isinstance(found["modified_at"], float)
    [chunk] = found["chunks"]
    assert chunk.keys() >= {"id", "text", "chunk_index", "title", "metadata"}
    assert chunk["id"] == hit["id"]
    assert "vector" not in str(found)


def test_passages_come_in_pages_without_a_cut(world) -> None:
    world.write("long.txt", "\n\n".join(f"Paragraph {number}. " + "word " * 180 for number in range(60)))
    world.index()
    with world.served() as api:
        [file] = [file for file in api.get("/files").json()["files"] if file["file_name"] == "long.txt"]

        pages, start = [], 0
        while start is not None:
            page = api.get(f"/documents/{file['id']}/chunks", params={"start": start, "limit": 7}).json()
            pages += page["chunks"]
            start = page["next_start"]
        document = api.get(f"/documents/{file['id']}").json()

    assert len(pages) == document["total_chunks"] > 20
    assert [chunk["chunk_index"] for chunk in pages] == list(range(len(pages)))
    assert document["chunks"] == pages
    assert document["next_start"] is None


def test_what_is_no_document_is_404(shared) -> None:
    problem(shared.get("/documents/file_0000000000000000"), 404, "document.not_found")
    problem(shared.get("/documents/file_0000000000000000/chunks"), 404, "document.not_found")
    problem(shared.post("/actions/open", {"file_id": "file_0000000000000000"}), 404, "document.not_found")


def test_files_are_listed_with_the_reason_why_they_are_not_searchable(world) -> None:
    world.write("empty.md", "")
    world.index()

    with world.served() as api:
        everything = api.get("/files").json()
        skipped = api.get("/files", params={"status": "skipped"}).json()
        empty = api.get("/files", params={"status": "empty"}).json()
        source = everything["files"][0]["source_id"]
        of_source = api.get("/files", params={"source_id": source}).json()
        of_nobody = api.get("/files", params={"source_id": "src_000000000000"})

    assert {file["file_name"] for file in everything["files"]} == {"rent.md", "bread.md", "heliotrope.txt", "empty.md"}
    assert everything["next"] is None
    assert skipped == empty
    assert [(file["file_name"], file["status"], file["reason"]) for file in empty["files"]] == [
        ("empty.md", "skipped", "empty")
    ]
    assert of_source == everything
    problem(of_nobody, 404, "source.not_found")


def test_files_come_in_pages(shared) -> None:
    names, after = [], None
    while True:
        page = shared.get("/files", params={"limit": 2, **({"after": after} if after else {})}).json()
        names += [file["file_name"] for file in page["files"]]
        after = page["next"]
        if after is None:
            break

    assert names == ["bread.md", "heliotrope.txt", "rent.md"]


def test_a_file_is_opened_by_the_system(world, monkeypatch, waited) -> None:
    opened = opener(world.home.parent, monkeypatch)
    world.index()

    with world.served() as api:
        file = api.get("/files").json()["files"][0]
        found = api.post("/actions/open", {"file_id": file["id"]}).json()

    assert found == {"opened": True, "file_id": file["id"], "path": file["path"]}
    assert waited(lambda: opened.exists() and opened.read_text()) == f"1 {file['path']}\n"


def opener(folder: Path, monkeypatch) -> Path:
    """Put a program named xdg-open first on the path; it writes down what it was given."""
    told, program = folder / "opened", folder / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$# $1" > {told}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return told


# What is not there


@pytest.mark.parametrize("path", ["/ignore-rules", "/watch/status", "/watch/start", "/nope", "/sources/", "/"])
def test_routes_of_later_releases_are_404(shared, path) -> None:
    response = shared.get(path)

    if path == "/sources/":
        assert response.status_code == 200  # a slash at the end names the same place
    else:
        problem(response, 404, "route.not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/health"),
        ("HEAD", "/health"),
        ("HEAD", "/api/v1/status"),
        ("DELETE", "/api/v1/sources"),
        ("PATCH", "/api/v1/models/selection"),
        ("GET", "/api/v1/search"),
        ("POST", "/api/v1/status"),
    ],
)
def test_a_wrong_method_is_405(shared, method, path) -> None:
    response = shared.http.request(method, path)

    assert response.status_code == 405
    assert response.headers.get("allow")
    if method != "HEAD":
        problem(response, 405, "route.method")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("limit=5.0", "limit"),
        ("limit=1e0", "limit"),
        ("limit=%205", "limit"),
        ("limit=5&limit=6", "limit"),
        ("status=indexed&status=failed", "status"),
    ],
)
def test_parameters_are_as_strict_as_bodies(shared, query, path) -> None:
    response = shared.get(f"/files?{query}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["path"] == path


def test_any_tag_is_the_tag_of_what_is_there(shared) -> None:
    tag = shared.get("/status").headers["etag"]

    for known in ("*", tag, f"W/{tag}", f'"other", {tag}'):
        assert shared.get("/status", headers={"If-None-Match": known}).status_code == 304
    assert shared.get("/status", headers={"If-None-Match": f"x{tag}"}).status_code == 200


def test_a_folder_may_be_written_in_a_roundabout_way(shared) -> None:
    notes = shared.world.notes

    response = shared.post("/search", {"query": "heliotrope", "folder": f"{notes}/plants/../plants/./"})

    assert [hit["file_name"] for hit in response.json()["results"]] == ["heliotrope.txt"]


def test_no_folder_holds_nul(shared) -> None:
    response = shared.post("/search", {"query": "rent", "folder": "/notes\0"})

    assert response.status_code == 422
    assert "`folder` must not contain NUL" in response.json()["detail"]


def test_empty_lists_let_everything_through(shared) -> None:
    bare = shared.post("/search", {"query": "rent"}).json()

    assert shared.post("/search", {"query": "rent", "sources": [], "extensions": []}).json() == bare


def test_a_memory_that_cannot_be_opened_and_a_full_disk_are_in_the_schema(shared) -> None:
    document = shared.http.get("/openapi.json").json()

    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path.startswith("/api/v1"):
                assert {"409", "507"} <= operation["responses"].keys(), path
