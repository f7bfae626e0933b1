"""What the demo's tables are made of. `when` is the calendar's: days before now, or `+.3` since Monday."""

from __future__ import annotations

from dataclasses import dataclass

# origin → the door it comes through
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
    """A fact; `name` is what later changes call it, `seen` when it was confirmed since."""

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
    """What becomes of facts: `confirm`, `forget` or `unpin` several, or `correct` one into the fact called `to`."""

    when: str
    verb: str
    names: str
    text: str = ""
    to: str = ""
    by: str = "user"


@dataclass(frozen=True)
class DemoDecision:
    """A decision; its place in the table is its number, which the commits cite."""

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
    """A decision that is hidden."""

    when: str
    number: int
    by: str = "user"


@dataclass(frozen=True)
class DemoIteration:
    """A cycle of work; `until` is empty for the one under way."""

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
    """What happened mechanically."""

    when: str
    kind: str
    phase: str
    payload: dict[str, object]
    by: str = "agent"


@dataclass(frozen=True)
class DemoTask:
    """A task, and when it was started and done."""

    when: str
    text: str
    started: str = ""
    done: str = ""
    by: str = "user"


@dataclass(frozen=True)
class DemoCheckpoint:
    """A moment with a name."""

    when: str
    name: str
    by: str = "user"


@dataclass(frozen=True)
class Automatic:
    """A checkpoint that nobody asks for: of a `level` as time passes, of so many `tokens` in use, or of a session's
    end."""

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
    """A context that the agent was sent for the last thing that was said in a session, and the facts, by name or text,
    that its answer cited."""

    when: str
    session: str
    cites: tuple[str, ...] = ()
    by: str = "agent"


@dataclass(frozen=True)
class Read:
    """When a session was read for what it teaches, and summarised."""

    when: str
    session: str
    by: str = "agent"


@dataclass(frozen=True)
class Proposed:
    """Something that waits for Nadia's word. `about` and `others` are facts by name or text; a quote is of a citation,
    or of a fact by its text."""

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
    """The commit whose subject begins so, and a decision it belongs to."""

    when: str
    commit: str
    decision: int
    kind: str = "implements"
    by: str = "user"
