"""The page at /docs: the schema for people, in one file that loads nothing."""

from collections.abc import Iterator
from html import escape
from typing import cast

from openmind_api.schema import METHODS, Node

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-top: 1px solid #8886; padding-top: 1rem; font-size: 1.1rem; } code { font-size: .95em; }
b { display: inline-block; min-width: 4.5rem; } table { border-collapse: collapse; font-size: .9rem; }
td { padding: .1rem .8rem .1rem 0; vertical-align: top; } @media (prefers-color-scheme: dark) {
body { background: #111; color: #ddd; } a { color: #8bf; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def page(document: Node) -> str:
    """Write the page."""
    title = escape(str(_node(document, "info")["title"]))
    body = "\n".join(_operations(document))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} API</title><style>{STYLE}</style>'
        f"<h1>{title} API</h1><p>{escape(str(_node(document, 'info').get('summary', '')))} "
        'The whole schema: <a href="/openapi.json">/openapi.json</a>. Everything but <code>/health</code> and these '
        "docs needs <code>Authorization: Bearer TOKEN</code>; the token is in the file <code>api_token</code> in "
        f"OpenMind's folder.</p>\n{body}</html>\n"
    )


def _operations(document: Node) -> Iterator[str]:
    schemas = _node(_node(document, "components"), "schemas")
    for path, item in _node(document, "paths").items():
        for method in METHODS:
            if method in cast(Node, item):
                yield _operation(method, path, _node(cast(Node, item), method), schemas)


def _operation(method: str, path: str, operation: Node, schemas: Node) -> str:
    parts = [f"<h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>"]
    parts.append(f"<p>{escape(str(operation.get('description', '')))}</p>")
    for parameter in cast(list[Node], operation.get("parameters", [])):
        schema = {key: value for key, value in _node(parameter, "schema").items() if key != "type"}
        parts.append(_row(f"{parameter['name']} ({parameter['in']})", str(schema or "")))
    parts += _body(cast(Node, operation.get("requestBody", {})), schemas)
    answers = " · ".join(
        f"{status} {escape(str(cast(Node, response)['description']))}"
        for status, response in sorted(_node(operation, "responses").items())
    )
    return "\n".join([*_table(parts), f"<p><small>{answers}</small></p>"])


def _body(body: Node, schemas: Node) -> Iterator[str]:
    """A row for each field; of a body without named fields, as routes of other packages may take, one for the whole."""
    for media, content in cast(Node, body.get("content", {})).items():
        schema = cast(Node, cast(Node, content).get("schema", {}))
        fields = cast(Node, schemas.get(str(schema.get("$ref", "")).rpartition("/")[2], schema))
        required = cast(list[str], fields.get("required", []))
        for name, kind in cast(Node, fields.get("properties", {})).items():
            yield _row(f"{name}{'' if name in required else '?'}", _shown(cast(Node, kind)))
        if "properties" not in fields:
            yield _row(f"body ({media})", _shown(fields))


def _table(parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if not part.startswith("<tr>"))
    rows = [part for part in parts if part.startswith("<tr>")]
    if rows:
        yield f"<table>{''.join(rows)}</table>"


def _row(name: str, told: str) -> str:
    return f"<tr><td><code>{escape(name)}</code></td><td>{escape(told)}</td></tr>"


def _shown(schema: Node) -> str:
    return ", ".join(f"{key}: {value}" for key, value in schema.items() if key not in {"title", "items", "oneOf"})


def _node(parent: Node, name: str) -> Node:
    return cast(Node, parent[name])
