"""Agents, which keep conversations: Claude Code, which keeps a memory too, Codex, Gemini CLI and OpenCode."""

import os
import re
from abc import abstractmethod
from collections.abc import Iterator
from itertools import groupby

from store.ingest.formats import BrokenLine, is_claude_line, parse_claude_line
from store.tools import source
from store.tools.memory_readers import ForeignTool, MarkdownTool, Tables, TableTool
from store.tools.source import FoundItem, FoundMemory, FoundTurn, Machine, ReadTrouble, Troubles


class Agent(ForeignTool):
    """An agent that keeps its conversations in files, and no memory."""

    def read(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        for file in [path] if os.path.isfile(path) else self.list_conversations(path, troubles):
            yield from self._read_turns(file, troubles)

    def read_memories(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        return iter(())

    @abstractmethod
    def _read_turns(self, path: str, troubles: Troubles) -> Iterator[FoundTurn]:
        """Yield the turns of one conversation."""


# Claude Code: its own memory, a fact a file, and its transcripts, both below `~/.claude/projects/<folder>/`.
#
# `memory/MEMORY.md` is an index of the other files; its bullets that lead to none of them are facts. The folder's name
# cannot be turned back into the project's path, so a memory's project is the working folder that the transcripts beside
# it name. Where the person's own settings name one folder for the memory of all projects (`autoMemoryDirectory`), that
# is read too.

MEMORY_INDEX = "MEMORY.md"
CLAUDE_CODE_DOMAINS = {"user": "personal", "feedback": "preferences", "project": "projects", "reference": "work"}
_REASON = re.compile(r"^\*\*(?:Why|Por qué)\s*:?\s*\*\*\s*:?\s*(?P<why>.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
# a link to another file
_INDEX_ENTRY = re.compile(r"\]\([^()\s]+\.md(?:#[^()\s]*)?\)|\[\[[^\]\n]+\]\]")
_PROJECT_FOLDER = re.compile(r"(?P<folder>.*/\.claude/projects/[^/]+)/", re.DOTALL)
# lines of a transcript in which the working folder is looked for
SEARCHED_LINES = 200


def claude_projects_folder(machine: Machine) -> str:
    """Return the folder in which Claude Code has a folder for each project."""
    base = machine.find_folder("CLAUDE_CONFIG_DIR", ".claude")
    return os.path.join(base, "projects")


def claude_project_folder(machine: Machine, folder: str) -> str:
    """Return the folder that Claude Code has for the project in this folder."""
    return os.path.join(claude_projects_folder(machine), _claude_slug(os.path.realpath(folder)))


def _claude_slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


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


class ClaudeCode(MarkdownTool, Agent):
    """A folder for each project, with its memories and its conversations."""

    name = "claude-code"
    title = "Claude Code"

    def detect(self, machine: Machine) -> list[str]:
        base, own = claude_projects_folder(machine), own_memory_folder(machine)
        if os.path.isabs(machine.project):
            return source.existing_paths(claude_project_folder(machine, machine.project), own)
        folders = source.list_folders(os.path.join(base, ""), shut=[base])
        # a project by its name
        ending = f"-{_claude_slug(machine.project)}" if machine.project else ""
        return [*(one for one in folders if one.endswith(ending)), *source.existing_paths(own)]

    def guarded(self, machine: Machine) -> list[str]:
        base, own = claude_projects_folder(machine), own_memory_folder(machine)
        inner = (os.path.join(one, "memory") for one in source.list_folders(os.path.join(base, "")))
        return [os.path.join(os.path.dirname(base), "CLAUDE.md"), *inner, *([own] if own else [])]

    def read(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        if os.path.isfile(path):
            reads = self._read_turns if path.endswith(".jsonl") else super().read
            yield from reads(path, troubles)
            return
        for folder in _project_folders(path, troubles):
            yield from self._read_folder(folder, troubles)
            for file in list_transcripts(folder, troubles):
                yield from self._read_turns(file, troubles)

    def read_memories(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        if os.path.isfile(path):
            yield from self.read(path, troubles) if not path.endswith(".jsonl") else ()
            return
        for folder in _project_folders(path, troubles):
            yield from self._read_folder(folder, troubles)

    def list_conversations(self, path: str, troubles: Troubles) -> list[str]:
        return list_transcripts(path, troubles)

    def conversation_folders(self, path: str) -> Iterator[str]:
        # of each transcript only the name is looked at
        return ("" for _ in list_transcripts(path, []))

    def _read_folder(self, folder: str, troubles: Troubles) -> Iterator[FoundItem]:
        """Yield the memories of a project's folder, without reading its transcripts beyond the working folder."""
        project = None
        for path in self.files(claude_memory_folder(folder), troubles):
            project = project_working_folder(folder) if project is None else project
            for one in super().read(path, troubles):
                yield one._replace(project=project) if isinstance(one, FoundMemory) else one

    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        head, body, above = source.parse_front_matter(text)
        index = os.path.basename(path) == MEMORY_INDEX
        yield from _index_memories(path, body, above) if index else _file_memory(path, head, body, above)

    def _read_turns(self, path: str, troubles: Troubles) -> Iterator[FoundTurn]:
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
    """Return the project folders at a path: itself, the folders below `projects`, or those of a home folder in it."""
    inner = os.path.join(path, "projects")
    base = inner if os.path.isdir(inner) else path
    names = _list_names(base, troubles)
    if os.path.basename(base) == "projects":
        return [place for name in names if os.path.isdir(place := os.path.join(base, name))]
    if any(name == "memory" or name.endswith((".md", ".jsonl")) for name in names):
        return [base]
    found = (_PROJECT_FOLDER.match(file) for file in source.find_files(base, (".md", ".jsonl"), troubles))
    return list(dict.fromkeys(one["folder"] for one in found if one)) or [base]


def _index_memories(path: str, body: str, above: int) -> Iterator[FoundItem]:
    """Yield what an index says itself: older versions wrote everything into it, and people still do."""
    created = source.modification_time(path)
    for one in source.parse_bullets(body, above + 1):
        if not _INDEX_ENTRY.search(one.text) and not source.is_unfilled(one.text):
            yield FoundMemory(one.text, path, one.line, one.last, created=created, tags=one.tags, kind="index")
    if source.prose_paragraphs(body):
        yield source.FoundDocument(path, body.strip())


def _file_memory(path: str, head: dict[str, object], body: str, above: int) -> Iterator[FoundItem]:
    """Yield the memory that a file is: a fact, or a decision if it gives a reason."""
    said = body.strip()
    if not said:
        return
    inner = head.get("metadata")
    about = {**head, **inner} if isinstance(inner, dict) else head
    kind = source.text_in(about, "type")
    first = above + 1 + body[: body.index(said[0])].count("\n")
    why = _REASON.search(said) if kind == "project" else None
    title = source.text_in(head, "description", "name")
    decision = None
    if why is not None and title:
        chosen = _REASON.sub("", said).strip()
        decision = source.FoundDecision(chosen or title, (), why["why"].strip())
    where = path, first, first + said.count("\n"), "", "", source.text_in(about, "originSessionId"), ""
    created = source.time_in(about, "modified") or source.modification_time(path)
    domain = CLAUDE_CODE_DOMAINS.get(kind, "general")
    name = source.text_in(head, "name") or os.path.basename(path)
    text = title if decision else said
    yield FoundMemory(text, *where, created, (), domain, title=name, kind=kind, decision=decision)


# Codex: conversations as `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`.
#
# A turn is there twice, as what the model is sent (`response_item`) and as an event; the first is taken. AGENTS.md and
# the environment come in the person's role, and are no turns.

CODEX_INSERTED = (
    *("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>"),
    *("<turn_aborted>", "<permissions", "<user_shell_command>"),
)
CODEX_TEXT_PARTS = ("input_text", "output_text", "text")


class Codex(Agent):
    """A file for each conversation."""

    name = "codex"
    title = "Codex"
    variable, usual = "CODEX_HOME", ".codex"
    keeps = ("sessions", "archived_sessions")

    def guarded(self, machine: Machine) -> list[str]:
        return machine.find_files(self.variable, self.usual, "AGENTS.md", "AGENTS.override.md", "memories")

    def list_conversations(self, path: str, troubles: Troubles) -> list[str]:
        found = list[str]()
        for file in source.find_files(path, (".jsonl", ".jsonl.zst"), troubles):
            if file.endswith(".jsonl.zst"):
                troubles.append(ReadTrouble(file, 0, "it is packed; unpack it with zstd -d"))
            found += [file] if not file.endswith(".zst") else []
        return found

    def conversation_folders(self, path: str) -> Iterator[str]:
        # only the first line of a file is read
        for file in self.list_conversations(path, []):
            for _, value in source.read_json_lines(file, []):
                about = value.get("payload")
                if value.get("type") == "session_meta" and isinstance(about, dict) and not _is_subagent(about):
                    yield source.text_in(about, "cwd")
                break

    def _read_turns(self, path: str, troubles: Troubles) -> Iterator[FoundTurn]:
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
                at, name = (
                    source.time_in(value, "timestamp"),
                    source.text_in(payload, "id") or f"{session}/{number}",
                )
                yield FoundTurn(session, str(role), text, path, number, at, name, cwd)


def _is_subagent(about: dict[str, object]) -> bool:
    return "subagent" in source.parse_object(about.get("source"))


def _codex_text(content: object) -> str:
    """Return what a message says, without what the client inserted."""
    parts = [
        source.text_in(part, "text")
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in CODEX_TEXT_PARTS
    ]
    return "\n\n".join(part for part in parts if part and not part.startswith(CODEX_INSERTED))


GEMINI_ROLES = {"user": "user", "gemini": "assistant"}
GEMINI_INSERTED = ("<session_context>", "<untrusted_context>", "<state_snapshot>")


class Gemini(Agent):
    """A folder for each project, with its conversations in `chats`: those of older versions are documents."""

    name = "gemini"
    title = "Gemini CLI"

    def detect(self, machine: Machine) -> list[str]:
        base, unread = os.path.join(machine.home, ".gemini", "tmp"), Troubles()
        return [base] if self.list_conversations(base, unread) or any(one.left is None for one in unread) else []

    def guarded(self, machine: Machine) -> list[str]:
        return [os.path.join(machine.home, ".gemini", "GEMINI.md")]

    def list_conversations(self, path: str, troubles: Troubles) -> list[str]:
        files = source.find_files(path, (".jsonl", ".json"), troubles)
        found = [one for one in files if os.path.basename(os.path.dirname(one)) == "chats"]
        return sorted(found, key=lambda one: one.endswith(".json"))

    def conversation_folders(self, path: str) -> Iterator[str]:
        # by where each lies: the file is not read
        return map(_gemini_project, self.list_conversations(path, []))

    def _read_turns(self, path: str, troubles: Troubles) -> Iterator[FoundTurn]:
        about: dict[str, object] = {}
        messages: dict[str, tuple[int, dict[str, object]]] = {}
        for number, value in source.read_json_lines(path, troubles):
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


def _gemini_text(message: dict[str, object]) -> str:
    """Return what a message says, without thoughts and what the client inserted."""
    if message.get("type") not in GEMINI_ROLES:
        return ""
    content = message.get("content")
    if isinstance(content, str):
        parts = [content.strip()]
    else:
        found = content if isinstance(content, list) else ()
        spoken = (part for part in found if isinstance(part, dict) and not part.get("thought"))
        parts = [source.text_in(part, "text") for part in spoken]
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


class OpenCode(TableTool):
    """A database of all conversations."""

    name = "opencode"
    title = "OpenCode"
    variable, usual = "XDG_DATA_HOME", ".local/share"
    keeps = ("opencode/opencode.db",)

    def guarded(self, machine: Machine) -> list[str]:
        return machine.find_files("XDG_CONFIG_HOME", ".config", "opencode/AGENTS.md")

    def conversation_folders(self, path: str) -> Iterator[str]:
        # no message is read
        return source.read_database(path, [], lambda _, database: iter(_opencode_folders(database).values()))

    def read_memories(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        return iter(())

    def read_rows(self, path: str, tables: Tables) -> Iterator[FoundTurn]:
        folders = _opencode_folders(tables)
        roles = {
            str(row["id"]): (
                str(source.parse_object(row["data"]).get("role", "")),
                source.time_in(row, "time_created"),
            )
            for row in tables.read_table("message", "id time_created data")
        }
        parts = tables.read_table("part", "message_id session_id data", "message_id")
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


def _opencode_folders(database: Tables) -> dict[str, str]:
    """Return the working folder of each session that is not a sub-agent's."""
    rows = database.read_table("session", "id parent_id directory")
    return {str(row["id"]): source.stripped_text(row["directory"]) for row in rows if not row["parent_id"]}


def _opencode_text(part: dict[str, object]) -> str:
    """Return the text of a part of a message; empty for any other part."""
    return source.text_in(part, "text") if part.get("type") == "text" and not part.get("synthetic") else ""


AGENT_SOURCES = (ClaudeCode(), Codex(), Gemini(), OpenCode())
