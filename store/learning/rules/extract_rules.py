"""Task `extract_facts` by rule: what a turn says that should be remembered. A model returns the same type.

Only requests, rules, corrections and what is told plainly as lasting (a choice, prices, hours, what happens each week)
in the person's own words are used; the rest is left to a model. What follows a trigger phrase is `explicit`; what is
doubtful or only told becomes a proposal.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from store.learning.grammar import pattern, sign, triggers
from store.learning.rules import clauses, imperatives
from store.learning.rules.request_content import REQUESTS
from store.learning.rules.requests import WHY, Request, requests
from store.learning.rules.sentences import WORDS, Sentence, sentences
from store.learning.rules.statements import FIGURE, NAME, states
from store.learning.rules.unmarked_requests import unmarked
from store.text.folding import fold
from store.text.prompt_injection import suspicious

MOST_AT_ONCE = 5  # explicit facts of one turn; of more, the text was probably pasted
MOST = 20  # most facts of one turn
ALONE = "you told it, and asked for nothing else"
ONE = 400  # most characters of a correction, or of the words that announce steps
SHORT = 5  # most words of a correction to which the next sentence belongs
CORRECTS = "it puts right what was done"
_STEP = re.compile(r"(?:(?<=\s)|(?<=^))(\d{1,2})[.)]\s")
_STEP_END = re.compile(r"\n\s*\n|\n(?!\s*\d{1,2}[.)]\s)|(?<=[.!?])\s+(?=[A-ZÁÉÍÓÚ¿¡])")
TOLD = "you told it as something that lasts"
NOT_TOLD = ("passing", "once", "unsure", "hedged")  # what such a sentence says does not last
_OTHERS = re.compile(r"[\"“”«»{}`]|;$|[=(]\S*[=)];?")  # quoted, or code
_NOTE = re.compile(r"\A\s*#\s+(?=\w[^\n]+\s*\Z)")  # a line that is meant for the memory, as agents' own prompts have it
_CUT = re.compile(r"[^,;.]*\[REDACTED:\w+\][^,;.]*")  # what a secret was cut out of
LATER = "it stands behind a paragraph or a log, and may have been pasted with it"


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """One thing to remember. `quote` is the sentence as it stands in the turn; `explicit`: the person asked for it, so
    it needs no confirmation; `own`: the person certainly said it themselves; `why` is the reason in words, or why to
    ask about it."""

    text: str
    domain: str
    confidence: str
    quote: str
    explicit: bool
    own: bool
    why: str


def extract(role: str, text: str) -> list[ExtractedFact]:
    """Return what should be remembered of a turn; nothing of what the assistant says."""
    if role != "user":
        return []
    text = _NOTE.sub("", text)
    turn = sentences(text)
    found = _whole(text, turn, list(_every(turn)))
    if sum(one.explicit for one in found) > MOST_AT_ONCE:
        found = [_asked(one, "there are too many in one turn to be one's own words") for one in found]
    return found[:MOST]


def _every(turn: Sequence[Sentence]) -> Iterable[ExtractedFact]:
    """Yield everything that a turn asks for, corrects or sets as a rule, in order."""
    corrected = dict(_corrections(turn))
    marked = [request for request in requests(turn) if request.sentence not in corrected]
    held = {request.sentence for request in marked}.union(corrected)
    everything: list[tuple[int, ExtractedFact | None]] = [*corrected.items()]
    everything += [(request.sentence, _marked(turn[request.sentence], request)) for request in marked]
    everything += [(at, _standing_rule(one) or _told(one)) for at, one in enumerate(turn) if at not in held]
    if not any(found for _, found in everything):
        everything = [(number, _found(turn[number], start, "", ALONE, False)) for number, start in unmarked(turn)]
    seen = set[str]()
    for number, found in sorted(everything, key=lambda one: one[0]):
        if found is None or found.text.casefold() in seen:
            continue
        seen.add(found.text.casefold())
        doubt = turn[number].doubt
        if found.explicit and doubt:
            found = _asked(found, doubt)
        elif found.explicit and suspicious(turn[number].quote):
            found = _asked(found, "it looks like an instruction to an agent")
        elif doubt and number not in held:
            continue  # neither marked nor certain
        yield found


def _corrections(turn: Sequence[Sentence]) -> Iterable[tuple[int, ExtractedFact]]:
    """Yield (sentence number, fact) for corrections of what an agent did: the whole sentence, and after a short one
    also the next."""
    for number, sentence in enumerate(turn):
        text, others = sentence.text, sentence.question or sentence.passed or sentence.doubt
        wrong = None if others or len(text) > ONE else clauses.leading("corrects_agent", sentence.folded)
        if wrong is None:
            continue
        brief = len(text.split()) <= SHORT or len(text[wrong.end() :].split()) < WORDS
        if brief and number + 1 < len(turn) and not turn[number + 1].question:
            text = f"{text} {turn[number + 1].text}"
        if len(text[wrong.end() :].split()) >= WORDS:
            yield number, ExtractedFact(text, "self_correction", "medium", sentence.quote, False, True, CORRECTS)


def how_to(text: str) -> tuple[int, int] | None:
    """Return (start, end) of numbered steps with the words that announce them, "To release: 1. … 2. …"; None without
    any."""
    begin = number = last = 0
    for step in _STEP.finditer(text):
        if number and step[1] == str(number + 1):
            number, last = number + 1, step.end()
        elif step[1] == "1" and number < 2 and (head := _head(text, step.start())):
            begin, number = step.start() - len(head), 1
    if number < 2:
        return None
    stop = _STEP_END.search(text, last)
    return begin, stop.start() if stop else len(text)


def _head(text: str, start: int) -> str:
    """Return the words before `start` that announce steps; empty where none do."""
    near, before = max(0, start - ONE - 2), max(0, start - 2)
    head = text[max(text.rfind(end, near, before) + 1 for end in ("\n\n", ". ", "! ", "? ")) : start]
    return head.lstrip() if len(head) <= ONE and pattern("how_to").search(fold(head)) else ""


def _whole(text: str, turn: Sequence[Sentence], found: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Return what was found, with numbered steps that are asked for merged into one fact, without what asks for
    them."""
    span = how_to(text)
    if span is None:
        return list(found)
    block = text[span[0] : span[1]].strip()
    asked = clauses.leading("keeps_steps", fold(block))
    own = any(block.startswith(sentence.quote) and not sentence.doubt for sentence in turn)
    parts = [one for one in found if one.quote in block or block in one.quote]
    if not parts and not (asked and own):
        return list(found)
    steps = " ".join(block[asked.end() if asked else 0 :].split()).rstrip(".;, ")
    steps = steps[:1].upper() + steps[1:]
    explicit = any(one.explicit for one in parts)
    whole = ExtractedFact(steps, "general", "high" if explicit else "medium", block, explicit, True, WHY["asked"])
    return [whole, *(one for one in found if one not in parts)]


def _marked(sentence: Sentence, request: Request) -> ExtractedFact | None:
    """Return what a request keeps; in a sentence that is a certain rule, what the rule keeps."""
    found = _found(sentence, request.start, "", WHY[request.kind], request.sure, request.end)
    if found is None:
        return None
    lasting = sign("lasting_time").sub("", fold(found.text))
    if request.kind == "asked" and pattern("passing").search(lasting):
        return _asked(found, "it speaks of these days")
    if request.kind in ("pointing", "storing", "to_do") and sign("for_now").search(lasting):
        return None
    rule = None if request.kind in REQUESTS else _standing_rule(sentence)
    if rule is None:
        return found
    if rule.text.casefold().endswith(found.text.casefold()):
        return rule  # the same words, in a certain form
    return _found(sentence, request.start, rule.domain, rule.why, rule.explicit, request.end)


def _asked(found: ExtractedFact, why: str) -> ExtractedFact:
    """Return a fact as one to ask about."""
    return replace(found, confidence="medium", explicit=False, own=False, why=why) if found.explicit else found


def _standing_rule(sentence: Sentence) -> ExtractedFact | None:
    """Return the fact in a sentence that starts with a trigger and does not ask for memory."""
    if sentence.question or sentence.passed:
        return None
    folded = sentence.folded
    start = clauses.begins(folded)
    rest = folded[start:]
    for trigger in triggers("kept"):
        match = trigger.of(rest)
        if match is None:
            continue
        written = sentence.text[start:]
        verb = slice(*match.span("verb")) if trigger.sure else slice(0)
        sure = imperatives.certain(trigger.sure, written[verb], rest)
        if sure is False:
            return None
        why = f"you said “{written[: match.end()]}”"
        found = _found(sentence, start, trigger.domain, why, explicit=bool(sure))
        return _asked(found, LATER) if found and sentence.later and not sentence.doubt else found
    return None


def _told(sentence: Sentence) -> ExtractedFact | None:
    """Return what a sentence tells plainly as something that lasts, without asking for memory; of a question only what
    a trigger keeps of it."""
    start = clauses.begins(sentence.folded)
    rest = sentence.folded[start:]
    lasting = sign("lasting_time").sub("", rest)
    others = sentence.passed or sentence.doubt or clauses.reported(sentence.folded, len(sentence.folded))
    supposed = sign("hypothetical").match(rest) or sign("for_now").search(lasting)
    if others or supposed or _OTHERS.search(sentence.text) or any(pattern(one).search(lasting) for one in NOT_TOLD):
        return None
    for trigger in triggers("told"):
        match = trigger.of(rest, anywhere=True)
        if match is None or (trigger.sure and not (NAME.search(sentence.text) or FIGURE.search(rest))):
            continue
        kept = match.start("kept") if "kept" in trigger.phrase.groupindex else 0
        if kept or not sentence.question:
            return _found(sentence, start + kept, trigger.domain, TOLD, False, len(sentence.text.rstrip("? ")))
    return None


def _found(
    sentence: Sentence, start: int, domain: str, why: str, explicit: bool = True, end: int | None = None
) -> ExtractedFact | None:
    """Return the sentence from `start` to `end` as a fact; None where too few words are left."""
    text = sentence.text[start:end].strip().rstrip(".!;,… ").strip()
    left = _CUT.sub("", text)
    if len(text.split()) < WORDS or (left != text and not explicit and not states(fold(left), left)):
        return None
    text = text[0].upper() + text[1:]
    hedged = pattern("hedged").search(sentence.folded, start)
    confidence = "high" if explicit and not hedged else "medium"
    return ExtractedFact(text, domain or _domain(fold(text)), confidence, sentence.quote, explicit, True, why)


def _domain(folded: str) -> str:
    """Return the domain of what a person asks to remember: that of the first trigger in it."""
    rest = folded[clauses.begins(folded) :]
    rules = [trigger for trigger in triggers("kept") if trigger.phrase.match(rest)]
    told = [trigger for trigger in triggers("told") if trigger.phrase.search(rest)]
    return next((trigger.domain for trigger in (*rules, *told)), "general")
