"""The Librarian's answer: sentences made of quotes, each with its record, field and position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from store.base.citations import cite, parse_citation
from store.base.models import Commit, Decision, GlobalFact, Record, commit_subject_lines
from store.database.database import Database
from store.librarian.question import ParsedQuestion
from store.records.commits import Commits
from store.records.decisions import Decisions
from store.search.lookup import find_records, kind_of_record
from store.search.results import SearchAnswer
from store.text.fence import has_reader_instructions


class Quote(NamedTuple):
    """A part of a record's field, `text[start:end]`; `field` is an attribute, or one item of it such as
    `alternatives.0` or `payload.gate`."""

    citation: str
    field: str
    start: int
    end: int
    text: str


class CitedSentence(NamedTuple):
    """A sentence of an answer; the citations it makes itself, without those inside quoted text; its quotes; and whether
    the record looks like an instruction to an agent."""

    text: str
    citations: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    hostile: bool = False


@dataclass(frozen=True, slots=True)
class LibrarianAnswer:
    """An answer. `parts` are its sentences, `sources` the records considered, in order, `odds` a model's log odds for
    each. `by` is the model that ordered them, empty where rules did, and `note` says why they did. `filter` is the
    search-bar filter of a question about the data. `nothing`: no record answers; `near` then names the nearest.
    `exact`: False where rules quote records that are only the nearest. `asked` is the parsed question, `topic` the one
    that a following question may refer to, `ground` the citations that it may refer to."""

    asked: ParsedQuestion
    parts: tuple[CitedSentence, ...]
    sources: tuple[str, ...]
    by: str = ""
    seconds: float = 0.0
    odds: tuple[tuple[str, float], ...] = ()
    filter: str = ""
    topic: ParsedQuestion | None = None
    ground: tuple[str, ...] = ()
    note: str = ""
    nothing: bool = False
    cancelled: bool = False
    near: CitedSentence | None = None
    exact: bool = True

    @property
    def citations(self) -> tuple[str, ...]:
        """All citations that the sentences make, each once."""
        return tuple(dict.fromkeys(citation for part in self.parts for citation in part.citations))

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.parts)

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def line(self) -> str:
        """What answered, the number of sources, and the time: `2 sources · qwen2.5:3b · 1.4 s`."""
        count = len(self.citations)
        words = [] if self.nothing else [f"{count} source{'' if count == 1 else 's'}"]
        words += [self.by or "by rule", f"{self.seconds:.1f} s"]
        return " · ".join([*words, "stopped"] if self.cancelled else words)


# Sources of an answer: records with their links.

_REFERENCE_LINE = re.compile(
    r"\s*(?:[\w-]+-by:|decision:|\(cherry picked|https?://\S+\s*$"
    r"|(?:close|fix|resolve|ref|see|issue)[\w ]{0,12}:?\s.{0,60}#\d)",
    re.IGNORECASE,
)  # a line of a commit's message that says nothing itself
# kind → field with the time of what a record states, where that is not when it was recorded
_TIME_FIELDS = {"decision": "decided_at", "commit": "committed_at", "iteration": "started_at", "task": "updated_at"}
_TIME_FIELDS |= {"turn": "at", "document": "at"}
_PASSIVE_LINKS = {"implements": "implemented by", "reverts": "reverted by", "relates": "related to"}
MAX_SOURCE_LINKS = 6  # most commits of a decision, or decisions of a commit, that are named


class Retriever(Protocol):
    """Finds records for words and filters, best first."""

    def __call__(self, query: str, limit: int = 20, *, meaning: bool = True, far: bool = False) -> SearchAnswer:
        """Return the hits of a query in the search bar's syntax; with `far` also those that are not near."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A record for an answer, and its links: (the name of a sentence, the other end). `hostile`: it looks like an
    instruction to an agent. `span`: the (field, start, end) that a model chose. `start`: the character of its text at
    which the passage begins that a search found. `happened`: how it changed `at` a time, in the words of a change's
    summary, where that is what was asked."""

    citation: str
    record: Record
    links: tuple[tuple[str, AnswerSource], ...] = ()
    hostile: bool = False
    span: tuple[str, int, int] | None = None
    start: int = 0
    happened: str = ""
    at: str = ""

    @property
    def kind(self) -> str:
        return kind_of_record(self.record)


def load_sources(database: Database, records: Iterable[Record]) -> list[AnswerSource]:
    """Return records as sources, in their order, each once."""
    each = {one.citation: one for one in records}
    return [_make_source(one, tuple(_load_links(database, one))) for one in each.values()]


def _make_source(record: Record, links: tuple[tuple[str, AnswerSource], ...] = ()) -> AnswerSource:
    """Make a source of a record, and tell whether it looks like an instruction to an agent."""
    texts = [
        str(getattr(unwrap_global_fact(record), name)) for name in type(unwrap_global_fact(record)).__match_args__
    ]
    return AnswerSource(record.citation, record, links, has_reader_instructions("\n".join(texts)))


def commit_explanation(message: str) -> str:
    """Return what a commit's message says below its subject, without the lines at its end that only refer to issues
    and people; empty where that is nothing."""
    lines = message[len(commit_subject_lines(message)) :].rstrip().splitlines(keepends=True)
    while lines and (not lines[-1].strip() or _REFERENCE_LINE.match(lines[-1])):
        lines.pop()
    return "".join(lines).strip()


def unwrap_global_fact(record: Record) -> Record:
    """Return a record, of a global fact the fact itself."""
    return record.own if isinstance(record, GlobalFact) else record


def time_of_record(record: Record) -> str:
    """Return the timestamp at which what a record states was true."""
    return str(getattr(unwrap_global_fact(record), _TIME_FIELDS.get(kind_of_record(record), "created_at")))


def _load_links(database: Database, record: Record) -> Iterator[tuple[str, AnswerSource]]:
    """Yield what a decision or a commit is linked to; of a decision also what it replaced and what replaced it."""
    ends: list[tuple[str, str]] = []
    if isinstance(record, Commit):
        ends = [
            (one.link_type, one.decision) for one in Commits(database).links_of_commit(record.id)[:MAX_SOURCE_LINKS]
        ]
    elif isinstance(record, Decision):
        ends = [
            (_PASSIVE_LINKS[one.link_type], one.commit)
            for one in Commits(database).links_of_decision(record.id)[:MAX_SOURCE_LINKS]
        ]
        others = ("replaced", record.supersedes), ("replaced by", Decisions(database).successor(record.id))
        ends += [(kind, cite("decision", number)) for kind, number in others if number]
    for kind, citation in ends:
        for other in find_records(database, [parse_citation(citation)]):
            if isinstance(other, Commit) or (isinstance(other, Decision) and other.status != "forgotten"):
                yield kind, _make_source(other)
