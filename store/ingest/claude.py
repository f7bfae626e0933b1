"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one JSON object a line.

Only what a person or the assistant said is a turn: not what tools gave, what the program told the assistant (`isMeta`,
system reminders, the summary of a compaction), what sub-agents said among themselves (side chains), or thoughts.
"""

import os
import re
from typing import Any

from store.ingest.lines import Broken, Line

TURNS = ("user", "assistant")
TOOL = "tool"
_TAGS = (
    "system-reminder|command-name|command-message|command-args|local-command-stdout|local-command-stderr"
    "|local-command-caveat|bash-input|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook"
    "|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics"
)
_TOLD = re.compile(rf"<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]\s*")


def is_claude(value: Any) -> bool:
    """Whether a line is of such a transcript."""
    return isinstance(value, dict) and "type" in value and ("sessionId" in value or "leafUuid" in value)


def read(value: Any) -> list[Line]:
    """What a line says. Raises Broken."""
    if not isinstance(value, dict):
        raise Broken("it is no object")
    role = value.get("type")
    if role not in TURNS:
        return []  # a title, a snapshot of files, a message of the program's own
    session, message = value.get("sessionId"), value.get("message")
    if not isinstance(session, str) or not session.strip():
        raise Broken("it names no session")
    if not isinstance(message, dict):
        raise Broken("it holds no message")
    said, tools = _content(message.get("content"))
    made = {
        "session": session,
        "role": role,
        "at": _text(value.get("timestamp")),
        "id": _text(value.get("uuid")),
        "cwd": _text(value.get("cwd")),
    }
    ours = any(value.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"))
    text = _INTERRUPTED.sub("", _TOLD.sub("", said)).strip()
    if ours or not text:
        noise = "\n".join(part for part in (said, tools) if part.strip())
        return [Line(text=noise, kind=TOOL, **made)] if noise else []
    return [Line(text=text, **made)]


def folder_of(project: str, home: str = "") -> str:
    """Where Claude Code keeps the transcripts of a project's folder."""
    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home or os.path.expanduser("~"), ".claude")
    return os.path.join(base, "projects", re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project)))


def _content(content: Any) -> tuple[str, str]:
    """(what was said, what tools were asked or gave). Raises Broken."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        raise Broken("its message holds no text")
    said, tools = [], []
    for block in content:
        if not isinstance(block, dict):
            raise Broken("a part of its message is no object")
        if block.get("type") == "text":
            said.append(_text(block.get("text")))
        elif block.get("type") in ("tool_result", "tool_use"):
            tools.append(_short(block.get("content") or block.get("name")))
    return "\n\n".join(part for part in said if part.strip()), "\n".join(tools)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
