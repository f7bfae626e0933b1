"""The closed lists of words that records use, and the letter in each kind's citation."""

from collections.abc import Iterable

# One integer for any record, made of its id and its kind. Lists, the corpus and the screen use it.
#
# `key = id * 16 + the kind's number`; the schema's views use the same numbers, so they can never be reassigned.

KIND_NUMBERS = {
    "fact": 0,
    "decision": 1,
    "commit": 2,
    "event": 3,
    "iteration": 4,
    "task": 5,
    "checkpoint": 6,
    "turn": 7,
    "document": 8,
    "summary": 9,
}
"""Of the kinds that are searched."""
# a global fact is searched in the memory that it is in
UNSEARCHED_KIND_NUMBERS = {"proposal": 10, "global": 11}
_ALL_KIND_NUMBERS = {**KIND_NUMBERS, **UNSEARCHED_KIND_NUMBERS}
_KIND_BY_NUMBER = {number: kind for kind, number in _ALL_KIND_NUMBERS.items()}


RECORD_KEY_MASK = (1 << 40) - 1
"""The bits of a passage's id that are the key of its record; the bits above count the passages of one text, from 0."""


def pack_key(kind: str, record_id: int) -> int:
    """Return the key of a record."""
    return record_id * 16 + _ALL_KIND_NUMBERS[kind]


def kind_of_key(key: int) -> str:
    """Return the kind of a key."""
    return _KIND_BY_NUMBER[key % 16]


def unpack_key(key: int) -> tuple[str, int]:
    """Return (kind, id) of a key."""
    return _KIND_BY_NUMBER[key % 16], key // 16


def group_by_kind(keys: Iterable[int]) -> dict[str, list[int]]:
    """Return the ids of these keys by kind."""
    found: dict[str, list[int]] = {}
    for key in keys:
        found.setdefault(_KIND_BY_NUMBER[key % 16], []).append(key // 16)
    return found


DOMAINS = ("work", "preferences", "decisions", "personal", "projects", "general", "self_correction")
CONFIDENCES = ("high", "medium", "low")
FACT_SOURCES = ("explicit", "inferred")
SCOPES = ("project", "session", "global")
FACT_STATUSES = ("active", "superseded", "contradicted", "forgotten")
DECISION_STATUSES = ("active", "superseded", "forgotten")
IMPACTS = ("low", "medium", "high", "critical")
TASK_STATUSES = ("pending", "in_progress", "done")
# as they are shown
TASK_STATUS_LABELS = {"pending": "open", "in_progress": "in progress", "done": "done"}
PROPOSAL_KINDS = ("add", "correct", "confirm", "supersede", "merge", "forget", "conflict")
PROPOSAL_STATES = ("waiting", "accepted", "rejected")
LINK_TYPES = ("implements", "reverts", "relates")
DOORS = ("app", "cli", "mcp", "hook", "worker")
TIMELINE_KINDS = ("decision", "commit", "event", "iteration", "checkpoint", "summary")
KIND_BY_TABLE = {
    "facts": "fact",
    "decisions": "decision",
    "commit_links": "link",
    "tasks": "task",
    "mutes": "mute",
    "proposals": "proposal",
    "iterations": "iteration",
    "commits": "commit",
    "events": "event",
    "checkpoints": "checkpoint",
    "turns": "turn",
    "summaries": "summary",
}
"""The kind of the rows of a table."""
# kinds of record
PURGEABLE_KINDS = ("fact", "decision", "task", "turn", "event", "summary", "proposal")
CHECKPOINT_LEVELS = ("micro", "meso", "macro", "archival")
# triggers of automatic checkpoints
AUTOMATIC_TRIGGERS = ("interval", "usage", "session_end")
FACT_ORDERS = ("oldest", "newest", "domain", "text", "state")
# tools whose memories can be brought in (store/tools/source_import.py)
SOURCE_NAMES = (
    *("claude-code", "codex", "gemini", "opencode", "openclaw", "engram", "claude-mem", "basic-memory"),
    *("mcp-memory-service", "mem0", "server-memory", "okf", "markdown", "obsidian"),
)
# that can be brought in apart
SOURCE_PARTS = ("memories", "conversations")
# whose memories are edited in place
GUEST_TOOLS = ("claude-code", "basic-memory", "openclaw", "engram")
# of what a record is bound to, the worse the later
EVIDENCE_STATES = ("", "holds", "moved", "changed", "gone")
# of a folder with a file for each record
EXPORT_FORMS = ("claude-code", "okf")
# the only origin that is a person
PERSON_ORIGIN = "user"
# the origin of what somebody wrote into a file that is kept in sync
FILE_ORIGIN = "file"
# who answers where no model does
RULES_ORIGIN = "rules"
# followed by its name: the origin of what a model proposed or summarised
MODEL_ORIGIN_PREFIX = "model:"
# followed by the session: the origin of what was learned from a conversation
TALK_ORIGIN_PREFIX = "talk:"

CITATION_LETTERS = {
    "fact": "F",
    "global": "G",
    "decision": "D",
    "commit": "C",
    "iteration": "I",
    "event": "E",
    "summary": "S",
    "turn": "T",
    "checkpoint": "K",
    "task": "A",
    "proposal": "P",
}
SEARCHABLE = (
    "fact",
    "decision",
    "commit",
    "event",
    "iteration",
    "task",
    "checkpoint",
    "turn",
    "summary",
    "document",
)
TURN_ROLES = ("user", "assistant")
