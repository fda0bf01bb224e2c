"""The conditions of a search as SQL: the only language in which Lance takes a filter."""

from collections.abc import Collection, Iterable

from openmind.domain.chunks import ChunkKey
from openmind.domain.ids import Generation
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import ChunkFilter

NOTHING = "false"
LISTED = 50
"""Generations of a range that are named one by one. A range costs a search 0.4 ms, a name 0.007 ms."""


def quote(text: str) -> str:
    """Write text as a string of SQL. It has no escapes but the doubled quote, and no half characters."""
    return "'" + text.encode(errors="replace").decode().replace("'", "''") + "'"


def quoted(texts: Iterable[str]) -> str:
    return ", ".join(quote(text) for text in sorted(set(texts)))


def numbers(values: Iterable[int]) -> str:
    return ", ".join(str(int(value)) for value in sorted(set(values)))


def matching(wanted: ChunkFilter, *, bounded: bool = True) -> str:
    """Say which rows take part in a search; empty when all do. The keys are the view's business: it knows their rows.

    Args:
        wanted: what is wanted.
        bounded: whether there may be rows of newer generations than may be seen.
    """
    if wanted.source_ids is not None and not wanted.source_ids:
        return NOTHING
    conditions = [newer_left_out(wanted.visible)] if bounded else []
    conditions += alive(wanted.visible)
    if wanted.source_ids is not None:
        conditions.append(f"source_id IN ({quoted(wanted.source_ids)})")
    if wanted.extensions:
        conditions.append(f"extension IN ({quoted(wanted.extensions)})")
    if wanted.path_prefix:
        conditions.append(f"starts_with(path, {quote(wanted.path_prefix)})")
    if wanted.modified_after is not None:
        conditions.append(f"modified_at >= {float(wanted.modified_after)!r}")
    if wanted.modified_before is not None:
        conditions.append(f"modified_at <= {float(wanted.modified_before)!r}")
    if wanted.without_files:
        conditions.append(f"file_id NOT IN ({quoted(wanted.without_files)})")
    return " AND ".join(conditions)


def newer_left_out(visibility: Visibility) -> str:
    return f"generation <= {int(visibility.newest)}"


def newer(visibility: Visibility) -> str:
    return f"generation > {int(visibility.newest)}"


def alive(visibility: Visibility) -> list[str]:
    """Leave out dead generations: short ranges one by one, since each range is looked up in the index by itself."""
    listed = [
        generation for first, last in visibility.dead if is_short(first, last) for generation in span(first, last)
    ]
    conditions = [f"generation NOT IN ({numbers(listed)})"] if listed else []
    conditions += [
        f"NOT (generation BETWEEN {int(first)} AND {int(last)})"
        for first, last in visibility.dead
        if not is_short(first, last)
    ]
    return conditions


def is_short(first: Generation, last: Generation) -> bool:
    return last - first < LISTED


def span(first: Generation, last: Generation) -> range:
    return range(int(first), int(last) + 1)


def of_rows(row_ids: Iterable[int]) -> str:
    named = numbers(row_ids)
    return f"_rowid IN ({named})" if named else NOTHING


def of_generations(generations: Iterable[Generation]) -> str:
    return f"generation IN ({numbers(generations)})"


def of_keys(keys: Collection[ChunkKey]) -> str:
    """Say which rows may be meant by keys; it lets a few more through, which the caller leaves out."""
    return f"{of_generations(key.generation for key in keys)} AND chunk_index IN ({numbers(key.index for key in keys)})"
