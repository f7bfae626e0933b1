"""The Librarian's answer: exact quotes of records, each with its field and position, in short templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple, Protocol

from store.base.citations import cite, parse_citation
from store.base.models import (
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Record,
    Summary,
    Task,
    Turn,
    commit_subject_lines,
)
from store.base.vocabulary import PERSON_ORIGIN
from store.database.database import Database
from store.inbox.duplicates import is_same_form, rejected_options
from store.librarian.question import (
    ASKS_WHEN,
    ASKS_WHO,
    ASKS_WHY,
    ParsedQuestion,
    fill_sentence,
    load_hollow_words,
    load_language_table,
    load_word_list,
)
from store.records.commits import GIT_ORIGIN, Commits
from store.records.decisions import Decisions
from store.records.facts import fact_age_state
from store.search.lookup import find_records, kind_of_record
from store.search.pipeline import searchable_text
from store.search.results import EXACT_HIT, FAR_HIT, SearchAnswer
from store.text.fence import has_reader_instructions, strip_invisible
from store.text.language import detect_language, extract_names
from store.text.passages import PASSAGE_SIZE
from store.text.sentences import find_sentence_spans
from store.text.similarity import parse_sentence, split_question
from store.text.words import LETTERS_PATTERN, load_stop_words, load_words, normalize_text, split_identifier


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


class LibrarianAnswer(NamedTuple):
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
_TIME_FIELDS = {
    "decision": "decided_at",
    "commit": "committed_at",
    "iteration": "started_at",
    "task": "updated_at",
}
_TIME_FIELDS |= {"turn": "at", "document": "at"}
_PASSIVE_LINKS = {"implements": "implemented by", "reverts": "reverted by", "relates": "related to"}
# most commits of a decision, or decisions of a commit, that are named
MAX_SOURCE_LINKS = 6


class Retriever(Protocol):
    """Finds records for words and filters, best first."""

    def __call__(self, query: str, limit: int = 20, *, meaning: bool = True, far: bool = False) -> SearchAnswer:
        """Return the hits of a query in the search bar's syntax; with `far` also those that are not near."""
        ...


class AnswerSource(NamedTuple):
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
            (one.link_type, one.decision)
            for one in Commits(database).links_of_commit(record.id)[:MAX_SOURCE_LINKS]
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


# search results shown
SHOWN_RESULTS = 3
# records shown of a list
LISTED_RECORDS = 12
# up to so many counted records are all named
MAX_NAMED_COUNTED = 5
# nearest records named where none answers
MAX_NAMED_NEAREST = 3
# characters of a quote
MAX_QUOTE_CHARACTERS = 260
# kinds whose text may be of several passages
LONG_TEXT_KINDS = ("turn", "document")
# characters of a name; a longer one is quoted
MAX_NAME = 40
# fields that are names, each a part of a template
NAME_FIELDS = ("author", "command", "path", "phase", "speaker")
# levels of an event's payload that are told
MAX_PAYLOAD_DEPTH = 4
# characters of one of several quotes
MAX_OPTION = 80
# a text with this must be quoted, to tell it from ours
_NOT_A_NAME = re.compile(r"(?<!\b\w)[.!?:;,]\s|[\[\]#“”«»\"]")
_TITLE_FIELDS = {"decision": "title", "commit": "message", "iteration": "description", "checkpoint": "name"}
_TITLE_FIELDS |= {"event": "event_type", "summary": "topic", "fact": "fact", "global": "fact"}


class _SentenceWriter:
    """Writes sentences about one record and collects their quotes."""

    def __init__(self, source: AnswerSource, asked: ParsedQuestion, now: str) -> None:
        self.source, self.asked, self.now = source, asked, now
        self.quotes: list[Quote] = []

    def fill_template(self, name: str, *texts: object, **parts: object) -> str:
        """Return a template of the question's language with its parts filled in."""
        return fill_sentence(self.asked.language, name, *texts, **parts)

    def end_sentence(self, sentence: str, stop: str = ".") -> CitedSentence:
        """Return a sentence with its citation and a full `stop`, marked where the record contains instructions."""
        citation, hostile = self.source.citation, self.source.hostile
        mark = f" {self.fill_template('hostile')}" if hostile else ""
        quotes = tuple(
            one for one in self.quotes if self.fill_template("quote", _put_on_one_line(one.text)) in sentence
        )
        self.quotes = []
        return CitedSentence(f"{sentence}{mark} [{citation}]{stop}", (citation,), quotes, hostile)

    def quote_field(self, field: str, text: str, most: int = MAX_QUOTE_CHARACTERS, at: int = 0) -> str:
        """Return the part of a field that answers, in quotation marks, and record it as a quote. `text` is the field's
        from `at` on."""
        begin = self.source.start if self.source.kind in LONG_TEXT_KINDS and not at else 0
        if self.asked.aspect == ASKS_WHY and self.source.kind in LONG_TEXT_KINDS:
            # the reason may stand in the sentence after
            most *= 2
        start, end = self.chosen_span(field, text, at) or find_quote_span(text, self.asked.about, most, begin)
        self.quotes.append(Quote(self.source.citation, field, at + start, at + end, text[start:end]))
        # outside of the marks, where text was cut
        before = "… " if text[:start].strip() else ""
        after = " …" if text[end:].strip() else ""
        return f"{before}{self.fill_template('quote', _put_on_one_line(text[start:end]))}{after}"

    def chosen_span(self, field: str, text: str, at: int) -> tuple[int, int] | None:
        """Return (start, end) in a field's text from `at` on that a model chose; None where it chose nothing in it."""
        name, start, end = self.source.span or ("", 0, 0)
        return (start - at, end - at) if name == field and at <= start and end <= at + len(text) else None

    def format_name(self, field: str, text: str) -> str:
        """Return a field that is a name as it was written; quoted where it is more than a name."""
        return _name_or_empty(text) or (
            self.quote_field(field, text, MAX_OPTION) if _put_on_one_line(text) else ""
        )

    def format_date(self, at: str) -> str:
        """Return the day of a timestamp, in the local time zone."""
        here = datetime.fromisoformat(at).astimezone()
        months = load_language_table(self.asked.language)["months"]["names"].split()
        return self.fill_template("date", day=here.day, month=months[here.month - 1], year=here.year)

    def format_origin(self, origin: str) -> str:
        """Return who recorded something, where that is neither the person nor the repository; of a cited record, of
        which a question asks who did, also the person."""
        if origin == PERSON_ORIGIN and self.asked.cited and self.asked.aspect == ASKS_WHO:
            return self.fill_template("by", self.fill_template("you"))
        if origin in ("", PERSON_ORIGIN, GIT_ORIGIN):
            return ""
        return self.fill_template("by", self.format_name("origin", origin))

    def format_notes(self, *notes: str) -> str:
        """Join the notes that are not empty, in parentheses; return an empty text if all are empty."""
        return f" ({noted})" if (noted := ", ".join(filter(None, notes))) else ""


def _put_on_one_line(text: str) -> str:
    """Return a text on one line, without invisible characters."""
    return " ".join(strip_invisible(text).split())


def _name_or_empty(text: str) -> str:
    """Return a text that is no more than a name on one line; of any other an empty string."""
    line = _put_on_one_line(text)
    return "" if len(line) > MAX_NAME or _NOT_A_NAME.search(line) else line


def find_quote_span(text: str, about: Sequence[str], most: int, passage: int = 0) -> tuple[int, int]:
    """Return (start, end) of the part of a text to quote: all of a short one; of a long one the sentence with most of
    the words in `about`, of the passage that begins at character `passage`, and as many following sentences as fit in
    `most` characters."""
    begin, finish = len(text) - len(text.lstrip()), len(text.rstrip())
    if finish - begin <= most:
        return begin, max(begin, finish)
    fitting = [(start, end) for start, end in find_sentence_spans(text) if end - start <= most]
    fitting = [one for one in fitting if passage <= one[0] < passage + PASSAGE_SIZE] or fitting
    if not fitting:
        cut = text.rfind(" ", begin + most // 2, begin + most)
        return begin, cut if cut > 0 else begin + most
    start, _ = max(
        fitting, key=lambda one: (len(set(split_question(text[one[0] : one[1]])) & set(about)), -one[0])
    )
    return start, max(last for _, last in fitting if last <= start + most)


def compose_records(
    asked: ParsedQuestion, sources: Sequence[AnswerSource], now: str, brief: bool = False
) -> list[CitedSentence]:
    """Return the sentences for records in their order: the first in full, the rest briefly."""
    told = (
        _record_sentences(_SentenceWriter(one, asked, now), brief or place > 0)
        for place, one in enumerate(sources)
    )
    return list(dict.fromkeys(chain.from_iterable(told)))


def compose_count(
    asked: ParsedQuestion, sources: Sequence[AnswerSource], number: int, now: str
) -> list[CitedSentence]:
    """Return a sentence with the number of records, naming each of a few, else the first and the last; without any,
    that none passes the filter by which they are counted."""
    kinds = {source.kind for source in sources} or asked.filters.get("kind", "").split(",")
    names = load_language_table(asked.language)["names"]
    noun = names.get(next(iter(kinds)) if len(kinds) == 1 else "record", names["record"])[number != 1]
    if not sources:
        return [CitedSentence(fill_sentence(asked.language, "none_counted", noun=noun, filter=asked.filter), ())]
    verb = "is" if number == 1 else "are"
    shown, join = (sources, ", ") if len(sources) <= MAX_NAMED_COUNTED else ((sources[0], sources[-1]), " … ")
    listed = [_compose_entry(source, asked, now) for source in shown]
    start = fill_sentence(asked.language, "count", number=number, noun=noun, is_are=verb)
    return [_join_sentences(f"{start}: {{}}.", join, listed)]


def compose_left_out(asked: ParsedQuestion, sources: Sequence[AnswerSource], number: int) -> CitedSentence:
    """Return the sentence that says how many records of a list are not shown."""
    writer = _SentenceWriter(sources[-1], asked, "")
    return writer.end_sentence(writer.fill_template("left_out", shown=len(sources), number=number))


def compose_nearest(asked: ParsedQuestion, near: Sequence[AnswerSource], now: str) -> CitedSentence | None:
    """Return one sentence that names the nearest records; None where there are none."""
    listed = [_compose_entry(one, asked, now) for one in near if not one.hostile][:MAX_NAMED_NEAREST]
    return _join_sentences(fill_sentence(asked.language, "near", "{}"), "; ", listed) if listed else None


def compose_statement(asked: ParsedQuestion, name: str, absent: Sequence[str] = ()) -> CitedSentence:
    """Return a sentence that cites nothing, such as that no record is about the question, or has the words `absent`."""
    quoted = (fill_sentence(asked.language, "quote", word) for word in absent)
    listed = fill_sentence(asked.language, "or").join(quoted)
    return CitedSentence(fill_sentence(asked.language, name, listed), ())


def _join_sentences(form: str, between: str, listed: Sequence[CitedSentence]) -> CitedSentence:
    """Join sentences into one, with their citations and quotes."""
    text = form.replace("{}", between.join(one.text for one in listed))
    quotes = tuple(quote for one in listed for quote in one.quotes)
    return CitedSentence(text, tuple(citation for one in listed for citation in one.citations), quotes)


def _compose_entry(source: AnswerSource, asked: ParsedQuestion, now: str) -> CitedSentence:
    """Return a record as an entry of a list: its title, who recorded it, and its citation."""
    writer = _SentenceWriter(source, asked, now)
    line = writer.quote_field(*_title_of(source.record), MAX_OPTION)
    return writer.end_sentence(
        f"{line}{writer.format_notes(writer.format_origin(getattr(source.record, 'origin', '')))}", stop=""
    )


def _title_of(record: Record) -> tuple[str, str]:
    """Return (the field by which a record is called, its text; of a commit the first line); an automatic checkpoint has
    a topic and no name."""
    field = _TITLE_FIELDS.get(kind_of_record(record), "text")
    if field == "name" and not getattr(record, field):
        field = "summary"
    return field, record.subject_lines if isinstance(record, Commit) else str(
        getattr(unwrap_global_fact(record), field)
    )


def _record_sentences(writer: _SentenceWriter, brief: bool) -> Iterator[CitedSentence]:
    """Yield the sentences of a record for the question."""
    source, record = writer.source, writer.source.record
    if source.happened:
        known, brief = load_language_table(writer.asked.language)["happened_to"], True
        said = dict.fromkeys(known.get(word, known["touched"]) for word in source.happened.split(", "))
        what = writer.quote_field(*_title_of(record), MAX_OPTION)
        yield writer.end_sentence(
            writer.fill_template(
                "changed", date=writer.format_date(source.at), what=what, happened=", ".join(said)
            )
        )
    elif isinstance(record, Decision):
        yield from _decision_sentences(writer, record, brief)
    else:
        yield writer.end_sentence(_record_sentence(writer, record))
    if isinstance(record, Commit) and not brief and (text := commit_explanation(record.message)):
        at = record.message.index(text, len(record.subject_lines))
        if writer.asked.aspect == ASKS_WHY or writer.chosen_span("message", text, at):
            yield writer.end_sentence(writer.fill_template("told", writer.quote_field("message", text, at=at)))
    for kind, end in source.links:
        if kind in ("replaced by", "reverted by") or (
            not brief and (writer.asked.aspect in (ASKS_WHY, ASKS_WHEN, ASKS_WHO) or kind == "implements")
        ):
            other = _SentenceWriter(end, writer.asked, writer.now)
            line = other.fill_template(kind, other.quote_field(*_title_of(end.record), MAX_OPTION))
            by = other.format_origin(end.record.origin) if isinstance(end.record, Decision) else ""
            day = other.format_date(time_of_record(end.record)) if writer.asked.aspect == ASKS_WHEN else ""
            yield other.end_sentence(f"{line}{other.format_notes(by, day)}")


def _decision_sentences(writer: _SentenceWriter, record: Decision, brief: bool) -> Iterator[CitedSentence]:
    """Yield the sentences of a decision for the question."""
    aspect = writer.asked.aspect
    gone = writer.fill_template(record.status) if record.status in ("superseded", "forgotten") else ""
    by = "" if aspect == ASKS_WHO and not brief else writer.format_notes(writer.format_origin(record.origin))
    title = writer.quote_field("title", record.title)
    line = writer.fill_template("decided", date=writer.format_date(record.decided_at), title=title, note=gone + by)
    line = writer.fill_template("chosen", start=line, chosen=writer.quote_field("chosen", record.chosen))
    if record.alternatives and not brief and aspect != ASKS_WHEN:
        options = [
            writer.quote_field(f"alternatives.{at}", one, MAX_OPTION) for at, one in enumerate(record.alternatives)
        ]
        line = writer.fill_template("instead", start=line, options=", ".join(options))
    yield writer.end_sentence(line)
    if brief:
        return
    if aspect == ASKS_WHO:
        own = record.origin == PERSON_ORIGIN
        yield writer.end_sentence(
            writer.fill_template("own")
            if own
            else writer.fill_template("recorded", writer.format_name("origin", record.origin))
        )
    if record.rationale and aspect != ASKS_WHEN:
        yield writer.end_sentence(
            writer.fill_template("reason", writer.quote_field("rationale", record.rationale))
        )
    if record.context and aspect == ASKS_WHY:
        yield writer.end_sentence(writer.fill_template("context", writer.quote_field("context", record.context)))


def _record_sentence(writer: _SentenceWriter, record: Record) -> str:
    """Return the sentence of a record other than a decision, without its citation."""
    record, name, say = unwrap_global_fact(record), writer.format_name, writer.fill_template
    parts: dict[str, object] = {"date": writer.format_date(time_of_record(record))}
    parts |= {field: name(field, getattr(record, field)) for field in NAME_FIELDS if hasattr(record, field)}
    notes = [writer.format_origin(getattr(record, "origin", ""))]
    match record:
        case Fact():  # since when it is not confirmed, unless it is fresh
            if fact_age_state(writer.now, record) != "fresh":
                notes.append(say("unconfirmed", writer.format_date(record.last_confirmed_at)))
            notes.append("" if record.status == "active" else record.status)
            notes.append(
                say("noted", parts["date"]) if writer.asked.aspect == ASKS_WHEN and writer.asked.cited else ""
            )
        case Event():
            kind = _name_or_empty(record.event_type.replace("_", " ")) or name("event_type", record.event_type)
            parts["what"] = ", ".join(filter(None, (kind, str(parts["phase"]))))
            notes.insert(0, _payload_text(writer, record.payload))
        case Iteration():
            ended = record.completed_at
            end = say(record.status if ended else "active", date=writer.format_date(ended) if ended else "")
            parts |= {"id": record.id, "end": end}
        case Task():
            parts["state"] = say(record.status)
        case Turn():
            parts["speaker"] = parts["speaker"] or record.role
    what = parts.pop("what", "") or writer.quote_field(*_title_of(record))
    sentence = say(writer.source.kind, what=what, note=writer.format_notes(*notes), **parts)
    if isinstance(record, Summary) and record.outcome:
        return say("outcome", start=sentence, outcome=writer.quote_field("outcome", record.outcome))
    return sentence


def _payload_text(writer: _SentenceWriter, payload: object) -> str:
    """Return what an event holds: its texts as quotes and its numbers as they are, each behind its name, first what has
    words of the question; as much as fits."""
    told, room, about = dict[str, list[str]](), MAX_QUOTE_CHARACTERS, set(writer.asked.about)
    leaves = sorted(
        _payload_leaves("payload", "", payload),
        key=lambda leaf: about.isdisjoint(split_question(" ".join(leaf))),
    )
    for field, name, text in leaves:
        said = told.setdefault(name if room > 0 else "…", [])
        if room > 0:
            said.append(writer.quote_field(field, text, room) if field else text[:MAX_NAME])
        room -= len(text)
    return ", ".join(f"{name}: {', '.join(said)}".strip(": ") for name, said in told.items())


def _payload_leaves(field: str, name: str, value: object) -> Iterator[tuple[str, str, str]]:
    """Yield (its field, its name, the text) for all texts in a value of JSON, and its numbers without a field."""
    if isinstance(value, dict | list) and field.count(".") < MAX_PAYLOAD_DEPTH:
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _payload_leaves(
                f"{field}.{key}", _name_or_empty(str(key)) if isinstance(value, dict) else name, one
            )
    elif isinstance(value, str | int | float) and _put_on_one_line(str(value)):
        text = isinstance(value, str)
        yield field * text, name, str(value) if text else json.dumps(value)


# Answers without a model: what is searched for, what is quoted of the results, and which words no record has.

# most words of a question of which is said that no record has them
MAX_ABSENT_WORDS = 2
_VERSION_PATTERN = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.]*\w)")
# don't, wasn't
_CONTRACTION_PATTERN = re.compile(r"\w*n['\u2019]t\b", re.IGNORECASE)
_PULL_REQUEST_SUFFIX = re.compile(r"\(#\d+\)\s*$")
# share of the best record's score from which others are quoted beside it; 0.6 left out 6 right ones of 133
MIN_SCORE_SHARE = 0.45


def select_quotable(matches: Sequence[AnswerSource], found: SearchAnswer) -> tuple[list[AnswerSource], bool]:
    """Return the sources that are quoted without a model, and whether they are exact: only the exact ones if some are,
    and none that scores much less than the best of these."""
    hits = {hit.citation: hit for hit in found.hits if hit.level != FAR_HIT}
    known = [hits[source.citation] for source in matches if source.citation in hits]
    exact = [hit for hit in known if hit.level == EXACT_HIT]
    known = exact or known
    least = MIN_SCORE_SHARE * max((hit.score for hit in known), default=0.0)
    kept = {hit.citation for hit in known if hit.score >= least}
    quoted = [source for source in matches if source.citation in kept] or list(matches)
    return drop_repeated(quoted)[:SHOWN_RESULTS], bool(exact)


def drop_repeated(found: Sequence[AnswerSource]) -> list[AnswerSource]:
    """Return sources without commits that another one of the same author repeats, as a merged pull request does with
    its number after the subject, and without lines of a document that another one has too."""
    kept: dict[object, AnswerSource] = {}
    for source in found:
        record = source.record
        same: object = source.citation
        if isinstance(record, Commit):
            same = (record.author, _PULL_REQUEST_SUFFIX.sub("", commit_subject_lines(record.message)).strip())
        elif isinstance(record, Chunk):
            lines = (one.record for one in kept.values() if isinstance(one.record, Chunk))
            if any(
                one.path == record.path and one.first <= record.last and record.first <= one.last for one in lines
            ):
                continue
        kept.setdefault(same, source)
    return list(kept.values())


def find_question_names(question: str) -> list[str]:
    """Return what a question names, without days and months, which stand in either language; versions are names."""
    found = (
        []
        if question.isupper()
        else [name for name in extract_names([question]) if not parse_sentence(name).values]
    )
    return [*found, *_VERSION_PATTERN.findall(question)]


def find_absent_words(
    search: Retriever, asked: ParsedQuestion, matches: Sequence[AnswerSource]
) -> tuple[list[str], bool]:
    """Return (the names and other words of a question of which no record has some part, as they are typed, at most
    MAX_ABSENT_WORDS; whether a name is among them), without those that were read as filters; none where the nearest are
    all in another language, as it may have other words for them."""
    if all(
        detect_language(searchable_text(one.record)) not in ("", asked.language) for one in matches[:SHOWN_RESULTS]
    ):
        return [], False
    hollow = load_stop_words("search") | load_word_list("asking") | load_hollow_words()
    hollow |= set(asked.about).difference(asked.rest) if asked.filters else set()
    wanted = find_question_names(asked.text)
    known = {word for name in wanted for word in name.split()}
    text = _CONTRACTION_PATTERN.sub(" ", asked.text)
    typed = [
        word
        for word in LETTERS_PATTERN.findall(text)
        if len(word) > 2 and normalize_text(word) not in hollow | known
    ]
    missing = [name for name in wanted if not all(_occurs_anywhere(search, word) for word in name.split())]
    others = [word for word in dict.fromkeys(typed) if word not in known and not _occurs_anywhere(search, word)]
    return (missing or others)[:MAX_ABSENT_WORDS], bool(missing)


def _occurs_anywhere(search: Retriever, name: str) -> bool:
    """Return whether a name, or a longer one that begins so, occurs in any record: not only a part of it, such as the
    `DB` of `DuckDB`."""
    found = search(name, 1, meaning=False)
    if found.left_out or not split_identifier(name):
        return bool(found.left_out or found.hits)
    return bool(found.exact or (found.words and any(one.startswith(name.lower()) for one in found.words.kept)))


def find_turned_down(database: Database, asked: ParsedQuestion) -> tuple[list[AnswerSource], bool]:
    """Return (the decisions, with their reason, that turned down what a question names and asks why it is not so, the
    newest first; whether it asks about nothing else)."""
    wanted = find_question_names(asked.text)
    if asked.aspect != ASKS_WHY or not wanted or not parse_sentence(asked.text).negations:
        return [], False
    rows = database.column(
        "SELECT id FROM decisions WHERE status = 'active' AND rationale <> '' AND title || alternatives LIKE ?"
        " ORDER BY id DESC",
        (f"%{wanted[0]}%",),
    )
    decisions = Decisions(database).get_many(rows)
    parts = [re.compile(rf"(?<!\w){re.escape(name)}", re.IGNORECASE) for name in wanted]
    found = [
        one for one in decisions if any(all(part.search(it) for part in parts) for it in rejected_options(one))
    ]
    others = set(parse_sentence(strip_choice_words(asked.text)).words) - set(
        parse_sentence(" ".join(wanted)).words
    )
    return load_sources(database, found), others <= load_stop_words("search") | load_word_list("asking")


def strip_choice_words(question: str) -> str:
    """Return a question without words that only say that something was chosen (use, decide, elegir), unless nothing
    else is left to search for."""
    terms = question.split()
    chose = load_words("records", "choice") - load_words("records", "reason")
    kept = [word for word in terms if chose.isdisjoint(LETTERS_PATTERN.findall(normalize_text(word)))]
    rest = [
        word
        for text in kept
        for word in LETTERS_PATTERN.findall(normalize_text(text))
        if word not in load_stop_words("search")
    ]
    return " ".join(kept if rest else terms)


def share_of_words(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return which share of words occur among others, in any form."""
    return sum(any(is_same_form(word, one) for one in said) for word in wanted) / max(1, len(wanted))
