"""Parser of questions: about the data, as a filter in the search bar's syntax, or about what records say.

A question is about the data if every word is understood as a state, a time, a version, an author, a kind, a count, a
path, a citation, or a question word. Words that are left over are searched for among what the filters let pass; where
nothing there has all of them, all words are searched for.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby

from store.base.citations import Citation, find
from store.base.record import changed, record
from store.database.database import Database
from store.git.repository import Repository
from store.librarian import repository_terms
from store.librarian import words as vocabulary
from store.search.query.query_parser import filters
from store.text import vocabulary as texts
from store.text.entities import longest_name
from store.text.language import language
from store.text.similarity.question_similarity import words
from store.text.times import versions
from store.text.times.dates import period

LONGEST = 1_000  # characters of a question
FEW = 3  # most content words of a question that refers to the previous one
HAPPENED = ("decision", "commit", "iteration", "event", "fact", "task")  # kinds meant by "what happened"
DECISION, CHRONOLOGY, STATISTICS = "decision", "chronology", "statistics"
WHAT, WHY, WHO, WHEN = "what", "why", "who", "when"
AGENTS = "agents"
# parts of a filter that a question which goes on takes from the one before
CONTINUED = ("kinds", "state", "since", "before", "author", "linked", "counts", "first", "shas", "path")
_SHA = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f]|\d{7})[0-9a-f]{4,40}")


@record(frozen=True, slots=True)
class DataFilter:
    """The filters that a question about the data names; `counts`: it asks for a number; `first`: it asks for the
    `newest` or the `oldest`; `authors`: it asks which authors made the `most` or the `fewest` commits, or their
    `number`; `compares`: it asks for another comparison, or for numbers by file or time; `words`: what the records are
    about; `shas`: the commits that git named for a `path`, or all merges; None where it was not asked."""

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
    shas: tuple[str, ...] | None = None
    path: str = ""

    @property
    def narrows(self) -> bool:
        """Whether it is specific enough to be used alone."""
        return (
            bool(self.state or self.since or self.before or self.author or self.linked or self.authors)
            or (self.compares or self.shas is not None)
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
    it asks about something in a time or by an author; `lists`: it asks for all records of `within`; `unclear`: what is
    found by words alone does not answer it; `released`: it asks for the release of a version, and cites its commit."""

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
    lists: bool = False
    unclear: bool = False
    released: bool = False

    @property
    def kind(self) -> str:
        """One of three kinds of question, for scripts."""
        if self.data is not None or self.typed:
            return STATISTICS if self.data is not None and self.data.counts else CHRONOLOGY
        return CHRONOLOGY if self.aspect == WHEN else DECISION


def read(
    question: str,
    database: Database,
    now: str,
    before: "ParsedQuestion | None" = None,
    repository: Repository | None = None,
) -> ParsedQuestion:
    """Parse a question; `before` is the previous one. Never raises: any text is valid."""
    text = " ".join(question.split())[:LONGEST]
    terms = words(text)
    spoken = language(text) or _by_words(terms, text) or (before.language if before else "en")
    aspect = next((name for name in (WHY, WHO, WHEN) if has(terms, name)), WHAT)
    terms, cited = _citing(terms, text)
    if filters(text):
        return ParsedQuestion(text, spoken, aspect, tuple(terms), cited, typed=text)
    asked = ParsedQuestion(text, spoken, aspect, _about(terms), cited)
    load = cache(lambda: repository_terms.releases(database, repository))
    terms, released = versions.timed(terms, load, vocabulary.phrases("version"))
    data, rest = _data(terms, database, now, cited, repository)
    shas = [sha for _, sha in released.values()]
    if data.first == "newest" and rest and repository is not None and all(_in(word, "version") for word in rest):
        shas = [versions.newest(load())[0]]
    elif aspect not in (WHEN, WHO) or not all(_in(word, "released") or word in released for word in rest):
        shas = []
    if len(shas) == 1 and shas[0]:
        return changed(asked, cited=(Citation("commit", shas[0]),), released=True)
    rest = [released[word][0] if word in released else word for word in rest]
    goes_on = before is not None and bool(terms) and (terms[0],) in vocabulary.phrases("goes_on")
    timed = bool(data.since or data.before)
    acts = vocabulary.named("acts")
    other = [word for word in rest if not _in(word, "any_change") and acts.get((word,)) != "add"]
    if (timed or data.author) and not data.first and not other:
        rest = []
    if not rest and data != DataFilter():
        if goes_on and before is not None and before.data is not None:
            data = _over(before.data, data)
        if (data.narrows or (data.kinds and before is None)) and aspect != WHY:
            return changed(asked, data=data)
    points = any((word,) in vocabulary.phrases("points") for word in terms)
    leans = before is not None and not cited and (not rest or (len(asked.about) <= FEW and (goes_on or points)))
    dated = changed(data, words=tuple(rest)) if rest and data.first and not leans and _dates(terms, aspect) else None
    nouns = _nouns(terms)
    lists = bool(data.author or data.shas is not None or (nouns and (data.counts or timed)))
    lists = lists and bool(rest) and aspect == WHAT and not (leans or data.first or data.authors or data.compares)
    within = None
    if rest and not dated and (timed or lists):
        thing = other if lists else [word for word in rest if (word,) not in acts]
        kinds = data.kinds or ((*HAPPENED, "turn") if data.author else ())
        state = data.state if data.kinds else ""  # "was anything done about" asks for no state
        within = changed(data, kinds=kinds, state=state, linked=(), words=tuple(thing or rest))
    vague = (data.counts and not nouns) or any(word in texts.words("negations", "core") or "/" in word for word in rest)
    asked = changed(asked, follows=leans, nouns=nouns, decides=decides(terms), dated=dated, within=within)
    unclear = lists or bool(data.authors) or (vague and has(terms, "touched"))
    unclear = unclear or any(nouns and version in rest for version, _ in released.values())
    return changed(asked, lists=lists and not vague, unclear=unclear)


def _in(word: str, name: str) -> bool:
    return (word,) in vocabulary.phrases(name)


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
    if now.since or now.before:
        before = changed(before, since="", before="")
    return DataFilter(**{name: getattr(now, name) or getattr(before, name) for name in CONTINUED})


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
    terms: Sequence[str], database: Database, now: str, cited: Sequence[Citation], repository: Repository | None
) -> tuple[DataFilter, list[str]]:
    """Return (the filter that the words of a question name, the content words left over)."""
    since, until, dated = period(" ".join(terms), now)
    runs = [tuple(run) for inside, run in groupby(terms, dated.__contains__) if inside]
    left = _take(terms, [*sorted(runs, key=lambda run: -len(run))[:1], ()]) or []

    def take(name: str, *phrases: tuple[str, ...]) -> bool:
        """Remove the first phrase of that name, or of these; return whether there is one."""
        nonlocal left
        found = _take(left, phrases or vocabulary.phrases(name))
        left = left if found is None else found
        return found is not None

    if take("release"):
        since = _last_release(database, repository) or since
    counts = take("count")
    merges = repository_terms.touching(repository) if has(left, "merges") else ()
    shas = merges if merges and take("merges") else None
    began = take("began")
    first = "oldest" if began else next((name for name in ("newest", "oldest") if take(name)), "")
    most = "" if first else next((name for name in ("most", "fewest") if take(name)), "")
    compares, state = False, ""
    while not first and take("compared"):
        compares = True
    authors = has(terms, "who")
    while take("authors"):
        authors = True
    for phrase, name in vocabulary.named("states").items():
        while state in ("", name) and take("", phrase):
            state = name
    happened = take("happened")
    named = vocabulary.named("kinds")
    kinds = _nouns(left) or tuple(dict.fromkeys(named[(word,)] for word in left if (word,) in named))
    kinds = ("commit",) if began or shas is not None else kinds
    left = [word for word in left if (word,) not in named]
    if (most or kinds or authors) and take("people"):
        authors = True
    while (most or compares or kinds) and take("counted_by"):
        compares = True
    author = AGENTS if take("agents") else ""
    if not author and (someone := _author(left, database, bool(kinds))):
        author, left = someone
    rest = [word for word in left if word not in vocabulary.asking()]
    path = [word for word in rest if not _in(word, "touched")]
    touches = len(path) < len(rest) or ((happened or kinds == ("commit",)) and "/" in "".join(path))
    changing = repository_terms.touching(repository, path[0]) if len(path) == 1 and touches and shas is None else ()
    if changing:
        kinds, rest, shas = ("commit",), [], changing
    linked = tuple(cited) if kinds or happened or counts else ()
    ranks = most or ("number" if counts else "")
    if not (authors and ranks and set(kinds) <= {"commit"} and not (state or author or linked or compares)):
        ranks, compares = "", compares or bool(most) or (authors and counts)
    found_filter = DataFilter(kinds, state, since, until, author, linked, counts, first, ranks, compares)
    return changed(found_filter, shas=shas, path=path[0] if changing else ""), rest


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


def _author(terms: Sequence[str], database: Database, noun: bool) -> tuple[str, list[str]] | None:
    """Return (the recorded name of an author, or the part of it that a question has, as a filter says it; the words
    that are left). It says who did it behind a word such as `by`, of a kind of records also behind `of` or in two words
    or more, and where there are no other content words."""
    rows = database.rows(
        "SELECT DISTINCT author FROM commits UNION SELECT DISTINCT speaker FROM turns WHERE speaker <> ''"
        " UNION SELECT DISTINCT origin FROM decisions UNION SELECT DISTINCT origin FROM facts"
    )
    said = [word.removesuffix("'s").removesuffix("’s") for word in terms]
    at, size, name = longest_name(said, (name.removeprefix("mcp:") for (name,) in rows), words)
    outside = [word for word in (*terms[:at], *terms[at + size :]) if word not in vocabulary.asking()]
    own = [word for word in terms[at : at + size] if word not in vocabulary.asking()]
    front = next((one for one in vocabulary.phrases("but") if tuple(terms[max(0, at - len(one)) : at]) == one), ())
    ahead = terms[at - 1] if at else ""
    if not own or not (outside == [] or front or _in(ahead, "by") or (noun and (size > 1 or _in(ahead, "of")))):
        return None
    name = f"{'-' * bool(front)}{name}"
    return f'"{name}"' if " " in name else name, [*terms[: at - len(front)], *terms[at + size :]]


def _last_release(database: Database, repository: Repository | None) -> str:
    """Return the timestamp of the last release: an event of that type, the end of the last iteration that shipped one,
    or the commit of a version."""
    at: str = database.value(
        "SELECT max(at) FROM (SELECT max(created_at) AS at FROM events WHERE event_type LIKE '%release%'"
        " UNION SELECT max(coalesce(completed_at, started_at)) FROM iterations WHERE command LIKE '%ship%'"
        " OR command LIKE '%release%' OR description LIKE '%release%')"
    )
    return max(at or "", versions.newest(repository_terms.releases(database, repository))[1])


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
