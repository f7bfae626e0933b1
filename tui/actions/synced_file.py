"""Edit a file that is kept in sync, in the person's own editor: what they change there is their own word."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from tui.actions.support import write

if TYPE_CHECKING:
    from store.memory import Memory
    from store.sync.file_run import SyncReport
    from tui.actions.host import ActionHost


def edit(screen: ActionHost, name: str) -> None:
    """Sync the file, keep it so from now on, and open what it says then in the editor."""

    def read(memory: Memory) -> bytes:
        memory.sync.start(name)
        memory.sync.run(name)
        return memory.sync.content(name)

    def done(raw: object, error: MemorandaError | None) -> None:
        screen.later(_edit, screen, name, raw, error)

    if screen.engine is not None:
        screen.engine.write(read, done)


def _edit(screen: ActionHost, name: str, raw: object, error: MemorandaError | None) -> None:
    from tui.commands.files.sync import told
    from tui.desktop.editor import edit as in_editor

    try:
        if error is not None or not isinstance(raw, bytes):
            raise error or MemorandaError(f"{name} cannot be read.")
        text = in_editor(screen.app, raw.decode(), command=screen.setting("editor"))
    except MemorandaError as trouble:
        screen.say(str(trouble), "error", timeout=8)
        return
    if text is None:
        screen.say("Nothing was changed.")
        return

    def take(memory: Memory) -> SyncReport:
        try:
            return memory.sync.run_edited(name, raw, text.encode())
        except MemorandaError as error:
            error.next = f"What you wrote is in {_kept(name, text)}. {error.next}"
            raise

    def said(report: object) -> tuple[str, int | None]:
        from store.sync.file_run import SyncReport

        assert isinstance(report, SyncReport)
        return told(report), None

    write(screen, take, said)


def _kept(name: str, text: str) -> str:
    """Put what was written where the person finds it; return the path."""
    path = os.path.join(tempfile.mkdtemp(prefix="memoranda-"), os.path.basename(name))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path
