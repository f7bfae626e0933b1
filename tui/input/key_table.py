"""The single table of keys, from which bindings, footer, help, the palette and docs/keys.md are made.

A key runs a verb if there is one, and then has the verb's summary as its help. Users may remap an id in the
configuration (`[keys]`): see `remap_keys`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import NamedTuple

# A key: its stable id, its action, and its display form.

# keys displayed differently from their name in Textual
KEY_SIGNS = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "number_sign": "#",
    "backspace": "⌫",
    "right": "→",
    "left": "←",
    "up": "↑",
    "down": "↓",
    "escape": "esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "at": "@",
    "minus": "-",
    "equals_sign": "=",
}


def show_key(key: str) -> str:
    """Format one key: `ctrl+r` as `^r`, `shift+tab` as `⇧tab`."""
    prefix = ""
    for word, sign in (("ctrl+", "^"), ("shift+", "⇧"), ("alt+", "⌥")):
        if key.startswith(word):
            key, prefix = key.removeprefix(word), prefix + sign
    return prefix + KEY_SIGNS.get(key, key)


@dataclass(slots=True, eq=False, repr=False)
class Key:
    """`id` is stable (for remapping), `keys` are in Textual's notation, `action` is a method of the screen; `label` is
    shown in the footer (empty: not in the footer); `panes` are those whose footer shows it and whose palette lists it
    first; `verb` is the verb it runs; `words` are other
    labels for some panes, or for a state of the record at the cursor; `kinds` of records that it applies to (empty:
    all); `looks`: it is read-only, and allowed in a past view."""

    id: str
    keys: str
    action: str
    label: str = ""
    help: str = ""
    _: KW_ONLY
    verb: str = ""
    panes: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    looks: bool = False

    @property
    def action_name(self) -> str:
        """Return the name of the action in `tui.actions` that the key runs; empty if it runs none."""
        name, _, rest = self.action.partition("('")
        return rest.rstrip("')") if name in ("change", "ask_for") else ""

    def first_key(self, remapped: Mapping[str, str] = {}) -> str:
        """Return the first of its keys as footer and help show it; empty if another id took its only key."""
        return show_key(remapped.get(self.id, self.keys).split(",")[0])


# The single table of panes, in the order of their tabs.


class Pane(NamedTuple):
    """The declaration of a pane: what is known of it before anything is drawn."""

    name: str
    """Its id and its folder."""
    key: str
    """The key that focuses it, as Textual names it."""
    help: str
    """The help of that key."""
    empty: str
    """The text of its empty list: what it is for, and the key that adds to it. `{record.add}` is the key of that id."""
    filtered: str = ""
    """The text if a filter hides everything."""
    label: str = ""
    """Its label, if that is not its name."""
    filters: Mapping[str, object] = MappingProxyType({})
    """The fields of the view that filter it, with their neutral values."""
    kinds: tuple[str, ...] = ()
    """The kinds of records whose rows are highlighted when another program changes them."""
    keys: tuple[Key, ...] = ()
    """Keys that only this pane has; their `panes` name it."""
    listed: bool = True
    """Whether it is a list; else a widget of its own."""
    read: bool = True
    """Whether its list is read by itself; else with the facts."""
    records: bool = True
    """Whether its rows are records, which can be marked and copied."""

    def is_narrowed(self, view: object) -> bool:
        """Return whether a filter is active."""
        return any(getattr(view, name) != value for name, value in self.filters.items())


PANE_TABLE = (
    Pane(
        "facts",
        "1",
        help="To the facts",
        empty="No facts yet. Press {record.add} to add the first one: what should be remembered here?",
        filtered="No facts match. {screen.leave} shows all facts; {list.only} chooses another filter.",
        filters={"state": None, "words": "", "domain": None, "origin": None, "tag": None},
        kinds=("fact",),
        read=False,
    ),
    Pane(
        "timeline",
        "2",
        help="To the timeline",
        empty="Nothing happened here yet. Decisions, commits and events will be here, newest "
        "first. Press {record.add} to "
        "record a decision.",
        filtered="Nothing of this kind. {screen.leave} shows all kinds; {list.filter} the next one.",
        filters={"kind": None},
        kinds=("decision",),
        read=False,
    ),
    Pane(
        "checkpoints",
        "3",
        help="To the checkpoints",
        empty="No checkpoints yet. Press {record.add} to add a checkpoint; "
        "{checkpoint.restore} then shows what going back "
        "to it would change.",
    ),
    Pane(
        "history",
        "4",
        help="To the changes: the history of every record",
        empty="Nothing was changed yet. Every change will be here, with who made it, and {step.undo} undoes it.",
        filtered="Nothing by this author. {screen.leave} shows all changes; {list.only} chooses another author.",
        label="Changes",
        filters={"actor": None},
    ),
    Pane(
        "tasks",
        "5",
        help="To the tasks",
        empty="No tasks to be done. Press {record.add} to add one; {task.move} starts and finishes it.",
        filters={"progress": None},
        filtered="No such tasks. {screen.leave} shows all; {list.filter} chooses the next status.",
        kinds=("task",),
    ),
    Pane(
        "inbox",
        "6",
        help="To the inbox",
        empty="Nothing to review. What agents, imports and files propose to remember is here, with its evidence, until "
        "you accept it ({record.confirm}) or reject it ({record.forget}): no agent is "
        "sent it before. {inbox.duplicates} "
        "looks for facts that say the same, or contradict each other.",
        filtered="Nothing to review from this source. {screen.leave} shows all; {list.only} chooses another source.",
        filters={"asker": None},
        kinds=("proposal",),
    ),
    Pane(
        "context",
        "7",
        help="To the context: what an agent would be sent",
        empty="What an agent would be sent will be here, with what it costs and why each fact is in or out. Press "
        "{context.ask} to ask a question.",
    ),
    Pane(
        "librarian",
        "8",
        help="To the Librarian: ask about the past; there, to the question",
        empty="Ask what was decided, done or said, when, by whom and why, in English or Spanish: type it, and enter "
        "asks. Each sentence of an answer cites the record it rests on, and enter opens it. Where nothing is recorded "
        "it says so. For example:",
        label="Ask",
        listed=False,
        read=False,
    ),
    Pane(
        "health",
        "9",
        help="To the health: the state of the memory, in figures",
        empty="The state of the memory will be here: how old its facts are, what conversations and contexts cost, how "
        "searches and the reading of turns went.",
        records=False,
    ),
)

PANES_BY_NAME: Mapping[str, Pane] = {pane.name: pane for pane in PANE_TABLE}
TAB_ORDER = tuple(PANES_BY_NAME)


# The keys of the screens that show a plan first: a restore, what changed, a purge.

PLAN_SCREEN = "plan"
PLAN_KEYS = (
    Key("plan.apply", "enter", "apply", "apply", "Apply what is chosen", panes=(PLAN_SCREEN,)),
    Key(
        "plan.choose",
        "space,x",
        "choose",
        "choose",
        "Choose the record, or leave it as it is",
        panes=(PLAN_SCREEN,),
    ),
    Key("plan.all", "ctrl+a,a", "all", "all, none", "Choose all that can be chosen, or none", panes=(PLAN_SCREEN,)),
    Key(
        "plan.kind",
        "d",
        "kind",
        "one kind",
        "Choose only decisions, only facts, links, tasks; then all",
        panes=(PLAN_SCREEN,),
    ),
    Key(
        "plan.strategy",
        "s",
        "strategy",
        "strategy",
        "Replace, keep what you changed, or only add",
        panes=(PLAN_SCREEN,),
    ),
    Key("plan.leave", "escape,q", "leave", "leave", "Leave; nothing is changed", panes=(PLAN_SCREEN,)),
    Key("plan.down", "J", "scroll_preview(1)", "", "Scroll the preview down"),
    Key("plan.up", "K", "scroll_preview(-1)", "", "Scroll the preview up"),
)
CHANGES_KEYS = (
    Key("since.open", "enter", "apply", "open the record", "Open the record", panes=(PLAN_SCREEN,)),
    *(key for key in PLAN_KEYS if key.id in ("plan.leave", "plan.down", "plan.up")),
)
PURGE_KEYS = (
    Key(
        "purge.apply", "enter", "apply", "erase", "Erase what is shown; this cannot be undone", panes=(PLAN_SCREEN,)
    ),
    Key("purge.choose", "space,x", "choose", "erase here too", "Erase here too, or leave it", panes=(PLAN_SCREEN,)),
    Key("purge.all", "ctrl+a,a", "all", "all, none", "Erase in all places, or none", panes=(PLAN_SCREEN,)),
    *(key for key in PLAN_KEYS if key.id in ("plan.leave", "plan.down", "plan.up")),
)


FACTS, TIMELINE, CHECKPOINTS, HISTORY, TASKS, INBOX, CONTEXT, LIBRARIAN, HEALTH = (
    *("facts", "timeline", "checkpoints", "history", "tasks", "inbox", "context", "librarian", "health"),
)
PANE_NAMES = tuple(PANES_BY_NAME)
PANE_KEYS = {
    name: pane.key for name, pane in PANES_BY_NAME.items()
}  # the keys that focus the panes, as their tabs show them
HITS, PREVIEW = "hits", "preview"
LIST_NAMES = (*(name for name, pane in PANES_BY_NAME.items() if pane.listed), HITS)
RECORD_LISTS = tuple(name for name in LIST_NAMES if name == HITS or PANES_BY_NAME[name].records)
EDITABLE_LISTS = (FACTS, TIMELINE, HITS, CONTEXT)  # the lists whose records can be forgotten and corrected

KEYS = (
    *(key for pane in PANES_BY_NAME.values() for key in pane.keys),
    Key(
        "step.undo",
        "U",
        "change('history.take_back')",
        "undo step",
        "Undo the step under the cursor, alone, or the marked ones",
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
        "Recover: read what the checkpoint holds, to go on there; elsewhere where a session broke off, or the newest",
        panes=(CHECKPOINTS,),
    ),
    Key(
        "task.move",
        "m",
        "change('tasks.move_task')",
        "start, finish",
        "Start the task, finish it, or open it again",
        panes=(TASKS,),
        words={"pending": "start", "in_progress": "finish", "done": "open again"},
    ),
    Key(
        "record.forget",
        "f",
        "change('facts.forget')",
        "forget",
        "Hide facts or decisions, until undone; in the inbox, reject what is proposed; remove a checkpoint",
        verb="forget",
        panes=(*EDITABLE_LISTS, INBOX, CHECKPOINTS),
        words={INBOX: "reject", CHECKPOINTS: "remove"},
        kinds=("fact", "global", "decision", "checkpoint", "proposal", "merge proposal", "forget proposal"),
    ),
    Key(
        "record.purge",
        "F",
        "change('purge.purge')",
        verb="purge",
        help="Erase records with all old versions; this cannot be undone",
        panes=(*EDITABLE_LISTS, TASKS),
    ),
    Key(
        "record.correct",
        "c",
        "ask_for('correct.correct')",
        "correct",
        "Replace a text, the old one stays; in the inbox, accept a proposal in your own words",
        verb="correct",
        panes=(*EDITABLE_LISTS, TASKS, INBOX),
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
        kinds=("fact", "global"),
        words={"pinned": "unpin"},
    ),
    Key(
        "fact.move",
        "V",
        "change('global_facts.move')",
        "",
        help="Move a fact to another scope: global ones are kept in your personal memory and seen in every project",
    ),
    Key(
        "fact.mute",
        "minus",
        "change('context.mute')",
        "mute",
        "Keep the fact out of every context; or let it in again",
        panes=(CONTEXT,),
        kinds=("fact", "global"),
        words={"muted": "unmute"},
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
    Key("search.related", "r", "related", "similar", "Search what is similar to the record", panes=(HITS,)),
    Key("preview.next", "right,l,]", "citation(1)", "next link", "The next citation", panes=(PREVIEW, LIBRARIAN)),
    Key("preview.previous", "left,h,[", "citation(-1)", "", "The citation before"),
    Key("preview.back", "backspace,shift+left", "back", "back", "Back to the record before", panes=(PREVIEW,)),
    Key(
        "preview.forward", "shift+right", "forward", "forward", "Forward again, after going back", panes=(PREVIEW,)
    ),
    Key(
        "memory.undo",
        "u",
        "change('history.undo')",
        "undo",
        verb="undo",
        help="Undo your newest change, or the step named",
        panes=(*LIST_NAMES, PREVIEW),
        words={HISTORY: "undo my last"},
    ),
    Key("memory.redo", "ctrl+r", "change('history.redo')", "", verb="redo", help="Redo what the last undo removed"),
    Key("librarian.ask", "A", "ask_librarian", "", "Ask the librarian a question, from any other pane"),
    Key(
        "search.open",
        "slash",
        "search",
        "search",
        verb="search",
        help="Search everything (kind: domain: is: tag: author: iteration: since: before:)",
        panes=(*PANE_NAMES, HITS, PREVIEW),
    ),
    Key(
        "mark.toggle",
        "space",
        "mark",
        "mark",
        "Mark the record and move on; commands then act on all marked",
        panes=RECORD_LISTS,
    ),
    Key(
        "list.day",
        "t",
        "ask_for('copy_export.day')",
        "to day",
        "To a day: 2026-10-01, yesterday, 3w",
        panes=(TIMELINE, HISTORY),
        words={TIMELINE: "day", HISTORY: "day"},
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
    Key(
        "command.open",
        "colon",
        "command",
        "command",
        "Any command, as on the command line",
        panes=(*PANE_NAMES, HITS),
    ),
    Key(
        "record.tag",
        "number_sign",
        "ask_for('facts.tag')",
        "tag",
        "Tag facts, decisions and tasks; a tag with - in front is taken away",
        panes=(FACTS, TIMELINE, TASKS),
        kinds=("fact", "global", "decision", "task"),
    ),
    Key(
        "help.open", "question_mark,f1", "help", "help", "All keys and commands", panes=(*PANE_NAMES, HITS, PREVIEW)
    ),
    Key(
        "palette.open",
        "ctrl+p",
        "app.command_palette",
        "all",
        "Find any key or command by its name",
        panes=(*PANE_NAMES, HITS, PREVIEW),
    ),
    Key("mark.range", "v", "mark_range", "", "Mark from here to where the cursor goes; again to end it"),
    Key("mark.all", "ctrl+a", "mark_all", "", "Mark all of the list, or none", panes=RECORD_LISTS),
    Key(
        "record.copy",
        "Y",
        "change('copy_export.copy')",
        "copy",
        "Copy the citations",
        panes=RECORD_LISTS,
        looks=True,
    ),
    Key(
        "record.copy-text",
        "ctrl+y",
        "change('copy_export.copy_text')",
        "",
        "Copy the texts; in the librarian's pane the last answer",
        panes=(*LIST_NAMES, LIBRARIAN),
        words={LIBRARIAN: "copy"},
        looks=True,
    ),
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
        "replace",
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
    Key(
        "memory.checkpoint",
        "b",
        "ask_for('history.checkpoint')",
        "checkpoint",
        verb="checkpoint",
        help="Create a checkpoint, to come back to",
        panes=(HISTORY,),
    ),
    Key(
        "memory.export",
        "x",
        "ask_for('copy_export.export')",
        "",
        verb="export",
        help="Write the whole memory as one document: JSON, or Markdown to read",
    ),
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
    *(Key(f"pane.{name}", pane.key, f"pane('{name}')", "", pane.help) for name, pane in PANES_BY_NAME.items()),
    Key(
        "more.open",
        "0",
        "more",
        "panes",
        "More panes: agents, settings and the like",
        panes=(*PANE_NAMES, HITS),
        looks=True,
    ),
    Key("pane.next", "tab", "next_pane(1)", "", "To the next pane"),
    Key("pane.previous", "shift+tab", "next_pane(-1)", "", "To the pane before"),
    Key(
        "preview.alone",
        "z",
        "zoom('preview')",
        "zoom",
        "Give the preview the whole screen, where n and N go to the next record; or both their places again",
        panes=(*(pane for pane in PANE_NAMES if pane != LIBRARIAN), HITS, PREVIEW),
    ),
    Key("list.alone", "Z", "zoom('list')", "", "Give the list the whole screen; or both their places again"),
    Key("list.less", "less_than_sign", "split(-5)", "", "Give the list less of the screen; it is kept"),
    Key("list.more", "greater_than_sign", "split(5)", "", "Give the list more of the screen; it is kept"),
    Key(
        "sidebar.toggle", "backslash", "sidebar", "", "Show the sidebar, or hide it: panes and filters", looks=True
    ),
    Key("list.next-heading", "right_curly_bracket", "heading(1)", "", "To the next heading: state, day"),
    Key("list.previous-heading", "left_curly_bracket", "heading(-1)", "", "To the heading before"),
    Key("preview.down", "J", "scroll_preview(1)", "", "Scroll the preview down"),
    Key("preview.up", "K", "scroll_preview(-1)", "", "Scroll the preview up"),
    Key("theme.choose", "T", "app.change_theme", "", "Choose the theme; it is kept"),
    Key("messages.open", "ctrl+g", "messages", "", "What was said in this sitting (:messages)", looks=True),
    Key("tour.toggle", "f3", "tour", "", "In the demo: leave the tour, or resume it (:tour)", looks=True),
    Key("index.toggle", "f4", "index", "", "Stop indexing, or go on (:health --index)", looks=True),
    Key("memory.open", "O", "open_memory", "", "Open the memory of another project"),
    Key(
        "model.open",
        "P",
        "model",
        "",
        "The model that the agent asks: its state, fetch one, try it, choose one, and when it is asked",
    ),
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
LIST_KEYS = (
    Key("list.down", "down,j", "move(1)", help="To the next record"),
    Key("list.up", "up,k", "move(-1)", help="To the record before"),
    Key("list.page-down", "pagedown", "page(1)", help="One screen down"),
    Key("list.page-up", "pageup", "page(-1)", help="One screen up"),
    Key("list.half-down", "ctrl+d", "page(0.5)", help="Half a screen down"),
    Key("list.half-up", "ctrl+u", "page(-0.5)", help="Half a screen up"),
    Key("list.first", "g,home", "first", help="To the first record"),
    Key("list.last", "G,end", "last", help="To the last record"),
)
KEYS_BY_ID = {key.id: key for key in (*KEYS, *PLAN_KEYS, *LIST_KEYS)}
# keys that an input or a list of options needs, which cannot be remapped
FIXED_KEYS = {
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
    "settings.find": "the settings", "settings.next": "the settings", "settings.previous": "the settings",
    "field.undo": "every line to type in",
    "ask.leave": "the line that asks", "ask.complete": "the line that asks", "ask.older": "the line that asks",
    "ask.newer": "the line that asks", "list.open": "every list", "help.close": "the help",
    "help.find": "the help", "help.rekey": "the help", "doctor.close": "the doctor", "agents.close": "the agents",
    "agents.mute": "the agents", "agents.pause": "the agents", "agents.undo": "the agents",
    "question.older": "the line that asks", "question.newer": "the line that asks",
    "question.up": "the line that asks", "question.down": "the line that asks",
    "recent.leave": "the list of memories", "recent.down": "the list of memories", "recent.up": "the list of memories",
}  # fmt: skip
"""The ids that cannot be remapped, and what needs their keys."""
# always available, so that no remapping locks the user out
ALWAYS_KEYS = {"app.quit": "ctrl+q", "palette.open": "ctrl+p"}
# ids that are active at the same time, in order of precedence when two want one key
KEY_SCOPES = ((*KEYS, *LIST_KEYS), (*PLAN_KEYS, *LIST_KEYS))

remapped_keys: dict[str, str] = {}
"""The keys of the ids that were remapped, set by `remap_keys`."""


def key_name(id: str) -> str:
    """Return the key of an id as it is displayed, remapped or not; for an id without a key, where the palette
    lists it."""
    return KEYS_BY_ID[id].first_key(remapped_keys) or f"{show_key(ALWAYS_KEYS['palette.open'])} {id}"


# The screens that have no pane: the menu behind `0`, each with a letter.


class FurtherScreen(NamedTuple):
    """A screen: its letter, its name, the line that opens it, and what it shows."""

    letter: str
    name: str
    verb: str
    shows: str


FURTHER_SCREENS = (
    FurtherScreen("a", "Agents", "agents", "who is connected, what each did and was sent"),
    FurtherScreen("c", "Scan", "files scan", "what other tools remember, and what is wrong"),
    FurtherScreen("d", "Doctor", "health --check", "whether anything is wrong, and what to do"),
    FurtherScreen("e", "Evidence", "bind --check", "what facts rest on, and whether it still holds"),
    FurtherScreen("g", "Guard", "files keep", "what changed in your agents' memory files"),
    FurtherScreen("m", "Model", "config model", "the language model: which, and how it does"),
    FurtherScreen("p", "Plots", "health --plot -", "growth, recall and age over time"),
    FurtherScreen("r", "Replica", "team replica", "what teams shared, in a database; read-only"),
    FurtherScreen("s", "Settings", "config", "every setting: value, default, where it is from"),
    FurtherScreen("t", "Team", "team", "who shares with you, and what"),
    FurtherScreen("u", "Guests", "files list", "what other tools remember: correct and delete it"),
)


# Remapping of keys by the configuration, `[keys]`.


def remap_keys(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Remap ids for all later uses of keys; return what `resolve` does."""
    changed, problems = resolve_keys(wanted)
    remapped_keys.clear()
    remapped_keys.update(changed)
    return changed, problems


def resolve_keys(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return (the keys of ids that differ from their defaults by `wanted`, sentences about remappings that failed).

    Of two ids with one key in the same place, the first in the table gets it. ctrl+q and ctrl+p cannot be remapped."""
    if not wanted:
        return {}, []
    keys = {id: _split_keys(wanted.get(id, key.keys)) for id, key in KEYS_BY_ID.items()}
    problems: list[str] = []
    for owner, always in ALWAYS_KEYS.items():
        for id, own in keys.items():
            if id != owner and always in own:
                problems.append(f"{always} is {owner}, whatever else is set; {id} cannot have it.")
                own.remove(always)
        if always not in keys[owner]:
            keys[owner].append(always)
    for place in KEY_SCOPES:
        holders: dict[str, str] = {}
        for key in place:
            for one in keys[key.id].copy():
                holder = holders.setdefault(one, key.id)
                if holder != key.id and (holder in wanted or key.id in wanted):
                    problems.append(f"{show_key(one)} would be {holder} and {key.id}; {holder} keeps it.")
                    keys[key.id].remove(one)
    for id in wanted:
        if id in keys and not keys[id]:  # restore its defaults, unless others took them
            others = {
                one for place in KEY_SCOPES if KEYS_BY_ID[id] in place for key in place for one in keys[key.id]
            }
            keys[id] = [one for one in _split_keys(KEYS_BY_ID[id].keys) if one not in others]
    changed = {id: ",".join(own) for id, own in keys.items() if own != _split_keys(KEYS_BY_ID[id].keys)}
    return changed, list(dict.fromkeys(problems))


def _split_keys(keys: str) -> list[str]:
    """Convert keys to Textual's names, so that `/` and `slash` are equal."""
    return [_KEY_CODES.get(key, key) for key in keys.split(",")]


_KEY_CODES = {sign: name for name, sign in KEY_SIGNS.items() if len(sign) == 1 and sign.isascii()}
