"""Compare two states of a record column by column, as lines of (text, style) pieces."""

import re
from collections.abc import Mapping
from typing import Any

from store.base.citations import cite
from store.base.clock import local_time
from store.base.vocabulary import PERSON
from tui.render.badges import state_word

Piece = tuple[str, str]
Line = list[Piece]

LABEL = 13  # cells of the label column
NAMED = {
    "last_confirmed_at": "confirmed", "created_at": "made", "updated_at": "changed", "decided_at": "decided",
    "supersedes": "replaces", "link_type": "link",
}  # fmt: skip
LISTS = ("tags", "evidence", "alternatives", "others")  # columns that hold JSON
_AS_TAKEN = re.compile(r" @(?:[0-9a-f]{12}|-) ~[0-9a-f]{24}$")  # how a file was when it became evidence
# columns that mean nothing to a user
SILENT = frozenset(("id", "text_hash", "commit_id", "scope", "importance", "asked", "based_on"))


def compare(before: Mapping[str, object] | None, after: Mapping[str, object] | None) -> list[Line]:
    """Compare two states of a row column by column: the old value in red with −, the new one in green with +."""
    lines: list[Line] = []
    names = dict.fromkeys([*(before or {}), *(after or {})])
    for name in names:
        if name in SILENT:
            continue
        old, new = (_cell(name, state) for state in (before, after))
        if old == new:
            continue
        label = NAMED.get(name, name.removesuffix("_id").replace("_", " ")).ljust(LABEL)
        for sign, text, look in (("−", old, "removed"), ("+", new, "added")):
            if text:
                first, *rest = text.split("\n")
                lines.append([(f"  {label}", "label"), (f"{sign} {first}", look)])
                lines += [[(" " * (LABEL + 4), "label"), (line, look)] for line in rest]
                label = " " * LABEL
    return lines


def who(origin: str) -> str:
    """Return an origin in full, but `you` for the person."""
    return "you" if origin == PERSON else origin


def _cell(name: str, state: Mapping[str, object] | None) -> str:
    """Format a column's value; empty if it is empty or missing."""
    value = None if state is None else state.get(name)
    if value in (None, "", "[]", "{}", "null"):
        return ""
    if name.endswith("_at"):
        return local_time(str(value))
    if name == "pinned":
        return "yes" if value else ""
    if name in LISTS:
        return listed(value)
    if name == "change":
        return _fields(_parsed(value))
    if name == "status":
        return state_word(str(value)).replace("_", " ")
    if name == "origin":
        return who(str(value))
    if name == "supersedes" and isinstance(value, int):
        return cite("decision" if state and "chosen" in state else "fact", value)
    if name == "target" and isinstance(value, int):
        return cite("fact", value)
    if name in ("decision_id", "iteration_id") and isinstance(value, int):
        return cite(name.removesuffix("_id"), value)
    return str(value)


def listed(value: object) -> str:
    """Return a list, or its JSON, as people write it."""
    return ", ".join(map(_item, value if isinstance(value, list) else _parsed(value)))


def _parsed(value: object) -> Any:
    import json  # a millisecond, and the first frame shows no change

    return json.loads(str(value))


def _fields(change: Mapping[str, object]) -> str:
    """Return the fields that a proposal would set, and their values; those of a decision, which has fields of its own,
    in their place."""
    words = []
    for name, value in change.items():
        if isinstance(value, dict):
            words.append(_fields(value))
        elif isinstance(value, bool):
            words.append(f"{name} {'yes' if value else 'no'}")
        elif value not in (None, "", []):
            words.append(f"{name} {listed(value) if isinstance(value, list) else value}")
    return "; ".join(filter(None, words))


def _item(item: object) -> str:
    """Return a member of a list; of what a proposal quotes, what it cites and the quote."""
    if isinstance(item, dict):
        return f"{item.get('citation', '')} “{item.get('quote', '')}”"
    return _AS_TAKEN.sub("", str(item))
