"""Claude Code: its own memory, a fact a file, and its transcripts, both below `~/.claude/projects/<folder>/`.

`memory/MEMORY.md` is an index of the other files; its bullets that lead to none of them are facts. The folder's name
cannot be turned back into the project's path, so a memory's project is the working folder that the transcripts beside
it name. Where the person's own settings name one folder for the memory of all projects (`autoMemoryDirectory`), that is
read too.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from store.ingest.formats import BrokenLine, is_claude_line, parse_claude_line
from store.tools import source
from store.tools.source import (
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
)

MEMORY_INDEX = "MEMORY.md"
CLAUDE_CODE_DOMAINS = {"user": "personal", "feedback": "preferences", "project": "projects", "reference": "work"}
_REASON = re.compile(r"^\*\*(?:Why|Por qué)\s*:?\s*\*\*\s*:?\s*(?P<why>.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
# a link to another file
_INDEX_ENTRY = re.compile(r"\]\([^()\s]+\.md(?:#[^()\s]*)?\)|\[\[[^\]\n]+\]\]")
# lines of a transcript in which the working folder is looked for
SEARCHED_LINES = 200


def claude_projects_folder(machine: Machine) -> str:
    """Return the folder in which Claude Code has a folder for each project."""
    base = machine.find_folder("CLAUDE_CONFIG_DIR", ".claude")
    return os.path.join(base, "projects")


def claude_project_folder(machine: Machine, folder: str) -> str:
    """Return the folder that Claude Code has for the project in this folder."""
    name = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(folder))
    return os.path.join(claude_projects_folder(machine), name)


def read_claude_settings(machine: Machine) -> dict[str, object]:
    """Return the person's own settings of Claude Code, empty if there are none. A checkout's settings are never
    read: what it says may not lead to other places."""
    path = os.path.join(os.path.dirname(claude_projects_folder(machine)), "settings.json")
    # it may be a link
    return source.parse_object(source.read_json_file(os.path.realpath(path), []))


def own_memory_folder(machine: Machine) -> str:
    """Return the folder that the settings name for the memory of all projects; empty without one."""
    named = source.stripped_text(read_claude_settings(machine).get("autoMemoryDirectory"))
    path = os.path.join(machine.home, named.removeprefix("~/")) if named.startswith("~/") else named
    if "\0" in path or not os.path.isabs(path) or os.path.realpath(path) in ("/", os.path.realpath(machine.home)):
        return ""
    return path


def detect_claude_code(machine: Machine) -> list[str]:
    """List the places of Claude Code's memory on this machine; of one project if the machine names it."""
    base, own = claude_projects_folder(machine), own_memory_folder(machine)
    if machine.project:
        return source.existing_paths(claude_project_folder(machine, machine.project), own)
    return [*source.list_folders(os.path.join(base, ""), shut=[base]), *source.existing_paths(own)]


def _guarded_claude_code(machine: Machine) -> list[str]:
    """List what is guarded of Claude Code: the person's instructions, and the memories."""
    base, own = claude_projects_folder(machine), own_memory_folder(machine)
    inner = (os.path.join(one, "memory") for one in source.list_folders(os.path.join(base, "")))
    return [os.path.join(os.path.dirname(base), "CLAUDE.md"), *inner, *([own] if own else [])]


def read_claude_code(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories and the turns of a file or a folder of Claude Code."""
    if os.path.isfile(path):
        if path.endswith(".jsonl"):
            yield from _transcript_turns(path, troubles)
        else:
            yield from _read_memory_file(path, "", troubles)
        return
    for folder in _project_folders(path, troubles):
        yield from read_folder_memories(folder, troubles)
        for file in list_transcripts(folder, troubles):
            yield from _transcript_turns(file, troubles)


def read_claude_memories(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the memories of a file or a folder of Claude Code, without its turns."""
    if os.path.isfile(path):
        yield from read_claude_code(path, troubles) if not path.endswith(".jsonl") else ()
        return
    for folder in _project_folders(path, troubles):
        yield from read_folder_memories(folder, troubles)


def claude_memory_folder(folder: str) -> str:
    """Return where the memories of a project's folder are: `memory` in it, or itself."""
    inner = os.path.join(folder, "memory")
    return inner if os.path.isdir(inner) and not os.path.isfile(os.path.join(folder, MEMORY_INDEX)) else folder


def project_working_folder(folder: str) -> str:
    """Return the working folder that the transcripts of a project's folder name; empty if none does."""
    place = os.path.dirname(folder) if os.path.basename(folder) == "memory" else folder
    for path in list_transcripts(place, []):
        for number, value in source.read_json_lines(path, []):
            if isinstance(cwd := value.get("cwd"), str) and cwd:
                return cwd
            if number > SEARCHED_LINES:
                break
    return ""


def list_transcripts(folder: str, troubles: Troubles) -> list[str]:
    """List the transcripts in a project's folder, without those of sub-agents."""
    return [os.path.join(folder, name) for name in _list_names(folder, troubles) if name.endswith(".jsonl")]


def _list_names(folder: str, troubles: Troubles) -> list[str]:
    """List the names in a folder; note a trouble if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        source.note_unreadable(troubles, folder, error)
        return []


def _project_folders(path: str, troubles: Troubles) -> list[str]:
    """Return the project folders at a path: itself, or the folders below `projects`."""
    inner = os.path.join(path, "projects")
    base = inner if os.path.isdir(inner) else path
    if os.path.basename(base) != "projects":
        return [base]
    return [place for name in _list_names(base, troubles) if os.path.isdir(place := os.path.join(base, name))]


def read_folder_memories(folder: str, troubles: Troubles) -> Iterator[FoundMemory | FoundDocument]:
    """Yield the memories of a project's folder, without reading its transcripts beyond the working folder."""
    project = None
    for path in source.files_below(claude_memory_folder(folder), ".md", troubles):
        project = project_working_folder(folder) if project is None else project
        yield from _read_memory_file(path, project, troubles)


def _read_memory_file(path: str, project: str, troubles: Troubles) -> Iterator[FoundMemory | FoundDocument]:
    """Yield the memories of one Markdown file."""
    reads = _index_memories if os.path.basename(path) == MEMORY_INDEX else _file_memory
    if (text := source.read_text_file(path, troubles)) is not None:
        yield from reads(path, project, text)


def _index_memories(path: str, project: str, text: str) -> Iterator[FoundMemory | FoundDocument]:
    """Yield what an index says itself: older versions wrote everything into it, and people still do."""
    _, body, above = source.parse_front_matter(text)
    for one in source.parse_bullets(body, above + 1):
        if not _INDEX_ENTRY.search(one.text) and not source.is_unfilled(one.text):
            tags, created = ((one.heading,) if one.heading else ()), source.modification_time(path)
            yield FoundMemory(one.text, path, one.line, one.last, project=project, created=created, tags=tags)
    if source.prose_paragraphs(body):
        yield FoundDocument(path, body.strip())


def _file_memory(path: str, project: str, text: str) -> Iterator[FoundMemory]:
    """Yield the memory that a file is: a fact, or a decision if it gives a reason."""
    head, body, above = source.parse_front_matter(text)
    said = body.strip()
    if not said:
        return
    about = memory_metadata(head)
    kind = source.text_in(about, "type")
    first = above + 1 + body[: body.index(said[0])].count("\n")
    why = _REASON.search(said) if kind == "project" else None
    title = source.text_in(head, "description", "name")
    decision = None
    if why is not None and title:
        chosen = _REASON.sub("", said).strip()
        decision = FoundDecision(chosen or title, (), why["why"].strip())
    yield FoundMemory(
        text=title if decision else said,
        path=path,
        line=first,
        last=first + said.count("\n"),
        session=source.text_in(about, "originSessionId"),
        project=project,
        created=source.time_in(about, "modified") or source.modification_time(path),
        domain=CLAUDE_CODE_DOMAINS.get(kind, "general"),
        decision=decision,
    )


def memory_metadata(head: dict[str, object]) -> dict[str, object]:
    """Return what the front matter of a memory says, in itself or below `metadata`."""
    inner = head.get("metadata")
    return {**head, **inner} if isinstance(inner, dict) else head


def _transcript_turns(path: str, troubles: Troubles) -> Iterator[FoundTurn]:
    """Yield the turns of a transcript, without those of its tools."""
    for number, value in source.read_json_lines(path, troubles):
        if not is_claude_line(value):
            continue
        try:
            turns = parse_claude_line(value)
        except BrokenLine as error:
            troubles.append(ReadTrouble(path, number, str(error)))
            continue
        for turn in turns:
            if not turn.kind:
                yield FoundTurn(turn.session, turn.role, turn.text, path, number, turn.at, turn.id, turn.cwd)


# Agents of which conversations are read: Gemini CLI, Codex, OpenCode.

# Codex: conversations as `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.
#
# A turn is there twice, as what the model is sent (`response_item`) and as an event; the first is taken. AGENTS.md and
# the environment come in the person's role, and are no turns.

CODEX_INSERTED = (
    *("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>"),
    *("<turn_aborted>", "<permissions", "<user_shell_command>"),
)
CODEX_TEXT_PARTS = ("input_text", "output_text", "text")


def read_codex(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the turns of a conversation or a folder of conversations."""
    for file in source.list_source_files(path, ".jsonl", troubles):
        yield from _codex_turns(file, troubles)
    for file in source.files_below(path, ".jsonl.zst", troubles):
        troubles.append(ReadTrouble(file, 0, "it is packed; unpack it with zstd -d"))


def codex_session_folders(path: str) -> Iterator[str]:
    """Yield the working folder of each conversation; only the first line of its file is read."""
    for file in source.files_below(path, ".jsonl", []):
        for _, value in source.read_json_lines(file, []):
            about = value.get("payload")
            if value.get("type") == "session_meta" and isinstance(about, dict) and not _is_subagent(about):
                yield source.text_in(about, "cwd")
            break


def _is_subagent(about: dict[str, object]) -> bool:
    return "subagent" in source.parse_object(about.get("source"))


def _codex_turns(path: str, troubles: Troubles) -> Iterator[FoundTurn]:
    """Yield the turns of one conversation."""
    session, cwd = os.path.basename(path).removesuffix(".jsonl"), ""
    for number, value in source.read_json_lines(path, troubles):
        payload = value.get("payload")
        if not isinstance(payload, dict):
            continue
        if value.get("type") == "session_meta":
            if _is_subagent(payload):
                return
            session = source.text_in(payload, "id") or session
        if value.get("type") in ("session_meta", "turn_context"):
            cwd = source.text_in(payload, "cwd") or cwd
        if value.get("type") != "response_item" or payload.get("type") != "message":
            continue
        role = payload.get("role")
        text = _codex_text(payload.get("content")) if role in ("user", "assistant") else ""
        if text:
            at, name = source.time_in(value, "timestamp"), source.text_in(payload, "id") or f"{session}/{number}"
            yield FoundTurn(session, str(role), text, path, number, at, name, cwd)


def _codex_text(content: object) -> str:
    """Return what a message says, without what the client inserted."""
    parts = [
        source.text_in(part, "text")
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in CODEX_TEXT_PARTS
    ]
    return "\n\n".join(part for part in parts if part and not part.startswith(CODEX_INSERTED))


GEMINI_ROLES = {"user": "user", "gemini": "assistant"}
GEMINI_SUFFIXES = (".jsonl", ".json")
GEMINI_INSERTED = ("<session_context>", "<untrusted_context>", "<state_snapshot>")


def detect_gemini(machine: Machine) -> list[str]:
    """Return the folder of Gemini's conversations if there are any, or if it cannot be read."""
    base = os.path.join(machine.home, ".gemini", "tmp")
    unread: Troubles = []
    there = any(any(source.files_below(base, suffix, unread)) for suffix in GEMINI_SUFFIXES)
    return [base] if there or unread else []


def list_gemini_files(path: str, troubles: Troubles, suffixes: Sequence[str] = GEMINI_SUFFIXES) -> Iterator[str]:
    """Yield the files of conversations in a folder, those of older versions last."""
    for suffix in suffixes:
        for file in source.files_below(path, suffix, troubles):
            if os.path.basename(os.path.dirname(file)) == "chats":
                yield file


def read_gemini(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the turns of a conversation or a folder of conversations."""
    for file in [path] if os.path.isfile(path) else list_gemini_files(path, troubles):
        yield from _gemini_turns(file, troubles)


def _gemini_turns(path: str, troubles: Troubles) -> Iterator[FoundTurn]:
    """Yield the turns of one conversation."""
    about: dict[str, object] = {}
    messages: dict[str, tuple[int, dict[str, object]]] = {}
    for number, value in _gemini_values(path, troubles):
        changes = value.get("$set")
        for state in (value, changes) if isinstance(changes, dict) else (value,):
            if isinstance(state.get("sessionId"), str):
                about.update({name: state[name] for name in ("sessionId", "kind") if name in state})
            several = state.get("messages")
            for message in several if isinstance(several, list) else (state,):
                if not isinstance(message, dict) or not isinstance(name := message.get("id"), str):
                    continue
                if _gemini_text(message) or name not in messages:
                    messages[name] = (messages[name][0] if name in messages else number, message)
    if about.get("kind", "main") != "main":
        return
    session = str(about.get("sessionId") or os.path.basename(path).rsplit(".", 1)[0])
    cwd = _gemini_project(path)
    for name, (number, message) in messages.items():
        if text := _gemini_text(message):
            role = GEMINI_ROLES[str(message["type"])]
            yield FoundTurn(session, role, text, path, number, source.time_in(message, "timestamp"), name, cwd)


def _gemini_values(path: str, troubles: Troubles) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the objects of a file with their line numbers."""
    if path.endswith(".jsonl"):
        yield from source.read_json_lines(path, troubles)
        return
    value = source.read_json_file(path, troubles)
    if isinstance(value, dict):
        yield 1, value
    elif value is not None:
        troubles.append(ReadTrouble(path, 0, "it is not a conversation"))


def _gemini_text(message: dict[str, object]) -> str:
    """Return what a message says, without thoughts and what the client inserted."""
    if message.get("type") not in GEMINI_ROLES:
        return ""
    content = message.get("content")
    if isinstance(content, str):
        parts = [content.strip()]
    else:
        found = content if isinstance(content, list) else ()
        parts = [
            source.text_in(part, "text") for part in found if isinstance(part, dict) and not part.get("thought")
        ]
    return "\n\n".join(part for part in parts if part and not part.startswith(GEMINI_INSERTED))


def _gemini_project(path: str) -> str:
    """Return the project of a conversation: the folder that `.project_root` or `projects.json` name, else the folder's
    own name, which is that of the project or, in older versions, a digest of its path."""
    named = os.path.dirname(os.path.dirname(path))
    marker = os.path.join(named, ".project_root")
    if os.path.isfile(marker) and os.path.isabs(folder := (source.read_text_file(marker, []) or "").strip()):
        return folder
    for above in (os.path.dirname(os.path.dirname(named)), os.path.dirname(named)):
        value = source.parse_object(source.read_json_file(os.path.join(above, "projects.json"), []))
        for folder, name in source.parse_object(value.get("projects")).items():
            if name == os.path.basename(named):
                return str(folder)
    return os.path.basename(named) if os.path.basename(os.path.dirname(path)) == "chats" else ""


# OpenCode: conversations in a SQLite database, `~/.local/share/opencode/opencode.db`.
#
# The texts of a message are its parts. `opencode run` puts the person's words in quotation marks, which are taken off;
# sessions with a parent are those of sub-agents, and left out.

OPENCODE_FILE = "opencode.db"


def read_opencode(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the turns of a database of OpenCode."""
    file = os.path.join(path, OPENCODE_FILE) if os.path.isdir(path) else path
    yield from source.read_database(file, troubles, _opencode_turns)


def _opencode_turns(path: str, database: CopiedDatabase) -> Iterator[FoundTurn]:
    """Yield the turns of a database, which are in the order of their parts."""
    folders = _opencode_folders(database)
    roles = {
        str(row["id"]): (
            str(source.parse_object(row["data"]).get("role", "")),
            source.time_in(row, "time_created"),
        )
        for row in database.read_table("message", "id time_created data")
    }
    parts = database.read_table("part", "message_id session_id data", "message_id")
    for message, rows in groupby(parts, key=lambda row: str(row["message_id"])):
        several = list(rows)
        session = str(several[0]["session_id"])
        role, at = roles.get(message, ("", ""))
        text = "\n\n".join(filter(None, (_opencode_text(source.parse_object(row["data"])) for row in several)))
        if session not in folders or role not in ("user", "assistant") or not text:
            continue
        if role == "user" and len(text) > 1 and text[0] == '"' == text[-1]:
            text = text[1:-1].strip()
        number = several[0]["rowid"]
        line = number if isinstance(number, int) and number > 0 else 1
        yield FoundTurn(session, role, text, path, line, at, message, folders[session])


def _opencode_folders(database: CopiedDatabase) -> dict[str, str]:
    """Return the working folder of each session that is not a sub-agent's."""
    rows = database.read_table("session", "id parent_id directory")
    return {str(row["id"]): source.stripped_text(row["directory"]) for row in rows if not row["parent_id"]}


def _opencode_text(part: dict[str, object]) -> str:
    """Return the text of a part of a message; empty for any other part."""
    return source.text_in(part, "text") if part.get("type") == "text" and not part.get("synthetic") else ""


AGENT_SOURCES = (
    MemorySource(
        "claude-code",
        "Claude Code",
        detect_claude_code,
        read_claude_code,
        # of each transcript only the name is looked at
        lambda path: ("" for _ in list_transcripts(path, [])),
        _guarded_claude_code,
    ),
    MemorySource(
        "codex",
        "Codex",
        lambda machine: source.existing_paths(
            *machine.find_files("CODEX_HOME", ".codex", "sessions", "archived_sessions")
        ),
        read_codex,
        codex_session_folders,
        lambda machine: machine.find_files("CODEX_HOME", ".codex", "AGENTS.md", "AGENTS.override.md", "memories"),
    ),
    MemorySource(
        "gemini",
        "Gemini CLI",
        detect_gemini,
        read_gemini,
        # by where each lies: the file is not read
        lambda path: map(_gemini_project, list_gemini_files(path, [])),
        lambda machine: machine.find_files("", ".gemini", "GEMINI.md"),
    ),
    MemorySource(
        "opencode",
        "OpenCode",
        lambda machine: source.existing_paths(
            *machine.find_files("XDG_DATA_HOME", ".local/share", "opencode/opencode.db")
        ),
        read_opencode,
        # no message is read
        lambda path: source.read_database(
            path, [], lambda _, database: iter(_opencode_folders(database).values())
        ),
        lambda machine: machine.find_files("XDG_CONFIG_HOME", ".config", "opencode/AGENTS.md"),
    ),
)
