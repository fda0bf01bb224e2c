"""`openmind search`."""

from collections.abc import Collection, Iterator

from openmind import OpenMind, open_memory
from openmind.domain.errors import UsageError
from openmind.domain.search import DEFAULT_LIMIT, DEFAULT_PER_FILE, SearchResult, SearchState, how_to_begin

from openmind_cli.empty_filters import empty_filters, resolved
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json, Moment, PerFile, SearchLimit, Several, Switch
from openmind_cli.render.hits import print_result
from openmind_cli.render.jobs import under_way_notice, unread_notice
from openmind_cli.render.lines import note
from openmind_cli.render.objects import print_object
from openmind_cli.sources import disabled_notice, find_source


def search(
    *query: str,
    limit: SearchLimit = DEFAULT_LIMIT,
    source: Several = (),
    folder: str | None = None,
    ext: Several = (),
    after: Moment | None = None,
    before: Moment | None = None,
    per_file: PerFile = DEFAULT_PER_FILE,
    explain: Switch = False,
    json: Json = False,
) -> int:
    """Find passages by meaning and by words.

    Parameters
    ----------
    query
        What to look for, in your own words; "double quotes" inside it look for a phrase.
    limit
        How many passages to show, best first; 1 to 50.
    source
        Only in this source, by its id or path; may be given several times.
    folder
        Only in files below this folder.
    ext
        Only in files with this extension, such as md or md,txt; may be given several times.
    after
        Only in files changed at or after this time, such as 2026-01-31.
    before
        Only in files changed before this time.
    per_file
        How many passages of one file to show at most; 0 sets no limit.
    explain
        Say why each passage stands where it does.
    """
    with open_memory(create=False) as memory:
        result = memory.search(
            " ".join(query),
            limit=limit,
            sources=tuple(find_source(memory, named) for named in source),
            folder=folder and resolved(folder),
            extensions=extensions(ext),
            modified_after=after,
            modified_before=before,
            per_file=per_file,
        )
        empty = empty_filters(memory, result, folder=folder, extensions=extensions(ext))
        notices = list(what_was_not_searched(memory, result))
    if json:
        from openmind.domain.contract import search_object  # a person reads no objects

        print_object({**search_object(result, explain=explain), "notices": [*empty, *notices]})
    else:
        for sentence in empty:  # the reason comes before what is to be done
            note(sentence)
        print_result(result, explain=explain)
        for notice in notices:
            note(notice)
    return FAILED if result.state is SearchState.UNREADABLE else OK


def what_was_not_searched(memory: OpenMind, result: SearchResult) -> Iterator[str]:
    """What a person should know who misses something among the hits."""
    if result.state is SearchState.NOTHING_INDEXED:
        yield how_to_begin(memory.sources.list())
    if trouble := memory.trouble():
        yield trouble
    if more_to_come := under_way_notice(memory.jobs.latest()):
        yield more_to_come
    elif unread := unread_notice(memory.jobs.last_run()):
        yield unread
    if result.state is not SearchState.OK:
        yield from (disabled_notice(each) for each in memory.sources.list() if not each.enabled)


def extensions(given: Collection[str]) -> tuple[str, ...]:
    """Extensions as the catalog has them: `PDF`, `.pdf` and `md,txt` are all understood.

    Raises:
        UsageError: extensions were given, and all of them are empty.
    """
    names = (name.strip().lower().lstrip(".") for text in given for name in text.split(","))
    found = tuple(f".{name}" for name in names if name)
    if given and not found:
        raise UsageError("--ext was given without an extension", hint="Name one, such as md, or leave --ext out.")
    return found
