"""Parser of the search bar's text (words, filters, a citation), and its filters as conditions on rows of the corpus.

Any text is a valid query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unicodedata import normalize

from store.base.citations import Citation, parse_citation, parse_typed_citation
from store.base.errors import InvalidInput
from store.base.vocabulary import (
    DOMAINS,
    EVIDENCE_STATES,
    FACT_STATUSES,
    KIND_NUMBERS,
    PERSON_ORIGIN,
    RECORD_KEY_MASK,
    SEARCHABLE,
)
from store.config.configuration import Config
from store.database.connection import bind_integers
from store.database.database import MADE_IN_SQL, Database
from store.database.schema import SUMMARY_TIME_SQL, argument_text
from store.records.commits import own_author_name, release_moment
from store.records.facts import AGE_STATES, age_state_sql
from store.records.tags import HAS_TAG_SQL, TAG_TABLES, fold_tag, register_folded_tag
from store.text.dates import FindRelease, no_release, parse_typed_moment
from store.text.words import LETTERS_PATTERN, WORD_OR_VERSION_PATTERN, normalize_text

if TYPE_CHECKING:
    from apsw import SQLiteValue

    from store.embedding.vector_codes import PassageIds

# Which sessions may search, so that a group chat cannot read what a person said in private.
#
# A session's key is the name that its agent gives it, parts joined by colons: `direct`, `discord:channel:7`,
# `telegram:direct:ana`.

CHAT_TYPES = ("direct", "group", "channel")


def why_search_denied(session: str, rules: Sequence[str], default: str) -> str:
    """Return why this session may not search, or an empty text if it may. An empty `session` is a person at the screen,
    who may.

    A rule is `allow` or `deny` and one condition: `chatType=` one of CHAT_TYPES, or `keyPrefix=` the beginning of the
    key. The first rule that matches decides, else `default` (allow or deny). A rule that cannot be read denies, so that
    a typo grants nothing.
    """
    if not session:
        return ""
    for number, rule in enumerate(rules, start=1):
        action, _, condition = rule.strip().partition(" ")
        name, _, value = condition.strip().partition("=")
        if action not in ("allow", "deny") or name not in ("chatType", "keyPrefix") or not value:
            return f"rule {number} of search.scopeRules cannot be read"
        fits = value in session.split(":") if name == "chatType" else session.startswith(value)
        if fits:
            return "" if action == "allow" else f"rule {number} of search.scopeRules denies it: {rule.strip()}"
    return "" if default == "allow" else "no rule of search.scopeRules allows it, and search.scope is deny"


FILTER_NAMES = (
    *("kind", "domain", "is", "in", "author", "by", "tag", "branch", "iteration", "since", "before"),
    *("related", "linked"),
)
# → the filter that there is
SUGGESTED_FILTERS = {"until": "before", "till": "before", "after": "since"}
QUERY_STATUSES = tuple(status for status in FACT_STATUSES if status != "contradicted")
AGEING_WORDS = ("aging", "low", "stale")
STATUS_ALIASES = {"replaced": "superseded"}
WORK_WORDS = ("open", "progress", "done", "abandoned", "reverted", "valid", "void", "any")
# of what records rest on
EVIDENCE_WORDS = EVIDENCE_STATES[1:]
# words of the longest phrase or question that is searched word for word
MAX_PHRASE_WORDS = 64
IS_VALUES = (*QUERY_STATUSES, *STATUS_ALIASES, "pinned", *AGEING_WORDS, *WORK_WORDS, *EVIDENCE_WORDS)
# characters of a filter's value in a message
MAX_SHOWN_VALUE = 60
INBOX_NOTE = "What waits in the inbox is shown to a person alone, who accepts it or not."
_FILTER_PATTERN = re.compile(
    rf"(?<!\S)({'|'.join((*FILTER_NAMES, *SUGGESTED_FILTERS))}):(?:\"([^\"]*)\"|(\S+))", re.IGNORECASE
)
_HINTED_PATTERN = re.compile(r"(?<!\S)([-#])([^\W\d_][\w-]*\w)(?!\S)")
_QUOTED_PATTERN = re.compile(r"[\"“”«»]([^\"“”«»]*\w[^\"“”«»]*)[\"“”«»]")

_EATING_PATTERN = re.compile(
    r"\b(?:comer|como|tomar|comida|eat|eating|food|drink|cocin\w+|cook\w*)\b", re.IGNORECASE
)
_FORBIDDEN_PATTERN = re.compile(
    r"\b(?:no|not|can.?t|cannot|shouldn.?t|mustn.?t|nunca|never|evitar|avoid)\b", re.IGNORECASE
)
# words in which people state what they must not eat
DIET_WORDS = (
    "alérgico alérgica alérgicos alergia alergias celíaco celíaca intolerante intolerancia vegano vegana vegetariano"
    " vegetariana allergic allergy allergies coeliac celiac intolerant vegan vegetarian"
).split()


def implied_words(text: str) -> list[str]:
    """Return words that an answer is likely to contain although the question does not: what somebody must not eat is
    recorded as an allergy or a diet."""
    return DIET_WORDS if _EATING_PATTERN.search(text) and _FORBIDDEN_PATTERN.search(text) else []


@dataclass(slots=True, eq=False, repr=False)
class ParsedQuery:
    """A parsed query. `words` are in the order typed; `typing` is set when the last may be unfinished; filters are
    empty when not given. All of several kinds, domains, tags, authors, branches, iterations (ids) and ageing states
    must hold; `now` is the time that ages are measured at. `text` is the query without its filters; `related` cites the
    record whose related records are wanted; `phrases` are the quoted phrases, which must occur word for word (but see
    `quotes_in_part`); `code` asks for code only, `inbox` for what waits there; `refused` says which
    filters have a value that is not understood, each with what it takes, and `notes` in plain words which parts could
    not be used, these first."""

    now: str
    tags: list[str] = field(init=False, default_factory=list)
    authors: list[str] = field(init=False, default_factory=list)
    ageing: list[str] = field(init=False, default_factory=list)
    pinned: bool = field(init=False, default=False)
    words: list[str] = field(init=False, default_factory=list)
    phrases: list[str] = field(init=False, default_factory=list)
    code: bool = field(init=False, default=False)
    inbox: bool = field(init=False, default=False)
    text: str = field(init=False, default="")
    typing: bool = field(init=False, default=False)
    kinds: list[tuple[str, ...]] = field(init=False, default_factory=list)
    domains: list[str] = field(init=False, default_factory=list)
    scopes: list[str] = field(init=False, default_factory=list)
    branches: list[str] = field(init=False, default_factory=list)
    iterations: list[int] = field(init=False, default_factory=list)
    since: str = field(init=False, default="")
    before: str = field(init=False, default="")
    status: str = field(init=False, default="")
    citation: Citation | None = field(init=False, default=None)
    related: Citation | None = field(init=False, default=None)
    linked: list[Citation] = field(init=False, default_factory=list)
    work: list[str] = field(init=False, default_factory=list)
    rests: list[str] = field(init=False, default_factory=list)
    refused: list[tuple[str, str]] = field(init=False, default_factory=list)
    notes: list[str] = field(init=False, default_factory=list)

    def refuse_value(self, name: str, value: str, takes: str, why: str = "") -> None:
        """Refuse the value of a filter."""
        self.notes.insert(len(self.refused), f"{name}: takes {takes}")
        cause = f"The filter {name}:{value[:MAX_SHOWN_VALUE]} is not understood.{why}"
        self.refused.append((cause, f"{name}: takes {takes}."))

    def refuse_filter(self, name: str, value: str, word: str) -> None:
        """Refuse a filter that does not exist; `word` is the filter to write instead."""
        written = f"{word}:{value[:MAX_SHOWN_VALUE]}"
        self.notes.insert(len(self.refused), f"{name}: is no filter; write {written}")
        self.refused.append((f"There is no filter {name}:.", f"Write {written}."))

    @property
    def quotes_in_part(self) -> bool:
        """Whether there are quoted phrases and other words beside them: such a query quotes a term in a question, and
        is not a search for a quotation."""
        return bool(self.phrases) and len(self.words) > sum(len(phrase.split()) for phrase in self.phrases)


def parse_query(text: str, now: str, released: FindRelease = no_release) -> ParsedQuery:
    """Parse a query; `released` returns the moment of a version, or of the last release. Never raises: a part that is
    not understood is searched for as a word, or reported in `notes`."""
    query = ParsedQuery(now)
    if not text.isascii():
        # a combining accent would split its word
        text = normalize("NFC", text)
    rest = _FILTER_PATTERN.sub(
        lambda match: _take_filter(query, match[1].lower(), match[2] or match[3] or "", now, released), text
    )
    try:
        query.citation = parse_typed_citation(rest)
    except InvalidInput:
        pass
    query.text = " ".join(rest.split())
    query.phrases = [
        " ".join(LETTERS_PATTERN.findall(phrase)[:MAX_PHRASE_WORDS]) for phrase in _QUOTED_PATTERN.findall(rest)
    ]
    query.words = WORD_OR_VERSION_PATTERN.findall(rest)
    query.typing = bool(query.words) and rest[-1:].isalnum()
    return query


def filter_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of every filter in a query, in order."""
    return [match.span() for match in _FILTER_PATTERN.finditer(text)]


def query_hints(text: str) -> list[str]:
    """Return notes on signs that mean nothing here: a dash excludes no word, and `#` names no tag."""
    found = _HINTED_PATTERN.findall(_QUOTED_PATTERN.sub(" ", _FILTER_PATTERN.sub(" ", text)))
    return list(dict.fromkeys(_format_hint(sign, word) for sign, word in found))


def _format_hint(sign: str, word: str) -> str:
    """Return the note on a word behind a dash or `#`."""
    if sign == "#":
        return f"#{word} is looked for as a word: tag:{word} keeps what has the tag."
    return f"-{word} is looked for as a word: nothing is excluded."


def _take_filter(query: ParsedQuery, name: str, value: str, now: str, released: FindRelease) -> str:
    """Move a filter from the text into `query` and return what replaces it; report an invalid value in `notes`."""
    words = tuple(value.lower().split(","))
    if name == "kind":
        kinds = tuple(word.removesuffix("s") for word in words)
        if all(kind in SEARCHABLE for kind in kinds):
            # kind:fact kind:task: either
            query.kinds = [(*(query.kinds[0] if query.kinds else ()), *kinds)]
        else:
            query.refuse_value(name, value, ", ".join(SEARCHABLE))
    elif name == "domain":
        if value.lower() in DOMAINS:
            query.domains = [value.lower()]
        else:
            query.refuse_value(name, value, ", ".join(DOMAINS))
    elif name == "is":
        if not add_is_filter(query, value.lower()):
            query.refuse_value(name, value, ", ".join(IS_VALUES))
    elif name == "in":
        if words == ("inbox",):
            query.inbox = True
            query.notes.append(INBOX_NOTE)
        elif words == ("code",):
            query.code = True
        else:
            query.refuse_value(name, value, "code, inbox")
    elif name == "tag":
        query.tags.append(value)
    elif name == "branch":
        query.branches.append(value)
    elif name in ("author", "by"):
        query.authors.append(value)
    elif name == "iteration":
        try:
            found = parse_citation(value, "iteration")
        except InvalidInput:
            found = None
        if found and found.kind == "iteration":
            query.iterations.append(int(found.target))
        else:
            query.refuse_value(name, value, "a number, as in iteration:5 or iteration:I#5")
    elif name in ("related", "linked"):
        try:
            cited = parse_typed_citation(value)
        except InvalidInput:
            query.refuse_value(name, value, "a citation like F#12, D#3 or notes.md#L10")
        else:
            if name == "related":
                query.related = cited
            else:
                query.linked.append(cited)
    elif name in SUGGESTED_FILTERS:
        try:
            parse_typed_moment(value, now, released)
        except InvalidInput:
            # words, as in code
            return f"{name}:{value}"
        query.refuse_filter(name, value, SUGGESTED_FILTERS[name])
    else:
        try:
            setattr(query, name, parse_typed_moment(value, now, released))
        except InvalidInput as error:
            query.refuse_value(
                name, value, "a date like 2026-11-01, or 2d, 3w, yesterday, release, v1.0", f" {error.message}"
            )
    return " "


def add_is_filter(query: ParsedQuery, word: str) -> bool:
    """Add the filter `is:word` to `query`; return False if `word` is none of IS."""
    status = STATUS_ALIASES.get(word, word)
    if status in QUERY_STATUSES:
        query.status = status
    elif word in AGEING_WORDS:
        query.ageing.append(word)
    elif word == "pinned":
        query.pinned = True
    elif word in WORK_WORDS:
        query.work.append(word)
    elif word in EVIDENCE_WORDS:
        query.rests.append(word)
    return word in IS_VALUES


# The settings of the search.

# the values of `search.setting` = seed
SEED_WEIGHTS = {
    "vectorWeight": 0.7,
    "textWeight": 0.3,
    "candidateMultiplier": 4,
    "halfLifeDays": 30,
    "lambda": 0.7,
}


class SearchSettings:
    """The weights of the signals: with `plain` false those of `ranking.SIGNAL_WEIGHTS`, as measured, and the numbers
    below are not used; with `plain` true the numbers of SEED_WEIGHTS or of the configuration."""

    def __init__(self, config: Config) -> None:
        chosen = config["search.setting"]
        numbers = SEED_WEIGHTS if chosen == "seed" else {name: config[f"search.{name}"] for name in SEED_WEIGHTS}
        self.plain = chosen != "measured"
        self.vector_weight = float(numbers["vectorWeight"])
        self.text_weight = float(numbers["textWeight"])
        self.multiplier = int(numbers["candidateMultiplier"])
        self.half_life = int(numbers["halfLifeDays"])
        self.diversity = float(numbers["lambda"])
        self._rules = tuple(config["search.scopeRules"])
        self._default = str(config["search.scope"])

    def why_denied(self, session: str) -> str:
        """Return why this session may not search, or an empty text; see `why_search_denied`."""
        return why_search_denied(session, self._rules, self._default)


_TABLE_OF_KIND = {"summary": "summaries"}
_AUTHOR_COLUMNS = {"commit": "author", "turn": "speaker || ' ' || origin"}
# kind → SQL for its author; of a document the author is not known
_AUTHOR_SQL = {
    kind: f"SELECT {_AUTHOR_COLUMNS.get(kind, 'origin')} FROM "
    f"{_TABLE_OF_KIND.get(kind, f'{kind}s')} WHERE id = c.id / 16"
    for kind in KIND_NUMBERS
    if kind != "document"
}
_IN_ITERATIONS = ("decision", "commit", "event", "task")
_REVERTED_SQL = "SELECT decision_id FROM commit_links WHERE link_type = 'reverts'"
# state of WORK → (kind, condition on its row) of the records in that state
_WORK_STATES = {
    "open": (("task", "status <> 'done'"), ("iteration", "status = 'active'")),
    "progress": (("task", "status = 'in_progress'"), ("iteration", "status = 'active'")),
    "done": (("task", "status = 'done'"), ("iteration", "status = 'completed'")),
    "abandoned": (("iteration", "status = 'abandoned'"),),
    "reverted": (
        ("decision", f"id IN ({_REVERTED_SQL})"),
        # as git writes it
        ("commit", "message GLOB 'Revert \"*'"),
    ),
    "valid": (("decision", f"status = 'active' AND id NOT IN ({_REVERTED_SQL})"),),
    "void": (("decision", f"status = 'superseded' OR id IN ({_REVERTED_SQL})"),),
}
# states that have a time, and kind → when it began, as SQL for a row `c`
_TIMED_STATES = {"done", "abandoned", "reverted"}
_END_TIME_SQL = {
    "task": "SELECT updated_at FROM tasks WHERE id = c.id / 16",
    "iteration": "SELECT completed_at FROM iterations WHERE id = c.id / 16",
    "decision": "SELECT max(m.committed_at) FROM commit_links l JOIN commits m ON m.id = l.commit_id"
    " WHERE l.decision_id = c.id / 16 AND l.link_type = 'reverts'",
}
# kind → its time where the corpus may have another, that of its making
_START_TIME_SQL = {"summary": f"SELECT {SUMMARY_TIME_SQL} FROM summaries WHERE id = c.id / 16"}
# kind of the cited record → kind of the linked records → SQL for their ids; `{1}` is the condition on a commit's link
_LINK_SQL = {
    "commit": {
        "decision": "SELECT l.decision_id FROM commit_links l JOIN commits m ON m.id = l.commit_id"
        " WHERE m.sha >= :{0} AND m.sha < :{0} || 'g'{1}"
    },
    "decision": {
        "commit": "SELECT commit_id FROM commit_links WHERE decision_id = :{0}{1}",
        "decision": "SELECT id FROM decisions WHERE supersedes = :{0}"
        " UNION SELECT supersedes FROM decisions WHERE id = :{0}",
    },
}
# as an author: any agent
AUTHOR_AGENTS = "agents"
# … the person, as the application calls them
AUTHOR_YOU = "you"
# statuses of records no longer in force; the only other status in the corpus is `active`
INACTIVE_STATUSES = ("superseded", "contradicted", "forgotten")


def parse_memory_query(database: Database, text: str) -> ParsedQuery:
    """Parse a query of a memory: `since:release` is its last release, `since:v1.0` the release of a version."""
    return parse_query(text, database.clock(), lambda name: release_moment(database, name))


def require_valid_query(database: Database, text: str) -> None:
    """Raise InvalidInput for the first filter of a query whose value is not understood: where a query is run once, it
    must not find more than was asked for."""
    if refused := parse_memory_query(database, text).refused:
        raise InvalidInput(*refused[0])


class CorpusFilters:
    """The filters of a query as SQL: `clauses` on a corpus row `c`, all of which must hold, with their `parameters`.
    Besides them: `at`, the SQL of the row's time; `status`, empty for records in force; `code`, whether only code is
    searched; `kinds`, the numbers of the kinds that can pass, None for all."""

    def __init__(self, database: Database, asked: ParsedQuery) -> None:
        self.status = asked.status
        self.clauses: list[str] = []
        self.parameters: dict[str, object] = {}
        self.dated = bool(asked.since or asked.before)
        self.code = asked.code
        self.kinds: frozenset[int] | None = None
        if asked.inbox:
            self._restrict_to_ids(())
        for kinds in asked.kinds:
            self._restrict_kinds(KIND_NUMBERS[kind] for kind in kinds)
            self.clauses.append(f"c.id % 16 IN ({', '.join(str(KIND_NUMBERS[kind]) for kind in kinds)})")
        times = _END_TIME_SQL | _START_TIME_SQL if _TIMED_STATES.intersection(asked.work) else _START_TIME_SQL
        cases = " ".join(f"WHEN {KIND_NUMBERS[kind]} THEN ({sql})" for kind, sql in times.items())
        for name, sign in (("since", ">="), ("before", "<")):
            if value := getattr(asked, name):
                self._add_clause(f"CASE c.id % 16 {cases} ELSE c.at END {sign} :{name}", **{name: value})
        if asked.since and times is _START_TIME_SQL:
            self.clauses.append(
                "c.at >= :since"
            )  # its index is read: none has a later time than that in the corpus
        self._add_fact_filters(database, asked)
        # in order of that time the index of the corpus is read, but of summaries alone
        self.at = f"({_START_TIME_SQL['summary']})" if self.kinds == {KIND_NUMBERS["summary"]} else "c.at"
        self.any = not {"any", "void"}.isdisjoint(asked.work)
        # then the link is of that type
        reverts = "reverted" in asked.work and any(cited.kind in _LINK_SQL for cited in asked.linked)
        of_type = " AND link_type = 'reverts'" if reverts else ""
        for state in asked.work:
            if state != "any" and not (reverts and state == "reverted"):
                self._restrict_to_ids(
                    (kind, f"SELECT id FROM {kind}s WHERE {holds}") for kind, holds in _WORK_STATES[state]
                )
        for place, cited in enumerate(asked.linked):
            name = f"linked{place}"
            self.parameters[name] = cited.target if cited.kind in (*_LINK_SQL, "iteration") else str(cited)
            ends = [
                (kind, ids) for kind, ids in _linked_ids_sql(cited.kind).items() if "{1}" in ids or not reverts
            ]
            self._restrict_to_ids((kind, ids.format(name, of_type)) for kind, ids in ends)
        for place, branch in enumerate(asked.branches):
            name = f"branch{place}"
            made = f"SELECT key FROM {MADE_IN_SQL} WHERE branch = :{name}"
            self._add_clause(f"c.id IN ({made})", **{name: branch})
        for place, iteration in enumerate(asked.iterations):
            name = f"iteration{place}"
            parts = [f"c.id = :{name} * 16 + {KIND_NUMBERS['iteration']}"]
            parts += [
                f"c.id % 16 = {KIND_NUMBERS[kind]} AND c.id / 16 IN (SELECT id "
                f"FROM {kind}s WHERE iteration_id = :{name})"
                for kind in _IN_ITERATIONS
            ]
            self._add_clause(f"({' OR '.join(parts)})", **{name: iteration})
        for place, author in enumerate(asked.authors):
            database.connection.create_scalar_function("holds", _contains_name, 2, deterministic=True)
            database.connection.create_scalar_function("by_agent", is_by_agent, 1, deterministic=True)
            cases = " ".join(f"WHEN {KIND_NUMBERS[kind]} THEN ({sql})" for kind, sql in _AUTHOR_SQL.items())
            name, of = f"author{place}", f"CAST(CASE c.id % 16 {cases} END AS BLOB)"
            but = "NOT " * author.startswith("-")
            either = [
                self._author_condition(database, of, f"{name}_{nth}", one)
                for nth, one in enumerate(split_authors(author))
            ]
            self._add_clause(f"{but}({' OR '.join(either)})")

    def __bool__(self) -> bool:
        """Return whether any filter is set."""
        return bool(self.clauses or self.status or self.code)

    @property
    def status_condition(self) -> str:
        """The condition on the status of a row `c`; a record without a status always passes."""
        if self.any and not self.status:
            return "c.status <> 'forgotten'"
        return f"c.status = '{self.status}'" if self.status else f"c.status NOT IN {INACTIVE_STATUSES}"

    def passing_ids(self, database: Database, ids: Sequence[int] | PassageIds) -> set[int]:
        """Return the passage ids that pass the filters."""
        import numpy as np

        where = " AND ".join([self.status_condition, *self.clauses])
        code = " JOIN passages p ON p.id = j.value AND p.code" if self.code else ""
        return set(
            database.column(
                f"SELECT j.value FROM carray(:ids) j{code} CROSS JOIN corpus c ON "
                f"c.id = j.value & {RECORD_KEY_MASK} WHERE {where}",
                {**self.parameters, "ids": bind_integers(np.sort(np.asarray(ids, np.int64)))},
            )
        )

    def all_passing_ids(self, database: Database, most: int) -> list[int] | None:
        """Return all passage ids that pass; None if there are more than `most`."""
        where = " AND ".join([self.status_condition, *self.clauses, *(("p.code",) if self.code else ())])
        rows = database.rows(
            f"SELECT p.id FROM corpus c JOIN passages p ON p.row = c.id WHERE {where} LIMIT :most",
            {**self.parameters, "most": most + 1},
        )
        return None if len(rows) > most else [key for (key,) in rows]

    def _add_fact_filters(self, database: Database, asked: ParsedQuery) -> None:
        """Add the filters for tags, evidence, and those that only facts have: domain, scope, pinned, ageing state."""
        facts: list[str] = []
        for name in ("domain", "scope"):
            for place, value in enumerate(getattr(asked, f"{name}s")):
                facts.append(f"{name} = :{name}{place}")
                self.parameters[f"{name}{place}"] = value
        if asked.tags:
            register_folded_tag(database)
        for place, tag in enumerate(asked.tags):
            tagged = HAS_TAG_SQL.format(f":tag{place}")
            self._restrict_to_ids(
                (kind, f"SELECT id FROM {table} WHERE {tagged}") for kind, table in TAG_TABLES.items()
            )
            self.parameters[f"tag{place}"] = fold_tag(tag)
        if asked.pinned:
            facts.append("pinned")
        facts += [f"{age_state_sql(asked.now)} = {AGE_STATES.index(state)}" for state in asked.ageing]
        for state in asked.rests:
            seen = f"SELECT record FROM evidence_looks WHERE state = {EVIDENCE_STATES.index(state)}"
            self._restrict_kinds((KIND_NUMBERS["fact"], KIND_NUMBERS["decision"]))
            self._add_clause(f"c.id IN ({seen})")
        if facts:
            self._restrict_kinds((KIND_NUMBERS["fact"],))
            self.clauses.append(
                f"c.id % 16 = {KIND_NUMBERS['fact']} AND c.id / 16 IN (SELECT "
                f"id FROM facts WHERE {' AND '.join(facts)})"
            )

    def _author_condition(self, database: Database, of: str, name: str, author: str) -> str:
        """Return the condition that the author `of` a row is this one, with the parameter `name`. The person is also
        the author of commits that their git calls so."""
        if author == AUTHOR_AGENTS:
            return f"by_agent({of})"
        if author != AUTHOR_YOU:
            self.parameters[name] = author
            return f"holds({of}, :{name})"
        self.parameters |= {"person": PERSON_ORIGIN, "own": own_author_name(database) or None}
        return (
            f"(holds({of}, :person) OR c.id % 16 = {KIND_NUMBERS['commit']} AND ({_AUTHOR_SQL['commit']}) IS :own)"
        )

    def _restrict_to_ids(self, parts: Iterable[tuple[str, str]]) -> None:
        """Let only rows of these kinds pass, each with an SQL query for the ids allowed."""
        every = dict(parts)
        self._restrict_kinds(KIND_NUMBERS[kind] for kind in every)
        each = [f"c.id % 16 = {KIND_NUMBERS[kind]} AND c.id / 16 IN ({ids})" for kind, ids in every.items()]
        self._add_clause(f"({' OR '.join(f'({one})' for one in each)})" if each else "false")

    def _restrict_kinds(self, kinds: Iterable[int]) -> None:
        """Let only records of these kinds pass, by their numbers."""
        self.kinds = frozenset(kinds) if self.kinds is None else self.kinds.intersection(kinds)

    def _add_clause(self, clause: str, **parameters: object) -> None:
        """Add a condition with its parameters."""
        self.clauses.append(clause)
        self.parameters |= parameters


def _contains_name(*values: SQLiteValue) -> bool:
    """Return whether the first value contains the second, which `split_authors` returned."""
    text, part = values
    return str(part) in normalize_text(argument_text(text))


def split_authors(author: str) -> list[str]:
    """Return the authors of whom a filter names any, `lucía,samira`, without capitals and accents. A comma before a
    space is a part of a name."""
    found = [normalize_text(one) for one in re.split(r",(?! )", author.strip('"').removeprefix("-"))]
    return [one for one in found if one] or [normalize_text(author)]


def matches_author(origin: str, author: str) -> bool:
    """Tell whether an origin is of an author that a filter names; with `-` before the name, of any other."""
    known = {AUTHOR_AGENTS: is_by_agent(origin), AUTHOR_YOU: origin == PERSON_ORIGIN}
    found = any(known.get(name, name in normalize_text(origin)) for name in split_authors(author))
    return found != author.startswith("-")


def is_by_agent(*values: SQLiteValue) -> bool:
    """Return whether an origin is an agent's."""
    origin = argument_text(values[0])
    return origin in ("agent", "hook") or origin.startswith("mcp:")


def _linked_ids_sql(kind: str) -> dict[str, str]:
    """Return kind → SQL for the ids of records that may be linked to one of this kind; `{0}` is the parameter that
    cites it."""
    if kind == "iteration":
        return {one: f"SELECT id FROM {one}s WHERE iteration_id = :{{0}}" for one in _IN_ITERATIONS}
    if kind in _LINK_SQL:
        return _LINK_SQL[kind]
    return {"fact": "SELECT f.id FROM facts AS f, json_each(f.evidence) AS e WHERE e.value = :{0}"}
