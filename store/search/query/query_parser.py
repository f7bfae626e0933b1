"""Parser of the search bar's text: words, filters, a citation. Any text is a valid query."""

import re

from store.base.citations import Citation, named
from store.base.citations import parse as parse_citation
from store.base.errors import InvalidInput
from store.base.vocabulary import DOMAINS, EVIDENCE_STATES, FACT_STATUSES, SEARCHABLE
from store.text.times.typed_times import Released, no_release, typed_moment
from store.text.tokens import LETTERS, WORDS

FILTERS = (*("kind", "domain", "is", "in", "author", "by", "tag", "iteration", "since", "before", "related", "linked"),)
INSTEAD = {"until": "before", "till": "before", "after": "since"}  # → the filter that there is
STATUSES = tuple(status for status in FACT_STATUSES if status != "contradicted")
AGEING = ("aging", "low", "stale")
STATUS_ALIASES = {"replaced": "superseded"}
WORK = ("open", "progress", "done", "abandoned", "reverted", "valid", "void", "any")
RESTS = EVIDENCE_STATES[1:]  # of what records rest on
PHRASE = 64  # words of the longest phrase or question that is searched word for word
IS = (*STATUSES, *STATUS_ALIASES, "pinned", *AGEING, *WORK, *RESTS)
LONGEST = 60  # characters of a filter's value in a message
WAITING_ALONE = "What waits in the inbox is shown to a person alone, who accepts it or not."
_FILTER = re.compile(rf"(?<!\S)({'|'.join((*FILTERS, *INSTEAD))}):(?:\"([^\"]*)\"|(\S+))", re.IGNORECASE)
_HINTED = re.compile(r"(?<!\S)([-#])([^\W\d_][\w-]*\w)(?!\S)")
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]*\w[^\"“”«»]*)[\"“”«»]")

_EATING = re.compile(r"\b(?:comer|como|tomar|comida|eat|eating|food|drink|cocin\w+|cook\w*)\b", re.IGNORECASE)
_BARRED = re.compile(r"\b(?:no|not|can.?t|cannot|shouldn.?t|mustn.?t|nunca|never|evitar|avoid)\b", re.IGNORECASE)
# words in which people state what they must not eat
DIETS = (
    "alérgico alérgica alérgicos alergia alergias celíaco celíaca intolerante intolerancia vegano vegana vegetariano"
    " vegetariana allergic allergy allergies coeliac celiac intolerant vegan vegetarian"
).split()


def implied(text: str) -> list[str]:
    """Return words that an answer is likely to contain although the question does not: what somebody must not eat is
    recorded as an allergy or a diet."""
    return DIETS if _EATING.search(text) and _BARRED.search(text) else []


class Query:
    """A parsed query. `words` are in the order typed; `typing` is set when the last may be unfinished; filters are
    empty when not given. All of several kinds, domains, tags, authors, iterations (ids) and ageing states must hold;
    `now` is the time that ages are measured at. `text` is the query without its filters; `related` cites the record
    whose related records are wanted; `phrases` are the quoted phrases, which must occur word for word (but see
    `quotes_in_part`); `code` asks for code only, `inbox` for what waits there; `refused` says which
    filters have a value that is not understood, each with what it takes, and `notes` in plain words which parts could
    not be used, these first."""

    __slots__ = (
        *("ageing", "authors", "before", "citation", "code", "domains", "iterations", "kinds", "linked", "notes"),
        *("now", "phrases", "pinned", "refused", "related", "scopes", "since", "status", "tags", "text", "typing"),
        *("inbox", "rests", "words", "work"),
    )

    def __init__(self, now: str) -> None:
        self.now = now
        self.tags: list[str] = []
        self.authors: list[str] = []
        self.ageing: list[str] = []
        self.pinned = False
        self.words: list[str] = []
        self.phrases: list[str] = []
        self.code = False
        self.inbox = False
        self.text = ""
        self.typing = False
        self.kinds: list[tuple[str, ...]] = []
        self.domains: list[str] = []
        self.scopes: list[str] = []
        self.iterations: list[int] = []
        self.since = ""
        self.before = ""
        self.status = ""
        self.citation: Citation | None = None
        self.related: Citation | None = None
        self.linked: list[Citation] = []
        self.work: list[str] = []
        self.rests: list[str] = []
        self.refused: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def misread(self, name: str, value: str, takes: str, why: str = "") -> None:
        """Refuse the value of a filter."""
        self.notes.insert(len(self.refused), f"{name}: takes {takes}")
        cause = f"The filter {name}:{value[:LONGEST]} is not understood.{why}"
        self.refused.append((cause, f"{name}: takes {takes}."))

    def instead(self, name: str, value: str, word: str) -> None:
        """Refuse a filter that there is none of; `word` is the one that does it."""
        written = f"{word}:{value[:LONGEST]}"
        self.notes.insert(len(self.refused), f"{name}: is no filter; write {written}")
        self.refused.append((f"There is no filter {name}:.", f"Write {written}."))

    @property
    def quotes_in_part(self) -> bool:
        """Whether there are quoted phrases and other words beside them: such a query quotes a term in a question, and
        is not a search for a quotation."""
        return bool(self.phrases) and len(self.words) > sum(len(phrase.split()) for phrase in self.phrases)


def parse(text: str, now: str, released: Released = no_release) -> Query:
    """Parse a query; `released` returns the moment of a version, or of the last release. Never raises: a part that is
    not understood is searched for as a word, or reported in `notes`."""
    query = Query(now)
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)  # a combining accent would split its word
    rest = _FILTER.sub(lambda match: _filter(query, match[1].lower(), match[2] or match[3] or "", now, released), text)
    try:
        query.citation = named(rest)
    except InvalidInput:
        pass
    query.text = " ".join(rest.split())
    query.phrases = [" ".join(LETTERS.findall(phrase)[:PHRASE]) for phrase in _QUOTED.findall(rest)]
    query.words = WORDS.findall(rest)
    query.typing = bool(query.words) and rest[-1:].isalnum()
    return query


def filters(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of every filter in a query, in order."""
    return [match.span() for match in _FILTER.finditer(text)]


def hints(text: str) -> list[str]:
    """Return what of a query does not do what it does elsewhere: a dash excludes no word, and `#` names no tag."""
    found = _HINTED.findall(_QUOTED.sub(" ", _FILTER.sub(" ", text)))
    return list(dict.fromkeys(_hint(sign, word) for sign, word in found))


def _hint(sign: str, word: str) -> str:
    if sign == "#":
        return f"#{word} is looked for as a word: tag:{word} keeps what has the tag."
    return f"-{word} is looked for as a word: nothing is excluded."


def _filter(query: Query, name: str, value: str, now: str, released: Released) -> str:
    """Move a filter from the text into `query` and return what replaces it; report an invalid value in `notes`."""
    words = tuple(value.lower().split(","))
    if name == "kind":
        kinds = tuple(word.removesuffix("s") for word in words)
        if all(kind in SEARCHABLE for kind in kinds):
            query.kinds = [(*(query.kinds[0] if query.kinds else ()), *kinds)]  # kind:fact kind:task: either
        else:
            query.misread(name, value, ", ".join(SEARCHABLE))
    elif name == "domain":
        if value.lower() in DOMAINS:
            query.domains = [value.lower()]
        else:
            query.misread(name, value, ", ".join(DOMAINS))
    elif name == "is":
        if not also_is(query, value.lower()):
            query.misread(name, value, ", ".join(IS))
    elif name == "in":
        if words == ("inbox",):
            query.inbox = True
            query.notes.append(WAITING_ALONE)
        elif words == ("code",):
            query.code = True
        else:
            query.misread(name, value, "code, inbox")
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
            query.misread(name, value, "a number, as in iteration:5 or iteration:I#5")
    elif name in ("related", "linked"):
        try:
            cited = named(value)
        except InvalidInput:
            query.misread(name, value, "a citation like F#12, D#3 or notes.md#L10")
        else:
            if name == "related":
                query.related = cited
            else:
                query.linked.append(cited)
    elif name in INSTEAD:
        try:
            typed_moment(value, now, released)
        except InvalidInput:
            return f"{name}:{value}"  # words, as in code
        query.instead(name, value, INSTEAD[name])
    else:
        try:
            setattr(query, name, typed_moment(value, now, released))
        except InvalidInput as error:
            query.misread(
                name, value, "a date like 2026-11-01, or 2d, 3w, yesterday, release, v1.0", f" {error.message}"
            )
    return " "


def also_is(query: Query, word: str) -> bool:
    """Add the filter `is:word` to `query`; return False if `word` is none of IS."""
    status = STATUS_ALIASES.get(word, word)
    if status in STATUSES:
        query.status = status
    elif word in AGEING:
        query.ageing.append(word)
    elif word == "pinned":
        query.pinned = True
    elif word in WORK:
        query.work.append(word)
    elif word in RESTS:
        query.rests.append(word)
    return word in IS
