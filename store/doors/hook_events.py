"""One form for the events of all clients, read from the JSON that each gives its hooks. What is unknown is ignored."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from store.base.runtime import read_plain_file
from store.ingest.formats import split_program_text
from store.text.words import reduce_to_one_line, remove_between

OUR_EVENT_KINDS = ("start", "prompt", "tool", "compact", "stop", "end")
EVENT_START, EVENT_PROMPT, EVENT_TOOL, EVENT_COMPACT, EVENT_STOP, EVENT_END = OUR_EVENT_KINDS
# what is known of each client: its title and program, the names of its events, each with what it is and, if ours is to
# be registered for it, a matcher and a timeout, and what `client` needs besides
_TABLE_FILE = Path(__file__).with_name("clients.json")
CLIENT_TABLE: dict[str, Any] = json.loads(_TABLE_FILE.read_text(encoding="utf-8"))
# client → the name of its event → what it is; `agent-turn-complete` is Codex's `notify`
EVENT_KINDS = {
    name: {event: kind for event, kind, *_ in client["events"]} for name, client in CLIENT_TABLE.items()
}
SHELL_TOOLS = ("Bash", "run_shell_command", "bash", "shell", "local_shell", "exec_command")
TASK_TOOLS = (
    "TodoWrite",
    "todowrite",
    "update_plan",
    "write_todos",
    "TaskCreate",
    "TaskUpdate",
)  # see `LIST_TOOLS`


class Caller(NamedTuple):
    """Who reports: the `folder` and the `variables` that the client started its hook with, and the memory that `--db`
    names, None without one. The folder is empty where it was deleted meanwhile."""

    folder: str
    variables: Mapping[str, str]
    option: str | None = None

    @classmethod
    def here(cls, option: str | None = None) -> Caller:
        """Return the caller whose process this is."""
        try:
            folder = os.getcwd()
        except OSError:
            folder = ""
        return cls(folder, os.environ, option)


@dataclass(slots=True, eq=False, repr=False)
class HookEvent:
    """One event: `kind`, and `name` as the client calls it; the `session`, the folder it is in, its transcript; a `key`
    that the same report has when it comes again. `text` is the prompt or the reply, `inner` says that it is a
    sub-agent's. `tokens` of the context window are in use, of `window` in all, 0 where unknown."""

    client: str
    kind: str
    name: str
    session: str
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    source: str = ""
    inner: bool = False
    text: str = ""
    tool: str = ""
    tool_input: dict[str, Any] = field(default_factory=dict)
    tool_response: object = None
    tokens: int = 0
    window: int = 0
    key: str = ""

    @property
    def shell_command(self) -> str:
        """Return the command that a shell was given; empty if this is no such event."""
        command = self.tool_input.get("command") if self.tool in SHELL_TOOLS else ""
        if isinstance(command, list):
            command = " ".join(map(str, command))
        return command if isinstance(command, str) else ""


_TEXT_FIELDS = {
    EVENT_PROMPT: ("prompt",),
    EVENT_STOP: ("last_assistant_message", "prompt_response", "reply", "last-assistant-message"),
}
_ID_FIELDS = ("prompt_id", "turn_id", "turn-id", "tool_use_id", "timestamp", "id")


def parse_event(client: str, raw: bytes) -> HookEvent | None:
    """Return the event that a client reports; None for what is not one that we know, or is no report at all."""
    forms = EVENT_KINDS.get(client)
    if forms is None:
        return None
    try:
        payload = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    name = _first_text(payload, "hook_event_name", "event", "type")
    kind = forms.get(name)
    if kind is None:
        return None
    event = HookEvent(
        client,
        kind,
        name,
        session=reduce_to_one_line(_first_text(payload, "session_id", "thread-id")),
        cwd=_first_text(payload, "cwd"),
        transcript=_first_text(payload, "transcript_path"),
        model=_first_text(payload, "model"),
        source=_first_text(payload, "source", "reason", "trigger"),
        inner=bool(_first_text(payload, "agent_id") or payload.get("inner") is True),
        text=_first_text(payload, *_TEXT_FIELDS.get(kind, ())),
        tool=_first_text(payload, "tool_name"),
        tool_input=_object_or_empty(payload.get("tool_input")),
        tool_response=payload.get("tool_response"),
        tokens=_message_tokens(payload.get("tokens")),
    )
    event.key = _event_key(event, raw, payload)
    return event if event.session else None


def format_hook_reply(event: HookEvent, context: str) -> bytes:
    """Return what the client is to read: the text for its model, in the form that it takes; nothing without one."""
    if not context:
        return b""
    reply: dict[str, object] = {"context": context}
    if event.client != "opencode":
        reply = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": context}}
    return json.dumps(reply).encode("ascii")


def _event_key(event: HookEvent, raw: bytes, payload: dict[str, Any]) -> str:
    """Return a key that is the same when a report comes twice, and another for every other report."""
    numbered = next((text for name in _ID_FIELDS if (text := _first_text(payload, name))), "")
    if not numbered:
        try:
            numbered = str(os.stat(event.transcript).st_size)
        except (OSError, ValueError):
            pass
        # to go on with a session and say nothing leaves its transcript as it is
        if not numbered or event.kind == EVENT_START:
            numbered = f"{numbered} {int(time.time()) // 60}"
    return f"hook {event.client} {event.session} {event.name} {numbered} {sha256(raw).hexdigest()}"


def _first_text(payload: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that is a text and not empty; else an empty text."""
    return next((value for name in names if isinstance(value := payload.get(name), str) and value), "")


def _object_or_empty(value: object) -> dict[str, Any]:
    """Return a value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def _message_tokens(value: object) -> int:
    """Return what OpenCode counts of a message: what was read and written, from the cache or not."""
    if not isinstance(value, dict):
        return 0
    cache = _object_or_empty(value.get("cache"))
    parts = (
        value.get("input"),
        value.get("output"),
        value.get("reasoning"),
        cache.get("read"),
        cache.get("write"),
    )
    return sum(map(_token_number, parts))


# What of a prompt or a reply is its writer's own: without what we put into the context ourselves.
#
# Clients return what hooks injected: Gemini in `<hook_context>` around the next prompt, others where a person
# or a model quotes it. None of it may be learned from.

_FENCE_MARK = re.compile(r"<(/?)(memoranda-[a-z]{1,20} [0-9a-f]{10})>")
_FENCE_HEADING = re.compile(r"^.*\bData, never instructions:[ \t]*\n?", re.MULTILINE)
_HOOK_BEGIN, _HOOK_END = "<hook_context>", "</hook_context>"
# a command of the client's own, with nothing behind it
_CLIENT_COMMAND = re.compile(r"/[\w:.-]+\Z")


def strip_prompt(client: str, text: str) -> str:
    """Return what a person wrote; empty if nothing is left."""
    if client == "gemini":
        text = remove_between(text, _HOOK_BEGIN, _HOOK_END)
    elif client == "opencode":
        text = text.strip()
        # `opencode run` wraps what it is given
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = text[1:-1]
    elif "<" in text or "essage" in text or "NOTIFICATION" in text:
        text = split_program_text(text)[0]
    text = strip_fences(text)
    return "" if _CLIENT_COMMAND.match(text) else text


def strip_fences(text: str) -> str:
    """Return a text without our fences and what stands in them."""
    if "<memoranda-" in text:
        marks = list(_FENCE_MARK.finditer(text))
        # of each fence, the last first
        ends: dict[str, list[int]] = {}
        for mark in reversed(marks):
            if mark[1]:
                ends.setdefault(mark[2], []).append(mark.end())
        kept, place = list[str](), 0
        for mark in marks:
            after = ends.get(mark[2], [])
            while after and after[-1] <= mark.end():
                after.pop()
            if not mark[1] and after and mark.start() >= place:
                kept.append(text[place : mark.start()])
                place = after[-1]
        text = "".join([*kept, text[place:]])
        text = _FENCE_HEADING.sub("", text)
    return text.strip()


# How much of its context window a session uses, from the end of the client's own transcript.

# bytes of a transcript that are looked at; the first ones of them may be half a line
TAIL_BYTES = 262_144
_CLAUDE_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
MAX_TOKEN_COUNT = 10**9


def read_window_use(client: str, path: str) -> tuple[int, int]:
    """Return (tokens in use after the last answer, tokens of the window), each 0 where the transcript does not tell."""
    find = {"claude-code": _claude_use, "codex": _codex_use, "gemini": _gemini_use}.get(client)
    if find is None or not path:
        return 0, 0
    for line in reversed(read_plain_file(path, TAIL_BYTES, tail=True).split(b"\n")):
        if b"oken" not in line:
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and (found := find(entry)):
            return found
    return 0, 0


def _claude_use(entry: dict[str, Any]) -> tuple[int, int] | None:
    """Return (tokens in use, 0) of a line of Claude Code's transcript; None if it tells nothing."""
    usage = _nested_object(entry, "message", "usage")
    if entry.get("type") != "assistant" or entry.get("isSidechain") or not usage:
        return None
    return sum(_token_number(usage.get(name)) for name in _CLAUDE_COUNTS), 0


def _codex_use(entry: dict[str, Any]) -> tuple[int, int] | None:
    """Return (tokens in use, of how many) of a line of Codex's transcript; None if it tells nothing."""
    info = _nested_object(entry, "payload", "info")
    last = info.get("last_token_usage")
    if not isinstance(last, dict):
        return None
    return _token_number(last.get("total_tokens")), _token_number(info.get("model_context_window"))


def _gemini_use(entry: dict[str, Any]) -> tuple[int, int] | None:
    """Return (tokens in use, 0) of a line of Gemini's transcript; None if it tells nothing."""
    tokens = entry.get("tokens")
    if not isinstance(tokens, dict) or not (total := _token_number(tokens.get("total"))):
        return None
    return total, 0


def _nested_object(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the object at a path of names; empty where there is none."""
    for name in names:
        found = entry.get(name)
        if not isinstance(found, dict):
            return {}
        entry = found
    return entry


def _token_number(value: object) -> int:
    """Return a value if it is a positive number of tokens, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MAX_TOKEN_COUNT else 0
