"""Jupyter notebooks: sources, and outputs that are short text."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

from attrs import frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.decoding import decode
from openmind_extractors.limits import divided
from openmind_extractors.markdown import atx_heading
from openmind_extractors.outline import HeadingPath
from openmind_extractors.reading import read_all

MAX_NOTEBOOK_BYTES = 50_000_000
"""Pictures in outputs make notebooks large; they must be parsed to be left out."""

MAX_OUTPUT_CHARS = 2_000
"""Longer outputs are data, not something anybody reads."""

Json = Mapping[str, object]


@frozen
class NotebookExtractor:
    """Reads notebooks of version 3 and 4."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the cells in order, then the facts."""
        notebook = _load(blob)
        path = HeadingPath()
        title, count = _text_of(_dict(notebook.get("metadata")).get("title")), 0
        for number, cell in enumerate(_cells(notebook), start=1):
            kind = cell.get("cell_type")
            source = clean(_text_of(cell.get("source", cell.get("input")))).strip()
            if kind == "heading":  # version 3
                source = f"{'#' * _level(cell)} {source}"
            if kind in {"markdown", "heading"}:
                heading = next((found for found in map(atx_heading, source.split("\n")) if found), None)
                if heading:
                    path = path.enter(*heading)
                    title = title or (heading[1] if heading[0] == 1 else "")
            place = (*path.places, Place(kind="cell", start=number))
            if source:
                count += 1
                for part in divided(source):
                    yield Segment(text=part, locator=place, kind="code" if kind == "code" else "text")
            output = _output(cell) if kind == "code" else ""
            for part in divided(output):
                yield Segment(text=part, locator=place)
        metadata: dict[str, object] = {
            "file_type": "notebook",
            "extraction_method": "json",
            "language": _language(notebook),
        }
        reason, note = (FileReason.OK, "") if count else (FileReason.EMPTY, "the notebook has no cells with text")
        yield DocumentFacts(title=title, metadata=metadata, reason=reason, note=note)


def _load(blob: Blob) -> Json:
    text = decode(read_all(blob, MAX_NOTEBOOK_BYTES, "a notebook")).text
    try:
        notebook = json.loads(text)
    except RecursionError as error:
        raise ExtractionFailed("the notebook is nested too deeply") from error
    except ValueError as error:
        told = str(error) if isinstance(error, json.JSONDecodeError) else "a number in it has too many digits"
        raise ExtractionFailed(f"the notebook is no valid JSON ({told})"[:200]) from error
    if not isinstance(notebook, dict):
        raise ExtractionFailed("this is JSON, but no notebook", reason=FileReason.UNSUPPORTED)
    return notebook


def _cells(notebook: Json) -> Iterator[Json]:
    """Return the cells; version 3 kept them in worksheets."""
    sheets = _list(notebook.get("worksheets")) or [notebook]
    for sheet in sheets:
        for cell in _list(_dict(sheet).get("cells")):
            if isinstance(cell, dict):
                yield cell


def _output(cell: Json) -> str:
    """Return the text among a cell's outputs; pictures, tables of HTML and long listings stay out."""
    found = []
    for output in _list(cell.get("outputs")):
        told = _dict(output)
        plain = _dict(told.get("data")).get("text/plain", told.get("text"))
        text = (
            _text_of(plain)
            if plain is not None
            else ": ".join(_text_of(told[key]) for key in ("ename", "evalue") if key in told)
        )
        if 0 < len(text) <= MAX_OUTPUT_CHARS:
            found.append(clean(text).strip())
    return "\n".join(text for text in found if text)


def _language(notebook: Json) -> str:
    metadata = _dict(notebook.get("metadata"))
    info, kernel = _dict(metadata.get("language_info")), _dict(metadata.get("kernelspec"))
    return _text_of(info.get("name", kernel.get("language", "")))[:40]


def _level(cell: Json) -> int:
    level = cell.get("level")
    return level if isinstance(level, int) and 1 <= level <= 6 else 1


def _text_of(value: object) -> str:
    """Return text that is kept as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}
