"""The records, frozen. Times are text (see `clock`), lists are tuples, `citation` is how each is cited.

Imported where records are read, never by the modules that only write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from store.base.citations import Citation, cite
from store.base.vocabulary import AUTOMATIC_TRIGGERS

# characters of a line from which on the next may be the rest of it
MIN_WRAPPED_LENGTH = 50
# of a subject
MAX_SUBJECT_LINES = 3
# characters of a commit in a list
MAX_HEADLINE = 200
_PARAGRAPH_END = r"\n[ \t\r]*\n"
# begins a line that is none: of a list, a trailer
_LIST_OR_TRAILER = r"\s*(?:[-*+•]\s|\d+[.)]\s|[\w-]+:\s)"


# the first that a record has
_TIME_FIELDS = ("created_at", "decided_at", "committed_at", "started_at", "at")
# of the records that have no field `text`
_TEXT_FIELDS = {
    "Fact": ("fact",),
    "GlobalFact": ("fact",),
    "Decision": ("title", "chosen"),
    "Commit": ("message",),
    "Iteration": ("command", "description"),
    "Event": ("event_type", "phase"),
    "Checkpoint": ("title",),
    "Step": ("reason",),
    "Summary": ("prompt_line",),
}


class DatedRecord:
    """A record that has a time."""

    __slots__ = ()

    @property
    def created(self) -> datetime:
        """When it came to be, in the time zone of this machine."""
        held = getattr(self, "own", self)
        stored: str = next(getattr(held, name) for name in _TIME_FIELDS if hasattr(held, name))
        return datetime.fromisoformat(stored).astimezone()


class WordedRecord:
    """A record whose text is that of its fields."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """What it says, in short."""
        return ": ".join(filter(None, (getattr(self, name) for name in _TEXT_FIELDS[type(self).__name__])))


@dataclass(frozen=True, slots=True)
class CitedRecord(DatedRecord):
    """A record that is cited by its number, as the kind that its class is named after. `branch` is the one on which it
    was made, empty if that is not known, and `branch_note` says so where it is not the current one."""

    id: int
    branch: str = field(default="", kw_only=True)
    branch_note: str = field(default="", kw_only=True, compare=False, repr=False)

    @property
    def citation(self) -> str:
        return cite(type(self).__name__.lower(), self.id)


@dataclass(frozen=True, slots=True)
class Fact(CitedRecord, WordedRecord):
    """Something that is true of the person or the project until it ages, is corrected or forgotten."""

    domain: str
    fact: str
    confidence: str
    source: str
    scope: str
    status: str
    supersedes: int | None
    created_at: str
    last_confirmed_at: str
    importance: float
    pinned: bool
    origin: str
    evidence: tuple[str, ...]
    tags: tuple[str, ...]
    # that a fact of scope `session` belongs to
    session: str = ""
    # the worst of what it is bound to, as it was last seen
    evidence_state: str = ""
    # whether the call that returns it stored it
    is_new: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GlobalFact(DatedRecord, WordedRecord):
    """A fact of the person's own memory, as a project shows it: `own` is what it is there."""

    own: Fact

    @property
    def id(self) -> int:
        return self.own.id

    @property
    def fact(self) -> str:
        return self.own.fact

    @property
    def is_new(self) -> bool:
        return self.own.is_new

    @property
    def tags(self) -> tuple[str, ...]:
        return self.own.tags

    @property
    def origin(self) -> str:
        return self.own.origin

    @property
    def citation(self) -> str:
        return cite("global", self.own.id)


@dataclass(frozen=True, slots=True)
class Decision(CitedRecord, WordedRecord):
    """What was chosen, instead of what, and why."""

    iteration_id: int | None
    title: str
    context: str
    chosen: str
    alternatives: tuple[str, ...]
    rationale: str
    impact: str
    phase: str
    decided_at: str
    status: str
    supersedes: int | None
    origin: str
    # when a person confirmed an agent's decision
    confirmed_at: str | None = None
    evidence: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    # as of a fact
    evidence_state: str = ""


def format_evidence_note(record: Fact | Decision) -> str:
    """Return what an agent is told of what a record rests on; empty unless that changed or is gone."""
    said = {"changed": "what it rests on changed", "gone": "what it rests on is gone"}
    return said.get(record.evidence_state, "")


@dataclass(frozen=True, slots=True)
class Commit(CitedRecord, WordedRecord):
    """A commit of the project's git history; `reachable` is false once history was rewritten without it, `short` is the
    shortest prefix of its sha that is unique here, seven characters or more; `origin` is who reported it, git once it
    was read from the repository."""

    sha: str
    message: str
    author: str
    files_changed: int
    insertions: int
    deletions: int
    committed_at: str
    iteration_id: int | None
    reachable: bool
    short: str
    origin: str = "git"

    @property
    def citation(self) -> str:
        return cite("commit", self.short)

    @property
    def subject_lines(self) -> str:
        """The subject as it is written: its first line, and the lines on which it goes on."""
        return commit_subject_lines(self.message)

    @property
    def subject(self) -> str:
        """The subject in one line, for a person to read."""
        return " ".join(line.rstrip() for line in self.subject_lines.split("\n")) or "(no message)"

    @property
    def headline(self) -> str:
        """The first line of the message, at most MAX_HEADLINE characters of it, for a list."""
        return self.message.partition("\n")[0].strip()[:MAX_HEADLINE] or "(no message)"

    @property
    def body(self) -> str:
        return self.message[len(self.subject_lines) :].strip()


def commit_subject_lines(message: str) -> str:
    """Return the lines of a commit's message that are its subject: more than the first line where its paragraph is
    short and goes on as wrapped text does, not with a list or a trailer."""
    lines = re.split(_PARAGRAPH_END, message, maxsplit=1)[0].rstrip().split("\n")
    wrapped = len(lines) <= MAX_SUBJECT_LINES and all(
        len(line) >= MIN_WRAPPED_LENGTH and not re.match(_LIST_OR_TRAILER, after)
        for line, after in pairwise(lines)
    )
    return "\n".join(lines) if wrapped else lines[0].rstrip()


@dataclass(frozen=True, slots=True)
class Iteration(CitedRecord, WordedRecord):
    """One cycle of work: a feature, a fix, a spike."""

    command: str
    description: str
    status: str
    started_at: str
    completed_at: str | None
    phases_completed: tuple[Any, ...]
    artifacts: tuple[Any, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Event(CitedRecord, WordedRecord):
    """An event of the workflow: a phase completed, a gate passed."""

    iteration_id: int | None
    event_type: str
    phase: str
    payload: Any
    created_at: str
    origin: str


@dataclass(frozen=True, slots=True)
class Task(CitedRecord):
    """A task: pending, in progress, done."""

    text: str
    status: str
    created_at: str
    updated_at: str
    iteration_id: int | None
    origin: str
    tags: tuple[str, ...] = ()


class Link(NamedTuple):
    """A commit and a decision that belong together: the commit implements, reverts or relates to it."""

    commit: str
    decision: str
    link_type: str


@dataclass(frozen=True, slots=True)
class Checkpoint(CitedRecord, WordedRecord):
    """A point in history, everything up to step `seq`, and what a session needs to continue, in short; its content is
    `checkpoints.contents`.

    `name` is empty for an automatic one; `summary` is its topic, `changed` how much happened since the one before.
    `used`: the percent of the context window that was used, where reported; `tokens`: the estimated size of its
    recovery in a prompt.
    """

    name: str
    created_at: str
    seq: int
    trigger: str
    origin: str
    level: str
    session: str
    used: int | None
    tokens: int
    recovered_at: str | None
    summary: str
    changed: str

    @property
    def is_automatic(self) -> bool:
        """Whether it is automatic."""
        return self.trigger in AUTOMATIC_TRIGGERS

    @property
    def title(self) -> str:
        """Its name, or its topic, or else how much happened since the one before."""
        return self.name or self.summary or self.changed

    @property
    def reason(self) -> str:
        """Why it was taken, in a few words."""
        return {
            "person": "asked for",
            "restore": "before a restore",
            "interval": "daily"
            if self.level == "archival"
            else f"every {5 if self.level == 'micro' else 30} minutes",
            "usage": "before a compaction" if self.used is None else f"{self.used} % of the window",
            "session_end": "session's end",
        }[self.trigger]


class Change(NamedTuple):
    """One row's change inside a step: `before` and `after` hold the columns that changed (all, if it was added or
    deleted)."""

    table: str
    key: tuple[Any, ...]
    op: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Step(DatedRecord, WordedRecord):
    """One change of the memory: who, when, through which door, why, and whether it is still in force."""

    seq: int
    at: str
    actor: str
    door: str
    reason: str
    undoes: int | None
    undone_by: int | None
    changes: int

    @property
    def id(self) -> int:
        return self.seq


@dataclass(frozen=True, slots=True)
class Turn(CitedRecord):
    """One turn of a conversation: `number` counts from 1 in its session, `speaker` is a name or empty.

    `tokens` is counted by a real tokenizer, and estimated before that; `continuity` is the calibrated similarity to the
    turn before, None at the first one and until both are embedded.
    """

    session: str
    number: int
    role: str
    speaker: str
    text: str
    at: str
    tokens: int
    continuity: float | None
    origin: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of evidence: the words, and the citation of their source. Without words it is the whole of it."""

    citation: str
    quote: str


@dataclass(frozen=True, slots=True)
class Proposal(CitedRecord):
    """A change that somebody other than the person proposes (remember, change or forget); it waits for a person's
    decision.

    `text` is the new fact, or the one that it is about; `change` the other fields of the new fact; `target` the fact it
    is about and `others` the citations of further ones; `based_on` a digest of them as they were; `made` the resulting
    fact.
    """

    kind: str
    text: str
    change: dict[str, Any]
    target: int | None
    others: tuple[str, ...]
    based_on: str
    evidence: tuple[Quote, ...]
    reason: str
    origin: str
    state: str
    created_at: str
    decided_at: str | None
    made: int | None


class Session(NamedTuple):
    """A conversation: `source` is the file it was read from, if any; `flushed` up to which turn it was flushed; `turns`
    and `last_at` are the number and the time of its last turn. `ended_at` is None while it is open."""

    id: str
    started_at: str
    ended_at: str | None
    source: str
    cwd: str
    flushed: int
    turns: int
    last_at: str


@dataclass(frozen=True, slots=True)
class Summary(CitedRecord, WordedRecord):
    """A summary of the turns `first` to `last` of a session, by number; never rewritten."""

    session: str
    first: int
    last: int
    topic: str
    discussed: tuple[str, ...]
    outcome: str
    decisions: tuple[str, ...]
    open_questions: tuple[str, ...]
    tokens: int
    created_at: str
    origin: str

    @property
    def title(self) -> str:
        """Its topic, or else its first field; empty for small talk."""
        return next(filter(None, (self.topic, *self.decisions, *self.open_questions, self.outcome)), "")

    @property
    def prompt_line(self) -> str:
        """The summary as a line of a prompt: 50 tokens at most."""
        return format_summary_line(self.topic, self.discussed, self.outcome, self.decisions, self.open_questions)


def format_summary_line(
    topic: str,
    discussed: Sequence[str] = (),
    outcome: str = "",
    decisions: Sequence[str] = (),
    open_questions: Sequence[str] = (),
) -> str:
    """Return a summary's fields as one line of keys and values, without empty ones."""
    lists = {"discussed": discussed, "decided": decisions, "open": open_questions}
    texts = {name: "; ".join(values) for name, values in lists.items() if values}
    fields = {"topic": topic, "discussed": texts.get("discussed"), "outcome": outcome, **texts}
    return " | ".join(f"{name}: {value}" for name, value in fields.items() if value)


@dataclass(frozen=True, slots=True)
class Chunk(DatedRecord):
    """Some lines of a document, `first` to `last` counted from 1; `heading` is the path of headings above them."""

    id: int
    path: str
    first: int
    last: int
    heading: str
    text: str
    at: str

    @property
    def citation(self) -> str:
        return str(Citation("document", self.path, self.first, self.last))


Record = (
    Fact
    | GlobalFact
    | Decision
    | Commit
    | Iteration
    | Event
    | Task
    | Checkpoint
    | Turn
    | Summary
    | Chunk
    | Proposal
)


def as_json(one: Record | Link | Step | Change | Session) -> dict[str, Any]:
    """Return a record's own fields, and its citation where it has one, ready for `json.dumps`.

    >>> as_json(memory.get("F#1"))["fact"]
    'We deploy on Tuesdays'
    """
    own = one.own if isinstance(one, GlobalFact) else one
    fields = own._asdict() if isinstance(own, Link | Change | Session) else asdict(own)
    for name in ("is_new", "branch_note"):
        fields.pop(name, None)
    citation = getattr(one, "citation", None)
    return {"citation": citation, **fields} if citation else fields


def select_fields(one: object, *names: str) -> dict[str, Any]:
    """Return some fields of an object for scripts."""
    return {name: getattr(one, name) for name in names}
