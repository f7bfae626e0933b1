"""OpenCode: conversations in a SQLite database, `~/.local/share/opencode/opencode.db`.

The texts of a message are its parts. `opencode run` puts the person's words in quotation marks, which are taken off;
sessions with a parent are those of sub-agents, and left out.
"""

import json
import os
from collections.abc import Iterator
from itertools import groupby

from store.sources.files import existing, text_of
from store.sources.moments import utc
from store.sources.source import Found, FoundTurn, Machine, Source, Trouble
from store.sources.sqlite_copy import CopiedDatabase, opened

FILE = "opencode.db"


def detect(machine: Machine) -> list[str]:
    base = machine.environment.get("XDG_DATA_HOME") or os.path.join(machine.home, ".local", "share")
    return existing(os.path.join(base, "opencode", FILE))


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    file = os.path.join(path, FILE) if os.path.isdir(path) else path
    with opened(file, troubles) as database:
        if database is None:
            return
        folders = _folders(database)
        roles = {
            str(row["id"]): (str(_object(row["data"]).get("role", "")), utc(row["time_created"]))
            for row in database.rows("message", "id time_created data")
        }
        parts = database.rows("part", "message_id session_id data", "message_id")
        for message, rows in groupby(parts, key=lambda row: str(row["message_id"])):
            several = list(rows)
            session = str(several[0]["session_id"])
            role, at = roles.get(message, ("", ""))
            text = "\n\n".join(filter(None, (_said(_object(row["data"])) for row in several)))
            if session not in folders or role not in ("user", "assistant") or not text:
                continue
            if role == "user" and len(text) > 1 and text[0] == '"' == text[-1]:
                text = text[1:-1].strip()
            number = several[0]["rowid"]
            line = number if isinstance(number, int) and number > 0 else 1
            yield FoundTurn(session, role, text, file, line, at, message, folders[session])


def conversations(path: str) -> Iterator[str]:
    """Yield the working folder of each conversation; no message is read."""
    with opened(path, []) as database:
        if database is not None:
            yield from _folders(database).values()


def _folders(database: CopiedDatabase) -> dict[str, str]:
    """Return the working folders of the sessions."""
    rows = database.rows("session", "id parent_id directory")
    return {str(row["id"]): text_of(row["directory"]) for row in rows if not row["parent_id"]}


def _object(value: object) -> dict[str, object]:
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _said(part: dict[str, object]) -> str:
    return text_of(part.get("text")) if part.get("type") == "text" and not part.get("synthetic") else ""


OPENCODE = Source("opencode", "OpenCode", detect, read, conversations)
