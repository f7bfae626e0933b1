"""What a search gives."""

from store.base.record_keys import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Record
    from store.search.fts import QueryTerms


class Hit:
    """One thing found. `record` is the whole record, `snippet` up to 700 characters of it, `marks` the (start, end) of
    the words that matched in it; `score` grows with relevance and compares within one answer only; `similarity` is the
    calibrated one to the query (0 unrelated, 1 as a paraphrase), None where no model looked; `why` says what each
    signal gave to the score."""

    __slots__ = ("citation", "key", "kind", "marks", "record", "score", "similarity", "snippet", "why")

    def __init__(
        self,
        kind: str,
        record: "Record",
        text: str,
        marks: list[tuple[int, int]],
        score: float,
        similarity: float | None = None,
        why: dict[str, float] | None = None,
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


class Answer:
    """What a search gave: `hits` best first, how many there were in `total`, how many more are superseded or forgotten
    in `left_out`, which `signals` answered, in how many `milliseconds`, `notes` on what could not be used, and the
    `words` that were looked for."""

    __slots__ = ("hits", "left_out", "milliseconds", "notes", "signals", "total", "words")

    def __init__(
        self,
        hits: list[Hit],
        total: int,
        left_out: int,
        milliseconds: float,
        notes: list[str],
        signals: tuple[str, ...] = ("keywords",),
        words: "QueryTerms | None" = None,
    ) -> None:
        self.hits = hits
        self.total = total
        self.left_out = left_out
        self.signals = signals
        self.milliseconds = milliseconds
        self.notes = notes
        self.words = words
