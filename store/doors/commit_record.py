"""A commit that was just made: in the timeline at once, and if it was made here, linked to the decisions that its
message names."""

import re
import sys
from collections.abc import Sequence

from store.base.citations import SHORT_SHA, cite
from store.config.configuration import captures
from store.git import refs
from store.git.process import GitError
from store.git.process import run as git
from store.git.repository import Repository
from store.memory import Memory
from store.records import decision_mentions
from store.records.timeline import commits
from store.records.timeline.iterations import joined

LARGEST = 1_000_000  # bytes of a message


def of_git(memory: Memory, root: str, words: list[str]) -> None:
    """Do what a hook of git asks for: `memoranda hook git post-commit`, or `commit-msg FILE`. Print nothing but, before
    a commit, that a decision which its message names does not exist."""
    if words[0] == "post-commit":
        record_head(memory, root, "hook:git")
    elif words[0] == "commit-msg" and len(words) > 1:
        for number in missing_decisions(memory, words[1]):
            print(f"memoranda: there is no decision {cite('decision', number)} here.", file=sys.stderr)


def record_head(memory: Memory, root: str, actor: str) -> str:
    """Keep the commit that HEAD is, and what its message says that it implements: its citation, empty if it was known
    or is not to be kept."""
    if not captures(memory.config, "commits"):
        return ""
    try:
        with git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") as child:
            shas = child.words(lambda: False, accepted=(0, 1))
    except GitError:
        return ""
    return cite("commit", shas[0][:SHORT_SHA]) if shas and record(memory, root, shas[0], actor) else ""


def record(
    memory: Memory,
    root: str,
    sha: str,
    actor: str,
    decisions: Sequence[int] = (),
    iteration_id: int | None = None,
) -> bool:
    """Keep a commit that git has at `root`, by its whole hash, as git tells it, in the iteration of its time or the one
    named; that it implements these `decisions` and, if it was made here, those that its message names. Return False
    where it is known, or git has none. Raise NotFound."""
    if commits.known(memory.database, [sha]):
        return False
    try:
        found = list(Repository(root).read([sha]))
    except GitError:
        return False
    for info in found:
        with memory.database.write(actor, "git") as write:
            named = None if iteration_id is None else joined(write, iteration_id)
            size = info.files_changed, info.insertions, info.deletions
            about = info.message, info.author, *size, info.committed_at
            if not commits.add(write, info.sha, *about, iteration=named):
                return False
            if captures(memory.config, "decisions"):
                here = refs.made_here(root)
                here = here if info.sha in here else refs.made_here(root, branches=True)
                decision_mentions.link(write, found, here)
            if decisions:
                commits.implement(write, info.sha, decisions)
        return True
    return False


def missing_decisions(memory: Memory, path: str) -> list[int]:
    """Return the numbers of decisions that a commit's message names and that are not there."""
    try:
        with open(path, "rb") as file:
            message = file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return []
    message = re.split(r"(?m)^\S+ -{24} >8 -{24}\s*$", message, maxsplit=1)[0]  # below is what `commit -v` shows
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    named = decision_mentions.mentioned("\n".join(lines), {})
    return sorted(number for number in named if not memory.decisions.many([number]))
