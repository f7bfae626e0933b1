"""Select the facts for a question, with what is known of each: the pinned ones, and what a search for it finds."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from store.base.citations import cite, find
from store.base.clock import ago
from store.base.models import Fact, Turn, evidence_note
from store.base.record_keys import pack, unpack
from store.base.vocabulary import PERSON
from store.context.acceptance import accepted
from store.context.budget import LIMITS, ContextPiece, Part, first_that_fit
from store.context.reasons import ABOVE, BEYOND, MOST, NO_ROOM, Circumstances, Considered, judge
from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.personal.beside import beside
from store.personal.global_facts import SCOPE as GLOBAL
from store.records.facts import Facts
from store.records.mutes import Mutes
from store.text.tokens import LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:  # imports here slow down hooks
    from store.search.pipeline import Search
    from store.search.results import Hit

POOL = 40  # facts that a search may return
PINNED = 40  # pinned facts that are considered, the most important first
PINNED_TOKENS = 90  # for pinned facts not related to the question, before those related to it
ASKED = 500  # characters of a question used for the search: of a longer one, the end before the beginning
TOLD = 0.6  # of the words of a fact that a text citing it must contain to count as containing it
SHORTEST = 4  # characters of a fact that is looked for in turns
BEGINNING = 5  # letters of a word that identify it


@dataclass(frozen=True, slots=True)
class RankedFact:
    """Keys of facts, the most relevant to a question first, and who ordered them: `rules`, or a model's name."""

    ids: tuple[int, ...]
    by: str = "rules"


Rank = Callable[
    [str, Sequence[tuple[int, str]]], RankedFact
]  # a question, and facts in the search's order: (key, text)


class Chosen:
    """The `part` with the facts; every fact that was `considered`, first those included, in order; and who ordered
    them."""

    __slots__ = ("considered", "notes", "part", "ranked_by")

    def __init__(self, part: Part, considered: list[Considered], notes: list[str], ranked_by: str) -> None:
        self.part = part
        self.considered = considered
        self.notes = notes
        self.ranked_by = ranked_by


def choose(
    database: Database,
    search: "Search",
    question: str,
    now: str,
    turns: Sequence[Turn],
    sent: dict[int, int],
    session: str,
    whole: Collection[str] = (),
    rank: Rank | None = None,
) -> Chosen:
    """Select the facts for a question. `turns` are the last ones that the model receives anyway, `sent` the keys of
    what the session was sent recently and with which turn, `session` its name (empty without one), `whole` the
    citations of those turns that are sent whole. `rank` may reorder those related to the question."""
    answer = search(_words(question), POOL, kinds=("fact",)) if _words(question) else None
    hits = {hit.key: hit for hit in answer.hits} if answer else {}
    named = [pack(one.kind, int(one.target)) for _, _, one in find(question) if one.kind in ("fact", "global")]
    by_words = not any((hit.similarity or 0.0) >= ABOVE for hit in hits.values())
    own = beside(database)
    judged: list[Considered] = []
    for memory, kind in ((database, "fact"), *([(own, "global")] if own is not None else [])):
        facts = _candidates(memory, kind, [*hits, *sorted(named)])
        muted = Mutes(memory).among([fact.id for fact in facts])
        yes = accepted(memory, facts)
        for fact in facts:
            key = pack(kind, fact.id)
            hit = hits.get(key)
            known = Circumstances(
                similarity=hit.similarity if hit else None,
                matched=key in named or (hit is not None and _matched(hit)),
                by_words=by_words or key in named,
                accepted=fact.id in yes,
                muted=fact.id in muted,
                said=_said(
                    fact, cite(kind, fact.id), turns, f"sent with turn {sent[key]}" if key in sent else "", whole
                ),
                of_session=fact.scope != "session" or (bool(session) and fact.session == session),
            )
            included, word, why = judge(fact, now, known)
            judged.append(Considered(fact, included, word, why, known.similarity, of_person=kind == "global"))
    about = [one for one in judged if one.included and one.word != "pinned"]
    by = RankedFact(()).by
    if rank is not None and len(about) > 1:
        ranked = rank(_words(question), [(one.key, one.fact.fact) for one in about])
        place, by = {key: place for place, key in enumerate(ranked.ids)}, ranked.by
        about.sort(key=lambda one: place[one.key])
    return _filled(judged, about, now, answer.notes if answer else [], by)


def _candidates(database: Database, kind: str, keys: Sequence[int]) -> list[Fact]:
    """Return the facts of one memory among these keys, in their order, then its pinned ones: of the person's own, kind
    `global`, those of scope global."""
    index = "" if database.moment else " INDEXED BY facts_pinned"  # the facts of a past moment are a view
    rows = database.rows(
        f"SELECT id FROM facts{index} WHERE status = 'active' AND pinned"
        " ORDER BY importance DESC, last_confirmed_at DESC, id LIMIT ?",
        (PINNED,),
    )
    numbers = [number for one, number in map(unpack, keys) if one == kind]
    found = Facts(database).many(list(dict.fromkeys([*numbers, *(number for (number,) in rows)])))
    return [fact for fact in found if kind == "fact" or fact.scope == GLOBAL]


def _filled(judged: list[Considered], about: list[Considered], now: str, notes: list[str], by: str) -> Chosen:
    """Return those of the permitted facts that fit, in the order in which they are sent: `about` are those related to
    the question, in theirs."""
    beyond = about[MOST:]
    pinned = [one for one in judged if one.included and one.word == "pinned"]
    near = [one for one in pinned if one.similarity is not None and one.similarity >= ABOVE]
    far = [one for one in pinned if one not in near]
    first = first_that_fit("facts", [_piece(one, now) for one in far], PINNED_TOKENS)
    early = {piece.key for piece in first.pieces}
    order = [
        *near,
        *(one for one in far if one.key in early),
        *about[:MOST],
        *(one for one in far if one.key not in early),
    ]
    part = first_that_fit("facts", [_piece(one, now) for one in order], LIMITS["facts"])
    taken = {piece.key: _tokens(piece) for piece in part.pieces}
    considered, out = [], []
    for one in order:
        if one.key in taken:
            considered.append(replace(one, tokens=taken[one.key]))
        else:
            out.append(replace(one, included=False, word=NO_ROOM[0], why=NO_ROOM[1]))
    out += [replace(one, included=False, word=BEYOND[0], why=BEYOND[1]) for one in beyond]
    return Chosen(part, [*considered, *out, *(one for one in judged if not one.included)], notes, by)


def _piece(one: Considered, now: str) -> ContextPiece:
    """Return a fact as it is sent: with its citation, its author unless it was the person, and its age since
    confirmation where that matters."""
    from store.records.ageing import state

    fact, cited = one.fact, one.record.citation
    old = state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)
    notes = []
    if fact.origin != PERSON:
        notes.append(f"by {' '.join(fact.origin.split())[:40]}")
    if old in ("aging", "low"):
        notes.append(f"{'aging' if old == 'aging' else 'low priority'}, {ago(now, fact.last_confirmed_at)}")
    if doubt := evidence_note(fact):
        notes.append(doubt)
    about = f" ({'; '.join(notes)})" if notes else ""
    return ContextPiece(cited, one.key, f"- [{cited}]{about} ", fact.fact)


def _tokens(piece: ContextPiece) -> int:
    from store.base import token_count

    return token_count.count(piece.line)


def _words(question: str) -> str:
    """Return a question as a search query: without filters, whatever its punctuation."""
    words = " ".join(question.replace(":", " ").split())
    if len(words) <= ASKED:
        return words
    lines = [line for line in question.replace(":", " ").splitlines() if line.strip()]
    first, last = " ".join(lines[:1]).split(), " ".join(lines[-2:]).split()  # a pasted text has it at one end
    return f"{' '.join(last)[-ASKED * 3 // 5 :]} {' '.join(first)[: ASKED * 2 // 5]}"


def _matched(hit: "Hit") -> bool:
    return bool(hit.marks) or "citation" in hit.why


def _said(fact: Fact, cited: str, turns: Sequence[Turn], sent: str, whole: Collection[str]) -> str:
    """Return where a fact, `cited` so, was just written, or else when it was `sent`; empty if neither. A turn that is
    cut may have contained it in the missing part, and a citation alone is not enough."""
    text = normal(fact.fact)
    for turn in reversed(turns):
        if turn.citation in fact.evidence and (turn.citation in whole or _tells(turn.text, text)):
            return turn.citation
        if f"[{cited}]" in turn.text and _tells(turn.text, text):
            return turn.citation
        if len(text) >= SHORTEST and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", normal(turn.text)):
            return turn.citation
    return sent


def _tells(text: str, fact: str) -> bool:
    """Return whether a text contains most words of a fact, in any form."""
    known = {word[:BEGINNING] for word in LETTERS.findall(normal(text))}
    wanted = {word[:BEGINNING] for word in LETTERS.findall(fact) if len(word) >= SHORTEST or word.isdigit()}
    return bool(wanted) and len(wanted & known) >= TOLD * len(wanted)
