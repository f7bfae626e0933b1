"""Find other records related to the topic of a checkpoint."""

from store.base.vocabulary import SEARCHABLE
from store.history.checkpoints import Recovered
from store.records.ageing import state
from store.search.pipeline import Search
from store.search.results import Hit

LIMIT = 8
ASKED = 300  # characters of the question
KINDS = tuple(kind for kind in SEARCHABLE if kind not in ("checkpoint", "event"))


def related(search: Search, recovered: Recovered, now: str, limit: int = LIMIT) -> list[Hit]:
    """Return what is similar to the topic of a recovered checkpoint, best first, without what it holds already and
    without facts that are too old for a prompt."""
    held = recovered.held
    asked = [recovered.checkpoint.name, *(turn["text"] for turn in reversed(held.turns) if turn["role"] == "user")]
    asked += [task["text"] for task in held.tasks if task["status"] == "in_progress"]
    query = " ".join(" ".join(asked).replace(":", " ").split())[:ASKED]
    if not query:
        return []
    known = {one["citation"] for one in (*held.turns, *held.tasks, *held.decisions)}
    hits = search(query, limit + len(known), kinds=KINDS).hits
    return [hit for hit in hits if hit.citation not in known and not _too_old(hit, now)][:limit]


def _too_old(hit: Hit, now: str) -> bool:
    from store.base.models import Fact

    fact = hit.record
    if not isinstance(fact, Fact):
        return False
    return state(now, fact.last_confirmed_at, fact.confidence, fact.pinned) in ("low", "stale")
