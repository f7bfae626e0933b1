"""Task `extract_facts`: what a turn says that is to be remembered. Here by rule; a model gives the same type.

Only sentences of the person's own voice (`voice`) are read, and a question tells nothing. What a trigger phrase says is
their own word and `explicit`; what is weaker, or in doubt, is to be asked about.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from store.agent import phrases
from store.agent.domains import classify
from store.agent.voice import Sentence, sentences
from store.suspicion import suspicious

MOST_AT_ONCE = 5  # things that a person asks for in one turn; more were pasted
MOST = 20  # things of one turn in all
WORDS = 2  # that a text must have
LATER = "it stands behind a paragraph or a log, and may have been pasted with it"


@dataclass(frozen=True, slots=True)
class Found:
    """One thing to remember. `quote` is the sentence as it stands in the turn; `explicit`: it was asked to be
    remembered, and nobody needs to be asked about it; `own`: the person surely said it themselves; `why` says in words
    what it rests on, or why it is to be asked about."""

    text: str
    domain: str
    confidence: str
    quote: str
    explicit: bool
    own: bool
    why: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in a turn, and who answered: `rules`, or the name of a model."""

    facts: tuple[Found, ...]
    by: str = "rules"


def extract(role: str, text: str) -> Extraction:
    """What is to be remembered of a turn. Nothing that the assistant says is."""
    if role != "user":
        return Extraction(())
    found = list(_every(sentences(text)))
    if sum(one.explicit for one in found) > MOST_AT_ONCE:
        found = [_asked(one, "there are too many in one turn to be one's own words") for one in found]
    return Extraction(tuple(found[:MOST]))


def _every(said: Iterable[Sentence]) -> Iterable[Found]:
    seen = set()
    for sentence in said:
        if sentence.question:
            continue
        found = _in(sentence)
        if found is None or found.text.casefold() in seen:
            continue
        seen.add(found.text.casefold())
        if found.explicit and sentence.doubt:
            found = _asked(found, sentence.doubt)
        elif found.explicit and suspicious(sentence.quote):
            found = _asked(found, "it looks like an instruction to an agent")
        elif sentence.doubt:
            continue  # weak and in doubt
        yield found


def _asked(found: Found, why: str) -> Found:
    return Found(found.text, found.domain, "medium", found.quote, False, False, why) if found.explicit else found


def _in(sentence: Sentence) -> Found | None:
    """What one sentence asks to be remembered, or tells."""
    folded = sentence.folded
    lead = phrases.LEADS.match(folded)
    start = lead.end() if lead else 0
    if asked := phrases.ASKED.match(folded, start):
        rest = asked.end()
        if phrases.ASKING.match(folded, rest):
            return None
        return _found(sentence, rest, "", "you asked for it")
    if sentence.passed:
        return None
    said = folded[start:]
    for trigger in (*phrases.KEPT, phrases.ALWAYS):
        if match := _tells(trigger, said):
            sure = trigger.sure(sentence.text[start:]) if trigger.sure else True
            if sure is False:
                return None
            said_so = f"you said “{match[0]}”"
            found = _found(sentence, start, trigger.domain, said_so, explicit=bool(sure))
            return _asked(found, LATER) if found and sentence.later and not sentence.doubt else found
    if to_do := phrases.TO_DO.match(said):
        return _found(sentence, start + to_do.end(), "preferences", "perhaps it holds for every time", explicit=False)
    if phrases.PASSING.search(said):
        return None
    for trigger in phrases.WEAK:
        if _tells(trigger, said):
            return _found(
                sentence, start, trigger.domain, "you told it, and did not ask to have it remembered", explicit=False
            )
    return None


def _tells(trigger: phrases.Trigger, said: str) -> re.Match[str] | None:
    if trigger.unless and trigger.unless.match(said):
        return None
    return trigger.phrase.match(said)


def _found(sentence: Sentence, start: int, domain: str, why: str, explicit: bool = True) -> Found | None:
    """The sentence from `start` on as a fact; None where too little is left."""
    text = sentence.text[start:].strip().rstrip(".!;,… ").strip()
    if len(text.split()) < WORDS:
        return None
    text = text[0].upper() + text[1:]
    hedged = phrases.HEDGED.search(sentence.folded, start)
    confidence = "high" if explicit and not hedged else "medium"
    return Found(text, domain or classify(text).name, confidence, sentence.quote, explicit, True, why)
