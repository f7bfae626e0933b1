"""Row types of the demo's tables. `when` is the calendar's: days before now, or `+.3` since Monday."""

from __future__ import annotations

from dataclasses import dataclass

# origin → the door that it writes through
DOORS = {
    "user": "app",
    "agent": "hook",
    "mcp:claude-code": "mcp",
    "hook": "hook",
    "file": "worker",
    "import:notes": "cli",
    "duplicates": "worker",
}


@dataclass(frozen=True)
class DemoFact:
    """A fact; later changes refer to it by `name`; `seen` is when it was last confirmed."""

    when: str
    domain: str
    text: str
    name: str = ""
    by: str = "user"
    confidence: str = "high"
    tags: str = ""
    seen: str = ""
    pinned: bool = False
    evidence: str = ""


@dataclass(frozen=True)
class DemoChange:
    """A change of facts: `confirm`, `forget` or `unpin` several, or `correct` one into the fact `to`."""

    when: str
    verb: str
    names: str
    text: str = ""
    to: str = ""
    by: str = "user"


@dataclass(frozen=True)
class DemoDecision:
    """A decision; its position in the table is its number, which the commits cite."""

    when: str
    title: str
    chosen: str
    context: str = ""
    instead: tuple[str, ...] = ()
    why: str = ""
    impact: str = "medium"
    phase: str = ""
    supersedes: int = 0
    by: str = "user"


@dataclass(frozen=True)
class Forgotten:
    """The hiding of a decision."""

    when: str
    number: int
    by: str = "user"


@dataclass(frozen=True)
class DemoIteration:
    """An iteration; `until` is empty for the current one."""

    when: str
    command: str
    text: str
    until: str = ""
    abandoned: bool = False
    phases: str = ""
    artifacts: str = ""
    by: str = "user"


@dataclass(frozen=True)
class DemoEvent:
    """An event recorded by a program."""

    when: str
    kind: str
    phase: str
    payload: dict[str, object]
    by: str = "agent"


@dataclass(frozen=True)
class DemoTask:
    """A task, and when it was started and finished."""

    when: str
    text: str
    started: str = ""
    done: str = ""
    by: str = "user"


@dataclass(frozen=True)
class DemoCheckpoint:
    """A checkpoint with a name."""

    when: str
    name: str
    by: str = "user"


@dataclass(frozen=True)
class Automatic:
    """An automatic checkpoint: a periodic one of a `level`, one at a number of `tokens`, or one at the end of a
    session."""

    when: str
    level: str = ""
    tokens: int = 0
    session: str = ""
    by: str = "agent"


@dataclass(frozen=True)
class Said:
    """A turn of a conversation between Nadia and an agent."""

    when: str
    session: str
    role: str
    text: str
    by: str = "agent"


@dataclass(frozen=True)
class DemoSent:
    """A context sent to the agent for the last turn of a session, and the facts, by name or text, that its answer
    cited."""

    when: str
    session: str
    cites: tuple[str, ...] = ()
    by: str = "agent"


@dataclass(frozen=True)
class Read:
    """When a session was processed for facts and summarised."""

    when: str
    session: str
    by: str = "agent"


@dataclass(frozen=True)
class Proposed:
    """A proposal that waits for Nadia's decision. `about` and `others` are facts by name or text; a quote is from a
    citation, or from a fact by its text."""

    when: str
    kind: str
    text: str = ""
    about: str = ""
    others: tuple[str, ...] = ()
    domain: str = ""
    confidence: str = ""
    tags: str = ""
    quotes: tuple[tuple[str, str], ...] = ()
    why: str = ""
    by: str = "agent"


@dataclass(frozen=True)
class DemoLink:
    """A link between a commit, named by the start of its subject, and a decision."""

    when: str
    commit: str
    decision: int
    kind: str = "implements"
    by: str = "user"
