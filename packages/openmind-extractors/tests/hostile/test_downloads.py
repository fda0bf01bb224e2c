"""A folder with every kind of fault that files have: one run over it, by a process that knows none of the parsers.

A crash in native code, a hang and a memory blow-up past the limits are staged in the tests of the worker processes.
"""

import json
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter

PARSERS = ["pypdfium2", "pypdf", "onnxruntime", "rapidocr", "cv2", "mammoth", "html5lib", "PIL", "pandas"]
INDEX = """
import json, sys
refused = []
def audit(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind"}:
        refused.append(event)
        raise PermissionError(event)
sys.addaudithook(audit)
from openmind import open_memory
home, folder, needles, absent, parsers = json.loads(sys.argv[1])
with open_memory(home) as memory:
    memory.sources.add(folder, ocr=False)
    report = memory.index()
    files = {}
    after = b""
    while page := memory.documents.list(after=after, limit=100):
        files |= {r.path_bytes.decode("latin-1").rpartition("/")[2]: [r.reason.value, r.error] for r in page}
        after = page[-1].path_bytes
    found = {needle: [hit.file_name for hit in memory.search(needle).hits] for needle in needles}
    shown = {needle: [hit.text for hit in memory.search(needle, limit=50).hits] for needle in absent}
    left = [path.name for path in (memory.home / "tmp").rglob("*")]
print(json.dumps({"files": files, "found": found, "shown": shown, "refused": refused, "left": left,
                  "loaded": [name for name in parsers if name in sys.modules]}))
"""

Make = SimpleNamespace


def text_pdf(make: Make, sentence: str, **options: object) -> bytes:
    return make.pdf(["The committee met on Tuesday and agreed", f"that {sentence} at last."] * 3, **options)


def locked(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(password, owner_password="owner", algorithm="AES-256")
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def unpacking_pdf(make: Make) -> bytes:
    packed = zlib.compress(b" " * 300_000_000, 9)
    stream = b"<< /Filter /FlateDecode /Length %d >> stream\n" % len(packed) + packed + b"\nendstream"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R >>"
    pages = b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>"
    return make.write_objects([b"<< /Type /Catalog /Pages 2 0 R >>", pages, stream, page], "/Root 1 0 R")


def png(width: int, height: int, *more: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    texts = b"".join(chunk(b"zTXt", b"k\0\0" + zlib.compress(text)) for text in more)
    return b"\x89PNG\r\n\x1a\n" + header + texts + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def old_office(name: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + name.encode("utf-16-le") + bytes(1_500)


def scan(make: Make) -> bytes:
    scanned, page = make.scan(make.picture_of("a scanned page", size=(620, 877)))
    return make.pdf(page, extra=[scanned], resources="/XObject << /Im1 4 0 R >>")


def picture(make: Make, mode: str, kind: str) -> bytes:
    size = len(mode) * 60 * 40 if mode.isalpha() else 2 * 60 * 40
    image = Image.frombytes(mode, (60, 40), bytes(range(240)) * (size // 240))
    return bytes(make.encoded(image, kind))


def word_table(make: Make, depth: int) -> str:
    return "<w:tbl><w:tr><w:tc>" * depth + make.paragraph("nested manatee") + "</w:tc></w:tr></w:tbl>" * depth


def footnoted(make: Make) -> bytes:
    notes = (
        f'<w:footnotes {make.W}><w:footnote w:id="2">{make.paragraph("footnoted narwhal")}</w:footnote></w:footnotes>'
    )
    gone = "<w:p><w:del><w:r><w:delText>deleted dodo</w:delText></w:r></w:del></w:p>"
    reference = '<w:p><w:r><w:t>above</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    return bytes(make.word(reference + gone, footnotes=notes))


NOISE = "\u202e\u200bzero\u200bwidth \u2066wom\u00adbat\u2069" + "e" + "\u0301" * 5_000
ALIASES = "---\na: &a [x, x]\n" + "\n".join(
    f"{b}: &{b} [*{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
OUTPUT = {"output_type": "display_data", "data": {"image/png": "iVBOR" * 50_000, "text/plain": "short kumquat"}}
NOTEBOOK = {"cells": [{"cell_type": "code", "source": ["plot()"], "outputs": [OUTPUT]}], "nbformat": 4}

Build = Callable[[Make], bytes]
KINDS: list[tuple[str, str, Build, str, str]] = [
    # kind of fault, file, how it is made, the reason it ends with ("" = not looked at), a sentence that is found
    ("takes for ever", "plan.pdf", lambda m: m.pdf(b"0 0 1 1 re f\n" * 200_000), "empty", ""),
    (
        "takes for ever",
        "long.docx",
        lambda m: m.word("".join(m.paragraph(f"endless lemur {n}") for n in range(30_000))),
        "ok",
        "endless lemur",
    ),
    ("swells in memory", "bomb.pdf", unpacking_pdf, "too_big", ""),
    ("picture of billions of pixels", "wall.png", lambda m: png(60_000, 60_000), "too_big", ""),
    ("bomb in the text of a picture", "chunk.png", lambda m: png(2, 2, b" " * 90_000_000), "damaged", ""),
    ("container that unpacks without end", "bomb.docx", lambda m: m.word(" " * 250_000_000), "too_big", ""),
    (
        "entities that expand",
        "laughs.docx",
        lambda m: m.word("", **{"word/document.xml": '<!DOCTYPE l [<!ENTITY a "aa">]><w:document>&a;</w:document>'}),
        "damaged",
        "",
    ),
    ("nested without end", "tables.docx", lambda m: m.word(word_table(m, 400)), "ok", "nested manatee"),
    ("nested without end", "deep.ipynb", lambda m: b"[" * 200_000, "damaged", ""),
    ("nested without end", "deep.html", lambda m: b"<div>" * 50_000 + b"deep abyss", "ok", "deep abyss"),
    (
        "page of 70 metres",
        "wide.pdf",
        lambda m: text_pdf(m, "bisons bathe", size=(200_000, 200_000)),
        "ok",
        "bisons bathe",
    ),
    ("password", "locked.pdf", lambda m: locked(text_pdf(m, "secret skunk"), "pw"), "encrypted", ""),
    ("password", "locked.docx", lambda m: old_office("EncryptedPackage"), "encrypted", ""),
    ("empty password, use restricted", "owned.pdf", lambda m: locked(text_pdf(m, "jackdaws"), ""), "ok", "jackdaws"),
    (
        "another kind than its name",
        "page.pdf",
        lambda m: b"<!doctype html><p>pretending ocelot",
        "ok",
        "pretending ocelot",
    ),
    ("another kind than its name", "tool.pdf", lambda m: b"MZ\x90\0\x03" + bytes(500), "unsupported", ""),
    (
        "another kind than its name",
        "logo.png",
        lambda m: b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "unsupported",
        "",
    ),
    ("another kind than its name", "photo.pdf", lambda m: picture(m, "RGB", "PNG"), "needs_ocr", ""),
    ("old format", "old.docx", lambda m: old_office("WordDocument"), "unsupported", ""),
    ("no byte", "empty.pdf", lambda m: b"", "empty", ""),
    ("cut off", "half.pdf", lambda m: text_pdf(m, "half")[:300], "damaged", ""),
    ("cut off", "half.docx", lambda m: m.word(m.paragraph("half"))[:200], "damaged", ""),
    ("still on its way", "film.pdf.crdownload", lambda m: b"%PDF-1.7", "", ""),
    ("lock file", "~$long.docx", lambda m: b"me", "", ""),
    ("legacy encoding", "latin.txt", lambda m: "Die schöne Ölmühle über der Straße".encode("cp1252"), "ok", "Ölmühle"),
    ("legacy encoding", "wide.txt", lambda m: "the wide dromedary".encode("utf-16"), "ok", "wide dromedary"),
    ("zero bytes", "binary.txt", lambda m: bytes(range(256)) * 20, "unsupported", ""),
    ("half characters", "half.txt", lambda m: b"\xed\xa0\x80 lone surrogate, sober stoat", "partial", "sober stoat"),
    ("noise between letters", "noise.txt", lambda m: NOISE.encode(), "ok", "wombat"),
    ("separator named in the table", "sep.csv", lambda m: b"sep=;\na;b\n1,5;kookaburra\n", "ok", "kookaburra"),
    ("quote that never ends", "quote.csv", lambda m: b'a,b\n1,"open\n' + b"2,puffin\n" * 2_000, "ok", "puffin"),
    ("numbers that are names", "ids.csv", lambda m: b"id,what\n00123,NA\n", "ok", "00123"),
    (
        "page with hidden parts",
        "page.html",
        lambda m: b"<p>seen toucan<script>unseen script</script><p hidden>unseen par</p><style>unseen style</style>",
        "ok",
        "seen toucan",
    ),
    ("text beside the text", "notes.docx", footnoted, "ok", "footnoted narwhal"),
    (
        "text beside the text",
        "comment.pdf",
        lambda m: m.pdf(
            ["A page of plain text for everyone to read, with a remark."],
            extra=["<< /Type /Annot /Subtype /Text /Rect [50 600 70 620] /Contents (remarked ibex) >>"],
            page="/Annots [4 0 R]",
        ),
        "ok",
        "remarked ibex",
    ),
    (
        "words divided at the end of a line",
        "divided.pdf",
        lambda m: m.pdf(["The river was full of croco-", "diles that slept in the sun all day long."] * 2),
        "ok",
        "crocodiles",
    ),
    ("odd picture", "deep.png", lambda m: picture(m, "I;16", "PNG"), "needs_ocr", ""),
    ("odd picture", "print.jpg", lambda m: picture(m, "CMYK", "JPEG"), "ok", ""),
    (
        "picture nobody reads",
        "IMG_1.heic",
        lambda m: b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(99),
        "unsupported",
        "",
    ),
    ("odd name", "caf\xe9\xff.txt", lambda m: b"oddly named quagga", "ok", "oddly named quagga"),
    ("odd name", "new\nline.md", lambda m: b"second line okapi", "ok", "second line okapi"),
    ("odd name", "-rf; rm.txt", lambda m: b"dangerous tapir", "ok", "dangerous tapir"),
    ("references that multiply", "front.md", lambda m: f"{ALIASES}\n---\nsober marmot".encode(), "ok", "sober marmot"),
    ("pictures in a notebook", "plot.ipynb", lambda m: json.dumps(NOTEBOOK).encode(), "ok", "short kumquat"),
    ("nothing to find", "scan.pdf", scan, "needs_ocr", ""),
    ("nothing to find", "blank.pdf", lambda m: m.pdf(b""), "empty", ""),
    ("nothing to find", "blank.txt", lambda m: b"\n\n  \n", "empty", ""),
    ("nothing to find", "blank.ipynb", lambda m: b"", "empty", ""),
    ("nothing to find", "blanks.ipynb", lambda m: b"\n", "empty", ""),
    ("nothing to find", "blanks.docx", lambda m: b" \r\n", "empty", ""),
]
ABSENT = ["unseen script", "deleted dodo", "secret skunk", "outside the folder"]


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory, make: Make) -> Mapping[str, object]:
    """What a run over the folder told."""
    root = tmp_path_factory.mktemp("hostile")
    folder = root / "Downloads"
    folder.mkdir()
    for _, name, build, _, _ in KINDS:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name.encode("latin-1"))).write_bytes(build(make))
    (root / "outside.txt").write_text("outside the folder")
    os.mkfifo(folder / "pipe.pdf")
    for name, target in (("zero.csv", "/dev/zero"), ("out.txt", str(root / "outside.txt")), ("loop.txt", "loop.txt")):
        (folder / name).symlink_to(target)
    before = {path.name: path.lstat().st_mtime_ns for path in folder.iterdir()}
    needles = [needle for *_, needle in KINDS if needle]
    request = json.dumps([str(root / "home"), str(folder), needles, ABSENT, PARSERS])

    done = subprocess.run([sys.executable, "-c", INDEX, request], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert {path.name: path.lstat().st_mtime_ns for path in folder.iterdir()} == before
    told = json.loads(done.stdout)
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(
    ("kind", "name", "build", "reason", "needle"), KINDS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_fault_ends_with_its_reason_and_what_can_be_read_is_found(
    downloads: SimpleNamespace, kind: str, name: str, build: Build, reason: str, needle: str
) -> None:
    ended, note = downloads["files"].get(name, ("", ""))

    assert ended == reason, f"{kind}: {note}"
    if reason not in {"", "ok"}:
        assert note
        assert reason.replace("_", " ") not in note.lower(), "the reason stands before it already"
    if needle:
        assert downloads["found"][needle][:1] == [name.replace("\xe9\xff", "\\xe9\\xff")]


def test_what_is_no_file_of_the_folder_is_not_looked_at(downloads: SimpleNamespace) -> None:
    assert {name for _, name, _, reason, _ in KINDS if reason} == set(downloads["files"])


@pytest.mark.parametrize("needle", ABSENT)
def test_what_nobody_is_to_see_is_in_no_passage(downloads: SimpleNamespace, needle: str) -> None:
    assert not [text for text in downloads["shown"][needle] if needle in text]


def test_the_indexing_process_loads_no_parser_and_opens_no_connection(downloads: SimpleNamespace) -> None:
    assert downloads["loaded"] == []
    assert downloads["refused"] == []


def test_nothing_is_left_of_the_workers(downloads: SimpleNamespace) -> None:
    assert downloads["left"] == []
