"""Which of some facts bear on a question, by the words that both have. Task `rank_facts` without a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from store.agent.confirming import Words, kin
from store.agent.voice import fold


@dataclass(frozen=True, slots=True)
class Ranked:
    """Ids of facts, the one that bears most on the question first, and who ordered them."""

    ids: tuple[int, ...]
    by: str = "rules"


def rank(question: str, facts: Sequence[tuple[int, str]]) -> Ranked:
    """Facts, (id, text) each, by the words they share with a question, the rarer ones counting for more; of equals, as
    they came."""
    asked = Words(fold(question)).words
    words = [(number, Words(fold(text)).words) for number, text in facts]
    often = Counter(word for _, said in words for word in set(said))

    def weight(said: Sequence[str]) -> float:
        shared = [[one for one in said if kin(word, one)] for word in dict.fromkeys(asked)]
        return sum(log(1 + len(facts) / min(often[one] for one in found)) for found in shared if found)

    return Ranked(tuple(number for number, said in sorted(words, key=lambda pair: -weight(pair[1]))))
