"""export, import, backup."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import asdict

from store.base.citations import cite
from store.base.errors import Conflict, Declined, ExitStatus, InvalidInput, NotFound
from store.base.extensions import require_part
from store.base.vocabulary import EXPORT_FORMS, SOURCE_NAMES
from store.exchange.backups import (
    backup_folder,
    find_backup_step,
    find_backups,
    make_backup,
    save_backup_as,
    verify_backup,
)
from store.exchange.exporter import export_folder, export_markdown, export_text, save_export
from store.exchange.importer import Import
from store.history.restore_plan import select_changes
from store.upkeep.session_flush import summarize_ended_sessions
from tui.commands.call import Outcome, Session, absolute_path
from tui.commands.history import dry_run_outcome
from tui.commands.record_lines import shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import cuts_words, format_count

IMPORT_WORDS = {
    "new": "new",
    "same": "the same",
    "changed": "to be changed",
    "differ": "different",
    "left": "left out",
}


def _file_path(session: Session, text: str) -> str:
    """Return the absolute path of a typed file name. Raise InvalidInput for `-`."""
    if text == "-":
        raise InvalidInput("- is the name of no file here.", "Name a file; export without one prints.")
    return absolute_path(session, text)


def may_replace(session: Session, given: ParsedArguments, path: str) -> bool:
    """Return whether an existing file may be overwritten. Raises Declined."""
    if given.yes or not os.path.lexists(path):
        return bool(given.yes)
    if not session.ask(f"{path} is there already. Replace it?"):
        raise Declined("Nothing was written.")
    return True


# export


def export(session: Session, given: ParsedArguments) -> Outcome:
    database = session.memory.database
    if given.file == "-" and not given.form:
        given.file = None
    if given.form:
        return _export_folder(session, given)
    readable = given.markdown or (given.file or "").endswith((".md", ".md.gz"))
    if readable and session.json and not given.file:
        raise InvalidInput("Markdown is not JSON.", "Leave --json out, or name a FILE.")

    def document() -> Generator[str, None, None]:
        if readable:
            return export_markdown(database, session.location.display_name, session.memory.now)
        return export_text(database)

    if not given.file:
        if given.gzip:
            raise InvalidInput("A packed document cannot be written to standard output.", "Name a FILE.")
        return Outcome(document=document)
    path = _file_path(session, given.file)
    packed = given.gzip or path.endswith(".gz")
    size = save_export(database, path, may_replace(session, given, path), packed, document if readable else None)
    return Outcome(f"Exported to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


def _export_folder(session: Session, given: ParsedArguments) -> Outcome:
    if given.form not in EXPORT_FORMS:
        raise InvalidInput("There is no such form.", f"Choose one of: {', '.join(EXPORT_FORMS)}.")
    if not given.file or given.gzip or given.markdown:
        raise InvalidInput("A form takes a folder, and is neither packed nor one file.", "Name a new folder.")
    path = _file_path(session, given.file)
    records = export_folder(session.memory.database, path, given.form)
    return Outcome(
        f"Exported {format_count(records, 'record')} to {path}.", lambda: {"file": path, "records": records}
    )


# import


def import_file(session: Session, given: ParsedArguments) -> Outcome:
    path = _file_path(session, given.file)
    with Import(session.memory.database, path, given.strategy) as found:
        lines = _import_preview(found, given.limit)
        if given.dry_run:
            said = f"Importing {found.name} would bring or change {format_count(found.changes, 'row')}."
            return _import_outcome(found, said, lines, given)
        if not found.changes:
            return _import_outcome(found, f"All of {found.name} is here already; nothing was changed.", [], given)
        question = f"Import {found.name}: {format_count(found.changes, 'row')} would come or change. Go on?"
        if not given.yes and not session.ask(question, lines):
            raise Declined("Nothing was changed.")
        first = (
            None
            if found.whole
            else session.memory.checkpoints.take_checkpoint(f"before: import {found.name}"[:200])
        )
        step = found.apply_import()
        if not found.whole:  # an imported complete export must export unchanged
            summarize_ended_sessions(session.memory)
        back = f"undo {step} undoes it." if step else ""
        if first is not None:
            back = f"{back} {cite('checkpoint', first)} is how it was.".strip()
        return _import_outcome(
            found,
            f"Imported {found.name}: {format_count(found.changes, 'row')}. {back}".strip(),
            lines,
            given,
            step,
        )


def _import_outcome(
    found: Import, message: str, lines: list[str], given: ParsedArguments, step: int | None = None
) -> Outcome:
    """Return the outcome of an import, with its counts and notes."""
    data = {
        "name": found.name,
        "whole": found.whole,
        "changes": found.changes,
        "step": step,
        "tables": {table: asdict(counts) for table, counts in found.counts.items()},
        "records": [asdict(one) for one in found.list_records(given.limit)] if found.changes else [],
        "notes": _import_notes(found),
        "redacted": [
            {"table": table, "field": column, "rule": rule, "count": number}
            for (table, column, rule), number in found.redacted.items()
        ],
    }
    return Outcome(message, lambda: data, lines)


def _import_preview(found: Import, limit: int) -> list[str]:
    """Preview an import: counts, records and warnings."""
    lines = ["This memory is empty: everything is imported as it is, with its history."] if found.whole else []
    for table, counts in found.counts.items():
        parts = [f"{number:,} {IMPORT_WORDS[name]}" for name, number in asdict(counts).items() if number]
        if parts:
            lines.append(f"{table.replace('_', ' '):<13} {', '.join(parts)}")
    for one in found.list_records(limit):
        lines.append(f"{one.sign} {one.citation or one.kind:<10} {shorten(one.title)}")
    return [*lines, *_import_notes(found)]


def _import_notes(found: Import) -> list[str]:
    """Return what a person has to know about an import: history that is left out, redactions, future dates."""
    notes = []
    if found.torn:
        notes.append(f"Its history is inconsistent ({found.torn}), and is not imported.")
    elif not found.whole and any(counts.left for counts in found.counts.values()):
        notes.append("Its history and its checkpoints stay in the document: they describe the other file's steps.")
    if found.redacted:
        cuts = [(rule, number, f"{table}: {column}") for (table, column, rule), number in found.redacted.items()]
        notes.append(cuts_words(cuts))
    for table, rows in found.ahead.items():
        notes.append(f"{table}: {format_count(rows, 'row')} dated in the future.")
    return notes


# backup


def backup(session: Session, given: ParsedArguments) -> Outcome:
    database = session.memory.database
    if given.verify and given.restore:
        raise InvalidInput(
            "Look at a backup, or go back to it; not both.", "backup --verify, then backup --restore."
        )
    if given.verify:
        return _verify_backup(session, given)
    if given.restore:
        return _restore_backup(session, given)
    if given.dry_run:
        raise InvalidInput("--dry-run goes with --restore.", "A backup changes nothing.")
    if session.memory.passing:
        raise NotFound("There is no memory here, so there is nothing to back up.", "memoranda init starts one.")
    if given.file:
        path = _file_path(session, given.file)
        size = save_backup_as(database, path, may_replace(session, given, path))
        return Outcome(f"Backed up to {path}, {size:,} bytes; it was restored and compared, and is intact.",
                       lambda: {"file": path, "bytes": size, "problem": ""})  # fmt: skip
    made = make_backup(database)
    assert made is not None
    return Outcome(f"Backed up to {made.path}, {made.size:,} bytes; it was restored and compared, and is intact.",
                   lambda: {"file": made.path, "bytes": made.size, "problem": ""})  # fmt: skip


def _backup_path(session: Session, text: str | None) -> str | None:
    """Return the path of a backup that is named by its file, or its name in the folder of backups; None for the
    newest."""
    if text and (os.path.dirname(text) or os.path.lexists(_file_path(session, text))):
        return _file_path(session, text)
    return text


def _restore_backup(session: Session, given: ParsedArguments) -> Outcome:
    """Restore a backup of this memory as an ordinary change; records written since are removed, and undo brings them
    back."""
    database, plans = session.memory.database, session.memory.plans
    found = find_backups(database)
    named = _backup_path(session, given.file) or (found[0].name if found else "")
    path = os.path.join(backup_folder(database), named)
    name = os.path.basename(path)
    plan = plans.plan_moment(find_backup_step(database, path), name)
    chosen = plans.propose_changes(plan)
    would = f"{format_count(len(chosen), 'record')} would change"
    if given.dry_run:
        return dry_run_outcome(plan, chosen, f"Going back to {name}: {would}", {"backup": name})
    if not plan.changes:
        raise Conflict(f"Nothing changed since {name}.", "There is nothing to restore.")
    select_changes(plan, chosen)
    if not given.yes and not session.ask(f"Go back to {name}: {would}. Go on?"):
        raise Declined("Nothing was changed.")
    applied = plans.apply_plan(plan, chosen)
    before = cite("checkpoint", applied.checkpoint or 0)
    return Outcome(
        f"Went back to {name}: {format_count(applied.changed, 'record')} changed. {before} is how it was; undo works.",
        lambda: {"restored": name, "changed": applied.changed, "before": before},
    )


def _verify_backup(session: Session, given: ParsedArguments) -> Outcome:
    path, problem = verify_backup(session.memory.database, _backup_path(session, given.file))
    said = f"{path} is damaged: {problem}." if problem else f"{path} is intact: restored and compared row by row."
    size = os.path.getsize(path) if os.path.exists(path) else None
    return Outcome(
        said,
        lambda: {"file": path, "bytes": size, "problem": problem},
        status=ExitStatus.PERSON if problem else ExitStatus.DONE,
    )


def import_any(session: Session, given: ParsedArguments) -> Outcome:
    """Import the memory of another tool, or a file; without a source, list what was found."""
    if given.source is None or given.source in SOURCE_NAMES:
        require_part("tools")
        from tui.commands.tools import import_source, list_sources  # of an optional part

        return list_sources(session) if given.source is None else import_source(session, given)
    if given.path or given.trust or given.all or given.only:
        raise InvalidInput(
            f"{given.source} is not one of the tools that can be read.", f"They are: {', '.join(SOURCE_NAMES)}."
        )
    given.file = given.source
    return import_file(session, given)
