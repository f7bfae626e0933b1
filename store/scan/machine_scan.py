"""The scan: every memory of every tool on this machine, and what is wrong with it."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace

from store.base.clock import days_before, to_ms
from store.ingest.plain import fenced
from store.scan import layers, transcripts
from store.scan.pairs import pairs
from store.scan.references import missing
from store.scan.report import (
    BLEED,
    CONVERSATION,
    DEAD_LINK,
    DOCUMENT,
    INSTRUCTION,
    MEMORY,
    OLD_DAYS,
    SECRET,
    ProjectStart,
    ScanFinding,
    ScanReport,
    SourceInventory,
)
from store.scan.secrets import surely
from store.sources import registry
from store.sources.files import read_text
from store.sources.readers import claude_code
from store.sources.readers.markdown import noted
from store.sources.source import FoundDocument, FoundMemory, FoundTurn, Machine, Trouble
from store.text.prompt_injection import orders

CONVERSATIONS = ("codex", "gemini")  # that keep nothing else, and in files
NOTES = ("obsidian", "markdown")
MOST_PROJECTS = 40  # whose instruction files are listed
START_DAYS = 30
AGENT_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "MEMORY.md", "USER.md")
SHOWN = 300  # characters of a memory in a list
_LINK = re.compile(r"\]\((?P<target>[^()\s]+\.md)\)")

Progress = Callable[[str, int, int], None]


def _quiet(what: str, done: int, total: int) -> None:
    """Report no progress."""


def scan(
    machine: Machine,
    now: str,
    folder: str = "",
    named: Sequence[str] = (),
    progress: Progress = _quiet,
    first: Callable[[ScanReport], None] = lambda report: None,
    search_transcripts: bool = True,
) -> ScanReport:
    """Scan this machine: what lies in the tools' default places and in the folders `named`; `folder` is the one whose
    instruction files are listed first. `first` is called with the report before the transcripts are searched."""
    report = ScanReport()
    found = registry.detected(machine)
    memories: list[FoundMemory] = []
    spoken: list[str] = []
    for name, places in found.items():
        progress(registry.reader(name).title, 0, 0)
        unread: list[Trouble] = []
        spoken_here = name in (*CONVERSATIONS, "claude-code")
        files = transcripts.conversations(name, places, unread) if spoken_here else []
        spoken += files
        memories += _taken(report, name, places, files, now, search_transcripts, unread)
    there = {(one.path, one.line) for one in memories}
    notes: list[FoundMemory] = []
    for name in NOTES:
        if places := [place for place in named if (name == "obsidian") == _is_vault(place)]:
            notes += _taken(report, name, places, [], now)
    notes = [one for one in notes if (one.path, one.line) not in there]  # a named folder may be that of a tool
    memories += notes
    claude = found.get("claude-code", [])
    report.findings += pairs(memories, {one.path for one in notes if not _for_agents(one.path)})
    moment = to_ms(now) / 1000
    report.starts = _starts(machine, folder, claude, moment)
    loaded = list(_loaded(report))
    report.findings += missing([*memories, *loaded])
    markdown = _files(report, memories) | {one.path for one in loaded}
    report.findings += _in_texts(memories, markdown)
    report.findings += _in_files(markdown, _documents(report))
    for place in claude:
        report.findings += _dead_links(place)
    report.findings += _bleed(claude, memories)
    report.findings += transcripts.expiring(claude, transcripts.kept_days(machine), moment)
    first(report)
    if search_transcripts:
        report.findings += transcripts.secrets(spoken, lambda done, total: progress("transcripts", done, total))
        report.transcripts = True
    return report


def _for_agents(path: str) -> bool:
    """Return whether agents are given a file, so that its texts are facts and not a part of a document."""
    return os.path.basename(path) in AGENT_FILES


def _is_vault(place: str) -> bool:
    return os.path.isdir(os.path.join(place, ".obsidian"))


def _taken(
    report: ScanReport,
    name: str,
    places: Sequence[str],
    files: Sequence[str],
    now: str,
    search: bool = True,
    unread: Sequence[Trouble] = (),
) -> list[FoundMemory]:
    """Read the memories of one tool, and note what there is of it; `search` what was said in its database for secrets
    too."""
    reader = registry.reader(name)
    memories: list[FoundMemory] = []
    documents, said = set[str](), set[str]()
    troubles: list[Trouble] = [*unread]
    told: transcripts.Told = {}
    for place in places if name not in CONVERSATIONS else ():
        for one in claude_code.memories(place, troubles) if name == "claude-code" else reader.read(place, troubles):
            if isinstance(one, FoundMemory):
                memories.append(one)
            elif isinstance(one, FoundDocument):
                documents.add(one.path)
            elif isinstance(one, FoundTurn):
                said.add(one.session)
                if search:
                    transcripts.note(one, told)
    report.kept.setdefault(name, []).extend(
        (
            *(ScanFinding(MEMORY, one.path, max(1, one.line), one.text[:SHOWN]) for one in memories),
            *(ScanFinding(DOCUMENT, path, 1, "") for path in sorted(documents)),
            *(ScanFinding(CONVERSATION, path, 1, "") for path in sorted(files, key=_changed, reverse=True)),
        )
    )
    dated = sorted(one.created for one in memories if one.created)
    border = days_before(now, OLD_DAYS)
    report.troubles += troubles
    report.findings += transcripts.found_in(told)
    report.sources.append(
        SourceInventory(
            source=name,
            title=reader.title,
            places=tuple(places),
            memories=len(memories),
            documents=len(documents),
            conversations=len(files) or len(said),
            bytes=sum(os.path.getsize(path) for path in files if os.path.isfile(path)),
            unread=len(troubles),
            oldest=dated[0] if dated else "",
            newest=dated[-1] if dated else "",
            old=sum(one < border for one in dated),
        )
    )
    return memories


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _in_texts(memories: Sequence[FoundMemory], files: Set[str] = frozenset()) -> list[ScanFinding]:
    """Return secrets in clear, except in these files, and texts that try to instruct an agent."""
    found = []
    for one in memories:
        text = one.text if one.decision is None else f"{one.text}\n{one.decision.chosen}\n{one.decision.rationale}"
        labels = dict.fromkeys(secret.label for secret in surely(text)) if one.path not in files else ()
        found += [ScanFinding(SECRET, one.path, one.line, label) for label in labels]
        if orders(text):
            found.append(ScanFinding(INSTRUCTION, one.path, one.line, "it looks like an instruction to agents"))
    return found


def _files(report: ScanReport, memories: Sequence[FoundMemory]) -> set[str]:
    """Return the files of Markdown that hold memories or prose: a key may stand in a table, or in a log of the day."""
    kept = {one.path for several in report.kept.values() for one in several if one.kind == DOCUMENT}
    return kept | {one.path for one in memories if one.path.lower().endswith(".md")}


def _loaded(report: ScanReport) -> Iterator[FoundMemory]:
    """Yield the bullets of the instruction files of the projects: what they name is looked for like what a memory
    names. Also of those in a named folder, as notes are of no project."""
    tools = (kept for name, kept in report.kept.items() if name not in NOTES)
    known = {one.path for kept in tools for one in kept if one.kind in (MEMORY, DOCUMENT)}
    for start in report.starts:
        for path in dict.fromkeys(layer.path for layer in start.layers):
            if path not in known and _within(path, os.path.realpath(start.folder)):
                known.add(path)
                for one in noted(path, read_text(path, []) or ""):
                    if isinstance(one, FoundMemory):
                        yield replace(one, project=start.folder)


def _documents(report: ScanReport) -> set[str]:
    """Return the files that are notes and documents alone: no tool's memory, and not given to agents."""
    files = {name: {one.path for one in kept} for name, kept in report.kept.items()}
    notes = set().union(*(files.pop(name, set()) for name in NOTES))
    return {path for path in notes.difference(*files.values()) if not _for_agents(path)}


def _in_files(paths: Iterable[str], documents: Set[str] = frozenset()) -> list[ScanFinding]:
    """Return the secrets in clear in files, each kind once a line. In code of `documents` a password is an example, and
    only what a service issued counts."""
    from store.redaction.rules.families import load_token_families

    issued = {family.label for family in load_token_families()} - {"CONNECTION_STRING"}
    found: dict[ScanFinding, None] = {}
    for path in sorted(paths):
        text = read_text(path, []) or ""
        secrets = list(surely(text))
        code = _code(text) if secrets and path in documents else frozenset()
        for secret in secrets:
            line = text.count("\n", 0, secret.start) + 1
            if line not in code or secret.label in issued:
                found[ScanFinding(SECRET, path, line, secret.label)] = None
    return list(found)


def _code(text: str) -> frozenset[int]:
    """Return the numbers of the lines in fenced code."""
    fence, lines = "", set[int]()
    for number, line in enumerate(text.split("\n"), 1):
        before, fence = fence, fenced(line, fence)
        if before or fence:
            lines.add(number)
    return frozenset(lines)


def _dead_links(place: str) -> list[ScanFinding]:
    """Return the links of an index of Claude Code's memory to files that are gone."""
    folder = claude_code.memory_folder(place)
    path = os.path.join(folder, claude_code.INDEX)
    text = read_text(path, []) if os.path.isfile(path) else None
    return [
        ScanFinding(DEAD_LINK, path, number, f"{link} does not exist")
        for number, line in enumerate((text or "").split("\n"), 1)
        for link in _LINK.findall(line)
        if "://" not in link and not os.path.exists(os.path.join(folder, link))
    ]


def _bleed(claude: Sequence[str], memories: Sequence[FoundMemory]) -> list[ScanFinding]:
    """Return memories of one project that lie under another: written in a session of the other, or about a file of
    it."""
    sessions = {
        os.path.basename(path).removesuffix(".jsonl"): place
        for place in claude
        for path in claude_code.transcripts(place, [])
    }
    folders = {place: folder for place in claude if (folder := claude_code.working_folder(place))}
    names = sorted({one.project for one in memories if os.path.isabs(one.project)} | set(folders.values()))
    found = []
    for one in memories:
        place = os.path.dirname(os.path.dirname(one.path))
        home = sessions.get(one.session, place)
        if place in claude and home != place:
            says = f"it was written in a session of {folders.get(home, home)}"
            found.append(ScanFinding(BLEED, one.path, one.line, says))
            continue
        if not os.path.isabs(one.project):
            continue
        for name in names:
            if name not in one.text or _within(name, one.project) or _within(one.project, name):
                continue
            if re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])", one.text):
                says = f"it lies under {one.project} and is about {name}"
                found.append(ScanFinding(BLEED, one.path, one.line, says))
                break
    return found


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _starts(machine: Machine, folder: str, claude: Sequence[str], moment: float) -> list[ProjectStart]:
    """Return what a start loads in the folder that was named and in the projects of Claude Code."""
    counts: dict[str, int] = {}
    for place in claude:
        project = claude_code.working_folder(place)
        if project and os.path.isdir(project):
            files = (path for path in claude_code.transcripts(place, []) if os.path.isfile(path))
            recent = sum(moment - os.path.getmtime(path) < START_DAYS * transcripts.DAY for path in files)
            counts[project] = counts.get(project, 0) + recent
    chosen = list(dict.fromkeys([*([folder] if folder else []), *sorted(counts, key=lambda one: -counts[one])]))
    made = (ProjectStart(one, tuple(layers.layers(machine, one)), counts.get(one, 0)) for one in chosen[:MOST_PROJECTS])
    return [one for one in made if one.layers]
