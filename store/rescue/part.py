"""Salvage in a process of its own: `python -m store.rescue.part FILE [NEW]` prints JSON lines, the last one the
result."""

import json
import os
import sys
from dataclasses import asdict

from store.base.errors import MemorandaError
from store.base.runtime import Part
from store.rescue.salvage import salvage_file

# nothing of it is asked for but by its verb
PART = Part()


def main(path: str, into: str | None = None) -> None:
    os.umask(0o077)

    def progress(doing: str, done: int, total: int) -> None:
        print(json.dumps({"doing": doing, "done": done}), flush=True)

    try:
        outcome: dict[str, object] = {"report": asdict(salvage_file(path, into, progress))}
    except MemorandaError as error:
        outcome = {"error": {"code": error.code, "message": error.message, "next": error.next}}
    print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
