"""Metrics of the search index, the embedding model, requests to remember, the mean request, checkpoints and
recoveries."""

from store.base.clock import ago
from store.context.budget import PROMPT as PROMPT_TOKENS
from tui.render.metrics.metric import GOOD, KNOWN, POOR, Figure, percent, unknown
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from store.services.metrics import IndexMetrics, Measures, Recoveries, Requests

MEAN_TOKENS = 3_000  # tokens of a request; above this mean the parts of a context need a look
FEW_KEPT = 0.3  # share of requests to remember; below it too few are understood


def mean(found: "Measures") -> "Iterator[Figure]":
    """Yield the mean tokens of a request, compared with the limit."""
    if found.mean_tokens is None:
        yield unknown(
            "mean",
            "mean",
            "no request was measured yet",
            f"The average tokens of a context, of at most {PROMPT_TOKENS:,}; known once one was sent.",
        )
        return
    yield Figure(
        "mean",
        "mean",
        f"{found.mean_tokens:,.0f}",
        f"A context sent to an agent took {found.mean_tokens:,.0f} tokens on average, of at most "
        f"{PROMPT_TOKENS:,}. A mean above {MEAN_TOKENS:,} is marked: it leaves little room for more.",
        share=min(1.0, found.mean_tokens / PROMPT_TOKENS),
        note=f"of {PROMPT_TOKENS:,} tokens",
        state=POOR if found.mean_tokens > MEAN_TOKENS else GOOD,
        leads="context",
        to="what the next one would be",
    )


def requests(found: "Requests") -> "Iterator[Figure]":
    """Yield the requests to remember and the facts kept from them."""
    if not found.asked:
        yield unknown(
            "requests",
            "requests",
            "no turn asked for anything yet",
            "Requests in conversations, such as “remember that …”, are counted from now on.",
        )
        return
    share = found.kept / found.asked
    yield Figure(
        "requests",
        "requests",
        percent(share),
        f"{count(found.asked, 'turn')} asked for something to be remembered; of {found.kept:,} a fact came at once, or "
        "was confirmed. What is not certain waits in the inbox.",
        share=share,
        note=f"{found.kept:,} of {found.asked:,} kept",
        state=POOR if share < FEW_KEPT else KNOWN,
        leads="inbox",
        to="what was asked and waiting for review",
    )


def index(found: "IndexMetrics") -> "Iterator[Figure]":
    """Yield the state of the full-text index and of the embeddings."""
    if not found.full_text:
        yield Figure("full text", "full text", "missing", "This SQLite has no FTS5.", state=POOR, leads="doctor")
    else:
        whole = found.indexed == found.passages
        yield Figure(
            "full text",
            "full text",
            "FTS5",
            f"SQLite's full text (FTS5) holds {found.indexed:,} of {count(found.passages, 'passage')}.",
            *([] if whole else ["memoranda index rebuild makes it anew."]),
            share=min(1.0, found.indexed / found.passages) if found.passages else None,
            note=f"{found.indexed:,} of {count(found.passages, 'passage')}",
            state=GOOD if whole else POOR,
            leads="index",
            to="the state of the index",
        )
    if not found.model:
        yield unknown(
            "model",
            "model",
            "no vectors yet",
            "Without a model, search uses keywords only. memoranda index makes vectors if there is a model.",
            leads="doctor",
            to="the doctor: which model would answer",
        )
        return
    yield Figure(
        "model",
        "model",
        f"{found.dimension}",
        f"Vectors are made by {found.model}, with {found.dimension} dimensions, of {found.embedded:,} of "
        f"{count(found.embeddable, 'passage')}.",
        share=found.embedded / found.embeddable if found.embeddable else None,
        note=found.model,
        leads="index",
        to="the state of the index",
    )


def recovery(found: "Recoveries", at: str) -> "Iterator[Figure]":
    """Yield the checkpoints, the recoveries, and the leftovers of a crash."""
    if not found.checkpoints:
        yield unknown(
            "recovered",
            "recovered",
            "no checkpoint yet",
            "They are taken automatically when anything changes; memoranda checkpoint takes one now.",
            leads="checkpoints --all",
        )
    else:
        last = f", the last time {ago(at, found.last)}" if found.last else ""
        yield Figure(
            "recovered",
            "recovered",
            f"{found.recovered:,}",
            f"Agents continued from {found.recovered:,} of {count(found.checkpoints, 'checkpoint')}{last}.",
            share=found.recovered / found.checkpoints,
            note=f"of {count(found.checkpoints, 'checkpoint')}",
            leads="checkpoints --all",
            to="the checkpoints",
        )
    if found.between is None:
        yield unknown(
            "between", "between", "no two checkpoints yet", "The median time from one checkpoint to the next."
        )
    else:
        yield Figure(
            "between",
            "between",
            duration(found.between),
            f"The median time from one checkpoint to the next is {duration(found.between)}.",
            note="from one to the next",
            leads="checkpoints --all",
            to="the checkpoints",
        )
    said = f", the last time {ago(at, found.crashed_at)}" if found.crashed_at else ""
    yield Figure(
        "crashes",
        "crashes",
        f"{found.crashes:,}",
        f"The memory was recovered {count(found.crashes, 'time')} after a process was killed or the power failed{said}."
        if found.crashes
        else "The memory never had to be recovered after a killed process or a power failure since counting began.",
        "No acknowledged change was lost.",
        note="recovered after one",
        state=KNOWN if found.crashes else GOOD,
        leads="doctor",
        to="the doctor: whether the file is undamaged",
    )


def duration(seconds: float) -> str:
    """Format a duration in its largest unit: `45 s`, `5 min`, `3 h`, `2 d`."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length or (unit == "min" and seconds >= length):
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"
