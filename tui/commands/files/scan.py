"""scan."""

import os

from store.scan.report import ScanReport
from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from store.scan.report import ScanFinding, SourceInventory
    from store.scan.saving import SavedTranscripts
    from tui.input.argument_parser import ParsedArguments

TITLES = {
    "secret": "Secrets in clear",
    "contradiction": "Likely contradictions",
    "duplicate": "Duplicates",
    "missing-file": "Files that no longer exist",
    "missing-symbol": "Functions that no longer exist",
    "dead-link": "Links of an index to nothing",
    "bleed": "Memories under another project",
    "instruction": "Instructions to agents",
    "expiring": "Conversations about to be deleted",
}
UNREAD = "Could not be read"
ADVICE = {
    "expiring": "`memoranda scan --save` copies them; `memoranda import claude-code` keeps what was said in a project's"
}


def scan(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.clock import utc_now
    from store.scan.machine_scan import scan as scan_machine
    from store.scan.saving import save as save_transcripts
    from store.services.source_import import machine as this_machine

    folders = [os.path.abspath(os.path.join(session.cwd, os.path.expanduser(one))) for one in given.folder]

    def progress(what: str, done: int, total: int) -> None:
        session.wait(f"Reading {what}: {100 * done // total} %" if total else f"Reading {what}")

    early: list[str] = []

    def first(report: ScanReport) -> None:
        if session.tell is not None and not session.json and not given.md and not given.no_transcripts:
            session.wait("")
            early.extend(_sources(report))
            for line in early:
                session.tell(line)

    try:
        report = scan_machine(
            this_machine(),
            utc_now(),
            session.cwd,
            folders,
            progress,
            first,
            search_transcripts=not given.no_transcripts,
        )
    finally:
        session.wait("")
    status = int(bool(given.check and report.findings) or _all_unread(report))
    if given.md and not session.json:
        return Outcome(document=lambda: _document(report), status=status)
    lines = [*([] if early else _sources(report)), *_findings(report, given.limit), *_starts(report)]
    if not given.save:
        return Outcome(lines=lines, data=report.as_dict, status=status)
    saved = save_transcripts(one.path for one in report.listed("expiring"))
    return Outcome(
        lines=[*lines, "", saved_words(saved)],
        data=lambda: {**report.as_dict(), "saved": saved.as_dict()},
        status=status,
    )


def saved_words(saved: "SavedTranscripts") -> str:
    """Return what was saved, and where, in a sentence."""
    from tui.theme.escape import visible

    if not (saved.new or saved.before or saved.troubles):
        return "No conversation is about to be deleted."
    said = f"Saved {count(len(saved.new), 'conversation')} to {visible(saved.folder)}, without secrets"
    were = "was" if saved.before == 1 else "were"
    said += f"; {saved.before:,} {were} saved before" if saved.before else ""
    said += (
        f"; {count(len(saved.troubles), 'one')} could not be saved: {saved.troubles[0].why}" if saved.troubles else ""
    )
    return f"{said}."


def source_words(one: "SourceInventory") -> str:
    """Return what a tool keeps, in numbers."""
    parts = [f"{one.memories:,} {'memory' if one.memories == 1 else 'memories'}"] if one.memories else []
    if one.old:
        parts.append(f"{one.old:,} older than half a year")
    if one.documents:
        parts.append(count(one.documents, "document"))
    if one.conversations:
        size = f", {one.bytes / 1_000_000:,.1f} MB" if one.bytes else ""
        parts.append(count(one.conversations, "conversation") + size)
    if one.unread:
        parts.append(f"{count(one.unread, 'part')} cannot be read")
    return "; ".join(parts) or "nothing"


def _all_unread(report: ScanReport) -> bool:
    """Return whether nothing of what was found could be read."""
    held = any(one.memories or one.documents or one.conversations for one in report.sources)
    return bool(report.troubles) and not held


def _sources(report: ScanReport) -> list[str]:
    from tui.theme.escape import visible

    if not report.sources:
        return ["No memory of another tool was found on this machine."]
    lines = []
    for one in report.sources:
        where = visible(one.places[0]) + (f" and {len(one.places) - 1} more" if len(one.places) > 1 else "")
        lines.append(f"{one.title:<18}  {source_words(one)}  ({where})")
    return lines


def _findings(report: ScanReport, limit: int) -> list[str]:
    nothing = "Nothing could be read." if _all_unread(report) else "Nothing is wrong with what was read."
    lines = ["", nothing] if report.troubles and not report.findings else []
    if not report.findings and not report.troubles:
        return ["", "Nothing is wrong with them."] if report.sources else []
    for kind, title in TITLES.items():
        several = [one for one in report.findings if one.kind == kind]
        if several:
            lines += ["", f"{title}: {len(several):,}", *(f"  {_line(one)}" for one in several[:limit])]
            if kind in ADVICE:
                lines.append(f"  {ADVICE[kind]}")
            if len(several) > limit:
                lines.append(f"  … and {len(several) - limit:,} more; --limit shows them")
    return [*lines, *_unread(report, limit)]


def _unread(report: ScanReport, limit: int) -> list[str]:
    from tui.theme.escape import visible

    unread = len(report.troubles)
    if not unread:
        return []
    lines = ["", f"{UNREAD}: {unread:,}"]
    for one in report.troubles[:limit]:
        lines.append(f"  {visible(one.path)}{f':{one.line}' if one.line else ''}  {one.why}")
    lines += [f"  … and {unread - limit:,} more; --limit shows them"] if unread > limit else []
    shut = any(one.why == "permission denied" for one in report.troubles)
    return [*lines, *(["  Look at the permissions of these, and of the folders above them."] if shut else [])]


def _line(one: "ScanFinding") -> str:
    from store.database.values import clean as clean_text
    from tui.theme.escape import visible

    other = f" ({visible(one.other)})" if one.other else ""
    return f"{visible(one.path)}:{one.line}  {visible(clean_text(one.says))}{other}"


def _starts(report: ScanReport) -> list[str]:
    from store.scan.report import PRICE as SCAN_PRICE
    from store.scan.report import dollars as scan_dollars
    from tui.theme.escape import visible

    if not report.starts:
        return []
    lines = ["", "Loaded at each start:"]
    for start in report.starts:
        sums = ", ".join(f"{agent} {tokens:,} tokens" for agent, tokens in start.tokens.items())
        lines.append(f"  {visible(start.folder)}: {sums}")
        lines += [
            f"    {layer.tokens:>7,}  {visible(layer.path)}"
            + (f", imported by {visible(layer.by)}" if layer.by else "")
            for layer in start.layers
        ]
    month = sum(start.month for start in report.starts)
    if month:
        lines.append(
            f"  In 30 days Claude Code loaded some {month:,} tokens of these, {scan_dollars(month):,.2f} dollars at"
            f" {SCAN_PRICE:g} dollars a million."
        )
    return lines


def _document(report: ScanReport) -> "Generator[str, None, None]":
    """Yield the report as Markdown, with every finding."""
    yield "# Memories on this machine\n\n"
    for line in _sources(report):
        yield f"- {line}\n"
    for kind, title in TITLES.items():
        several = [one for one in report.findings if one.kind == kind]
        if several:
            yield f"\n## {title} ({len(several):,})\n\n"
            yield from (f"- {_line(one)}\n" for one in several)
    unread = [line.strip() for line in _unread(report, len(report.troubles))[2:]]
    if unread:
        yield f"\n## {UNREAD} ({len(unread):,})\n\n"
        yield from (f"- {line}\n" for line in unread)
    starts = [line.strip() for line in _starts(report)[2:]]
    if starts:
        yield "\n## Loaded at each start\n\n"
        yield from (f"- {line}\n" for line in starts)
