"""Claude Code: its own memory, a fact a file, and its transcripts, both below `~/.claude/projects/<folder>/`.

`memory/MEMORY.md` is an index of the other files; its bullets that lead to none of them are facts. The folder's name
cannot be turned back into the project's path, so a memory's project is the working folder that the transcripts beside
it name. Where the person's own settings name one folder for the memory of all projects (`autoMemoryDirectory`), that is
read too.
"""

import json
import os
import re
from collections.abc import Iterator

from store.ingest.formats import BrokenLine, is_claude_line, parse_claude_line
from store.sources.files import (
    existing_paths,
    files_below,
    modification_time,
    note_unreadable,
    parse_foreign_time,
    read_json_lines,
    read_text_file,
    stripped_text,
)
from store.sources.markdown_text import is_unfilled, parse_bullets, parse_front_matter, prose_paragraphs
from store.sources.source import (
    FoundDecision,
    FoundDocument,
    FoundItem,
    FoundMemory,
    FoundTurn,
    Machine,
    MemorySource,
    ReadTrouble,
)

MEMORY_INDEX = "MEMORY.md"
CLAUDE_CODE_DOMAINS = {"user": "personal", "feedback": "preferences", "project": "projects", "reference": "work"}
_REASON = re.compile(r"^\*\*(?:Why|Por qué)\s*:?\s*\*\*\s*:?\s*(?P<why>.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_INDEX_ENTRY = re.compile(r"\]\([^()\s]+\.md(?:#[^()\s]*)?\)|\[\[[^\]\n]+\]\]")  # a link to another file
SEARCHED_LINES = 200  # lines of a transcript in which the working folder is looked for


def claude_projects_folder(machine: Machine) -> str:
    """Return the folder in which Claude Code has a folder for each project."""
    base = machine.environment.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.home, ".claude")
    return os.path.join(base, "projects")


def read_claude_settings(machine: Machine) -> dict[str, object]:
    """Return the person's own settings of Claude Code, empty if there are none. A checkout's settings are never
    read: what it says may not lead to other places."""
    path = os.path.join(os.path.dirname(claude_projects_folder(machine)), "settings.json")
    try:
        if not os.path.isfile(path):  # a pipe would block for ever
            return {}
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def own_memory_folder(machine: Machine) -> str:
    """Return the folder that the settings name for the memory of all projects; empty without one."""
    named = stripped_text(read_claude_settings(machine).get("autoMemoryDirectory"))
    path = os.path.join(machine.home, named.removeprefix("~/")) if named.startswith("~/") else named
    if "\0" in path or not os.path.isabs(path) or os.path.realpath(path) in ("/", os.path.realpath(machine.home)):
        return ""
    return path


def detect_claude_code(machine: Machine) -> list[str]:
    """List the places of Claude Code's memory on this machine; of one project if the machine names it."""
    base, own = claude_projects_folder(machine), own_memory_folder(machine)
    if machine.project:
        name = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(machine.project))
        return existing_paths(os.path.join(base, name), own)
    try:
        with os.scandir(base) as entries:
            found = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except PermissionError:
        found = [base]
    except OSError:
        found = []
    return [*found, *existing_paths(own)]


def read_claude_code(path: str, troubles: list[ReadTrouble]) -> Iterator[FoundItem]:
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


def read_claude_memories(path: str, troubles: list[ReadTrouble]) -> Iterator[FoundItem]:
    """Yield the memories of a file or a folder of Claude Code, without its turns."""
    if os.path.isfile(path):
        yield from read_claude_code(path, troubles) if not path.endswith(".jsonl") else ()
        return
    for folder in _project_folders(path, troubles):
        yield from read_folder_memories(folder, troubles)


def claude_code_session_folders(path: str) -> Iterator[str]:
    """Yield an empty text for each transcript of a project's folder; only their names are looked at."""
    for _ in list_transcripts(path, []):
        yield ""


def claude_memory_folder(folder: str) -> str:
    """Return where the memories of a project's folder are: `memory` in it, or itself."""
    inner = os.path.join(folder, "memory")
    return inner if os.path.isdir(inner) and not os.path.isfile(os.path.join(folder, MEMORY_INDEX)) else folder


def project_working_folder(folder: str) -> str:
    """Return the working folder that the transcripts of a project's folder name; empty if none does."""
    place = os.path.dirname(folder) if os.path.basename(folder) == "memory" else folder
    for path in list_transcripts(place, []):
        for number, value in read_json_lines(path, []):
            if isinstance(cwd := value.get("cwd"), str) and cwd:
                return cwd
            if number > SEARCHED_LINES:
                break
    return ""


def list_transcripts(folder: str, troubles: list[ReadTrouble]) -> list[str]:
    """List the transcripts in a project's folder, without those of sub-agents."""
    return [os.path.join(folder, name) for name in _list_names(folder, troubles) if name.endswith(".jsonl")]


def _list_names(folder: str, troubles: list[ReadTrouble]) -> list[str]:
    """List the names in a folder; note a trouble if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        note_unreadable(troubles, folder, error)
        return []


def _project_folders(path: str, troubles: list[ReadTrouble]) -> list[str]:
    """Return the project folders at a path: itself, or the folders below `projects`."""
    inner = os.path.join(path, "projects")
    base = inner if os.path.isdir(inner) else path
    if os.path.basename(base) != "projects":
        return [base]
    return [place for name in _list_names(base, troubles) if os.path.isdir(place := os.path.join(base, name))]


def read_folder_memories(folder: str, troubles: list[ReadTrouble]) -> Iterator[FoundMemory | FoundDocument]:
    """Yield the memories of a project's folder, without reading its transcripts beyond the working folder."""
    project = None
    for path in files_below(claude_memory_folder(folder), ".md", troubles):
        project = project_working_folder(folder) if project is None else project
        yield from _read_memory_file(path, project, troubles)


def _read_memory_file(path: str, project: str, troubles: list[ReadTrouble]) -> Iterator[FoundMemory | FoundDocument]:
    """Yield the memories of one Markdown file."""
    text = read_text_file(path, troubles)
    if text is not None:
        yield from (_index_memories if os.path.basename(path) == MEMORY_INDEX else _file_memory)(path, project, text)


def _index_memories(path: str, project: str, text: str) -> Iterator[FoundMemory | FoundDocument]:
    """Yield what an index says itself: older versions wrote everything into it, and people still do."""
    _, body, above = parse_front_matter(text)
    for one in parse_bullets(body, above + 1):
        if not _INDEX_ENTRY.search(one.text) and not is_unfilled(one.text):
            tags = (one.heading,) if one.heading else ()
            yield FoundMemory(
                one.text, path, one.line, one.last, project=project, created=modification_time(path), tags=tags
            )
    if prose_paragraphs(body):
        yield FoundDocument(path, body.strip())


def _file_memory(path: str, project: str, text: str) -> Iterator[FoundMemory]:
    """Yield the memory that a file is: a fact, or a decision if it gives a reason."""
    head, body, above = parse_front_matter(text)
    said = body.strip()
    if not said:
        return
    inner = head.get("metadata")
    about = {**head, **inner} if isinstance(inner, dict) else head
    kind = stripped_text(about.get("type"))
    first = above + 1 + body[: body.index(said[0])].count("\n")
    why = _REASON.search(said) if kind == "project" else None
    title = stripped_text(head.get("description")) or stripped_text(head.get("name"))
    decision = None
    if why is not None and title:
        chosen = _REASON.sub("", said).strip()
        decision = FoundDecision(chosen or title, (), why["why"].strip())
    yield FoundMemory(
        text=title if decision else said,
        path=path,
        line=first,
        last=first + said.count("\n"),
        session=stripped_text(about.get("originSessionId")),
        project=project,
        created=parse_foreign_time(stripped_text(about.get("modified"))) or modification_time(path),
        domain=CLAUDE_CODE_DOMAINS.get(kind, "general"),
        decision=decision,
    )


def _transcript_turns(path: str, troubles: list[ReadTrouble]) -> Iterator[FoundTurn]:
    """Yield the turns of a transcript, without those of its tools."""
    for number, value in read_json_lines(path, troubles):
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


CLAUDE_CODE_SOURCE = MemorySource(
    "claude-code", "Claude Code", detect_claude_code, read_claude_code, claude_code_session_folders
)
