"""Replace the text of a record, in the prompt line or in an editor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.base.models import Chunk, Decision, Fact, GlobalFact, Proposal, Step, Task
from tui.actions import inbox, synced_file
from tui.actions.support import JOURNAL, cited, key_of, name_of, undoes, write
from tui.input.key_table import INBOX

if TYPE_CHECKING:
    from store.base.models import Record
    from store.memory import Memory
    from tui.actions.host import ActionHost


def correct(screen: ActionHost) -> None:
    record = screen.target()
    if isinstance(record, Proposal):
        inbox.edit(screen, record)
        return
    if record is not None and (work := correction(record)) is not None:
        label = f"{record.citation} now chooses" if isinstance(record, Decision) else f"correct {name_of(record)}"
        shown = screen.pane.record
        edit_it = screen.edit_text if shown is not None and shown == record else screen.ask
        edit_it(label, said_by(record), lambda text: replace(screen, record, work, text))
    elif record is not None:
        screen.say(JOURNAL, "warning")


def edit(screen: ActionHost) -> None:
    """Run `correct` in the user's editor."""
    from tui.desktop.editor import edit as in_editor

    if screen.place == INBOX:
        inbox.in_editor(screen)
        return
    record = screen.target()
    if isinstance(record, Chunk):
        _edit_document(screen, record)
        return
    if record is None or (work := correction(record)) is None:
        if record is not None:
            screen.say(JOURNAL, "warning")
        return
    try:
        text = in_editor(screen.app, said_by(record), command=screen.setting("editor"))
    except MemorandaError as error:
        screen.say(str(error), "error")
        return
    if text is None:
        screen.say("Nothing was changed.")
    else:
        replace(screen, record, work, text)


def _edit_document(screen: ActionHost, chunk: Chunk) -> None:
    """Open a document in the user's editor at the lines shown, then index it again; of one that is kept in sync, what
    is changed there is the user's own word."""
    from tui.desktop.editor import open_at

    if screen.engine is None:
        return
    if chunk.path in [file.path for file in screen.engine.present.sync.files()]:
        synced_file.edit(screen, chunk.path)
        return
    try:
        path = screen.engine.documents.path_of(chunk)
        open_at(screen.app, path, chunk.first, command=screen.setting("editor"))
    except MemorandaError as error:
        screen.say(str(error), "error")
        return
    screen.read_documents()


def said_by(record: Record | Step) -> str:
    """Return the text of a record that a correction replaces."""
    if isinstance(record, Fact | GlobalFact):
        return record.fact
    if isinstance(record, Decision):
        return record.chosen
    return record.text if isinstance(record, Task) else ""


def correction(record: Record | Step) -> Callable[[Memory, str, bool], object] | None:
    """Return the function that corrects a record, which stores a purged text too if called with `again`; None for a
    kind that cannot be corrected."""
    if isinstance(record, GlobalFact):
        return lambda memory, text, again: memory.globals.correct(record.id, text, again=again)
    if isinstance(record, Fact):
        return lambda memory, text, again: memory.facts.correct(record.id, text, again=again)
    if isinstance(record, Decision):
        return lambda memory, text, again: memory.decisions.correct(record.id, text, again=again)
    if isinstance(record, Task):
        return lambda memory, text, again: memory.tasks.correct(record.id, text)
    return None


def replace(screen: ActionHost, record: Record | Step, work: Callable[[Memory, str, bool], object], text: str) -> None:
    """Replace the text of a record."""

    def said(new: object) -> tuple[str, int | None]:
        if isinstance(record, Decision):
            return f"{cited('decision', new)} replaces {record.citation}{undoes()}", key_of("decision", new)
        if isinstance(record, GlobalFact):
            return f"Corrected {name_of(record)} in every project{undoes()}", key_of("global", new)
        return f"Corrected {name_of(record)}{undoes()}", key_of("fact", new) if isinstance(record, Fact) else None

    if text.strip():
        write(screen, lambda memory: work(memory, text, False), said, again=lambda memory: work(memory, text, True))
