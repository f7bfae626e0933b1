"""What keys do with texts: correct, edit, copy, export, purge.

Replace the text of a record, in the prompt line or in an editor.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from shlex import quote

from store.base.errors import MemorandaError
from store.base.models import Chunk, Decision, Event, Fact, GlobalFact, Proposal, Record, Step, Summary, Task, Turn
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.search.lookup import kind_of_record
from store.search.pipeline import searchable_text
from store.sync.sync import SyncReport
from store.upkeep.optional import with_shared_places
from tui.actions.inbox import decide_in_editor, edit_proposal
from tui.actions.support import (
    CANNOT_CHANGE,
    ActionHost,
    citation_or_step,
    join_citations,
    refuse_action,
    run_verb,
    write_and_report,
)
from tui.commands.privacy import PurgeReport, plan_in_both
from tui.commands.record_lines import sync_message
from tui.desktop import programs
from tui.desktop.programs import open_in_editor
from tui.input.key_table import INBOX
from tui.render.lines import format_count
from tui.screens.plans import PurgeScreen, Run

# Copy and export records, and jump to a day.


def copy_citations(screen: ActionHost) -> None:
    """Copy the citations of the selected records to the clipboard."""
    _copy_records(screen, lambda thing: citation_or_step(thing), "")


def copy_text(screen: ActionHost) -> None:
    answer = screen.last_answer
    if screen.focused is not None and screen.focused is screen.talk:
        if answer is not None:
            screen.copy(answer.text, "the answer")
        return
    _copy_records(
        screen, lambda thing: thing.reason if isinstance(thing, Step) else searchable_text(thing), "the text of "
    )


def _copy_records(screen: ActionHost, form: Callable[[Record | Step], str], what: str) -> None:
    """Copy what `form` returns for each of the selected records, and report it with `what` before their names."""
    things = list(screen.targets())
    if things:
        texts = [
            form(thing)
            for thing in sorted(things, key=lambda thing: (type(thing).__name__, citation_or_step(thing)))
        ]
        screen.copy("\n".join(texts) if what else " ".join(texts), what + join_citations(things))


def export(screen: ActionHost) -> None:
    """Begin the command that exports the memory to a file in the home directory."""
    home, name = default_export_path(screen.name_of_memory).split("/", 1)
    screen.type_command(f"export {home}/{quote(name)}")


def default_export_path(name: str) -> str:
    """Return the default path of an export: in the home directory, not the checkout, where the next `git add` would
    publish it."""
    return f"~/{name}-memory.json"


def ask_day(screen: ActionHost) -> None:
    """Ask for a day, and move the cursor of the list there."""
    screen.ask("to the day (2026-10-01, yesterday, 3w)", "", screen.go_to_day)


# Edit a file that is kept in sync, in the person's own editor: what they change there is their own word.


def edit_synced_file(screen: ActionHost, name: str) -> None:
    """Sync the file, keep it so from now on, and open what it says then in the editor."""

    def read(memory: Memory) -> bytes:
        memory.sync.start_file(name)
        memory.sync.sync_file(name)
        return memory.sync.read_content(name)

    def done(raw: object, error: MemorandaError | None) -> None:
        screen.later(_edit_content, screen, name, raw, error)

    if screen.engine is not None:
        screen.engine.write(read, done)


def _edit_content(screen: ActionHost, name: str, raw: object, error: MemorandaError | None) -> None:
    try:
        if error is not None or not isinstance(raw, bytes):
            raise error or MemorandaError(f"{name} cannot be read.")
        text = programs.edit_in_editor(screen.app, raw.decode(), command=screen.setting("editor"))
    except MemorandaError as trouble:
        screen.say(str(trouble), "error", timeout=8)
        return
    if text is None:
        screen.say("Nothing was changed.")
        return

    def take(memory: Memory) -> SyncReport:
        try:
            return memory.sync.sync_edited(name, raw, text.encode())
        except MemorandaError as error:
            error.next = f"What you wrote is in {_keep_draft(name, text)}. {error.next}"
            raise

    def said(report: object) -> tuple[str, int | None]:
        assert isinstance(report, SyncReport)
        return sync_message(report), None

    write_and_report(screen, take, said)


def _keep_draft(name: str, text: str) -> str:
    """Write the edited text to a temporary file, and return its path."""
    path = os.path.join(tempfile.mkdtemp(prefix="memoranda-"), os.path.basename(name))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


CORRECTED = (Fact, GlobalFact, Decision, Task)  # kinds of records that are corrected


def correct(screen: ActionHost) -> None:
    """Ask for another text for the selected record; for a proposal, accept it with the typed text."""
    record = screen.target()
    if isinstance(record, Proposal):
        edit_proposal(screen, record)
        return
    if isinstance(record, CORRECTED):
        label = f"{record.citation} now chooses" if isinstance(record, Decision) else f"correct {record.citation}"
        shown = screen.pane.record
        edit_it = screen.edit_text if shown is not None and shown == record else screen.ask
        edit_it(label, text_to_correct(record), lambda text: replace_text(screen, record, text))
    elif record is not None:
        screen.say(CANNOT_CHANGE, "warning")


def edit(screen: ActionHost) -> None:
    """Run `correct` in the user's editor."""
    if screen.current_list == INBOX:
        decide_in_editor(screen)
        return
    record = screen.target()
    if isinstance(record, Chunk):
        _edit_document(screen, record)
        return
    if not isinstance(record, CORRECTED):
        refuse_action(screen, [record] if record is not None else [], CANNOT_CHANGE)
        return
    try:
        text = programs.edit_in_editor(screen.app, text_to_correct(record), command=screen.setting("editor"))
    except MemorandaError as error:
        screen.say(str(error), "error")
        return
    if text is None:
        screen.say("Nothing was changed.")
    else:
        replace_text(screen, record, text)


def _edit_document(screen: ActionHost, chunk: Chunk) -> None:
    """Open a document in the user's editor at the lines shown, then index it again; of one that is kept in sync, what
    is changed there is the user's own word."""
    if screen.engine is None:
        return
    if chunk.path in [file.path for file in screen.engine.present.sync.files()]:
        edit_synced_file(screen, chunk.path)
        return
    try:
        path = screen.engine.documents.path_of(chunk)
        open_in_editor(screen.app, path, chunk.first, command=screen.setting("editor"))
    except MemorandaError as error:
        screen.say(str(error), "error")
        return
    screen.read_documents()


def text_to_correct(record: Fact | GlobalFact | Decision | Task) -> str:
    """Return the text of a record that a correction replaces."""
    return record.chosen if isinstance(record, Decision) else record.text


def replace_text(screen: ActionHost, record: Record, text: str) -> None:
    """Replace the text of a record."""
    if text.strip():
        run_verb(screen, "correct", selects=not isinstance(record, Task), id=record.citation, text=[text])


# Purge the marked records, or the one in the preview, after a screen that lists everything affected.


def purge(screen: ActionHost) -> None:
    """Plan the purge of the selected records, and show the plan."""
    things = screen.targets()
    records = [
        (kind_of_record(thing), thing.id)
        for thing in things
        if not isinstance(thing, Step)
        and isinstance(thing, Fact | GlobalFact | Decision | Task | Turn | Event | Summary | Proposal)
    ]
    if records:
        show_purge(screen, records, lambda memory: with_shared_places(memory, memory.purge.plan(records)))
    else:
        refuse_action(
            screen, things, "Only facts, decisions, tasks, turns, events, summaries and proposals can be purged."
        )


def show_purge(
    screen: ActionHost, records: Sequence[tuple[str, int]], planned: Callable[[Memory], PurgePlan], words: str = ""
) -> None:
    """Plan a purge and show the plan: in both memories where these records are in both, else what is `planned`. The
    `words` that found it are typed again before it is carried out."""

    def plan(memory: Memory) -> tuple[PurgePlan, Run | None, Sequence[str]]:
        both = plan_in_both(memory, records)
        return (planned(memory), None, ()) if both is None else (both.as_one(memory), both.run_both, both.elsewhere)

    def done(made: object, error: MemorandaError | None) -> None:
        if error is not None:
            screen.later(screen.say, str(error), "warning", 8)
        elif isinstance(made, tuple):
            screen.later(_show_purge_screen, screen, words, *made)

    if screen.engine is not None:
        screen.engine.write(plan, done)


def _show_purge_screen(
    screen: ActionHost, words: str, plan: PurgePlan, run: Run | None, elsewhere: Sequence[str]
) -> None:
    """Show the screen that lists a planned purge; report its result when it is left."""
    if screen.engine is not None:
        screen.app.push_screen(
            PurgeScreen(screen.engine, plan, screen.form, run, words),
            lambda result: _report_purge(screen, result, elsewhere),
        )


def _report_purge(screen: ActionHost, result: object, elsewhere: Sequence[str]) -> None:
    """Report the result; put details in the preview."""
    if not isinstance(result, PurgeReport):
        return
    lines = [*result.list_lines(), *elsewhere]
    said = f"Erased {format_count(result.done.purged, 'record')} with all old versions."
    screen.unmark()
    screen.say(f"{said} {lines[-1]}", alone=True, timeout=8)
    screen.refresh_records()
    if len(lines) > 1:
        screen.pane.read_out([said, "", *lines])
