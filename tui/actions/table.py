"""The one table of what keys do with records: keys, footer, box and typed commands are made from it. Of the actions of
one key the first that fits is taken; the order is that of the footer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from shlex import quote
from typing import Any

from store.base.models import (
    Checkpoint,
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Proposal,
    Record,
    Step,
    Task,
    Turn,
)
from store.upkeep.adoption import read_recent, recent_label
from tui.actions import history, proposals, records
from tui.actions.action import Action, ActionScreen
from tui.actions.plans import PURGED_KINDS, plan_purge, plan_restore
from tui.screens.dialogs import FormField, Offer

NAME_FIELD = (FormField("name", "Its name"),)
TEXT_FIELD = (FormField("text", "What should be remembered?"),)
TASK_FIELD = (FormField("text", "What is to be done?"),)
TAG_FIELD = (FormField("tag", "Tag; with - in front it is taken away"),)
EVIDENCE = "It rests on a file, lines, a symbol, a commit (nothing: take it as it is now; - takes it away)"
EVIDENCE_FIELD = (FormField("evidence", EVIDENCE, needed=False),)
MOMENT = "As of (a day, 3w, K#3, a step); in the past: compared with"
MOMENT_FIELD = (FormField("moment", MOMENT, history.start_of_look, over=True),)
SINCE_FIELD = (FormField("moment", "Changed since (a day, 3w, K#3, a step)", history.start_of_look, over=True),)
DAY_FIELD = (FormField("day", "To the day (2026-10-01, yesterday, 3w)"),)
QUESTION = "What would an agent be sent for (nothing: the last question)"
QUESTION_FIELD = (FormField("question", QUESTION, needed=False),)
PROPOSAL_FIELD = (FormField("text", "Accept it as", lambda things: things[0].text),)
MOMENTS = (Step, Checkpoint, Commit, Decision, Event, Iteration)
OWN = (Fact, GlobalFact)
HELD = (Fact, GlobalFact, Decision)
TEXTS = (Fact, GlobalFact, Decision, Task)
REPLACED = records.PICK_REPLACED


def _export(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Write the whole memory to a file in the home directory, not the checkout, where the next `git add` would publish
    it."""
    screen.run_line(f"export ~/{quote(screen.engine.location.display_name)}-memory.json")


def _turn_iteration(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Begin the line that starts an iteration; while one runs, how it ends is left to be typed."""
    running = screen.engine.screen.iterations.active()
    screen.type_command("iteration " if running else "iteration start feature ")


def _open_memory(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Choose the memory of another project: one that was open lately, or the folder or file that is typed."""
    here = screen.engine.location.path
    places = [place for place in read_recent() if place != here]

    def find(memory: Any, words: str) -> list[Offer]:
        known = [Offer(place, recent_label(place)) for place in places if words.lower() in place.lower()]
        typed = words.strip()
        return known if known or not typed else [Offer(typed, f"open {typed}", "a folder or a file")]

    screen.choose(
        "Open the memory of another project", find, lambda place: screen.run_line(f"open {quote(place)}")
    )


def _ask_context(screen: ActionScreen, things: Sequence[Any], question: str) -> None:
    screen.go_to("ask", context="1", question=question.strip(), session=None)


def _find_duplicates(screen: ActionScreen, things: Sequence[Any]) -> None:
    screen.go_to("today")
    screen.run_line("merge")


def _add_here(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Add a task or a decision where these are listed, else a fact, of the domain that is listed."""
    domain = screen.chosen("domain")
    word = f"remember ({domain})" if domain else "remember"
    does = partial(records.remember, domain=domain or "general")
    here = {"tasks": ADD_TASK, "decisions": ADD_DECISION}.get(screen.chosen("state") or "")
    screen.begin(here or Action("record.add", word, does=does, fields=TEXT_FIELD), [])


def _is_of_agent(record: Any) -> bool:
    return isinstance(record, Turn) or getattr(record, "origin", "user") != "user"


ACTIONS: tuple[Action, ...] = (
    Action("checkpoint.restore", "restore…", (Checkpoint,), plan=plan_restore, one=True),
    Action("step.undo", "undo this…", (Step,), run=history.undo_steps),
    # answers
    Action("record.confirm", "accept", (Proposal,), proposals.accept),
    Action("record.confirm", records.word_of_task, (Task,), records.move_tasks),
    Action("record.confirm", "yes", HELD, records.confirm),
    Action("record.forget", "reject", (Proposal,), partial(proposals.decide, verb="reject")),
    Action("record.forget", "remove", (Checkpoint,), history.remove_checkpoints),
    Action("record.forget", "forget", HELD, records.forget),
    Action(
        "record.correct",
        "edit",
        (Proposal,),
        proposals.decide,
        PROPOSAL_FIELD,
        fits=lambda one: one.kind != "forget",
        one=True,
    ),
    Action("record.correct", "correct", TEXTS, run=records.correct, one=True),
    Action("record.correct", "editor", (Chunk,), run=records.edit_document, one=True),
    Action("record.later", "later", (Proposal,), run=proposals.put_off),
    # one record
    Action("record.pin", lambda one: "unpin" if records.is_pinned(one) else "pin", OWN, records.pin),
    Action("record.link", "link…", (Commit, Decision), records.link, pick=records.PICK_LINK),
    Action("record.link", "rests on…", (Fact,), records.bind, EVIDENCE_FIELD, one=True),
    Action("record.merge", "accept", (Proposal,), proposals.accept, fits=lambda one: one.kind == "merge"),
    Action(
        "record.merge",
        "same as…",
        (Proposal,),
        partial(proposals.decide, verb="merge"),
        pick=records.PICK_SAME,
        fits=lambda one: one.kind not in ("forget", "merge"),
        one=True,
    ),
    Action("record.merge", "same as…", (Fact,), records.merge, pick=records.PICK_SAME),
    Action(
        "record.supersede",
        "replaces…",
        (Proposal,),
        partial(proposals.decide, verb="supersede"),
        pick=REPLACED,
        fits=lambda one: one.kind not in ("forget", "merge"),
        one=True,
    ),
    Action("record.supersede", "replaces…", (Fact,), records.replace_fact, pick=REPLACED, one=True),
    Action("record.supersede", "replace…", (Decision,), records.decide, records.DECISION_FIELDS, one=True),
    Action("record.mute", "mute", OWN, records.mute),
    Action("record.tag", "tag", TEXTS, records.tag, TAG_FIELD),
    Action("record.purge", "erase…", PURGED_KINDS, plan=plan_purge),
    Action("step.undo", "undo all…", (Record,), run=history.undo_sitting, fits=_is_of_agent, one=True),
    Action("record.copy", "copy…", (Record, Step), run=records.copy, looks=True),
    Action("record.edit", "", (Proposal,), run=proposals.decide_in_editor),
    Action("record.edit", "", TEXTS, run=records.edit, one=True),
    Action("record.edit", "", (Chunk,), run=records.edit_document, one=True),
    Action("fact.move", "", OWN, records.move, one=True),
    Action("step.undo-all", "", (Record, Step), run=history.undo_all, one=True),
    Action("checkpoint.recover", "", (Checkpoint,), run=history.recover, one=True, looks=True),
    Action("past.look", "", MOMENTS, run=history.look_back, fields=MOMENT_FIELD, one=True, looks=True),
    Action("history.since", "", (Checkpoint,), run=history.show_since, fields=SINCE_FIELD, one=True, looks=True),
    # of nothing in particular
    Action("checkpoint.recover", "", run=history.recover, looks=True),
    Action("checkpoint.restore", "put back", run=history.choose_checkpoint),
    Action("step.undo", "", run=history.undo_sitting),
    Action("record.add", "add", run=_add_here),
    Action("memory.undo", "undo", run=partial(history.undo_or_redo, "undo")),
    Action("memory.redo", "", run=partial(history.undo_or_redo, "redo")),
    Action("memory.checkpoint", "", does=history.take_checkpoint, fields=NAME_FIELD),
    Action("memory.export", "", run=_export),
    Action("memory.open", "", run=_open_memory, looks=True),
    Action("iteration.turn", "", run=_turn_iteration),
    Action("inbox.duplicates", "", run=_find_duplicates),
    Action("past.look", "as of", run=history.look_back, fields=MOMENT_FIELD, looks=True),
    Action("history.since", "", run=history.show_since, fields=SINCE_FIELD, looks=True),
    Action("list.day", "", run=history.go_to_day, fields=DAY_FIELD, looks=True),
    Action("context.ask", "what agents get", run=_ask_context, fields=QUESTION_FIELD, looks=True),
)

ADD_TASK = Action("record.add", "add a task", does=records.add_task, fields=TASK_FIELD)
ADD_DECISION = Action("record.add", "add", does=records.decide, fields=records.DECISION_FIELDS)
ADD_CHECKPOINT = Action("record.add", "checkpoint", does=history.take_checkpoint, fields=NAME_FIELD)
MERGE_MARKED = Action("record.merge", "merge", (Fact,), records.merge_marked)
LINK_MARKED = Action("record.link", "link", (Commit, Decision), records.toggle_links)


def action_for_many(action: Action, things: Sequence[Any]) -> Action:
    """Return the action for several things where that is another than for one: facts are merged with one another,
    commits and decisions linked."""
    if action.key == "record.merge" and all(isinstance(one, Fact) for one in things):
        return MERGE_MARKED
    both = {type(one) for one in things} == {Commit, Decision}
    return LINK_MARKED if action.key == "record.link" and both else action
