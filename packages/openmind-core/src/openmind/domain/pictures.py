"""Pictures: what a model said of one stands in its document like text that was read."""

from attrs import evolve

from openmind.domain.documents import ExtractedDocument, Place, Segment
from openmind.domain.files import DESCRIBED, FileReason
from openmind.domain.text import clean

MODEL = "image_description_model"
"""In the metadata: which model described the picture."""
FAILED = "image_description_error"
"""In the metadata: why none did, although one should."""
MAX_CHARS = 8_000
"""Of any description."""
_METHOD = "extraction_method"
_BY_MODEL = "description"
_PLACE = (Place(kind="part", label="description"),)
_NOTE = "the picture was not described: "
_CUT = "its description was longer than it may be, and was cut"


def described(document: ExtractedDocument, text: str, *, model: str, max_chars: int = MAX_CHARS) -> ExtractedDocument:
    """Put a description in front of what was read.

    Args:
        document: what was read.
        text: the description.
        model: which said that.
        max_chars: where it is cut; a server that ignores the length it is given may let a model run on without end.
    """
    facts = document.facts
    metadata = facts.metadata
    method = str(metadata.get(_METHOD, ""))
    told = {**metadata, MODEL: model, _METHOD: f"{_BY_MODEL}+{method}" if method else _BY_MODEL}
    whole = clean(text).strip()
    segment = Segment(text=whole[:max_chars].strip(), kind="picture", locator=_PLACE)
    facts = evolve(facts, metadata=told)
    if len(whole) > max_chars:
        reason = FileReason.PARTIAL if facts.reason is FileReason.OK else facts.reason
        facts = evolve(facts, reason=reason, note="; ".join(filter(None, (facts.note, _CUT))))
    return evolve(document, segments=(segment, *document.segments), facts=facts)


def undescribed(document: ExtractedDocument, why: str) -> ExtractedDocument:
    """Note why a document has no description: the next run tries again."""
    facts = document.facts
    note = "; ".join(part for part in (facts.note, _NOTE + why) if part)
    told = {**facts.metadata, FAILED: why}
    reason = facts.reason if facts.reason is FileReason.NEEDS_OCR else FileReason.PARTIAL
    return evolve(document, facts=evolve(facts, metadata=told, reason=reason, note=note))


def without_description(document: ExtractedDocument) -> ExtractedDocument:
    """Take out what `described` or `undescribed` put in."""
    facts = document.facts
    metadata = {key: value for key, value in facts.metadata.items() if key not in {MODEL, FAILED}}
    if MODEL in facts.metadata:
        method = str(metadata.pop(_METHOD, "")).removeprefix(_BY_MODEL).removeprefix("+")
        metadata |= {_METHOD: method} if method else {}
        if facts.note.endswith(_CUT):
            note = facts.note.removesuffix(_CUT).removesuffix("; ")
            facts = evolve(facts, note=note, reason=facts.reason if note else FileReason.OK)
    if FAILED in facts.metadata:
        note = facts.note.partition(_NOTE)[0].removesuffix("; ")
        facts = evolve(facts, note=note, reason=facts.reason if note else FileReason.OK)
    segments = tuple(part for part in document.segments if part.locator != _PLACE)
    return ExtractedDocument(segments=segments, facts=evolve(facts, metadata=metadata))


def key_of(metadata: dict[str, object], *, plain_key: str, wanted: str) -> str:
    """Say under which extractor key a file stands, by what became of its picture.

    Args:
        metadata: of the document.
        plain_key: key of the extractor without any model.
        wanted: key with the model that describes pictures today.

    Returns:
        Without a description that should be there the plain key: as it is not the wanted one, the file is read again.
    """
    if FAILED in metadata:
        return plain_key
    model = metadata.get(MODEL)
    return f"{plain_key}{DESCRIBED}{model}" if isinstance(model, str) else wanted
