"""Copies of other tools' memories, as these tools wrote them (tests/samples): one invented project, with an update, a
deletion, odd characters and one false key. A database is kept as the rows and columns of its tables that matter, and
made again with its newest rows still in the log."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[1] / "samples"
SQL = ".sql"


def copied(tool: str, folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """Copy a tool's sample into a folder: (what is to be read, what is expected of it)."""
    target = folder / tool
    shutil.copytree(SAMPLES / tool, target, symlinks=True)
    expected = json.loads((target / "expected.json").read_text(encoding="utf-8"))
    (target / "expected.json").unlink()
    for dump in target.rglob(f"*{SQL}"):
        database(dump.read_text(encoding="utf-8"), dump.with_suffix(""))
        dump.unlink()
    return [target / path for path in expected["paths"]], expected


def database(statements: str, path: Path) -> None:
    """Make a database whose rows are all in its log, as a running program leaves them."""
    made = path.with_name("made.db")
    connection = sqlite3.connect(made)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.executescript(f"BEGIN; {statements} COMMIT;")
    shutil.copyfile(made, path)
    shutil.copyfile(f"{made}-wal", f"{path}-wal")
    connection.close()
    for left in path.parent.glob("made.db*"):
        left.unlink()


def state(folder: Path) -> dict[str, tuple[bytes | None, int]]:
    """Every file and folder below with its bytes and the time of its last change."""
    return {
        str(path): (path.read_bytes() if path.is_file() else None, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }
