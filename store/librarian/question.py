"""Parser of questions: about the data, as filters of the search bar, or about what records say.

A question is about the data if every word is understood as a state, a time, a version, an author, a kind, a count, a
citation, or a question word. Words that are left over are searched for among what the filters let pass; where nothing
there has all of them, all words are searched for.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import groupby

from store.base.citations import Citation, find
from store.base.clock import from_ms, to_ms
from store.database.database import Database
from store.librarian import words as vocabulary
from store.memory import Memory
from store.records.timeline.authors import own_name
from store.records.timeline.releases import last_release, releases
from store.search.query.filters import AGENTS, YOU
from store.search.query.query_parser import filters as typed_filters
from store.text import vocabulary as texts
from store.text.entities import longest_name
from store.text.language import language
from store.text.similarity.question_similarity import words
from store.text.times import versions
from store.text.times.dates import period

LONGEST = 1_000  # characters of a question
FEW = 3  # most content words of a question that refers to the previous one
HAPPENED = "decision,commit,iteration,event,fact,task"  # kinds meant by "what happened"
WHAT, WHY, WHO, WHEN = "what", "why", "who", "when"
NEWEST, OLDEST = "newest", "oldest"
TIMES = ("since", "before")
CAME = ("forgotten", "superseded", "pinned", "progress", "any")  # states whose time only history knows
_SHA = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f]|\d{7})[0-9a-f]{4,40}")


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question: its `language`, what it asks of a record (`aspect`), its content words (`about`), the records
    it cites; the `filters` of the search bar that it names (name → value), and the content words beside these (`rest`);
    `typed` if it was written in the search bar's syntax. `counts`: it asks for a number; `first`: for the `newest` or
    the `oldest` (empty: neither); `lists`: for all records that pass the filters and have the rest of its words;
    `happened`: for what happened; `follows`: it refers to the previous exchange."""

    text: str
    language: str
    aspect: str
    about: tuple[str, ...]
    cited: tuple[Citation, ...] = ()
    filters: Mapping[str, str] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    typed: str = ""
    counts: bool = False
    first: str = ""
    lists: bool = False
    happened: bool = False
    follows: bool = False

    @property
    def filter(self) -> str:
        """Its filters and the rest of its words, in the syntax of the search bar."""
        every = not {"kind", "is", "linked"}.intersection(self.filters)
        past = self.first or set(self.filters) - {"kind"}
        shown = {"kind": HAPPENED if every else "", "is": "any" if past else ""} | dict(self.filters)
        return self.typed or " ".join([*(f"{name}:{value}" for name, value in shown.items() if value), *self.rest])

    @property
    def changes(self) -> bool:
        """Whether history knows what it asks for: what happened in a time, or came into a state then."""
        filters, every = self.filters, self.happened or "kind" not in self.filters
        came = filters.get("is", "any" if every else "")
        told = came in CAME or (came == "done" and filters.get("by") == YOU)
        return told and not filters.keys().isdisjoint(TIMES) and not (self.rest or self.first or self.cited)

    @property
    def within(self) -> str:
        """The query for its words among the kind of records that it names, of which any may tell of acts; empty where
        it names none."""
        if not self.rest or "kind" not in self.filters:
            return ""
        left = (word for word in self.text.split() if vocabulary.hollow().isdisjoint(words(word)))
        return f"kind:{self.filters['kind']} {' '.join(left).replace(':', ' ')}"

    def calls_first(self, terms: Sequence[str]) -> bool:
        """Return whether these words call what is asked for the newest or the oldest of its kind."""
        named = [(*phrase, *self.rest[:1]) for phrase in vocabulary.phrases(self.first)]
        return bool(self.rest) and _Words(terms).place(*named) is not None

    @property
    def kind(self) -> str:
        """One of three kinds of question, for scripts."""
        if self.lists and self.counts:
            return "statistics"
        return "chronology" if self.lists or self.aspect == WHEN else "decision"


def read(question: str, memory: Memory, before: ParsedQuestion | None = None) -> ParsedQuestion:
    """Parse a question to a memory; `before` is the previous one. Never raises: any text is valid."""
    text = " ".join(question.split())[:LONGEST]
    terms = words(text)
    spoken = language(text) or _by_words(terms, text) or (before.language if before else "en")
    aspect = next((name for name in (WHY, WHO, WHEN) if _Words(terms).has(name)), WHAT)
    terms, cited = _citing(terms, text)
    asked = ParsedQuestion(text, spoken, aspect, tuple(dict.fromkeys(_telling(terms))), cited)
    if typed_filters(text):
        return replace(asked, typed=text, lists=True)
    goes_on = before is not None and _Words(terms[:1]).has("goes_on")
    points = before is not None and _Words(terms).has("points")
    asked = _filtered(asked, terms, memory)
    if goes_on and before is not None and not (asked.rest or before.rest):
        asked = _continued(asked, before)
    filters, aspect, rest = asked.filters, asked.aspect, asked.rest
    if not rest:
        alone = asked.counts or asked.first or before is None  # a kind of records is enough
        lists = aspect != WHY and bool(filters.keys() - {"kind"} or (filters and alone))
        return replace(asked, lists=lists, follows=before is not None and not cited and not lists)
    follows = not cited and len(asked.about) <= FEW and (goes_on or points)
    shows = _Words(terms[:1]).has("shows")
    dated = not filters.keys().isdisjoint(TIMES)
    by_kind = "kind" in filters and (asked.counts or shows or dated or "by" in filters)
    found = asked.first or by_kind or ("by" in filters and not asked.counts) or (shows and dated)
    lists = bool(found) and texts.words("negations", "core").isdisjoint(rest)
    return replace(asked, lists=lists and not (follows or cited or aspect == WHY), follows=follows)


def decides(terms: Iterable[str]) -> bool:
    """Return whether words speak of a decision."""
    return any(vocabulary.named(name).get((word,)) == "decision" for word in terms for name in ("nouns", "implied"))


class _Words:
    """The words of a question of which nothing has been understood yet (`left`)."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.left = list(terms)

    def place(self, *phrases: tuple[str, ...]) -> slice | None:
        """Return where the first of these phrases is that occurs."""
        for phrase in phrases:
            for at in range(len(self.left) - len(phrase) + 1):
                if tuple(self.left[at : at + len(phrase)]) == phrase:
                    return slice(at, at + len(phrase))
        return None

    def take(self, *phrases: tuple[str, ...]) -> bool:
        """Remove the first of these phrases that occurs; return whether there is one."""
        if (place := self.place(*phrases)) is not None:
            del self.left[place]
        return place is not None

    def has(self, name: str) -> bool:
        """Return whether a phrase of that name occurs."""
        return self.place(*vocabulary.phrases(name)) is not None

    def take_named(self, *table: str) -> tuple[str, ...]:
        """Remove the phrases of a table; return what they name."""
        return tuple(dict.fromkeys(what for phrase, what in vocabulary.named(*table).items() if self.take(phrase)))


def _telling(terms: Iterable[str]) -> list[str]:
    """Return the words that are no question words."""
    return [word for word in terms if word not in vocabulary.listed("asking")]


def _continued(asked: ParsedQuestion, before: ParsedQuestion) -> ParsedQuestion:
    """Return a question with what it does not name itself taken from the one before."""
    dated = asked.filters.keys() & set(TIMES)
    kept = {name: value for name, value in before.filters.items() if not (dated and name in TIMES)}
    filters = kept | dict(asked.filters) if asked.filters else {}
    return replace(asked, filters=filters, counts=asked.counts or before.counts, first=asked.first or before.first)


def _citing(terms: Sequence[str], text: str) -> tuple[list[str], tuple[Citation, ...]]:
    """Return (the words that are not part of a citation, the records that a question cites: `D#2`, `iteration 3`,
    `commit a1b2c3d`)."""
    cited = [citation for _, _, citation in find(text)]
    parts, kinds, left = {part for one in cited for part in words(str(one))}, vocabulary.named("nouns"), list[str]()
    for word in terms:
        kind, target = kinds.get((left[-1],), "") if left else "", word.lstrip("#")
        if word in parts:
            continue
        if kind == "commit" and _SHA.fullmatch(target):
            cited.append(Citation(kind, target))
        elif kind not in ("", "commit") and target.isascii() and target.isdigit() and 0 < int(target) < 10**9:
            cited.append(Citation(kind, int(target)))
        else:
            left.append(word)
            continue
        left.pop()
    return left, tuple(dict.fromkeys(cited))


def _filtered(asked: ParsedQuestion, terms: list[str], memory: Memory) -> ParsedQuestion:
    """Return a question with the filters that its words name and the words left over."""
    database = memory.database
    terms, released = versions.timed(terms, cache(lambda: releases(database)), vocabulary.phrases("version"))
    since, before, named = period(" ".join(terms), memory.now)
    runs = [tuple(run) for inside, run in groupby(terms, named.__contains__) if inside]
    found = _Words(terms)
    found.take(*sorted(runs, key=len, reverse=True)[:1])
    if found.take(*vocabulary.phrases("release")) and (release := last_release(database)):
        since = from_ms(to_ms(release) + 1)  # without the release itself
    found.take(*vocabulary.phrases("idle"))
    dated = bool(since or before)
    mine = _Words(terms).has("me") and not _Words(terms).has("for_me")
    counts = found.take(*vocabulary.phrases("count"))
    first = next((name for name in (NEWEST, OLDEST) if _take_first(found, name, asked.aspect)), "")
    links = found.take_named("links") if asked.cited else ()
    noun = found.place(*vocabulary.named("nouns")) is not None
    happened = found.take(*vocabulary.phrases("happened"), *(vocabulary.phrases("did") if dated and not noun else ()))
    states = found.take_named("states") if noun or asked.aspect != WHO else ()  # else somebody “left”, or “remains”
    nouns = found.take_named("nouns")
    if nouns and "reverted" in links:
        states = ("reverted",)
    cited = {one.kind for one in asked.cited}
    implied = tuple(kind for kind in found.take_named("implied", asked.language) if kind not in cited)
    idle = vocabulary.listed("acts") | vocabulary.listed("work") if nouns or dated else frozenset[str]()
    agents = found.take(*vocabulary.phrases("agents"))
    author = AGENTS if agents else _author(found, database, asked.aspect, bool(nouns), idle)
    rest = tuple(released.get(word, word) for word in (*_telling(found.left), *states[1:]))
    if (nouns or dated or author or first) and (counts or not asked.cited):
        rest = tuple(word for word in rest if word not in vocabulary.listed("acts"))
    kinds = nouns or (implied if not rest or (asked.aspect == WHO and _Words(terms).has("decided")) else ())
    # what is to be done is the person's, whoever wrote it
    mine = mine and (kinds or first or dated or (happened and not rest)) and not {"open", "progress"} & {*states[:1]}
    # in an iteration something happened; else it happened to the record
    ends = cited and not rest and (kinds or (happened and "iteration" in cited) or counts or "related" in links)
    filters = {
        "kind": ",".join(kinds),
        "is": states[0] if states and (nouns or not rest) else "",
        "since": since and _day(since),
        "before": before and _day(before),
        "by": author or (YOU if mine else ""),
        "linked": str(asked.cited[0]) if ends else "",
    }
    # where nothing linked to a record is asked for, it is the answer itself
    filters = {name: value for name, value in filters.items() if value and (filters["linked"] or not asked.cited)}
    return replace(asked, filters=filters, rest=rest, counts=counts, first=first, happened=happened)


def _take_first(found: _Words, name: str, aspect: str) -> bool:
    """Remove a word for the newest or the oldest that says which record is asked for: the question asks when, or only
    question words come before it."""
    place = found.place(*vocabulary.phrases(name))
    ahead = {*found.left[: place.start if place else 0]} - vocabulary.listed("acts")
    telling = [word for word in _telling(ahead) if not word.endswith(("'s", "’s"))]  # whose it is
    said = (aspect == WHEN or not telling) and texts.words("dates", "since").isdisjoint(ahead)
    return said and found.take(*vocabulary.phrases(name))


def _author(found: _Words, database: Database, aspect: str, named: bool, idle: Container[str]) -> str:
    """Remove an author, or the part of a name that a question has; return it as a filter says it, empty where there is
    none. It says who did it behind a word such as `by`, of a kind of records also behind `of`, and where there are no
    other content words but the `idle` ones, unless it is whom the question is about."""
    rows = database.rows(
        "SELECT DISTINCT author FROM commits UNION SELECT DISTINCT speaker FROM turns WHERE speaker <> ''"
        " UNION SELECT DISTINCT origin FROM decisions UNION SELECT DISTINCT origin FROM facts"
    )
    said = [word.removesuffix("'s").removesuffix("’s") for word in found.left]
    at, size, name = longest_name(said, (name.removeprefix("mcp:") for (name,) in rows), words)
    own, others = found.left[at : at + size], [*found.left[:at], *found.left[at + size :]]
    near = _Words(found.left[max(0, at - 2) : at])
    by = any((word,) in vocabulary.phrases(name) for word in near.left[-1:] for name in ("by", "of")[: 1 + named])
    whom = near.has("about") or (aspect == WHO and not by)
    if not _telling(own) or whom or not (by or all(word in idle for word in _telling(others))):
        return ""
    found.left = [word for word in others if word not in idle]
    name += f",{YOU}" * ({*said[at : at + size]} <= {*words(own_name(database))})
    return f'"{name}"' if " " in name else name


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
