"""Lines of transcripts without a message: what a program recorded for itself. They are skipped.

Of programs whose transcripts are not read (Codex, Gemini) only these lines are skipped: a line with a message is still
reported as one that cannot be read.
"""

from typing import Any

# Claude Code: lines that name no session; `claude.is_claude` recognises those that do
_CLAUDE = frozenset(
    {
        *("agent-color", "agent-name", "ai-title", "attachment", "attribution-snapshot", "bridge-session"),
        *("content-replacement", "context-collapse-commit", "custom-title", "file-history-delta"),
        *("file-history-snapshot", "last-prompt", "marble-origami-commit", "marble-origami-snapshot", "mode"),
        *("permission-mode", "pr-link", "progress", "queue-operation", "speculation-accept", "summary", "system"),
        *("tag", "task-summary", "worktree-state"),
    }
)
# Codex: each has a payload
_CODEX = frozenset(
    ("compacted", "event_msg", "session_meta", "session_state", "token_usage_record", "turn_context", "world_state")
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
