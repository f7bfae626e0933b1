"""The single table of keys, from which bindings, footer, help, the box and docs/keys.md are made.

One rule: a lower-case letter acts at once on the record under the cursor or the marked ones, and writes at most one
step of history; a capital opens what will happen, and writes nothing before Enter; a sign looks or sets. Users may
remap an id in the configuration (`[keys]`): see `remap_keys`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

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
    read-only, and allowed in a past view; `former`: the key that it had, and `words`: others for what it does, by which
    the box finds it."""

    id: str
    action: str
    _: KW_ONLY
    keys: str = ""
    label: str = ""
    help: str = ""
    verb: str = ""
    looks: bool = False
    former: str = ""
    words: str = ""

    def first_key(self, remapped: Mapping[str, str] = {}) -> str:
        """Return the first of its keys as footer and help show it; empty if it has none."""
        return show_key(remapped.get(self.id, self.keys).split(",")[0])


# The panes in the order of their tabs, and the views that are reached by their names.

TODAY, FACTS, TIMELINE, ASK, HISTORY = PANE_NAMES = ("today", "facts", "timeline", "ask", "history")
FILES, SETTINGS_VIEW = "files", "settings"
# what a search found
FOUND = "found"
PANE_KEYS = {name: str(number) for number, name in enumerate(PANE_NAMES, start=1)}


def _read_keys() -> dict[str, tuple[Key, ...]]:
    """Read the tables of keys, in their order."""
    tables = tomllib.loads(Path(__file__).with_name("keys.toml").read_text(encoding="utf-8"))
    return {
        name: tuple(Key(id, **{"action": f"start('{id}')", **fields}) for id, fields in table.items())
        for name, table in tables.items()
    }


KEYS, PLAN_KEYS = _read_keys().values()
VIEW_NAMES = tuple(key.id.removeprefix("view.") for key in KEYS if key.id.startswith("view."))
# keys that the lists bind themselves, in RecordList and in the help
LIST_KEYS = (
    Key("list.down", "move(1)", keys="down,j", help="To the next record"),
    Key("list.up", "move(-1)", keys="up,k", help="To the record before"),
    Key("list.page-down", "page(1)", keys="pagedown", help="One screen down"),
    Key("list.page-up", "page(-1)", keys="pageup", help="One screen up"),
    Key("list.half-down", "page(0.5)", keys="ctrl+d", help="Half a screen down"),
    Key("list.half-up", "page(-0.5)", keys="ctrl+u", help="Half a screen up"),
    Key("list.first", "first", keys="g,home", help="To the first record"),
    Key("list.last", "last", keys="G,end", help="To the last record"),
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
        # restore its defaults, unless others took them
        if id in keys and not keys[id]:
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
