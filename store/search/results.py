"""The results of a search."""

from store.base.record_keys import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Record
    from store.search.signals.fts import QueryTerms

EXACT, NEAR, FAR, NOTHING = "exact", "near", "far", "nothing"


class Hit:
    """One search result. `record` is the whole record, `snippet` up to 700 characters of it, `marks` the (start, end)
    of the matching words in the snippet. `level` is `exact` where the record contains the query word for word or all of
    its words, else `near`, or `far` where such were asked for too. The passage found begins at character `start` of the
    record's text, on `line` (from 1). `score` grows with relevance and is comparable within one answer only;
    `similarity` is the calibrated similarity to the query (0 unrelated, 1 a paraphrase), None for a record without a
    vector; `why` maps each signal to its part of the score."""

    __slots__ = (
        *("citation", "key", "kind", "level", "line", "marks", "record", "score", "similarity", "snippet", "start"),
        "why",
    )

    def __init__(
        self,
        kind: str,
        record: "Record",
        text: str,
        marks: list[tuple[int, int]],
        score: float,
        similarity: float | None = None,
        why: dict[str, float] | None = None,
        level: str = NEAR,
        start: int = 0,
        line: int = 1,
    ) -> None:
        self.kind = "fact" if kind == "global" else kind  # whose record and citation tell where it is
        self.record = record
        self.key = pack(kind, record.id)
        self.citation = record.citation
        self.snippet = text
        self.marks = marks
        self.score = score
        self.similarity = similarity
        self.why = why or {}
        self.level = level
        self.start = start
        self.line = line


class Answer:
    """The result of a search: `hits`, best first; `total`, the number of matches, of which `exact` are exact;
    `left_out`, the number of superseded or forgotten matches; `signals`, which of keywords and meaning were used;
    `milliseconds` taken; `notes` on parts of the query that could not be used, of which the first `refused` are about
    filters whose value is not understood; `words` searched for. Where nothing is near the query, `hits` is empty and
    `nearest` holds the few records that come closest, if they are worth showing. A person's search has in `waiting`
    what it finds in the inbox, of `waits` proposals (see `store.search.waiting`)."""

    __slots__ = (
        *("exact", "hits", "left_out", "milliseconds", "nearest", "notes", "provider", "refused", "signals", "total"),
        *("waiting", "waits", "words"),
    )

    def __init__(
        self,
        hits: list[Hit],
        total: int,
        left_out: int,
        milliseconds: float,
        notes: list[str],
        signals: tuple[str, ...] = ("keywords",),
        words: "QueryTerms | None" = None,
        nearest: "list[Hit] | None" = None,
        exact: int = 0,
        provider: str = "",
    ) -> None:
        self.hits = hits
        self.total = total
        self.left_out = left_out
        self.signals = signals
        self.milliseconds = milliseconds
        self.notes = notes
        self.words = words
        self.nearest = nearest or []
        self.exact = exact
        self.waiting: list[Hit] = []
        self.waits = 0
        self.refused = 0
        self.provider = provider  # who computed the query's vector, "" where no model ran

    @property
    def verdict(self) -> str:
        """`exact` where any hit is exact, else `near` where any is; else `nothing`."""
        levels = {hit.level for hit in self.hits}
        return next((level for level in (EXACT, NEAR) if level in levels), NOTHING)


def with_global(answer: Answer, found: Answer, limit: int) -> None:
    """Put what was found among the global facts of the person's own memory into an answer, the exact ones
    first, then by score."""
    from store.base.models import Fact, GlobalFact

    rest = [
        Hit(
            *("global", GlobalFact(hit.record), hit.snippet, hit.marks, hit.score, hit.similarity, hit.why),
            *(hit.level, hit.start, hit.line),
        )
        for hit in found.hits
        if isinstance(hit.record, Fact)
    ]
    hits: list[Hit] = []
    for hit in answer.hits:
        while rest and (rest[0].level == EXACT, rest[0].score) > (hit.level == EXACT, hit.score):
            hits.append(rest.pop(0))
        hits.append(hit)
    known = {hit.key for hit in hits}
    answer.hits = [*hits, *(hit for hit in rest if hit.key not in known)][:limit]
    answer.nearest = [] if answer.hits else answer.nearest
    answer.total += found.total
    answer.exact += found.exact
    answer.left_out += found.left_out
    answer.words = answer.words or found.words
