"""What an empty list is waiting for: what is missing in this memory, and what brings it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tui.input.key_table import CHECKPOINTS, CONTEXT, FACTS, HISTORY, INBOX, TASKS, TIMELINE
from tui.lists.view_state import with_keys

if TYPE_CHECKING:
    from store.memory import Memory
    from tui.render.field_diff import Line

Counts = Mapping[str, int]

COUNTS = {
    "facts": "SELECT count(*) FROM (SELECT 1 FROM facts WHERE status = 'active' LIMIT 2)",
    "gone": "SELECT count(*) FROM facts WHERE status != 'active'",
    "waiting": "SELECT count(*) FROM proposals WHERE state = 'waiting'",
    "commits": "SELECT count(*) FROM commits",
    "steps": "SELECT count(*) FROM (SELECT 1 FROM history LIMIT 1)",
    "done": "SELECT count(*) FROM tasks WHERE status = 'done'",
    "agents": "SELECT count(*) FROM (SELECT 1 FROM agent_sessions LIMIT 1)",
    "turns": "SELECT count(*) FROM (SELECT 1 FROM turns LIMIT 1)",
}
READ = "Commits read from git: {commits}. {pane.timeline} shows them, {librarian.ask} answers questions about them."
CONNECT = "No agent is connected yet: :connect NAME lets one remember here. :connect lists them."
# pane → (whether it is so, the sentence), of which those that are so are shown
TABLE: Mapping[str, Sequence[tuple[Callable[[Counts], int | bool], str]]] = {
    FACTS: (
        (lambda n: n["waiting"], "{waiting} proposed and waiting for you: {pane.inbox} goes to the inbox."),
        (lambda n: n["gone"], "{gone} replaced or forgotten: {list.hidden} shows them."),
        (lambda n: not n["agents"], CONNECT),
        (lambda n: not n["turns"], "No conversation was read yet: :ingest FILE reads one, and proposes what it says."),
        (lambda n: True, "Another tool's memory can be brought in: :import NAME; :import lists what is found."),
    ),
    TIMELINE: (
        (lambda n: not n["commits"], "There are no commits: in a git repository they stand here by day, on their own."),
        (lambda n: True, "A decision (Decision: D#1 in a commit's message) is linked with its commits."),
    ),
    CHECKPOINTS: (
        (lambda n: not n["steps"], "Nothing was changed yet, so there is nothing to go back to."),
        (lambda n: n["steps"], "One is taken by itself before a change of many records, and as time goes on."),
    ),
    HISTORY: ((lambda n: True, "Remember a fact ({pane.facts}, then {record.add}), and the change is here."),),
    TASKS: (
        (lambda n: n["done"], "{done} done: {list.hidden} shows them."),
        (lambda n: not n["agents"], CONNECT),
    ),
    INBOX: (
        (lambda n: not n["agents"], CONNECT),
        (lambda n: not n["turns"], "No conversation was read yet: :ingest FILE reads one, and proposes what it says."),
        (lambda n: n["facts"] < 2, "With two facts or more, {inbox.duplicates} looks for those that say the same."),
    ),
    CONTEXT: (
        (lambda n: not n["facts"], "There are no facts, so nothing would be sent: {pane.facts}, then {record.add}."),
        (lambda n: not n["agents"], CONNECT),
    ),
}


def missing(memory: Memory, pane: str) -> list[Line]:
    """Return what an empty list teaches; nothing for a list that says it all itself. Takes a few counts."""
    counts = {name: memory.database.value(query) for name, query in COUNTS.items()} if pane in TABLE else {}
    read: list[Line] = []
    if pane == FACTS and counts["commits"]:
        read = [[(with_keys(READ.replace("{commits}", f"{counts['commits']:,}")), "")], []]
    lines: list[Line] = []
    for holds, sentence in TABLE.get(pane, ()):
        if holds(counts):
            for name in ("waiting", "gone", "done"):
                number = counts[name]
                sentence = sentence.replace(f"{{{name}}}", f"{number:,} {'is' if number == 1 else 'are'}")
            lines += [[("· ", "label"), (with_keys(sentence), "")], []]
    return [*read, [("What is missing", "heading")], [], *lines] if lines else []
