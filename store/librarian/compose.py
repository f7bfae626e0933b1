"""Composition of answers: exact quotes of records in short templates, in the language of the question."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain

from store.base import models
from store.base.models import Commit, Decision, Fact, Record
from store.base.vocabulary import PERSON
from store.librarian import words as vocabulary
from store.librarian.answer import CitedSentence, Quote
from store.librarian.question import WHEN, WHO, WHY, ParsedQuestion
from store.librarian.sources import Source, explanation, moment, whole
from store.records.ageing import state
from store.records.timeline.commits import GIT
from store.search.lookup import kind_of
from store.text.clauses import spans
from store.text.fence import plain
from store.text.passages import SIZE
from store.text.similarity.question_similarity import words

SHOWN = 3  # search results shown
LISTED = 12  # records shown of a list
FEW = 5  # up to so many counted records are all named
NEAREST = 3  # nearest records named where none answers
QUOTED = 260  # characters of a quote
LONG = ("turn", "document")  # kinds whose text may be of several passages
NAMED = 40  # characters of a name; a longer one is quoted
NAMES = ("author", "command", "path", "phase", "speaker")  # fields that are names, each a part of a template
DEEP = 4  # levels of an event's payload that are told
OPTION = 80  # characters of one of several quotes
_NO_NAME = re.compile(r"(?<!\b\w)[.!?:;,]\s|[\[\]#“”«»\"]")  # a text with this must be quoted, to tell it from ours
_TITLES = {"decision": "title", "commit": "message", "iteration": "description", "checkpoint": "name", "fact": "fact"}
_TITLES |= {"event": "event_type", "summary": "topic", "global": "fact"}


class _Writer:
    """Writes sentences about one record and collects their quotes."""

    def __init__(self, source: Source, asked: ParsedQuestion, now: str) -> None:
        self.source, self.asked, self.now = source, asked, now
        self.quotes: list[Quote] = []

    def say(self, name: str, *texts: object, **parts: object) -> str:
        """Return a template of the question's language with its parts filled in."""
        return vocabulary.sentence(self.asked.language, name, *texts, **parts)

    def end(self, sentence: str, stop: str = ".") -> CitedSentence:
        """Return a sentence with its citation and a full `stop`, marked where the record contains instructions."""
        citation, hostile = self.source.citation, self.source.hostile
        mark = f" {self.say('hostile')}" if hostile else ""
        quotes = tuple(one for one in self.quotes if self.say("quote", _line(one.text)) in sentence)
        self.quotes = []
        return CitedSentence(f"{sentence}{mark} [{citation}]{stop}", (citation,), quotes, hostile)

    def quote(self, field: str, text: str, most: int = QUOTED, at: int = 0) -> str:
        """Return the part of a field that answers, in quotation marks, and record it as a quote. `text` is the field's
        from `at` on."""
        begin = self.source.start if self.source.kind in LONG and not at else 0
        if self.asked.aspect == WHY and self.source.kind in LONG:
            most *= 2  # the reason may stand in the sentence after
        start, end = self.chosen(field, text, at) or span(text, self.asked.about, most, begin)
        self.quotes.append(Quote(self.source.citation, field, at + start, at + end, text[start:end]))
        before = "… " if text[:start].strip() else ""  # outside of the marks, where text was cut
        after = " …" if text[end:].strip() else ""
        return f"{before}{self.say('quote', _line(text[start:end]))}{after}"

    def chosen(self, field: str, text: str, at: int) -> tuple[int, int] | None:
        """Return (start, end) in a field's text from `at` on that a model chose; None where it chose nothing in it."""
        name, start, end = self.source.span or ("", 0, 0)
        return (start - at, end - at) if name == field and at <= start and end <= at + len(text) else None

    def name(self, field: str, text: str) -> str:
        """Return a field that is a name as it was written; quoted where it is more than a name."""
        return _name(text) or (self.quote(field, text, OPTION) if _line(text) else "")

    def date(self, at: str) -> str:
        """Return the day of a timestamp, in the local time zone."""
        here = datetime.fromisoformat(at).astimezone()
        months = vocabulary.table(self.asked.language)["months"]["names"].split()
        return self.say("date", day=here.day, month=months[here.month - 1], year=here.year)

    def by(self, origin: str) -> str:
        """Return who recorded something, where that is neither the person nor the repository; of a cited record, of
        which a question asks who did, also the person."""
        if origin == PERSON and self.asked.cited and self.asked.aspect == WHO:
            return self.say("by", self.say("you"))
        return "" if origin in ("", PERSON, GIT) else self.say("by", self.name("origin", origin))

    def note(self, *notes: str) -> str:
        return f" ({noted})" if (noted := ", ".join(filter(None, notes))) else ""


def _line(text: str) -> str:
    """Return a text on one line, without invisible characters."""
    return " ".join(plain(text).split())


def _name(text: str) -> str:
    """Return a text that is no more than a name on one line; of any other an empty string."""
    line = _line(text)
    return "" if len(line) > NAMED or _NO_NAME.search(line) else line


def span(text: str, about: Sequence[str], most: int, passage: int = 0) -> tuple[int, int]:
    """Return (start, end) of the part of a text to quote: all of a short one; of a long one the sentence with most of
    the words in `about`, of the passage that begins at character `passage`, and as many following sentences as fit in
    `most` characters."""
    begin, finish = len(text) - len(text.lstrip()), len(text.rstrip())
    if finish - begin <= most:
        return begin, max(begin, finish)
    fitting = [(start, end) for start, end in spans(text) if end - start <= most]
    fitting = [one for one in fitting if passage <= one[0] < passage + SIZE] or fitting
    if not fitting:
        cut = text.rfind(" ", begin + most // 2, begin + most)
        return begin, cut if cut > 0 else begin + most
    start, _ = max(fitting, key=lambda one: (len(set(words(text[one[0] : one[1]])) & set(about)), -one[0]))
    return start, max(last for _, last in fitting if last <= start + most)


def records(asked: ParsedQuestion, sources: Sequence[Source], now: str, brief: bool = False) -> list[CitedSentence]:
    """Return the sentences for records in their order: the first in full, the rest briefly."""
    told = (_sentences(_Writer(one, asked, now), brief or place > 0) for place, one in enumerate(sources))
    return list(dict.fromkeys(chain.from_iterable(told)))


def counted(asked: ParsedQuestion, sources: Sequence[Source], number: int, now: str) -> list[CitedSentence]:
    """Return a sentence with the number of records, naming each of a few, else the first and the last; without any,
    that none passes the filter by which they are counted."""
    kinds = {source.kind for source in sources} or asked.filters.get("kind", "").split(",")
    names = vocabulary.table(asked.language)["names"]
    noun = names.get(next(iter(kinds)) if len(kinds) == 1 else "record", names["record"])[number != 1]
    if not sources:
        return [CitedSentence(vocabulary.sentence(asked.language, "none_counted", noun=noun, filter=asked.filter), ())]
    verb = "is" if number == 1 else "are"
    shown, join = (sources, ", ") if len(sources) <= FEW else ((sources[0], sources[-1]), " … ")
    listed = [_listed(source, asked, now) for source in shown]
    start = vocabulary.sentence(asked.language, "count", number=number, noun=noun, is_are=verb)
    return [_joined(f"{start}: {{}}.", join, listed)]


def left_out(asked: ParsedQuestion, sources: Sequence[Source], number: int) -> CitedSentence:
    """Return the sentence that says how many records of a list are not shown."""
    writer = _Writer(sources[-1], asked, "")
    return writer.end(writer.say("left_out", shown=len(sources), number=number))


def nearest(asked: ParsedQuestion, near: Sequence[Source], now: str) -> CitedSentence | None:
    """Return one sentence that names the nearest records; None where there are none."""
    listed = [_listed(one, asked, now) for one in near if not one.hostile][:NEAREST]
    return _joined(vocabulary.sentence(asked.language, "near", "{}"), "; ", listed) if listed else None


def said(asked: ParsedQuestion, name: str, absent: Sequence[str] = ()) -> CitedSentence:
    """Return a sentence that cites nothing, such as that no record is about the question, or has the words `absent`."""
    quoted = (vocabulary.sentence(asked.language, "quote", word) for word in absent)
    listed = vocabulary.sentence(asked.language, "or").join(quoted)
    return CitedSentence(vocabulary.sentence(asked.language, name, listed), ())


def _joined(form: str, between: str, listed: Sequence[CitedSentence]) -> CitedSentence:
    text = form.replace("{}", between.join(one.text for one in listed))
    quotes = tuple(quote for one in listed for quote in one.quotes)
    return CitedSentence(text, tuple(citation for one in listed for citation in one.citations), quotes)


def _listed(source: Source, asked: ParsedQuestion, now: str) -> CitedSentence:
    writer = _Writer(source, asked, now)
    line = writer.quote(*_titled(source.record), OPTION)
    return writer.end(f"{line}{writer.note(writer.by(getattr(source.record, 'origin', '')))}", stop="")


def _titled(record: Record) -> tuple[str, str]:
    """Return (the field by which a record is called, its text; of a commit the first line); an automatic checkpoint has
    a topic and no name."""
    field = _TITLES.get(kind_of(record), "text")
    if field == "name" and not getattr(record, field):
        field = "summary"
    return field, record.head if isinstance(record, Commit) else str(getattr(whole(record), field))


def _sentences(writer: _Writer, brief: bool) -> Iterator[CitedSentence]:
    """Yield the sentences of a record for the question."""
    source, record = writer.source, writer.source.record
    if source.happened:
        known, brief = vocabulary.table(writer.asked.language)["happened_to"], True
        said = dict.fromkeys(known.get(word, known["touched"]) for word in source.happened.split(", "))
        what = writer.quote(*_titled(record), OPTION)
        yield writer.end(writer.say("changed", date=writer.date(source.at), what=what, happened=", ".join(said)))
    elif isinstance(record, Decision):
        yield from _decision(writer, record, brief)
    else:
        yield writer.end(_sentence(writer, record))
    if isinstance(record, Commit) and not brief and (text := explanation(record.message)):
        at = record.message.index(text, len(record.head))
        if writer.asked.aspect == WHY or writer.chosen("message", text, at):
            yield writer.end(writer.say("told", writer.quote("message", text, at=at)))
    for kind, end in source.links:
        if kind in ("replaced by", "reverted by") or (
            not brief and (writer.asked.aspect in (WHY, WHEN, WHO) or kind == "implements")
        ):
            other = _Writer(end, writer.asked, writer.now)
            line = other.say(kind, other.quote(*_titled(end.record), OPTION))
            by = other.by(end.record.origin) if isinstance(end.record, Decision) else ""
            day = other.date(moment(end.record)) if writer.asked.aspect == WHEN else ""
            yield other.end(f"{line}{other.note(by, day)}")


def _decision(writer: _Writer, record: Decision, brief: bool) -> Iterator[CitedSentence]:
    aspect = writer.asked.aspect
    gone = writer.say(record.status) if record.status in ("superseded", "forgotten") else ""
    by = "" if aspect == WHO and not brief else writer.note(writer.by(record.origin))
    title = writer.quote("title", record.title)
    line = writer.say("decided", date=writer.date(record.decided_at), title=title, note=gone + by)
    line = writer.say("chosen", start=line, chosen=writer.quote("chosen", record.chosen))
    if record.alternatives and not brief and aspect != WHEN:
        options = [writer.quote(f"alternatives.{at}", one, OPTION) for at, one in enumerate(record.alternatives)]
        line = writer.say("instead", start=line, options=", ".join(options))
    yield writer.end(line)
    if brief:
        return
    if aspect == WHO:
        own = record.origin == PERSON
        yield writer.end(writer.say("own") if own else writer.say("recorded", writer.name("origin", record.origin)))
    if record.rationale and aspect != WHEN:
        yield writer.end(writer.say("reason", writer.quote("rationale", record.rationale)))
    if record.context and aspect == WHY:
        yield writer.end(writer.say("context", writer.quote("context", record.context)))


def _sentence(writer: _Writer, record: Record) -> str:
    """Return the sentence of a record other than a decision, without its citation."""
    record, name, say = whole(record), writer.name, writer.say
    parts: dict[str, object] = {"date": writer.date(moment(record))}
    parts |= {field: name(field, getattr(record, field)) for field in NAMES if hasattr(record, field)}
    notes = [writer.by(getattr(record, "origin", ""))]
    match record:
        case Fact():  # since when it is not confirmed, unless it is fresh
            if state(writer.now, record.last_confirmed_at, record.confidence, record.pinned) != "fresh":
                notes.append(say("unconfirmed", writer.date(record.last_confirmed_at)))
            notes.append("" if record.status == "active" else record.status)
            notes.append(say("noted", parts["date"]) if writer.asked.aspect == WHEN and writer.asked.cited else "")
        case models.Event():
            kind = _name(record.event_type.replace("_", " ")) or name("event_type", record.event_type)
            parts["what"] = ", ".join(filter(None, (kind, str(parts["phase"]))))
            notes.insert(0, _held(writer, record.payload))
        case models.Iteration():
            ended = record.completed_at
            end = say(record.status if ended else "active", date=writer.date(ended) if ended else "")
            parts |= {"id": record.id, "end": end}
        case models.Task():
            parts["state"] = say(record.status)
        case models.Turn():
            parts["speaker"] = parts["speaker"] or record.role
    what = parts.pop("what", "") or writer.quote(*_titled(record))
    sentence = say(writer.source.kind, what=what, note=writer.note(*notes), **parts)
    if isinstance(record, models.Summary) and record.outcome:
        return say("outcome", start=sentence, outcome=writer.quote("outcome", record.outcome))
    return sentence


def _held(writer: _Writer, payload: object) -> str:
    """Return what an event holds: its texts as quotes and its numbers as they are, each behind its name, first what has
    words of the question; as much as fits."""
    told, room, about = dict[str, list[str]](), QUOTED, set(writer.asked.about)
    leaves = sorted(_leaves("payload", "", payload), key=lambda leaf: about.isdisjoint(words(" ".join(leaf))))
    for field, name, text in leaves:
        said = told.setdefault(name if room > 0 else "…", [])
        if room > 0:
            said.append(writer.quote(field, text, room) if field else text[:NAMED])
        room -= len(text)
    return ", ".join(f"{name}: {', '.join(said)}".strip(": ") for name, said in told.items())


def _leaves(field: str, name: str, value: object) -> Iterator[tuple[str, str, str]]:
    """Yield (its field, its name, the text) for all texts in a value of JSON, and its numbers without a field."""
    if isinstance(value, dict | list) and field.count(".") < DEEP:
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(f"{field}.{key}", _name(str(key)) if isinstance(value, dict) else name, one)
    elif isinstance(value, str | int | float) and _line(str(value)):
        text = isinstance(value, str)
        yield field * text, name, str(value) if text else json.dumps(value)
