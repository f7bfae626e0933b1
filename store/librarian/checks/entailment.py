"""Whether a record says what a sentence says, part by part: every word of a part that tells something stands in one
part of one record, or in what the whole record is about, denied there if it is denied here.

Words of two records, or of two parts of one, put together say what neither does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from store.base.models import Commit, Decision, Event, Fact, Iteration, Proposal, Record, Task
from store.librarian.checks import literals
from store.librarian.sources import LONG, Source
from store.text import contradiction
from store.text.synonyms import ENDED, FRAMES, FUNCTION, GONE, MODAL, SPOKEN, Word, same, told

CONTRARY = "the contrary of what the record says"
UNKNOWN = "words that the record does not have"

# one who does something, right after an `and`: what follows is a part of its own
_OWN = (
    r"(?:we|i|he|she|it|they|you|there|nobody|his|her|its|their|our|my|nosotros|ella|ellos|ellas|su|sus|mi|nuestr[oa]s?"
    r"|nadie|hay"
    r"|(?:the|an?|el|la|los|las|una?)\s+[\w-]+\s+(?!(?:of|in|on|at|to|for|with|from|de|del|en|a|para|con|por|and|or|y|o)\b)"
    r"[^\W\d_])"
)
_BREAK = (
    r"[;:!?(){}\"“”«»]+|\.(?=\s|$)|,?\s\b(?:because|porque|ya que|puesto que|but|pero|while|mientras)\b"
    rf"|,\s(?:as|since|for|pues)\b|\s(?:and|y|e)\b(?=\s+{_OWN}\b)|,(?=\s+{_OWN}\b)"
)
# of a record only where another does something, of a sentence wherever it says `, and`
_PART = re.compile(rf"{_BREAK}|,\s(?:and|y|e)\b(?=\s+[A-ZÁÉÍÓÚÑ])")
_SENTENCE_PART = re.compile(rf"{_BREAK}|,\s(?:and|y|e)\b")
# a part that begins with where, when or for what may go on in another order
_ADJUNCT = re.compile(
    r"\s*(?:(?:on|in|at|for|from|with|to|en|al|por|para|con|de|desde)\b"
    r"|(?:los |el |las )?(?:lunes|martes|miercoles|jueves|viernes|sabados?|domingos?)\b)"
)
_TO_DO = re.compile(
    r"\b(?:tasks?|pending|open|to do|to be|in progress|left|under way|tareas?|pendientes?|abiertas?|en curso"
    r"|por hacer)\b"
)
_PROPOSED = re.compile(r"\b(?:propos\w+|propuest\w+|propon\w+)\b")
_BESIDE = frozenset("to from for with on in at of a al de del en para con".split())
_CLEFT = re.compile(
    r"^\s*(?:it (?:is|was)|es|son|fue)\b|\b(?:what|which|who|whom|where|when|lo que|que|quien|donde|cuando)\b"
)
_BY = frozenset(("by", "por"))
_DONE = {"done": "done hecha finished completed terminada", "in_progress": "progress curso way", "pending": ""}


@dataclass(frozen=True, slots=True)
class _Said:
    """What a record says: `head` what the whole of it is about, `parts` the rest, `frame` the words in which one
    speaks of it, `refused` those of options that it did not take."""

    head: tuple[Word, ...]
    parts: tuple[tuple[Word, ...], ...]
    frame: frozenset[str]
    refused: tuple[str, ...]


def why_unsupported(rest: str, loose: frozenset[str], said: str, those: Sequence[Source], across: bool) -> str:
    """Why these records do not say what a sentence says, empty if they do. `rest` is the folded sentence without what
    refuses an option, `loose` the options that may stand in the words of the reason only; `across`: it is in another
    language than they are."""
    folded = contradiction.folded(said)
    alone = [_said(source, literals.ground(source, folded)) for source in those]
    known = [_with_linked(place, those, alone) for place in range(len(those))]
    bare = [_Said((), one.parts, frozenset(), ()) for one in known]
    every = " ".join(source.text for source in those)
    if not all(_as_what_it_is(source.record, folded) for source in those):
        return "what is to be done, or was only proposed, told as if it were so"
    before = set(range(len(known)))
    for part in _SENTENCE_PART.split(literals.without_days(rest)):
        mine, idle = told(part)
        telling = [word for word in mine if not _plain(word)]
        if idle:
            return CONTRARY
        if not telling:
            continue
        strict = any(word.text in loose for word in telling)
        ground = bare if strict else known
        if strict and all(word.text in loose for word in telling):
            return UNKNOWN  # an option on its own, as if it were the answer
        fits = {place for place, one in enumerate(ground) if _fits(telling, one, every, across, True)}
        if fits and all(_turned(part, telling, those[place], known[place], across) for place in fits):
            return CONTRARY
        if not fits:
            alike = any(_fits(telling, one, every, across, False) for one in ground)
            return CONTRARY if alike else UNKNOWN
        if not re.match(rf"\s*{_OWN}\b", part) and not before & fits:
            return UNKNOWN  # what goes on about the same one must be of the same record
        before = fits
    return ""


def _as_what_it_is(record: Record, said: str) -> bool:
    """Whether a task that is not done, and a proposal, are told as such."""
    if isinstance(record, Task):
        return record.status == "done" or bool(_TO_DO.search(said))
    return not isinstance(record, Proposal) or bool(_PROPOSED.search(said))


def _plain(word: Word) -> bool:
    return word.text in FUNCTION or word.text[:1].isdigit() or (word.text in SPOKEN and not word.denied)


def _with_linked(place: int, those: Sequence[Source], alone: Sequence[_Said]) -> _Said:
    """What a record says, with what those are about that it belongs to: a commit and its decision, an iteration and
    what was done in it."""
    one = alone[place]
    near = [said for source, said in zip(those, alone, strict=True) if _linked(those[place], source)]
    heads = (word for said in near for word in said.head)
    return _Said((*one.head, *heads), one.parts, one.frame.union(*(said.frame for said in near)), one.refused)


def _linked(one: Source, other: Source) -> bool:
    kinds = {one.kind, other.kind}
    if kinds == {"commit", "decision"}:
        return other.citation in (link.citation for link in one.links)
    return "iteration" in kinds and bool(kinds & {"commit", "decision", "event"})


def _fits(telling: Sequence[Word], one: _Said, every: str, across: bool, strictly: bool) -> bool:
    """Whether all these words stand in one part of a record; `strictly`, denied where they are denied there."""
    return any(
        all(
            _stands(word, part, () if _of_option(part, one) else one.head, across, strictly)
            or (not word.denied and _framed(word.text, one, every))
            for word in telling
        )
        for part in one.parts or ((),)
    )


def _turned(part: str, telling: Sequence[Word], source: Source, one: _Said, across: bool) -> bool:
    """Whether a part of a sentence has three words of a record in the reverse order, who did it and to whom it was done
    in each other's place: `Peanuts are allergic to Ana`. What was done `by` somebody has them so rightly."""
    if isinstance(source.record, Commit) or _ADJUNCT.match(part):
        return False
    for other in one.parts:
        there = [[place for place, word in enumerate(other) if same(mine.text, word.text, across)] for mine in telling]
        if not all(there):
            continue
        if not _CLEFT.search(part) and _was_beside(there, other):
            return True
        places = [found[0] for found in there if len(found) == 1]
        by = any(word.text in _BY for word in other) != any(word.text in _BY for word in told(part)[0])
        if _three_rise(places if by else [-place for place in places]):
            return True
    return False


def _was_beside(there: Sequence[Sequence[int]], other: Sequence[Word]) -> bool:
    """Whether what a sentence begins with stands in the record behind one of its `to`, `from` and their like, and after
    something that the sentence says of it: `Adyen pays us`, where we pay to Adyen."""
    first = there[0]
    behind = all(place and other[place - 1].text in _BESIDE for place in first)
    return behind and any(max(found) < min(first) for found in there[1:])


def _three_rise(places: Sequence[int]) -> bool:
    """Whether three of these rise, one after the other."""
    return any(
        any(first < middle for first in places[:at]) and any(middle < last for last in places[at + 1 :])
        for at, middle in enumerate(places)
    )


def _of_option(part: Sequence[Word], one: _Said) -> bool:
    """Whether a part of a record tells of an option that was not taken: it says nothing of what was."""
    first = next((word.text for word in part if not _plain(word)), "")
    return any(same(first, word) for word in one.refused)


def _stands(word: Word, part: Sequence[Word], head: Sequence[Word], across: bool, strictly: bool) -> bool:
    for text in (part, head):
        there = [other for other in text if same(word.text, other.text, across)]
        if there:
            loosely = not strictly or word.text in MODAL
            return loosely or any(other.denied == word.denied for other in there)
    return False


def _framed(word: str, one: _Said, every: str) -> bool:
    """Whether a word is one in which one speaks of such a record, and the record says nothing against it."""
    return word in one.frame and not contradiction.contrary(word, every)


def _said(source: Source, text: str) -> _Said:
    record, frame = source.record, FRAMES.get(source.kind, frozenset())
    match record:
        case Decision():
            about = (record.title, record.chosen, *record.alternatives, record.phase or "", record.status)
            heads = [*about, *(f"{link.kind} {link.title}" for link in source.links), f"by {record.origin}"]
            texts = [record.rationale[:LONG], record.context[:LONG]]
            frame |= GONE if record.status != "active" else frozenset()
        case Commit():
            heads = [record.author, *(f"{link.kind} {link.title}" for link in source.links)]
            subject, _, body = record.message[:LONG].partition("\n")
            texts = [subject.replace(":", " "), body]
        case Event():
            heads, texts = [text], []
        case Iteration():
            heads, texts = [text], []
            ends = record.completed_at and record.status == "completed"
            frame |= ENDED if ends else frozenset(("ended",) if record.completed_at else ("progress", "way", "curso"))
        case Task():
            heads, texts = [text], []
            frame |= frozenset(_DONE[record.status].split())
        case Fact():
            heads = [f"{record.origin} confirmed {record.status}", *re.findall(r"\(([^()]*)\)\.$", text)]
            texts = [record.fact[:LONG]]
        case _:
            heads, texts = [], [text]
    head = tuple(word for one in heads for word in _words(one))
    refused = () if not isinstance(record, Decision) else _refused(record)
    return _Said(
        head, tuple(_words(part) for one in texts for part in _PART.split(one) if part.strip()), frame, refused
    )


def _refused(record: Decision) -> tuple[str, ...]:
    own = [word.text for word in _words(f"{record.title} {record.chosen}")]
    return tuple(
        word.text
        for option in record.alternatives
        for word in _words(option)
        if not _plain(word) and not any(same(word.text, other) for other in own)
    )


@lru_cache(2_000)
def _words(text: str) -> tuple[Word, ...]:
    return tuple(told(text)[0])
