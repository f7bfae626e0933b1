"""What a person typed into the search bar: words, filters, perhaps a citation. Any text is a query."""

import re

from store.base.citations import Citation
from store.base.citations import parse as parse_citation
from store.base.errors import InvalidInput
from store.base.vocabulary import DOMAINS, FACT_STATUSES, SEARCHABLE
from store.text.times.typed_times import typed_moment
from store.text.tokens import LETTERS

FILTERS = (*("kind", "domain", "is", "in", "author", "by", "tag", "iteration", "since", "before", "related", "linked"),)
STATUSES = tuple(status for status in FACT_STATUSES if status != "contradicted")
AGEING = ("aging", "low", "stale")
STATUS_ALIASES = {"replaced": "superseded"}
WORK = ("open", "progress", "done", "abandoned", "reverted", "any")
IS = (*STATUSES, *STATUS_ALIASES, "pinned", *AGEING, *WORK)
_FILTER = re.compile(rf"(?<!\S)({'|'.join(FILTERS)}):(?:\"([^\"]*)\"|(\S+))", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]*\w[^\"“”«»]*)[\"“”«»]")

_EATING = re.compile(r"\b(?:comer|como|tomar|comida|eat|eating|food|drink|cocin\w+|cook\w*)\b", re.IGNORECASE)
_BARRED = re.compile(r"\b(?:no|not|can.?t|cannot|shouldn.?t|mustn.?t|nunca|never|evitar|avoid)\b", re.IGNORECASE)
# what keeps somebody from eating something, in the words of those who say it
DIETS = (
    "alérgico alérgica alérgicos alergia alergias celíaco celíaca intolerante intolerancia vegano vegana vegetariano"
    " vegetariana allergic allergy allergies coeliac celiac intolerant vegan vegetarian"
).split()


def implied(text: str) -> list[str]:
    """Words that answer a question and do not stand in it: what somebody must not eat is told as an allergy."""
    return DIETS if _EATING.search(text) and _BARRED.search(text) else []


class Query:
    """A query, read. `words` in the order typed, `typing` when the last one may be unfinished; the filters are empty
    when not given; `notes` says in plain words which parts could not be used. All of several kinds, domains, tags,
    authors, iterations (numbers) and states of ageing must hold; `now` is the moment that ages are counted to; `text`
    is what is left of the query without its filters; `related` cites the record that others are sought near to;
    `phrases` is what stood in quotes, and must be found as it stands (see `quotes_in_part`); `code` asks for code
    alone."""

    __slots__ = (
        *("ageing", "authors", "before", "citation", "code", "domains", "iterations", "kinds", "linked", "notes"),
        *("now", "phrases", "pinned", "related", "scopes", "since", "status", "tags", "text", "typing", "words"),
        "work",
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
        self.notes: list[str] = []

    @property
    def quotes_in_part(self) -> bool:
        """Return whether something stands in quotes and other words beside it: a question that quotes, not a query for
        a quotation."""
        return bool(self.phrases) and len(self.words) > sum(len(phrase.split()) for phrase in self.phrases)


def parse(text: str, now: str) -> Query:
    """Read a query. Never raises: what is not understood is a word to look for, or is said in `notes`."""
    query = Query(now)
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)  # an accent typed as a character of its own would split its word
    rest = _FILTER.sub(lambda match: _filter(query, match[1].lower(), match[2] or match[3] or "", now), text)
    try:
        query.citation = parse_citation(rest)
    except InvalidInput:
        query.citation = None
    query.text = " ".join(rest.split())
    query.phrases = [" ".join(LETTERS.findall(phrase)) for phrase in _QUOTED.findall(rest)]
    query.words = LETTERS.findall(rest)
    query.typing = bool(query.words) and rest[-1:].isalnum()
    return query


def filters(text: str) -> list[tuple[int, int]]:
    """(start, end) of every filter in a query, in order."""
    return [match.span() for match in _FILTER.finditer(text)]


def _filter(query: Query, name: str, value: str, now: str) -> str:
    """Take a filter out of the text into the query; a value that cannot be meant is noted and left out."""
    words = tuple(value.lower().split(","))
    if name == "kind":
        kinds = tuple(word.removesuffix("s") for word in words)
        if all(kind in SEARCHABLE for kind in kinds):
            query.kinds = [(*(query.kinds[0] if query.kinds else ()), *kinds)]  # kind:fact kind:task: either
        else:
            query.notes.append(f"kind: takes {', '.join(SEARCHABLE)}")
    elif name == "domain":
        if value.lower() in DOMAINS:
            query.domains = [value.lower()]
        else:
            query.notes.append(f"domain: takes {', '.join(DOMAINS)}")
    elif name == "is":
        if not also_is(query, value.lower()):
            query.notes.append(f"is: takes {', '.join(IS)}")
    elif name == "in":
        if words == ("code",):
            query.code = True
        else:
            query.notes.append("in: takes code")
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
            query.notes.append("iteration: takes a number, as in iteration:5 or iteration:I#5")
    elif name in ("related", "linked"):
        try:
            cited = parse_citation(value)
        except InvalidInput:
            query.notes.append(f"{name}: takes a citation like F#12, D#3 or notes.md#L10")
        else:
            if name == "related":
                query.related = cited
            else:
                query.linked.append(cited)
    else:
        try:
            setattr(query, name, typed_moment(value, now))
        except InvalidInput:
            query.notes.append(f"{name}: takes a date like 2026-11-01, or 2d, 3w, yesterday")
    return " "


def also_is(query: Query, word: str) -> bool:
    """Ask for what `is:` may say of a record; False if it is none of IS."""
    status = STATUS_ALIASES.get(word, word)
    if status in STATUSES:
        query.status = status
    elif word in AGEING:
        query.ageing.append(word)
    elif word == "pinned":
        query.pinned = True
    elif word in WORK:
        query.work.append(word)
    return word in IS
