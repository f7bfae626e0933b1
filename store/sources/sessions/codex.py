"""Codex: conversations as `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.

A turn is there twice, as what the model is sent (`response_item`) and as an event; the first is taken. AGENTS.md and
the environment come in the person's role, and are no turns.
"""

import os
from collections.abc import Iterator

from store.sources.files import existing, files_below, json_lines, text_of
from store.sources.moments import utc
from store.sources.source import Found, FoundTurn, Machine, Source, Trouble

INSERTED = (
    *("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>"),
    *("<turn_aborted>", "<permissions", "<user_shell_command>"),
)
PARTS = ("input_text", "output_text", "text")


def detect(machine: Machine) -> list[str]:
    base = machine.environment.get("CODEX_HOME") or os.path.join(machine.home, ".codex")
    return existing(os.path.join(base, "sessions"), os.path.join(base, "archived_sessions"))


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    for file in [path] if os.path.isfile(path) else files_below(path, ".jsonl", troubles):
        yield from _rollout(file, troubles)
    for file in files_below(path, ".jsonl.zst", troubles):
        troubles.append(Trouble(file, 0, "it is packed; unpack it with zstd -d"))


def conversations(path: str) -> Iterator[str]:
    """Yield the working folder of each conversation; of its file the first line alone is read."""
    for file in files_below(path, ".jsonl", []):
        for _, value in json_lines(file, []):
            about = value.get("payload")
            if value.get("type") == "session_meta" and isinstance(about, dict) and not _is_subagent(about):
                yield text_of(about.get("cwd"))
            break


def _is_subagent(about: dict[str, object]) -> bool:
    source = about.get("source")
    return isinstance(source, dict) and "subagent" in source


def _rollout(path: str, troubles: list[Trouble]) -> Iterator[FoundTurn]:
    session, cwd = os.path.basename(path).removesuffix(".jsonl"), ""
    for number, value in json_lines(path, troubles):
        payload = value.get("payload")
        if not isinstance(payload, dict):
            continue
        if value.get("type") == "session_meta":
            if _is_subagent(payload):
                return
            session = text_of(payload.get("id")) or session
        if value.get("type") in ("session_meta", "turn_context"):
            cwd = text_of(payload.get("cwd")) or cwd
        if value.get("type") != "response_item" or payload.get("type") != "message":
            continue
        role = payload.get("role")
        text = _said(payload.get("content")) if role in ("user", "assistant") else ""
        if text:
            at, name = utc(value.get("timestamp")), text_of(payload.get("id")) or f"{session}/{number}"
            yield FoundTurn(session, str(role), text, path, number, at, name, cwd)


def _said(content: object) -> str:
    parts = [
        text_of(part.get("text"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in PARTS
    ]
    return "\n\n".join(part for part in parts if part and not part.startswith(INSERTED))


CODEX = Source("codex", "Codex", detect, read, conversations)
