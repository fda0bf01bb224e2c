"""The OpenAPI document says what the routes do, and the answers are what it says."""

import re

import msgspec
import pytest
from openmind_api.schemas import replies

PATHS = {
    ("get", "/health"),
    ("get", "/api/v1/status"),
    ("get", "/api/v1/providers"),
    ("get", "/api/v1/providers/status"),
    ("get", "/api/v1/models"),
    ("post", "/api/v1/models/load"),
    ("put", "/api/v1/models/selection"),
    ("get", "/api/v1/sources"),
    ("post", "/api/v1/sources"),
    ("patch", "/api/v1/sources/{source_id}"),
    ("delete", "/api/v1/sources/{source_id}"),
    ("post", "/api/v1/index/start"),
    ("get", "/api/v1/index/status"),
    ("post", "/api/v1/index/pause"),
    ("post", "/api/v1/index/resume"),
    ("post", "/api/v1/index/stop"),
    ("get", "/api/v1/index/events"),
    ("post", "/api/v1/search"),
    ("post", "/api/v1/ask"),
    ("post", "/api/v1/ask/stream"),
    ("delete", "/api/v1/chat/sessions/{session_id}"),
    ("get", "/api/v1/documents/{file_id}"),
    ("get", "/api/v1/documents/{file_id}/chunks"),
    ("get", "/api/v1/files"),
    ("post", "/api/v1/actions/open"),
}


@pytest.fixture(scope="module")
def document(shared) -> dict:
    with shared.without_token() as http:
        return http.get("/openapi.json").json()


@pytest.fixture(scope="module")
def operations(document) -> dict:
    return {(method, path): operation for path, item in document["paths"].items() for method, operation in item.items()}


def test_every_route_is_described(document, operations) -> None:
    assert document["openapi"].startswith("3.1")
    assert operations.keys() == PATHS
    names = [operation["operationId"] for operation in operations.values()]
    assert len(set(names)) == len(names)
    assert all(operation["description"] for operation in operations.values())


def test_private_routes_declare_the_bearer_and_health_does_not(document, operations) -> None:
    assert document["components"]["securitySchemes"]["bearer"]["type"] == "http"
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for (_, path), operation in operations.items():
        assert operation["security"] == ([{}] if path == "/health" else [{"bearer": []}])
        assert ("401" in operation["responses"]) == (path != "/health")


def test_bodies_admit_no_unknown_fields(document, operations) -> None:
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    names = [body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] for body in bodies]

    assert set(names) == {
        "ModelKeys",
        "Selection",
        "NewSource",
        "SourceChange",
        "Nothing",
        "Search",
        "Ask",
        "FileToOpen",
    }
    for name in names:
        assert document["components"]["schemas"][name]["additionalProperties"] is False


def test_bounds_are_in_the_schema(document) -> None:
    search = document["components"]["schemas"]["Search"]

    assert search["required"] == ["query"]
    assert (search["properties"]["limit"]["minimum"], search["properties"]["limit"]["maximum"]) == (1, 50)
    assert search["properties"]["limit"]["default"] == 5
    assert document["components"]["schemas"]["Ask"]["properties"]["limit"]["maximum"] == 20
    assert document["components"]["schemas"]["NewSource"]["properties"]["path"]["maxLength"] == 4096


def test_every_failure_is_a_problem(operations) -> None:
    for operation in operations.values():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                [media] = response["content"]
                assert media == "application/problem+json"


def test_every_reference_leads_somewhere(document) -> None:
    names = set(re.findall(r"#/components/schemas/(\w+)", str(document)))

    assert names <= document["components"]["schemas"].keys()


def strictly(kind: type[msgspec.Struct], found: object) -> None:
    """Check that an answer has exactly the fields that are documented."""
    msgspec.convert(
        found, msgspec.defstruct(kind.__name__, [], bases=(kind,), forbid_unknown_fields=True, kw_only=True)
    )


def test_answers_are_what_the_schema_says(shared) -> None:
    hit = shared.post("/search", {"query": "rent increase", "explain": True}).json()["results"][0]
    file_id = hit["file_id"]

    strictly(replies.Health, shared.http.get("/health").json())
    strictly(replies.Status, shared.get("/status").json())
    strictly(replies.Providers, shared.get("/providers").json())
    strictly(replies.ProviderStatus, shared.get("/providers/status").json())
    strictly(replies.Models, shared.get("/models").json())
    strictly(replies.Model, shared.get("/models").json()["chat_models"][0])
    strictly(replies.LoadedModels, shared.post("/models/load", {}).json())
    strictly(replies.Sources, shared.get("/sources").json())
    strictly(replies.Source, shared.get("/sources").json()["sources"][0])
    strictly(replies.Job, shared.get("/index/status").json())
    strictly(replies.Job, shared.get("/status").json()["last_run"])
    strictly(replies.SearchAnswer, shared.post("/search", {"query": "rent increase"}).json())
    strictly(replies.Hit, hit)
    strictly(replies.Explanation, hit["explanation"])
    strictly(replies.Place, hit["locator"][0])
    strictly(replies.Answer, shared.post("/ask", {"question": "What about the rent increase?"}).json())
    strictly(replies.Document, shared.get(f"/documents/{file_id}").json())
    strictly(replies.Chunks, shared.get(f"/documents/{file_id}/chunks").json())
    strictly(replies.Chunk, shared.get(f"/documents/{file_id}").json()["chunks"][0])
    strictly(replies.Files, shared.get("/files").json())
    strictly(replies.File, shared.get("/files").json()["files"][0])
    strictly(replies.Problem, shared.get("/nope").json())
    strictly(replies.Problem, shared.post("/search", {}).json())


def test_answers_of_changes_are_what_the_schema_says(world, api) -> None:
    world.configure()
    source = api.post("/sources", {"path": str(world.notes)}).json()

    strictly(replies.Source, source)
    strictly(replies.Removal, api.delete(f"/sources/{source['id']}").json())
    strictly(replies.ModelSelection, api.put("/models/selection", {"embedding_model": "builtin"}).json())


def test_the_docs_page_names_every_route_and_loads_nothing(shared) -> None:
    with shared.without_token() as http:
        response = http.get("/docs")

    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    for _, path in PATHS:
        assert path in response.text
    assert set(re.findall(r"(?:src|href|action)=\S*", response.text)) == {'href="/openapi.json">/openapi.json</a>.'}
    assert "<script" not in response.text
    assert "http://" not in response.text.replace("http://www.w3.org", "")
    assert "https://" not in response.text
