"""Parse the other forms: JSON lines `{session, role, text, at?, id?, speaker?}`, and files of `role: text`."""

import re
from typing import Any

from store.ingest.parsed_line import ROLES, Broken, ParsedLine

# fewer than in JSON: `model: x` in an answer starts no turn
_NAMES = "user|human|usuario|usuaria|assistant|asistente|claude"
_MARK = re.compile(rf"\s{{0,3}}(?:#{{1,6}}\s+)?(\*\*|__)?({_NAMES})(?:\1)?\s*:(?(1)(?:\1)?)(?:\s+|$)", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)", re.DOTALL)


def read_json(value: Any, session: str) -> list[ParsedLine]:
    """Parse a line of JSON; use `session` where it names none. Raise Broken."""
    if not isinstance(value, dict):
        raise Broken("it is not an object")
    text = value.get("text", value.get("content"))
    role = value.get("role")
    named = value.get("session") or session
    if not isinstance(text, str) or not isinstance(role, str):
        raise Broken("it needs a role and a text")
    if not isinstance(named, str) or not named.strip():
        raise Broken("it names no session")
    for name in ("at", "id", "speaker"):
        if not isinstance(value.get(name, ""), str):
            raise Broken(f"its {name} is not text")
    known = ROLES.get(role.strip().lower())
    made = {"at": value.get("at", ""), "id": value.get("id", ""), "speaker": value.get("speaker", "")}
    if not text.strip():
        return []
    return [ParsedLine(named.strip(), known or role, text, kind="" if known else "tool", **made)]


def starts(line: str) -> tuple[str, str] | None:
    """Return (role, the rest) of a line that starts a turn: `user: …`, `**Assistant:** …`; else None."""
    match = _MARK.match(line)
    return (ROLES[match[2].lower()], line[match.end() :]) if match else None


def fenced(line: str, fence: str) -> str:
    """Return the fence, of backticks or tildes, that is open after a line: the one before it, none, or a new one."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if fence:
        return "" if match[1].startswith(fence) and not match[2].strip() else fence
    return "" if match[1][0] == "`" and "`" in match[2] else match[1]
