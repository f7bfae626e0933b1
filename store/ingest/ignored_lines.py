"""Lines of transcripts in which nobody says anything: what a program noted for itself. They are passed over.

Of programs whose transcripts are not read (Codex, Gemini) the notes alone are passed
over: a line in which somebody speaks is still told as one that cannot be read.
"""

from typing import Any

# Claude Code: lines that name no session; those that do are known by it (`claude.is_claude`)
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
# Gemini: the head of a file, and changes of what it holds
_GEMINI_HEAD = ("sessionId", "projectHash")
_GEMINI_CHANGE = "$set"


def is_bookkeeping(value: Any) -> bool:
    """Whether a line of JSON is a program's own note. One that has a role and a text never is."""
    if not isinstance(value, dict) or isinstance(value.get("role"), str):
        return False
    kind, payload = value.get("type"), value.get("payload")
    if isinstance(kind, str) and isinstance(payload, dict):
        return kind in _CODEX or (kind == _CODEX_ITEM and payload.get("type") != _CODEX_SPEECH)
    if isinstance(kind, str):
        return kind in _CLAUDE
    return kind is None and (all(name in value for name in _GEMINI_HEAD) or list(value) == [_GEMINI_CHANGE])
