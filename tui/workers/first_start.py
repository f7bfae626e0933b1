"""The first start, as a ledger: what was found on this machine, what was done, and what is worth doing next."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple

from store.base.runtime import find_extension
from store.base.vocabulary import SOURCE_PARTS
from store.memory import Memory
from store.text.display import format_count
from store.upkeep.optional import ForeignMemories, ToolCount
from tui.input.key_table import key_name

MEMORY_MD = "MEMORY.md"
AGENT_DOCUMENTS = (MEMORY_MD, "CLAUDE.md", "AGENTS.md")
KNOWN_AGENTS = {
    "claude-code": (".claude", "Claude Code"), "codex": (".codex", "Codex"), "gemini": (".gemini", "Gemini CLI"),
    "opencode": (".config/opencode", "OpenCode"),
}  # fmt: skip
# records of a tool that are counted; more of them are “5,000 and more”
MOST_COUNTED = 5_000
MOST_OFFERS = 3
COMMITS_OFF = "commits are not read: the setting capture_commits is off"
NONE_READ = "; none was read"
MEMORIES_PART, _ = SOURCE_PARTS


class StartOffer(NamedTuple):
    """Something worth doing: its key, and what it is. `lines` are the words of commands, run one after another; with
    `asks` a text is asked for first, which is the last word. With `agents` the conversations that these keep are read
    instead."""

    key: str
    says: str
    lines: tuple[tuple[str, ...], ...]
    asks: str = ""
    agents: tuple[str, ...] = ()


class Ledger(NamedTuple):
    """Whose memory it is, what a first start found and did, a sentence each, and what it offers."""

    title: str
    found: tuple[str, ...]
    did: tuple[str, ...]
    offers: tuple[StartOffer, ...]


def read_ledger(memory: Memory, cwd: str) -> Ledger:
    """Look at what there is; for a worker thread, since other tools' memories may be long. No conversation is read."""
    project = memory.location.project
    commits, links = (
        memory.database.value(f"SELECT count(*) FROM {table}") for table in ("commits", "commit_links")
    )
    found, offers = [], []
    did = [f"Started a memory: {memory.location.path}, private{', and git ignores it' if project else ''}."]
    if commits:
        linked = f", with {format_count(links, 'link')} to decisions" if links else ""
        found.append(f"{format_count(commits, 'commit')} in git")
        shows, asks = f"{key_name('pane.timeline')} shows", f"{key_name('pane.ask')} asks"
        did.append(
            f"Read {format_count(commits, 'commit')} from git{linked}; {shows} them by day, {asks} about them."
        )
    else:
        found.append(_no_commits(project or cwd) if memory.config["capture_commits"] else COMMITS_OFF)
    extra = memory.config["documents.extraPaths"]
    for name in AGENT_DOCUMENTS:
        if size := _count_lines(os.path.join(project or cwd, name)):
            searched = name == MEMORY_MD or name in extra
            told = "and is searched" if searched else "for the agents that read it; it is not searched"
            found.append(f"{name}, {format_count(size, 'line')}; it was left as it is, {told}")
    tools = find_extension("tools", ForeignMemories)
    if tools and (memories := tools.count_memories(memory, MOST_COUNTED)):
        found.append(f"memories that other tools keep on this project: {_listed_counts(memories)}")
        lines = tuple(("import", one.name, "--only", MEMORIES_PART, "--yes") for one in memories)
        offers.append(StartOffer("i", "bring them in; each waits in the inbox until you accept it", lines))
    if tools and (kept := tools.count_conversations(memory, MOST_COUNTED)):
        found.append(f"conversations that agents keep of this project: {_listed_counts(kept)}{NONE_READ}")
        says = "read the conversations, to find and quote them; nothing in them is obeyed"
        offers.append(StartOffer("r", says, (), agents=tuple(one.name for one in kept)))
    here = [(name, title) for name, (folder, title) in KNOWN_AGENTS.items() if os.path.isdir(_home_path(folder))]
    if here:
        name, title = here[0]
        found.append(
            f"{format_count(len(here), 'agent')} on this machine: {', '.join(title for _, title in here)}"
        )
        says = f"connect {title}, so that it is sent what holds here; seen first"
        offers.append(StartOffer("c", says, (("connect", name),)))
    offers.append(StartOffer(key_name("record.add"), "remember the first fact", (("remember", "--"),), "remember"))
    is_personal = memory.location.kind == "personal"
    title = "Your personal memory" if is_personal else f"A memory for {memory.location.display_name}"
    return Ledger(title, tuple(found), tuple(did), tuple(offers[:MOST_OFFERS]))


def _listed_counts(counts: list[ToolCount]) -> str:
    """Return what tools keep, one after another."""
    return ", ".join(f"{one.title} {one.number:,}{' and more' if one.more else ''}" for one in counts)


def _home_path(folder: str) -> str:
    """Return the path of a folder in the home directory."""
    return os.path.join(os.path.expanduser("~"), folder)


def _no_commits(folder: str) -> str:
    """Say why no commit was read."""
    if shutil.which("git") is None:
        return "no commits: git is not installed, so the timeline shows decisions and events alone"
    if os.path.exists(os.path.join(folder, ".git")):
        return "no commits yet: the timeline shows decisions and events until there are some"
    return "no commits: without git the timeline shows decisions and events alone"


def _count_lines(path: str) -> int:
    """Count the lines of a small text file; 0 if there is none."""
    try:
        if os.path.getsize(path) > 1 << 20:
            return 0
        with open(path, "rb") as file:
            return len(file.read().splitlines())
    except OSError:
        return 0
