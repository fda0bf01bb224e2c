"""Sources: the approved folders."""

from typing import Annotated

from litestar import delete, get, patch, post
from litestar.params import JSONBody
from openmind.domain.contract import Object, removal_object, source_object
from openmind.domain.ids import SourceId

from openmind_api.bodies import StrictBody
from openmind_api.described import SOURCE_ID, answers, fails
from openmind_api.injected import Live
from openmind_api.schemas import replies
from openmind_api.schemas.requests import NewSource, SourceChange, said


@get("/sources", sync_to_thread=True, responses=answers(replies.Sources))
def list_sources(live: Live) -> Object:
    """List the folders that OpenMind may read."""
    with live.current() as memory:
        return {"sources": [source_object(source) for source in memory.sources.list()]}


@post(
    "/sources",
    status_code=201,
    sync_to_thread=True,
    dto=StrictBody[NewSource],
    return_dto=None,
    responses=answers(replies.Source, status=201) | fails(400, 409),
)
def add_source(data: JSONBody[NewSource], live: Live) -> Object:
    """Let OpenMind read a folder. Nothing is read before indexing is started."""
    with live.current() as memory:
        return source_object(memory.sources.add(data.path, recursive=data.recursive))


@patch(
    "/sources/{source_id:str}",
    status_code=200,
    sync_to_thread=True,
    dto=StrictBody[SourceChange],
    return_dto=None,
    responses=answers(replies.Source) | fails(404),
)
def change_source(source_id: Annotated[str, SOURCE_ID], data: JSONBody[SourceChange], live: Live) -> Object:
    """Change how a folder is read, and whether. The next run of indexing reads what is concerned."""
    with live.current() as memory:
        changed = memory.sources.change(
            SourceId(source_id), enabled=said(data.enabled), ocr=said(data.ocr), code=said(data.code)
        )
    return source_object(changed)


@delete(
    "/sources/{source_id:str}",
    status_code=200,
    sync_to_thread=True,
    responses=answers(replies.Removal) | fails(404, 409),
)
def remove_source(source_id: Annotated[str, SOURCE_ID], live: Live) -> Object:
    """Forget a folder and everything that was read from it. The folder and its files stay as they are."""
    with live.current() as memory:
        return removal_object(memory.sources.dismiss(SourceId(source_id)))


ROUTES = (list_sources, add_source, change_source, remove_source)
