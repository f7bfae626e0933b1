"""export, import, backup."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import asdict
from typing import Annotated

from store.base.citations import cite
from store.base.errors import ExitStatus, InvalidInput, NotFound
from store.base.location import backup_folder
from store.base.models import select_fields
from store.base.runtime import require_part
from store.base.vocabulary import EXPORT_FORMS, SOURCE_NAMES, SOURCE_PARTS
from store.exchange import backups
from store.exchange.exporter import export_folder, export_markdown, export_text, save_export
from store.exchange.importer import Import
from store.history.restore_plan import Plans
from store.text.display import agree_verb, format_count, shorten
from store.upkeep.adoption import adopt_as_proposals, adopt_whole, examine_ownership, is_unmarked
from store.upkeep.session_flush import summarize_ended_sessions
from tui.commands.call import Call, Outcome, Preview
from tui.commands.conversations import TRANSCRIPT_SUFFIX, bring_in_conversations
from tui.commands.history import dry_run_outcome, go_back
from tui.input.arguments import Shown, verb
from tui.render.lines import cuts_words

IMPORT_WORDS = {"same": "the same", "changed": "to be changed", "differ": "different", "left": "left out"}


def _file_path(call: Call, text: str) -> str:
    """Return the absolute path of a typed file name. Raise InvalidInput for `-`."""
    if text == "-":
        raise InvalidInput("- is the name of no file here.", "Name a file; export without one prints.")
    return call.path(text)


# export


@verb(looks=True)
def export(
    call: Call,
    file: Annotated[str | None, Shown("FILE", file=True)] = None,
    *,
    gzip: bool = False,
    markdown: bool = False,
    form: Annotated[str | None, Shown("F", EXPORT_FORMS)] = None,
    yes: bool = False,
) -> Outcome:
    """Write the whole memory as one document: JSON, or Markdown to read.

    file: standard output without one; .gz packs it, .md is Markdown
    gzip: packed, whatever FILE is called
    markdown: as Markdown, to be read and not imported
    form: as a new folder FILE with a file for each fact and decision: Claude Code's own memory, or an OKF bundle
    """
    database = call.memory.database
    if form:
        if form not in EXPORT_FORMS:
            raise InvalidInput("There is no such form.", f"Choose one of: {', '.join(EXPORT_FORMS)}.")
        if not file or gzip or markdown:
            raise InvalidInput("A form takes a folder, and is neither packed nor one file.", "Name a new folder.")
        path = _file_path(call, file)
        records = export_folder(database, path, form)
        said = f"Exported {format_count(records, 'record')} to {path}."
        return Outcome(said, lambda: {"file": path, "records": records})
    file = None if file == "-" else file
    readable = markdown or (file or "").endswith((".md", ".md.gz"))
    if readable and call.json and not file:
        raise InvalidInput("Markdown is not JSON.", "Leave --json out, or name a FILE.")

    def document() -> Generator[str, None, None]:
        if readable:
            return export_markdown(database, call.location.display_name, call.memory.now)
        return export_text(database)

    if not file:
        if gzip:
            raise InvalidInput("A packed document cannot be written to standard output.", "Name a FILE.")
        return Outcome(document=document)
    path = _file_path(call, file)
    packed = gzip or path.endswith(".gz")
    replaces = call.may_replace(path, yes)
    size = save_export(database, path, replaces, packed, document if readable else None)
    return Outcome(f"Exported to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


# import


@verb(
    opens=lambda given: "nothing" if given.adopt or given.whole or given.as_proposals else "memory",
    looks=lambda given: not given.source,
)
def import_(
    call: Call,
    source: Annotated[list[str], Shown("SOURCE|FILE", SOURCE_NAMES, file=True)] = [],
    *,
    trust: bool = False,
    all_: bool = False,
    only: Annotated[str | None, Shown("PART", SOURCE_PARTS)] = None,
    project: Annotated[str, Shown("FOLDER")] = "",
    strategy: Annotated[str, Shown("S", ("mine", "replace"))] = "mine",
    conversations: bool = False,
    session: Annotated[str, Shown("S")] = "",
    adopt: bool = False,
    whole: bool = False,
    as_proposals: bool = False,
    limit: int = 10,
    dry_run: bool = False,
    yes: bool = False,
) -> Outcome:
    """Bring in the memory of another tool, an export, a backup or another memory, seen first; or conversations.

    source: a tool, and where its memory is (where it lies by default); an export, packed or not; a memory file;
        transcripts, .jsonl, or a folder of them; without it, list what was found here
    trust: of a tool: take all as it is, instead of asking about each in the inbox
    all_: of a tool: what belongs to other projects too
    only: of a tool: its memories or its conversations alone
    project: of a tool: what belongs to another folder, as to the one that was renamed, or to a folder of this name
    strategy: of an export, where a record differs: mine keeps what is here, replace takes the document's
    conversations: files of `role: text` too, or - for standard input
    session: of conversations: the name, where the lines have none
    adopt: instead: take the memory that is here and came from elsewhere, whole or as proposals
    whole: with --adopt: as it is: it is yours from then on
    as_proposals: with --adopt: put it aside, and ask about each fact in the inbox of a new memory
    limit: how many records of each kind are shown (10)
    """
    if adopt or whole or as_proposals:
        if source or dry_run:
            raise InvalidInput("--adopt takes the memory that is here, at once.", "Leave what it is not out.")
        return _adopt_memory(call, whole, as_proposals, yes)
    # transcripts are named, or folders of them, and no tool is
    are_transcripts = bool(source) and all(
        one not in SOURCE_NAMES and (one.endswith(TRANSCRIPT_SUFFIX) or os.path.isdir(call.path(one)))
        for one in source
    )
    if conversations or session or are_transcripts:
        if trust or all_ or only or project or dry_run or not source:
            raise InvalidInput(
                "Conversations are read as they are.", "Name files, a folder of .jsonl, or - alone."
            )
        return bring_in_conversations(call, source, session)
    how = Preview(limit, dry_run, yes)
    if not source or source[0] in SOURCE_NAMES:
        require_part("tools")
        # of an optional part
        from tui.commands.tools import import_source, list_sources

        project = call.path(project) if os.sep in project else project
        limits = {"every": all_, "only": only or "", "project": project}
        return import_source(call, source, trust, how, limits) if source else list_sources(call)
    if source[1:] or trust or all_ or only or project:
        known = f"They are: {', '.join(SOURCE_NAMES)}."
        raise InvalidInput(f"{source[0]} is not one of the tools that can be read.", known)
    return _import_file(call, source[0], strategy, how)


def _adopt_memory(call: Call, whole: bool, as_proposals: bool, yes: bool) -> Outcome:
    """Adopt a memory from another installation or an earlier version."""
    location = call.location
    if whole and as_proposals:
        raise InvalidInput("It is taken whole or as proposals, not both.", "Leave one of them away.")
    mine, says = examine_ownership(location)
    if mine:
        return Outcome(f"{says} {location.path}", lambda: {"path": location.path, "ours": True})
    if not as_proposals:
        question = "Take it whole, as your own? It will be served to agents, and its triggers and settings count."
        no = "Nothing was adopted; --as-proposals asks about each of its facts."
        call.agree(whole or yes, question, [says], no)
        done = adopt_whole(location, earlier=mine is False and is_unmarked(location))
        lines = [f"It holds for this process alone: {done.trouble}"] if done.trouble else []
        return Outcome(f"It is yours now: {location.path}", done.as_dict, [*lines, *filter(None, [done.warning])])
    done = adopt_as_proposals(location)
    left = f" {done.left} records could not be proposed." if done.left else ""
    wait = agree_verb(done.proposals, "wait in the inbox of a new memory")
    said = f"{format_count(done.proposals, 'proposal')} {wait}: {location.path}.{left}"
    lines = [f"What was there is in {done.aside} now.", *filter(None, [done.warning])]
    return Outcome(said, done.as_dict, lines, status=ExitStatus.CANNOT if done.left else ExitStatus.DONE)


def _import_file(call: Call, file: str, strategy: str, how: Preview) -> Outcome:
    """Import an export, a backup or another memory."""
    memory = call.memory
    with Import(memory.database, _file_path(call, file), strategy) as found:
        rows = format_count(found.changes, "row")
        records = found.list_records(how.limit)
        notes: list[str] = []
        if found.torn:
            notes.append(f"Its history is inconsistent ({found.torn}), and is not imported.")
        elif not found.whole and any(counts.left for counts in found.counts.values()):
            notes.append(
                "Its history and its checkpoints stay in the document: they describe the other file's steps."
            )
        if cuts := [
            (rule, number, f"{table}: {column}") for (table, column, rule), number in found.redacted.items()
        ]:
            notes.append(cuts_words(cuts))
        for table, ahead in found.ahead.items():
            notes.append(f"{table}: {format_count(ahead, 'row')} dated in the future.")
        data = {
            **select_fields(found, "name", "whole", "changes"),
            "step": None,
            "tables": {table: asdict(counts) for table, counts in found.counts.items()},
            "records": [asdict(one) for one in records if found.changes],
            "notes": notes,
            "redacted": [
                {"table": table, "field": column, "rule": rule, "count": number}
                for (table, column, rule), number in found.redacted.items()
            ],
        }
        lines = ["This memory is empty: everything is imported as it is, with its history."] if found.whole else []
        for table, counts in found.counts.items():
            parts = [
                f"{number:,} {IMPORT_WORDS.get(name, name)}" for name, number in asdict(counts).items() if number
            ]
            lines += [f"{table.replace('_', ' '):<13} {', '.join(parts)}"] if parts else []
        lines += [f"{one.sign} {one.citation or one.kind:<10} {shorten(one.title)}" for one in records]
        lines += notes
        if how.dry_run:
            return Outcome(f"Importing {found.name} would bring or change {rows}.", lambda: data, lines)
        if not found.changes:
            return Outcome(f"All of {found.name} is here already; nothing was changed.", lambda: data)
        call.agree(how.yes, f"Import {found.name}: {rows} would come or change. Go on?", lines)
        back = ""
        if not found.whole:
            first = memory.checkpoints.take_checkpoint(f"before: import {found.name}"[:200])
            back = f" {cite('checkpoint', first)} is how it was."
        data["step"] = step = found.apply_import()
        # an imported complete export must export unchanged
        if not found.whole:
            summarize_ended_sessions(memory)
            if moved := [f"{old} is {new} here" for old, new in list(found.numbers.items())[: how.limit]]:
                more = len(found.numbers) - len(moved)
                lines.append(f"Numbers that changed: {', '.join(moved)}{f', and {more:,} more' if more else ''}.")
            data["numbers"] = found.numbers
        undone = f" undo {step} undoes it." if step else ""
        return Outcome(f"Imported {found.name}: {rows}.{undone}{back}", lambda: data, lines)


# backup


@verb(looks=lambda given: not given.restore)
def backup(
    call: Call,
    file: Annotated[str | None, Shown("FILE", file=True)] = None,
    *,
    verify: bool = False,
    restore: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> Outcome:
    """Copy the memory file, and prove the copy; or look at one again, or go back to it.

    file: where to (the folder of its backups)
    verify: restore FILE (an export too), or the newest backup, and compare it row by row
    restore: put facts, decisions, links and tasks back to where FILE found them
    """
    database = call.memory.database
    if verify:
        if restore:
            one = "Look at a backup, or go back to it; not both."
            raise InvalidInput(one, "backup --verify, then backup --restore.")
        path, problem = backups.verify_backup(database, _backup_path(call, file))
        said = (
            f"{path} is damaged: {problem}." if problem else f"{path} is intact: restored and compared row by row."
        )
        size = os.path.getsize(path) if os.path.exists(path) else None
        status = ExitStatus.PERSON if problem else ExitStatus.DONE
        return Outcome(said, lambda: {"file": path, "bytes": size, "problem": problem}, status=status)
    if restore:
        return _restore_backup(call, file, dry_run, yes)
    if dry_run:
        raise InvalidInput("--dry-run goes with --restore.", "A backup changes nothing.")
    if call.memory.passing:
        raise NotFound(
            "There is no memory here, so there is nothing to back up.", "memoranda open --new starts one."
        )
    if file:
        path = _file_path(call, file)
        size = backups.save_backup_as(database, path, call.may_replace(path, yes))
    else:
        made = backups.make_backup(database)
        assert made is not None
        path, size = made.path, made.size
    return Outcome(
        f"Backed up to {path}, {size:,} bytes; it was restored and compared, and is intact.",
        lambda: {"file": path, "bytes": size, "problem": ""},
    )


def _backup_path(call: Call, text: str | None) -> str | None:
    """Return the path of a backup that is named by its file, or its name in the folder of backups; None for the
    newest."""
    if text and (os.path.dirname(text) or os.path.lexists(_file_path(call, text))):
        return _file_path(call, text)
    return text


def _restore_backup(call: Call, file: str | None, dry_run: bool, yes: bool) -> Outcome:
    """Restore a backup of this memory as an ordinary change; records written since are removed, and undo brings them
    back."""
    database, plans = call.memory.database, Plans(call.memory.database)
    found = backups.find_backups(database)
    named = _backup_path(call, file) or (found[0].name if found else "")
    path = os.path.join(backup_folder(database.path), named)
    name = os.path.basename(path)
    plan = plans.plan_moment(backups.find_backup_step(database, path), name)
    chosen = plans.propose_changes(plan)
    if dry_run:
        heading = f"Going back to {name}: {format_count(len(chosen), 'record')} would change"
        return dry_run_outcome(plan, chosen, heading, {"backup": name})
    said, data = go_back(call, plan, chosen, name, f"Go back to {name}", f"Went back to {name}", yes)
    return Outcome(said, lambda: data)
