"""What reading documents costs beside the bare libraries, and how well scans are recognised.

    python benchmarks/extractors.py [FOLDER] [--ocr] [--isolation] [--hostile]

FOLDER holds documents (.pdf .docx .html .csv); without one they are made up, with a wide vocabulary. Each ratio
compares CPU time in one process, the best of several rounds that take turns: the library alone against the extractor,
which also mends, judges, divides and cleans. CSV is compared twice: with the rows alone, and with the rows and a bare
`pandas.read_csv`, since the extractor also profiles the columns. `--ocr` adds pages of generated scans, `--isolation`
a thousand small documents read in worker processes, `--hostile` the memory of a run over files made to fill it.
"""

import argparse
import csv
import io
import random
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
from attrs import evolve
from openmind.adapters.extraction_workers import ExtractionWorkers
from openmind.domain.config import ExtractionConfig
from openmind.plugins.registries import ExtractionTools
from openmind.ports.extractor import Blob
from openmind.ports.isolated_reader import ReadRequest
from openmind.ports.ocr_engine import PageImage
from openmind_extractors.ocr.rapid import build_rapid
from openmind_extractors.routing import build

ROUNDS = 5
PAGES, LINES, PARAGRAPHS, ROWS = 300, 45, 1_500, 40_000
LETTERS = "aaabcdeeeefghiiijklmnnnooopqrrrssstttuuvwxyzäöüéè"

ENGLISH = (
    "It was agreed at the meeting of the bridge committee that the deck has to be replaced before the winter, and that "
    "the county pays for two thirds of the work. Mr. Hopkins asked whether “temporary” measures had been considered; "
    "the engineer replied that they would cost £12,400 and last for 18 months at most. "
)
GERMAN = (
    "In der Sitzung des Brückenausschusses wurde beschlossen, daß die Fahrbahn vor dem Winter erneuert werden muß und "
    "der Landkreis zwei Drittel der Kosten übernimmt. Herr Müller fragte nach größeren Schäden an den Stützen; die "
    "Prüfung ergab, daß die Träger über dem Fluß völlig in Ordnung sind. "
)
FRENCH = (
    "Il a été décidé à la réunion du comité du pont que le tablier doit être remplacé avant l'hiver, et que le "
    "département paie les deux tiers des travaux. M. Lefèvre a demandé si l'on avait prévu des mesures provisoires ; "
    "l'ingénieur a répondu qu'elles coûteraient très cher et ne dureraient guère plus d'une année. "
)


def words(rng: random.Random) -> list[str]:
    return ["".join(rng.choices(LETTERS, k=rng.randint(2, 10))) for _ in range(8_000)]


def sentence(rng: random.Random, vocabulary: Sequence[str], count: int) -> str:
    return " ".join(rng.choices(vocabulary, k=count)).capitalize() + "."


def make_documents(folder: Path) -> None:
    """Write one large document of each kind, and some small ones."""
    rng = random.Random(11)
    vocabulary = words(rng)
    for name, scale in (("large", 1.0), ("middle", 0.1), ("small", 0.02)):
        pages = [
            ["The running head", *(sentence(rng, vocabulary, 12) for _ in range(LINES)), str(page)]
            for page in range(1, max(2, int(PAGES * scale)))
        ]
        (folder / f"{name}.pdf").write_bytes(pdf(pages))
        paragraphs = [sentence(rng, vocabulary, rng.randint(20, 90)) for _ in range(int(PARAGRAPHS * scale))]
        cells = [[rng.choice(vocabulary) for _ in range(5)] for _ in range(int(300 * scale))]
        (folder / f"{name}.docx").write_bytes(docx(paragraphs, cells))
        (folder / f"{name}.html").write_text(html(paragraphs, cells), encoding="utf-8")
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["number", "name", "city", "price", "day", "note"])
            writer.writerows(
                [
                    f"{n:05d}",
                    rng.choice(vocabulary),
                    rng.choice(vocabulary[:40]),
                    f"{n * 0.35:.2f}",
                    f"2024-03-{n % 28 + 1:02d}",
                    " ".join(rng.choices(vocabulary, k=6)),
                ]
                for n in range(int(ROWS * scale))
            )


def pdf(pages: Sequence[Sequence[str]], *, size: int = 10, font: str = "Helvetica") -> bytes:
    """Write a PDF of lines of text."""
    objects = [b"", b"", f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>".encode()]
    kids = []
    for lines in pages:
        shown = "\n".join("(" + line.replace("(", r"\(").replace(")", r"\)") + ") Tj T*" for line in lines)
        stream = f"BT /F1 {size} Tf {size * 1.45} TL 55 790 Td\n{shown}\nET".encode("cp1252", "replace")
        objects.append(b"<< /Length %d >> stream\n" % len(stream) + stream + b"\nendstream")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [" + b" ".join(kids) + b"] /Count %d >>" % len(kids)
    data, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(
        b"%010d 00000 n \n" % o for o in offsets
    )
    return data + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def docx(paragraphs: Sequence[str], cells: Sequence[Sequence[str]]) -> bytes:
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    body = []
    for number, text in enumerate(paragraphs):
        style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if number % 20 == 0 else ""
        body.append(f"<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>")
    rows = ("".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in row) for row in cells)
    body.append("<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
        )
        file.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" '
            f'Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        file.writestr("word/document.xml", f'<w:document xmlns:w="{w}"><w:body>{"".join(body)}</w:body></w:document>')
    return packed.getvalue()


def html(paragraphs: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    shown = "".join(
        f"<h2>{text}</h2>" if n % 20 == 0 else f"<p>{text} <a href='#'>more</a></p>"
        for n, text in enumerate(paragraphs)
    )
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    head = "<!doctype html><html><head><title>Page</title></head>"
    return f"{head}<body><nav>Menu</nav>{shown}<table>{rows}</table></body></html>"


def bare_pdf(path: Path) -> None:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    for index in range(len(document)):
        page = document[index]
        textpage = page.get_textpage()
        textpage.get_text_bounded()
        textpage.close()
        page.close()
    document.close()


def bare_docx(path: Path) -> None:
    import mammoth

    with path.open("rb") as file:
        mammoth.convert_to_html(file)


def bare_html(path: Path) -> None:
    import html5lib

    html5lib.parse(path.read_text(encoding="utf-8", errors="replace"))


def bare_csv(path: Path) -> None:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        list(csv.reader(file))


def bare_csv_and_pandas(path: Path) -> None:
    import pandas as pd

    bare_csv(path)
    pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)


BARE: tuple[tuple[str, str, str, Callable[[Path], None], float], ...] = (
    ("PDF", "pdf", "pypdfium2", bare_pdf, 1.5),
    ("DOCX", "docx", "mammoth", bare_docx, 1.4),
    ("HTML", "html", "html5lib", bare_html, 1.4),
    ("CSV", "csv", "csv", bare_csv, 1.4),
    ("CSV", "csv", "csv + pandas", bare_csv_and_pandas, 1.4),
)


def extract(kind: str) -> Callable[[Path], None]:
    extractor = build(kind, ExtractionTools())

    def run(path: Path) -> None:
        for _ in extractor.extract(Blob(name=path.name, path=path)):
            pass

    return run


def cpu(run: Callable[[Path], None], paths: Sequence[Path]) -> float:
    started = time.process_time()
    for path in paths:
        run(path)
    return time.process_time() - started


def compare(folder: Path) -> None:
    print(f"{'':6}{'files':>6}{'MB':>7}  {'library':14}{'library ms':>12}{'extractor ms':>14}{'ratio':>8}{'bar':>7}")
    for name, kind, library, bare, bar in BARE:
        paths = sorted(folder.rglob(f"*.{kind}"))
        if not paths:
            continue
        ours = extract(kind)
        cpu(bare, paths[:1]), cpu(ours, paths[:1])  # imports
        rounds = [(cpu(bare, paths), cpu(ours, paths)) for _ in range(ROUNDS)]
        theirs_s, ours_s = min(pair[0] for pair in rounds), min(pair[1] for pair in rounds)
        size = sum(path.stat().st_size for path in paths) / 1e6
        ratio = ours_s / theirs_s
        mark = "" if ratio <= bar else "  above the bar"
        print(
            f"{name:6}{len(paths):6}{size:7.1f}  {library:14}{theirs_s * 1e3:12.1f}{ours_s * 1e3:14.1f}"
            f"{ratio:8.2f}{bar:7.1f}{mark}"
        )


def scans() -> Iterator[tuple[str, PageImage, str, float]]:
    """Print a page in each language, then scan it badly: skewed, blurred, noisy, compressed."""
    import pypdfium2
    from PIL import Image, ImageFilter

    for name, text, bar in (("English", ENGLISH, 0.01), ("German", GERMAN, 0.03), ("French", FRENCH, 0.01)):
        lines: list[str] = []
        line = ""
        for word in (text * 8).split():
            if len(line) + len(word) > 88:
                lines, line = [*lines, line], ""
            line = f"{line} {word}".strip()
        lines = [shown for shown in lines if shown][:44]
        with pypdfium2.PdfDocument(pdf([lines], size=11, font="Times-Roman")) as document:
            picture = document[0].render(scale=160 / 72, grayscale=True).to_pil()
        picture = picture.rotate(0.6, resample=Image.Resampling.BICUBIC, fillcolor=255)
        picture = picture.filter(ImageFilter.GaussianBlur(0.6))
        picture = Image.blend(picture, Image.effect_noise(picture.size, 18), 0.08)
        packed = io.BytesIO()
        picture.save(packed, "JPEG", quality=55)
        scanned = Image.open(packed).convert("L")
        page = PageImage(pixels=scanned.tobytes(), width=scanned.width, height=scanned.height, channels=1)
        yield name, page, "\n".join(lines), bar


def distance(one: str, other: str) -> int:
    """Count the characters that have to be changed."""
    before = list(range(len(other) + 1))
    for row, a in enumerate(one, start=1):
        now = [row]
        for column, b in enumerate(other, start=1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (a != b)))
        before = now
    return before[-1]


def recognise() -> None:
    engine = build_rapid(ExtractionConfig())
    print(f"\n{'':10}{'CPU s/page':>12}{'wrong characters':>18}{'bar':>7}{'words':>14}")
    for name, page, truth, bar in scans():
        started = time.process_time()
        found = engine.read(page).text
        spent = time.process_time() - started
        plain, read = "".join(truth.split()), "".join(found.split())
        wrong = distance(plain, read) / len(plain)
        print(f"{name:10}{spent:12.1f}{wrong:17.2%} {bar:6.0%}{len(found.split()):8} / {len(truth.split())}")


SMALL_FILES = 1_000


def small_documents(folder: Path) -> list[Path]:
    """Write many small documents of five kinds."""
    rng = random.Random(5)
    vocabulary = words(rng)
    made = []
    for number in range(SMALL_FILES):
        lines = [sentence(rng, vocabulary, 12) for _ in range(20)]
        rows = [rng.choices(vocabulary, k=4) for _ in range(15)]
        kind = ("html", "docx", "csv", "pdf", "eml")[number % 5]
        content = {
            "html": lambda lines=lines, rows=rows: html(lines, rows).encode(),
            "docx": lambda lines=lines, rows=rows: docx(lines, rows),
            "csv": lambda rows=rows: "\n".join(",".join(row) for row in rows).encode(),
            "pdf": lambda lines=lines: pdf([lines[:10], lines[10:]]),
            "eml": lambda lines=lines: ("Subject: Bridge\n\n" + "\n".join(lines)).encode(),
        }[kind]()
        made.append(folder / f"{number}.{kind}")
        made[-1].write_bytes(content)
    return made


def isolate() -> None:
    """Compare reading small documents in this process, in one worker and in two."""
    names = {".html": "html", ".docx": "docx", ".csv": "csv", ".pdf": "pdf", ".eml": "mail"}
    with tempfile.TemporaryDirectory() as kept:
        paths = small_documents(Path(kept))
        built = {name: build(name, ExtractionTools()) for name in names.values()}

        def here(paths: Sequence[Path]) -> None:
            for path in paths:
                list(built[names[path.suffix]].extract(Blob(name=path.name, path=path)))

        here(paths[:50])
        started = time.process_time()
        here(paths)
        alone = time.process_time() - started
        print(f"\n{SMALL_FILES} small documents, CPU s\nin this process{alone:10.1f}")
        paths_of: list[float] = []
        for size in (1, 2):
            parent, workers, wall = in_workers(paths, names, size)
            paths_of.append(max(parent, workers / size))
            overhead = (parent + workers - alone) / SMALL_FILES * 1_000
            print(f"{size} worker(s): here {parent:.1f}, workers {workers:.1f}, wall {wall:.1f} s; ", end="")
            print(f"isolation costs {overhead:.1f} ms a file (bar 5.0)")
        print(f"two workers, by the longest of the processes: {paths_of[0] / paths_of[1]:.2f} x faster (bar 1.70)")


def in_workers(paths: Sequence[Path], names: dict[str, str], size: int) -> tuple[float, float, float]:
    """Read in workers; returns CPU seconds here, CPU seconds there without their start, and seconds."""

    def requests(paths: Sequence[Path]) -> Iterator[ReadRequest]:
        for ticket, path in enumerate(paths):
            extractor = names[path.suffix]
            yield ReadRequest(
                ticket=ticket, path_bytes=bytes(path), extractor=extractor, size=path.stat().st_size, ocr=False
            )

    def read(reader: ExtractionWorkers, paths: Sequence[Path]) -> None:
        for outcome in reader.read(requests(paths), while_waiting=lambda: None, recognised=lambda *_: None):
            assert outcome.document is not None, outcome.message

    def spent() -> float:
        children = psutil.Process().children()
        return sum(child.cpu_times().user + child.cpu_times().system for child in children)

    reader = ExtractionWorkers(config=ExtractionConfig(), size=size)
    reader.pool.plan = evolve(reader.pool.plan, recycle_after=0)  # a fresh worker is no part of a warm pool
    try:
        read(reader, paths[:100])
        before, here, started = spent(), time.process_time(), time.perf_counter()
        read(reader, paths)
        return time.process_time() - here, spent() - before, time.perf_counter() - started
    finally:
        reader.close()


HOSTILE_BAR_MB = 1_500
INDEX = """
import sys
from openmind import open_memory
with open_memory(sys.argv[1]) as memory:
    memory.sources.add(sys.argv[2])
    tally = memory.index().run.tally
    print(f"{tally.indexed} indexed, {tally.skipped} skipped, {tally.failed} failed")
"""


def make_hostile(folder: Path) -> None:
    """Write files that unpack to much more than they are, and scans, for which the engine is loaded as well."""
    packed = zlib.compress(bytes(300_000_000), 9)
    stream = (
        b"4 0 obj\n<< /Filter /FlateDecode /Length %d >> stream\n" % len(packed) + packed + b"\nendstream\nendobj\n"
    )
    (folder / "bomb.pdf").write_bytes(pdf([["a bomb"]]).replace(b"xref", stream + b"xref", 1))
    (folder / "bomb.docx").write_bytes(docx([" " * 250_000_000], []))
    (folder / "long.docx").write_bytes(docx([f"paragraph {n}" for n in range(200_000)], []))
    (folder / "large.html").write_text("<p>a paragraph of a page that never ends" * 480_000)
    (folder / "deep.html").write_text("<div>" * 1_000_000)
    (folder / "field.csv").write_text('a,b\n1,"' + "x" * 50_000_000)
    (folder / "wide.csv").write_text("\n".join([",".join(map(str, range(20_000)))] * 200))
    (folder / "wall.png").write_bytes(_png(60_000, 60_000))
    (folder / "poster.png").write_bytes(_png(9_000, 7_000))
    from openmind_extractors.ocr.engine import as_picture

    for name, page, *_ in scans():
        as_picture(page).save(folder / f"{name}.pdf", "PDF", resolution=160)


def _png(width: int, height: int) -> bytes:
    """Write a white picture: a few kilobytes a gigapixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compressobj(9)
    line = b"\0" + b"\xff" * (width // 8)
    data = b"".join(rows.compress(line) for _ in range(height)) + rows.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def read_hostile() -> None:
    """Index the hostile files, and watch the memory of all processes together."""
    with tempfile.TemporaryDirectory() as kept:
        home, folder = Path(kept, "home"), Path(kept, "files")
        folder.mkdir()
        make_hostile(folder)
        command = [sys.executable, "-c", INDEX, str(home), str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        root, peak_mb = psutil.Process(process.pid), 0.0
        while process.poll() is None:
            try:
                total = sum(each.memory_info().rss for each in (root, *root.children(recursive=True)))
            except psutil.Error:
                continue  # one has just ended
            peak_mb = max(peak_mb, total / 1e6)
            time.sleep(0.03)
        assert process.stdout is not None
        print(f"\nhostile files: {process.stdout.read().strip()}; peak RSS of the tree {peak_mb:.0f} MB", end="")
        print(f" (bar {HOSTILE_BAR_MB:,}){'' if peak_mb <= HOSTILE_BAR_MB else '  above the bar'}")


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time of extractors beside the bare libraries.")
    parser.add_argument("folder", type=Path, nargs="?", help="documents to read; made up when left out")
    parser.add_argument("--ocr", action="store_true", help="also recognise generated scans")
    parser.add_argument("--isolation", action="store_true", help="also read small documents in worker processes")
    parser.add_argument("--hostile", action="store_true", help="only index files that are made to fill memory")
    arguments = parser.parse_args()
    if arguments.hostile:
        read_hostile()
        return
    if arguments.folder:
        compare(arguments.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            make_documents(Path(folder))
            compare(Path(folder))
    if arguments.isolation:
        isolate()
    if arguments.ocr:
        recognise()


if __name__ == "__main__":
    main()
