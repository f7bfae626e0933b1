"""Several facts in one sentence, by rule: each of them whole, one after the other.

A model may take its place (`duplicates.Summary`); it must give a sentence that holds nothing but what these facts say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store.text.folding import normalize

LONGEST = 400  # characters; what is longer is no summary
ENDS = ".!;, "


@dataclass(frozen=True, slots=True)
class Summed:
    """Several facts in one sentence, empty where it cannot be said in one; and who says it."""

    sentence: str
    by: str = "rules"


def summed_up(texts: Sequence[str]) -> str:
    """One sentence for several facts: `Jenkins builds take 20 minutes; Jenkins has two agents`. What is said twice,
    but for capitals, accents and final marks, is in it once. Empty when they are too long to be said in one."""
    said = {normalize(text).rstrip(ENDS): " ".join(text.split()).rstrip(ENDS) for text in texts}
    whole = "; ".join(said.values())
    return whole if len(whole) <= LONGEST else ""
