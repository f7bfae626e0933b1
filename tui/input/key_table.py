"""The single table of keys, from which bindings, footer, help, the palette and docs/keys.md are made.

A key runs a verb of `verbs` if there is one, and then has the verb's summary as its help. Users may remap an id in the
configuration (`[keys]`); `remapped` holds the resulting keys."""

from collections.abc import Mapping

from tui.input.key import NAMES, Key, show
from tui.input.pane_table import BY_NAME
from tui.input.plan_keys import PLAN_KEYS

FACTS, TIMELINE, CHECKPOINTS, HISTORY, TASKS, INBOX, CONTEXT, LIBRARIAN, HEALTH = (
    *("facts", "timeline", "checkpoints", "history", "tasks", "inbox", "context", "librarian", "health"),
)
PANES = tuple(BY_NAME)
NUMBERS = {name: pane.key for name, pane in BY_NAME.items()}  # the keys that focus the panes, as their tabs show them
HITS, PREVIEW = "hits", "preview"
LISTS = (*(name for name, pane in BY_NAME.items() if not pane.widget), HITS)
OF_RECORDS = tuple(name for name in LISTS if name == HITS or BY_NAME[name].records)
RECORDS = (FACTS, TIMELINE, HITS, CONTEXT)  # the lists whose records can be forgotten and corrected

KEYS = (
    *(key for pane in BY_NAME.values() for key in pane.keys),
    Key(
        "step.undo",
        "U",
        "change('history.take_back')",
        "undo step",
        "Undo the step under the cursor, alone",
        panes=(HISTORY,),
    ),
    Key(
        "step.undo-all",
        "W",
        "change('history.take_back_all')",
        "undo all by author",
        "Undo everything that the author of this step, or of this fact, wrote",
        panes=(HISTORY,),
    ),
    Key(
        "checkpoint.restore",
        "R",
        "change('history.restore')",
        "restore…",
        "See what going back to the checkpoint would change, then choose",
        panes=(CHECKPOINTS,),
    ),
    Key(
        "checkpoint.recover",
        "C",
        "change('history.recover')",
        "recover",
        "Read what the checkpoint holds, to go on there; elsewhere where a session broke off, or the newest",
        panes=(CHECKPOINTS,),
    ),
    Key(
        "task.move",
        "m",
        "change('tasks.move_task')",
        "start, finish",
        "Start the task, finish it, or open it again",
        panes=(TASKS,),
    ),
    Key(
        "record.forget",
        "f",
        "change('facts.forget')",
        "forget",
        "Hide facts or decisions, until undone; in the inbox, reject what is proposed; remove a checkpoint",
        verb="forget",
        panes=(*RECORDS, INBOX, CHECKPOINTS),
        words={INBOX: "reject", CHECKPOINTS: "remove"},
        kinds=("fact", "global", "decision", "checkpoint", "proposal", "merge proposal", "forget proposal"),
    ),
    Key("record.purge", "F", "change('purge.purge')", verb="purge", panes=(*RECORDS, TASKS)),
    Key(
        "record.correct",
        "c",
        "ask_for('correct.correct')",
        "correct",
        "Replace a text, the old one stays; in the inbox, accept a proposal in your own words",
        verb="correct",
        panes=(*RECORDS, TASKS, INBOX),
        words={INBOX: "edit"},
        kinds=("fact", "global", "decision", "task", "proposal", "merge proposal"),
    ),
    Key(
        "record.confirm",
        "y",
        "change('facts.confirm')",
        "confirm",
        "Confirm: still true; in the inbox, accept what is proposed",
        verb="confirm",
        panes=(FACTS, HITS, CONTEXT, INBOX),
        words={INBOX: "accept"},
        kinds=("fact", "global", "decision", "proposal", "merge proposal", "forget proposal"),
    ),
    Key(
        "search.next",
        "n",
        "hit(1)",
        "",
        "The next hit of the search; in the inbox, leave the proposal for later",
        panes=(INBOX,),
        words={INBOX: "later"},
    ),
    Key(
        "record.merge",
        "equals_sign",
        "ask_for('inbox.merge')",
        "merge",
        "Merge facts that say the same, or a proposal with the fact it is like",
        panes=(INBOX,),
        kinds=("proposal",),
    ),
    Key(
        "record.add",
        "a",
        "ask_for('facts.add')",
        "add",
        "Add a fact; in the timeline a decision, in checkpoints a checkpoint, in tasks a task",
        panes=(FACTS, TIMELINE, CHECKPOINTS, TASKS),
    ),
    Key(
        "record.pin",
        "p",
        "change('facts.pin')",
        "pin",
        "Pin the fact, so that it never ages; or unpin it",
        panes=(FACTS, CONTEXT),
    ),
    Key("fact.move", "V", "change('global_facts.move')", "", verb="move"),
    Key(
        "fact.mute",
        "minus",
        "change('context.mute')",
        "mute",
        "Keep the fact out of every context; or let it in again",
        panes=(CONTEXT,),
    ),
    Key(
        "context.ask",
        "I",
        "ask_for('context.ask')",
        "question",
        "What an agent would be sent for a question; empty for the last one",
        panes=(CONTEXT,),
        looks=True,
    ),
    Key(
        "preview.follow",
        "enter",
        "open",
        "open",
        "Go into the preview, there open the citation; an answer's too, or ask; in the health, go where a figure leads",
        panes=(TIMELINE, CHECKPOINTS, HISTORY, HITS, CONTEXT, LIBRARIAN, HEALTH),
        words={LIBRARIAN: "open, ask", HEALTH: "go there"},
    ),
    Key("search.why", "w", "why", "why", "Why this result: what each signal contributed", panes=(HITS,)),
    Key("search.related", "r", "related", "related", "Search what is related to the record", panes=(HITS,)),
    Key("preview.next", "right,l,]", "citation(1)", "next link", "The next citation", panes=(PREVIEW, LIBRARIAN)),
    Key("preview.previous", "left,h,[", "citation(-1)", "", "The citation before"),
    Key("preview.back", "backspace,shift+left", "back", "back", "Back to the record before", panes=(PREVIEW,)),
    Key("preview.forward", "shift+right", "forward", "forward", "Forward again, after going back", panes=(PREVIEW,)),
    Key(
        "memory.undo",
        "u",
        "change('history.undo')",
        "undo",
        verb="undo",
        panes=(*LISTS, PREVIEW),
        words={HISTORY: "undo my last"},
    ),
    Key("memory.redo", "ctrl+r", "change('history.redo')", "", verb="redo"),
    Key("librarian.ask", "A", "ask_librarian", "ask", "Ask the librarian a question", panes=(LIBRARIAN,)),
    Key("search.open", "slash", "search", "search", verb="search", panes=(*PANES, HITS, PREVIEW)),
    Key(
        "list.day",
        "t",
        "ask_for('copy_export.day')",
        "to day",
        "To a day: 2026-10-01, yesterday, 3w",
        panes=(TIMELINE, HISTORY),
        words={TIMELINE: "day"},
        looks=True,
    ),
    Key(
        "past.look",
        "at",
        "ask_for('history.as_of')",
        "as of",
        "See everything as it stood at a moment: a day, a checkpoint, a step",
        panes=(FACTS, TIMELINE, CHECKPOINTS, HISTORY),
        looks=True,
    ),
    Key("command.open", "colon", "command", "command", "Any command, as on the command line", panes=(*PANES, HITS)),
    Key(
        "record.tag",
        "number_sign",
        "ask_for('facts.tag')",
        "tag",
        "Tag facts, decisions and tasks; a tag with - in front is taken away",
        panes=(FACTS, TIMELINE, TASKS),
        kinds=("fact", "global", "decision", "task"),
    ),
    Key("help.open", "question_mark,f1", "help", "help", "All keys and commands", panes=(*PANES, HITS, PREVIEW)),
    Key(
        "palette.open",
        "ctrl+p",
        "app.command_palette",
        "all",
        "Find any key or command by its name",
        panes=(*PANES, HITS, PREVIEW),
    ),
    Key(
        "mark.toggle",
        "space",
        "mark",
        "mark",
        "Mark the record and move on; commands then act on all marked",
        panes=OF_RECORDS,
    ),
    Key("mark.range", "v", "mark_range", "", "Mark from here to where the cursor goes; again to end it"),
    Key("mark.all", "ctrl+a", "mark_all", "", "Mark all of the list, or none", panes=OF_RECORDS),
    Key(
        "record.copy",
        "Y",
        "change('copy_export.copy')",
        "copy",
        "Copy the citations; in the librarian's pane the last answer",
        panes=(*OF_RECORDS, LIBRARIAN),
        looks=True,
    ),
    Key("record.copy-text", "ctrl+y", "change('copy_export.copy_text')", "", "Copy the texts", panes=LISTS, looks=True),
    Key(
        "record.edit",
        "E",
        "change('correct.edit')",
        "editor",
        "Correct the text in your editor; in the inbox, decide many there",
        panes=(FACTS, TIMELINE, TASKS, INBOX),
        kinds=("fact", "global", "decision", "task", "proposal", "merge proposal", "forget proposal"),
    ),
    Key(
        "record.link",
        "L",
        "ask_for('decisions.link')",
        "link",
        "Link a commit and a decision, or remove their link",
        panes=(TIMELINE,),
        kinds=("commit", "decision"),
    ),
    Key(
        "record.supersede",
        "S",
        "ask_for('decisions.supersede')",
        "supersede",
        "Record a decision that replaces this one; let a proposal replace a fact",
        panes=(TIMELINE, INBOX),
        kinds=("decision", "proposal"),
    ),
    Key(
        "record.bind",
        "B",
        "ask_for('evidence.bind')",
        "evidence",
        "What a fact or a decision rests on: a file, lines, a symbol, a commit; it is looked at again",
        panes=(FACTS,),
    ),
    Key(
        "iteration.turn",
        "i",
        "ask_for('tasks.iteration')",
        "",
        "Start an iteration, or end the one under way",
        panes=(TIMELINE, TASKS),
    ),
    Key(
        "history.since",
        "D",
        "ask_for('history.since')",
        "changed since",
        "Everything that changed since a moment, before and after; in the past, from then to now",
        panes=(HISTORY, CHECKPOINTS),
        looks=True,
    ),
    Key("memory.checkpoint", "b", "ask_for('history.checkpoint')", "checkpoint", verb="checkpoint", panes=(HISTORY,)),
    Key("memory.export", "x", "ask_for('copy_export.export')", "", verb="export"),
    Key(
        "list.sort",
        "s",
        "sort",
        "",
        "The next order of the facts: by need, oldest, by domain, newest, by text",
        panes=(FACTS,),
    ),
    Key(
        "list.filter",
        "d",
        "filter",
        "",
        "Only the next state (in the timeline and a search: the next kind; elsewhere who wrote it), at last all again",
        panes=(FACTS, TIMELINE, HISTORY, TASKS, INBOX, HITS),
    ),
    Key(
        "list.only",
        "o",
        "choose_filter",
        "",
        "Show only…: every filter with its count, one letter each",
        panes=(FACTS, TIMELINE, HISTORY, TASKS, INBOX, HITS),
    ),
    Key(
        "inbox.duplicates",
        "M",
        "change('inbox.look')",
        "find duplicates",
        "Find facts that say the same or contradict each other, and propose what to do",
        panes=(INBOX,),
    ),
    Key(
        "list.hidden",
        "H",
        "hidden",
        "",
        "Show replaced and forgotten facts, tasks done, automatic checkpoints; or hide them",
        panes=(FACTS, CHECKPOINTS, TASKS),
    ),
    Key("search.previous", "N", "hit(-1)", "", "The hit before"),
    *(Key(f"pane.{name}", pane.key, f"pane('{name}')", "", pane.help) for name, pane in BY_NAME.items()),
    Key("more.open", "0", "more", "more", "Agents, settings and the like", panes=(*PANES, HITS), looks=True),
    Key("pane.next", "tab", "next_pane(1)", "", "To the next pane"),
    Key("pane.previous", "shift+tab", "next_pane(-1)", "", "To the pane before"),
    Key(
        "preview.alone",
        "z",
        "zoom('preview')",
        "zoom",
        "Give the preview the whole screen, where n and N go to the next record; or both their places again",
        panes=(*PANES, HITS, PREVIEW),
    ),
    Key("list.alone", "Z", "zoom('list')", "", "Give the list the whole screen; or both their places again"),
    Key("list.less", "less_than_sign", "split(-5)", "", "Give the list less of the screen; it is kept"),
    Key("list.more", "greater_than_sign", "split(5)", "", "Give the list more of the screen; it is kept"),
    Key("sidebar.toggle", "backslash", "sidebar", "", "Show the sidebar, or hide it: panes and filters", looks=True),
    Key("list.next-heading", "right_curly_bracket", "heading(1)", "", "To the next heading: state, day"),
    Key("list.previous-heading", "left_curly_bracket", "heading(-1)", "", "To the heading before"),
    Key("preview.down", "J", "scroll_preview(1)", "", "Scroll the preview down"),
    Key("preview.up", "K", "scroll_preview(-1)", "", "Scroll the preview up"),
    Key("theme.choose", "T", "app.change_theme", "", "Choose the theme; it is kept"),
    Key("messages.open", "ctrl+g", "messages", "", "What was said in this sitting (:messages)", looks=True),
    Key("tour.toggle", "f3", "tour", "", "In the demo: leave the tour, or resume it (:tour)", looks=True),
    Key("index.toggle", "f4", "index", "", "Stop indexing, or go on (:index)", looks=True),
    Key("memory.open", "O", "open_memory", "", "Open the memory of another project"),
    Key("model.open", "P", "model", verb="model"),
    Key(
        "screen.leave",
        "escape",
        "leave",
        "",
        "Leave: a bar, marks, the search, the preview, the past, a filter; or stop reading git",
    ),
    Key("app.quit", "q,ctrl+q", "app.quit", "", "Quit"),
)
# keys that the lists bind themselves: (id, keys, action, help), in RecordList and in the help
MOVES = (
    Key("list.down", "down,j", "move(1)", help="To the next record"),
    Key("list.up", "up,k", "move(-1)", help="To the record before"),
    Key("list.page-down", "pagedown", "page(1)", help="One screen down"),
    Key("list.page-up", "pageup", "page(-1)", help="One screen up"),
    Key("list.half-down", "ctrl+d", "page(0.5)", help="Half a screen down"),
    Key("list.half-up", "ctrl+u", "page(-0.5)", help="Half a screen up"),
    Key("list.first", "g,home", "first", help="To the first record"),
    Key("list.last", "G,end", "last", help="To the last record"),
)
BY_ID = {key.id: key for key in (*KEYS, *PLAN_KEYS, *MOVES)}
# keys that an input or a list of options needs, which cannot be remapped
FIXED = {
    "start.leave": "the first start", "start.undo": "the first start",
    "only.leave": "the menu of filters", "more.leave": "the menu of screens", "settings.close": "the settings",
    "guard.close": "the guard", "guard.restore": "the guard", "guard.undo": "the guard", "guard.yes": "the guard",
    "guard.no": "the guard", "guard.look": "the guard",
    "guests.close": "the guests", "guests.search": "the guests", "guests.correct": "the guests",
    "guests.delete": "the guests", "guests.undo": "the guests", "guests.yes": "the guests", "guests.no": "the guests",
    "guests.edit": "the guests", "guests.look": "the guests",
    "evidence.close": "the evidence", "evidence.look": "the evidence", "evidence.run": "the evidence",
    "evidence.take": "the evidence", "evidence.unbind": "the evidence", "evidence.yes": "the evidence",
    "evidence.no": "the evidence",
    "scan.close": "the scan", "scan.save": "the scan", "scan.search": "the scan", "scan.edit": "the scan",
    "settings.edit": "the settings", "settings.unset": "the settings", "settings.undo": "the settings",
    "settings.find": "the settings",
    "ask.leave": "the line that asks", "ask.complete": "the line that asks", "ask.older": "the line that asks",
    "ask.newer": "the line that asks", "list.open": "every list", "help.close": "the help",
    "help.rekey": "the help", "doctor.close": "the doctor", "agents.close": "the agents",
    "agents.mute": "the agents", "agents.pause": "the agents", "agents.undo": "the agents",
    "question.older": "the line that asks", "question.newer": "the line that asks",
    "recent.leave": "the list of memories", "recent.down": "the list of memories", "recent.up": "the list of memories",
}  # fmt: skip
"""The ids that cannot be remapped, and what needs their keys."""
# always available, so that no remapping locks the user out
ALWAYS = {"app.quit": "ctrl+q", "palette.open": "ctrl+p"}
# ids that are active at the same time, in order of precedence when two want one key
PLACES = ((*KEYS, *MOVES), (*PLAN_KEYS, *MOVES))

_remapped: dict[str, str] = {}


def remap(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Remap ids for all later uses of keys; return what `resolve` does."""
    changed, problems = resolve(wanted)
    _remapped.clear()
    _remapped.update(changed)
    return changed, problems


def named(id: str) -> str:
    """Return the key of this id as displayed, remapped or not; where it is in the palette if it has none."""
    return BY_ID[id].shown(_remapped) or f"{show(ALWAYS['palette.open'])} {id}"


def resolve(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return (the keys of ids that differ from their defaults by `wanted`, sentences about remappings that failed).

    Of two ids with one key in the same place, the first in the table gets it. ctrl+q and ctrl+p cannot be remapped."""
    if not wanted:
        return {}, []
    keys = {id: _split(wanted.get(id, key.keys)) for id, key in BY_ID.items()}
    problems: list[str] = []
    for owner, always in ALWAYS.items():
        for id, own in keys.items():
            if id != owner and always in own:
                problems.append(f"{always} is {owner}, whatever else is set; {id} cannot have it.")
                own.remove(always)
        if always not in keys[owner]:
            keys[owner].append(always)
    for place in PLACES:
        holders: dict[str, str] = {}
        for key in place:
            for one in keys[key.id].copy():
                holder = holders.setdefault(one, key.id)
                if holder != key.id and (holder in wanted or key.id in wanted):
                    problems.append(f"{show(one)} would be {holder} and {key.id}; {holder} keeps it.")
                    keys[key.id].remove(one)
    for id in wanted:
        if id in keys and not keys[id]:  # restore its defaults, unless others took them
            others = {one for place in PLACES if BY_ID[id] in place for key in place for one in keys[key.id]}
            keys[id] = [one for one in _split(BY_ID[id].keys) if one not in others]
    changed = {id: ",".join(own) for id, own in keys.items() if own != _split(BY_ID[id].keys)}
    return changed, list(dict.fromkeys(problems))


def _split(keys: str) -> list[str]:
    """Convert keys to Textual's names, so that `/` and `slash` are one key."""
    return [_CODES.get(key, key) for key in keys.split(",")]


_CODES = {sign: name for name, sign in NAMES.items() if len(sign) == 1 and sign.isascii()}
