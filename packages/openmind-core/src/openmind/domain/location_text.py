"""A place within a document in the words that people use for it."""

from itertools import groupby

from openmind.domain.documents import Locator, Place
from openmind.domain.search import SearchHit


def location_text(locator: Locator) -> str:
    """Say where a passage stands: `p. 12 › Methods`, `lines 40–52`; what is called like the place around it, once."""
    return " › ".join(name for name, _ in groupby(map(_place_text, locator)) if name)


def title_and_location(hit: SearchHit) -> str:
    """Say what a hit is shown under: its place, and before it the title unless that is the first heading."""
    place = location_text(hit.locator)
    title = "" if place.startswith(hit.title) else hit.title
    return " · ".join(part for part in (title, place) if part)


def lines_of_file(locator: Locator) -> Place | None:
    """Return the place that counts lines of the file itself; None where there is none, or lines of a part of it."""
    if not locator or locator[-1].kind not in {"line", "lines"} or locator[-1].start is None:
        return None
    return locator[-1] if all(place.kind == "heading" for place in locator[:-1]) else None


def _place_text(place: Place) -> str:
    match place.kind:
        case "page":
            if place.label and place.label != str(place.start):
                return f"p. {place.label} ({place.start})" if place.start is not None else f"p. {place.label}"
            return _numbered(place, "p.", "pp.")
        case "heading":
            return place.label
        case "sheet":
            return place.label or _numbered(place, "sheet", "sheets")
        case "line" | "lines":
            return _numbered(place, "line", "lines")
        case "row" | "rows":
            return _numbered(place, "row", "rows")
        case kind:
            one = kind.removesuffix("s")
            return place.label or _numbered(place, one, f"{one}s")


def _numbered(place: Place, one: str, many: str) -> str:
    if place.start is None:
        return ""
    if place.end is None or place.end == place.start:
        return f"{one} {place.start}"
    return f"{many} {place.start}–{place.end}"
