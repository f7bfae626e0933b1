"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one JSON object a line.

Only what a person or the assistant wrote is a turn: not the output of tools, what the program inserted for the
assistant (`isMeta`, system reminders, the summary of a compaction), messages between sub-agents (side chains), or
thoughts.
"""

import os
import re
from bisect import bisect
from collections import Counter
from typing import Any

from store.ingest.parsed_line import Broken, ParsedLine

TURNS = ("user", "assistant")
TOOL = "tool"
PERSON = "human"
_TAGS = (
    "system-reminder|command-name|command-message|command-args|local-command-stdout|local-command-stderr"
    "|local-command-caveat|bash-input|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook"
    "|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics"
)
_TOLD = re.compile(rf"<(/?)({_TAGS})>")
# how begins what the program delivers in the place of a prompt: of another agent or session, of a channel, of a page
_DELIVERED = re.compile(
    r"\s*+(?:(?:Another Claude session|A peer session|The coordinator) sent a message\b|\[SYSTEM NOTIFICATION\b"
    r"|<(?:agent|teammate|cross-session|slack-tag)-message[\s>]|<fetched-web-content[\s>]|<channel source=)"
)
_SPACE = re.compile(r"\s*+")
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\[\]\n]{0,60}+\]\s*+")


def is_claude(value: Any) -> bool:
    """Return whether a line is of such a transcript."""
    return isinstance(value, dict) and "type" in value and ("sessionId" in value or "leafUuid" in value)


def read(value: Any) -> list[ParsedLine]:
    """Parse a line. Raise Broken."""
    if not isinstance(value, dict):
        raise Broken("it is not an object")
    role = value.get("type")
    if role not in TURNS:
        return []  # a title, a snapshot of files, a message of the program itself
    session, message = value.get("sessionId"), value.get("message")
    if not isinstance(session, str) or not session.strip():
        raise Broken("it names no session")
    if not isinstance(message, dict):
        raise Broken("it holds no message")
    spoken, quoted, doubtful = _content(message.get("content"))
    made = {
        "session": session,
        "role": role,
        "at": _text(value.get("timestamp")),
        "id": _text(value.get("uuid")),
        "cwd": _text(value.get("cwd")),
    }
    origin = value.get("origin")  # of newer versions: human, peer, channel, task-notification …
    ours = isinstance(origin, dict) and origin.get("kind", PERSON) != PERSON
    ours |= any(value.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"))
    text = _INTERRUPTED.sub("", spoken).strip()
    if ours or not text:
        noise = "\n".join(part for part in (spoken, quoted) if part.strip())
        return [ParsedLine(text=noise, kind=TOOL, **made)] if noise else []
    return [ParsedLine(text=text, doubtful=doubtful, **made)]


def without_told(text: str) -> tuple[str, str, bool]:
    """Return (what a person wrote, what the program inserted, whether that separation is in doubt).

    What the program inserts quotes files, which may contain its tags: where there are more end tags than start tags,
    all up to the last end is the program's, and text between two insertions, or beside an end without a start, is in
    doubt. A start tag without an end cuts off the rest only where a text begins with it; elsewhere a person wrote it.
    What begins as a message of somebody else does is theirs as a whole: the program explains it behind.
    """
    if _DELIVERED.match(text):
        return "", text, False
    tags = list(_TOLD.finditer(text))
    if not tags:
        return text, "", False
    begun = Counter(tag[2] for tag in tags if not tag[1])
    ends: dict[str, list[int]] = {}
    for number, tag in enumerate(tags):
        if tag[1]:
            ends.setdefault(tag[2], []).append(number)
    own, quoted, place, after = list[str](), list[str](), 0, 0
    begins = _after_space(text, 0)  # start of what is not the program's
    for number, tag in enumerate(tags):
        if tag[1] or number < after:
            continue
        mine = ends.get(tag[2], [-1])
        end = mine[min(bisect(mine, number), len(mine) - 1)] if len(mine) <= begun[tag[2]] else mine[-1]
        if end > number:
            own.append(text[place : tag.start()])
            place, after = tags[end].end(), end + 1
            quoted.append(text[tag.start() : place])
            if begins == tag.start():
                begins = _after_space(text, place)
        elif begins == tag.start():
            quoted.append(text[begins:])
            return "", "\n".join(quoted), False
    own.append(text[place:])
    between = any(part.strip() for part in own[1:-1])
    stray = any(tag[1] for part in own for tag in _TOLD.finditer(part))
    return "".join(own), "\n".join(quoted), between or stray


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def folder_of(project: str, home: str = "") -> str:
    """Return the folder in which Claude Code keeps the transcripts of a project's folder."""
    return os.path.join(_projects(home), re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project)))


def wrote(path: str) -> bool:
    """Return whether a file is where Claude Code writes this user's transcripts, so that its roles can be trusted."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(_projects()), ""))


def _projects(home: str = "") -> str:
    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home or os.path.expanduser("~"), ".claude")
    return os.path.join(base, "projects")


def _content(content: Any) -> tuple[str, str, bool]:
    """Return (the turn's text, the input and output of tools and what the program inserted, whether that is in doubt).
    Raise Broken."""
    if isinstance(content, str):
        return without_told(content)
    if not isinstance(content, list):
        raise Broken("its message holds no text")
    spoken, quoted, doubtful = list[str](), list[str](), False
    for block in content:
        if not isinstance(block, dict):
            raise Broken("a part of its message is not an object")
        if block.get("type") == "text":
            text = _text(block.get("text"))
            if (first := _TOLD.match(text.lstrip())) and not first[1]:
                quoted.append(text)  # the program's as a whole, whatever it quotes
                continue
            own, theirs, doubt = without_told(text)
            spoken.append(own)
            quoted.append(theirs)
            doubtful |= doubt
        elif block.get("type") in ("tool_result", "tool_use"):
            quoted.append(_short(block.get("content") or block.get("name")))
    return "\n\n".join(part for part in spoken if part.strip()), "\n".join(filter(None, quoted)), doubtful


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
