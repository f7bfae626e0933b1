"""Summarise a record in one line: its time and its text."""

from store.base.models import (
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Proposal,
    Record,
    Summary,
    Task,
    Turn,
)
from tui.render.badges import state_word


def moment(record: Record) -> str:
    """Return a record's time, as the timeline orders it."""
    if isinstance(record, Decision):
        return record.decided_at
    if isinstance(record, Commit):
        return record.committed_at
    if isinstance(record, Iteration):
        return record.started_at
    if isinstance(record, Turn | Chunk):
        return record.at
    if isinstance(record, GlobalFact):
        return record.own.created_at
    return record.created_at


def event_words(event: Event) -> str:
    """Return an event's type and phase as people say them: `gate_passed` as “Gate passed”."""
    words = " ".join(event.event_type.replace("_", " ").split())
    return ": ".join(filter(None, (f"{words[:1].upper()}{words[1:]}", event.phase.replace("_", " "))))


def summary(record: Record) -> tuple[str, str]:
    """Summarise a record as (its text, a short label beside it)."""
    if isinstance(record, Fact):
        return record.fact, record.domain
    if isinstance(record, GlobalFact):
        return record.fact, f"global · {record.own.domain}"
    if isinstance(record, Decision):
        return record.title, record.impact if record.status == "active" else state_word(record.status)
    if isinstance(record, Commit):
        size = f"+{record.insertions} −{record.deletions}"
        return record.subject, size if record.reachable else f"gone {size}"
    if isinstance(record, Event):
        return event_words(record), ""
    if isinstance(record, Iteration):
        return f"{record.command}: {record.description}".removesuffix(": "), record.status
    if isinstance(record, Task):
        return record.text, state_word(record.status)
    if isinstance(record, Turn):
        return record.text, record.speaker or record.role
    if isinstance(record, Summary):
        return record.title or "small talk", record.outcome
    if isinstance(record, Chunk):
        return " › ".join(filter(None, (record.heading, " ".join(record.text.split())))), ""
    if isinstance(record, Proposal):
        return record.text, f"{record.kind} {record.state}"
    return f"checkpoint “{record.title}”", record.why if record.by_itself else ""
