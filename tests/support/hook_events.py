"""The events of a turn, as each client reports them."""

import json
from pathlib import Path
from typing import Any

BASE = {"transcript_path": "", "session_id": "5f0e", "permission_mode": "default"}
# the events of a turn, as each client sends them
FORMS: dict[str, dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
CLIENTS = list(FORMS)


def report(client: str, kind: str, folder: Path, text: str = "", number: str = "1", **more: object) -> bytes:
    said = {**BASE, **FORMS[client][kind], "cwd": str(folder)}
    for name, value in said.items():
        if value == "{}":
            said[name] = number if name in ("prompt_id", "turn_id", "timestamp", "id") else text
    return json.dumps({**said, **more}).encode()
