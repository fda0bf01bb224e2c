"""What a file is, told by its first bytes."""

from enum import StrEnum


class FileKind(StrEnum):
    """Kinds that can be told apart by content."""

    PDF = "pdf"
    PICTURE = "picture"
    HEIC = "heic"
    ZIP = "zip"
    OLE = "ole"
    """The container of old Office files, and of encrypted new ones."""
    RTF = "rtf"
    HTML = "html"
    SVG = "svg"
    XML = "xml"
    PROGRAM = "program"
    ARCHIVE = "archive"
    DATABASE = "database"
    MEDIA = "media"
    UNKNOWN = "unknown"
    """Text, or something without a mark."""

    @property
    def told(self) -> str:
        """What a person calls it."""
        return _TOLD[self]


_TOLD = {
    FileKind.PDF: "a PDF document",
    FileKind.PICTURE: "a picture",
    FileKind.HEIC: "a HEIC picture",
    FileKind.ZIP: "a ZIP archive or an Office document",
    FileKind.OLE: "an old or encrypted Office document",
    FileKind.RTF: "an RTF document",
    FileKind.HTML: "an HTML page",
    FileKind.SVG: "an SVG drawing",
    FileKind.XML: "an XML file",
    FileKind.PROGRAM: "a program",
    FileKind.ARCHIVE: "an archive",
    FileKind.DATABASE: "a database",
    FileKind.MEDIA: "a sound or film file",
    FileKind.UNKNOWN: "a file of an unknown kind",
}

SNIFF_BYTES = 1_024
"""Enough for every mark, and for an XML declaration and comments before the first element."""

_MARKS = (
    (b"\x89PNG\r\n\x1a\n", FileKind.PICTURE),
    (b"\xff\xd8\xff", FileKind.PICTURE),
    (b"GIF87a", FileKind.PICTURE),
    (b"GIF89a", FileKind.PICTURE),
    (b"II*\0", FileKind.PICTURE),
    (b"MM\0*", FileKind.PICTURE),
    (b"II+\0", FileKind.PICTURE),
    (b"MM\0+", FileKind.PICTURE),
    (b"PK\x03\x04", FileKind.ZIP),
    (b"PK\x05\x06", FileKind.ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileKind.OLE),
    (b"{\\rtf", FileKind.RTF),
    (b"\x7fELF", FileKind.PROGRAM),
    (b"\xcf\xfa\xed\xfe", FileKind.PROGRAM),
    (b"\xca\xfe\xba\xbe", FileKind.PROGRAM),
    (b"\x1f\x8b\x08", FileKind.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", FileKind.ARCHIVE),
    (b"\xfd7zXZ\0", FileKind.ARCHIVE),
    (b"Rar!\x1a\x07", FileKind.ARCHIVE),
    (b"SQLite format 3\0", FileKind.DATABASE),
    (b"ID3\x02", FileKind.MEDIA),
    (b"ID3\x03", FileKind.MEDIA),
    (b"ID3\x04", FileKind.MEDIA),
    (b"OggS\0", FileKind.MEDIA),
    (b"fLaC\0", FileKind.MEDIA),
)

_ANY_MARK = tuple(mark for mark, _ in _MARKS)

_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"}
_MARKUP = (
    (b"<!doctype html", FileKind.HTML),
    (b"<html", FileKind.HTML),
    (b"<head", FileKind.HTML),
    (b"<body", FileKind.HTML),
    (b"<svg", FileKind.SVG),
)


def sniff(head: bytes) -> FileKind:
    """Tell the kind of a file from its first `SNIFF_BYTES` bytes."""
    head = head[:SNIFF_BYTES]
    if head.startswith(_ANY_MARK):
        return next(kind for mark, kind in _MARKS if head.startswith(mark))
    if head[:4] == b"RIFF" and head[8:12] in {b"WEBP", b"WAVE", b"AVI "}:
        return FileKind.PICTURE if head[8:12] == b"WEBP" else FileKind.MEDIA
    if head[:3] == b"\0\0\0" and head[4:8] == b"ftyp":
        return _iso_media(head[8:12])
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return FileKind.PICTURE
    if head[:2] == b"MZ" and b"\0" in head:
        return FileKind.PROGRAM
    if head[:3] == b"BZh" and head[4:10] == b"1AY&SY":
        return FileKind.ARCHIVE
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return FileKind.PDF if text.startswith(b"%PDF-") else _markup(text.lower())


def _iso_media(brand: bytes) -> FileKind:
    if brand in _HEIC_BRANDS:
        return FileKind.HEIC
    return FileKind.PICTURE if brand in {b"avif", b"avis"} else FileKind.MEDIA


def _markup(text: bytes) -> FileKind:
    """Tell HTML, SVG and XML apart, which begin with the same character."""
    if not text.startswith(b"<"):
        return FileKind.UNKNOWN
    is_xml = text.startswith(b"<?xml")
    for mark, kind in _MARKUP:
        if text.startswith(mark) or (is_xml and mark in text) or (text.startswith(b"<!--") and mark in text):
            return kind
    if text.startswith(b"<!doctype svg"):
        return FileKind.SVG
    return FileKind.XML if is_xml else FileKind.UNKNOWN
