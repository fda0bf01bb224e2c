"""What upkeep would do, did, and found."""

from collections.abc import Iterable, Iterator

from openmind.domain.archives import ExportReport, ImportReport, Manifest
from openmind.domain.checkup import Checkup, Finding, Repair
from openmind.domain.contract import Object
from openmind.domain.coverage import Amount, SourceCoverage
from openmind.domain.files import FileReason
from openmind.domain.jobs import IndexJob, JobState
from openmind.domain.sentences import as_sentence
from openmind.domain.upkeep import FlushPlan, HomeContents, PackagePlan, UninstallPlan

from openmind_cli.render.amounts import count, size
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import BLANK, Line, Span, line
from openmind_cli.render.unread import summary

WIDTH = 17
SHOWN = 20


# flush


def flush_lines(plan: FlushPlan) -> Iterator[Line]:
    """What a flush would delete, and what stays."""
    yield _pair("home", plan.home)
    yield line(Span("To be deleted:", "bold"))
    yield line(
        f"what is remembered of {count(plan.files, 'file')}, {plan.indexed_files:,} of them searchable", indent=2
    )
    yield line(f"{count(plan.chunks, 'passage')} with text and vectors, {size(plan.disk_bytes)} on disk", indent=2)
    yield line(f"the history: {count(plan.jobs, 'job')}, {count(plan.runs, 'run')}", indent=2)
    yield line(count(len(plan.logs), "log"), indent=2)
    if plan.sources and plan.include_sources:
        yield line(f"the records of {count(plan.sources, 'source')}", indent=2)
    yield line(Span("To be kept:", "bold"))
    if plan.sources and not plan.include_sources:
        yield line(f"the records of {count(plan.sources, 'source')}", indent=2)
    yield line("your settings, and every file in your own folders", indent=2)
    if plan.active_job is not None:
        yield line(_stopped_first(plan.active_job))


def _stopped_first(job: IndexJob) -> str:
    doing = "is paused and" if job.state is JobState.PAUSED else "is under way and"
    return f"The background job {job.id} {doing} would be stopped first."


def flush_object(plan: FlushPlan, *, done: bool) -> Object:
    """The plan, and whether it was carried out."""
    return {
        "home": plan.home,
        "done": done,
        "sources": plan.sources,
        "sources_deleted": plan.include_sources,
        "files": plan.files,
        "indexed_files": plan.indexed_files,
        "chunks": plan.chunks,
        "jobs": plan.jobs,
        "runs": plan.runs,
        "logs": [entry.path for entry in plan.logs],
        "disk_bytes": plan.disk_bytes,
        "active_job": plan.active_job.id if plan.active_job else None,
        "user_files_deleted": False,
    }


# uninstall


def uninstall_lines(plan: UninstallPlan) -> Iterator[Line]:
    """What uninstalling would delete, and what stays."""
    yield _pair("home", plan.home)
    if plan.exists:
        yield from _contents(plan.contents)
    else:
        yield line("There is no such folder, so there is nothing in it to delete.")
    yield line(Span("To be kept:", "bold"))
    yield line("every file in your own folders, model servers and their models", indent=2)
    yield from _strangers(plan.contents)
    if plan.active_job is not None:
        yield line(_stopped_first(plan.active_job))
    if plan.server:
        yield line(Span("note: ", "bold yellow"), one_line(f"It is served {plan.server}: end that server first."))
    if plan.unread:
        yield line(Span("note: ", "bold yellow"), one_line(f"The catalog cannot be read: {plan.unread}"))
    yield from _packages(plan)


def _contents(contents: HomeContents) -> Iterator[Line]:
    yield line(Span(f"To be deleted ({size(contents.size_bytes)}):", "bold"))
    for entry in contents.own:
        yield line(one_line(entry.path), indent=2)
    for path in contents.links:
        yield line(one_line(f"{path} (the link, not what it leads to)"), indent=2)


def _strangers(contents: HomeContents) -> Iterator[Line]:
    for path in contents.strangers[:SHOWN]:
        yield line(one_line(f"{path} (not made by OpenMind)"), indent=2)
    if len(contents.strangers) > SHOWN:
        yield line(f"and {len(contents.strangers) - SHOWN:,} more that OpenMind did not make", indent=2)


def _packages(plan: UninstallPlan) -> Iterator[Line]:
    packages = plan.packages
    if plan.remove_packages:
        yield line(
            Span("The packages would be removed: ", "bold"),
            f"{', '.join(packages.names)} from {one_line(packages.place)}, by {packages.kind}",
        )
    else:
        yield line(Span("The packages stay. ", "bold"), "To remove them as well:")
        for command in packages.commands:
            yield line(one_line(command_text(command)), indent=2)


def command_text(command: Iterable[str]) -> str:
    """A command as it is typed."""
    return " ".join(f'"{part}"' if " " in part else part for part in command)


def farewell_lines(plan: UninstallPlan, left: HomeContents) -> Iterator[Line]:
    """What was done, and what is still to do."""
    if plan.exists:
        yield line(f"Deleted OpenMind's data in {one_line(plan.home)}.")
    if left.strangers != plan.contents.strangers:  # those of the plan were shown with it
        yield line("These were not made by OpenMind and stay:")
        yield from _strangers(left)
    if plan.remove_packages:
        yield line(f"Removed {', '.join(plan.packages.names)}.")
    elif plan.packages.commands:
        how = "command above removes" if len(plan.packages.commands) == 1 else "commands above remove"
        yield line(f"The packages are still installed; the {how} them.")


def uninstall_object(plan: UninstallPlan, *, done: bool) -> Object:
    """The plan, and whether it was carried out."""
    return {
        "home": plan.home,
        "exists": plan.exists,
        "done": done,
        "deleted": [entry.path for entry in plan.contents.own] + list(plan.contents.links),
        "bytes": plan.contents.size_bytes,
        "kept": list(plan.contents.strangers),
        "packages_deleted": plan.remove_packages,
        "packages": _package_object(plan.packages),
        "active_job": plan.active_job.id if plan.active_job else None,
        "server": plan.server or None,
        "user_files_deleted": False,
    }


def _package_object(plan: PackagePlan) -> Object:
    return {
        "names": list(plan.names),
        "kind": plan.kind,
        "place": plan.place,
        "commands": [list(command) for command in plan.commands],
    }


# export and import


def manifest_object(manifest: Manifest) -> Object:
    """What is in an archive."""
    embedder = manifest.identity.embedder if manifest.identity else None
    return {
        "written_by": manifest.written_by,
        "created_at": manifest.created_at,
        "embedding_model": embedder.model if embedder else None,
        "sources": manifest.sources,
        "files": manifest.files,
        "texts": manifest.texts,
        "chunks": manifest.passages,
    }


def export_object(report: ExportReport) -> Object:
    """What was written to an archive."""
    return {**manifest_object(report.manifest), "damaged_files": list(report.damaged_files)}


def damaged_lines(report: ExportReport) -> Iterator[Line]:
    """What an archive lacks, and what can be done about it; nothing when it is whole."""
    damaged = report.damaged_files
    if not damaged:
        return
    yield line(f"Left out what is damaged of {count(len(damaged), 'file')}:")
    yield from (line(f"  {one_line(path)}") for path in damaged[:SHOWN])
    if len(damaged) > SHOWN:
        yield line(f"  and {len(damaged) - SHOWN:,} more; --json names them all")
    yield line("`openmind index` mends this memory; export it again after that. The archive can be imported as it is.")


def import_object(report: ImportReport) -> Object:
    """What was read from an archive."""
    return {
        **manifest_object(report.manifest),
        "files_read": report.files,
        "chunks_read": report.passages,
        "disabled_sources": list(report.disabled_sources),
    }


# doctor


def checkup_lines(checkup: Checkup) -> Iterator[Line]:
    """Facts, then what is wrong and what can be done about it."""
    for name, value in checkup.facts:
        yield _pair(name, value)
    yield BLANK
    if checkup.is_sound:
        yield line(Span("Everything is as it should be.", "bold green"))
        return
    if checkup.unexamined:
        yield line(Span("not looked at: ", "bold yellow"), one_line(as_sentence(checkup.unexamined)), wraps=True)
    for finding in checkup.findings:
        yield from _finding(finding)
    repairable = sum(1 for finding in checkup.findings if finding.repair)
    if repairable:
        yield BLANK
        yield line(
            f"`openmind doctor --repair` mends {count(repairable, 'finding')}; no file of yours is read for that."
        )


def repair_lines(repair: Repair) -> Iterator[Line]:
    """What was mended, and what is left."""
    for sentence in repair.done:
        yield line(Span("mended: ", "bold green"), one_line(sentence), wraps=True)
    for finding in repair.left:
        yield from _finding(finding)
    if not repair.done and not repair.left:
        yield line("There was nothing to mend.")


def _finding(finding: Finding) -> Iterator[Line]:
    yield line(Span("wrong: ", "bold red"), one_line(as_sentence(finding.message)), wraps=True)
    if finding.repair:
        yield line(f"--repair {one_line(finding.repair)}.", indent=2, wraps=True)
    if finding.hint:
        yield line(one_line(finding.hint), indent=2, wraps=True)


def checkup_object(checkup: Checkup) -> Object:
    """A checkup for programs."""
    return {
        "sound": checkup.is_sound,
        "not_examined": checkup.unexamined or None,
        "facts": dict(checkup.facts),
        "findings": _findings(checkup.findings),
    }


def repair_object(repair: Repair) -> Object:
    """A repair for programs."""
    return {"done": list(repair.done), "left": _findings(repair.left)}


def _findings(found: Iterable[Finding]) -> list[Object]:
    return [
        {"code": each.code, "message": each.message, "repair": each.repair or None, "hint": each.hint or None}
        for each in found
    ]


# coverage


def coverage_lines(coverage: SourceCoverage) -> Iterator[Line]:
    """How much of a source can be found, and why the rest cannot."""
    total = coverage.total
    yield line(Span(one_line(coverage.path), "bold"), _note(coverage))
    if not coverage.enabled:
        return
    yield _amount("searchable", coverage.searchable, total)
    if coverage.in_part:
        yield line(f"{coverage.in_part:,} of them in part only", indent=4 + WIDTH)
    yield from _some("changed since", coverage.stale, total)
    yield from _some("not read yet", coverage.new, total)
    for reason, amount in sorted(coverage.unreadable.items()):
        yield _amount(FileReason(reason).words, amount, total)
        if reason == FileReason.UNSUPPORTED and coverage.unread_kinds:
            yield line(summary(coverage.unread_kinds), indent=2 + WIDTH)
    yield from _some("gone or left out", coverage.gone, None)
    for obstacle in coverage.obstacles[:SHOWN]:
        yield line(one_line(obstacle), indent=4)


def _note(coverage: SourceCoverage) -> str:
    if not coverage.enabled:
        return f" (disabled: neither read nor searched; `openmind source set {coverage.source_id} --enable`)"
    return "" if coverage.present else " (not there now)"


def coverage_object(coverage: SourceCoverage) -> Object:
    """The same for programs."""
    return {
        "source_id": coverage.source_id,
        "source_path": coverage.path,
        "present": coverage.present,
        "enabled": coverage.enabled,
        "searchable": _amount_object(coverage.searchable),
        "in_part": coverage.in_part,
        "stale": _amount_object(coverage.stale),
        "new": _amount_object(coverage.new),
        "not_searchable": {reason: _amount_object(amount) for reason, amount in coverage.unreadable.items()},
        "unread_kinds": dict(coverage.unread_kinds),
        "gone": _amount_object(coverage.gone),
        "obstacles": list(coverage.obstacles),
    }


def _amount_object(amount: Amount) -> Object:
    return {"files": amount.files, "bytes": amount.size_bytes}


def _some(name: str, amount: Amount, total: Amount | None) -> Iterator[Line]:
    if amount.files:
        yield _amount(name, amount, total)


def _amount(name: str, amount: Amount, total: Amount | None) -> Line:
    share = f" ({100 * amount.files / total.files:.0f} %)" if total is not None and total.files else ""
    return line(
        Span(f"{name:<{WIDTH}}", "dim"), f"{count(amount.files, 'file')}{share}, {size(amount.size_bytes)}", indent=2
    )


def _pair(name: str, value: str) -> Line:
    return line(Span(f"{name:<{WIDTH}}", "dim"), one_line(value))
