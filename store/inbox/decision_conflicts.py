"""Find the decisions that a text contradicts or repeats, by words; report them only.

A decision states what was chosen, in its title up to a `not` and in the option taken, and what was rejected: the
options not taken, and what its title says after a `not`. A text contradicts it if it states the contrary of the former,
or if it names one of the latter and is about the same thing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.base.models import Decision
from store.database.database import Database
from store.inbox.candidate_pairs import BEGINNING
from store.records.decisions import Decisions
from store.text.similarity.contradiction import AGAINST, ALIKE, APART, SAME, ParsedSentence, compare, taken_apart

if TYPE_CHECKING:
    from store.base.models import Fact
    from store.records.facts import Facts

CANDIDATES = 12  # decisions that one text is compared with, and three times as many facts with one decision
NAME = 3  # words of an option that its name alone identifies, if it has one
HALF = 0.5  # of a text, that must be about the decision; and of what was chosen, above which a text may not name it
SHORTEST = 3  # letters of a word that may have forms
CLAIM = 2  # words that a title must have to be compared with a sentence
_INSTEAD = re.compile(
    r",?\s+(?:and not|not|instead of|rather than|over|y no|no|en vez de|en lugar de)\s+(?=\S)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class DecisionMatch:
    """A decision that a text contradicts or repeats; `how` is a word of `cues`."""

    decision: Decision
    how: str

    @property
    def against(self) -> bool:
        return self.how == AGAINST


def find_matches(database: Database, text: str) -> list[DecisionMatch]:
    """Return the active decisions that a text contradicts or repeats, the former first; a millisecond or two."""
    parsed = taken_apart(text)
    found = []
    for decision in Decisions(database).many(_sharing(database, 1, _words([parsed]), CANDIDATES)):
        if decision.status == "active" and (how := _judged(parsed, decision)) != APART:
            found.append(DecisionMatch(decision, how))
    return sorted(found, key=lambda one: (one.how != AGAINST, -one.decision.id))


def named(database: Database, text: str) -> Decision | None:
    """Return the active decision whose choice, or else whose title, a text names, the newest of several with as many
    words; None where it names none."""
    said = {*taken_apart(text).words}
    best: tuple[int, int, int, Decision] | None = None
    for decision in Decisions(database).many(_sharing(database, 1, sorted(said), CANDIDATES)):
        claim = claimed(decision)
        chosen, title = (len(said.intersection(taken_apart(one).words)) for one in (decision.chosen, claim))
        found = (chosen, title, decision.id, decision)
        if decision.status == "active" and (chosen or title) and (best is None or found[:3] > best[:3]):
            best = found
    return best[3] if best else None


def facts_against(database: Database, facts: "Facts") -> Iterator[tuple["Fact", Decision]]:
    """Yield the active facts that contradict a decision newer than their last confirmation, without pinned ones; each
    with the newest such decision."""
    decisions = Decisions(database)
    seen: set[int] = set()
    for decision in decisions.many(decisions.ids()):
        texts = [decision.title, decision.chosen, *decision.alternatives]
        words = _words(map(taken_apart, texts))
        for fact in facts.many(_sharing(database, 0, words, 3 * CANDIDATES)):
            if fact.id in seen or fact.pinned or fact.status != "active":
                continue
            if fact.last_confirmed_at >= decision.decided_at:
                continue
            if _judged(taken_apart(fact.fact), decision) == AGAINST:
                seen.add(fact.id)
                yield fact, decision


def claimed(decision: Decision) -> str:
    """Return what the title of a decision says, up to a `not`."""
    return _INSTEAD.split(decision.title)[0]


def turned_down(decision: Decision) -> tuple[str, ...]:
    """Return what a decision did not take: its alternatives, and what its title says after a `not`."""
    return (*decision.alternatives, *_INSTEAD.split(decision.title)[1:])


def _judged(parsed: ParsedSentence, decision: Decision) -> str:
    """Return the relation of a text to a decision, a word of `cues`."""
    from rapidfuzz.fuzz import ratio

    claim = claimed(decision)
    chosen = taken_apart(decision.chosen)
    for option in turned_down(decision):
        if _takes(parsed, option, claim, chosen, decision):
            return AGAINST
    ways = []
    for way in (claim, f"{claim}: {decision.chosen}"):
        other = taken_apart(way)
        if len(other.words) + len(other.values) >= CLAIM:
            ways.append(compare(parsed, other, ratio(parsed.plain, other.plain) / 100))
    return next((how for how in (AGAINST, SAME, ALIKE) if how in ways), APART)


def _takes(parsed: ParsedSentence, option: str, claim: str, chosen: ParsedSentence, decision: Decision) -> bool:
    """Return whether a text takes an option that was rejected: it names it, without a negation and without what was
    chosen, and says little else; and it is about the subject of the decision, or the option is a name."""
    other = taken_apart(option)
    named = {*other.words, *other.values}
    words = {*parsed.words, *parsed.values}
    if not named or not named <= words or parsed.negations:
        return False
    reasons = taken_apart(f"{decision.rationale}\n{decision.context}")
    if parsed.values and {*parsed.values} <= {*reasons.values}:
        return False  # it compares both by the figures for which the decision was taken
    taken = {*chosen.words, *chosen.values} - named
    if taken and len(taken & words) >= HALF * len(taken):
        return False
    about = taken_apart(f"{claim}\n{decision.context}")
    subject = {*about.words, *chosen.words} - named
    shared = {word for word in words - named if any(same_form(word, other) for other in subject)}
    if len(named | shared) < HALF * len(words):
        return False
    return bool(shared) or (len(named) <= NAME and any(map(_is_name, re.findall(r"\w+", option))))


def same_form(word: str, other: str) -> bool:
    """Return whether two words may be forms of one: deploy and deployment, use and uses."""
    least = min(len(word), len(other), BEGINNING)
    return least >= SHORTEST and word[:least] == other[:least]


def _is_name(word: str) -> bool:
    return any(letter.isupper() for letter in word)


def _words(sentences: Iterable[ParsedSentence]) -> list[str]:
    """Return the words by which to search for records related to these texts."""
    found = dict.fromkeys(
        word for one in sentences for word in (*one.words, *(value for value in one.values if value[0] != "="))
    )
    return [word for word in found if word.isalnum()]


def _sharing(database: Database, kind: int, words: Sequence[str], most: int) -> list[int]:
    """Return the active records of a kind (`store/base/record_keys.py`) that share words, weighted by their rarity."""
    if not words:
        return []
    rows = database.rows(
        "SELECT c.record_id FROM corpus_fts f JOIN corpus c ON c.id = f.rowid"
        " WHERE corpus_fts MATCH ? AND c.id % 16 = ? AND c.status = 'active' ORDER BY f.rank LIMIT ?",
        (" OR ".join(f'"{word}"' for word in words), kind, most),
    )
    return [number for (number,) in rows]
