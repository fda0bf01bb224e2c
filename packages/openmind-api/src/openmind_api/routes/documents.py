"""Documents and files."""

from collections.abc import Sequence
from typing import Annotated

from litestar import get, post
from litestar.params import JSONBody
from openmind.application.documents import MAX_PAGE
from openmind.domain.chunks import ChunkRow
from openmind.domain.contract import Object, chunk_object, file_object
from openmind.domain.ids import FileId, SourceId

from openmind_api.bodies import StrictBody
from openmind_api.cursors import after_of, cursor_of
from openmind_api.described import AFTER, FILE_ID, LIMIT, REASON, SOURCE_FILTER, START, answers, fails
from openmind_api.injected import Live
from openmind_api.schemas import replies
from openmind_api.schemas.requests import FileToOpen


@get("/documents/{file_id:str}", sync_to_thread=True, responses=answers(replies.Document) | fails(404))
def document(file_id: Annotated[str, FILE_ID], live: Live) -> Object:
    """A searchable file and its first thousand passages; `/chunks` has the others."""
    with live.current() as memory:
        record = memory.documents.get(FileId(file_id))
        chunks = memory.documents.chunks(record.id, limit=MAX_PAGE)
    return {**file_object(record), **page_of(chunks, total=record.chunk_count, start=0)}


@get("/documents/{file_id:str}/chunks", sync_to_thread=True, responses=answers(replies.Chunks) | fails(404))
def document_chunks(
    file_id: Annotated[str, FILE_ID],
    live: Live,
    start: Annotated[int, START] = 0,
    limit: Annotated[int, LIMIT] = 100,
) -> Object:
    """Page through the passages of a file in reading order."""
    with live.current() as memory:
        record = memory.documents.get(FileId(file_id))
        chunks = memory.documents.chunks(record.id, start=start, limit=limit)
    return {"id": record.id, **page_of(chunks, total=record.chunk_count, start=start)}


@get("/files", sync_to_thread=True, responses=answers(replies.Files) | fails(404))
def files(
    live: Live,
    status: Annotated[str | None, REASON] = None,
    source_id: Annotated[str | None, SOURCE_FILTER] = None,
    after: Annotated[str | None, AFTER] = None,
    limit: Annotated[int, LIMIT] = 100,
) -> Object:
    """Page through what OpenMind knows of files of enabled sources: which are searchable, which not, and why."""
    with live.current() as memory:
        found = memory.documents.shown(
            reasons=() if status is None else (status,),
            source_id=None if source_id is None else SourceId(source_id),
            after=after_of(after),
            limit=limit,
        )
    return {
        "files": [file_object(record) for record in found],
        "next": cursor_of(found) if len(found) == limit else None,
    }


@post(
    "/actions/open",
    status_code=200,
    sync_to_thread=True,
    dto=StrictBody[FileToOpen],
    return_dto=None,
    responses=answers(replies.OpenedFile) | fails(403, 404),
)
def open_file(data: JSONBody[FileToOpen], live: Live) -> Object:
    """Open a searchable file in its application, if it still lies in an approved folder."""
    with live.current() as memory:
        record = memory.documents.open(FileId(data.file_id))
    return {"opened": True, "file_id": record.id, "path": file_object(record)["path"]}


def page_of(chunks: Sequence[ChunkRow], *, total: int, start: int) -> Object:
    """One page of passages, and where the next begins."""
    end = start + len(chunks)
    return {
        "total_chunks": total,
        "next_start": end if chunks and end < total else None,
        "chunks": [chunk_object(row) for row in chunks],
    }


ROUTES = (document, document_chunks, files, open_file)
