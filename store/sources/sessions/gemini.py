"""Gemini CLI: conversations as `~/.gemini/tmp/<name>/chats/session-….jsonl`, older ones as one JSON document.

A message comes again under its id as it grows, and `$set` states all of them again: the last form with a text counts.
"""

import os
from collections.abc import Iterator

from store.sources.files import files_below, json_lines, read_json, read_text, text_of
from store.sources.moments import utc
from store.sources.source import Found, FoundTurn, Machine, Source, Trouble

ROLES = {"user": "user", "gemini": "assistant"}
INSERTED = ("<session_context>", "<untrusted_context>", "<state_snapshot>")


def detect(machine: Machine) -> list[str]:
    base = os.path.join(machine.home, ".gemini", "tmp")
    unread: list[Trouble] = []
    there = any(any(files_below(base, suffix, unread)) for suffix in (".jsonl", ".json"))
    return [base] if there or unread else []


def conversations(path: str) -> Iterator[str]:
    """Yield the project of each conversation, by where its file lies: the file is not read."""
    for suffix in (".jsonl", ".json"):
        for file in files_below(path, suffix, []):
            if os.path.basename(os.path.dirname(file)) == "chats":
                yield _project(file)


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if os.path.isfile(path):
        yield from _session(path, troubles)
        return
    for suffix in (".jsonl", ".json"):
        for file in files_below(path, suffix, troubles):
            if os.path.basename(os.path.dirname(file)) == "chats":
                yield from _session(file, troubles)


def _session(path: str, troubles: list[Trouble]) -> Iterator[FoundTurn]:
    about: dict[str, object] = {}
    messages: dict[str, tuple[int, dict[str, object]]] = {}
    for number, value in _values(path, troubles):
        changes = value.get("$set")
        for state in (value, changes) if isinstance(changes, dict) else (value,):
            if isinstance(state.get("sessionId"), str):
                about.update({name: state[name] for name in ("sessionId", "kind") if name in state})
            several = state.get("messages")
            for message in several if isinstance(several, list) else (state,):
                if not isinstance(message, dict) or not isinstance(name := message.get("id"), str):
                    continue
                if _said(message) or name not in messages:
                    messages[name] = (messages[name][0] if name in messages else number, message)
    if about.get("kind", "main") != "main":
        return
    session = str(about.get("sessionId") or os.path.basename(path).rsplit(".", 1)[0])
    cwd = _project(path)
    for name, (number, message) in messages.items():
        if text := _said(message):
            role = ROLES[str(message["type"])]
            yield FoundTurn(session, role, text, path, number, utc(message.get("timestamp")), name, cwd)


def _values(path: str, troubles: list[Trouble]) -> Iterator[tuple[int, dict[str, object]]]:
    if path.endswith(".jsonl"):
        yield from json_lines(path, troubles)
        return
    value = read_json(path, troubles)
    if isinstance(value, dict):
        yield 1, value
    elif value is not None:
        troubles.append(Trouble(path, 0, "it is not a conversation"))


def _said(message: dict[str, object]) -> str:
    if message.get("type") not in ROLES:
        return ""
    content = message.get("content")
    if isinstance(content, str):
        parts = [content.strip()]
    else:
        found = content if isinstance(content, list) else ()
        parts = [text_of(part.get("text")) for part in found if isinstance(part, dict) and not part.get("thought")]
    return "\n\n".join(part for part in parts if part and not part.startswith(INSERTED))


def _project(path: str) -> str:
    """Return the project of a conversation: the folder that `.project_root` or `projects.json` name, else the folder's
    own name, which is that of the project or, in older versions, a digest of its path."""
    named = os.path.dirname(os.path.dirname(path))
    marker = os.path.join(named, ".project_root")
    if os.path.isfile(marker) and os.path.isabs(folder := (read_text(marker, []) or "").strip()):
        return folder
    for above in (os.path.dirname(os.path.dirname(named)), os.path.dirname(named)):
        value = read_json(os.path.join(above, "projects.json"), [])
        projects = value.get("projects") if isinstance(value, dict) else None
        for folder, name in projects.items() if isinstance(projects, dict) else ():
            if name == os.path.basename(named):
                return str(folder)
    return os.path.basename(named) if os.path.basename(os.path.dirname(path)) == "chats" else ""


GEMINI = Source("gemini", "Gemini CLI", detect, read, conversations)
