"""Sources of an answer: records with their links."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from store.base.citations import cite
from store.base.models import (
    Chunk,
    Commit,
    Decision,
    Fact,
    GlobalFact,
    Iteration,
    Record,
    Task,
    Turn,
    head_of,
)
from store.base.record import record
from store.base.vocabulary import PERSON
from store.database.database import Database
from store.search.lookup import kind_of
from store.text.prompt_injection import instructs

if TYPE_CHECKING:
    from store.search.results import Answer as Found

_REFERS = re.compile(
    r"\s*(?:[\w-]+-by:|decision:|\(cherry picked|https?://\S+\s*$"
    r"|(?:close|fix|resolve|ref|see|issue)[\w ]{0,12}:?\s.{0,60}#\d)",
    re.IGNORECASE,
)  # a line of a commit's message that says nothing itself
LINKS = 6  # most commits of a decision, or decisions of a commit, that are named


class Retriever(Protocol):
    """Finds records for words and filters, best first."""

    def __call__(self, query: str, limit: int = 20, *, meaning: bool = True) -> "Found":
        """Return the hits of a query in the search bar's syntax."""
        ...


@record(frozen=True, slots=True)
class Link:
    """One end of a link between a commit and a decision: the citation at the other end, its title, and for a decision
    its origin."""

    kind: str
    citation: str
    title: str
    origin: str = PERSON


@record(frozen=True, slots=True)
class Source:
    """A record for an answer, and its links. `hostile`: it looks like an instruction to an agent. `span`: the (field,
    start, end) that a model chose. `start`: the character of its text at which the passage begins that a search
    found."""

    citation: str
    record: Record
    links: tuple[Link, ...] = ()
    hostile: bool = False
    span: tuple[str, int, int] | None = None
    start: int = 0

    @property
    def kind(self) -> str:
        return kind_of(self.record)


def sources(database: Database, records: Iterable[Record]) -> list[Source]:
    """Return records as sources, in their order, each once."""
    found: dict[str, Source] = {}
    for one in records:
        if one.citation not in found:
            found[one.citation] = _source(database, one)
    return list(found.values())


def explanation(message: str) -> str:
    """Return what a commit's message says below its subject, without the lines at its end that only refer to issues
    and people; empty where that is nothing."""
    lines = message[len(head_of(message)) :].rstrip().splitlines(keepends=True)
    while lines and (not lines[-1].strip() or _REFERS.match(lines[-1])):
        lines.pop()
    return "".join(lines).strip()


def moment(record: Record) -> str:
    """Return the timestamp at which what a record states was true."""
    match record:
        case Fact():
            return record.created_at
        case GlobalFact(own=fact):
            return fact.created_at
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


def _source(database: Database, record: Record) -> Source:
    whole = record.own if isinstance(record, GlobalFact) else record
    texts = [str(getattr(whole, name)) for name in type(whole).__match_args__]
    return Source(record.citation, record, tuple(_links(database, record)), instructs("\n".join(texts)))


def _links(database: Database, record: Record) -> Iterable[Link]:
    """Return what a decision or a commit is linked to; of a decision also what it replaced and what replaced it."""
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
    for kind, where, number in (
        ("replaced", "id = ?", record.supersedes),
        ("replaced by", "supersedes = ? AND status <> 'forgotten'", record.id),
    ):
        rows = database.rows(f"SELECT id, title, origin FROM decisions WHERE {where} LIMIT 1", (number,))
        found += [Link(kind, cite("decision", other), title, origin) for other, title, origin in rows]
    return found
