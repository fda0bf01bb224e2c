"""Shapes that the search for text takes for lines of it: an icon, a bar of a chart, the pattern of a QR code."""

import numpy as np
import numpy.typing as npt

from openmind_extractors.ocr.layout import Line

MIN_LINE_SHAPE = 2.0
"""How many times a line of text is as long as it is high; two letters are."""

STROKES_PER_HEIGHT = 1.5
"""Edges met along a piece of a line that is as long as it is high; of letters 4 and more, whatever the script."""

_STANDS_OUT = 48


def is_shape(pixels: npt.NDArray[np.uint8], line: Line) -> bool:
    """Whether a line of which no word could be read is none.

    Args:
        pixels: of the picture, height × width × channels.
        line: where it stands, with the sign that was read for it, if any.
    """
    width, height = line.right - line.left, line.bottom - line.top
    length, thickness = max(width, height, 1.0), max(min(width, height), 1.0)
    if length < MIN_LINE_SHAPE * thickness:
        return len(line.text) <= 1
    part = pixels[max(int(line.top), 0) : int(line.bottom) + 1, max(int(line.left), 0) : int(line.right) + 1]
    grey = part.mean(axis=2)
    if not grey.size or grey.max() - grey.min() < _STANDS_OUT:
        return False
    ink = grey < (grey.max() + grey.min()) / 2
    edges = np.count_nonzero(np.diff(ink, axis=1 if width >= height else 0), axis=1 if width >= height else 0)
    return bool(edges.max(initial=0) < STROKES_PER_HEIGHT * length / thickness)
