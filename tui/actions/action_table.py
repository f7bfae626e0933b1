"""The functions that keys and clicks run by name: `change('facts.forget')`."""

from collections.abc import Callable, Mapping
from typing import Any

from tui.actions import (
    context,
    copy_export,
    correct,
    decisions,
    evidence,
    facts,
    global_facts,
    history,
    inbox,
    purge,
    tasks,
)

ACTIONS: Mapping[str, Callable[[Any], object]] = {
    "context.ask": context.ask,
    "context.mute": context.mute,
    "copy_export.copy": copy_export.copy,
    "copy_export.copy_text": copy_export.copy_text,
    "copy_export.day": copy_export.day,
    "copy_export.export": copy_export.export,
    "correct.correct": correct.correct,
    "correct.edit": correct.edit,
    "decisions.link": decisions.link,
    "decisions.supersede": decisions.supersede,
    "evidence.bind": evidence.bind,
    "facts.add": facts.add,
    "facts.confirm": facts.confirm,
    "facts.forget": facts.forget,
    "facts.pin": facts.pin,
    "facts.tag": facts.tag,
    "global_facts.move": global_facts.move,
    "history.as_of": history.as_of,
    "history.checkpoint": history.checkpoint,
    "history.recover": history.recover,
    "history.redo": history.redo,
    "history.restore": history.restore,
    "history.since": history.since,
    "history.take_back": history.take_back,
    "history.take_back_all": history.take_back_all,
    "history.undo": history.undo,
    "inbox.later": inbox.later,
    "inbox.look": inbox.look,
    "inbox.merge": inbox.merge,
    "purge.purge": purge.purge,
    "tasks.iteration": tasks.iteration,
    "tasks.move_task": tasks.move_task,
}
