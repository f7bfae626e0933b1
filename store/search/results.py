"""What a search gives."""

from store.base.record_keys import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Record
    from store.search.signals.fts import QueryTerms

EXACT, NEAR, NOTHING = "exact", "near", "nothing"


class Hit:
    """One thing found. `record` is the whole record, `snippet` up to 700 characters of it, `marks` the (start, end) of
    the words that matched in it; `level` is `exact` where the record holds what was asked, word for word or all of its
    words, else `near`. The passage that was found begins at the character `start` of the record's text, on its `line`
    (from 1). `score` grows with relevance and compares within one answer only; `similarity` is the calibrated one to
    the query (0 unrelated, 1 as a paraphrase), None where no model looked; `why` says what each signal gave to the
    score."""

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
        self.kind = kind
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
    """What a search gave: `hits` best first; how many there were in `total`, of
    which `exact` are exact; how many more are superseded or forgotten in `left_out`, which `signals` answered, in how
    many `milliseconds`, `notes` on what could not be used, and the `words` that were looked for. Where nothing is near
    the question there are no hits, and `nearest` holds the few that are least far from it."""

    __slots__ = (
        *("exact", "hits", "left_out", "milliseconds", "nearest", "notes", "provider", "signals", "total", "words"),
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
        self.provider = provider  # who made the question's vector, "" where no model was asked

    @property
    def verdict(self) -> str:
        """`exact` where a hit is, else `near`, `nothing` without hits."""
        if not self.hits:
            return NOTHING
        return EXACT if any(hit.level == EXACT for hit in self.hits) else NEAR
