"""Compare two states of a record column by column, as lines of (text, style) pieces."""

import json
from collections.abc import Mapping

from store import cite, local_time

Piece = tuple[str, str]
Line = list[Piece]

LABEL = 13  # cells of the label column
NAMED = {"last_confirmed_at": "confirmed", "created_at": "made", "updated_at": "changed", "decided_at": "decided"}
SILENT = frozenset(("id", "text_hash", "commit_id", "scope", "importance"))  # columns that mean nothing to a user


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


def _cell(name: str, state: Mapping[str, object] | None) -> str:
    """Format a column's value; empty if it is empty or missing."""
    value = None if state is None else state.get(name)
    if value in (None, "", "[]", "null"):
        return ""
    if name.endswith("_at"):
        return local_time(str(value))
    if name == "pinned":
        return "yes" if value else ""
    if name in ("tags", "evidence", "alternatives"):
        return ", ".join(map(str, json.loads(str(value))))
    if name in ("decision_id", "iteration_id") and isinstance(value, int):
        return cite(name.removesuffix("_id"), value)
    return str(value)
