"""The use of a context window, from the transcripts of each client."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from store.doors.hook_events import TAIL_BYTES, read_window_use

USAGE = {"input_tokens": 5, "cache_creation_input_tokens": 1_000, "cache_read_input_tokens": 90_000}
CLAUDE = {"type": "assistant", "message": {"usage": {**USAGE, "output_tokens": 200}}}
TOTALS = {"total_token_usage": {"total_tokens": 900_000}, "last_token_usage": {"total_tokens": 61_000}}
COUNTED = {"type": "token_count", "info": {**TOTALS, "model_context_window": 272_000}}
CODEX = {"type": "event_msg", "payload": COUNTED}
GEMINI = {"id": "1", "type": "gemini", "content": "x", "tokens": {"input": 9_000, "output": 50, "total": 9_050}}


@pytest.mark.parametrize(
    ("client", "line", "found"),
    [
        ("claude-code", CLAUDE, (91_205, 0)),
        ("claude-code", {**CLAUDE, "isSidechain": True}, (0, 0)),
        ("codex", CODEX, (61_000, 272_000)),
        ("gemini", GEMINI, (9_050, 0)),
        ("opencode", CLAUDE, (0, 0)),
        ("claude-code", {"type": "assistant", "message": {"usage": {"input_tokens": "many", "tokens": None}}}, (0, 0)),
    ],
)
def test_the_last_answer_tells(tmp_path: Path, client: str, line: dict[str, Any], found: tuple[int, int]) -> None:
    file = tmp_path / "t.jsonl"
    older = {"type": "assistant", "message": {"usage": {"input_tokens": 1}}, "tokens": {"total": 1}}
    rest = '{"type":"user","message":"tokens"}\n{"half": "tok'
    if found == (0, 0):
        file.write_text(f"{json.dumps(line)}\n{rest}")
    else:
        file.write_text(f"{json.dumps(older)}\n{'x' * TAIL_BYTES}\n{json.dumps(line)}\n{rest}")
    assert read_window_use(client, str(file)) == found


def test_what_is_no_file_tells_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("", str(tmp_path), str(tmp_path / "none"), str(tmp_path / "pipe"), "/dev/zero", "a\0b"):
        assert read_window_use("claude-code", path) == (0, 0)
