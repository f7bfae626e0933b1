"""How much of its context window a session uses, from the end of the client's own transcript."""

import json
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TAIL = 262_144  # bytes of a transcript that are looked at; the first ones of them may be half a line
_CLAUDE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
MOST = 10**9


def used(client: str, path: str) -> tuple[int, int]:
    """Return (tokens in use after the last answer, tokens of the window), each 0 where the transcript does not tell."""
    find = {"claude-code": _of_claude, "codex": _of_codex, "gemini": _of_gemini}.get(client)
    if find is None or not path:
        return 0, 0
    for line in reversed(_tail(path).split(b"\n")):
        if b"oken" not in line:
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and (found := find(entry)):
            return found
    return 0, 0


def _of_claude(entry: "dict[str, Any]") -> tuple[int, int] | None:
    usage = _inside(entry, "message", "usage")
    if entry.get("type") != "assistant" or entry.get("isSidechain") or not usage:
        return None
    return sum(_number(usage.get(name)) for name in _CLAUDE), 0


def _of_codex(entry: "dict[str, Any]") -> tuple[int, int] | None:
    info = _inside(entry, "payload", "info")
    last = info.get("last_token_usage")
    if not isinstance(last, dict):
        return None
    return _number(last.get("total_tokens")), _number(info.get("model_context_window"))


def _of_gemini(entry: "dict[str, Any]") -> tuple[int, int] | None:
    tokens = entry.get("tokens")
    if not isinstance(tokens, dict) or not (total := _number(tokens.get("total"))):
        return None
    return total, 0


def _inside(entry: "dict[str, Any]", *names: str) -> "dict[str, Any]":
    for name in names:
        found = entry.get(name)
        if not isinstance(found, dict):
            return {}
        entry = found
    return entry


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST else 0


def _tail(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return b""
        return os.pread(handle, TAIL, max(0, status.st_size - TAIL))
    except OSError:
        return b""
    finally:
        os.close(handle)
