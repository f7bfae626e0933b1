"""Describe the change of a record's row: whether the record is added, removed or changed, and how, in a few words.

Rows are dictionaries by column name, None where there is no row; nothing is read or written here.
"""

from store.base.vocabulary import TASK_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

KINDS = {
    "facts": "fact",
    "decisions": "decision",
    "tasks": "task",
    "commit_links": "link",
    "proposals": "proposal",
    "mutes": "mute",
}
TABLES = {kind: table for table, kind in KINDS.items()}
FOLLOWS = ("text_hash", "updated_at", "decided_at", "made")  # columns derived from others, which are not described
TITLES = {"facts": "fact", "decisions": "title", "tasks": "text", "commit_links": "link_type", "proposals": "text"}


def sign(old: "Row | None", new: "Row | None") -> str:
    """Return `+` if the record comes to be or is no longer forgotten, `-` if it is removed or forgotten, `~` if it
    changes otherwise."""
    if old is None or new is None:
        return "+" if old is None else "-"
    seen, then = _seen(old), _seen(new)
    if seen == then:
        return "~"
    return "+" if then else "-"


def title(table: str, row: "Row") -> str:
    """Return a record's own text, as it was written."""
    if table == "mutes":
        return "muted: not sent to agents"
    return str(row[TITLES[table]])


STATUS_WORDS = {"superseded": "replaced", **TASK_WORDS}  # shown words; the stored ones differ


def moved(old: "Row | None", new: "Row | None") -> tuple[str, ...]:
    """Return the columns that differ; none when the row itself is added or removed."""
    if old is None or new is None:
        return ()
    return tuple([name for name, value in new.items() if old.get(name) != value])


def would(old: "Row | None", new: "Row | None") -> str:
    """Describe the effect of turning a record's row from `old` into its former state `new`: `removed`, `removed
    (forgotten now)`, `comes back`, `comes back as forgotten`, `unpinned`, `text as before`."""
    if old is None:
        hidden = _hidden(new)
        return f"comes back as {hidden}" if hidden else "comes back"
    if new is None:
        hidden = _hidden(old)
        return f"removed ({hidden} now)" if hidden else "removed"
    return ", ".join(_words(old, new, " again", " as before"))


def happened(old: "Row | None", new: "Row | None") -> str:
    """Describe what happened to a record whose row changed from `old` to `new`: `new`, `gone`, `forgotten`,
    `pinned`."""
    if old is None or new is None:
        came = "new" if old is None else "gone"
        hidden = _hidden(new if old is None else old)
        return f"{came}, {hidden}" if hidden else came
    return ", ".join(_words(old, new, "", " changed"))


def _seen(row: "Row") -> bool:
    return row.get("status") != "forgotten"


def _hidden(row: "Row | None") -> str:
    """Return the status of a record that is not shown even where its row exists; else an empty string."""
    status = row.get("status") if row else None
    return str(STATUS_WORDS.get(status, status)) if status in ("forgotten", "superseded", "contradicted") else ""


def _words(old: "Row", new: "Row", again: str, otherwise: str) -> list[str]:
    parts = []
    for name in moved(old, new):
        value = new[name]
        if name in ("status", "state"):
            back = name == "status" and value == "active" and again
            parts.append("comes back" if back else STATUS_WORDS.get(value, str(value)) + again)
        elif name == "pinned":
            parts.append("pinned" if value else "unpinned")
        elif name == "last_confirmed_at":
            parts.append("confirmed" + again if value > old[name] else "confirmation undone")
        elif name in ("confidence", "domain", "impact", "link_type", "scope"):
            parts.append(f"{name.replace('_', ' ')} {value}")
        elif name not in FOLLOWS:
            parts.append(("text" if name == "fact" else name.replace("_", " ")) + otherwise)
    return parts or ["touched"]
