"""Tools that keep memories: in a database or JSON, as Engram, claude-mem, mcp-memory-service, mem0 and server-memory
do, or as notes, as basic-memory, Obsidian, OKF and OpenClaw do."""

import gzip
import json
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from store.tools.source import (
    COPY_FOLDER_PREFIX,
    LARGEST_COPIED_DATABASE,
    LARGEST_JSON_DOCUMENT,
    SKIPPED_FOLDERS,
    Bullet,
    CopiedDatabase,
    FoundDecision,
    FoundDocument,
    FoundItem,
    FoundMemory,
    FoundTurn,
    Machine,
    MemorySource,
    ReadTrouble,
    Troubles,
    existing_paths,
    files_below,
    is_unfilled,
    list_folders,
    list_source_files,
    modification_time,
    parse_bullets,
    parse_foreign_time,
    parse_front_matter,
    parse_object,
    parse_tag_list,
    prose_paragraphs,
    read_database,
    read_file_bytes,
    read_json_file,
    read_json_lines,
    read_text_file,
    read_text_files,
    stripped_texts,
    text_in,
    time_in,
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


class _KeptTables(NamedTuple):
    """A tool that keeps tables: its database is called `file`, its export calls some tables by other `names`."""

    title: str
    file: str
    names: Mapping[str, str]
    read: Callable[[str, Tables], Iterator[FoundItem]]
    needs: str = ""
    """The list without which a JSON document is no export of it."""

    def read_path(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        """Yield what is in an export as JSON, or in a database, which its folder stands for."""
        if not path.endswith(".json"):
            yield from read_database(_file_in(path, self.file), troubles, self.read)
            return
        value = read_json_file(path, troubles)
        if isinstance(value, dict) and (not self.needs or isinstance(value.get(self.needs), list)):
            yield from self.read(path, ExportedTables(value, self.names))
        elif value is not None:
            troubles.append(ReadTrouble(path, 0, f"it is not an export of {self.title}"))


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

CLAUDE_MEM_EXPORT = {"session_summaries": "summaries", "user_prompts": "prompts", "sdk_sessions": "sessions"}
REJECTED_PREFIX = "rejected:"
CLAUDE_MEM_TIMES = ("created_at_epoch", "created_at")
CLAUDE_MEM_SESSIONS = ("memory_session_id", "sdk_session_id")
_CLAUDE_MEM_OBSERVATION = (
    "id memory_session_id sdk_session_id project merged_into_project text type title subtitle facts narrative concepts"
    " created_at created_at_epoch"
)
_CLAUDE_MEM_SUMMARY = (
    "id memory_session_id sdk_session_id project merged_into_project request investigated learned completed"
    " next_steps notes created_at created_at_epoch"
)
_CLAUDE_MEM_PROMPT = "id content_session_id prompt_text created_at created_at_epoch"


def _claude_mem_items(path: str, tables: Tables) -> Iterator[FoundItem]:
    """Yield all items: memories, summaries of sessions, prompts."""
    yield from _claude_mem_memories(path, tables)
    yield from _claude_mem_summaries(path, tables)
    yield from _claude_mem_prompts(path, tables)


CLAUDE_MEM = _KeptTables("claude-mem", "claude-mem.db", CLAUDE_MEM_EXPORT, _claude_mem_items)


def _claude_mem_project(row: Row) -> str:
    """Return the name of a row's project; of a worktree, `name/worktree`, that of its repository."""
    return text_in(row, "merged_into_project", "project").partition("/")[0]


def _newest_by_title(rows: Iterable[Row]) -> dict[str, str]:
    """Return the newest time of each title that several observations share."""
    newest: dict[str, str] = {}
    several = set()
    for row in rows:
        title = text_in(row, "title").casefold()
        if title and title in newest:
            several.add(title)
        newest[title] = max(newest.get(title, ""), time_in(row, *CLAUDE_MEM_TIMES))
    return {title: newest[title] for title in several}


def _claude_mem_memories(path: str, tables: Tables) -> Iterator[FoundMemory]:
    """Yield the memories of observations."""
    newest = _newest_by_title(tables.read_table("observations", "title created_at created_at_epoch"))
    for place, row in enumerate(tables.read_table("observations", _CLAUDE_MEM_OBSERVATION, "id"), 1):
        title, facts = text_in(row, "title"), stripped_texts(row.get("facts"))
        text = _observation_text(row, facts)
        if not text:
            continue
        number = _row_number(row, place)
        decision = None
        if row.get("type") == "decision" and title:
            rejected = [one for one in facts if one.lower().startswith(REJECTED_PREFIX)]
            against = tuple(one[len(REJECTED_PREFIX) :].strip() for one in rejected)
            for_it = [one for one in facts if one not in rejected]
            decision = FoundDecision(text_in(row, "narrative") or "\n".join(for_it) or text, against)
        created, note = time_in(row, *CLAUDE_MEM_TIMES), ""
        if (last := newest.get(title.casefold())) is not None:
            note = "It is the newest of this title" if created == last else "There is a newer one of this title"
        yield FoundMemory(
            text=title if decision else text,
            path=path,
            line=number,
            place=f"observation {number}",
            id=str(number),
            session=text_in(row, *CLAUDE_MEM_SESSIONS),
            project=_claude_mem_project(row),
            created=created,
            tags=stripped_texts(row.get("concepts")),
            note=f"{note}, “{title}”." if note else "",
            decision=decision,
        )


def _observation_text(row: Row, facts: tuple[str, ...]) -> str:
    """Return all that an observation says, without repeating anything."""
    text = text_in(row, "narrative") or text_in(row, "text")
    more = [one for one in facts if one not in text and not one.lower().startswith(REJECTED_PREFIX)]
    if text and more:
        return "\n".join([text, *(f"- {one}" for one in more)])
    return text or "\n".join(more) or text_in(row, "subtitle") or text_in(row, "title")


def _claude_mem_summaries(path: str, tables: Tables) -> Iterator[FoundTurn]:
    """Yield the summaries of sessions as turns of the assistant."""
    for place, row in enumerate(tables.read_table("session_summaries", _CLAUDE_MEM_SUMMARY, "id"), 1):
        parts = [
            f"{name.replace('_', ' ').capitalize()}: {text}"
            for name in ("request", "investigated", "learned", "completed", "next_steps", "notes")
            if (text := text_in(row, name))
        ]
        if parts:
            session = text_in(row, *CLAUDE_MEM_SESSIONS) or "claude-mem"
            said, name = "\n".join(parts), f"summary/{row.get('id')}"
            yield FoundTurn(
                session,
                "assistant",
                said,
                path,
                place,
                time_in(row, *CLAUDE_MEM_TIMES),
                name,
                _claude_mem_project(row),
            )


def _claude_mem_prompts(path: str, tables: Tables) -> Iterator[FoundTurn]:
    """Yield the person's prompts as turns."""
    sessions = tables.read_table("sdk_sessions", "content_session_id project")
    projects = {text_in(row, "content_session_id"): _claude_mem_project(row) for row in sessions}
    for place, row in enumerate(tables.read_table("user_prompts", _CLAUDE_MEM_PROMPT, "id"), 1):
        if text := text_in(row, "prompt_text"):
            session = text_in(row, "content_session_id") or "claude-mem"
            name, project = f"prompt/{row.get('id')}", projects.get(session, "")
            yield FoundTurn(session, "user", text, path, place, time_in(row, *CLAUDE_MEM_TIMES), name, project)


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
    inner = os.path.join(machine.project, ".engram", "chunks") if machine.project else ""
    return existing_paths(*machine.find_files("ENGRAM_DATA_DIR", ".engram", ENGRAM_FILE), inner)


def read_engram(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories and the turns of a database, an export, a chunk or a folder of Engram."""
    if os.path.isdir(path):
        if os.path.isfile(os.path.join(path, ENGRAM_FILE)):
            yield from ENGRAM.read_path(path, troubles)
        for chunk in files_below(path, ".jsonl.gz", troubles):
            yield from _read_engram_chunk(chunk, troubles)
    elif path.endswith(".gz"):
        yield from _read_engram_chunk(path, troubles)
    else:
        yield from ENGRAM.read_path(path, troubles)


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
    sessions: dict[str, Row] = {str(row.get("id")): row for row in tables.read_table("sessions", _ENGRAM_SESSION)}
    yield from _engram_memories(path, tables, sessions)
    yield from _engram_turns(path, tables, sessions)


ENGRAM = _KeptTables("Engram", ENGRAM_FILE, ENGRAM_EXPORT, _engram_items)


def _engram_memories(path: str, tables: Tables, sessions: Mapping[str, Row]) -> Iterator[FoundMemory]:
    """Yield the memories of observations that are neither deleted nor replaced."""
    replaced = {
        str(row.get("target_id"))
        for row in tables.read_table("memory_relations", "target_id relation judgment_status")
        if row.get("relation") == "supersedes" and row.get("judgment_status") == "judged"
    }
    for place, row in enumerate(tables.read_table("observations", _ENGRAM_OBSERVATION, "id"), 1):
        content = text_in(row, "content")
        if not content or row.get("deleted_at") or str(row.get("sync_id")) in replaced:
            continue
        number = _row_number(row, place)
        kind, session = str(row.get("type") or ""), str(row.get("session_id") or "")
        title = text_in(row, "title")
        decision = _engram_decision(content) if kind == "decision" and title else None
        about = sessions.get(session, {})
        yield FoundMemory(
            text=title if decision else content,
            path=path,
            line=number,
            place=f"observation {number}",
            id=text_in(row, "sync_id") or str(number),
            session=session,
            project=_engram_project(row, about),
            created=time_in(row, "created_at"),
            domain="personal" if row.get("scope") == "personal" else ENGRAM_DOMAINS.get(kind, "general"),
            pinned=bool(row.get("pinned")),
            decision=decision,
        )


def _engram_project(row: Row, session: Row) -> str:
    """Return the folder of a session; of one that has none, as of what is saved by hand, the name of the project."""
    return text_in(session, "directory") or text_in(row, "project") or text_in(session, "project")


def _engram_decision(content: str) -> FoundDecision:
    """Return the parts of a decision; the whole text is the choice if it has no parts."""
    parts = {part["name"]: part["text"].strip() for part in _DECISION_PART.finditer(content)}
    if not parts.get("What"):
        return FoundDecision(content)
    rest = [parts.pop("Why", ""), *(f"{name}: {text}" for name, text in parts.items() if name != "What" and text)]
    return FoundDecision(parts["What"], (), "\n".join(filter(None, rest)))


def _engram_turns(path: str, tables: Tables, sessions: Mapping[str, Row]) -> Iterator[FoundTurn]:
    """Yield the person's prompts and the summaries of sessions as turns."""
    for place, row in enumerate(tables.read_table("user_prompts", _ENGRAM_PROMPT, "id"), 1):
        if text := text_in(row, "content"):
            session = str(row.get("session_id") or "engram")
            cwd = _engram_project(row, sessions.get(session, {}))
            at = time_in(row, "created_at")
            yield FoundTurn(
                session, "user", text, path, _row_number(row, place), at, f"prompt/{row.get('id')}", cwd
            )
    for place, (session, row) in enumerate(sessions.items(), 1):
        if text := text_in(row, "summary"):
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
    file = _file_in(path, MCP_MEMORY_FILE)
    if not file.endswith(".gz"):
        yield from MCP_MEMORY.read_path(path, troubles)
        return
    found: Troubles = []
    with tempfile.TemporaryDirectory(prefix=COPY_FOLDER_PREFIX) as folder:
        copy = os.path.join(folder, MCP_MEMORY_FILE)
        try:
            _unpack_database(file, copy)
        except (OSError, EOFError, zlib.error):
            troubles.append(ReadTrouble(file, 0, "it cannot be unpacked"))
            return
        yield from (one._replace(path=file) for one in read_database(copy, found, _mcp_memories))
    troubles += [one._replace(path=file) for one in found]


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


def _mcp_memories(path: str, tables: Tables) -> Iterator[FoundMemory]:
    """Yield the memories that are neither deleted nor superseded."""
    for place, row in enumerate(tables.read_table("memories", _MCP_MEMORY_COLUMNS, "id"), 1):
        text, about = text_in(row, "content"), parse_object(row.get("metadata"))
        if not text or row.get("deleted_at") or row.get("superseded_by") or about.get("superseded_by"):
            continue
        number = _row_number(row, place)
        decision = row.get("memory_type") == "decision"
        yield FoundMemory(
            text=_title_from_text(text) if decision else text,
            path=path,
            line=number,
            place=f"memory {number}",
            id=text_in(row, "content_hash"),
            session=text_in(about, "conversation_id"),
            created=time_in(row, "created_at", "created_at_iso"),
            tags=_mcp_memory_tags(row.get("tags")),
            decision=FoundDecision(text) if decision else None,
        )


MCP_MEMORY = _KeptTables("mcp-memory-service", MCP_MEMORY_FILE, {}, _mcp_memories, "memories")


def _title_from_text(text: str) -> str:
    """Return the beginning of a text, whole words, as a title."""
    line = text.partition("\n")[0]
    if len(line) <= LONGEST_MEMORY_TITLE:
        return line
    return line[:LONGEST_MEMORY_TITLE].rsplit(None, 1)[0].rstrip(" ,;:") + " …"


def _mcp_memory_tags(value: object) -> tuple[str, ...]:
    """Return the tags of a list, or of a text with commas."""
    several = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(dict.fromkeys(one.strip() for one in several if isinstance(one, str) and one.strip()))


# mem0: the result of its `get_all` as JSON, or the database of its history, `~/.mem0/history.db`. Its vectors are
# pickles, and are never read.

MEM0_FILE = "history.db"
MEM0_DOMAINS = ("work", "preferences", "decisions", "personal", "projects")


def read_mem0(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories of an export or of a database of mem0's history."""
    if path.endswith(".json"):
        yield from _mem0_export(path, troubles)
    else:
        yield from read_database(_file_in(path, MEM0_FILE), troubles, _mem0_history)


def _mem0_export(path: str, troubles: Troubles) -> Iterator[FoundMemory]:
    """Yield the memories of an export."""
    value = read_json_file(path, troubles)
    rows = value.get("results") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        if value is not None:
            troubles.append(ReadTrouble(path, 0, "it is not a list of memories"))
        return
    for place, row in enumerate(rows, 1):
        text = text_in(row, "memory") if isinstance(row, dict) else ""
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
            id=text_in(row, "id"),
            session=text_in(row, "run_id"),
            created=time_in(row, "created_at"),
            tags=stripped_texts(about.get("tags")),
            domain=category if category in MEM0_DOMAINS else "general",
        )


def _mem0_history(path: str, database: CopiedDatabase) -> Iterator[FoundMemory]:
    """Yield the newest text of each memory that is not deleted."""
    last: dict[str, tuple[str, dict[str, object]]] = {}
    for row in database.read_table("history", "memory_id new_memory event created_at updated_at is_deleted"):
        name, at = str(row["memory_id"]), time_in(row, "updated_at", "created_at")
        if name not in last or at >= last[name][0]:
            last[name] = (at, row)
    for name, (_, row) in last.items():
        text, number = text_in(row, "new_memory"), row["rowid"]
        if text and not row["is_deleted"] and row["event"] != "DELETE" and isinstance(number, int):
            line = max(1, number)
            yield FoundMemory(text, path, line, place=f"event {line}", id=name, created=time_in(row, "created_at"))


# The reference memory server of MCP: entities with observations as JSON lines, without ids and dates. An entity's name
# and type become tags.

SERVER_MEMORY_FILES = ("memory.jsonl", "memory.json")


def detect_server_memory(machine: Machine) -> list[str]:
    """List the files of the memory server that exist."""
    named = machine.environment.get("MEMORY_FILE_PATH", "")
    inner = os.path.join("node_modules", "@modelcontextprotocol", "server-memory", "dist")
    cache = os.path.join(machine.home, ".npm", "_npx")
    try:
        cached = [os.path.join(cache, one) for one in sorted(os.listdir(cache))]
    except OSError:
        cached = []
    bases = ("/usr/lib", "/usr/local/lib", os.path.join(machine.home, ".npm-global", "lib"), *cached)
    return existing_paths(
        named, *(os.path.join(base, inner, name) for base in bases for name in SERVER_MEMORY_FILES)
    )


def read_server_memory(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the observations of entities in a file or a folder."""
    for file in list_source_files(path, ".jsonl", troubles):
        for number, value in read_json_lines(file, troubles):
            if value.get("type") != "entity":
                continue
            name, kind = text_in(value, "name"), text_in(value, "entityType")
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


# Tools that keep their memory as notes: basic-memory, Markdown, Obsidian, OKF, OpenClaw.

OBSERVATION_BULLET = re.compile(r"\[(?P<category>[^\[\]()]{2,60})\]\s+(?P<text>\S.*)", re.DOTALL)
_TRAILING_CONTEXT = re.compile(r"(?<!\s)\s+\([^()]*\)$")
_WORD = re.compile(r"\S+")
_HASH_TAG = re.compile(r"#([^#]+)")
_NO_TAG = re.compile(r"(?<!\S)\\#")
_RELATION = re.compile(
    r"\w[\w-]{0,60}(?: [\w-]{1,60}){0,8} (?:\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]+\))(?:\s+\([^()]*\))?"
)
OBSERVATION_DOMAINS = {"preference": "preferences", "decision": "decisions", "person": "personal"}


def _observation_note(path: str, text: str, plain_bullets: bool = False) -> Iterator[FoundItem]:
    """Yield what a note holds: a note of type `decision` is one decision, of any other its observations are facts, and
    its prose is a document. With `plain_bullets` other bullets are facts too."""
    head, body, above = parse_front_matter(text)
    if text_in(head, "status") == "deprecated":
        return
    created = time_in(head, "created", "created_at", "date") or modification_time(path)
    title, tags = text_in(head, "title"), parse_tag_list(head.get("tags"))
    paragraphs = prose_paragraphs(body)
    several = list(parse_bullets(body, above + 1))
    observed = [(bullet, found) for bullet in several if (found := OBSERVATION_BULLET.fullmatch(bullet.text))]
    if text_in(head, "type") == "decision" and title:
        first = above + 1
        by: dict[str, list[str]] = {}
        for _, found in observed:
            said, marks = split_observation(found["text"])
            by.setdefault(found["category"].lower(), []).append(said)
            tags = tuple(dict.fromkeys((*tags, *marks)))
        chosen = "\n".join(by.pop("decision", [])) or (paragraphs.pop(0) if paragraphs else title)
        alternatives = tuple(by.pop("alternative", []))
        why = by.pop("rationale", [])
        rest = [f"{category}: {one}" for category, several in by.items() for one in several]
        yield FoundMemory(
            text=title,
            path=path,
            line=first,
            last=first + body.rstrip("\n").count("\n"),
            created=created,
            tags=tags,
            domain="decisions",
            decision=FoundDecision(chosen, alternatives, "\n\n".join([*paragraphs, *why, *rest])),
        )
        return
    for bullet, found in observed:
        category = found["category"].lower()
        said, marks = split_observation(found["text"])
        domain = OBSERVATION_DOMAINS.get(category, "general")
        yield FoundMemory(said, path, bullet.line, bullet.last, created=created, tags=marks, domain=domain)
    if plain_bullets:
        seen = {bullet.line for bullet, _ in observed}
        for bullet in several:
            if bullet.line not in seen and not _RELATION.fullmatch(bullet.text):
                said, marks = split_observation(bullet.text)
                yield FoundMemory(said, path, bullet.line, bullet.last, created=created, tags=marks)
    if paragraphs:
        yield FoundDocument(path, body.strip())


def split_observation(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of an observation and its tags, without the context at its end; a tag behind a backslash
    stays in the text."""
    said = _TRAILING_CONTEXT.sub("", text.strip()) if "\n" not in text else text.strip()
    words = list(_WORD.finditer(said))
    tags: list[str] = []
    while len(words) > 1 and (found := _HASH_TAG.fullmatch(words[-1][0])):
        tags.append(found[1])
        words.pop()
    return _NO_TAG.sub("#", said[: words[-1].end()] if tags else text.strip()), tuple(reversed(tags))


# basic-memory: folders of notes, `~/basic-memory` and those that `~/.basic-memory/config.json` names. The files keep
# no dates, so a memory's is that of its file.


def detect_basic_memory(machine: Machine) -> list[str]:
    """List the folders of basic-memory's projects that exist."""
    named = [os.path.join(machine.home, "basic-memory")]
    config = parse_object(read_json_file(os.path.join(machine.home, ".basic-memory", "config.json"), []))
    for project in parse_object(config.get("projects")).values():
        path = project.get("path") if isinstance(project, dict) else project
        if isinstance(path, str):
            named.append(os.path.join(machine.home, path.removeprefix("~/")))
    return existing_paths(*named)


def read_basic_memory(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts, decisions and documents of a note or a folder of notes."""
    for file, text in read_text_files(path, troubles):
        yield from _observation_note(file, text)


# A folder of Markdown files, or one file: bullets are facts, prose is a document. Tasks, labels without a text, code,
# quotes and hidden files are left alone.


def read_markdown(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts and the prose of a file or a folder of Markdown."""
    for file, text in read_text_files(path, troubles):
        yield from parse_markdown_notes(file, text)


def parse_markdown_notes(path: str, text: str) -> Iterator[FoundItem]:
    """Yield the facts of a file with this text, then its prose."""
    head, body, above = parse_front_matter(text)
    created = time_in(head, "created", "date") or modification_time(path)
    tags = parse_tag_list(head.get("tags"))
    for bullet in parse_bullets(body, above + 1):
        if not is_unfilled(bullet.text):
            yield FoundMemory(bullet.text, path, bullet.line, bullet.last, created=created, tags=tags)
    if prose_paragraphs(body):
        yield FoundDocument(path, body.strip())


# A vault of Obsidian: the folder with `.obsidian`. Comments, block ids, embeds, queries and templates are no text.

TEMPLATE_FOLDERS = frozenset(("Templates", "templates", "Plantillas", "plantillas"))
_OBSIDIAN_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK_ID = re.compile(r"(?<!\s)[ \t]+\^[\w-]+$", re.MULTILINE)
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_TRAILING_TAG = re.compile(r"(?<!\s)\s+#(?P<tag>[\w/-]+)$")


def detect_obsidian(machine: Machine) -> list[str]:
    """List the vaults that Obsidian's own configuration names."""
    base = machine.find_folder("XDG_CONFIG_HOME", ".config")
    if machine.system == "darwin":
        base = os.path.join(machine.home, "Library", "Application Support")
    config = parse_object(read_json_file(os.path.join(base, "obsidian", "obsidian.json"), []))
    paths = (parse_object(vault).get("path") for vault in parse_object(config.get("vaults")).values())
    return [path for path in paths if isinstance(path, str) and os.path.isdir(os.path.join(path, ".obsidian"))]


def read_obsidian(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts and the prose of a note or a vault, without templates."""
    for file, text in read_text_files(path, troubles, SKIPPED_FOLDERS | TEMPLATE_FOLDERS):
        for one in parse_markdown_notes(file, obsidian_markdown(text)) if "{{title}}" not in text else ():
            yield _move_trailing_tags(one) if isinstance(one, FoundMemory) else one


def obsidian_markdown(text: str) -> str:
    """Convert the text of a note to plain Markdown; the numbers of its lines stay."""
    text = _OBSIDIAN_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return _WIKI_LINK.sub(r"\1", _EMBED.sub("", _BLOCK_ID.sub("", text)))


def _move_trailing_tags(memory: FoundMemory) -> FoundMemory:
    """Move the tags at the end of a memory's text to its tags."""
    text, tags = memory.text, list[str]()
    while found := _TRAILING_TAG.search(text):
        tags.insert(0, found["tag"])
        text = text[: found.start()]
    return memory._replace(text=text, tags=parse_tag_list([*memory.tags, *tags])) if text.strip() else memory


# OKF bundles: folders of Markdown in which every concept has a `type`. `index.md` and `log.md` are no concepts; what
# is deprecated is left out.

OKF_RESERVED_FILES = ("index.md", "log.md")


def detect_nothing(machine: Machine) -> list[str]:
    """Return no place: Markdown files and bundles are read only where they are named."""
    return []


def read_okf(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts, decisions and documents of a concept or a bundle."""
    for file, text in read_text_files(path, troubles):
        if os.path.basename(file) not in OKF_RESERVED_FILES:
            yield from _observation_note(file, text, plain_bullets=True)


# OpenClaw: a workspace of Markdown files, `~/.openclaw/workspace`, that of another profile or agent, or as the
# environment or `openclaw.json` name them.
#
# The bullets of MEMORY.md and USER.md are facts; the days in `memory` are documents. What makes the agent (SOUL,
# AGENTS,
# IDENTITY, BOOTSTRAP) is no memory.

# JSON5: names without quotes, comments
_WORKSPACE = re.compile(r"""\bworkspace["']?\s*:\s*["']([^"'\n]+)["']""")
OBSERVED_DATE = re.compile(r"observed:\s*(?P<date>[^|]+?)\s*(?:\||$)")
STATUS_MARK = re.compile(r"status:\s*(?P<status>\w+)")
PLACEHOLDER_TEXT = re.compile(r"YYYY-MM-DD|^(?:Prefer|Always|Never|Avoid):?\s*(?:\.\.\.|…)$")


def detect_openclaw(machine: Machine) -> list[str]:
    """List the workspaces of OpenClaw that exist."""
    own = os.path.join(machine.home, ".openclaw")
    bases = [machine.environment.get("OPENCLAW_STATE_DIR", ""), own, *list_folders(f"{own}-", links=True)]
    named = [machine.environment.get("OPENCLAW_WORKSPACE_DIR", "")]
    for base in filter(None, bases):
        named += [os.path.join(base, "workspace"), *list_folders(os.path.join(base, "workspace-"), links=True)]
        config = os.path.join(base, "openclaw.json")
        text = read_text_file(config, []) if os.path.isfile(config) else None
        for folder in _WORKSPACE.findall(text or ""):
            place = os.path.join(machine.home, folder.removeprefix("~/"))
            inner = list_folders(os.path.join(place, ""), links=True)
            named += [place, *(one for one in inner if os.path.isfile(os.path.join(one, "SOUL.md")))]
    return [place for place in existing_paths(*named) if os.path.isdir(place)]


def openclaw_files(machine: Machine) -> list[str]:
    """List what is guarded of the workspaces: not what makes the agent."""
    inner = ("MEMORY.md", "USER.md", "memory")
    return [os.path.join(one, name) for one in detect_openclaw(machine) for name in inner]


def read_openclaw(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts and the days of a workspace, or the facts of a file."""
    if os.path.isfile(path):
        yield from _openclaw_facts(path, troubles)
        return
    for name in ("MEMORY.md", "USER.md"):
        if os.path.lexists(file := os.path.join(path, name)):
            yield from _openclaw_facts(file, troubles)
    for file in files_below(os.path.join(path, "memory"), ".md", troubles):
        if (text := read_text_file(file, troubles) or "").strip():
            yield FoundDocument(file, parse_front_matter(text)[1].strip())


def _openclaw_facts(path: str, troubles: Troubles) -> Iterator[FoundMemory]:
    """Yield the bullets of a file that are active and no placeholders."""
    text = read_text_file(path, troubles)
    if text is None:
        return
    _, body, above = parse_front_matter(text)
    of_person = os.path.basename(path) == "USER.md"
    for bullet in parse_bullets(body, above + 1):
        status = STATUS_MARK.search(bullet.above)
        active = status is None or status["status"] == "active"
        if not active or is_placeholder(bullet) or is_unfilled(bullet.text):
            continue
        observed = OBSERVED_DATE.search(bullet.above)
        yield FoundMemory(
            text=bullet.text,
            path=path,
            line=bullet.line,
            last=bullet.last,
            created=(parse_foreign_time(observed["date"]) if observed else "") or modification_time(path),
            domain="preferences" if of_person else "general",
            tags=(bullet.heading,) if bullet.heading and not of_person else (),
        )


def is_placeholder(bullet: Bullet) -> bool:
    """Tell whether a bullet is one of OpenClaw's own templates."""
    observed = OBSERVED_DATE.search(bullet.above)
    return bool(PLACEHOLDER_TEXT.search(bullet.text) or (observed and PLACEHOLDER_TEXT.search(observed["date"])))


MEMORY_SOURCES = (
    MemorySource(
        "claude-mem",
        "claude-mem",
        lambda machine: existing_paths(*machine.find_files("CLAUDE_MEM_DATA_DIR", ".claude-mem", CLAUDE_MEM.file)),
        CLAUDE_MEM.read_path,
    ),
    MemorySource("engram", "Engram", detect_engram, read_engram),
    MemorySource("mcp-memory-service", "mcp-memory-service", detect_mcp_memory, read_mcp_memory),
    MemorySource(
        "mem0",
        "mem0",
        lambda machine: existing_paths(*machine.find_files("MEM0_DIR", ".mem0", MEM0_FILE)),
        read_mem0,
    ),
    MemorySource("server-memory", "the reference memory server of MCP", detect_server_memory, read_server_memory),
    MemorySource("basic-memory", "basic-memory", detect_basic_memory, read_basic_memory),
    MemorySource("markdown", "Markdown files", detect_nothing, read_markdown),
    MemorySource("obsidian", "an Obsidian vault", detect_obsidian, read_obsidian, guarded=detect_nothing),
    MemorySource("okf", "an OKF bundle", detect_nothing, read_okf),
    MemorySource("openclaw", "OpenClaw", detect_openclaw, read_openclaw, guarded=openclaw_files),
)
