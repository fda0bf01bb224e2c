"""What the first acceptable build must prove, as far as it is seen through the API. One test a sentence."""

import re
import stat

import pytest
from openmind.adapters.token_file import TokenFile
from openmind.domain.errors import UsageError
from openmind_api import listening
from openmind_api.origins import parse_origin

QUESTION = {"question": "What about the rent increase?"}


def test_acceptance_removing_a_source_deletes_its_records_and_chunks_and_preserves_user_files(world) -> None:
    world.index()
    before = {path: path.read_bytes() for path in world.notes.rglob("*") if path.is_file()}
    with world.served() as api:
        [source] = api.get("/sources").json()["sources"]
        removed = api.delete(f"/sources/{source['id']}").json()
        status = api.get("/status").json()
        found = api.post("/search", {"query": "rent increase"}).json()

    assert (removed["files_removed"], removed["user_files_deleted"]) == (3, False)
    assert removed["chunks_removed"] >= 3
    assert (status["sources"], status["indexed_files"], status["indexed_chunks"]) == (0, 0, 0)
    assert found["results"] == []
    assert {path: path.read_bytes() for path in world.notes.rglob("*") if path.is_file()} == before


def test_acceptance_source_removal_cannot_race_an_unfinished_background_indexing_job(world, api, held_worker) -> None:
    source = api.post("/sources", {"path": str(world.notes)}).json()
    api.post("/index/start")

    refused = api.delete(f"/sources/{source['id']}")
    held_worker()

    assert refused.status_code == 409
    finished = api.job_finished()
    assert (finished["state"], finished["error"]) == ("completed", None)
    assert api.delete(f"/sources/{source['id']}").status_code == 200


def test_acceptance_ask_mode_returns_source_grounded_context_if_no_llm_provider_is_configured(world) -> None:
    world.index()
    with world.served() as api:
        found = api.post("/ask", QUESTION).json()

    assert found["state"] == "evidence_only"
    assert "rent increase of 5 percent" in found["answer"]
    assert found["sources"][0]["file_name"] == "rent.md"


def test_acceptance_lm_studio_ask_returns_a_clear_message_when_the_server_is_unreachable(world) -> None:
    world.index()
    text = '[provider]\nname = "lmstudio"\nbase_url = "http://127.0.0.1:9"\n[models]\nchat_model = "acme/chat"\n'
    (world.home / "config.toml").write_text(text)
    with world.served() as api:
        refused = api.post("/ask", QUESTION)

    assert refused.status_code == 503
    assert "LM Studio" in refused.json()["detail"]
    assert refused.json()["hint"]


def test_acceptance_config_can_save_and_load_selected_provider_and_model_settings(world, api) -> None:
    world.configure(chat="fake-chat")
    wanted = {"chat_model": "fake-eyes", "embedding_model": "fake-embedder", "image_model": "fake-eyes"}

    chosen = api.put("/models/selection", wanted).json()
    status = api.get("/status").json()

    assert {key: chosen[key] for key in wanted} == wanted
    assert {key: status[key] for key in wanted} == wanted
    assert status["provider"] == "fake"


def test_acceptance_public_health_works_without_a_token_while_all_private_routes_reject_missing_or_invalid_ones(
    shared,
) -> None:
    paths = {path for path in shared.http.get("/openapi.json").json()["paths"] if path.startswith("/api/v1")}
    assert len(paths) == 22

    with shared.without_token() as http:
        assert http.get("/health").status_code == 200
        for path in paths:
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
                assert http.request(method, path).status_code == 401
            assert http.get(path, headers={"Authorization": "Bearer " + "x" * 43}).status_code == 401


def test_acceptance_the_openapi_schema_declares_bearer_security_for_private_routes(shared) -> None:
    document = shared.http.get("/openapi.json").json()

    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for path, item in document["paths"].items():
        for operation in item.values():
            assert (operation["security"] == [{"bearer": []}]) == path.startswith("/api/v1")


def test_acceptance_api_token_files_use_private_permissions_and_can_be_rotated(world, api) -> None:
    path = world.home / "api_token"
    former = path.read_text()

    TokenFile(path).rotate()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() != former
    assert api.get("/status").status_code == 401


def test_acceptance_the_server_cli_always_binds_uvicorn_to_127_0_0_1() -> None:
    assert listening.HOST == "127.0.0.1"
    with listening.bind(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("origin", ["*", "http://*", "https://*.example.com"])
def test_acceptance_wildcard_cors_is_rejected(origin) -> None:
    with pytest.raises(UsageError):
        parse_origin(origin)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"query": 7}', b'{"query": "x", "nope": 1}'])
def test_acceptance_malformed_request_bodies_are_rejected(shared, body) -> None:
    response = shared.http.post("/api/v1/search", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 422
    assert response.json()["errors"]


def test_acceptance_search_ask_streaming_ask_source_management_model_selection_and_indexing_work_through_the_api(
    world, api, held_worker
) -> None:
    world.configure()
    assert api.put("/models/selection", {"chat_model": "fake-chat", "embedding_model": "builtin"}).status_code == 200
    source = api.post("/sources", {"path": str(world.notes)}).json()
    assert [one["id"] for one in api.get("/sources").json()["sources"]] == [source["id"]]

    started = api.post("/index/start").json()
    assert api.get("/index/status").json()["job_id"] == started["job_id"]
    assert api.post("/index/pause").json()["state"] == "pause_requested"
    assert api.post("/index/resume").status_code == 200
    held_worker()
    finished = api.job_finished()
    assert (finished["state"], finished["error"]) == ("completed", None)

    assert api.post("/search", {"query": "rent increase"}).json()["results"][0]["file_name"] == "rent.md"
    assert api.post("/ask", QUESTION).json()["answer"] == "It is so [1]."
    assert [name for name, _ in api.stream("/ask/stream", QUESTION)][-1] == "done"
    assert api.delete(f"/sources/{source['id']}").status_code == 200


def test_acceptance_document_lookup_omits_vectors(shared) -> None:
    for file in shared.get("/files").json()["files"]:
        document = shared.get(f"/documents/{file['id']}")
        assert "vector" not in document.text
        assert not re.search(r"(-?\d\.\d+,){8}", document.text)
        for chunk in document.json()["chunks"]:
            assert chunk.keys() == {"id", "text", "chunk_index", "title", "metadata", "location", "locator"}


def test_acceptance_open_file_actions_reject_files_outside_enabled_source_folders(world, tmp_path) -> None:
    world.index()
    outside = tmp_path / "outside.md"
    outside.write_text("outside")
    with world.served() as api:
        ids = {file["file_name"]: file["id"] for file in api.get("/files").json()["files"]}
        (world.notes / "rent.md").unlink()
        (world.notes / "rent.md").symlink_to(outside)

        by_path = api.post("/actions/open", {"file_id": str(outside)})
        by_link = api.post("/actions/open", {"file_id": ids["rent.md"]})

    assert by_path.status_code == 422
    assert by_link.status_code == 403
