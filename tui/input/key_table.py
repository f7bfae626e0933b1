"""The single table of keys, from which bindings, footer, help, the box and docs/keys.md are made.

One rule: a lower-case letter acts at once on the record under the cursor or the marked ones, and writes at most one
step of history; a capital opens what will happen, and writes nothing before Enter; a sign looks or sets. Users may
remap an id in the configuration (`[keys]`): see `remap_keys`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

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
    """`id` is stable (for remapping), `keys` are in Textual's notation (empty: it is only in the box that `:` opens),
    `action` is a method of the screen; `label` is shown in the footer; `verb` is the verb it runs; `looks`: it is
    read-only, and allowed in a past view; `former`: the key that it had, by which the box finds it."""

    id: str
    keys: str
    action: str
    label: str = ""
    help: str = ""
    _: KW_ONLY
    verb: str = ""
    looks: bool = False
    former: str = ""

    def first_key(self, remapped: Mapping[str, str] = {}) -> str:
        """Return the first of its keys as footer and help show it; empty if it has none."""
        return show_key(remapped.get(self.id, self.keys).split(",")[0])


# The panes in the order of their tabs, and the views that are reached by their names.

TODAY, FACTS, TIMELINE, ASK, HISTORY = PANE_NAMES = ("today", "facts", "timeline", "ask", "history")
AGENTS, FILES, HEALTH, TEAM, SETTINGS_VIEW = VIEW_NAMES = ("agents", "files", "health", "team", "settings")
FOUND = "found"  # what a search found
PREVIEW = "preview"
PANE_KEYS = {name: str(number) for number, name in enumerate(PANE_NAMES, start=1)}
PANE_HELPS = {
    TODAY: "To what waits for you",
    FACTS: "To the facts; again: the next of their states, then decisions and tasks",
    TIMELINE: "To the timeline of decisions, commits and events; again: the next kind",
    ASK: "To the questions that you asked the Librarian, with their sources",
    HISTORY: "To the changes, with the checkpoints; again: the checkpoints alone",
}
VIEW_HELPS = {
    AGENTS: "who is connected, what each did, read and was sent",
    FILES: "what other tools remember: what is wrong with it, what changed; correct it, put it back",
    HEALTH: "how the memory is, in figures, and whether anything is wrong",
    TEAM: "who shares with you, and what",
    SETTINGS_VIEW: "every setting: its value, its default, where it is from; and the model",
}

# The keys of the screen that shows a plan first: a restore, what changed, an erasure.

PLAN_KEYS = (
    Key("plan.apply", "enter", "apply", "apply", "Do what is chosen; where nothing can be, open the record"),
    Key("plan.choose", "space,x", "choose", "choose", "Choose the record, or leave it as it is"),
    Key("plan.all", "ctrl+a,a", "all", "all, none", "Choose all that can be chosen, or none"),
    Key("plan.kind", "d", "kind", "one kind", "Choose only decisions, only facts, links, tasks; then all"),
    Key("plan.strategy", "s", "strategy", "strategy", "Replace, keep what you changed, or only add"),
    Key("plan.leave", "escape,q", "leave", "leave", "Leave; nothing is changed"),
    Key("plan.down", "J", "scroll_preview(1)", "", "Scroll the preview down"),
    Key("plan.up", "K", "scroll_preview(-1)", "", "Scroll the preview up"),
)

KEYS = (
    # answers: yes, no, otherwise, not now
    Key(
        "record.confirm",
        "y",
        "start('record.confirm')",
        "yes",
        "Yes: it is true, accept it, it is done",
        verb="confirm",
    ),
    Key("record.forget", "f", "start('record.forget')", "no", "No: forget it, reject it, remove it", verb="forget"),
    Key("record.correct", "c", "start('record.correct')", "correct", "In other words", verb="correct"),
    Key("record.later", "n", "start('record.later')", "later", "Not now: at the end of the list"),
    # the record under the cursor, or the marked ones
    Key("record.add", "a", "start('record.add')", "add", "Add here: a fact, a decision, a task, a checkpoint"),
    Key(
        "record.pin",
        "p",
        "start('record.pin')",
        "pin",
        "Pin the fact, so that it never ages; or unpin it",
        verb="pin",
    ),
    Key(
        "record.mute",
        "minus",
        "start('record.mute')",
        "mute",
        "Keep it from agents, or let them have it again",
        verb="mute",
    ),
    Key(
        "record.tag",
        "number_sign",
        "start('record.tag')",
        "tag",
        "Tag it; with - in front the tag is taken away",
        verb="tag",
    ),
    Key(
        "record.merge",
        "equals_sign",
        "start('record.merge')",
        "same as…",
        "It says the same as another: merge them",
        verb="merge",
    ),
    Key(
        "record.link",
        "L",
        "start('record.link')",
        "link…",
        "Link it with a commit or a decision, or with what it rests on",
        verb="link",
    ),
    Key(
        "record.supersede",
        "S",
        "start('record.supersede')",
        "replaces…",
        "It replaces another, or another replaces it",
    ),
    Key(
        "record.purge",
        "F",
        "start('record.purge')",
        "erase…",
        "See what erasing it with all old versions removes, for good",
        verb="purge",
    ),
    # the list
    Key("mark.toggle", "space", "mark", "mark", "Mark the record and move on; keys then act on all marked"),
    Key("mark.all", "ctrl+a", "mark_all", "", "Mark the group under its heading; again: the whole list, or none"),
    Key("list.only", "o", "only", "only…", "Show only…, in which order, with what is hidden", looks=True),
    Key(
        "preview.alone",
        "z",
        "zoom('preview')",
        "zoom",
        "Give the record the whole screen; or the list its place again",
        looks=True,
    ),
    # time
    Key("memory.undo", "u", "start('memory.undo')", "undo", "Undo your newest change", verb="undo"),
    Key("memory.redo", "ctrl+r", "start('memory.redo')", "", "Redo what the last undo removed", verb="redo"),
    Key(
        "step.undo",
        "U",
        "start('step.undo')",
        "undo this…",
        "See what undoing it changes: this, those marked, all of its session or its author",
    ),
    Key(
        "checkpoint.restore",
        "R",
        "start('checkpoint.restore')",
        "put back…",
        "See what going back changes: to a checkpoint, to a file as it was; or read a checkpoint",
        verb="restore",
    ),
    Key(
        "past.look",
        "at",
        "start('past.look')",
        "as of",
        "See everything as it was at a moment; there: what changed since",
        looks=True,
    ),
    # elsewhere
    Key(
        "context.ask",
        "I",
        "start('context.ask')",
        "what agents get",
        "What an agent would be sent for a question, and why",
        looks=True,
        verb="context",
    ),
    Key("record.copy", "Y", "start('record.copy')", "copy…", "Copy it: citation, text, or both", looks=True),
    # where to go
    *(
        Key(f"pane.{name}", key, f"go('{name}')", "", PANE_HELPS[name], looks=True)
        for name, key in PANE_KEYS.items()
    ),
    Key("list.next-heading", "tab", "heading(1)", "", "To the next heading: state, day", looks=True),
    Key("list.previous-heading", "shift+tab", "heading(-1)", "", "To the heading before", looks=True),
    Key(
        "preview.follow",
        "enter",
        "open",
        "open",
        "Open it; in the preview the citation; elsewhere do what the line says",
        looks=True,
    ),
    Key(
        "screen.leave",
        "escape",
        "leave",
        "back",
        "Back, one thing at a time: a box, marks, a search, the preview, the past, a filter, a view",
        looks=True,
    ),
    Key("preview.back", "backspace", "back", "back", "Back to the record before", looks=True),
    Key("preview.next", "right", "citation(1)", "next link", "The next citation", looks=True),
    Key("preview.previous", "left", "citation(-1)", "", "The citation before", looks=True),
    Key(
        "search.open",
        "slash",
        "find",
        "find",
        "Find, ask or command: the one line (kind: domain: is: tag: author: iteration: since: before:)",
        looks=True,
        verb="search",
    ),
    Key(
        "command.open",
        "colon,ctrl+p",
        "box",
        "more",
        "Find any action, view, setting or command, and do it",
        looks=True,
    ),
    Key("help.open", "question_mark,f1", "help", "keys", "All keys and commands", looks=True),
    Key("app.quit", "q,ctrl+q", "app.quit", "", "Quit", looks=True),
    # in the box alone; each can be given a key
    *(
        Key(f"view.{name}", "", f"go('{name}')", "", f"{name.capitalize()}: {VIEW_HELPS[name]}", looks=True)
        for name in VIEW_NAMES
    ),
    Key(
        "record.edit",
        "",
        "start('record.edit')",
        "editor",
        "Correct the text in your editor; of proposals decide many there",
        former="E",
    ),
    Key(
        "fact.move",
        "",
        "start('fact.move')",
        "",
        "Keep a fact in your personal memory, seen in every project; or in this project alone",
        former="V",
    ),
    Key(
        "step.undo-all",
        "",
        "start('step.undo-all')",
        "",
        "See what undoing everything that its author wrote changes",
        former="W",
    ),
    Key(
        "checkpoint.recover",
        "",
        "start('checkpoint.recover')",
        "",
        "Read what a checkpoint holds, to go on there",
        former="C",
    ),
    Key(
        "memory.checkpoint",
        "",
        "start('memory.checkpoint')",
        "",
        "Take a checkpoint, to come back to",
        verb="checkpoint",
        former="b",
    ),
    Key(
        "memory.export",
        "",
        "start('memory.export')",
        "",
        "Write the whole memory to a JSON file in your home directory",
        verb="export",
        former="x",
    ),
    Key(
        "memory.open", "", "start('memory.open')", "", "Open the memory of another project", former="O", looks=True
    ),
    Key(
        "iteration.turn",
        "",
        "start('iteration.turn')",
        "",
        "Start an iteration, or end the one under way",
        verb="iteration",
        former="i",
    ),
    Key(
        "inbox.duplicates",
        "",
        "start('inbox.duplicates')",
        "",
        "Find facts that say the same or contradict each other, and propose what to do",
        former="M",
    ),
    Key(
        "history.since",
        "",
        "start('history.since')",
        "",
        "Everything that changed since a moment, before and after",
        former="D",
        looks=True,
    ),
    Key("list.day", "", "start('list.day')", "", "To a day: 2026-10-01, yesterday, 3w", former="t", looks=True),
    Key("search.why", "", "why", "", "Why this result: what each signal contributed", former="w", looks=True),
    Key("search.related", "", "related", "", "Search what is similar to the record", former="r", looks=True),
    Key("preview.forward", "", "forward", "", "Forward again, after going back", looks=True),
    Key("preview.down", "", "scroll_preview(1)", "", "Scroll the preview down", former="J", looks=True),
    Key("preview.up", "", "scroll_preview(-1)", "", "Scroll the preview up", former="K", looks=True),
    Key(
        "list.alone",
        "",
        "zoom('list')",
        "",
        "Give the list the whole screen; or both their places again",
        former="Z",
        looks=True,
    ),
    Key("list.less", "", "split(-5)", "", "Give the list less of the screen; it is kept", former="<", looks=True),
    Key("list.more", "", "split(5)", "", "Give the list more of the screen; it is kept", former=">", looks=True),
    Key("theme.choose", "", "themes", "", "Choose the theme; it is kept", former="T", looks=True),
    Key("messages.open", "", "messages", "", "What was said in this sitting", looks=True),
    Key("tour.toggle", "", "tour", "", "In the demo: leave the tour, or resume it", looks=True),
    Key("index.toggle", "", "index", "", "Stop indexing, or go on", looks=True),
    Key(
        "model.open",
        "",
        "go('settings', 'model')",
        "",
        "The model that the agent asks: its state, fetch one, try it, choose one, when it is asked",
        former="P",
        looks=True,
    ),
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
    "start.leave": "the first start", "start.undo": "the first start", "dialog.leave": "every box",
    "field.undo": "every line to type in", "list.open": "every list", "help.close": "the help",
    "help.rekey": "the help", "edit.leave": "the text that is edited",
}  # fmt: skip
"""The ids that cannot be remapped, and what needs their keys."""
# always available, so that no remapping locks the user out
ALWAYS_KEYS = {"app.quit": "ctrl+q", "command.open": "ctrl+p"}
# ids that are active at the same time, in order of precedence when two want one key
KEY_SCOPES = ((*KEYS, *LIST_KEYS), (*PLAN_KEYS, *LIST_KEYS))

remapped_keys: dict[str, str] = {}
"""The keys of the ids that were remapped, set by `remap_keys`."""


def key_name(id: str) -> str:
    """Return the key of an id as it is displayed, remapped or not; for an id without a key, what finds it
    in the box."""
    return KEYS_BY_ID[id].first_key(remapped_keys) or f":{id}"


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
    return [_KEY_CODES.get(key, key) for key in keys.split(",") if key]


_KEY_CODES = {sign: name for name, sign in KEY_SIGNS.items() if len(sign) == 1 and sign.isascii()}


def fill_in_keys(text: str) -> str:
    """Replace each `{id}` in a text by that key."""
    return re.sub(r"\{([\w.-]+)\}", lambda found: key_name(found[1]), text)
