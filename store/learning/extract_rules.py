"""Task `extract_facts`: what a turn says that is to be remembered. Here by rule; a model gives the same type.

Only sentences of the person's own voice (`voice`) are read, and a question tells nothing. What a trigger phrase says is
their own word and `explicit`; what is weaker, or in doubt, is to be asked about.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.learning import imperatives
from store.learning.domain_rules import classify
from store.learning.grammar import Trigger, leads, pattern, triggers
from store.learning.requests import REQUESTS, WHY, Request, requests
from store.learning.sentences import WORDS, Sentence, sentences
from store.learning.unmarked_requests import unmarked
from store.text.prompt_injection import suspicious

MOST_AT_ONCE = 5  # things that a person asks for in one turn; more were pasted
MOST = 20  # things of one turn in all
_SURE = {
    "spanish": imperatives.spanish,
    "english": imperatives.english,
    "from_now": imperatives.from_now,
    "name": imperatives.name,
    "turned_round": imperatives.turned_round,
}
ALONE = "you told it, and asked for nothing else"
LATER = "it stands behind a paragraph or a log, and may have been pasted with it"


@dataclass(frozen=True, slots=True)
class ExtractedFact:
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

    facts: tuple[ExtractedFact, ...]
    by: str = "rules"


def extract(role: str, text: str) -> Extraction:
    """What is to be remembered of a turn. Nothing that the assistant says is."""
    if role != "user":
        return Extraction(())
    found = list(_every(sentences(text)))
    if sum(one.explicit for one in found) > MOST_AT_ONCE:
        found = [_asked(one, "there are too many in one turn to be one's own words") for one in found]
    return Extraction(tuple(found[:MOST]))


def _every(said: Sequence[Sentence]) -> Iterable[ExtractedFact]:
    """All that a turn asks for or tells: what is marked, and what is told in the sentences that hold none of it."""
    marked = list(requests(said))
    held = {request.sentence for request in marked}
    everything = [(request.sentence, _marked(said[request.sentence], request)) for request in marked]
    everything += [(number, _told(sentence)) for number, sentence in enumerate(said) if number not in held]
    if not any(found for _, found in everything):
        everything = [(number, _found(said[number], start, "", ALONE, False)) for number, start in unmarked(said)]
    seen = set[str]()
    for number, found in sorted(everything, key=lambda one: one[0]):
        if found is None or found.text.casefold() in seen:
            continue
        seen.add(found.text.casefold())
        doubt = said[number].doubt
        if found.explicit and doubt:
            found = _asked(found, doubt)
        elif found.explicit and suspicious(said[number].quote):
            found = _asked(found, "it looks like an instruction to an agent")
        elif doubt and number not in held:
            continue  # weak and in doubt
        yield found


def _marked(sentence: Sentence, request: Request) -> ExtractedFact | None:
    why = WHY[request.kind]
    found = _found(sentence, request.start, "", why, request.sure, request.end)
    if found is None or request.kind in REQUESTS:
        return found
    rule = _told(sentence)
    if found.explicit or rule is None or not rule.explicit:
        return found
    if rule.text.casefold().endswith(found.text.casefold()):
        return rule  # a rule in a form that is certain
    return _found(sentence, request.start, rule.domain, rule.why, end=request.end)


def _asked(found: ExtractedFact, why: str) -> ExtractedFact:
    return (
        ExtractedFact(found.text, found.domain, "medium", found.quote, False, False, why) if found.explicit else found
    )


def _told(sentence: Sentence) -> ExtractedFact | None:
    """What one sentence tells without asking for memory."""
    if sentence.question or sentence.passed:
        return None
    folded = sentence.folded
    start = leads().match(folded).end()  # type: ignore[union-attr]
    said = folded[start:]
    for trigger in (*triggers("kept"), *triggers("every")):
        if match := _tells(trigger, said):
            sure = _SURE[trigger.sure](sentence.text[start:]) if trigger.sure else True
            if sure is False:
                return None
            said_so = f"you said “{match[0]}”"
            found = _found(sentence, start, trigger.domain, said_so, explicit=bool(sure))
            return _asked(found, LATER) if found and sentence.later and not sentence.doubt else found
    if pattern("passing").search(said):
        return None
    for trigger in triggers("weak"):
        if _tells(trigger, said):
            return _found(
                sentence, start, trigger.domain, "you told it, and did not ask to have it remembered", explicit=False
            )
    return None


def _tells(trigger: Trigger, said: str) -> re.Match[str] | None:
    if trigger.unless and trigger.unless.match(said):
        return None
    return trigger.phrase.match(said)


def _found(
    sentence: Sentence, start: int, domain: str, why: str, explicit: bool = True, end: int | None = None
) -> ExtractedFact | None:
    """The sentence from `start` to `end` as a fact; None where too little is left."""
    text = sentence.text[start:end].strip().rstrip(".!;,… ").strip()
    if len(text.split()) < WORDS:
        return None
    text = text[0].upper() + text[1:]
    hedged = pattern("hedged").search(sentence.folded, start)
    confidence = "high" if explicit and not hedged else "medium"
    return ExtractedFact(text, domain or classify(text).name, confidence, sentence.quote, explicit, True, why)
