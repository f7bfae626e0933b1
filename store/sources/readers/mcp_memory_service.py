"""mcp-memory-service: a SQLite database, packed or not, and its export as JSON. Vectors are not read; what is deleted
or superseded is left out."""

import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping

from store.sources.files import existing, read_json, text_of
from store.sources.moments import utc
from store.sources.source import Found, FoundDecision, FoundMemory, Machine, Source, Trouble
from store.sources.sqlite_copy import LARGEST, opened

FILE = "sqlite_vec.db"
LONGEST_TITLE = 80  # characters
_COLUMNS = "id content_hash content tags memory_type metadata created_at created_at_iso deleted_at superseded_by"

Row = Mapping[str, object]


def detect(machine: Machine) -> list[str]:
    if machine.system == "darwin":
        base = os.path.join(machine.home, "Library", "Application Support")
    elif machine.system == "win32":
        base = machine.environment.get("LOCALAPPDATA", "")
    else:
        base = machine.environment.get("XDG_DATA_HOME") or os.path.join(machine.home, ".local", "share")
    return existing(os.path.join(base, "mcp-memory", FILE))


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if path.endswith(".json"):
        value = read_json(path, troubles)
        rows = value.get("memories") if isinstance(value, dict) else None
        if isinstance(rows, list):
            yield from _memories(path, (row for row in rows if isinstance(row, dict)))
        elif value is not None:
            troubles.append(Trouble(path, 0, "it is not an export of mcp-memory-service"))
        return
    file = os.path.join(path, FILE) if os.path.isdir(path) else path
    if not file.endswith(".gz"):
        yield from _database(file, file, troubles)
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-source-") as folder:
        copy = os.path.join(folder, FILE)
        try:
            _unpack(file, copy)
        except (OSError, EOFError, zlib.error):
            troubles.append(Trouble(file, 0, "it cannot be unpacked"))
            return
        yield from _database(file, copy, troubles)


def _unpack(path: str, copy: str) -> None:
    size = 0
    if not os.path.isfile(path):
        raise OSError("it is not a plain file")
    with gzip.open(path, "rb") as packed, open(copy, "wb") as file:
        while part := packed.read(1 << 20):
            size += len(part)
            if size > LARGEST:
                raise OSError("it is too long")
            file.write(part)


def _database(path: str, copy: str, troubles: list[Trouble]) -> Iterator[Found]:
    found: list[Trouble] = []
    with opened(copy, found) as database:
        if database is not None:
            yield from _memories(path, database.rows("memories", _COLUMNS, "id"))
    troubles += [Trouble(path, one.line, one.why) for one in found]


def _memories(path: str, rows: Iterable[Row]) -> Iterator[FoundMemory]:
    for place, row in enumerate(rows, 1):
        text, about = text_of(row.get("content")), _object(row.get("metadata"))
        if not text or row.get("deleted_at") or row.get("superseded_by") or about.get("superseded_by"):
            continue
        name = row.get("id")
        number = name if isinstance(name, int) and name > 0 else place
        decision = row.get("memory_type") == "decision"
        yield FoundMemory(
            text=_title(text) if decision else text,
            path=path,
            line=number,
            place=f"memory {number}",
            id=text_of(row.get("content_hash")),
            session=text_of(about.get("conversation_id")),
            created=utc(row.get("created_at")) or utc(row.get("created_at_iso")),
            tags=_tags(row.get("tags")),
            decision=FoundDecision(text) if decision else None,
        )


def _title(text: str) -> str:
    """Return the beginning of a text, whole words, as a title."""
    line = text.partition("\n")[0]
    return line if len(line) <= LONGEST_TITLE else line[:LONGEST_TITLE].rsplit(None, 1)[0].rstrip(" ,;:") + " …"


def _tags(value: object) -> tuple[str, ...]:
    several = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(dict.fromkeys(one.strip() for one in several if isinstance(one, str) and one.strip()))


def _object(value: object) -> dict[str, object]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


MCP_MEMORY_SERVICE = Source("mcp-memory-service", "mcp-memory-service", detect, read)
