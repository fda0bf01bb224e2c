"""Pictures: what their file says of them, and the text that can be read on them.

A description of what a picture shows comes from a model, which no isolated process may reach. So a small copy is handed
out, and whoever asked for it has it described: the parent never decodes a picture.
"""

import struct
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO

from attrs import evolve, frozen
from openmind.domain.documents import DocumentFacts, Picture, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.recognition import MISSED
from openmind.plugins.registries import ExtractionTools
from openmind.ports.extractor import Blob
from openmind.ports.ocr_engine import PageImage
from PIL import Image, ImageOps, ImageSequence

from openmind_extractors.image_metadata import read_metadata, searchable, shortened, title_of
from openmind_extractors.limits import divided
from openmind_extractors.losses import Losses
from openmind_extractors.ocr.engine import Recognition, as_picture, is_blank
from openmind_extractors.reading import read_start
from openmind_extractors.sniffing import SNIFF_BYTES, FileKind, sniff

MAX_PIXELS = 64_000_000
"""Cameras make up to 60 megapixels; what claims more is made to fill memory."""

MAX_DECODED_BYTES = 160_000_000
"""Memory for the pixels of one picture, beside a recognition engine that needs half a gigabyte. Of a larger picture
only what its file says is kept."""

MAX_FRAMES = 50
"""Pages of a TIFF that are read; of an animation it is the first picture."""

READ_PIXELS = 12_000_000
"""Larger pictures are made smaller before text is read on them: recognition does so anyway."""

_LIGHTEST_INK = 207
"""Of 255; what is lighter is not seen on white paper."""

MIN_READ_SIDE = 24
"""No letter fits on less."""

MIN_SHOWN_SIDE = 32
"""What is smaller is an icon, a line or a spot: there is nothing to describe."""

MAX_SHOWN_SIDE = 1_024
"""Of the copy that a model sees. Many models see no more; with others a larger one would fill the window."""

SHOWN_QUALITY = 85

FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "DIB", "TIFF", "GIF", "AVIF")
"""Named, so that no other decoder of Pillow is tried: some start programs."""

_ONE_BYTE_MODES = frozenset({"1", "L", "P"})
_DEEP_MODES = frozenset({"I", "F", "I;16", "I;16B", "I;16L", "I;16N"})

_FAILURES = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What Pillow raises for a broken file."""


@frozen
class ImageExtractor:
    """Reads pictures."""

    tools: ExtractionTools

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts | Picture]:
        """Yield what the file says, a copy for the model that describes pictures, the text of each page, the facts."""
        if sniff(read_start(blob, SNIFF_BYTES)) is FileKind.HEIC:
            raise ExtractionFailed(
                "HEIC pictures are not read",
                reason=FileReason.UNSUPPORTED,
                hint="Save a copy as JPEG or PNG. An iPhone takes JPEG: Settings › Camera › Formats › Most Compatible.",
            )
        recognition = Recognition(self.tools)
        wants_text = self.tools.ocr is not None and self.tools.config.images.ocr_enabled
        with _open(blob) as image:
            fits = _fits(image)
            keep_gps = self.tools.config.images.keep_gps
            losses = Losses()
            told = read_metadata(image, losses, size_bytes=_size(blob), keep_gps=keep_gps, may_decode=fits)
            metadata = {key: shortened(value) for key, value in told.items()}
            frames = min(getattr(image, "n_frames", 1), MAX_FRAMES + 1) if image.format == "TIFF" else 1
            first = _pixels(image) if fits else None
            yield DocumentFacts(title=title_of(metadata), metadata=metadata)
            for part in divided(searchable(told, frames=frames)):
                yield Segment(text=part, locator=(Place(kind="part", label="metadata"),))
            if first is not None and self.tools.config.images.model and _shows_something(first):
                yield _copy(first)
            missed = not wants_text and first is not None and _may_hold_text(first)
            unread = int(missed and self.tools.config.images.ocr_enabled)  # else a person said that nothing is missing
            for number, page in _pages(image, first, frames, losses) if wants_text else ():
                if not _may_hold_text(page):
                    continue
                text = recognition.read(evolve(page, page=number, pages=frames) if frames > 1 else page)
                unread += text is None
                if text:
                    yield Segment(text=text, locator=(Place(kind="page", start=number),) if frames > 1 else ())
                else:
                    yield DocumentFacts(title=title_of(metadata), metadata=metadata)  # a sign of life
        if missed or (unread and not recognition.is_wanted):
            metadata[MISSED] = True
        facts = _facts(metadata, recognition, frames=frames, unread=unread, fits=fits)
        yield losses.told(facts) if facts.reason is not FileReason.NEEDS_OCR else facts


def _may_hold_text(page: PageImage) -> bool:
    return min(page.width, page.height) >= MIN_READ_SIDE and not is_blank(page)


def _shows_something(page: PageImage) -> bool:
    if min(page.width, page.height) < MIN_SHOWN_SIDE:
        return False
    low, high = as_picture(page).convert("L").getextrema()
    return low != high


def _copy(page: PageImage) -> Picture:
    """Make a small copy without anything but its pixels: no place, no camera, no name."""
    picture = as_picture(page)
    picture.thumbnail((MAX_SHOWN_SIDE, MAX_SHOWN_SIDE))
    packed = BytesIO()
    picture.save(packed, "JPEG", quality=SHOWN_QUALITY)
    return Picture(data=packed.getvalue(), media_type="image/jpeg")


def _pages(image: Image.Image, first: PageImage | None, frames: int, losses: Losses) -> Iterable[tuple[int, PageImage]]:
    """Return the pages of a picture, which mostly has one, with their numbers."""
    if first is None:
        return ()
    return ((1, first),) if frames == 1 else _frames(image, losses)


def _facts(
    metadata: dict[str, object], recognition: Recognition, *, frames: int, unread: int, fits: bool
) -> DocumentFacts:
    """Sum up what was read how, and what is missing."""
    used = recognition.pages > 0
    told = {
        **metadata,
        "extraction_method": "metadata+ocr" if used else "metadata",
        "image_ocr_used": used,
        "page_count": min(frames, MAX_FRAMES),
        **recognition.metadata(),
    }
    notes = []
    if not fits:
        notes.append("the picture is too large for its text to be read")
    if frames > MAX_FRAMES:
        notes.append(f"only the first {MAX_FRAMES} pages were read")
    if recognition.doubtful:
        notes.append(recognition.warnings[0])
    if unread:
        notes.append(f"text on the picture was not recognised: {recognition.error or 'text recognition is off'}")
    reason = FileReason.PARTIAL if notes else FileReason.OK
    if unread and not used:
        reason = FileReason.NEEDS_OCR
    return DocumentFacts(title=title_of(metadata), metadata=told, reason=reason, note="; ".join(notes))


def _size(blob: Blob) -> int:
    if blob.data is not None:
        return len(blob.data)
    assert blob.path is not None
    return blob.path.stat().st_size


@contextmanager
def _open(blob: Blob) -> Iterator[Image.Image]:
    """Open a picture whose size was checked before a pixel is decoded.

    Raises:
        ExtractionFailed: it is too large, or broken.
    """
    source = BytesIO(blob.data) if blob.data is not None else blob.path
    assert source is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of every oddity
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(source, formats=FORMATS) as image:
                _check(image)
                yield image
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise _too_large() from error
        except _FAILURES as error:
            raise ExtractionFailed("the picture is broken, cut off, or of a kind that is not known") from error


def _too_large() -> ExtractionFailed:
    message = f"the picture has more than {MAX_PIXELS // 1_000_000} megapixels"
    return ExtractionFailed(message, reason=FileReason.TOO_BIG)


def _check(image: Image.Image) -> None:
    pixels = image.width * image.height
    if pixels > MAX_PIXELS:
        raise _too_large()
    if image.format == "JPEG" and pixels > READ_PIXELS:
        image.draft("RGB", (2_400, 2_400))  # decodes at half or a quarter of the size


def _fits(image: Image.Image) -> bool:
    """Whether the decoded pixels fit in memory; of deep values several copies are needed."""
    size = 1 if image.mode in _ONE_BYTE_MODES else 12 if image.mode in _DEEP_MODES else 4
    return image.width * image.height * size <= MAX_DECODED_BYTES


def _frames(image: Image.Image, losses: Losses) -> Iterator[tuple[int, PageImage]]:
    """Decode the pages of a TIFF one after the other."""
    for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
        if number > MAX_FRAMES:
            return
        if frame.width * frame.height <= MAX_PIXELS and _fits(frame):
            yield number, _pixels(frame)
        else:
            losses.add(f"page {number} is too large for its text to be read")


def _pixels(image: Image.Image) -> PageImage:
    """Decode a picture into what recognition reads: upright, 8 bits, on white."""
    image.load()
    picture = _shrunk(_eight_bit(image))
    picture = _on_paper(ImageOps.exif_transpose(picture))
    picture = picture if picture.mode in {"L", "RGB"} else picture.convert("RGB")
    channels = 1 if picture.mode == "L" else 3
    return PageImage(pixels=picture.tobytes(), width=picture.width, height=picture.height, channels=channels)


def _eight_bit(image: Image.Image) -> Image.Image:
    """Scale deep grey values; a plain conversion would clip them to white."""
    if image.mode in _DEEP_MODES:
        deep = image.convert("F")
        low, high = deep.getextrema()
        assert isinstance(low, float)
        assert isinstance(high, float)
        scale = 255 / (high - low) if high > low else 0
        return deep.point(lambda value: value * scale + (-low * scale)).convert("L")
    if image.mode == "LAB":
        return image.getchannel(0)
    return image.convert("L") if image.mode == "1" else image


def _shrunk(image: Image.Image) -> Image.Image:
    pixels = image.width * image.height
    if pixels <= READ_PIXELS:
        return image
    if image.mode in {"P", "PA"}:
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    factor = 2
    while pixels > READ_PIXELS * factor * factor:
        factor += 1
    return image.reduce(factor)


def _on_paper(image: Image.Image) -> Image.Image:
    """Put a picture with see-through parts on white paper, or on black where nothing of it would show on white."""
    if image.mode not in {"RGBA", "LA", "PA", "RGBa", "La"} and "transparency" not in image.info:
        return image
    picture = image.convert("RGBA")
    laid = [Image.new("RGBA", picture.size, paper) for paper in ("white", "black")]
    for paper in laid:
        paper.alpha_composite(picture)
    on_white, on_black = (paper.convert("RGB") for paper in laid)
    darkest, _ = on_white.convert("L").getextrema()
    return on_black if isinstance(darkest, int) and darkest > _LIGHTEST_INK else on_white
