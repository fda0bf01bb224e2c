"""Numbers, sizes and times as a person reads them."""

from datetime import datetime


def count(number: int, one: str, many: str = "") -> str:
    """`1 file`, `1,200 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """Bytes in the unit that keeps them short."""
    if number < 1_000:
        return f"{number} B"
    amount = float(number)
    for unit in ("kB", "MB", "GB"):
        amount /= 1_000
        if amount < 999.95:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1_000:.1f} TB"


def duration(seconds: float) -> str:
    """A stretch of time, roughly."""
    if 0 < seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60:02} min"


def moment(text: str) -> str:
    """An ISO 8601 time in the person's own zone; text that is none stays as it is."""
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return text


def between(start: str, end: str) -> float | None:
    """Seconds between two ISO 8601 times; None where one is no time."""
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError):
        return None
