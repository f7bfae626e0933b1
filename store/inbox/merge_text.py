"""Join several facts in one sentence, by rule: each of them whole, one after the other.

A model may replace it (`duplicates.Summary`); it must return a sentence that contains nothing beyond these facts.
"""

from collections.abc import Sequence

from store.text.folding import normalize

LONGEST = 400  # characters; a longer text is no summary
ENDS = ".!;, "


def summed_up(texts: Sequence[str]) -> str:
    """Return one sentence for several facts: `Jenkins builds take 20 minutes; Jenkins has two agents`. Texts that
    differ only in capitals, accents and final marks are in it once. Empty when they are too long for one sentence."""
    distinct = {normalize(text).rstrip(ENDS): " ".join(text.split()).rstrip(ENDS) for text in texts}
    whole = "; ".join(distinct.values())
    return whole if len(whole) <= LONGEST else ""
