"""Request bodies: decoded strictly, so that a client learns of every field that would otherwise be ignored."""

import json
import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, cast

import msgspec
from litestar.dto import AbstractDTO
from litestar.dto.data_structures import DTOFieldDefinition
from litestar.exceptions import ValidationException
from litestar.openapi.spec import Reference, Schema
from litestar.typing import FieldDefinition

T = TypeVar("T")

BODY = "body"
"""Path of what is wrong with the body as a whole."""
_PLACE = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_FORM = re.compile(r"matching regex '(?P<pattern>.*)'")
FORMS = {
    r"\\S": "it must not be blank",
    "^src_": "it must be the id of a source, `src_` and 12 digits or letters a to f; GET /api/v1/sources lists them",
    "^file_": "it must be the id of a file, `file_` and 16 digits or letters a to f, as hits and files have it",
    "^chat_": "it must be the id of a conversation, `chat_` and 16 digits or letters a to f, as answers have it",
    "^[A-Za-z0-9_-]*": "it must be `next` of the page before",
}
"""What a pattern that begins so asks for."""
OTHER_FORM = "it is none of the values that /docs lists"
_NAMED = re.compile(r"(?:(?:unknown|required) field |^)`(?P<name>[^`]*)`")


class StrictBody(AbstractDTO[T], Generic[T]):
    """Decodes JSON as the schema says: no unknown fields, no text for a number, no fraction for a whole one."""

    def decode_bytes(self, value: bytes) -> T:
        """Decode a body.

        Raises:
            ValidationException: it is no JSON, or not what the schema says; `extra` has path and message.
        """
        try:
            body: T = msgspec.json.decode(value, type=self.model_type, strict=True)
        except msgspec.ValidationError as error:
            raise invalid_body(*located(str(error))) from error
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise invalid_body(BODY, "it is no valid JSON") from error
        twice = repeated(value)
        if twice is not None:
            raise invalid_body(twice, "it is there more than once")
        return body

    def decode_builtins(self, value: dict[str, Any]) -> T:
        """Refuse forms: nothing here takes them."""
        raise invalid_body(BODY, "it is no valid JSON")

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Iterator[DTOFieldDefinition]:  # type: ignore[override]
        """Nothing is generated: the struct is the schema."""
        return iter(())

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """See above."""
        return False

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: object = None
    ) -> None:
        """Prepare nothing: Litestar's own decoders are lax."""

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Reference | Schema:
        """Describe the struct."""
        schema: Reference | Schema = schema_creator.for_field_definition(field_definition)
        return schema


def repeated(body: bytes) -> str | None:
    """Name a field that a valid body has twice: decoders keep one of them, and not all the same one.

    No body has objects inside, so the names of the outermost one are all.
    """
    pairs = cast(list[tuple[str, object]] | None, json.loads(body, object_pairs_hook=list))
    names = [name for name, _ in pairs or ()]
    return next((name for at, name in enumerate(names) if name in names[:at]), None)


def invalid_body(path: str, message: str) -> ValidationException:
    """Say what is wrong with a body, and where."""
    return ValidationException(detail="the body is not valid", extra=[{"key": path, "message": message}])


def located(message: str) -> tuple[str, str]:
    """Split what the decoder says into the path of the field and the sentence."""
    place = _PLACE.search(message)
    sentence = message[: place.start()] if place else message
    parts = [place["path"]] if place and place["path"] else []
    named = _NAMED.search(sentence)
    if named:
        parts.append(named["name"])
    return ".".join(parts) or BODY, worded(sentence)


def worded(sentence: str) -> str:
    """Say it without regular expressions, which few people read."""
    form = _FORM.search(sentence)
    if form:
        return next((told for start, told in FORMS.items() if form["pattern"].startswith(start)), OTHER_FORM)
    if sentence.endswith("of length >= 1"):
        return "it must not be empty"
    return sentence[:1].lower() + sentence[1:]
