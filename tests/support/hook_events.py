"""The events of a turn, as each client reports them."""

import json
from pathlib import Path
from typing import Any

BASE = {"transcript_path": "", "session_id": "5f0e", "permission_mode": "default"}
# the events of a turn, as each client sends them
FORMS: dict[str, dict[str, dict[str, Any]]] = {
    "claude-code": {
        "start": {"hook_event_name": "SessionStart", "source": "startup"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "{}", "prompt_id": "{}"},
        "tool": {
            "hook_event_name": "PostToolUse",
            "tool_name": "TodoWrite",
            "tool_input": {"todos": [{"content": "Write tests", "status": "in_progress", "activeForm": "Writing"}]},
            "tool_response": {"oldTodos": [], "newTodos": []},
            "tool_use_id": "toolu_1",
        },
        "compact": {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""},
        "stop": {
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": "{}",
            "prompt_id": "{}",
        },
        "end": {"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
    },
    "codex": {
        "start": {"hook_event_name": "SessionStart", "source": "startup", "model": "gpt-5"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "{}", "turn_id": "{}", "model": "gpt-5"},
        "tool": {
            "hook_event_name": "PostToolUse",
            "tool_name": "update_plan",
            "tool_input": {"plan": [{"step": "Write tests", "status": "in_progress"}]},
            "tool_response": "Plan updated",
            "tool_use_id": "call_1",
        },
        "compact": {"hook_event_name": "PreCompact", "trigger": "auto", "turn_id": "9"},
        "stop": {"hook_event_name": "Stop", "last_assistant_message": "{}", "turn_id": "{}"},
        "end": {"hook_event_name": "SessionEnd", "reason": "exit"},
    },
    "gemini": {
        "start": {"hook_event_name": "SessionStart", "source": "startup", "timestamp": "2026-11-20T10:00:00Z"},
        "prompt": {"hook_event_name": "BeforeAgent", "prompt": "{}", "timestamp": "{}"},
        "tool": {
            "hook_event_name": "AfterTool",
            "tool_name": "write_todos",
            "tool_input": {"todos": [{"description": "Write tests", "status": "in_progress"}]},
            "tool_response": {"llmContent": "ok", "returnDisplay": "ok"},
            "timestamp": "2026-11-20T10:00:03Z",
        },
        "compact": {"hook_event_name": "PreCompress", "trigger": "auto", "timestamp": "2026-11-20T10:00:04Z"},
        "stop": {"hook_event_name": "AfterAgent", "prompt": "x", "prompt_response": "{}", "timestamp": "{}"},
        "end": {"hook_event_name": "SessionEnd", "reason": "exit", "timestamp": "2026-11-20T10:00:06Z"},
    },
    "opencode": {
        "start": {"event": "start"},
        "prompt": {"event": "prompt", "prompt": "{}", "id": "{}"},
        "tool": {
            "event": "tool",
            "tool_name": "todowrite",
            "tool_input": {"todos": [{"content": "Write tests", "status": "in_progress", "id": "1"}]},
            "id": "call1",
        },
        "compact": {"event": "compact"},
        "stop": {"event": "stop", "reply": "{}", "id": "{}"},
        "end": {"event": "end"},
    },
}
CLIENTS = list(FORMS)


def report(client: str, kind: str, folder: Path, text: str = "", number: str = "1", **more: object) -> bytes:
    said = {**BASE, **FORMS[client][kind], "cwd": str(folder)}
    for name, value in said.items():
        if value == "{}":
            said[name] = number if name in ("prompt_id", "turn_id", "timestamp", "id") else text
    return json.dumps({**said, **more}).encode()
