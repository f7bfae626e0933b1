"""One form for the events of all clients, read from the JSON that each gives its hooks. What is unknown is ignored."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from store.text.one_line import one_line

START, PROMPT, TOOL, COMPACT, STOP, END = "start", "prompt", "tool", "compact", "stop", "end"
_CLAUDE = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PostToolUse": TOOL,
    "PreCompact": COMPACT,
    "Stop": STOP,
    "SessionEnd": END,
}
# client → the name of its event → what it is; `agent-turn-complete` is Codex's `notify`
FORMS = {
    "claude-code": _CLAUDE,
    "codex": {**_CLAUDE, "agent-turn-complete": STOP},
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterTool": TOOL,
        "PreCompress": COMPACT,
        "AfterAgent": STOP,
        "SessionEnd": END,
    },
    "opencode": {kind: kind for kind in (START, PROMPT, TOOL, COMPACT, STOP, END)},
}
SHELLS = ("Bash", "run_shell_command", "bash", "shell", "local_shell", "exec_command")
TASK_TOOLS = ("TodoWrite", "todowrite", "update_plan", "write_todos", "TaskCreate", "TaskUpdate")  # see `task_list`


@dataclass(frozen=True, slots=True)
class Caller:
    """Who reports: the `folder` and the `variables` that the client started its hook with, and the memory that `--db`
    names, None without one. The folder is empty where it was deleted meanwhile."""

    folder: str
    variables: Mapping[str, str]
    option: str | None = None

    @classmethod
    def here(cls, option: str | None = None) -> "Caller":
        """Return the caller whose process this is."""
        try:
            folder = os.getcwd()
        except OSError:
            folder = ""
        return cls(folder, os.environ, option)


class HookEvent:
    """One event: `kind`, and `name` as the client calls it; the `session`, the folder it is in, its transcript; a `key`
    that the same report has when it comes again. `text` is the prompt or the reply, `inner` says that it is a
    sub-agent's. `tokens` of the context window are in use, of `window` in all, 0 where unknown."""

    __slots__ = (
        *("client", "cwd", "inner", "key", "kind", "model", "name", "session", "source", "text", "tokens"),
        *("tool", "tool_input", "tool_response", "transcript", "window"),
    )

    def __init__(self, client: str, kind: str, name: str, raw: bytes, payload: dict[str, Any]) -> None:
        self.client = client
        self.kind = kind
        self.name = name
        self.session = one_line(_text(payload, "session_id", "thread-id"))
        self.cwd = _text(payload, "cwd")
        self.transcript = _text(payload, "transcript_path")
        self.model = _text(payload, "model")
        self.source = _text(payload, "source", "reason", "trigger")
        self.inner = bool(_text(payload, "agent_id") or payload.get("inner") is True)
        self.text = _text(payload, *_TEXTS.get(kind, ()))
        self.tool = _text(payload, "tool_name")
        self.tool_input: dict[str, Any] = _object(payload.get("tool_input"))
        self.tool_response = payload.get("tool_response")
        self.tokens, self.window = _tokens(payload.get("tokens")), 0
        self.key = _key(self, raw, payload)

    @property
    def shell(self) -> str:
        """Return the command that a shell was given; empty if this is no such event."""
        command = self.tool_input.get("command") if self.tool in SHELLS else ""
        if isinstance(command, list):
            command = " ".join(map(str, command))
        return command if isinstance(command, str) else ""


_TEXTS = {PROMPT: ("prompt",), STOP: ("last_assistant_message", "prompt_response", "reply", "last-assistant-message")}
_IDS = ("prompt_id", "turn_id", "turn-id", "tool_use_id", "timestamp", "id")


def read(client: str, raw: bytes) -> HookEvent | None:
    """Return the event that a client reports; None for what is not one that we know, or is no report at all."""
    forms = FORMS.get(client)
    if forms is None:
        return None
    try:
        payload = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    name = _text(payload, "hook_event_name", "event", "type")
    kind = forms.get(name)
    if kind is None:
        return None
    event = HookEvent(client, kind, name, raw, payload)
    return event if event.session else None


def answer(event: HookEvent, context: str) -> bytes:
    """Return what the client is to read: the text for its model, in the form that it takes; nothing without one."""
    if not context:
        return b""
    reply: dict[str, object] = {"context": context}
    if event.client != "opencode":
        reply = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": context}}
    return json.dumps(reply).encode("ascii")


def _key(event: HookEvent, raw: bytes, payload: dict[str, Any]) -> str:
    """Return a key that is the same when a report comes twice, and another for every other report."""
    numbered = next((text for name in _IDS if (text := _text(payload, name))), "")
    if not numbered:
        try:
            numbered = str(os.stat(event.transcript).st_size)
        except (OSError, ValueError):
            pass
        # to go on with a session and say nothing leaves its transcript as it is
        if not numbered or event.kind == START:
            numbered = f"{numbered} {int(time.time()) // 60}"
    return f"hook {event.client} {event.session} {event.name} {numbered} {sha256(raw).hexdigest()}"


def _text(payload: dict[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := payload.get(name), str) and value), "")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tokens(value: object) -> int:
    """Return what OpenCode counts of a message: what was read and written, from the cache or not."""
    if not isinstance(value, dict):
        return 0
    cache = _object(value.get("cache"))
    parts = (value.get("input"), value.get("output"), value.get("reasoning"), cache.get("read"), cache.get("write"))
    return sum(part for part in parts if isinstance(part, int) and not isinstance(part, bool) and 0 < part < 10**9)
