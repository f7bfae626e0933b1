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

from store.ingest import claude
from store.ingest.parsed_line import Broken
from store.sources.files import existing, fail, files_below, json_lines, modified, read_text, text_of
from store.sources.markdown_text import bullets, front_matter, prose, unfilled
from store.sources.moments import utc
from store.sources.source import Found, FoundDecision, FoundDocument, FoundMemory, FoundTurn, Machine, Source, Trouble

INDEX = "MEMORY.md"
DOMAINS = {"user": "personal", "feedback": "preferences", "project": "projects", "reference": "work"}
_WHY = re.compile(r"^\*\*(?:Why|Por qué)\s*:?\s*\*\*\s*:?\s*(?P<why>.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"\]\([^()\s]+\.md(?:#[^()\s]*)?\)|\[\[[^\]\n]+\]\]")  # a link to another file
LOOKED = 200  # lines of a transcript in which the working folder is looked for


def projects(machine: Machine) -> str:
    """Return the folder with a folder for each project."""
    base = machine.environment.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.home, ".claude")
    return os.path.join(base, "projects")


def settings(machine: Machine) -> dict[str, object]:
    """Return the person's own settings, empty where there are none. A checkout's are never read: what it says may not
    lead to other places."""
    path = os.path.join(os.path.dirname(projects(machine)), "settings.json")
    try:
        if not os.path.isfile(path):  # a pipe would block for ever
            return {}
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def own_folder(machine: Machine) -> str:
    """Return the folder that the settings name for the memory of all projects; empty without one."""
    named = text_of(settings(machine).get("autoMemoryDirectory"))
    path = os.path.join(machine.home, named.removeprefix("~/")) if named.startswith("~/") else named
    if "\0" in path or not os.path.isabs(path) or os.path.realpath(path) in ("/", os.path.realpath(machine.home)):
        return ""
    return path


def detect(machine: Machine) -> list[str]:
    base, own = projects(machine), own_folder(machine)
    if machine.project:
        name = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(machine.project))
        return existing(os.path.join(base, name), own)
    try:
        with os.scandir(base) as entries:
            found = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except PermissionError:
        found = [base]
    except OSError:
        found = []
    return [*found, *existing(own)]


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if os.path.isfile(path):
        if path.endswith(".jsonl"):
            yield from _transcript(path, troubles)
        else:
            yield from _file(path, "", troubles)
        return
    for folder in _folders(path, troubles):
        yield from memories(folder, troubles)
        for file in transcripts(folder, troubles):
            yield from _transcript(file, troubles)


def read_memories(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    """Yield what `read` does, without what was said."""
    if os.path.isfile(path):
        yield from read(path, troubles) if not path.endswith(".jsonl") else ()
        return
    for folder in _folders(path, troubles):
        yield from memories(folder, troubles)


def conversations(path: str) -> Iterator[str]:
    """Yield nothing for each transcript of a project's folder: their names alone are looked at."""
    for _ in transcripts(path, []):
        yield ""


def memory_folder(folder: str) -> str:
    """Return where the memories of a project's folder are: `memory` in it, or itself."""
    inner = os.path.join(folder, "memory")
    return inner if os.path.isdir(inner) and not os.path.isfile(os.path.join(folder, INDEX)) else folder


def working_folder(folder: str) -> str:
    """Return the working folder that the transcripts of a project's folder name; empty if none does."""
    place = os.path.dirname(folder) if os.path.basename(folder) == "memory" else folder
    for path in transcripts(place, []):
        for number, value in json_lines(path, []):
            if isinstance(cwd := value.get("cwd"), str) and cwd:
                return cwd
            if number > LOOKED:
                break
    return ""


def transcripts(folder: str, troubles: list[Trouble]) -> list[str]:
    """List the transcripts in a project's folder, those of sub-agents aside."""
    return [os.path.join(folder, name) for name in _names(folder, troubles) if name.endswith(".jsonl")]


def _names(folder: str, troubles: list[Trouble]) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        fail(troubles, folder, error)
        return []


def _folders(path: str, troubles: list[Trouble]) -> list[str]:
    """Return the project folders in a path: itself, or those below `projects`."""
    inner = os.path.join(path, "projects")
    base = inner if os.path.isdir(inner) else path
    if os.path.basename(base) != "projects":
        return [base]
    return [place for name in _names(base, troubles) if os.path.isdir(place := os.path.join(base, name))]


def memories(folder: str, troubles: list[Trouble]) -> Iterator[FoundMemory | FoundDocument]:
    """Yield the memories of a project's folder, without reading its transcripts beyond the working folder."""
    project = None
    for path in files_below(memory_folder(folder), ".md", troubles):
        project = working_folder(folder) if project is None else project
        yield from _file(path, project, troubles)


def _file(path: str, project: str, troubles: list[Trouble]) -> Iterator[FoundMemory | FoundDocument]:
    text = read_text(path, troubles)
    if text is not None:
        yield from (_index if os.path.basename(path) == INDEX else _memory)(path, project, text)


def _index(path: str, project: str, text: str) -> Iterator[FoundMemory | FoundDocument]:
    """Yield what an index says itself: older versions wrote everything into it, and people still do."""
    _, body, above = front_matter(text)
    for one in bullets(body, above + 1):
        if not _ENTRY.search(one.text) and not unfilled(one.text):
            tags = (one.heading,) if one.heading else ()
            yield FoundMemory(one.text, path, one.line, one.last, project=project, created=modified(path), tags=tags)
    if prose(body):
        yield FoundDocument(path, body.strip())


def _memory(path: str, project: str, text: str) -> Iterator[FoundMemory]:
    head, body, above = front_matter(text)
    said = body.strip()
    if not said:
        return
    inner = head.get("metadata")
    about = {**head, **inner} if isinstance(inner, dict) else head
    kind = text_of(about.get("type"))
    first = above + 1 + body[: body.index(said[0])].count("\n")
    why = _WHY.search(said) if kind == "project" else None
    title = text_of(head.get("description")) or text_of(head.get("name"))
    decision = None
    if why is not None and title:
        chosen = _WHY.sub("", said).strip()
        decision = FoundDecision(chosen or title, (), why["why"].strip())
    yield FoundMemory(
        text=title if decision else said,
        path=path,
        line=first,
        last=first + said.count("\n"),
        session=text_of(about.get("originSessionId")),
        project=project,
        created=utc(text_of(about.get("modified"))) or modified(path),
        domain=DOMAINS.get(kind, "general"),
        decision=decision,
    )


def _transcript(path: str, troubles: list[Trouble]) -> Iterator[FoundTurn]:
    for number, value in json_lines(path, troubles):
        if not claude.is_claude(value):
            continue
        try:
            turns = claude.read(value)
        except Broken as error:
            troubles.append(Trouble(path, number, str(error)))
            continue
        for turn in turns:
            if not turn.kind:
                yield FoundTurn(turn.session, turn.role, turn.text, path, number, turn.at, turn.id, turn.cwd)


CLAUDE_CODE = Source("claude-code", "Claude Code", detect, read, conversations)
