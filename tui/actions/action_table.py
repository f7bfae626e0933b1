"""The functions that keys and clicks run by name: `change('facts.forget')`."""

from collections.abc import Callable, Mapping
from typing import Any

from tui.actions.decisions import begin_iteration_command, bind, link, move_task, supersede
from tui.actions.facts import add_record, ask_context, confirm, forget, move, mute, pin, tag
from tui.actions.history import (
    add_checkpoint,
    as_of,
    ask_changes_since,
    recover,
    redo,
    restore,
    take_back,
    take_back_all,
    undo,
)
from tui.actions.inbox import find_duplicates, merge, put_off_proposals
from tui.actions.texts import ask_day, copy_citations, copy_text, correct, edit, export, purge

ACTIONS: Mapping[str, Callable[[Any], object]] = {
    "context.ask": ask_context,
    "context.mute": mute,
    "copy_export.copy": copy_citations,
    "copy_export.copy_text": copy_text,
    "copy_export.day": ask_day,
    "copy_export.export": export,
    "correct.correct": correct,
    "correct.edit": edit,
    "decisions.link": link,
    "decisions.supersede": supersede,
    "evidence.bind": bind,
    "facts.add": add_record,
    "facts.confirm": confirm,
    "facts.forget": forget,
    "facts.pin": pin,
    "facts.tag": tag,
    "global_facts.move": move,
    "history.as_of": as_of,
    "history.checkpoint": add_checkpoint,
    "history.recover": recover,
    "history.redo": redo,
    "history.restore": restore,
    "history.since": ask_changes_since,
    "history.take_back": take_back,
    "history.take_back_all": take_back_all,
    "history.undo": undo,
    "inbox.later": put_off_proposals,
    "inbox.look": find_duplicates,
    "inbox.merge": merge,
    "purge.purge": purge,
    "tasks.iteration": begin_iteration_command,
    "tasks.move_task": move_task,
}
