"""Sources: records as an answer is made of them, each with the text that its sentences must rest on."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.base.citations import cite
from store.base.models import (
    Checkpoint,
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    Iteration,
    Proposal,
    Record,
    Summary,
    Task,
    Turn,
)
from store.base.record_keys import NUMBERS, pack
from store.base.vocabulary import PERSON
from store.database.database import Database
from store.records.ageing import state
from store.records.timeline.commits import GIT
from store.search.lookup import kind_of
from store.text.prompt_injection import instructs

LONG = 500  # characters of a text that are taken
LINKS = 6  # commits of a decision, or decisions of a commit, that are named


@dataclass(frozen=True, slots=True)
class Link:
    """One end of a link between a commit and a decision: the citation at the other end, what stands there, and of a
    decision who recorded it."""

    kind: str
    citation: str
    title: str
    origin: str = PERSON


@dataclass(frozen=True, slots=True)
class Source:
    """A record that an answer may rest on: `text` is all it says, and what the memory knows of it. `hostile`: it reads
    like an order to an agent. `span`: the (field, start, end) of it that a model chose."""

    citation: str
    record: Record
    at: str
    text: str
    links: tuple[Link, ...] = ()
    hostile: bool = False
    span: tuple[str, int, int] | None = None

    @property
    def kind(self) -> str:
        return kind_of(self.record)

    @property
    def key(self) -> int | None:
        return pack(self.kind, self.record.id) if self.kind in NUMBERS else None


def sources(database: Database, records: Iterable[Record], now: str) -> list[Source]:
    """Records as sources, in their order; the same one once."""
    found: dict[str, Source] = {}
    for record in records:
        if record.citation not in found:
            found[record.citation] = _source(database, record, now)
    return list(found.values())


def moment(record: Record) -> str:
    """Return when what a record states was so."""
    match record:
        case Fact():
            return record.created_at
        case Decision():
            return record.decided_at
        case Commit():
            return record.committed_at
        case Iteration():
            return record.started_at
        case Turn() | Chunk():
            return record.at
        case Task():
            return record.updated_at
    return record.created_at


def day(at: str) -> str:
    """The day of a moment, where the person is: `12 March 2026`."""
    from datetime import datetime

    return datetime.fromisoformat(at).astimezone().strftime("%d %B %Y").lstrip("0")


def _source(database: Database, record: Record, now: str) -> Source:
    at = moment(record)
    links = tuple(_links(database, record))
    own = _parts(record, now)
    every = [*own, *(_at_the_other_end(link) for link in links)]
    text = f"{day(at)}. {'. '.join(part.rstrip('. ') for part in every if part)}."
    return Source(record.citation, record, at, text, links, instructs("\n".join(own)))


def _at_the_other_end(link: Link) -> str:
    """Return what a record states of one it is linked to; of one that reads like an order, only its citation."""
    return f"{link.kind} {link.citation}{'' if instructs(link.title) else f' “{link.title}”'}"


def _parts(record: Record, now: str) -> Sequence[str]:
    """Return what a record states, part by part, each under its name."""
    origin = getattr(record, "origin", PERSON)
    by = "" if origin in (PERSON, GIT) else f"recorded by {origin}"
    match record:
        case Fact():
            old = state(now, record.last_confirmed_at, record.confidence, record.pinned)
            notes = [f"last confirmed {day(record.last_confirmed_at)}"] if old != "fresh" else []
            notes += [word for word in (by, "" if record.status == "active" else record.status) if word]
            noted = ", ".join(notes)
            return (f"{_short(record.fact)} ({noted})" if noted else _short(record.fact),)
        case Decision():
            return (
                f"Decision: {record.title}",
                f"Chosen: {record.chosen}",
                f"Instead of: {'; '.join(record.alternatives)}" if record.alternatives else "",
                f"Because: {_short(record.rationale)}" if record.rationale else "",
                f"Context: {_short(record.context)}" if record.context else "",
                f"Phase: {record.phase}" if record.phase else "",
                "" if record.status == "active" else record.status,
                by,
            )
        case Commit():
            return (f"Commit by {record.author}: {_short(record.message)}",)
        case Iteration():
            ended = f", {record.status} {day(record.completed_at)}" if record.completed_at else ", under way"
            return (f"Iteration {record.id}, {record.command}: {record.description}{ended}",)
        case Event():
            payload = "" if record.payload is None else json.dumps(record.payload, ensure_ascii=False)
            return (f"Event {record.event_type} {record.phase}", _short(payload))
        case Task():
            return (f"Task, {record.status.replace('_', ' ')}: {record.text}", f"since {day(record.updated_at)}")
        case Turn():
            return (f"{record.speaker or record.role} said: {_short(record.text)}",)
        case Summary():
            return (f"Conversation: {record.line}",)
        case Checkpoint():
            return (f"Checkpoint: {record.title}", record.summary)
        case Proposal():
            return (f"Proposed, {record.state}: {_short(record.text)}", by)
    return (f"{record.path}, {record.heading}: {_short(record.text)}",)


def _links(database: Database, record: Record) -> Iterable[Link]:
    """What a decision or a commit is linked to: the other ends, and what a decision replaced or was replaced by."""
    if isinstance(record, Commit):
        rows = database.rows(
            "SELECT l.link_type, d.id, d.title, d.origin"
            " FROM commit_links AS l JOIN decisions AS d ON d.id = l.decision_id"
            " WHERE l.commit_id = ? AND d.status <> 'forgotten' ORDER BY d.id LIMIT ?",
            (record.id, LINKS),
        )
        return [Link(kind, cite("decision", number), title, origin) for kind, number, title, origin in rows]
    if not isinstance(record, Decision):
        return []
    from store.records.timeline.commits import Commits

    kinds = dict(
        database.rows(
            "SELECT l.commit_id, l.link_type FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
            " WHERE l.decision_id = ? ORDER BY c.committed_at LIMIT ?",
            (record.id, LINKS),
        )
    )
    past = {"implements": "implemented by", "reverts": "reverted by", "relates": "related to"}
    found = [Link(past[kinds[one.id]], one.citation, one.subject) for one in Commits(database).many(list(kinds))]
    for kind, where in (("replaced", "id = :other"), ("replaced by", "supersedes = :own AND status <> 'forgotten'")):
        rows = (
            database.rows(
                f"SELECT id, title, origin FROM decisions WHERE {where} LIMIT 1",
                {"other": record.supersedes, "own": record.id},
            )
            if kind == "replaced by" or record.supersedes
            else []
        )
        found += [Link(kind, cite("decision", number), title, origin) for number, title, origin in rows]
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONG else f"{line[: LONG - 1]}…"
