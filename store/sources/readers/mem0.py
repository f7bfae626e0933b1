"""mem0: the result of its `get_all` as JSON, or the database of its history, `~/.mem0/history.db`. Its vectors are
pickles, and are never read."""

import os
from collections.abc import Iterator

from store.sources.files import existing, read_json, text_of, texts_of
from store.sources.moments import utc
from store.sources.source import Found, FoundMemory, Machine, Source, Trouble
from store.sources.sqlite_copy import opened

FILE = "history.db"
DOMAINS = ("work", "preferences", "decisions", "personal", "projects")


def detect(machine: Machine) -> list[str]:
    base = machine.environment.get("MEM0_DIR") or os.path.join(machine.home, ".mem0")
    return existing(os.path.join(base, FILE))


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if path.endswith(".json"):
        yield from _listed(path, troubles)
    else:
        yield from _history(os.path.join(path, FILE) if os.path.isdir(path) else path, troubles)


def _listed(path: str, troubles: list[Trouble]) -> Iterator[FoundMemory]:
    value = read_json(path, troubles)
    rows = value.get("results") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        if value is not None:
            troubles.append(Trouble(path, 0, "it is not a list of memories"))
        return
    for place, row in enumerate(rows, 1):
        text = text_of(row.get("memory")) if isinstance(row, dict) else ""
        if not text:
            continue
        about = row.get("metadata")
        about = about if isinstance(about, dict) else {}
        category = str(about.get("category", ""))
        yield FoundMemory(
            text=text,
            path=path,
            line=place,
            place=f"memory {place}",
            id=text_of(row.get("id")),
            session=text_of(row.get("run_id")),
            created=utc(row.get("created_at")),
            tags=texts_of(about.get("tags")),
            domain=category if category in DOMAINS else "general",
        )


def _history(path: str, troubles: list[Trouble]) -> Iterator[FoundMemory]:
    """Yield the newest text of each memory that is not deleted."""
    with opened(path, troubles) as database:
        if database is None:
            return
        columns = "memory_id new_memory event created_at updated_at is_deleted"
        last: dict[str, tuple[str, dict[str, object]]] = {}
        for row in database.rows("history", columns):
            name = str(row["memory_id"])
            at = utc(row["updated_at"]) or utc(row["created_at"])
            if name not in last or at >= last[name][0]:
                last[name] = (at, row)
        for name, (_, row) in last.items():
            text, number = text_of(row["new_memory"]), row["rowid"]
            if text and not row["is_deleted"] and row["event"] != "DELETE" and isinstance(number, int):
                line = max(1, number)
                made = utc(row["created_at"])
                yield FoundMemory(text, path, line, place=f"event {line}", id=name, created=made)


MEM0 = Source("mem0", "mem0", detect, read)
