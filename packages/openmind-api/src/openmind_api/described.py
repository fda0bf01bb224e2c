"""How routes are described in the schema: what they answer, and what their parameters may be."""

from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from openmind.application.documents import MAX_PAGE
from openmind.domain.files import FileReason, FileStatus

from openmind_api.problems import MEDIA_TYPE
from openmind_api.schemas.replies import Problem, Reply, ServerEvent
from openmind_api.sse import MEDIA_TYPE as EVENT_STREAM

Responses = dict[int, ResponseSpec]

MEANING = {
    400: "The operation makes no sense",
    401: "The token is missing or wrong",
    403: "Recognised but forbidden",
    404: "There is no such thing",
    409: "Something stands in the way",
    413: "The body is too large",
    414: "Path and query are too long",
    415: "The body is no JSON",
    422: "The request breaks the schema",
    429: "Too many at once; see Retry-After",
    500: "A bug in OpenMind",
    507: "The disk is full",
    503: "The model provider cannot do it, or the server is ending",
}

SOURCE_ID = Parameter(pattern=r"^src_[0-9a-f]{12}$", max_length=16)
FILE_ID = Parameter(pattern=r"^file_[0-9a-f]{16}$", max_length=21)
SESSION_ID = Parameter(pattern=r"^chat_[0-9a-f]{16}$", max_length=21)
REASON = Parameter(
    pattern=rf"^({'|'.join([*FileStatus, *FileReason])})$", description="A status, or a reason, of the files."
)
SOURCE_FILTER = Parameter(pattern=r"^src_[0-9a-f]{12}$", max_length=16, description="Only files of this source.")
START = Parameter(ge=0, le=2**31 - 1, description="Number of the first passage, from 0.")
LIMIT = Parameter(ge=1, le=MAX_PAGE, description="Most entries of a page.")
AFTER = Parameter(pattern=r"^[A-Za-z0-9_-]*={0,2}$", description="`next` of the page before.")


def answers(kind: type[Reply], *, status: int = 200) -> Responses:
    """Say what a route answers."""
    description = (kind.__doc__ or kind.__name__).strip()
    return {status: ResponseSpec(kind, description=description, generate_examples=False)}


def events(description: str) -> Responses:
    """Say that a route answers with events."""
    return {200: ResponseSpec(ServerEvent, description=description, media_type=EVENT_STREAM, generate_examples=False)}


def unchanged() -> Responses:
    """Say that a route may answer that nothing has changed."""
    return {304: ResponseSpec(None, description="As it was", generate_examples=False)}


def fails(*statuses: int) -> Responses:
    """Say how a route may fail, beyond what every route has in common."""
    return {
        status: ResponseSpec(Problem, description=MEANING[status], media_type=MEDIA_TYPE, generate_examples=False)
        for status in statuses
    }
