"""Parser of questions: about the data, as filters of the search bar, or about what records say.

A question is about the data if every word is understood as a state, a time, a version, an author, a kind, a count, a
citation, or a question word. Words that are left over are searched for among what the filters let pass; where nothing
there has all of them, all words are searched for.
"""

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

from store.base.citations import Citation, find_citations
from store.base.clock import from_ms, to_ms
from store.database.database import Database
from store.memory import Memory
from store.records.commits import last_release_moment, own_author_name, read_releases
from store.search.query_parser import AUTHOR_AGENTS, AUTHOR_YOU, filter_spans
from store.text.dates import find_period, replace_versions
from store.text.language import detect_language, find_longest_name
from store.text.similarity import split_question
from store.text.words import list_languages, load_words, read_language_file

# Words of questions and templates of answers: one TOML file a language, loaded at first use. To add a language,
# translate `en.toml` into a file beside it.

WORDS_FOLDER = os.path.dirname(__file__)
QUESTION_LANGUAGES = list_languages(WORDS_FOLDER)


def load_language_table(language: str) -> dict[str, Any]:
    """Return the whole file of a language."""
    return read_language_file(WORDS_FOLDER, language)


@cache
def load_phrases(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the phrases of that name in all languages, each as its words, the longest first."""
    every = {
        tuple(phrase.split()) for language in QUESTION_LANGUAGES for phrase in load_language_table(language)[name]
    }
    return tuple(sorted(every, key=lambda phrase: (-len(phrase), phrase)))


@cache
def load_named_phrases(name: str, spoken: str = "") -> dict[tuple[str, ...], str]:
    """Return phrase → what it names, from a table such as `nouns` of all languages, the longest first; where a language
    is `spoken`, without what only asks or points in it: `todo`."""
    found: dict[tuple[str, ...], str] = {}
    hollow = load_language_table(spoken)["asking"].split() if spoken else ()
    for language in QUESTION_LANGUAGES:
        for target, phrases_of in load_language_table(language)[name].items():
            for phrase in phrases_of if isinstance(phrases_of, list) else phrases_of.split():
                if language == spoken or phrase not in hollow:
                    found[tuple(phrase.split())] = target
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


@cache
def load_word_list(name: str) -> frozenset[str]:
    """Return the words of that name in all languages: `asking`, without content; `acts`."""
    return frozenset(
        word for language in QUESTION_LANGUAGES for word in load_language_table(language)[name].split()
    )


@cache
def load_hollow_words() -> frozenset[str]:
    """Return the words that a record of the kind which is asked for need not have: kinds, and acts."""
    return load_word_list("acts") | {word for phrase in load_named_phrases("nouns") for word in phrase}


def fill_sentence(language: str, name: str, *plain: object, **parts: object) -> str:
    """Return a sentence of an answer with its parts filled in."""
    return str(load_language_table(language)["sentences"][name]).format(*plain, **parts)


# characters of a question
MAX_QUESTION = 1_000
# most content words of a question that refers to the previous one
MAX_FOLLOWING_WORDS = 3
# kinds meant by "what happened"
HAPPENING_KINDS = "decision,commit,iteration,event,fact,task"
ASKS_WHAT, ASKS_WHY, ASKS_WHO, ASKS_WHEN = "what", "why", "who", "when"
ASKS_NEWEST, ASKS_OLDEST = "newest", "oldest"
TIME_FILTERS = ("since", "before")
# states whose time only history knows
HISTORY_STATES = ("forgotten", "superseded", "pinned", "progress", "any")
_SHA_PATTERN = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f]|\d{7})[0-9a-f]{4,40}")


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
        shown = {"kind": HAPPENING_KINDS if every else "", "is": "any" if past else ""} | dict(self.filters)
        return self.typed or " ".join([*(f"{name}:{value}" for name, value in shown.items() if value), *self.rest])

    @property
    def asks_history(self) -> bool:
        """Whether history knows what it asks for: what happened in a time, or came into a state then."""
        filters, every = self.filters, self.happened or "kind" not in self.filters
        came = filters.get("is", "any" if every else "")
        told = came in HISTORY_STATES or (came == "done" and filters.get("by") == AUTHOR_YOU)
        return told and not filters.keys().isdisjoint(TIME_FILTERS) and not (self.rest or self.first or self.cited)

    @property
    def query_within_kind(self) -> str:
        """The query for its words among the kind of records that it names, of which any may tell of acts; empty where
        it names none."""
        if not self.rest or "kind" not in self.filters:
            return ""
        left = (word for word in self.text.split() if load_hollow_words().isdisjoint(split_question(word)))
        return f"kind:{self.filters['kind']} {' '.join(left).replace(':', ' ')}"

    def calls_first(self, terms: Sequence[str]) -> bool:
        """Return whether these words call what is asked for the newest or the oldest of its kind."""
        named = [(*phrase, *self.rest[:1]) for phrase in load_phrases(self.first)]
        return bool(self.rest) and _QuestionWords(terms).phrase_position(*named) is not None

    @property
    def kind(self) -> str:
        """One of three kinds of question, for scripts."""
        if self.lists and self.counts:
            return "statistics"
        return "chronology" if self.lists or self.aspect == ASKS_WHEN else "decision"


def parse_question(question: str, memory: Memory, before: ParsedQuestion | None = None) -> ParsedQuestion:
    """Parse a question to a memory; `before` is the previous one. Never raises: any text is valid."""
    text = " ".join(question.split())[:MAX_QUESTION]
    terms = split_question(text)
    spoken = detect_language(text) or _language_by_words(terms, text) or (before.language if before else "en")
    aspect = next(
        (name for name in (ASKS_WHY, ASKS_WHO, ASKS_WHEN) if _QuestionWords(terms).has_phrase(name)), ASKS_WHAT
    )
    terms, cited = _take_citations(terms, text)
    asked = ParsedQuestion(text, spoken, aspect, tuple(dict.fromkeys(_content_words(terms))), cited)
    if filter_spans(text):
        return replace(asked, typed=text, lists=True)
    goes_on = before is not None and _QuestionWords(terms[:1]).has_phrase("goes_on")
    points = before is not None and _QuestionWords(terms).has_phrase("points")
    asked = _take_filters(asked, terms, memory)
    if goes_on and before is not None and not (asked.rest or before.rest):
        asked = _continue_question(asked, before)
    filters, aspect, rest = asked.filters, asked.aspect, asked.rest
    if not rest:
        # a kind of records is enough
        alone = asked.counts or asked.first or before is None
        lists = aspect != ASKS_WHY and bool(filters.keys() - {"kind"} or (filters and alone))
        return replace(asked, lists=lists, follows=before is not None and not cited and not lists)
    follows = not cited and len(asked.about) <= MAX_FOLLOWING_WORDS and (goes_on or points)
    shows = _QuestionWords(terms[:1]).has_phrase("shows")
    dated = not filters.keys().isdisjoint(TIME_FILTERS)
    by_kind = "kind" in filters and (asked.counts or shows or dated or "by" in filters)
    found = asked.first or by_kind or ("by" in filters and not asked.counts) or (shows and dated)
    lists = bool(found) and load_words("negations", "core").isdisjoint(rest)
    return replace(asked, lists=lists and not (follows or cited or aspect == ASKS_WHY), follows=follows)


def speaks_of_decision(terms: Iterable[str]) -> bool:
    """Return whether words speak of a decision."""
    return any(
        load_named_phrases(name).get((word,)) == "decision" for word in terms for name in ("nouns", "implied")
    )


class _QuestionWords:
    """The words of a question of which nothing has been understood yet (`left`)."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.left = list(terms)

    def phrase_position(self, *phrases: tuple[str, ...]) -> slice | None:
        """Return where the first of these phrases that occurs stands in the question."""
        for phrase in phrases:
            for at in range(len(self.left) - len(phrase) + 1):
                if tuple(self.left[at : at + len(phrase)]) == phrase:
                    return slice(at, at + len(phrase))
        return None

    def take_phrase(self, *phrases: tuple[str, ...]) -> bool:
        """Remove the first of these phrases that occurs; return whether there is one."""
        if (place := self.phrase_position(*phrases)) is not None:
            del self.left[place]
        return place is not None

    def has_phrase(self, name: str) -> bool:
        """Return whether a phrase of that name occurs."""
        return self.phrase_position(*load_phrases(name)) is not None

    def take_named(self, *table: str) -> tuple[str, ...]:
        """Remove the phrases of a table; return what they name."""
        return tuple(
            dict.fromkeys(what for phrase, what in load_named_phrases(*table).items() if self.take_phrase(phrase))
        )


def _content_words(terms: Iterable[str]) -> list[str]:
    """Return the words that are no question words."""
    return [word for word in terms if word not in load_word_list("asking")]


def _continue_question(asked: ParsedQuestion, before: ParsedQuestion) -> ParsedQuestion:
    """Return a question with what it does not name itself taken from the previous question."""
    dated = asked.filters.keys() & set(TIME_FILTERS)
    kept = {name: value for name, value in before.filters.items() if not (dated and name in TIME_FILTERS)}
    filters = kept | dict(asked.filters) if asked.filters else {}
    return replace(asked, filters=filters, counts=asked.counts or before.counts, first=asked.first or before.first)


def _take_citations(terms: Sequence[str], text: str) -> tuple[list[str], tuple[Citation, ...]]:
    """Return (the words that are not part of a citation, the records that a question cites: `D#2`, `iteration 3`,
    `commit a1b2c3d`)."""
    cited = [citation for _, _, citation in find_citations(text)]
    parts = {part for one in cited for part in split_question(str(one))}
    kinds, left = load_named_phrases("nouns"), list[str]()
    for word in terms:
        kind, target = kinds.get((left[-1],), "") if left else "", word.lstrip("#")
        if word in parts:
            continue
        if kind == "commit" and _SHA_PATTERN.fullmatch(target):
            cited.append(Citation(kind, target))
        elif kind not in ("", "commit") and target.isascii() and target.isdigit() and 0 < int(target) < 10**9:
            cited.append(Citation(kind, int(target)))
        else:
            left.append(word)
            continue
        left.pop()
    return left, tuple(dict.fromkeys(cited))


def _take_filters(asked: ParsedQuestion, terms: list[str], memory: Memory) -> ParsedQuestion:
    """Return a question with the filters that its words name and the words left over."""
    database = memory.database
    terms, released = replace_versions(terms, cache(lambda: read_releases(database)), load_phrases("version"))
    since, before, named = find_period(" ".join(terms), memory.now)
    runs = [tuple(run) for inside, run in groupby(terms, named.__contains__) if inside]
    found = _QuestionWords(terms)
    found.take_phrase(*sorted(runs, key=len, reverse=True)[:1])
    if found.take_phrase(*load_phrases("release")) and (release := last_release_moment(database)):
        # without the release itself
        since = from_ms(to_ms(release) + 1)
    found.take_phrase(*load_phrases("idle"))
    dated = bool(since or before)
    mine = _QuestionWords(terms).has_phrase("me") and not _QuestionWords(terms).has_phrase("for_me")
    counts = found.take_phrase(*load_phrases("count"))
    first = next((name for name in (ASKS_NEWEST, ASKS_OLDEST) if _take_first(found, name, asked.aspect)), "")
    links = found.take_named("links") if asked.cited else ()
    noun = found.phrase_position(*load_named_phrases("nouns")) is not None
    happened = found.take_phrase(*load_phrases("happened"), *(load_phrases("did") if dated and not noun else ()))
    # else somebody “left”, or “remains”
    states = found.take_named("states") if noun or asked.aspect != ASKS_WHO else ()
    nouns = found.take_named("nouns")
    if nouns and "reverted" in links:
        states = ("reverted",)
    cited = {one.kind for one in asked.cited}
    implied = tuple(kind for kind in found.take_named("implied", asked.language) if kind not in cited)
    idle = load_word_list("acts") | load_word_list("work") if nouns or dated else frozenset[str]()
    agents = found.take_phrase(*load_phrases("agents"))
    author = AUTHOR_AGENTS if agents else _take_author(found, database, asked.aspect, bool(nouns), idle)
    rest = tuple(released.get(word, word) for word in (*_content_words(found.left), *states[1:]))
    if (nouns or dated or author or first) and (counts or not asked.cited):
        rest = tuple(word for word in rest if word not in load_word_list("acts"))
    kinds = nouns or (
        implied if not rest or (asked.aspect == ASKS_WHO and _QuestionWords(terms).has_phrase("decided")) else ()
    )
    # what is to be done is the person's, whoever wrote it
    mine = (
        mine and (kinds or first or dated or (happened and not rest)) and not {"open", "progress"} & {*states[:1]}
    )
    # in an iteration something happened; else it happened to the record
    ends = cited and not rest and (kinds or (happened and "iteration" in cited) or counts or "related" in links)
    filters = {
        "kind": ",".join(kinds),
        "is": states[0] if states and (nouns or not rest) else "",
        "since": since and _format_day(since),
        "before": before and _format_day(before),
        "by": author or (AUTHOR_YOU if mine else ""),
        "linked": str(asked.cited[0]) if ends else "",
    }
    # where nothing linked to a record is asked for, it is the answer itself
    filters = {name: value for name, value in filters.items() if value and (filters["linked"] or not asked.cited)}
    return replace(asked, filters=filters, rest=rest, counts=counts, first=first, happened=happened)


def _take_first(found: _QuestionWords, name: str, aspect: str) -> bool:
    """Remove a word for the newest or the oldest that says which record is asked for: the question asks when, or only
    question words come before it."""
    place = found.phrase_position(*load_phrases(name))
    ahead = {*found.left[: place.start if place else 0]} - load_word_list("acts")
    # whose it is
    telling = [word for word in _content_words(ahead) if not word.endswith(("'s", "’s"))]
    said = (aspect == ASKS_WHEN or not telling) and load_words("dates", "since").isdisjoint(ahead)
    return said and found.take_phrase(*load_phrases(name))


def _take_author(found: _QuestionWords, database: Database, aspect: str, named: bool, idle: Container[str]) -> str:
    """Remove an author, or the part of a name that a question has; return it as a filter says it, empty where there is
    none. It says who did it behind a word such as `by`, of a kind of records also behind `of`, and where there are no
    other content words but the `idle` ones, unless it is whom the question is about."""
    rows = database.column(
        "SELECT DISTINCT author FROM commits UNION SELECT DISTINCT speaker FROM turns WHERE speaker <> ''"
        " UNION SELECT DISTINCT origin FROM decisions UNION SELECT DISTINCT origin FROM facts"
    )
    said = [word.removesuffix("'s").removesuffix("’s") for word in found.left]
    at, size, name = find_longest_name(said, (name.removeprefix("mcp:") for name in rows), split_question)
    own, others = found.left[at : at + size], [*found.left[:at], *found.left[at + size :]]
    near = _QuestionWords(found.left[max(0, at - 2) : at])
    by = any((word,) in load_phrases(name) for word in near.left[-1:] for name in ("by", "of")[: 1 + named])
    whom = near.has_phrase("about") or (aspect == ASKS_WHO and not by)
    if not _content_words(own) or whom or not (by or all(word in idle for word in _content_words(others))):
        return ""
    found.left = [word for word in others if word not in idle]
    name += f",{AUTHOR_YOU}" * ({*said[at : at + size]} <= {*split_question(own_author_name(database))})
    return f'"{name}"' if " " in name else name


def _language_by_words(terms: Sequence[str], text: str) -> str:
    """Return the language of a text too short for `language`, by its punctuation and question words."""
    if "¿" in text or "¡" in text:
        return "es"
    own = {one: len(set(terms) & set(load_language_table(one)["asking"].split())) for one in QUESTION_LANGUAGES}
    best = max(own, key=lambda one: own[one])
    return best if own[best] > min(own.values()) else ""


def _format_day(at: str) -> str:
    """Return a timestamp as it is typed: a date if it is midnight in the local time zone."""
    here = datetime.fromisoformat(at).astimezone()
    return here.date().isoformat() if (here.hour, here.minute, here.second) == (0, 0, 0) else at
