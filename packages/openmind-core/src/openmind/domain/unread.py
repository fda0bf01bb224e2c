"""What nothing reads, by kind: files of some extensions, and what is no file. How many there are, what can be done."""

import json
from collections import Counter
from collections.abc import Mapping

from attrs import frozen

from openmind.domain.files import FileStat
from openmind.domain.ids import SourceId

MOST_KINDS = 100
"""Kinds that are remembered by name: folders of generated files may have thousands of extensions."""
OTHER = "other"
"""The kinds beyond that, together."""
NO_EXTENSION = "no extension"
LINK = "link"
PIPE = "pipe"
SOCKET = "socket"
DEVICE = "device"
NO_FILES = frozenset({LINK, PIPE, SOCKET, DEVICE})
"""Kinds of what stands among files and is none: a link is not followed, the others would have to be waited for."""

Kinds = Mapping[str, int]
"""How many files there are, by extension (lower case, with the dot), `NO_EXTENSION`, one of `NO_FILES` or `OTHER`."""


@frozen(kw_only=True)
class UnreadFile:
    """A file of a kind that nothing reads, or what is no file. Memory keeps nothing of it."""

    source_id: SourceId
    path_bytes: bytes
    stat: FileStat | None
    """None for what is no file."""
    extension: str
    kind: str
    hint: str
    """What a person can do to have it read; empty where there is nothing to be done."""


def kind_of(extension: str) -> str:
    """Name the kind of files with an extension, which may be empty."""
    return extension or NO_EXTENSION


def most_frequent(kinds: Kinds) -> dict[str, int]:
    """Keep the most frequent kinds by name, most files first, and add up the others."""
    counted = Counter(kinds)
    others = counted.pop(OTHER, 0)
    ordered = sorted(counted.items(), key=lambda kind: (-kind[1], kind[0]))
    others += sum(number for _, number in ordered[MOST_KINDS:])
    return dict(ordered[:MOST_KINDS]) | ({OTHER: others} if others else {})


def added(*several: Kinds) -> dict[str, int]:
    """Add up kinds of several sources."""
    total: Counter[str] = Counter()
    for kinds in several:
        total.update(kinds)
    return most_frequent(total)


def unread_key(source_id: SourceId) -> str:
    """Name of the setting that keeps the kinds of a source as the last scan found them."""
    return f"unread_kinds:{source_id}"


def to_setting(kinds: Kinds) -> str | None:
    """Write kinds down; None when there are none."""
    return json.dumps(most_frequent(kinds), ensure_ascii=False) if kinds else None


def of_setting(kept: str | None) -> dict[str, int]:
    """Read what `to_setting` wrote; anything else tells nothing, and the next run writes it anew."""
    try:
        kinds: object = json.loads(kept or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(kinds, dict):
        return {}
    return {kind: number for kind, number in kinds.items() if isinstance(number, int)}


def hint_for(kind: str) -> str:
    """Say what a person can do to have a kind of files read; empty where there is nothing to be done."""
    return _HINTS.get(kind, "")


def _hints() -> dict[str, str]:
    told = {
        ".doc .dot .rtf .wps .wpd .odg .pages": "Save it as .docx or .pdf.",
        ".xls .xlsb .numbers": "Save it as .xlsx or .csv.",
        ".ppt .pps .odp .key": "Save it as .pptx or .pdf.",
        ".msg .mbox .pst .ost": "Save the mails as .eml.",
        ".mobi .azw .azw3 .djvu .ps .xps .oxps .one .vsd .vsdx .dwg .ai .indd": "Save it as .pdf.",
        ".zip .7z .rar .tar .gz .tgz .bz2 .xz .zst": "Unpack it into the folder.",
        ".svg .psd .xcf .raw .cr2 .cr3 .nef .arw .dng .jxl .jp2": "Save it as .png, .jpg or .pdf.",
        ".mp3 .m4a .wav .ogg .opus .flac .aac .wma .mp4 .m4v .mov .avi .mkv .webm .wmv .mpg .mpeg": (
            "Put its transcript or subtitles beside it, as .txt or .srt."
        ),
        ".db .sqlite .sqlite3 .mdb .accdb .parquet": "Export its tables as .csv.",
        LINK: "Links are not followed. Add the folder that holds what it leads to, or put a copy in its place.",
    }
    return {extension: hint for extensions, hint in told.items() for extension in extensions.split()}


_HINTS = _hints()
