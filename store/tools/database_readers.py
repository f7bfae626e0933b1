"""Tools that keep their memory in a database or JSON: Engram, claude-mem, mcp-memory-service, mem0, server-memory.

Engram: a SQLite database, `~/.engram/engram.db`; its export as JSON; and the chunks it writes into a project,
`.engram/chunks/*.jsonl.gz`. Times are UTC without an offset.

What is deleted, or replaced by a judged relation `supersedes`, is left out.
"""

import gzip
import json
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping

from store.tools.source import (
    COPY_FOLDER_PREFIX,
    LARGEST_COPIED_DATABASE,
    LARGEST_JSON_DOCUMENT,
    CopiedDatabase,
    FoundDecision,
    FoundItem,
    FoundMemory,
    FoundTurn,
    Machine,
    MemorySource,
    ReadTrouble,
    Troubles,
    existing_paths,
    files_below,
    list_source_files,
    modification_time,
    open_database_copy,
    parse_foreign_time,
    parse_object,
    read_file_bytes,
    read_json_file,
    read_json_lines,
    stripped_text,
    stripped_texts,
)

# Rows of tables, of a database or of an export as JSON.

Row = Mapping[str, object]


class ExportedTables:
    """The tables of an export, read as those of a database are; `names` says what it calls those that it calls
    otherwise."""

    def __init__(self, value: Mapping[str, object], names: Mapping[str, str]) -> None:
        self._value = value
        self._names = names

    def read_table(self, table: str, columns: str, order: str = "") -> Iterator[Row]:
        """Yield the objects of a list; none if there is no such list."""
        rows = self._value.get(self._names.get(table, table))
        yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))


Tables = CopiedDatabase | ExportedTables


def _read_export(path: str, tool: str, troubles: Troubles) -> dict[str, object] | None:
    """Return the object that an export as JSON is. Return None, and note a trouble, for anything else."""
    value = read_json_file(path, troubles)
    if isinstance(value, dict):
        return value
    if value is not None:
        troubles.append(ReadTrouble(path, 0, f"it is not an export of {tool}"))
    return None


def _row_number(row: Row, place: int) -> int:
    """Return the number by which a tool knows a row, or else its place."""
    name = row.get("id")
    return name if isinstance(name, int) and name > 0 else place


def _file_in(path: str, name: str) -> str:
    """Return the path of the tool's file, which a folder stands for."""
    return os.path.join(path, name) if os.path.isdir(path) else path


# claude-mem: a SQLite database, `~/.claude-mem/claude-mem.db`, and its export as JSON.
#
# An observation says one thing four times (title, subtitle, facts, narrative): it becomes one memory. Older and newer
# texts of one title lie side by side: both are brought, and each says so.

CLAUDE_MEM_FILE = "claude-mem.db"
CLAUDE_MEM_EXPORT = {"session_summaries": "summaries", "user_prompts": "prompts", "sdk_sessions": "sessions"}
REJECTED_PREFIX = "rejected:"
_CLAUDE_MEM_OBSERVATION = (
    "id memory_session_id sdk_session_id project merged_into_project text type title subtitle facts narrative concepts"
    " created_at created_at_epoch"
)
_CLAUDE_MEM_SUMMARY = (
    "id memory_session_id sdk_session_id project merged_into_project request investigated learned completed"
    " next_steps notes created_at created_at_epoch"
)
_CLAUDE_MEM_PROMPT = "id content_session_id prompt_text created_at created_at_epoch"
_CLAUDE_MEM_SESSION = "content_session_id project"


def detect_claude_mem(machine: Machine) -> list[str]:
    """Return the path of claude-mem's database, if it exists."""
    base = machine.find_folder("CLAUDE_MEM_DATA_DIR", ".claude-mem")
    return existing_paths(os.path.join(base, CLAUDE_MEM_FILE))


def read_claude_mem(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories and the turns of a database or an export of claude-mem."""
    if path.endswith(".json"):
        if value := _read_export(path, "claude-mem", troubles):
            yield from _claude_mem_items(path, ExportedTables(value, CLAUDE_MEM_EXPORT))
        return
    file = _file_in(path, CLAUDE_MEM_FILE)
    with open_database_copy(file, troubles) as database:
        if database is not None:
            yield from _claude_mem_items(file, database)


def _claude_mem_items(path: str, tables: Tables) -> Iterator[FoundItem]:
    """Yield all items: memories, summaries of sessions, prompts."""
    newest = _newest_by_title(tables.read_table("observations", "title created_at created_at_epoch"))
    yield from _claude_mem_memories(path, tables.read_table("observations", _CLAUDE_MEM_OBSERVATION, "id"), newest)
    yield from _claude_mem_summaries(path, tables.read_table("session_summaries", _CLAUDE_MEM_SUMMARY, "id"))
    projects = {
        stripped_text(row.get("content_session_id")): _claude_mem_project(row)
        for row in tables.read_table("sdk_sessions", _CLAUDE_MEM_SESSION)
    }
    yield from _claude_mem_prompts(path, tables.read_table("user_prompts", _CLAUDE_MEM_PROMPT, "id"), projects)


def _claude_mem_project(row: Row) -> str:
    """Return the name of a row's project; of a worktree, `name/worktree`, that of its repository."""
    return (stripped_text(row.get("merged_into_project")) or stripped_text(row.get("project"))).partition("/")[0]


def _claude_mem_time(row: Row) -> str:
    """Return when a row was created, in UTC."""
    return parse_foreign_time(row.get("created_at_epoch")) or parse_foreign_time(row.get("created_at"))


def _newest_by_title(rows: Iterable[Row]) -> dict[str, str]:
    """Return the newest time of each title that several observations share."""
    newest: dict[str, str] = {}
    several = set()
    for row in rows:
        title = stripped_text(row.get("title")).casefold()
        if title and title in newest:
            several.add(title)
        newest[title] = max(newest.get(title, ""), _claude_mem_time(row))
    return {title: newest[title] for title in several}


def _claude_mem_memories(path: str, rows: Iterable[Row], newest: Mapping[str, str]) -> Iterator[FoundMemory]:
    """Yield the memories of observations; `newest` holds the newest time of each repeated title."""
    for place, row in enumerate(rows, 1):
        title, facts = stripped_text(row.get("title")), stripped_texts(row.get("facts"))
        text = _observation_text(row, facts)
        if not text:
            continue
        number = _row_number(row, place)
        decision = None
        if row.get("type") == "decision" and title:
            against = tuple(
                one[len(REJECTED_PREFIX) :].strip() for one in facts if one.lower().startswith(REJECTED_PREFIX)
            )
            for_it = [one for one in facts if not one.lower().startswith(REJECTED_PREFIX)]
            decision = FoundDecision(stripped_text(row.get("narrative")) or "\n".join(for_it) or text, against)
        created, note = _claude_mem_time(row), ""
        if (last := newest.get(title.casefold())) is not None:
            note = "It is the newest of this title" if created == last else "There is a newer one of this title"
        yield FoundMemory(
            text=title if decision else text,
            path=path,
            line=number,
            place=f"observation {number}",
            id=str(number),
            session=stripped_text(row.get("memory_session_id")) or stripped_text(row.get("sdk_session_id")),
            project=_claude_mem_project(row),
            created=created,
            tags=stripped_texts(row.get("concepts")),
            note=f"{note}, “{title}”." if note else "",
            decision=decision,
        )


def _observation_text(row: Row, facts: tuple[str, ...]) -> str:
    """Return all that an observation says, without repeating anything."""
    text = stripped_text(row.get("narrative")) or stripped_text(row.get("text"))
    more = [one for one in facts if one not in text and not one.lower().startswith(REJECTED_PREFIX)]
    if text and more:
        return "\n".join([text, *(f"- {one}" for one in more)])
    return text or "\n".join(more) or stripped_text(row.get("subtitle")) or stripped_text(row.get("title"))


def _claude_mem_summaries(path: str, rows: Iterable[Row]) -> Iterator[FoundTurn]:
    """Yield the summaries of sessions as turns of the assistant."""
    for place, row in enumerate(rows, 1):
        parts = [
            f"{name.replace('_', ' ').capitalize()}: {text}"
            for name in ("request", "investigated", "learned", "completed", "next_steps", "notes")
            if (text := stripped_text(row.get(name)))
        ]
        if parts:
            session = (
                stripped_text(row.get("memory_session_id"))
                or stripped_text(row.get("sdk_session_id"))
                or "claude-mem"
            )
            said, name = "\n".join(parts), f"summary/{row.get('id')}"
            yield FoundTurn(
                session, "assistant", said, path, place, _claude_mem_time(row), name, _claude_mem_project(row)
            )


def _claude_mem_prompts(path: str, rows: Iterable[Row], projects: Mapping[str, str]) -> Iterator[FoundTurn]:
    """Yield the person's prompts as turns."""
    for place, row in enumerate(rows, 1):
        if text := stripped_text(row.get("prompt_text")):
            session = stripped_text(row.get("content_session_id")) or "claude-mem"
            name, project = f"prompt/{row.get('id')}", projects.get(session, "")
            yield FoundTurn(session, "user", text, path, place, _claude_mem_time(row), name, project)


ENGRAM_FILE = "engram.db"
ENGRAM_EXPORT = {"memory_relations": "relations", "user_prompts": "prompts"}
ENGRAM_DOMAINS = {"preference": "preferences", "decision": "decisions"}
_DECISION_PART = re.compile(
    r"^\*\*(?P<name>[A-Z]\w+)\*\*:\s*(?P<text>.*?)(?=^\*\*[A-Z]\w+\*\*:|\Z)", re.MULTILINE | re.DOTALL
)
_ENGRAM_SESSION = "id project directory started_at summary"
_ENGRAM_PROMPT = "id session_id content project created_at"
_ENGRAM_OBSERVATION = "id session_id type title content project scope created_at deleted_at sync_id pinned"


def detect_engram(machine: Machine) -> list[str]:
    """List Engram's database and the chunks in the project that exist."""
    base = machine.find_folder("ENGRAM_DATA_DIR", ".engram")
    inner = os.path.join(machine.project, ".engram", "chunks") if machine.project else ""
    return existing_paths(os.path.join(base, ENGRAM_FILE), inner)


def read_engram(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories and the turns of a database, an export, a chunk or a folder of Engram."""
    if os.path.isdir(path):
        if os.path.isfile(file := os.path.join(path, ENGRAM_FILE)):
            yield from _read_engram_database(file, troubles)
        for chunk in files_below(path, ".jsonl.gz", troubles):
            yield from _read_engram_chunk(chunk, troubles)
    elif path.endswith(".json"):
        if value := _read_export(path, "Engram", troubles):
            yield from _engram_items(path, ExportedTables(value, ENGRAM_EXPORT))
    elif path.endswith(".gz"):
        yield from _read_engram_chunk(path, troubles)
    else:
        yield from _read_engram_database(path, troubles)


def _read_engram_database(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the items of a database."""
    with open_database_copy(path, troubles) as database:
        if database is not None:
            yield from _engram_items(path, database)


def _read_engram_chunk(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the items of a packed chunk."""
    packed = read_file_bytes(path, troubles, LARGEST_JSON_DOCUMENT)
    if packed is None:
        return
    try:
        unpacker = zlib.decompressobj(31)
        text = unpacker.decompress(packed, LARGEST_JSON_DOCUMENT)
        if unpacker.unconsumed_tail:
            raise gzip.BadGzipFile("it is too long")
        lines = text.decode("utf-8", "replace").splitlines()
    except (OSError, EOFError, zlib.error):
        troubles.append(ReadTrouble(path, 0, "it cannot be unpacked"))
        return
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            troubles.append(ReadTrouble(path, number, "it is not JSON"))
            continue
        if isinstance(value, dict):
            yield from _engram_items(path, ExportedTables(value, ENGRAM_EXPORT))


def _engram_items(path: str, tables: Tables) -> Iterator[FoundItem]:
    """Yield all items: memories, prompts, summaries of sessions."""
    replaced = {
        str(row.get("target_id"))
        for row in tables.read_table("memory_relations", "target_id relation judgment_status")
        if row.get("relation") == "supersedes" and row.get("judgment_status") == "judged"
    }
    sessions: dict[str, Row] = {str(row.get("id")): row for row in tables.read_table("sessions", _ENGRAM_SESSION)}
    yield from _engram_memories(
        path, tables.read_table("observations", _ENGRAM_OBSERVATION, "id"), sessions, replaced
    )
    yield from _engram_turns(path, tables.read_table("user_prompts", _ENGRAM_PROMPT, "id"), sessions)


def _engram_memories(
    path: str, rows: Iterable[Row], sessions: Mapping[str, Row], replaced: set[str]
) -> Iterator[FoundMemory]:
    """Yield the memories of observations that are neither deleted nor replaced."""
    for place, row in enumerate(rows, 1):
        content = stripped_text(row.get("content"))
        if not content or row.get("deleted_at") or str(row.get("sync_id")) in replaced:
            continue
        number = _row_number(row, place)
        kind, session = str(row.get("type") or ""), str(row.get("session_id") or "")
        title = stripped_text(row.get("title"))
        decision = _engram_decision(content) if kind == "decision" and title else None
        about = sessions.get(session, {})
        yield FoundMemory(
            text=title if decision else content,
            path=path,
            line=number,
            place=f"observation {number}",
            id=stripped_text(row.get("sync_id")) or str(number),
            session=session,
            project=_engram_project(row, about),
            created=parse_foreign_time(row.get("created_at")),
            domain="personal" if row.get("scope") == "personal" else ENGRAM_DOMAINS.get(kind, "general"),
            pinned=bool(row.get("pinned")),
            decision=decision,
        )


def _engram_project(row: Row, session: Row) -> str:
    """Return the folder of a session; of one that has none, as of what is saved by hand, the name of the project."""
    return (
        stripped_text(session.get("directory"))
        or stripped_text(row.get("project"))
        or stripped_text(session.get("project"))
    )


def _engram_decision(content: str) -> FoundDecision:
    """Return the parts of a decision; the whole text is the choice if it has no parts."""
    parts = {part["name"]: part["text"].strip() for part in _DECISION_PART.finditer(content)}
    if not parts.get("What"):
        return FoundDecision(content)
    rest = [parts.pop("Why", ""), *(f"{name}: {text}" for name, text in parts.items() if name != "What" and text)]
    return FoundDecision(parts["What"], (), "\n".join(filter(None, rest)))


def _engram_turns(path: str, prompts: Iterable[Row], sessions: Mapping[str, Row]) -> Iterator[FoundTurn]:
    """Yield the person's prompts and the summaries of sessions as turns."""
    for place, row in enumerate(prompts, 1):
        if text := stripped_text(row.get("content")):
            session = str(row.get("session_id") or "engram")
            cwd = _engram_project(row, sessions.get(session, {}))
            at = parse_foreign_time(row.get("created_at"))
            yield FoundTurn(
                session, "user", text, path, _row_number(row, place), at, f"prompt/{row.get('id')}", cwd
            )
    for place, (session, row) in enumerate(sessions.items(), 1):
        if text := stripped_text(row.get("summary")):
            at, cwd = parse_foreign_time(row.get("ended_at") or row.get("started_at")), _engram_project({}, row)
            yield FoundTurn(session, "assistant", text, path, place, at, "summary", cwd)


# mcp-memory-service: a SQLite database, packed or not, and its export as JSON. Vectors are not read; what is deleted
# or superseded is left out.

MCP_MEMORY_FILE = "sqlite_vec.db"
LONGEST_MEMORY_TITLE = 80  # characters
_MCP_MEMORY_COLUMNS = (
    "id content_hash content tags memory_type metadata created_at created_at_iso deleted_at superseded_by"
)


def detect_mcp_memory(machine: Machine) -> list[str]:
    """Return the path of mcp-memory-service's database, if it exists."""
    if machine.system == "darwin":
        base = os.path.join(machine.home, "Library", "Application Support")
    elif machine.system == "win32":
        base = machine.environment.get("LOCALAPPDATA", "")
    else:
        base = machine.find_folder("XDG_DATA_HOME", ".local", "share")
    return existing_paths(os.path.join(base, "mcp-memory", MCP_MEMORY_FILE))


def read_mcp_memory(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories of a database, packed or not, or of an export."""
    if path.endswith(".json"):
        if (value := _read_export(path, "mcp-memory-service", troubles)) is not None:
            if not isinstance(value.get("memories"), list):
                troubles.append(ReadTrouble(path, 0, "it is not an export of mcp-memory-service"))
            yield from _mcp_memories(path, ExportedTables(value, {}).read_table("memories", _MCP_MEMORY_COLUMNS))
        return
    file = _file_in(path, MCP_MEMORY_FILE)
    if not file.endswith(".gz"):
        yield from _read_mcp_memory_database(file, file, troubles)
        return
    with tempfile.TemporaryDirectory(prefix=COPY_FOLDER_PREFIX) as folder:
        copy = os.path.join(folder, MCP_MEMORY_FILE)
        try:
            _unpack_database(file, copy)
        except (OSError, EOFError, zlib.error):
            troubles.append(ReadTrouble(file, 0, "it cannot be unpacked"))
            return
        yield from _read_mcp_memory_database(file, copy, troubles)


def _unpack_database(path: str, copy: str) -> None:
    """Unpack a database to a copy. Raise OSError, EOFError or zlib.error."""
    size = 0
    if not os.path.isfile(path):
        raise OSError("it is not a plain file")
    with gzip.open(path, "rb") as packed, open(copy, "wb") as file:
        while part := packed.read(1 << 20):
            size += len(part)
            if size > LARGEST_COPIED_DATABASE:
                raise OSError("it is too long")
            file.write(part)


def _read_mcp_memory_database(path: str, copy: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories of a copy of the database at `path`."""
    found: Troubles = []
    with open_database_copy(copy, found) as database:
        if database is not None:
            yield from _mcp_memories(path, database.read_table("memories", _MCP_MEMORY_COLUMNS, "id"))
    troubles += [ReadTrouble(path, one.line, one.why) for one in found]


def _mcp_memories(path: str, rows: Iterable[Row]) -> Iterator[FoundMemory]:
    """Yield the memories of rows that are neither deleted nor superseded."""
    for place, row in enumerate(rows, 1):
        text, about = stripped_text(row.get("content")), parse_object(row.get("metadata"))
        if not text or row.get("deleted_at") or row.get("superseded_by") or about.get("superseded_by"):
            continue
        number = _row_number(row, place)
        decision = row.get("memory_type") == "decision"
        yield FoundMemory(
            text=_title_from_text(text) if decision else text,
            path=path,
            line=number,
            place=f"memory {number}",
            id=stripped_text(row.get("content_hash")),
            session=stripped_text(about.get("conversation_id")),
            created=parse_foreign_time(row.get("created_at")) or parse_foreign_time(row.get("created_at_iso")),
            tags=_mcp_memory_tags(row.get("tags")),
            decision=FoundDecision(text) if decision else None,
        )


def _title_from_text(text: str) -> str:
    """Return the beginning of a text, whole words, as a title."""
    line = text.partition("\n")[0]
    return (
        line
        if len(line) <= LONGEST_MEMORY_TITLE
        else line[:LONGEST_MEMORY_TITLE].rsplit(None, 1)[0].rstrip(" ,;:") + " …"
    )


def _mcp_memory_tags(value: object) -> tuple[str, ...]:
    """Return the tags of a list, or of a text with commas."""
    several = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(dict.fromkeys(one.strip() for one in several if isinstance(one, str) and one.strip()))


# mem0: the result of its `get_all` as JSON, or the database of its history, `~/.mem0/history.db`. Its vectors are
# pickles, and are never read.

MEM0_FILE = "history.db"
MEM0_DOMAINS = ("work", "preferences", "decisions", "personal", "projects")


def detect_mem0(machine: Machine) -> list[str]:
    """Return the path of mem0's history, if it exists."""
    base = machine.find_folder("MEM0_DIR", ".mem0")
    return existing_paths(os.path.join(base, MEM0_FILE))


def read_mem0(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories of an export or of a database of mem0's history."""
    if path.endswith(".json"):
        yield from _mem0_export(path, troubles)
    else:
        yield from _mem0_history(_file_in(path, MEM0_FILE), troubles)


def _mem0_export(path: str, troubles: Troubles) -> Iterator[FoundMemory]:
    """Yield the memories of an export."""
    value = read_json_file(path, troubles)
    rows = value.get("results") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        if value is not None:
            troubles.append(ReadTrouble(path, 0, "it is not a list of memories"))
        return
    for place, row in enumerate(rows, 1):
        text = stripped_text(row.get("memory")) if isinstance(row, dict) else ""
        if not text:
            continue
        about = row.get("metadata")
        about = about if isinstance(about, dict) else {}
        category = str(about.get("category", ""))
        yield FoundMemory(
            text=text,
            path=path,
            line=place,
            place=f"memory {place}",
            id=stripped_text(row.get("id")),
            session=stripped_text(row.get("run_id")),
            created=parse_foreign_time(row.get("created_at")),
            tags=stripped_texts(about.get("tags")),
            domain=category if category in MEM0_DOMAINS else "general",
        )


def _mem0_history(path: str, troubles: Troubles) -> Iterator[FoundMemory]:
    """Yield the newest text of each memory that is not deleted."""
    with open_database_copy(path, troubles) as database:
        if database is None:
            return
        columns = "memory_id new_memory event created_at updated_at is_deleted"
        last: dict[str, tuple[str, dict[str, object]]] = {}
        for row in database.read_table("history", columns):
            name = str(row["memory_id"])
            at = parse_foreign_time(row["updated_at"]) or parse_foreign_time(row["created_at"])
            if name not in last or at >= last[name][0]:
                last[name] = (at, row)
        for name, (_, row) in last.items():
            text, number = stripped_text(row["new_memory"]), row["rowid"]
            if text and not row["is_deleted"] and row["event"] != "DELETE" and isinstance(number, int):
                line = max(1, number)
                made = parse_foreign_time(row["created_at"])
                yield FoundMemory(text, path, line, place=f"event {line}", id=name, created=made)


# The reference memory server of MCP: entities with observations as JSON lines, without ids and dates. An entity's name
# and type become tags.

SERVER_MEMORY_FILES = ("memory.jsonl", "memory.json")


def detect_server_memory(machine: Machine) -> list[str]:
    """List the files of the memory server that exist."""
    named = machine.environment.get("MEMORY_FILE_PATH", "")
    inner = os.path.join("node_modules", "@modelcontextprotocol", "server-memory", "dist")
    bases = (
        os.path.join("/usr", "lib"),
        os.path.join("/usr", "local", "lib"),
        os.path.join(machine.home, ".npm-global", "lib"),
    )
    several = [os.path.join(base, inner, name) for base in bases for name in SERVER_MEMORY_FILES]
    cache = os.path.join(machine.home, ".npm", "_npx")
    try:
        several += [
            os.path.join(cache, one, inner, name)
            for one in sorted(os.listdir(cache))
            for name in SERVER_MEMORY_FILES
        ]
    except OSError:
        pass
    return existing_paths(named, *several)


def read_server_memory(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the observations of entities in a file or a folder."""
    for file in list_source_files(path, ".jsonl", troubles):
        for number, value in read_json_lines(file, troubles):
            if value.get("type") != "entity":
                continue
            name, kind = stripped_text(value.get("name")), stripped_text(value.get("entityType"))
            for text in stripped_texts(value.get("observations")):
                yield FoundMemory(
                    text=text,
                    path=file,
                    line=number,
                    last=number,
                    place=f"entity “{name}”",
                    created=modification_time(file),
                    tags=tuple(filter(None, (name, kind))),
                )


DATABASE_SOURCES = (
    MemorySource("claude-mem", "claude-mem", detect_claude_mem, read_claude_mem),
    MemorySource("engram", "Engram", detect_engram, read_engram),
    MemorySource("mcp-memory-service", "mcp-memory-service", detect_mcp_memory, read_mcp_memory),
    MemorySource("mem0", "mem0", detect_mem0, read_mem0),
    MemorySource("server-memory", "the reference memory server of MCP", detect_server_memory, read_server_memory),
)
