"""Parser of questions: about the data, as a filter in the search bar's syntax, or about what records say.

A question is about the data only if every word is understood as a state, a time, an author, a kind, a count, a
citation, or a question word. Any other question is searched for.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from store.base.citations import Citation, find
from store.base.record import changed, record
from store.database.database import Database
from store.librarian import words as vocabulary
from store.search.query.query_parser import filters
from store.text.language import language
from store.text.similarity.question_similarity import words
from store.text.times.dates import period

LONGEST = 1_000  # characters of a question
FEW = 3  # most content words of a question that refers to the previous one
HAPPENED = ("decision", "commit", "iteration", "event", "fact", "task")  # kinds meant by "what happened"
DECISION, CHRONOLOGY, STATISTICS = "decision", "chronology", "statistics"
WHAT, WHY, WHO, WHEN = "what", "why", "who", "when"
AGENTS = "agents"
_SHA = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f]|\d{7})[0-9a-f]{4,40}")


@record(frozen=True, slots=True)
class DataFilter:
    """The filters that a question about the data names; `counts`: it asks for a number; `first`: it asks for the
    `newest` or the `oldest`; `authors`: it asks which authors made the `most` or the `fewest` commits, or their
    `number`; `compares`: it asks for another comparison, or for numbers by file or time; `words`: what the newest or
    the oldest is about."""

    kinds: tuple[str, ...] = ()
    state: str = ""
    since: str = ""
    before: str = ""
    author: str = ""
    linked: tuple[Citation, ...] = ()
    counts: bool = False
    first: str = ""
    authors: str = ""
    compares: bool = False
    words: tuple[str, ...] = ()

    @property
    def narrows(self) -> bool:
        """Whether it is specific enough to be used alone."""
        return (
            bool(self.state or self.since or self.before or self.author or self.linked or self.authors)
            or (self.compares)
            or (bool(self.kinds) and (self.counts or bool(self.first)))
        )

    @property
    def text(self) -> str:
        """The filters in the syntax of the search bar."""
        kinds = self.kinds
        if not kinds and not self.linked and not self.state:
            kinds = HAPPENED
        parts = [f"kind:{','.join(kinds)}"] if kinds else []
        state = self.state or ("any" if self.since or self.before or self.author or self.first or self.linked else "")
        parts += [f"is:{state}"] if state else []
        parts += [f"{name}:{_day(at)}" for name, at in (("since", self.since), ("before", self.before)) if at]
        parts += [f"by:{self.author}"] if self.author else []
        return " ".join([*parts, *(f"linked:{one}" for one in self.linked), *self.words])


@record(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question: its `language`, what it asks of a record (`aspect`), its content words (`about`), the records
    it cites, its filter if it is about the data (`data`, or `typed` if it was written in the search bar's syntax);
    `nouns`, the kinds of record that it names; `decides`: it asks for a decision; `follows`: it refers to the
    previous exchange; `dated`: the filter if it asks for the newest or the oldest record about something, `within` if
    it asks about something in a time."""

    text: str
    language: str
    aspect: str
    about: tuple[str, ...]
    cited: tuple[Citation, ...] = ()
    data: DataFilter | None = None
    typed: str = ""
    follows: bool = False
    nouns: tuple[str, ...] = ()
    decides: bool = False
    dated: DataFilter | None = None
    within: DataFilter | None = None

    @property
    def kind(self) -> str:
        """One of three kinds of question, for scripts."""
        if self.data is not None or self.typed:
            return STATISTICS if self.data is not None and self.data.counts else CHRONOLOGY
        return CHRONOLOGY if self.aspect == WHEN else DECISION


def read(question: str, database: Database, now: str, before: "ParsedQuestion | None" = None) -> ParsedQuestion:
    """Parse a question; `before` is the previous one. Never raises: any text is valid."""
    text = " ".join(question.split())[:LONGEST]
    terms = words(text)
    spoken = language(text) or _by_words(terms, text) or (before.language if before else "en")
    aspect = next((name for name in (WHY, WHO, WHEN) if has(terms, name)), WHAT)
    terms, cited = _citing(terms, text)
    if filters(text):
        return ParsedQuestion(text, spoken, aspect, tuple(terms), cited, typed=text)
    asked = ParsedQuestion(text, spoken, aspect, _about(terms), cited)
    data, rest = _data(terms, database, now, cited)
    goes_on = before is not None and bool(terms) and (terms[0],) in vocabulary.phrases("goes_on")
    if not rest and data != DataFilter():
        if goes_on and before is not None and before.data is not None:
            data = _over(before.data, data)
        if (data.narrows or (data.kinds and before is None)) and aspect != WHY:
            return changed(asked, data=data)
    points = any((word,) in vocabulary.phrases("points") for word in terms)
    leans = before is not None and not cited and (not rest or (len(asked.about) <= FEW and (goes_on or points)))
    dated = changed(data, words=tuple(rest)) if rest and data.first and not leans and _dates(terms, aspect) else None
    thing = tuple(word for word in rest if (word,) not in vocabulary.named("acts"))
    within = DataFilter(data.kinds, since=data.since, before=data.before, words=thing or tuple(rest))
    timed = within if rest and (data.since or data.before) and not dated else None
    return changed(asked, follows=leans, nouns=_nouns(terms), decides=decides(terms), dated=dated, within=timed)


def _dates(terms: Sequence[str], aspect: str) -> bool:
    """Return whether a question with a word for the newest or the oldest asks when that was, or which it is: only
    question words come before."""
    if aspect == WHEN:
        return True
    phrases = (*vocabulary.phrases("newest"), *vocabulary.phrases("oldest"))
    at = min(at for phrase in phrases for at in range(len(terms)) if tuple(terms[at : at + len(phrase)]) == phrase)
    return aspect != WHY and at > 0 and all(word in vocabulary.asking() for word in terms[:at])


def decides(terms: Sequence[str]) -> bool:
    """Return whether words speak of a decision."""
    return any(vocabulary.named("kinds").get((word,)) == "decision" for word in terms)


def _over(before: DataFilter, now: DataFilter) -> DataFilter:
    """Return a filter that continues another: what `now` does not set is taken from `before`."""
    timed = bool(now.since or now.before)
    return DataFilter(
        now.kinds or before.kinds,
        now.state or before.state,
        now.since if timed else before.since,
        now.before if timed else before.before,
        now.author or before.author,
        now.linked or before.linked,
        now.counts or before.counts,
        now.first or before.first,
    )


def _citing(terms: list[str], text: str) -> tuple[list[str], tuple[Citation, ...]]:
    """Return (the words that are not part of a citation, the records that a question cites: `D#2`, `iteration 3`,
    `commit a1b2c3d`)."""
    cited = [citation for _, _, citation in find(text)]
    left = [word for word in terms if word not in {part for one in cited for part in words(str(one))}]
    named = vocabulary.named("kinds")
    at = len(left) - 1
    while at > 0:
        kind, target = named.get((left[at - 1],), ""), left[at].lstrip("#")
        if kind == "commit" and _SHA.fullmatch(target):
            cited.append(Citation(kind, target))
        elif kind and kind != "commit" and target.isascii() and target.isdigit() and 0 < int(target) < 10**9:
            cited.append(Citation(kind, int(target)))
        else:
            at -= 1
            continue
        del left[at - 1 : at + 1]
        at -= 2
    return left, tuple(dict.fromkeys(cited))


def _data(
    terms: Sequence[str], database: Database, now: str, cited: Sequence[Citation]
) -> tuple[DataFilter, list[str]]:
    """Return (the filter that the words of a question name, the content words left over)."""
    since, until, dated = period(" ".join(terms), now)
    left = [word for word in terms if word not in dated]
    if (released := _take(left, vocabulary.phrases("release"))) is not None:
        left, since = released, _last_release(database) or since
    counts = first = state = ""
    if (found := _take(left, vocabulary.phrases("count"))) is not None:
        left, counts = found, "yes"
    for name in ("newest", "oldest"):
        if (found := _take(left, vocabulary.phrases(name))) is not None:
            left, first = found, name
    compares, most = False, ""
    for name in ("most", "fewest"):
        if not first and not most and (found := _take(left, vocabulary.phrases(name))) is not None:
            left, most = found, name
    while not first and (found := _take(left, vocabulary.phrases("compared"))) is not None:
        left, compares = found, True
    authors = has(terms, "who")
    while (found := _take(left, vocabulary.phrases("authors"))) is not None:
        left, authors = found, True
    for phrase, name in vocabulary.named("states").items():
        while state in ("", name) and (found := _take(left, [phrase])) is not None:
            left, state = found, name
    happened = _take(left, vocabulary.phrases("happened"))
    left = left if happened is None else happened
    named = vocabulary.named("kinds")
    kinds = _nouns(left) or tuple(dict.fromkeys(named[(word,)] for word in left if (word,) in named))
    left = [word for word in left if (word,) not in named]
    if (most or kinds) and (found := _take(left, vocabulary.phrases("people"))) is not None:
        left, authors = found, True
    while (most or compares or kinds) and (found := _take(left, vocabulary.phrases("counted_by"))) is not None:
        left, compares = found, True
    author = ""
    if (found := _take(left, vocabulary.phrases("agents"))) is not None:
        left, author = found, AGENTS
    rest = [word for word in left if word not in vocabulary.asking()]
    if rest and not author and (who := _author(rest, database)):
        author, used = who
        rest = [word for word in rest if word not in used]
    linked = tuple(cited) if kinds or happened is not None or counts else ()
    ranks = most or ("number" if counts else "")
    if not (authors and ranks and set(kinds) <= {"commit"} and not (state or author or linked or compares)):
        ranks, compares = "", compares or bool(most) or (authors and bool(counts))
    return DataFilter(kinds, state, since, until, author, linked, bool(counts), first, ranks, compares), rest


def _take(terms: Sequence[str], phrases: "Iterable[tuple[str, ...]]") -> list[str] | None:
    """Return the words without the first of these phrases that occurs in them; None where none does."""
    for phrase in phrases:
        for at in range(len(terms) - len(phrase) + 1):
            if tuple(terms[at : at + len(phrase)]) == phrase:
                return [*terms[:at], *terms[at + len(phrase) :]]
    return None


def has(terms: Sequence[str], name: str) -> bool:
    """Return whether words contain a phrase of that name."""
    return contains(terms, vocabulary.phrases(name))


def contains(terms: Sequence[str], phrases: "Iterable[tuple[str, ...]]") -> bool:
    """Return whether words contain one of these phrases."""
    return _take(terms, phrases) is not None


def _about(terms: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in terms if word not in vocabulary.asking()))


def _nouns(terms: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of record that a question names by a noun."""
    found = []
    for one in vocabulary.LANGUAGES:
        for kind, names in vocabulary.table(one)["names"].items():
            if kind != "record" and any(part in terms for name in names for part in words(name)):
                found.append(kind)
    return tuple(dict.fromkeys(found))


def _author(rest: Sequence[str], database: Database) -> tuple[str, set[str]] | None:
    """Return (the recorded name of an author, the words that name them) if all of `rest` do; else None."""
    rows = database.rows(
        "SELECT DISTINCT author FROM commits UNION SELECT DISTINCT speaker FROM turns WHERE speaker <> ''"
        " UNION SELECT DISTINCT origin FROM decisions UNION SELECT DISTINCT origin FROM facts"
    )
    for (name,) in rows:
        parts = [part for part in name.replace(":", " ").split() if part]
        used = {word.removesuffix("'s").removesuffix("’s"): word for word in rest}
        own = [part for part in parts if " ".join(words(part)) in used]
        if own and len(own) == len(rest):
            return own[0] if len(own) == 1 else f'"{" ".join(own)}"', set(rest)
    return None


def _last_release(database: Database) -> str:
    """Return the timestamp of the last release: an event of that type, or the end of the last iteration that shipped
    one."""
    at: str = database.value(
        "SELECT max(at) FROM (SELECT max(created_at) AS at FROM events WHERE event_type LIKE '%release%'"
        " UNION SELECT max(coalesce(completed_at, started_at)) FROM iterations WHERE command LIKE '%ship%'"
        " OR command LIKE '%release%' OR description LIKE '%release%')"
    )
    return at or ""


def _by_words(terms: Sequence[str], text: str) -> str:
    """Return the language of a text too short for `language`, by its punctuation and question words."""
    if "¿" in text or "¡" in text:
        return "es"
    own = {one: len(set(terms) & set(vocabulary.table(one)["asking"].split())) for one in vocabulary.LANGUAGES}
    best = max(own, key=lambda one: own[one])
    return best if own[best] > min(own.values()) else ""


def _day(at: str) -> str:
    """Return a timestamp as it is typed: a date if it is midnight in the local time zone."""
    here = datetime.fromisoformat(at).astimezone()
    return here.date().isoformat() if (here.hour, here.minute, here.second) == (0, 0, 0) else at
