"""Sources of an answer: records with their links."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from store.base.citations import cite, parse
from store.base.models import Commit, Decision, GlobalFact, Record, head_of
from store.database.database import Database
from store.records.decisions import Decisions
from store.records.timeline.commits import Commits
from store.search import lookup
from store.search.lookup import kind_of
from store.search.results import Answer as Found
from store.text.prompt_injection import instructs

_REFERS = re.compile(
    r"\s*(?:[\w-]+-by:|decision:|\(cherry picked|https?://\S+\s*$"
    r"|(?:close|fix|resolve|ref|see|issue)[\w ]{0,12}:?\s.{0,60}#\d)",
    re.IGNORECASE,
)  # a line of a commit's message that says nothing itself
# kind → field with the time of what a record states, where that is not when it was recorded
_MOMENTS = {"decision": "decided_at", "commit": "committed_at", "iteration": "started_at", "task": "updated_at"}
_MOMENTS |= {"turn": "at", "document": "at"}
_PASSIVE = {"implements": "implemented by", "reverts": "reverted by", "relates": "related to"}
LINKS = 6  # most commits of a decision, or decisions of a commit, that are named


class Retriever(Protocol):
    """Finds records for words and filters, best first."""

    def __call__(self, query: str, limit: int = 20, *, meaning: bool = True, far: bool = False) -> Found:
        """Return the hits of a query in the search bar's syntax; with `far` also those that are not near."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """A record for an answer, and its links: (the name of a sentence, the other end). `hostile`: it looks like an
    instruction to an agent. `span`: the (field, start, end) that a model chose. `start`: the character of its text at
    which the passage begins that a search found. `happened`: how it changed `at` a time, in the words of a change's
    summary, where that is what was asked."""

    citation: str
    record: Record
    links: tuple[tuple[str, "Source"], ...] = ()
    hostile: bool = False
    span: tuple[str, int, int] | None = None
    start: int = 0
    happened: str = ""
    at: str = ""

    @property
    def kind(self) -> str:
        return kind_of(self.record)


def sources(database: Database, records: Iterable[Record]) -> list[Source]:
    """Return records as sources, in their order, each once."""
    each = {one.citation: one for one in records}
    return [_source(one, tuple(_links(database, one))) for one in each.values()]


def _source(record: Record, links: tuple[tuple[str, Source], ...] = ()) -> Source:
    texts = [str(getattr(whole(record), name)) for name in type(whole(record)).__match_args__]
    return Source(record.citation, record, links, instructs("\n".join(texts)))


def explanation(message: str) -> str:
    """Return what a commit's message says below its subject, without the lines at its end that only refer to issues
    and people; empty where that is nothing."""
    lines = message[len(head_of(message)) :].rstrip().splitlines(keepends=True)
    while lines and (not lines[-1].strip() or _REFERS.match(lines[-1])):
        lines.pop()
    return "".join(lines).strip()


def whole(record: Record) -> Record:
    """Return a record, of a global fact the fact itself."""
    return record.own if isinstance(record, GlobalFact) else record


def moment(record: Record) -> str:
    """Return the timestamp at which what a record states was true."""
    return str(getattr(whole(record), _MOMENTS.get(kind_of(record), "created_at")))


def _links(database: Database, record: Record) -> Iterator[tuple[str, Source]]:
    """Yield what a decision or a commit is linked to; of a decision also what it replaced and what replaced it."""
    ends: list[tuple[str, str]] = []
    if isinstance(record, Commit):
        ends = [(one.link_type, one.decision) for one in Commits(database).links_of_commit(record.id)[:LINKS]]
    elif isinstance(record, Decision):
        ends = [(_PASSIVE[one.link_type], one.commit) for one in Commits(database).links_of_decision(record.id)[:LINKS]]
        others = ("replaced", record.supersedes), ("replaced by", Decisions(database).successor(record.id))
        ends += [(kind, cite("decision", number)) for kind, number in others if number]
    for kind, citation in ends:
        for other in lookup.there(database, [parse(citation)]):
            if isinstance(other, Commit) or (isinstance(other, Decision) and other.status != "forgotten"):
                yield kind, _source(other)
