"""The first start, as a ledger: what was found on this machine, what was done, and what is worth doing next."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.base.vocabulary import SOURCE_PARTS
from store.services.source_import import SourceImport, found_conversations, found_sources
from store.sources.registry import reader as source_reader
from tui.input.key_table import named
from tui.render.plurals import count

if TYPE_CHECKING:
    from store.memory import Memory

MEMORY = "MEMORY.md"
DOCUMENTS = (MEMORY, "CLAUDE.md", "AGENTS.md")
AGENTS = {
    "claude-code": (".claude", "Claude Code"), "codex": (".codex", "Codex"), "gemini": (".gemini", "Gemini CLI"),
    "opencode": (".config/opencode", "OpenCode"),
}  # fmt: skip
MOST = 5_000  # records of a tool that are counted; more of them are “5,000 and more”
OFFERS = 3
UNCAPTURED = "commits are not read: the setting capture_commits is off"
UNREAD = "; none was read"
MEMORIES, _ = SOURCE_PARTS


@dataclass(frozen=True, slots=True)
class StartOffer:
    """Something worth doing: its key, and what it is. `lines` are the words of commands, run one after another; with
    `asks` a text is asked for first, which is the last word. With `agents` the conversations that these keep are read
    instead."""

    key: str
    says: str
    lines: tuple[tuple[str, ...], ...]
    asks: str = ""
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """Whose memory it is, what a first start found and did, a sentence each, and what it offers."""

    title: str
    found: tuple[str, ...]
    did: tuple[str, ...]
    offers: tuple[StartOffer, ...]


class _Enough(Exception):
    """More was read than is counted."""


def read(memory: Memory, cwd: str) -> Ledger:
    """Look at what there is; for a worker thread, since other tools' memories may be long. No conversation is read."""
    project = memory.location.project
    commits, links = (memory.database.value(f"SELECT count(*) FROM {table}") for table in ("commits", "commit_links"))
    found, did, offers = [], [], []
    did.append(f"Started a memory: {memory.location.path}, private{', and git ignores it' if project else ''}.")
    if commits:
        linked = f", with {count(links, 'link')} to decisions" if links else ""
        found.append(f"{count(commits, 'commit')} in git")
        shows, asks = f"{named('pane.timeline')} shows", f"{named('librarian.ask')} asks"
        did.append(f"Read {count(commits, 'commit')} from git{linked}; {shows} them by day, {asks} about them.")
    else:
        found.append(_no_commits(project or cwd) if memory.config["capture_commits"] else UNCAPTURED)
    extra = memory.config["documents.extraPaths"]
    for name in DOCUMENTS:
        if size := _lines(os.path.join(project or cwd, name)):
            searched = name == MEMORY or name in extra
            told = "and is searched" if searched else "for the agents that read it; it is not searched"
            found.append(f"{name}, {count(size, 'line')}; it was left as it is, {told}")
    memories = _memories(memory)
    if memories:
        listed = ", ".join(f"{title} {number}" for _, title, number in memories)
        found.append(f"memories that other tools keep on this project: {listed}")
        lines = tuple(("import", name, "--only", MEMORIES, "--yes") for name, _, _ in memories)
        offers.append(StartOffer("i", "bring them in; each waits in the inbox until you accept it", lines))
    if kept := found_conversations(memory):
        listed = ", ".join(
            f"{source_reader(name).title} {number:,}{' and more' if number >= MOST else ''}"
            for name, number in kept.items()
        )
        found.append(f"conversations that agents keep of this project: {listed}{UNREAD}")
        says = "read the conversations, to find and quote them; nothing in them is obeyed"
        offers.append(StartOffer("r", says, (), agents=tuple(kept)))
    here = [(name, title) for name, (folder, title) in AGENTS.items() if os.path.isdir(_home(folder))]
    if here:
        name, title = here[0]
        found.append(f"{count(len(here), 'agent')} on this machine: {', '.join(title for _, title in here)}")
        says = f"connect {title}, so that it is sent what holds here; seen first"
        offers.append(StartOffer("c", says, (("connect", name),)))
    offers.append(StartOffer(named("record.add"), "remember the first fact", (("remember", "--"),), "remember"))
    title = "Your personal memory" if memory.location.kind == "personal" else f"A memory for {memory.location.name}"
    return Ledger(title, tuple(found), tuple(did), tuple(offers[:OFFERS]))


def _memories(memory: Memory) -> list[tuple[str, str, str]]:
    """Return (name, title, number of new memories) of the tools that keep some on this project."""
    found = []
    for name in found_sources(memory):
        read = 0

        def progress(done: int) -> None:
            nonlocal read
            read = done
            if done >= MOST:
                raise _Enough

        try:
            fresh = len(SourceImport(memory, name, only=MEMORIES).look(progress).fresh)
            number = f"{fresh:,}" if fresh else ""
        except _Enough:
            number = f"{read:,} and more"
        except MemorandaError:
            continue  # `import` says what is wrong with it
        if number:
            found.append((name, source_reader(name).title, number))
    return found


def _home(folder: str) -> str:
    return os.path.join(os.path.expanduser("~"), folder)


def _no_commits(folder: str) -> str:
    """Say why no commit was read."""
    if shutil.which("git") is None:
        return "no commits: git is not installed, so the timeline shows decisions and events alone"
    if os.path.exists(os.path.join(folder, ".git")):
        return "no commits yet: the timeline shows decisions and events until there are some"
    return "no commits: without git the timeline shows decisions and events alone"


def _lines(path: str) -> int:
    """Count the lines of a small text file; 0 if there is none."""
    try:
        if os.path.getsize(path) > 1 << 20:
            return 0
        with open(path, "rb") as file:
            return len(file.read().splitlines())
    except OSError:
        return 0
