"""Evidence: check whether quoted words are still in the place they were quoted from."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from store.base.citations import parse
from store.base.errors import MemorandaError
from store.base.models import (
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Proposal,
    Quote,
    Record,
    Summary,
    Task,
    Turn,
)
from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.documents.documents import Documents
from store.search.lookup import lookup


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a piece of evidence no longer holds: `says` in a sentence, `then` what was quoted or known, `now` the current
    text (empty if there is none)."""

    says: str
    then: str
    now: str


def doubts(database: Database, documents: Documents, evidence: Iterable[Quote]) -> Iterator[Doubt]:
    """Yield what no longer holds of these quotes. Files are read from the disk."""
    for one in evidence:
        try:
            citation = parse(one.citation)
            if citation.kind == "document":
                text = documents.read(str(citation.target)).text
            else:
                record = lookup(database, citation)
                text = said(record)
                if isinstance(record, Fact | Decision) and record.status != "active":
                    yield Doubt(f"{one.citation} is {record.status} since.", one.quote, "")
                    continue
        except MemorandaError as error:
            yield Doubt(f"{one.citation} is not there any more: {error.message}", one.quote, "")
            continue
        if not stands(one.quote, text):
            yield Doubt(f"{one.citation} no longer says what was quoted from it.", one.quote, text)


def stands(quote: str, text: str) -> bool:
    """Return whether a text contains these words, whole, in any capitals and spaces."""
    return bool(re.search(rf"(?<!\w){re.escape(normal(quote))}(?!\w)", normal(text)))


def said(record: Record) -> str:
    """Return all texts by people in a record."""
    parts: Sequence[str]
    match record:
        case (
            Fact(fact=text)
            | GlobalFact(fact=text)
            | Turn(text=text)
            | Task(text=text)
            | Chunk(text=text)
            | Proposal(text=text)
        ):
            parts = (text,)
        case Decision():
            parts = (record.title, record.chosen, record.context, record.rationale, *record.alternatives)
        case Commit(message=text):
            parts = (text,)
        case Iteration():
            parts = (record.command, record.description)
        case Event():
            parts = (record.event_type, record.phase, str(record.payload))
        case Summary():
            parts = (record.line,)
        case _:
            parts = (record.title, record.summary)
    return "\n".join(parts)
