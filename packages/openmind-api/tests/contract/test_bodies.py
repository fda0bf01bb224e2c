"""Bodies and parameters: what breaks the schema is refused, and the client learns where."""

import json

import pytest

TOKEN_ROUTES = {
    ("POST", "/search"): {"query": "rent"},
    ("POST", "/ask"): {"question": "rent?"},
    ("POST", "/ask/stream"): {"question": "rent?"},
    ("POST", "/sources"): {"path": "/nowhere/at/all"},
    ("POST", "/models/load"): {},
    ("PUT", "/models/selection"): {"embedding_model": "builtin"},
    ("POST", "/actions/open"): {"file_id": "file_0000000000000000"},
    ("POST", "/index/start"): {},
    ("POST", "/index/pause"): {},
    ("POST", "/index/resume"): {},
    ("POST", "/index/stop"): {},
}
WRITES = list(TOKEN_ROUTES)


def refused(response, path: str) -> str:
    """Check a 422 that names a field; return what it says."""
    assert response.status_code == 422, response.text
    body = response.json()
    assert body["code"] == "request.invalid"
    assert body["detail"].startswith(path)
    [entry] = [entry for entry in body["errors"] if entry["path"] == path]
    assert "regex" not in entry["message"]
    return entry["message"]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_an_unknown_field_is_refused(shared, method, path) -> None:
    body = {**TOKEN_ROUTES[method, path], "nope": 1}

    refused(shared.http.request(method, f"/api/v1{path}", json=body), "nope")


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"7"])
def test_a_body_that_is_no_object_is_refused(shared, method, path, body) -> None:
    headers = {"Content-Type": "application/json"}

    refused(shared.http.request(method, f"/api/v1{path}", content=body, headers=headers), "body")


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"query": "\\ud800"}', b"[" * 20_000, b'{"query": ' * 5_000])
def test_a_body_that_is_no_json_is_refused(shared, method, path, body) -> None:
    headers = {"Content-Type": "application/json"}

    response = shared.http.request(method, f"/api/v1{path}", content=body, headers=headers)

    assert response.status_code == 422, response.text
    assert response.json()["errors"]


@pytest.mark.parametrize(("method", "path"), [route for route in WRITES if TOKEN_ROUTES[route]])
def test_a_missing_body_is_refused(shared, method, path) -> None:
    refused(shared.http.request(method, f"/api/v1{path}"), "body")


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_that_is_not_declared_json_is_415(shared, method, path, kind) -> None:
    content = json.dumps(TOKEN_ROUTES[method, path]).encode()
    headers = {"Content-Type": kind} if kind else {}

    response = shared.http.request(method, f"/api/v1{path}", content=content, headers=headers)

    assert response.status_code == 415, response.text
    assert response.json()["code"] == "request.media_type"


def test_json_with_a_charset_is_json(shared) -> None:
    for charset in ("utf-8", '"UTF-8"', "utf8"):
        headers = {"Content-Type": f"Application/JSON; charset={charset}"}
        assert shared.http.post("/api/v1/search", content=b'{"query":"rent"}', headers=headers).status_code == 200


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", ""])
def test_json_that_is_declared_in_another_charset_is_415(shared, charset) -> None:
    headers = {"Content-Type": f"application/json; charset={charset}"}

    response = shared.http.post("/api/v1/search", content=b'{"query":"rent"}', headers=headers)

    assert response.status_code == 415
    assert "UTF-8" in response.json()["detail"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "latin-1"])
def test_json_in_another_encoding_is_refused_even_if_nothing_is_declared(shared, encoding) -> None:
    content = '{"query":"café"}'.encode(encoding)

    refused(shared.http.post("/api/v1/search", content=content, headers={"Content-Type": "application/json"}), "body")


def test_a_field_that_is_there_twice_is_refused(shared) -> None:
    headers = {"Content-Type": "application/json"}
    for name, content in (
        ("query", b'{"query":"rent","query":"bread"}'),
        ("limit", b'{"limit":3,"query":"rent","l\\u0069mit":3}'),
    ):
        response = shared.http.post("/api/v1/search", content=content, headers=headers)
        assert refused(response, name) == "it is there more than once"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/search", {}, "query"),
        ("/search", {"query": ""}, "query"),
        ("/search", {"query": " \n\t "}, "query"),
        ("/search", {"query": "x" * 4_001}, "query"),
        ("/search", {"query": 7}, "query"),
        ("/search", {"query": None}, "query"),
        ("/search", {"query": "x", "limit": 0}, "limit"),
        ("/search", {"query": "x", "limit": 51}, "limit"),
        ("/search", {"query": "x", "limit": "5"}, "limit"),
        ("/search", {"query": "x", "limit": 5.0}, "limit"),
        ("/search", {"query": "x", "limit": True}, "limit"),
        ("/search", {"query": "x", "limit": None}, "limit"),
        ("/search", {"query": "x", "sources": ["nope"]}, "sources[0]"),
        ("/search", {"query": "x", "sources": ["src_000000000000"] * 101}, "sources"),
        ("/search", {"query": "x", "folder": ""}, "folder"),
        ("/search", {"query": "x", "folder": "notes"}, "folder"),
        ("/search", {"query": "x", "extensions": [""]}, "extensions[0]"),
        ("/search", {"query": "x", "modified_after": "yesterday"}, "modified_after"),
        ("/search", {"query": "x", "modified_after": "2020-01-01T00:00:00"}, "modified_after"),
        ("/search", {"query": "x", "per_file": -1}, "per_file"),
        ("/search", {"query": "x", "explain": "yes"}, "explain"),
        ("/ask", {"question": ""}, "question"),
        ("/ask", {"question": "x" * 4_001}, "question"),
        ("/ask", {"question": "x", "limit": 21}, "limit"),
        ("/ask", {"question": "x", "include_sources": 1}, "include_sources"),
        ("/ask", {"question": "x", "reasoning": "high"}, "reasoning"),
        ("/ask", {"question": "x", "session_id": "nope"}, "session_id"),
        ("/ask/stream", {"question": "x", "session_id": 7}, "session_id"),
        ("/ask/stream", {"query": "x"}, "query"),
        ("/sources", {"path": ""}, "path"),
        ("/sources", {"path": "notes"}, "path"),
        ("/sources", {"path": "x" * 4_097}, "path"),
        ("/sources", {"path": "/x", "recursive": "no"}, "recursive"),
        ("/models/load", {"model_keys": []}, "model_keys"),
        ("/models/load", {"model_keys": ["a", "b", "c", "d"]}, "model_keys"),
        ("/models/load", {"model_keys": "a"}, "model_keys"),
        ("/models/load", {"model_keys": [""]}, "model_keys[0]"),
        ("/actions/open", {"file_id": "../../etc/passwd"}, "file_id"),
        ("/actions/open", {"path": "/etc/passwd"}, "path"),
    ],
)
def test_a_field_out_of_bounds_is_named(shared, path, body, field) -> None:
    assert refused(shared.post(path, body), field)


def test_what_is_wrong_with_a_text_or_an_id_is_said_in_words(shared) -> None:
    assert refused(shared.post("/search", {"query": "  "}), "query") == "it must not be blank"
    assert refused(shared.post("/search", {"query": ""}), "query") == "it must not be empty"
    assert "id of a source" in refused(shared.post("/search", {"query": "x", "sources": ["nope"]}), "sources[0]")
    assert "id of a file" in refused(shared.post("/actions/open", {"file_id": "nope"}), "file_id")


@pytest.mark.parametrize(
    "body", [{}, {"embedding_model": None}, {"embedding_model": ""}, {"embedding_model": "x", "chat_model": 7}]
)
def test_a_selection_needs_an_embedding_model(shared, body) -> None:
    response = shared.put("/models/selection", body)

    assert response.status_code == 422
    assert response.json()["errors"][0]["path"] in {"embedding_model", "chat_model"}


@pytest.mark.parametrize(
    "query", ["x" * 4_000, "  x  ", "\u00a0x", "ünïcödé 日本語", '"', "' OR 1=1 --", "NEAR(", "*", "\\"]
)
def test_every_text_is_a_query(shared, query) -> None:
    response = shared.post("/search", {"query": query})

    assert response.status_code == 200, response.text
    assert response.json()["query"] == query.strip()


def test_blanks_around_a_query_do_not_count(shared) -> None:
    response = shared.post("/search", {"query": " " * 100 + "x" * 4_000 + " " * 100})

    assert response.status_code == 200


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/documents/nope", "file_id"),
        ("/documents/FILE_0000000000000000", "file_id"),
        ("/documents/file_00000000000000000", "file_id"),
        ("/documents/file_0000000000000000/chunks?start=-1", "start"),
        ("/documents/file_0000000000000000/chunks?limit=0", "limit"),
        ("/documents/file_0000000000000000/chunks?limit=1001", "limit"),
        ("/documents/file_0000000000000000/chunks?limt=1", "limt"),
        ("/files?limit=ten", "limit"),
        ("/files?status=weird", "status"),
        ("/files?source_id=nope", "source_id"),
        ("/files?after=%21%21", "after"),
        ("/files?after=%C3%A9", "after"),
        ("/files?colour=red", "colour"),
    ],
)
def test_a_parameter_out_of_bounds_is_named(shared, path, field) -> None:
    assert refused(shared.get(path), field)


def test_parameters_that_no_route_knows_change_nothing(shared) -> None:
    assert shared.get("/status?_=123").status_code == 200


def test_malformed_ids_of_other_routes_are_refused(shared) -> None:
    refused(shared.delete("/sources/nope"), "source_id")
    refused(shared.delete("/chat/sessions/nope"), "session_id")
