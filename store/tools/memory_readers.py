"""Tools that keep memories: in a database or JSON, as Engram, claude-mem, mcp-memory-service, mem0 and server-memory
do, or as notes, as basic-memory, Obsidian, OKF and OpenClaw do."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

from store.tools import source
from store.tools.source import (
    FoundDecision,
    FoundDocument,
    FoundItem,
    FoundMemory,
    FoundTurn,
    Machine,
    ReadTrouble,
    Troubles,
    existing_paths,
    find_files,
    modification_time,
    parse_object,
    parse_tag_list,
    stripped_texts,
    text_in,
    time_in,
)


class ForeignTool(ABC):
    """A tool whose memory can be read. Reading writes nothing, beside the source neither; damaged parts are appended to
    the troubles while the rest is still read."""

    name = ""
    title = ""
    # which variable names its folder, the usual one below the home folder, and what it keeps there
    variable = ""
    usual = ""
    keeps: tuple[str, ...] = ()

    def detect(self, machine: Machine) -> list[str]:
        """List the files and folders where the tool keeps its memory on this machine; nothing is read of them."""
        return existing_paths(*machine.find_files(self.variable, self.usual, *self.keeps))

    def files(self, path: str, troubles: Troubles) -> Iterator[str]:
        """Yield a file of Markdown, or those of a folder."""
        return find_files(path, ".md", troubles)

    @abstractmethod
    def read(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        """Yield what lies in a file or a folder, one at a time."""

    def read_memories(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        """Yield what is read but the turns."""
        return (one for one in self.read(path, troubles) if not isinstance(one, FoundTurn))

    def list_conversations(self, path: str, troubles: Troubles) -> list[str]:
        """List the files of conversations at a path; none of a tool that keeps them otherwise."""
        return []

    def conversation_folders(self, path: str) -> Iterator[str]:
        """Of an agent: yield the folder in which each conversation was held, or the project's name, or nothing where it
        is this project's by its place; what was said is not read."""
        return iter(())

    def guarded(self, machine: Machine) -> list[str]:
        """List the files, and folders of Markdown, whose versions guard keeps, whether they exist or not."""
        return self.detect(machine)


# Rows of tables, of a database or of an export as JSON.

Row = Mapping[str, object]


class ExportedTables:
    """The tables of an export, read as those of a database are; `names`, as `table=name`, says what it calls those
    that it calls otherwise."""

    def __init__(self, value: Mapping[str, object], names: str) -> None:
        self._value = value
        self._names = dict(one.split("=") for one in names.split())

    def read_table(self, table: str, columns: str, order: str = "") -> Iterator[Row]:
        """Yield the objects of a list; none if there is no such list."""
        rows = self._value.get(self._names.get(table, table))
        yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))


Tables = source.CopiedDatabase | ExportedTables


class TableTool(ForeignTool):
    """A tool that keeps tables in a database, the first of what it `keeps`, and writes exports as JSON, in which some
    tables have other names, `table=name`, and in which there is the list that it `needs`. In a folder it is looked for
    with what it keeps `packed`: how such names end."""

    exports = ""
    needs = ""
    packed = "/"

    def read(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        file, found = os.path.basename(self.keeps[0]), [path]
        if os.path.isdir(path):
            every = find_files(path, (file, self.packed), troubles)
            found = [one for one in every if os.path.basename(one) == file or one.endswith(self.packed)]
        for one in found or [os.path.join(path, file)]:
            yield from self._read_file(one, troubles)

    def _read_file(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        """Yield what is in a database or an export, packed or not."""
        if path.endswith(".gz"):
            damages: Troubles = []
            with source.unpack_file(path, troubles) as copy:
                yield from (one._replace(path=path) for one in self._read_file(copy, damages))
            troubles += [one._replace(path=path) for one in damages]
        elif path.endswith(".jsonl"):
            for _, line in source.read_json_lines(path, troubles):
                yield from self.read_rows(path, ExportedTables(line, self.exports))
        elif path.endswith(".json"):
            value = source.read_json_file(path, troubles)
            if (tables := self.export_tables(value)) is not None:
                yield from self.read_rows(path, tables)
            elif value is not None:
                troubles.append(ReadTrouble(path, 0, f"it is not an export of {self.title}"))
        else:
            yield from source.read_database(path, troubles, self.read_rows)

    def export_tables(self, value: object) -> ExportedTables | None:
        """Return the tables of a document; None if it is no export."""
        fits = isinstance(value, dict) and (not self.needs or isinstance(value.get(self.needs), list))
        return ExportedTables(value, self.exports) if fits and isinstance(value, dict) else None

    @abstractmethod
    def read_rows(self, path: str, tables: Tables) -> Iterator[FoundItem]:
        """Yield the items of the tables."""


class MarkdownTool(ForeignTool):
    """A tool that keeps its memory as files of Markdown."""

    def read(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        for file in self.files(path, troubles):
            if (text := source.read_text_file(file, troubles)) is not None:
                yield from self.read_text(file, text)

    @abstractmethod
    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        """Yield what a file with this text holds."""


def _row_number(row: Row, place: int) -> int:
    """Return the number by which a tool knows a row, or else its place."""
    name = row.get("id")
    return name if isinstance(name, int) and name > 0 else place


# claude-mem: a SQLite database, `~/.claude-mem/claude-mem.db`, and its export as JSON.
#
# An observation says one thing four times (title, subtitle, facts, narrative): it becomes one memory. Older and newer
# texts of one title lie side by side: both are brought, and each says so.

REJECTED_PREFIX = "rejected:"
_CLAUDE_MEM_TIMES = ("created_at_epoch", "created_at")
_CLAUDE_MEM_SESSIONS = ("memory_session_id", "sdk_session_id")
_SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_CLAUDE_MEM_ROW = (
    "id memory_session_id sdk_session_id project merged_into_project created_at created_at_epoch text type title"
    " subtitle facts narrative concepts content_session_id prompt_text " + " ".join(_SUMMARY_PARTS)
)


class ClaudeMem(TableTool):
    """Observations are memories; summaries and prompts are turns."""

    name = title = "claude-mem"
    variable, usual = "CLAUDE_MEM_DATA_DIR", ".claude-mem"
    keeps = ("claude-mem.db",)
    exports = "session_summaries=summaries user_prompts=prompts sdk_sessions=sessions"

    def read_rows(self, path: str, tables: Tables) -> Iterator[FoundItem]:
        newest = _newest_by_title(tables.read_table("observations", _CLAUDE_MEM_ROW))
        for place, row in enumerate(tables.read_table("observations", _CLAUDE_MEM_ROW, "id"), 1):
            if _observation_text(row):
                yield _claude_mem_memory(path, row, _row_number(row, place), newest)
        for place, row in enumerate(tables.read_table("session_summaries", _CLAUDE_MEM_ROW, "id"), 1):
            parts = [(name.replace("_", " ").capitalize(), text_in(row, name)) for name in _SUMMARY_PARTS]
            said = "\n".join(f"{name}: {text}" for name, text in parts if text)
            session = text_in(row, *_CLAUDE_MEM_SESSIONS)
            yield from self._turn(path, place, row, ("assistant", said), session, _claude_mem_project(row))
        sessions = tables.read_table("sdk_sessions", _CLAUDE_MEM_ROW)
        projects = {text_in(row, "content_session_id"): _claude_mem_project(row) for row in sessions}
        for place, row in enumerate(tables.read_table("user_prompts", _CLAUDE_MEM_ROW, "id"), 1):
            session = text_in(row, "content_session_id")
            said = text_in(row, "prompt_text")
            yield from self._turn(path, place, row, ("user", said), session, projects.get(session, ""))

    def _turn(
        self, path: str, place: int, row: Row, said: tuple[str, str], session: str, project: str
    ) -> Iterator[FoundTurn]:
        """Yield who said what, if that is anything, as a turn."""
        (role, text), at = said, time_in(row, *_CLAUDE_MEM_TIMES)
        name = f"{'prompt' if role == 'user' else 'summary'}/{row.get('id')}"
        if text:
            yield FoundTurn(session or self.name, role, text, path, place, at, name, project)


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
        newest[title] = max(newest.get(title, ""), time_in(row, *_CLAUDE_MEM_TIMES))
    return {title: newest[title] for title in several}


def _claude_mem_memory(path: str, row: Row, number: int, newest: Mapping[str, str]) -> FoundMemory:
    """Return the memory of an observation."""
    title, facts, text = (
        text_in(row, "title"),
        stripped_texts(row.get("facts")),
        _observation_text(row),
    )
    decision = None
    if row.get("type") == "decision" and title:
        rejected = [one for one in facts if one.lower().startswith(REJECTED_PREFIX)]
        against = tuple(one[len(REJECTED_PREFIX) :].strip() for one in rejected)
        for_it = [one for one in facts if one not in rejected]
        decision = FoundDecision(text_in(row, "narrative") or "\n".join(for_it) or text, against)
    created, note = time_in(row, *_CLAUDE_MEM_TIMES), ""
    if (last := newest.get(title.casefold())) is not None:
        note = "It is the newest of this title" if created == last else "There is a newer one of this title"
    where = path, number, 0, f"observation {number}", str(number)
    project = _claude_mem_project(row)
    tags = stripped_texts(row.get("concepts"))
    about = text_in(row, *_CLAUDE_MEM_SESSIONS), project, created, tags
    note = f"{note}, “{title}”." if note else ""
    return FoundMemory(title if decision else text, *where, *about, note=note, decision=decision)


def _observation_text(row: Row) -> str:
    """Return all that an observation says, without repeating anything."""
    text, facts = text_in(row, "narrative", "text"), stripped_texts(row.get("facts"))
    more = [one for one in facts if one not in text and not one.lower().startswith(REJECTED_PREFIX)]
    if text and more:
        return "\n".join([text, *(f"- {one}" for one in more)])
    return text or "\n".join(more) or text_in(row, "subtitle", "title")


ENGRAM_DOMAINS = {"preference": "preferences", "decision": "decisions"}
_DECISION_PART = re.compile(
    r"^\*\*(?P<name>[A-Z]\w+)\*\*:\s*(?P<text>.*?)(?=^\*\*[A-Z]\w+\*\*:|\Z)", re.MULTILINE | re.DOTALL
)
_ENGRAM_ROW = (
    "id session_id type title content project scope created_at deleted_at sync_id pinned directory started_at ended_at"
    " summary target_id relation judgment_status"
)


class Engram(TableTool):
    """Observations that are neither deleted nor replaced are memories; prompts and summaries are turns."""

    name, title = "engram", "Engram"
    variable, usual = "ENGRAM_DATA_DIR", ".engram"
    keeps = ("engram.db",)
    packed = ".jsonl.gz"
    exports = "memory_relations=relations user_prompts=prompts"

    def detect(self, machine: Machine) -> list[str]:
        inner = os.path.join(machine.project, ".engram", "chunks")
        chunks = existing_paths(inner) if os.path.isabs(machine.project) else []
        return [*super().detect(machine), *chunks]

    def read_rows(self, path: str, tables: Tables) -> Iterator[FoundItem]:
        sessions: dict[str, Row] = {str(row.get("id")): row for row in tables.read_table("sessions", _ENGRAM_ROW)}
        yield from self.read_observations(path, tables, sessions)
        for place, row in enumerate(tables.read_table("user_prompts", _ENGRAM_ROW, "id"), 1):
            if text := text_in(row, "content"):
                session = str(row.get("session_id") or self.name)
                number = _row_number(row, place)
                cwd = _engram_project(row, sessions.get(session, {}))
                at = time_in(row, "created_at")
                yield FoundTurn(session, "user", text, path, number, at, f"prompt/{row.get('id')}", cwd)
        for place, (session, row) in enumerate(sessions.items(), 1):
            if text := text_in(row, "summary"):
                at = time_in(row, "ended_at", "started_at")
                cwd = _engram_project({}, row)
                yield FoundTurn(session, "assistant", text, path, place, at, "summary", cwd)

    def read_observations(self, path: str, tables: Tables, sessions: Mapping[str, Row]) -> Iterator[FoundMemory]:
        """Yield the memories."""
        relations = tables.read_table("memory_relations", _ENGRAM_ROW)
        judged = (row for row in relations if row.get("judgment_status") == "judged")
        replaced = {str(row.get("target_id")) for row in judged if row.get("relation") == "supersedes"}
        for place, row in enumerate(tables.read_table("observations", _ENGRAM_ROW, "id"), 1):
            content = text_in(row, "content")
            if not content or row.get("deleted_at") or str(row.get("sync_id")) in replaced:
                continue
            number = _row_number(row, place)
            kind = str(row.get("type") or "")
            session = str(row.get("session_id") or "")
            title = text_in(row, "title")
            decision = _engram_decision(content) if kind == "decision" and title else None
            where = path, number, 0, f"observation {number}", text_in(row, "sync_id") or str(number)
            about = session, _engram_project(row, sessions.get(session, {})), time_in(row, "created_at")
            domain = "personal" if row.get("scope") == "personal" else ENGRAM_DOMAINS.get(kind, "general")
            said = title if decision else content
            pinned = bool(row.get("pinned"))
            yield FoundMemory(said, *where, *about, (), domain, pinned, "", title, kind, decision)


def _engram_project(row: Row, session: Row) -> str:
    """Return the folder of a session; of one that has none, as of what is saved by hand, the name of the project."""
    return text_in(session, "directory") or text_in(row, "project") or text_in(session, "project")


def _engram_decision(content: str) -> FoundDecision:
    """Return the parts of a decision; the whole text is the choice if it has no parts."""
    parts = {part["name"]: part["text"].strip() for part in _DECISION_PART.finditer(content)}
    if not parts.get("What"):
        return FoundDecision(content)
    rest = [
        parts.pop("Why", ""),
        *(f"{name}: {text}" for name, text in parts.items() if name != "What" and text),
    ]
    return FoundDecision(parts["What"], (), "\n".join(filter(None, rest)))


# mcp-memory-service: a SQLite database, packed or not, and its export as JSON. Vectors are not read; what is deleted
# or superseded is left out.

# characters
LONGEST_MEMORY_TITLE = 80
_MCP_MEMORY_ROW = (
    "id content_hash content tags memory_type metadata created_at created_at_iso deleted_at superseded_by"
)


class McpMemory(TableTool):
    """A row is a memory."""

    name = title = "mcp-memory-service"
    keeps = ("sqlite_vec.db",)
    packed = "sqlite_vec.db.gz"
    needs = "memories"

    def detect(self, machine: Machine) -> list[str]:
        base = machine.find_data("XDG_DATA_HOME", ".local/share")
        if machine.system == "win32":
            base = machine.environment.get("LOCALAPPDATA", "")
        return existing_paths(os.path.join(base, "mcp-memory", *self.keeps))

    def read_rows(self, path: str, tables: Tables) -> Iterator[FoundItem]:
        for place, row in enumerate(tables.read_table("memories", _MCP_MEMORY_ROW, "id"), 1):
            text, about = text_in(row, "content"), parse_object(row.get("metadata"))
            if not text or row.get("deleted_at") or row.get("superseded_by") or about.get("superseded_by"):
                continue
            number = _row_number(row, place)
            title = _title_from_text(text)
            where = path, number, 0, f"memory {number}", text_in(row, "content_hash")
            created = time_in(row, "created_at", "created_at_iso")
            session, tags = (
                text_in(about, "conversation_id"),
                parse_tag_list(row.get("tags"), mark=""),
            )
            decision = FoundDecision(text) if row.get("memory_type") == "decision" else None
            said = title if decision else text
            yield FoundMemory(said, *where, session, created=created, tags=tags, decision=decision)


def _title_from_text(text: str) -> str:
    """Return the beginning of a text, whole words, as a title."""
    line = text.partition("\n")[0]
    if len(line) <= LONGEST_MEMORY_TITLE:
        return line
    return line[:LONGEST_MEMORY_TITLE].rsplit(None, 1)[0].rstrip(" ,;:") + " …"


# mem0: the result of its `get_all` as JSON, or the database of its history, `~/.mem0/history.db`. Its vectors are
# pickles, and are never read.

MEM0_DOMAINS = ("work", "preferences", "decisions", "personal", "projects")


class Mem0(TableTool):
    """Of an event of its history the newest text counts, unless it was deleted; of an export each."""

    name = title = "mem0"
    variable, usual = "MEM0_DIR", ".mem0"
    keeps = ("history.db",)
    needs = "results"

    def export_tables(self, value: object) -> ExportedTables | None:
        return super().export_tables({"results": value} if isinstance(value, list) else value)

    def read_rows(self, path: str, tables: Tables) -> Iterator[FoundItem]:
        if isinstance(tables, source.CopiedDatabase):
            yield from _mem0_history(path, tables)
            return
        for place, row in enumerate(tables.read_table("results", ""), 1):
            about = parse_object(row.get("metadata"))
            text = text_in(row, "memory")
            category = str(about.get("category", ""))
            if text:
                where = path, place, 0, f"memory {place}", text_in(row, "id")
                when = text_in(row, "run_id"), "", time_in(row, "created_at")
                domain = category if category in MEM0_DOMAINS else "general"
                yield FoundMemory(text, *where, *when, stripped_texts(about.get("tags")), domain)


def _mem0_history(path: str, database: source.CopiedDatabase) -> Iterator[FoundMemory]:
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
            at = time_in(row, "created_at")
            yield FoundMemory(text, path, line, place=f"event {line}", id=name, created=at)


# The reference memory server of MCP: entities with observations as JSON lines, without ids and dates. An entity's name
# and type become tags.


class ServerMemory(ForeignTool):
    """A file of JSON lines, which its package keeps in itself."""

    name, title = "server-memory", "the reference memory server of MCP"
    keeps = ("memory.jsonl", "memory.json")

    def detect(self, machine: Machine) -> list[str]:
        named = machine.environment.get("MEMORY_FILE_PATH", "")
        inner = os.path.join("node_modules", "@modelcontextprotocol", "server-memory", "dist")
        cached = source.list_folders(os.path.join(machine.home, ".npm", "_npx", ""))
        bases = ("/usr/lib", "/usr/local/lib", os.path.join(machine.home, ".npm-global", "lib"), *cached)
        places = (os.path.join(base, inner, name) for base in bases for name in self.keeps)
        return existing_paths(named, *places)

    def read(self, path: str, troubles: Troubles) -> Iterator[FoundItem]:
        for file in find_files(path, ".jsonl", troubles):
            for number, value in source.read_json_lines(file, troubles):
                if value.get("type") != "entity":
                    continue
                name, kind = text_in(value, "name"), text_in(value, "entityType")
                place = f"entity “{name}”"
                tags = tuple(filter(None, (name, kind)))
                at = modification_time(file)
                for text in stripped_texts(value.get("observations")):
                    yield FoundMemory(text, file, number, number, place, created=at, tags=tags)


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
    head, body, above = source.parse_front_matter(text)
    if text_in(head, "status") == "deprecated":
        return
    created = time_in(head, "created", "created_at", "date") or modification_time(path)
    title = text_in(head, "title")
    tags = parse_tag_list(head.get("tags"))
    paragraphs = source.prose_paragraphs(body)
    observed = list[tuple[source.Bullet, str, str, tuple[str, ...]]]()
    for bullet in source.parse_bullets(body, above + 1):
        if found := OBSERVATION_BULLET.fullmatch(bullet.text):
            observed.append((bullet, found["category"].lower(), *split_observation(found["text"])))
        elif plain_bullets and not _RELATION.fullmatch(bullet.text):
            observed.append((bullet, "", *split_observation(bullet.text)))
    if text_in(head, "type") == "decision" and title:
        by: dict[str, list[str]] = {}
        for _, category, said, marks in observed:
            by.setdefault(category, []).extend([said] if category else [])
            tags = tuple(dict.fromkeys((*tags, *(marks if category else ()))))
        chosen = "\n".join(by.pop("decision", [])) or (paragraphs.pop(0) if paragraphs else title)
        alternatives, why = tuple(by.pop("alternative", [])), by.pop("rationale", [])
        rest = [f"{category}: {one}" for category, several in by.items() for one in several]
        decision = FoundDecision(chosen, alternatives, "\n\n".join([*paragraphs, *why, *rest]))
        said = body.strip()
        first = above + 1 + body[: body.find(said)].count("\n")
        last = first + said.count("\n")
        yield FoundMemory(
            title, path, first, last, created=created, tags=tags, domain="decisions", decision=decision
        )
        return
    title = title or os.path.basename(path).removesuffix(".md")
    # what has no category comes last
    for bullet, category, said, marks in sorted(observed, key=lambda one: not one[1]):
        domain = OBSERVATION_DOMAINS.get(category, "general")
        yield source.bullet_memory(bullet, path, created, marks, said, domain=domain, title=title, kind=category)
    if paragraphs:
        yield FoundDocument(path, body.strip(), title, "note")


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


class BasicMemory(MarkdownTool):
    """Folders of notes, `~/basic-memory` and those that `~/.basic-memory/config.json` names. The files keep no dates,
    so a memory's is that of its file."""

    name = title = "basic-memory"

    def detect(self, machine: Machine) -> list[str]:
        named = [os.path.join(machine.home, "basic-memory")]
        path = os.path.join(machine.home, ".basic-memory", "config.json")
        config = parse_object(source.read_json_file(path, []))
        for project in parse_object(config.get("projects")).values():
            place = project.get("path") if isinstance(project, dict) else project
            if isinstance(place, str):
                named.append(os.path.join(machine.home, place.removeprefix("~/")))
        return existing_paths(*named)

    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        return _observation_note(path, text)


class Markdown(MarkdownTool):
    """A folder of Markdown files, or one file: bullets are facts, prose is a document. Tasks, labels without a text,
    code and quotes are left alone."""

    name, title = "markdown", "Markdown files"

    def detect(self, machine: Machine) -> list[str]:
        # it is read only where it is named
        return []

    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        return parse_markdown_notes(path, text)


def parse_markdown_notes(path: str, text: str) -> Iterator[FoundItem]:
    """Yield the facts of a file with this text, then its prose."""
    head, body, above = source.parse_front_matter(text)
    created = time_in(head, "created", "date") or modification_time(path)
    tags = parse_tag_list(head.get("tags"))
    for bullet in source.parse_bullets(body, above + 1):
        if not source.is_unfilled(bullet.text):
            yield source.bullet_memory(bullet, path, created, tags)
    if source.prose_paragraphs(body):
        yield FoundDocument(path, body.strip())


_TEMPLATE_FOLDERS = {"templates", "plantillas"}
_OBSIDIAN_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK_ID = re.compile(r"(?<!\s)[ \t]+\^[\w-]+$", re.MULTILINE)
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_TRAILING_TAG = re.compile(r"(?<!\s)\s+#(?P<tag>[\w/-]+)$")


class Obsidian(MarkdownTool):
    """A vault: the folder with `.obsidian`. Comments, block ids, embeds, queries and templates are no text."""

    name, title = "obsidian", "an Obsidian vault"

    def detect(self, machine: Machine) -> list[str]:
        base = machine.find_data("XDG_CONFIG_HOME", ".config")
        config = parse_object(source.read_json_file(os.path.join(base, "obsidian", "obsidian.json"), []))
        vaults = parse_object(config.get("vaults")).values()
        paths = (parse_object(vault).get("path") for vault in vaults)
        return [path for path in paths if isinstance(path, str) and os.path.isdir(os.path.join(path, ".obsidian"))]

    def guarded(self, machine: Machine) -> list[str]:
        return []

    def files(self, path: str, troubles: Troubles) -> Iterator[str]:
        for file in super().files(path, troubles):
            steps = os.path.relpath(file, path).lower().split(os.sep)[:-1]
            if _TEMPLATE_FOLDERS.isdisjoint(steps):
                yield file

    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        for one in parse_markdown_notes(path, obsidian_markdown(text)) if "{{title}}" not in text else ():
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


OKF_RESERVED_FILES = ("index.md", "log.md")


class Okf(Markdown):
    """Bundles: folders of Markdown in which every concept has a `type`. `index.md` and `log.md` are no concepts; what
    is deprecated is left out."""

    name, title = "okf", "an OKF bundle"

    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        concept = os.path.basename(path) not in OKF_RESERVED_FILES
        return _observation_note(path, text, plain_bullets=True) if concept else iter(())


# OpenClaw: a workspace of Markdown files, `~/.openclaw/workspace`, that of another profile or agent, or as the
# environment or `openclaw.json` name them.

# JSON5: names without quotes, comments
_WORKSPACE = re.compile(r"""\bworkspace["']?\s*:\s*["']([^"'\n]+)["']""")
OPENCLAW_LISTS = ("MEMORY.md", "USER.md")
OBSERVED_DATE = re.compile(r"observed:\s*(?P<date>[^|]+?)\s*(?:\||$)")
STATUS_MARK = re.compile(r"status:\s*(?P<status>\w+)")
PLACEHOLDER_TEXT = re.compile(r"YYYY-MM-DD|^(?:Prefer|Always|Never|Avoid):?\s*(?:\.\.\.|…)$")


class OpenClaw(MarkdownTool):
    """The bullets of MEMORY.md and USER.md are facts; the days in `memory` are documents. What makes the agent (SOUL,
    AGENTS, IDENTITY, BOOTSTRAP) is no memory."""

    name, title = "openclaw", "OpenClaw"

    def detect(self, machine: Machine) -> list[str]:
        own = os.path.join(machine.home, ".openclaw")
        state = machine.environment.get("OPENCLAW_STATE_DIR", "")
        named = [machine.environment.get("OPENCLAW_WORKSPACE_DIR", "")]
        for base in filter(None, (state, own, *source.list_folders(f"{own}-", links=True))):
            named.append(os.path.join(base, "workspace"))
            named += source.list_folders(os.path.join(base, "workspace-"), links=True)
            config = os.path.join(base, "openclaw.json")
            text = source.read_text_file(config, []) if os.path.isfile(config) else None
            for folder in _WORKSPACE.findall(text or ""):
                place = os.path.join(machine.home, folder.removeprefix("~/"))
                inner = source.list_folders(os.path.join(place, ""), links=True)
                named += [place, *(one for one in inner if os.path.isfile(os.path.join(one, "SOUL.md")))]
        return [place for place in existing_paths(*named) if os.path.isdir(place)]

    def guarded(self, machine: Machine) -> list[str]:
        inner = (*OPENCLAW_LISTS, "memory")
        return [os.path.join(one, name) for one in self.detect(machine) for name in inner]

    def files(self, path: str, troubles: Troubles) -> Iterator[str]:
        lists = [file for name in OPENCLAW_LISTS if os.path.lexists(file := os.path.join(path, name))]
        inner = os.path.join(path, "memory")
        if lists or os.path.isdir(inner):
            yield from lists
            path = inner
        yield from super().files(path, troubles)

    def read_text(self, path: str, text: str) -> Iterator[FoundItem]:
        _, body, above = source.parse_front_matter(text)
        name = os.path.basename(path)
        of_person = name == "USER.md"
        if name not in OPENCLAW_LISTS:
            if body.strip():
                yield FoundDocument(path, body.strip(), name, "day")
            return
        for bullet in source.parse_bullets(body, above + 1):
            status = STATUS_MARK.search(bullet.above)
            observed = OBSERVED_DATE.search(bullet.above)
            date = observed["date"] if observed else ""
            if (status and status["status"] != "active") or source.is_unfilled(bullet.text):
                continue
            if not PLACEHOLDER_TEXT.search(bullet.text) and not PLACEHOLDER_TEXT.search(date):
                created = source.parse_foreign_time(date or None) or modification_time(path)
                domain, tags = ("preferences", ()) if of_person else ("general", bullet.tags)
                title = bullet.heading or name
                yield source.bullet_memory(bullet, path, created, tags, domain=domain, title=title)


MEMORY_SOURCES = (
    *(ClaudeMem(), Engram(), McpMemory(), Mem0(), ServerMemory()),
    *(BasicMemory(), Markdown(), Obsidian(), Okf(), OpenClaw()),
)
