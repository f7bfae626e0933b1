"""Parse the lines of a source in any supported form; report and skip what cannot be read."""

import json
import os
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, BinaryIO

from store.base.errors import StorageError
from store.database.database import Database, Transaction
from store.database.values import clean_text

# The content of a line of a source, in any form: a turn, discardable text, nothing, or an error.

ROLE_NAMES = {
    **dict.fromkeys(("user", "human", "usuario", "usuaria", "persona"), "user"),
    **dict.fromkeys(("assistant", "ai", "asistente", "agent", "agente", "claude", "model", "bot"), "assistant"),
}


class BrokenLine(Exception):
    """A line that cannot be read; the message gives the reason in a few words, and none of its text."""


@dataclass(slots=True)
class ParsedLine:
    """A text written in `session` by `role` at a moment (empty if unknown). `kind` is why it is discardable, empty for
    a turn. `id` is unique among the lines of its session, empty where it has none; `cwd` is the working folder, if
    known. `doubtful`: others may have written it, whatever its role."""

    session: str
    role: str
    text: str
    at: str = ""
    id: str = ""
    kind: str = ""
    cwd: str = ""
    speaker: str = ""
    doubtful: bool = False


# Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one JSON object a line.
#
# Only what a person or the assistant wrote is a turn: not the output of tools, what the program inserted for the
# assistant (`isMeta`, system reminders, the summary of a compaction), messages between sub-agents (side chains), or
# thoughts.

SPOKEN_TYPES = ("user", "assistant")
TOOL_KIND = "tool"
HUMAN_ORIGIN = "human"
_PROGRAM_TAGS = (
    "system-reminder|command-name|command-message|command-args|local-command-stdout|local-command-stderr"
    "|local-command-caveat|bash-input|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook"
    "|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics"
)
_PROGRAM_TAG = re.compile(rf"<(/?)({_PROGRAM_TAGS})>")
# how begins what the program delivers in the place of a prompt: of another agent or session, of a channel, of a page
_DELIVERED = re.compile(
    r"\s*+(?:(?:Another Claude session|A peer session|The coordinator) sent a message\b|\[SYSTEM NOTIFICATION\b"
    r"|<(?:agent|teammate|cross-session|slack-tag)-message[\s>]|<fetched-web-content[\s>]|<channel source=)"
)
_SPACE = re.compile(r"\s*+")
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\[\]\n]{0,60}+\]\s*+")


def is_claude_line(value: Any) -> bool:
    """Return whether a line is of such a transcript."""
    return isinstance(value, dict) and "type" in value and ("sessionId" in value or "leafUuid" in value)


def parse_claude_line(value: Any) -> list[ParsedLine]:
    """Parse a line of a transcript of Claude Code. Raise BrokenLine."""
    if not isinstance(value, dict):
        raise BrokenLine("it is not an object")
    role = value.get("type")
    if role not in SPOKEN_TYPES:
        # a title, a snapshot of files, a message of the program itself
        return []
    session, message = value.get("sessionId"), value.get("message")
    if not isinstance(session, str) or not session.strip():
        raise BrokenLine("it names no session")
    if not isinstance(message, dict):
        raise BrokenLine("it holds no message")
    spoken, quoted, doubtful = _parse_content(message.get("content"))
    made = {
        "session": session,
        "role": role,
        "at": _text_or_empty(value.get("timestamp")),
        "id": _text_or_empty(value.get("uuid")),
        "cwd": _text_or_empty(value.get("cwd")),
    }
    # of newer versions: human, peer, channel, task-notification …
    origin = value.get("origin")
    ours = isinstance(origin, dict) and origin.get("kind", HUMAN_ORIGIN) != HUMAN_ORIGIN
    ours |= any(value.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"))
    text = _INTERRUPTED.sub("", spoken).strip()
    if ours or not text:
        noise = "\n".join(part for part in (spoken, quoted) if part.strip())
        return [ParsedLine(text=noise, kind=TOOL_KIND, **made)] if noise else []
    return [ParsedLine(text=text, doubtful=doubtful, **made)]


def split_program_text(text: str) -> tuple[str, str, bool]:
    """Return (what a person wrote, what the program inserted, whether that separation is in doubt).

    What the program inserts quotes files, which may contain its tags: where there are more end tags than start tags,
    all up to the last end is the program's, and text between two insertions, or beside an end without a start, is in
    doubt. A start tag without an end cuts off the rest only where a text begins with it; elsewhere a person wrote it.
    What begins as a message of somebody else does is theirs as a whole: the program explains it behind.
    """
    if _DELIVERED.match(text):
        return "", text, False
    tags = list(_PROGRAM_TAG.finditer(text))
    if not tags:
        return text, "", False
    begun = Counter(tag[2] for tag in tags if not tag[1])
    ends: dict[str, list[int]] = {}
    for number, tag in enumerate(tags):
        if tag[1]:
            ends.setdefault(tag[2], []).append(number)
    own, quoted, place, after = list[str](), list[str](), 0, 0
    # start of what is not the program's
    begins = _skip_space(text, 0)
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
                begins = _skip_space(text, place)
        elif begins == tag.start():
            quoted.append(text[begins:])
            return "", "\n".join(quoted), False
    own.append(text[place:])
    between = any(part.strip() for part in own[1:-1])
    stray = any(tag[1] for part in own for tag in _PROGRAM_TAG.finditer(part))
    return "".join(own), "\n".join(quoted), between or stray


def _skip_space(text: str, place: int) -> int:
    """Return the place after white space."""
    found = _SPACE.match(text, place)
    return found.end() if found else place


def transcript_folder(project: str, home: str = "") -> str:
    """Return the folder in which Claude Code keeps the transcripts of a project's folder."""
    return os.path.join(_projects_folder(home), re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project)))


def is_claude_transcript(path: str) -> bool:
    """Return whether a file is where Claude Code writes this user's transcripts, so that its roles can be trusted."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(_projects_folder()), ""))


def _projects_folder(home: str = "") -> str:
    """Return the folder in which Claude Code keeps its projects."""
    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home or os.path.expanduser("~"), ".claude")
    return os.path.join(base, "projects")


def _parse_content(content: Any) -> tuple[str, str, bool]:
    """Return (the turn's text, the input and output of tools and what the program inserted, whether that is in
    doubt). Raise BrokenLine."""
    if isinstance(content, str):
        return split_program_text(content)
    if not isinstance(content, list):
        raise BrokenLine("its message holds no text")
    spoken, quoted, doubtful = list[str](), list[str](), False
    for block in content:
        if not isinstance(block, dict):
            raise BrokenLine("a part of its message is not an object")
        if block.get("type") == "text":
            text = _text_or_empty(block.get("text"))
            if (first := _PROGRAM_TAG.match(text.lstrip())) and not first[1]:
                # the program's as a whole, whatever it quotes
                quoted.append(text)
                continue
            own, theirs, doubt = split_program_text(text)
            spoken.append(own)
            quoted.append(theirs)
            doubtful |= doubt
        elif block.get("type") in ("tool_result", "tool_use"):
            quoted.append(_tool_text(block.get("content") or block.get("name")))
    return "\n\n".join(part for part in spoken if part.strip()), "\n".join(filter(None, quoted)), doubtful


def _tool_text(value: Any) -> str:
    """Return the text of a tool's input or output."""
    if isinstance(value, list):
        return "\n".join(_text_or_empty(part.get("text")) for part in value if isinstance(part, dict))
    return _text_or_empty(value)


def _text_or_empty(value: Any) -> str:
    """Return a value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


# Lines of transcripts without a message: what a program recorded for itself. They are skipped.
#
# Of programs whose transcripts are not read (Codex, Gemini) only these lines are skipped: a line with a message is
# still
# reported as one that cannot be read.

# Claude Code: lines that name no session; `is_claude_line` recognises those that do
_CLAUDE = frozenset(
    {
        *("agent-color", "agent-name", "ai-title", "attachment", "attribution-snapshot", "bridge-session"),
        *("content-replacement", "context-collapse-commit", "custom-title", "file-history-delta"),
        *("file-history-snapshot", "last-prompt", "marble-origami-commit", "marble-origami-snapshot", "mode"),
        *(
            "permission-mode",
            "pr-link",
            "progress",
            "queue-operation",
            "speculation-accept",
            "summary",
            "system",
        ),
        *("tag", "task-summary", "worktree-state"),
    }
)
# Codex: each has a payload
_CODEX = frozenset(
    (
        "compacted",
        "event_msg",
        "session_meta",
        "session_state",
        "token_usage_record",
        "turn_context",
        "world_state",
    )
)
_CODEX_ITEM, _CODEX_SPEECH = "response_item", "message"
# Gemini: the head of a file, and changes to its content
_GEMINI_HEAD = ("sessionId", "projectHash")
_GEMINI_CHANGE = "$set"


def is_bookkeeping(value: Any) -> bool:
    """Return whether a line of JSON is a program's own record. One with a role and a text never is."""
    if not isinstance(value, dict) or isinstance(value.get("role"), str):
        return False
    kind, payload = value.get("type"), value.get("payload")
    if isinstance(kind, str) and isinstance(payload, dict):
        return kind in _CODEX or (kind == _CODEX_ITEM and payload.get("type") != _CODEX_SPEECH)
    if isinstance(kind, str):
        return kind in _CLAUDE
    return kind is None and (all(name in value for name in _GEMINI_HEAD) or list(value) == [_GEMINI_CHANGE])


# Parse the other forms: JSON lines `{session, role, text, at?, id?, speaker?}`, and files of `role: text`.

# fewer than in JSON: `model: x` in an answer starts no turn
_ROLE_WORDS = "user|human|usuario|usuaria|assistant|asistente|claude"
_MARK = re.compile(
    rf"\s{{0,3}}(?:#{{1,6}}\s+)?(\*\*|__)?({_ROLE_WORDS})(?:\1)?\s*:(?(1)(?:\1)?)(?:\s+|$)", re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)", re.DOTALL)


def parse_json_turn(value: Any, session: str) -> list[ParsedLine]:
    """Parse a line of JSON; use `session` if it names none. Raise BrokenLine."""
    if not isinstance(value, dict):
        raise BrokenLine("it is not an object")
    text = value.get("text", value.get("content"))
    role = value.get("role")
    named = value.get("session") or session
    if not isinstance(text, str) or not isinstance(role, str):
        raise BrokenLine("it needs a role and a text")
    if not isinstance(named, str) or not named.strip():
        raise BrokenLine("it names no session")
    for name in ("at", "id", "speaker"):
        if not isinstance(value.get(name, ""), str):
            raise BrokenLine(f"its {name} is not text")
    known = ROLE_NAMES.get(role.strip().lower())
    made = {"at": value.get("at", ""), "id": value.get("id", ""), "speaker": value.get("speaker", "")}
    if not text.strip():
        return []
    return [ParsedLine(named.strip(), known or role, text, kind="" if known else "tool", **made)]


def parse_turn_start(line: str) -> tuple[str, str] | None:
    """Return (role, the rest) of a line that starts a turn: `user: …`, `**Assistant:** …`; else None."""
    match = _MARK.match(line)
    return (ROLE_NAMES[match[2].lower()], line[match.end() :]) if match else None


def fence_after_line(line: str, fence: str) -> str:
    """Return the fence, of backticks or tildes, that is open after a line: the one before it, none, or a new one."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if fence:
        return "" if match[1].startswith(fence) and not match[2].strip() else fence
    return "" if match[1][0] == "`" and "`" in match[2] else match[1]


# Read a source line by line: remember how far it was read, and detect that the file was replaced.

# bytes of the beginning and of the end of the part read, which identify a file
MARK_BYTES = 4096
# bytes of one line
LONGEST_SOURCE_LINE = 32 << 20


@dataclass(slots=True)
class SourceOffset:
    """Position up to which a source was read: `offset` in bytes, `line` counted from 1; 0 and 0 at its beginning."""

    offset: int = 0
    line: int = 0


@dataclass(slots=True)
class RawLine:
    """One line, without its end: `number` counts from 1, `after` is the offset behind it. `whole` is false for the last
    one of a file that may still be written, `long` for one longer than LONGEST_SOURCE_LINE, whose text is dropped."""

    number: int
    after: int
    data: bytes
    whole: bool = True
    long: bool = False


def read_raw_lines(file: BinaryIO, place: SourceOffset) -> Iterator[RawLine]:
    """Yield the lines of a source from a position on, one at a time in memory."""
    number, offset = place.line, place.offset
    while data := file.readline(LONGEST_SOURCE_LINE):
        number += 1
        offset += len(data)
        long = False
        while not data.endswith(b"\n") and (more := file.readline(LONGEST_SOURCE_LINE)):
            long = True
            offset += len(more)
            data = more
        yield RawLine(number, offset, b"" if long else data.rstrip(b"\r\n"), data.endswith(b"\n"), long)


def open_source_file(path: str) -> BinaryIO:
    """Open a plain file for reading. Raise StorageError."""
    try:
        # a pipe would block for ever
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        file = os.fdopen(handle, "rb", buffering=1 << 18)
        if not os.path.isfile(path):
            file.close()
            raise StorageError(f"{path} is not a plain file.", "Name a file, a folder of transcripts, or - .")
        return file
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read: {error.strerror}.", "Look at its name and permissions."
        ) from None


def source_name(path: str) -> str:
    """Return a path as text, with the bytes of a name that is not UTF-8 escaped."""
    return clean_text(os.fsencode(path).decode("utf-8", "backslashreplace"))


def resume_source(database: Database, path: str, file: BinaryIO) -> tuple[SourceOffset, bool]:
    """Return (where to continue, whether the file was replaced: rotated, truncated or rewritten). The file is
    positioned there."""
    row = database.row("SELECT size, lines, mark FROM sources WHERE path = ?", (source_name(path),))
    if row is None:
        return SourceOffset(), False
    size, number, mark = row
    if os.fstat(file.fileno()).st_size < size or mark != _mark_of_file(file, size):
        file.seek(0)
        return SourceOffset(), True
    file.seek(size)
    return SourceOffset(size, number), False


def remember_offset(write: Transaction, path: str, file: BinaryIO, place: SourceOffset) -> None:
    """Store how far a file was read, in the transaction that stores what was read."""
    here = file.tell()
    mark = _mark_of_file(file, place.offset)
    file.seek(here)
    write.execute(
        "INSERT INTO sources(path, size, lines, mark, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT(path) DO UPDATE SET"
        " size = excluded.size, lines = excluded.lines, mark = excluded.mark, at = excluded.at",
        (source_name(path), place.offset, place.line, mark, write.at),
    )


def note_checked_size(database: Database, path: str, size: int) -> None:
    """Store the size of a file when it was last checked, whether or not it could be read."""
    here = source_name(path)
    if database.value("SELECT 1 FROM sources WHERE path = ? AND (size = ? OR looked = ?)", (here, size, size)):
        return
    with database.write("agent", "ingest") as write:
        write.execute(
            "INSERT INTO sources(path, size, lines, looked, mark, at) VALUES (?, 0, 0, ?, ?, ?)"
            " ON CONFLICT(path) DO UPDATE SET looked = excluded.looked",
            (here, size, sha256(b"\0").digest()[:16], write.at),
        )


def _mark_of_file(file: BinaryIO, size: int) -> bytes:
    """Return a digest of the beginning and the end of the part of a file that was read."""
    file.seek(0)
    first = file.read(min(MARK_BYTES, size))
    file.seek(max(0, size - MARK_BYTES))
    last = file.read(min(MARK_BYTES, size))
    digest: bytes = sha256(first + b"\0" + last).digest()[:16]
    return digest


_FOREIGN = {
    "a ZIP archive": re.compile(rb"PK\x03\x04"),
    "a web page": re.compile(rb"<(?:!doctype )?html\b", re.IGNORECASE),
    "one JSON document": re.compile(rb"\[\s*[\[{]|[\[{]\s*\n"),
}


@dataclass(slots=True)
class FormatEntry:
    """What was read up to `place`: `said`, or the `trouble` with line `number`; `waiting` for the last line of a file
    that is still being written, and is read again the next time. `size` in bytes."""

    place: SourceOffset
    number: int
    said: list[ParsedLine] = field(default_factory=list)
    trouble: str = ""
    size: int = 0
    waiting: bool = False


def is_json_lines(file: BinaryIO) -> bool:
    """Return whether a file is JSON lines, by its first line that is not blank; rewind it afterwards."""
    return _read_head(file, 1 << 16).startswith(b"{")


def describe_foreign_file(file: BinaryIO) -> str:
    """Return what a file is that has no lines to read, as exports of chats are; empty for others. Rewind it."""
    head = _read_head(file, 1 << 10)
    return next((what for what, begins in _FOREIGN.items() if begins.match(head)), "")


def _read_head(file: BinaryIO, size: int) -> bytes:
    """Return the beginning of a file, without its mark of UTF-8 and blanks; rewind it afterwards."""
    file.seek(0)
    head = file.read(size).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    return head


def parse_entries(
    raws: Iterable[RawLine], place: SourceOffset, session: str, growing: bool, as_json: bool
) -> Iterator[FormatEntry]:
    """Parse the lines from `place` on; for a `role: text` file pass all of its lines. With `growing` the last line of
    the file may be incomplete."""
    return _parse_json_lines(raws, session, growing) if as_json else _parse_plain(raws, place, session, growing)


def _parse_json_lines(raws: Iterable[RawLine], session: str, growing: bool) -> Iterator[FormatEntry]:
    """Yield what each line of JSON holds."""
    cwd = ""
    for raw in raws:
        entry = FormatEntry(SourceOffset(raw.after, raw.number), raw.number, size=len(raw.data))
        complete = False
        try:
            if raw.long:
                raise BrokenLine("it is too long")
            data = raw.data.removeprefix(b"\xef\xbb\xbf") if raw.number == 1 else raw.data
            if data.strip():
                try:
                    value: object = json.loads(data)
                except (ValueError, RecursionError):
                    raise BrokenLine("it is not JSON") from None
                complete = True
                entry.said = _parse_value(value, session)
        except BrokenLine as why:
            if growing and not raw.whole and not complete:
                entry.waiting = True
                yield entry
                return
            entry.trouble = str(why)
        for line in entry.said:
            line.cwd = cwd = line.cwd or cwd
        yield entry


def _parse_value(value: object, session: str) -> list[ParsedLine]:
    """Parse the value of a line of JSON, whatever program wrote it. Raise BrokenLine."""
    if is_claude_line(value):
        return parse_claude_line(value)
    return [] if is_bookkeeping(value) else parse_json_turn(value, session)


def _parse_plain(
    raws: Iterable[RawLine], place: SourceOffset, session: str, growing: bool
) -> Iterator[FormatEntry]:
    """Parse turns of several lines. The source is read from its beginning, to know the role of the text at `place` and
    whether it is in a fence; turns before `place` are not returned again."""
    lines: list[str] = []
    role, fence, first, before, size = "", "", 0, place, 0
    for raw in raws:
        text = raw.data.decode("utf-8", "replace")
        text = text.removeprefix("\ufeff") if raw.number == 1 else text
        begins = None if fence else parse_turn_start(text)
        fence = fence_after_line(begins[1] if begins else text, fence)
        if raw.after <= place.offset:
            role = begins[0] if begins else role
            continue
        if growing and not raw.whole:
            # else the line continues the turn
            if first and begins:
                yield _turn_entry(session, role, lines, first, before, size)
            yield FormatEntry(before, raw.number, waiting=True)
            return
        if begins:
            if first:
                yield _turn_entry(session, role, lines, first, before, size)
            role, lines, first, size = begins[0], [begins[1]], raw.number, 0
        elif role and (lines or text.strip()):
            first = first or raw.number
            lines.append("" if raw.long else text)
        elif text.strip():
            yield FormatEntry(
                SourceOffset(raw.after, raw.number),
                raw.number,
                trouble="no speaker: there is no `role:` line before it",
            )
        size += len(raw.data)
        before = SourceOffset(raw.after, raw.number)
    if first:
        yield _turn_entry(session, role, lines, first, before, size)


def _turn_entry(
    session: str, role: str, lines: list[str], first: int, place: SourceOffset, size: int
) -> FormatEntry:
    """Return the entry of a turn of several lines."""
    text = "\n".join(lines).strip()
    return FormatEntry(place, first, [ParsedLine(session, role, text, doubtful=True)] if text else [], size=size)
