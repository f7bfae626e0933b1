"""Parser of the search bar's text: words, filters, a citation. Any text is a valid query."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from unicodedata import normalize

from store.base.citations import Citation, parse_citation, parse_typed_citation
from store.base.errors import InvalidInput
from store.base.vocabulary import DOMAINS, EVIDENCE_STATES, FACT_STATUSES, SEARCHABLE
from store.config.configuration import Config
from store.text.typed_times import FindRelease, no_release, parse_typed_moment
from store.text.words import LETTERS_PATTERN, WORD_OR_VERSION_PATTERN

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
    *("kind", "domain", "is", "in", "author", "by", "tag", "iteration", "since", "before", "related", "linked"),
)
SUGGESTED_FILTERS = {"until": "before", "till": "before", "after": "since"}  # → the filter that there is
QUERY_STATUSES = tuple(status for status in FACT_STATUSES if status != "contradicted")
AGEING_WORDS = ("aging", "low", "stale")
STATUS_ALIASES = {"replaced": "superseded"}
WORK_WORDS = ("open", "progress", "done", "abandoned", "reverted", "valid", "void", "any")
EVIDENCE_WORDS = EVIDENCE_STATES[1:]  # of what records rest on
MAX_PHRASE_WORDS = 64  # words of the longest phrase or question that is searched word for word
IS_VALUES = (*QUERY_STATUSES, *STATUS_ALIASES, "pinned", *AGEING_WORDS, *WORK_WORDS, *EVIDENCE_WORDS)
MAX_SHOWN_VALUE = 60  # characters of a filter's value in a message
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
    empty when not given. All of several kinds, domains, tags, authors, iterations (ids) and ageing states must hold;
    `now` is the time that ages are measured at. `text` is the query without its filters; `related` cites the record
    whose related records are wanted; `phrases` are the quoted phrases, which must occur word for word (but see
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
        text = normalize("NFC", text)  # a combining accent would split its word
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
            query.kinds = [(*(query.kinds[0] if query.kinds else ()), *kinds)]  # kind:fact kind:task: either
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
            return f"{name}:{value}"  # words, as in code
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
SEED_WEIGHTS = {"vectorWeight": 0.7, "textWeight": 0.3, "candidateMultiplier": 4, "halfLifeDays": 30, "lambda": 0.7}


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
