"""What a picture's file says of the picture, as JSON and as text to search in."""

import math
from collections.abc import Iterator, Mapping
from typing import SupportsFloat

from openmind.domain.text import clean
from PIL import ExifTags, Image

from openmind_extractors.losses import Losses
from openmind_extractors.titles import sensible_title

MAX_VALUE_CHARS = 1_000
"""Of a value among the metadata, which go with each passage; the text has all of it."""

MAX_FIELDS = 500
"""A camera writes about 60."""

_GPS_IFD, _EXIF_IFD = 0x8825, 0x8769
_LEFT_OUT = frozenset(
    {"MakerNote", "PrintImageMatching", "ExifOffset", "GPSInfo", "InteroperabilityOffset", "XMLPacket"}
)
_INFO_LEFT_OUT = (
    "exif",
    "xmp",
    "xml:com",
    "raw profile",
    "icc_profile",
    "photoshop",
    "mp",
    "adobe",
    "jfif_",
    "transparency",
)
_SEARCHED = {
    "ImageDescription": "Description",
    "XPTitle": "Title",
    "XPSubject": "Subject",
    "XPComment": "Comment",
    "XPKeywords": "Keywords",
    "UserComment": "Comment",
    "Artist": "Artist",
    "XPAuthor": "Author",
    "Copyright": "Copyright",
    "Software": "Software",
}


def read_metadata(
    image: Image.Image, losses: Losses, *, size_bytes: int, keep_gps: bool, may_decode: bool = True
) -> dict[str, object]:
    """Return what is known of a picture, safe for JSON.

    Args:
        image: an open picture.
        losses: is told of more fields than are read.
        size_bytes: the size of its file.
        keep_gps: whether the place where it was taken is kept.
        may_decode: whether its pixels may be decoded: a PNG can say more behind them.
    """
    width, height = image.size
    found: dict[str, object] = {
        "file_type": "image",
        "raw_image_stored": False,
        "image_width": width,
        "image_height": height,
        "image_mode": image.mode,
        "image_format": image.format or "",
        "image_size_bytes": size_bytes,
    }
    losses.beyond(MAX_FIELDS, len(image.info), "texts beside the picture")
    exif = dict(_exif(image, losses, keep_gps=keep_gps)) if may_decode or image.format != "PNG" else {}
    if exif:
        found["image_exif"] = exif
    info = dict(_info(image))
    if info:
        found["image_info"] = info
    return found


def _exif(image: Image.Image, losses: Losses, *, keep_gps: bool) -> Iterator[tuple[str, object]]:
    exif = image.getexif()
    fields = [(ExifTags.TAGS.get(tag, ""), value) for tag, value in exif.items()]
    fields += [(ExifTags.TAGS.get(tag, ""), value) for tag, value in exif.get_ifd(_EXIF_IFD).items()]
    losses.beyond(MAX_FIELDS, len(fields), "EXIF fields")
    for name, value in fields[:MAX_FIELDS]:
        if name and name not in _LEFT_OUT:
            safe = json_safe(_decode_windows(name, value))
            if safe not in ("", None, []):
                yield name, safe
    if keep_gps:
        place = {ExifTags.GPSTAGS.get(tag, ""): json_safe(value) for tag, value in exif.get_ifd(_GPS_IFD).items()}
        place.pop("", None)
        if place:
            yield "GPSInfo", place


def _decode_windows(name: str, value: object) -> object:
    """Decode the fields that Windows writes as UTF-16, and comments that name their character set."""
    if isinstance(value, bytes) and name.startswith("XP"):
        return value.decode("utf-16-le", "replace").rstrip("\0")
    if isinstance(value, bytes) and name == "UserComment":
        encoding = "utf-16" if value.startswith(b"UNICODE\0") else "utf-8"
        return value[8:].decode(encoding, "replace").strip("\0 ")
    return value


def _info(image: Image.Image) -> Iterator[tuple[str, object]]:
    """Return what Pillow found beside the pixels: text chunks, resolution, the colour profile's size."""
    profile = image.info.get("icc_profile")
    if isinstance(profile, bytes) and profile:
        yield "icc_profile", f"{len(profile)} bytes"
    for key, value in list(image.info.items())[:MAX_FIELDS]:
        if isinstance(value, bytes):  # what is not a comment is of the format, such as the version of GIF
            value = _comment(value) if key == "comment" else None
        if isinstance(key, str) and not key.lower().startswith(_INFO_LEFT_OUT):
            safe = json_safe(value)
            if safe not in ("", None, []):
                yield clean(key)[:80], safe


def _comment(value: bytes) -> str:
    """Decode a comment of a GIF or JPEG, which says nothing of its encoding."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("cp1252", "replace")


def shortened(value: object) -> object:
    """Return metadata with long texts cut."""
    if isinstance(value, str):
        return value[:MAX_VALUE_CHARS]
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    return [shortened(item) for item in value] if isinstance(value, list) else value


def json_safe(value: object) -> object:
    """Return a value that JSON can hold."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean(value).strip("\0 \n")
    if isinstance(value, bytes):
        return _bytes(value)
    if isinstance(value, Mapping):
        return {str(key)[:80]: json_safe(item) for key, item in list(value.items())[:MAX_FIELDS]}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value[:MAX_FIELDS]]
    try:
        number = float(value) if isinstance(value, SupportsFloat) else math.nan
    except (ValueError, ZeroDivisionError):
        return None  # a fraction whose divisor is zero says “unknown”
    return round(number, 6) if math.isfinite(number) else None


def _bytes(value: bytes) -> str:
    """Show short text, and only the size of anything else."""
    text = value.rstrip(b"\0")
    if len(text) <= 64 and text.isascii() and text.decode("ascii").isprintable():
        return text.decode("ascii")
    return f"{len(value)} bytes"


def title_of(metadata: Mapping[str, object]) -> str:
    """Return what somebody called the picture."""
    for group, keys in (("image_exif", ("XPTitle", "ImageDescription")), ("image_info", ("Title", "title"))):
        fields = metadata.get(group)
        if isinstance(fields, dict):
            for key in keys:
                if isinstance(fields.get(key), str):
                    title = sensible_title(fields[key])
                    if title:
                        return title
    return ""


def searchable(metadata: Mapping[str, object], *, frames: int) -> str:
    """Write what a person may look for: kind, size, camera, date, and all text that people added."""
    size = f"{metadata['image_width']} × {metadata['image_height']} pixels"
    pages = f", {frames} pages" if frames > 1 else ""
    lines = [f"{metadata['image_format']} image, {size}{pages}"]
    exif = metadata.get("image_exif")
    fields = exif if isinstance(exif, dict) else {}
    camera = " ".join(str(fields[key]) for key in ("Make", "Model") if key in fields)
    if camera:
        lines.append(f"Camera: {camera}")
    taken = fields.get("DateTimeOriginal") or fields.get("DateTime")
    if isinstance(taken, str):
        lines.append(f"Taken: {_iso(taken)}")
    lines.extend(f"{label}: {fields[key]}" for key, label in _SEARCHED.items() if isinstance(fields.get(key), str))
    info = metadata.get("image_info")
    if isinstance(info, dict):
        lines.extend(
            f"{key}: {value}" for key, value in info.items() if isinstance(value, str) and key != "icc_profile"
        )
    return "\n".join(dict.fromkeys(lines))


def _iso(taken: str) -> str:
    """Turn `2023:05:01 12:30:00` into `2023-05-01 12:30:00`."""
    date, _, clock = taken.partition(" ")
    return f"{date.replace(':', '-')} {clock}".strip()
