"""Active facts that a sentence may be about, found by shared words, and what the sentence does to them."""

from collections.abc import Sequence

from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.inbox import duplicates
from store.learning.rules import reconfirm_rules
from store.learning.rules.reconfirm_rules import CONFIRM, NONE, PROPOSE, SUPERSEDE, ComparedText
from store.records.facts import Facts
from store.text.similarity import contradiction

ALIKE = 80  # percent of similarity from which a text becomes a proposal and not a second fact
KnownFact = tuple[int, str]
"""(id, text) of a fact."""


def near(database: Database, text: str) -> list[KnownFact]:
    """Return the active facts that share words with a text, those sharing the rarest words first."""
    numbers = duplicates.sharing(database, contradiction.taken_apart(text))
    return [(one.id, one.fact) for one in Facts(database).many(numbers) if one.status == "active"]


def best_verdict(
    database: Database, text: str, words: ComparedText | None = None
) -> tuple[str, int | None, list[KnownFact]]:
    """Return (verdict, fact id, the facts near it) of a text, compared by these `words` of it if given, on the known
    facts: the first that it confirms, else the first that it speaks against, else the first it concerns."""
    known, words = near(database, text), words or ComparedText(text)
    verdicts = [(reconfirm_rules.judge(words, ComparedText(text)), number) for number, text in known]
    ordered = (found for wanted in (CONFIRM, SUPERSEDE, PROPOSE) for found in verdicts if found[0] == wanted)
    return *next(ordered, (NONE, None)), known


def still_holds(text: str, known: Sequence[KnownFact]) -> int | None:
    """Return the id of the one fact that a text says still holds; None if there is none, or several."""
    found = [number for number, fact in known if reconfirm_rules.goes_on(text, ComparedText(fact))]
    return found[0] if len(found) == 1 else None


def alike(text: str, known: Sequence[KnownFact]) -> KnownFact | None:
    """Return the fact most similar to a text by letters, if at least ALIKE percent."""
    from rapidfuzz.fuzz import ratio

    likeness, fact = max(((ratio(normal(text), normal(fact[1])), fact) for fact in known), default=(0.0, None))
    return fact if likeness >= ALIKE else None
