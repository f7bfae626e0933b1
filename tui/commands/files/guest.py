"""guest."""

import sys

from store.base.errors import Declined, InvalidInput
from tui.commands import Outcome, Session
from tui.commands.files.guard import diff_line, guard_config, home_path
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from store.guests.changing import GuestPlan
    from store.guests.guest_text import GuestText
    from store.guests.listing import GuestList
    from tui.input.argument_parser import ParsedArguments

WIDE = 12  # cells for the name of a tool
LONGEST = 160  # characters of a text in a list
ACTS = ("list", "search", "show", "correct", "delete", "undo")
WANTS = {"search": "words", "show": "a name", "correct": "a name and a text", "delete": "a name"}
UNDO = "memoranda guest undo"


def guest(session: Session, given: "ParsedArguments") -> Outcome:
    act, words = given.what or "list", given.words
    if act not in ACTS:
        raise InvalidInput(f"guest does not know “{visible(act[:40])}”.", "See `memoranda guest --help`.")
    fewest = 2 if act == "correct" else 1 if act in WANTS else 0
    if len(words) < fewest:
        raise InvalidInput(f"guest {act} wants {WANTS[act]}.", "memoranda guest list shows what there is.")
    if act in ("list", "undo") and words:
        raise InvalidInput(f"guest {act} takes no words.", f"memoranda guest search {visible(' '.join(words)[:40])}")
    if act == "show":
        return _show(words[0])
    if act in ("list", "search"):
        return _list(session, given, " ".join(words))
    return _change(session, given, act, words)


# reading


def _list(session: Session, given: "ParsedArguments", query: str) -> Outcome:
    from store.base.vocabulary import GUEST_TOOLS
    from store.guests.listing import listed as guest_texts
    from store.guests.listing import matching as matching_guest_texts
    from store.services.source_import import machine as this_machine

    session.wait("Reading what other tools remember")
    try:
        found = guest_texts(this_machine(), (given.tool,) if given.tool else GUEST_TOOLS)
    finally:
        session.wait("")
    texts = matching_guest_texts(found.texts, query)
    shown = texts[: given.limit]
    lines = [_line(one) for one in shown]
    if len(texts) > len(shown):
        lines.append(f"… and {len(texts) - len(shown):,} more: --limit {len(texts)}")
    if not texts:
        lines = [f"Nothing has the words “{visible(query)}”." if query and found.texts else NOTHING]
    lines += [f"Not read: {home_path(one.path)}: {one.why}" for one in found.troubles]
    return Outcome(lines=lines, data=lambda: _list_data(found, shown))


NOTHING = "No memory of Claude Code, basic-memory, OpenClaw or Engram was found on this machine."


def _line(one: "GuestText") -> str:
    text = guest_line(one)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return f"{one.short}  {guest_tool(one):<{WIDE}}  {shown}"


def guest_tool(one: "GuestText") -> str:
    """Return the name of its tool."""
    from store.guests.listing import title as guest_title

    return guest_title(one.tool)


def guest_line(one: "GuestText") -> str:
    """Return a text in a line, without secrets; one that has a title and lines of its own begins with that."""
    from store.guests.secrets import shown as shown_guest_text

    title = f"{one.title}: " if one.title and (one.whole or one.tool == "engram") else ""
    return visible(" ".join(shown_guest_text(f"{title}{one.text}").split()))


def guest_place(one: "GuestText") -> str:
    """Return where it is: the file and the line, or the row of a database."""
    return f"{home_path(one.path)}, observation {one.line}" if not one.end else f"{home_path(one.path)}:{one.line}"


def _show(name: str) -> Outcome:
    from store.guests.listing import find as find_guest_text
    from store.guests.secrets import shown as shown_guest_text
    from store.services.source_import import machine as this_machine

    one = find_guest_text(this_machine(), name)
    about = " · ".join(filter(None, (guest_tool(one), one.note, shown_guest_text(one.title))))
    lines = [f"{one.short}  {about}", guest_place(one), "", *shown_guest_text(one.text).split("\n")]
    return Outcome(lines=lines, data=lambda: _data(one))


# changing


def _change(session: Session, given: "ParsedArguments", act: str, words: "list[str]") -> Outcome:
    from store.guard.looking import now_ms as guard_now
    from store.guests.changing import plan_correction as plan_guest_correction
    from store.guests.changing import plan_deletion as plan_guest_deletion
    from store.guests.changing import plan_undo as plan_guest_undo
    from store.guests.changing import run as run_guest_plan
    from store.guests.listing import find as find_guest_text
    from store.services.source_import import machine as this_machine

    config, machine, now = guard_config(session), this_machine(), guard_now()
    if act == "undo":
        plan = plan_guest_undo(config, machine, now)
        question, said = f"Undo M#{plan.undoes}?", f"Undid M#{plan.undoes}"
    else:
        one = find_guest_text(machine, words[0])
        if act == "correct":
            plan = plan_guest_correction(config, machine, now, one, _text(words[1:]))
            question, said = f"Correct it in {guest_tool(one)}'s own file?", f"Corrected {one.short}"
        else:
            plan = plan_guest_deletion(config, machine, now, one)
            question, said = f"Delete it from {guest_tool(one)}'s own file?", f"Deleted {one.short}"
    preview = guest_preview(plan)
    if given.dry_run:
        return Outcome("Nothing was changed.", lambda: _plan_data(plan, None), preview)
    if not given.yes and not session.ask(question, preview):
        raise Declined("Nothing was changed.")
    done = run_guest_plan(config, machine, guard_now(), plan)
    back = f"memoranda guard restore M#{done}" if plan.undoes else UNDO
    return Outcome(f"{said}: M#{done}.", lambda: _plan_data(plan, done), [f"Take it back: {back}"])


def _text(words: "list[str]") -> str:
    text = " ".join(words)
    if text != "-":
        return text
    if sys.stdin.isatty():
        raise InvalidInput(
            "Standard input is a terminal here.", "Pipe the text into it: … | memoranda guest correct NAME -"
        )
    return sys.stdin.read()


def guest_preview(plan: "GuestPlan") -> "list[str]":
    """Return what a plan would change, file by file."""
    lines: list[str] = []
    for one in plan.files:
        lines += [f"{home_path(one.change.file.path)}  would be {plan.what(one)}", *map(diff_line, one.difference), ""]
    return lines


# output


def _data(one: "GuestText") -> "dict[str, Any]":
    from store.guests.secrets import shown as shown_guest_text

    return {
        "name": one.name,
        "tool": one.tool,
        "path": one.path,
        "line": one.line,
        "title": shown_guest_text(one.title),
        "note": one.note,
        "text": shown_guest_text(one.text),
    }


def _list_data(found: "GuestList", shown: "Sequence[GuestText]") -> "dict[str, Any]":
    return {
        "texts": [_data(one) for one in shown],
        "troubles": [{"path": one.path, "why": one.why} for one in found.troubles],
    }


def _plan_data(plan: "GuestPlan", done: int | None) -> "dict[str, Any]":
    return {
        "moment": done and f"M#{done}",
        "undoes": f"M#{plan.undoes}" if plan.undoes else None,
        "files": [
            {
                "path": one.change.file.path,
                "change": plan.what(one),
                "lines": [[line.sign, line.before, line.text] for line in one.difference],
            }
            for one in plan.files
        ],
    }
