"""Several facts in one sentence, by rule: what they all begin with is said once, what they share is said first.

A model may take its place (`duplicates.Summary`); it must give a sentence that holds nothing but what these facts say.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from store.cues import folded, taken_apart

LONGEST = 400  # characters; what is longer is no summary
ENDS = ".!;, "


@dataclass(frozen=True, slots=True)
class Summed:
    """Several facts in one sentence, empty where it cannot be said in one; and who says it."""

    sentence: str
    by: str = "rules"


def summed_up(texts: Sequence[str]) -> str:
    """One sentence for several facts: `Jenkins: builds take 20 minutes; two agents; nobody updates it`. Empty when
    they are too long to be said in one."""
    said = _distinct(texts)
    if len(said) < 2:
        return said[0] if said else ""
    beginning = _beginning(said)
    parts = [text[len(beginning) :].strip() for text in said] if beginning else said
    lead = beginning.rstrip(" :,") or _topic(said)
    whole = f"{lead}: {'; '.join(parts)}" if lead else "; ".join(parts)
    return whole if len(whole) <= LONGEST else ""


def _distinct(texts: Sequence[str]) -> list[str]:
    """The texts without their final marks; one that another holds already is left out."""
    plain = {folded(text).rstrip(ENDS): " ".join(text.split()).rstrip(ENDS) for text in texts}
    return [
        text for key, text in plain.items() if not any(key != other and f" {key} " in f" {other} " for other in plain)
    ]


def _beginning(texts: Sequence[str]) -> str:
    """The words that all begin with, if after them something is left of each."""
    words = [text.split(" ") for text in texts]
    shared = 0
    while all(len(one) > shared + 1 for one in words) and len({one[shared].casefold() for one in words}) == 1:
        shared += 1
    return " ".join(words[0][:shared]) + " " if shared else ""


def _topic(texts: Sequence[str]) -> str:
    """The word that most of them have, as the first that has it writes it."""
    often = Counter(word for text in texts for word in set(taken_apart(text).words))
    word, count = max(often.items(), key=lambda pair: (pair[1], len(pair[0])), default=("", 0))
    if count * 2 <= len(texts):
        return ""
    written = next(
        (one.strip(ENDS + ":") for text in texts for one in text.split() if folded(one).strip(ENDS + ":") == word), word
    )
    return written[:1].upper() + written[1:]
