"""A model of a server that sees."""

import base64

from openmind.domain.errors import ProviderError

from openmind_lmstudio import completions, policy
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.errors import AnotherModel, CannotSee, NothingSaid
from openmind_lmstudio.models import Dialect
from openmind_lmstudio.pictures import look_at
from openmind_lmstudio.readiness import Prepare

PROMPT = (
    "Describe this picture so that it can be found by a text search. Name what it shows: people, things, places, "
    "actions, colours, and the kind of picture. Repeat short texts that can be read in it. Be concrete and brief, "
    "in plain sentences, and do not guess at what cannot be seen."
)
MAX_IMAGE_BYTES = 12 * 1024 * 1024
MAX_SIDE = 2_048
_TEMPERATURE = 0.2
_LARGER = 4
"""How many times the length is allowed when a model used all of it up for thinking."""


class ServedDescriber:
    """One model that sees. The bytes of a picture go to the server and nowhere else."""

    def __init__(self, connection: Connection, *, model: str, prepare: Prepare) -> None:
        self._connection = connection
        self._model = model
        self._prepare = prepare

    @property
    def model(self) -> str:
        return self._model

    def describe(self, image: bytes, *, media_type: str, max_new_tokens: int = 220) -> str:
        """Look at the header before anything is sent: servers fail in many ways at what they do not take."""
        _require_sendable(image, media_type)
        ready = self._prepare(self._model)
        if ready.dialect is not Dialect.OPENAI and not ready.model.vision:
            raise CannotSee(
                f"“{self._model}” takes no pictures", hint="Choose a model that sees with `openmind models update`."
            )
        for limit in (max_new_tokens, max_new_tokens * _LARGER):
            reply = self._connection.post(
                completions.ROUTE, _body(ready.name, image, media_type, limit), policy.DESCRIBE
            )
            if ready.is_other(answered := reply.text("model")):
                raise AnotherModel(self._connection.server, answered, self._model)
            text = completions.read_completion(reply).text.strip()
            if text:
                return text
        raise NothingSaid(f"“{self._model}” said nothing about the picture")


def _require_sendable(image: bytes, media_type: str) -> None:
    picture = look_at(image)
    if picture is None or picture.media_type != media_type:
        raise ProviderError("The picture is not the PNG or JPEG that it is said to be")
    if not (0 < picture.width <= MAX_SIDE and 0 < picture.height <= MAX_SIDE):
        raise ProviderError(f"The picture is larger than {MAX_SIDE:,} pixels a side")
    if len(image) > MAX_IMAGE_BYTES:
        raise ProviderError(f"The picture has more than {MAX_IMAGE_BYTES // 1024 // 1024} MB")


def _body(name: str, image: bytes, media_type: str, limit: int) -> dict[str, object]:
    url = f"data:{media_type};base64,{base64.b64encode(image).decode('ascii')}"
    content = [{"type": "text", "text": PROMPT}, {"type": "image_url", "image_url": {"url": url}}]
    return {
        "model": name,
        "messages": [{"role": "user", "content": content}],
        "max_tokens": limit,
        "temperature": _TEMPERATURE,
        "stream": False,
    }
