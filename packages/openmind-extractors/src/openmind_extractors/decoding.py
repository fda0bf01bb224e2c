"""Bytes become text: one decision about the encoding, told with how it was made."""

import codecs
import locale
import os
import re
from itertools import pairwise

from attrs import evolve, frozen
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason

SAMPLE_BYTES = 65_536
"""How much of a file is looked at before deciding; a declaration further in is not one."""

ENOUGH_FOREIGN_BYTES = 24
"""Below this many non-ASCII bytes a detector guesses: it took `Müller;Köln` for Turkish of a Macintosh."""

CONFIDENCE_FLOOR = 0.1
"""The detector's own figure; its wrong answers on real text lie below."""

REPLACED_PARTIAL = 0.02
"""With a larger share of undecodable characters the text counts as incomplete."""

_MAX_NUL_SHARE = 0.01
_STRAY_NULS = 8
"""Runs of zero bytes that a text may hold however short it is: a log after a crash, a field of a fixed width."""
_MAX_CONTROL_SHARE = 0.02
_STRAY_CONTROLS = 4
"""So many make no binary file of a short note."""
_MAX_STRAY_SHARE = 0.2
_DECLARED_ERROR_SHARE = 0.001
_AS_LIKELY = 0.95
"""Of the detector's figure for an encoding of the old Macintosh: with as much, the one of Windows is the likelier."""
_BROKEN_UTF8_SHARE = 0.1

_CONTROLS = bytes(set(range(1, 32)) - set(b"\t\n\f\r\b\x1a\x1b"))
"""Control characters that text does not hold: not those of terminals and of old text files."""

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_ANY_BOM = tuple(mark for mark, _ in _BOMS)

_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "shift-jis": "cp932",
    "tis-620": "cp874",
}
"""What writers of these encodings really use. Not iso8859-2: cp1250 has other letters in its place."""

_CODE_PAGES = {
    "cp1250": {"cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"},
    "cp1251": {"be", "bg", "mk", "ru", "sr", "uk"},
    "cp1253": {"el"},
    "cp1254": {"tr"},
    "cp1255": {"he"},
    "cp1256": {"ar", "fa", "ur"},
    "cp932": {"ja"},
    "cp949": {"ko"},
    "gb18030": {"zh"},
}

_META_CHARSET = re.compile(rb"<meta\b[^>]{0,500}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{1,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s{0,99}<\?xml\b[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([\w.:-]{1,40})", re.IGNORECASE)


@frozen
class DecodedText:
    """Text, and how it was read."""

    text: str
    encoding: str
    source: str
    """What decided: `bom`, `utf-8`, `nul pattern`, `characters`, `escape sequences`, `declared`, `detected`, or
    `code page`."""
    replaced_share: float
    """Part of the characters that stand for bytes without meaning."""


def decode(data: bytes, *, html: bool = False, cut: bool = False, code_page: str | None = None) -> DecodedText:
    """Decode the bytes of a text file.

    Args:
        data: the bytes; none is valid, too.
        html: whether a declaration in the text counts.
        cut: whether the bytes stop in the middle of the file, maybe of a character.
        code_page: what to take when nothing decides; by default what this system's language used before Unicode.

    Raises:
        ExtractionFailed: these are not the bytes of a text.
    """
    if data.startswith(_ANY_BOM):
        mark, encoding = next(each for each in _BOMS if data.startswith(each[0]))
        return _replacing(data[len(mark) :], encoding, "bom")
    if b"\0" in data:
        wide = _wide_encoding(data)
        if wide:
            return _replacing(data, wide, "nul pattern")
    if _looks_binary(data):
        wide = _wide_east_asian(data[:SAMPLE_BYTES])
        if wide is None:
            raise _binary(data[:SAMPLE_BYTES])
        return _replacing(data, wide, "characters")
    if b"\x1b$" in data and _decodes(data, "iso2022_jp_2"):
        return _replacing(data, "iso2022_jp_2", "escape sequences")
    try:
        return DecodedText(data.decode("utf-8"), "utf-8", "utf-8", 0.0)
    except UnicodeDecodeError as error:
        if cut and error.start >= len(data) - 3:
            return DecodedText(data[: error.start].decode("utf-8"), "utf-8", "utf-8", 0.0)
    return _legacy(data, html=html, code_page=code_page)


def _legacy(data: bytes, *, html: bool, code_page: str | None) -> DecodedText:
    """Decode what is not valid Unicode."""
    paired = _with_surrogates(data)
    if paired is not None:
        return paired
    nearly = _replacing(data, "utf-8", "utf-8")
    bad = nearly.text.count("\ufffd")
    foreign = sum(len(run) for run in _FOREIGN.findall(nearly.text)) - bad
    if bad <= foreign * _BROKEN_UTF8_SHARE:  # other encodings practically never form valid sequences
        return nearly
    declared = _declared(data) if html else None
    if declared:
        text = _replacing(data, declared, "declared")
        if text.replaced_share < _DECLARED_ERROR_SHARE:
            return text
    detected = _detected(data)
    if detected:
        return _replacing(data, detected, "detected")
    return _replacing(data, code_page or system_code_page(), "code page")


def _with_surrogates(data: bytes) -> DecodedText | None:
    """Read UTF-8 that is valid but for halves of characters, as some databases write it; pairs are joined."""
    try:
        halves = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return evolve(_replacing(halves.encode("utf-16-le", "surrogatepass"), "utf-16-le", "utf-8"), encoding="utf-8")


_FOREIGN = re.compile(r"[^\x00-\x7f]+")


def _replacing(data: bytes, encoding: str, source: str) -> DecodedText:
    text = data.decode(encoding, errors="replace")
    share = text.count("\ufffd") / len(text) if text else 0.0
    return DecodedText(text, encoding, source, share)


def _wide_encoding(data: bytes) -> str | None:
    """Tell UTF-16 and UTF-32 without a mark by where their zero bytes stand."""
    sample = data[:SAMPLE_BYTES]
    sample = sample[: len(sample) & ~3]
    if not sample:
        return None
    quarters = [sample[offset::4].count(0) / (len(sample) // 4) for offset in range(4)]
    if min(quarters[2:]) > 0.95 and quarters[0] < 0.5:
        return "utf-32-le"
    if min(quarters[:2]) > 0.95 and quarters[3] < 0.5:
        return "utf-32-be"
    even, odd = (quarters[0] + quarters[2]) / 2, (quarters[1] + quarters[3]) / 2
    if odd > 0.3 and even < odd / 10:
        return "utf-16-le"
    if even > 0.3 and odd < even / 10:
        return "utf-16-be"
    # Text of other scripts has few zero bytes, those of its spaces and line ends, all on one side.
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    if min(even, odd) * 20 <= max(even, odd) and _blanks_are_wide(sample, encoding):
        return encoding if _reads_as_text(sample, encoding) else None
    return None


def _blanks_are_wide(sample: bytes, encoding: str) -> bool:
    """Whether most bytes of a space or a line end have a zero byte beside them, as in UTF-16 of any script."""
    low, high = (sample[::2], sample[1::2]) if encoding == "utf-16-le" else (sample[1::2], sample[::2])
    beside = [high[index] for index, byte in enumerate(low) if byte in b" \n\r"]
    return beside.count(0) * 2 > len(beside)


def _reads_as_text(sample: bytes, encoding: str) -> bool:
    """Whether the decoded sample consists of characters that texts are made of."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 3:
            return False
        text = sample[: error.start].decode(encoding)
    plain = sum(char.isalnum() or char.isspace() or char.isprintable() for char in text)
    return plain >= 0.98 * len(text)


_EAST_ASIAN = re.compile("[ -~\\s\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uffee\u2010-\u2026]+")
_LEAST_EAST_ASIAN = 8
_LEAST_HIGH_SHARE = 0.1


def _wide_east_asian(sample: bytes) -> str | None:
    """Tell UTF-16 of Chinese, Japanese or Korean that has neither a mark nor a blank, and so no zero byte.

    Asked only of bytes that are no other text. Those of pictures and programs never make such characters alone; pairs
    of ASCII letters do, but these have no byte above 127.
    """
    if sum(byte > 127 for byte in sample) < _LEAST_HIGH_SHARE * len(sample):
        return None
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = sample[: len(sample) & ~1].decode(encoding)
        except UnicodeDecodeError:
            continue
        known = sum(map(len, _EAST_ASIAN.findall(text)))
        if len(text) >= _LEAST_EAST_ASIAN and known >= 0.98 * len(text):
            return encoding
    return None


def _looks_binary(data: bytes) -> bool:
    sample = data[:SAMPLE_BYTES]
    if not sample:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > _MAX_CONTROL_SHARE * len(sample):
        stray = controls <= _STRAY_CONTROLS and controls <= _MAX_STRAY_SHARE * len(sample)
        return not stray or not _decodes(sample, "utf-8")
    if sample.count(0) <= _MAX_NUL_SHARE * len(sample):
        return False
    runs = _NULS.findall(sample)
    return len(runs) > _STRAY_NULS or len(runs[0]) == len(sample) or not _decodes(sample, "utf-8")


def _binary(sample: bytes) -> ExtractionFailed:
    """Say what it is that no text has."""
    controls = sum(sample.count(each) for each in _CONTROLS)
    what = f"{controls:,} control characters" if controls else f"{sample.count(0):,} zero bytes"
    return ExtractionFailed(
        f"this looks like a binary file, not like text: it begins with {what} among {len(sample):,} bytes",
        reason=FileReason.UNSUPPORTED,
        hint="If it is a text, take them out and save it again.",
    )


_NULS = re.compile(rb"\0+")


def _decodes(data: bytes, encoding: str) -> bool:
    """Whether bytes that may end amid a character are of an encoding."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _declared(data: bytes) -> str | None:
    """Return the codec that an HTML page or XML document names, by the table that browsers use."""
    head = data[:SAMPLE_BYTES]
    found = _META_CHARSET.search(head) or _XML_ENCODING.search(head)
    if not found:
        return None
    import webencodings  # only a few files need it

    known = webencodings.lookup(found.group(1).decode("ascii", "replace"))
    if known is None or known.name in {"utf-8", "utf-16le", "utf-16be", "x-user-defined", "replacement"}:
        return None  # it is not UTF-8, that was tried; a page whose declaration can be read is not UTF-16
    return str(known.codec_info.name)


def _detected(data: bytes) -> str | None:
    """Ask the detector, where there is enough to go by."""
    sample = _spread(data)
    if len(sample) - len(sample.decode("ascii", "ignore")) < ENOUGH_FOREIGN_BYTES:
        return None
    import chardet  # only a few files need it

    eras = chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME
    guess = chardet.detect(sample, encoding_era=eras, compat_names=False)
    name = guess["encoding"]
    if name is None or guess["confidence"] < CONFIDENCE_FLOOR:
        return None
    if name.startswith("mac-"):
        others = chardet.detect_all(sample, encoding_era=eras, compat_names=False)
        close = (each["encoding"] for each in others if each["confidence"] >= _AS_LIKELY * guess["confidence"])
        windows = next((each for each in close if each and each.startswith("cp125")), name)
        name = min(windows, name, key=lambda each: _inner_capitals(sample.decode(each, "replace")))
    name = _SUPERSETS.get(name.lower().replace("_", "-"), name)
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None


def _inner_capitals(text: str) -> int:
    """Count capitals behind small letters: encodings that differ in little else make them of other letters."""
    return sum(one.islower() and other.isupper() for one, other in pairwise(text))


def _spread(data: bytes) -> bytes:
    """Return the beginning, the middle and the end."""
    if len(data) <= 3 * SAMPLE_BYTES:
        return data
    middle = len(data) // 2
    return b"\n".join((data[:SAMPLE_BYTES], data[middle : middle + SAMPLE_BYTES], data[-SAMPLE_BYTES:]))


def _language() -> str:
    """Return what the person says, also where the system has not that locale installed, else what the system says."""
    said = (os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return next(filter(None, said), "") or locale.getlocale()[0] or "en"


def system_code_page(language: str | None = None) -> str:
    """Return the code page that systems of a language (`pl_PL`, by default this one's) used before Unicode."""
    name = language if language is not None else _language()
    code = name.split("_")[0].lower()
    return next((page for page, languages in _CODE_PAGES.items() if code in languages), "cp1252")
