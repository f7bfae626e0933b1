"""export, import, backup, backups."""

import os

from store.base.errors import Conflict, Declined, InvalidInput, NotFound
from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from store.exchange.backups.backup import Backup
    from store.exchange.importer import Import
    from tui.input.argument_parser import ParsedArguments

MERGE_WORDS = {
    "new": "new",
    "same": "the same",
    "changed": "to be changed",
    "differ": "different",
    "left": "left out",
}


def _path(session: Session, text: str) -> str:
    if text == "-":
        raise InvalidInput("- is the name of no file here.", "Name a file; export without one prints.")
    return os.path.abspath(os.path.join(session.cwd, os.path.expanduser(text)))


def may_replace(session: Session, given: "ParsedArguments", path: str) -> bool:
    """Return whether an existing file may be overwritten. Raises Declined."""
    if given.yes or not os.path.lexists(path):
        return bool(given.yes)
    if not session.ask(f"{path} is there already. Replace it?"):
        raise Declined("Nothing was written.")
    return True


# export


def export(session: Session, given: "ParsedArguments") -> Outcome:
    from store.exchange import exporter as export

    database = session.memory.database
    if given.file == "-" and not given.form:
        given.set("file", None)
    if given.form:
        return _folder(session, given)
    readable = given.markdown or (given.file or "").endswith((".md", ".md.gz"))
    if readable and session.json and not given.file:
        raise InvalidInput("Markdown is not JSON.", "Leave --json out, or name a FILE.")

    def document() -> "Generator[str, None, None]":
        from store.exchange import markdown_export

        if readable:
            return markdown_export.document(database, session.location.name, session.memory.now)
        return export.document(database)

    if not given.file:
        if given.gzip:
            raise InvalidInput("A packed document cannot be written to standard output.", "Name a FILE.")
        return Outcome(document=document)
    path = _path(session, given.file)
    packed = given.gzip or path.endswith(".gz")
    size = export.save(database, path, may_replace(session, given, path), packed, document if readable else None)
    return Outcome(f"Exported to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


def _folder(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.vocabulary import EXPORT_FORMS
    from store.exchange import folder_export

    if given.form not in EXPORT_FORMS:
        raise InvalidInput("There is no such form.", f"Choose one of: {', '.join(EXPORT_FORMS)}.")
    if not given.file or given.gzip or given.markdown:
        raise InvalidInput("A form takes a folder, and is neither packed nor one file.", "Name a new folder.")
    path = _path(session, given.file)
    records = folder_export.write(session.memory.database, path, given.form)
    return Outcome(f"Exported {count(records, 'record')} to {path}.", lambda: {"file": path, "records": records})


# import


def import_file(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.citations import cite
    from store.exchange.importer import Import
    from store.services import session_flush

    path = _path(session, given.file)
    with Import(session.memory.database, path, given.strategy) as found:
        lines = _seen(found, given.limit)
        if given.dry_run:
            said = f"Importing {found.name} would bring or change {count(found.changes, 'row')}."
            return _outcome(found, said, lines, given)
        if not found.changes:
            return _outcome(found, f"All of {found.name} is here already; nothing was changed.", [], given)
        question = f"Import {found.name}: {count(found.changes, 'row')} would come or change. Go on?"
        if not given.yes and not session.ask(question, lines):
            raise Declined("Nothing was changed.")
        first = None if found.whole else session.memory.checkpoints.take(f"before: import {found.name}"[:200])
        step = found.apply()
        if not found.whole:  # an imported complete export must export unchanged
            session_flush.catch_up(session.memory)
        back = f"undo {step} undoes it." if step else ""
        if first is not None:
            back = f"{back} {cite('checkpoint', first)} is how it was.".strip()
        return _outcome(
            found, f"Imported {found.name}: {count(found.changes, 'row')}. {back}".strip(), lines, given, step
        )


def _outcome(
    found: "Import", message: str, lines: list[str], given: "ParsedArguments", step: int | None = None
) -> Outcome:
    data = {
        "name": found.name,
        "whole": found.whole,
        "changes": found.changes,
        "step": step,
        "tables": {table: counts.as_dict() for table, counts in found.counts.items()},
        "records": [one.as_dict() for one in found.records(given.limit)] if found.changes else [],
        "notes": _notes(found),
        "redacted": [
            {"table": table, "field": column, "rule": rule, "count": number}
            for (table, column, rule), number in found.redacted.items()
        ],
    }
    return Outcome(message, lambda: data, lines)


def _seen(found: "Import", limit: int) -> list[str]:
    """Preview an import: counts, records and warnings."""
    from tui.commands.record_lines import cut

    lines = ["This memory is empty: everything is imported as it is, with its history."] if found.whole else []
    for table, counts in found.counts.items():
        parts = [f"{number:,} {MERGE_WORDS[name]}" for name, number in counts.as_dict().items() if number]
        if parts:
            lines.append(f"{table.replace('_', ' '):<13} {', '.join(parts)}")
    for one in found.records(limit):
        lines.append(f"{one.sign} {one.citation or one.kind:<10} {cut(one.title)}")
    return [*lines, *_notes(found)]


def _notes(found: "Import") -> list[str]:
    notes = []
    if found.torn:
        notes.append(f"Its history is inconsistent ({found.torn}), and is not imported.")
    elif not found.whole and any(counts.left for counts in found.counts.values()):
        notes.append("Its history and its checkpoints stay in the document: they describe the other file's steps.")
    if found.redacted:
        from tui.render.redaction_notice import words

        cuts = [(rule, number, f"{table}: {column}") for (table, column, rule), number in found.redacted.items()]
        notes.append(words(cuts))
    for table, rows in found.ahead.items():
        notes.append(f"{table}: {count(rows, 'row')} dated in the future.")
    return notes


# backup


def backup(session: Session, given: "ParsedArguments") -> Outcome:
    from store.exchange.backups import backup

    database = session.memory.database
    if given.verify and given.restore:
        raise InvalidInput("Look at a backup, or go back to it; not both.", "backup --verify, then backup --restore.")
    if given.verify:
        return _verified(session, given)
    if given.restore:
        return _restored(session, given)
    if given.dry_run:
        raise InvalidInput("--dry-run goes with --restore.", "A backup changes nothing.")
    if session.memory.passing:
        raise NotFound("There is no memory here, so there is nothing to back up.", "memoranda init starts one.")
    if given.file:
        path = _path(session, given.file)
        size = backup.save(database, path, may_replace(session, given, path))
        return Outcome(f"Backed up to {path}, {size:,} bytes; it was restored and compared, and is intact.",
                       lambda: {"file": path, "bytes": size, "problem": ""})  # fmt: skip
    made = backup.make(database)
    assert made is not None
    return Outcome(f"Backed up to {made.path}, {made.size:,} bytes; it was restored and compared, and is intact.",
                   lambda: {"file": made.path, "bytes": made.size, "problem": ""})  # fmt: skip


def _named(session: Session, text: str | None) -> str | None:
    """Find a backup by its file or its name in the folder."""
    if text and (os.path.dirname(text) or os.path.lexists(_path(session, text))):
        return _path(session, text)
    return text


def _restored(session: Session, given: "ParsedArguments") -> Outcome:
    """Restore a backup of this memory as an ordinary change; records written since are removed, and undo brings them
    back."""
    from store.base.citations import cite
    from store.exchange.backups import backup
    from store.exchange.backups.due import folder_of as backup_folder
    from store.history.restore_plan import checked
    from tui.commands.history.restore import dry

    database, plans = session.memory.database, session.memory.plans
    found = backup.backups(database)
    named = _named(session, given.file) or (found[0].name if found else "")
    path = os.path.join(backup_folder(database), named)
    name = os.path.basename(path)
    plan = plans.moment(backup.step_of(database, path), name)
    chosen = plans.proposed(plan)
    would = f"{count(len(chosen), 'record')} would change"
    if given.dry_run:
        return dry(plan, chosen, f"Going back to {name}: {would}", {"backup": name})
    if not plan.changes:
        raise Conflict(f"Nothing changed since {name}.", "There is nothing to restore.")
    checked(plan, chosen)
    if not given.yes and not session.ask(f"Go back to {name}: {would}. Go on?"):
        raise Declined("Nothing was changed.")
    applied = plans.apply(plan, chosen)
    before = cite("checkpoint", applied.checkpoint or 0)
    return Outcome(
        f"Went back to {name}: {count(applied.changed, 'record')} changed. {before} is how it was; undo works.",
        lambda: {"restored": name, "changed": applied.changed, "before": before},
    )


def _verified(session: Session, given: "ParsedArguments") -> Outcome:
    from store.exchange.backups import backup

    path, problem = backup.verify(session.memory.database, _named(session, given.file))
    said = f"{path} is damaged: {problem}." if problem else f"{path} is intact: restored and compared row by row."
    size = os.path.getsize(path) if os.path.exists(path) else None
    return Outcome(said, lambda: {"file": path, "bytes": size, "problem": problem}, status=1 if problem else 0)


def backups(session: Session, given: "ParsedArguments") -> Outcome:
    from store.exchange.backups.backup import backups
    from tui.commands.record_lines import left_out

    found = backups(session.memory.database)
    shown = found[: given.limit]
    now = session.memory.now
    lines = [_line(one, now) for one in shown] or ["No backup yet; memoranda backup makes one."]
    return Outcome(
        data=lambda: [one.as_dict() for one in shown], lines=[*lines, *left_out(len(found) - len(shown), given.limit)]
    )


def _line(one: "Backup", now: str) -> str:
    from store.base.clock import how_long_ago, local_time
    from tui.theme.escape import visible

    looked = f"intact {how_long_ago(now, one.verified_at)}" if one.verified_at else "never checked"
    verdict = f"DAMAGED: {visible(one.problem)}" if one.problem else looked
    size = f"{one.size:>13,}" if one.size is not None else f"{'gone':>13}"
    by = "daily" if one.scheduled else "by hand"
    return f"{local_time(one.made_at):>17}  {size}  {by:<7}  {verdict}  {visible(one.name)}"
