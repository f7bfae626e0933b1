"""Which facts a question brings up, and what is known of each: the pinned ones, and what a search for it finds."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from store.base.citations import find
from store.base.clock import ago
from store.base.models import Fact, Turn
from store.base.record_keys import pack
from store.base.vocabulary import PERSON
from store.context.budget import LIMITS, ContextPiece, Part, first_that_fit
from store.context.reasons import ABOVE, BEYOND, MOST, NO_ROOM, Circumstances, Considered, judge
from store.database.database import Database
from store.database.tombstones import normal
from store.history.compression import every_row
from store.records.facts import Facts
from store.records.mutes import Mutes
from store.search.pipeline import Search
from store.search.results import Hit
from store.text.tokens import LETTERS

POOL = 40  # facts that a search may bring up
PINNED = 40  # pinned facts that are thought of, the most important first
PINNED_TOKENS = 90  # which those of them that the question is not about may take before those that it is about
ASKED = 500  # characters of a question that are searched for: of a longer one, its end before its beginning
TOLD = 0.6  # of the words of a fact that whoever cites it must say, for it to be said
SHORTEST = 4  # characters of a fact that is looked for in what was said
BEGINNING = 5  # letters of a word that tell it from others
TALK, IMPORT = "talk:", "import:"  # what the person said in a conversation, and what they brought in
# what a person does to a fact that says yes to it
YES = ("remember", "confirm", "correct", "pin", "accept", "decide", "merge", "supersede", "edit")


@dataclass(frozen=True, slots=True)
class RankedFact:
    """Ids of facts, the one that bears most on a question first, and who ordered them: `rules`, or a model's name."""

    ids: tuple[int, ...]
    by: str = "rules"


Rank = Callable[[str, Sequence[tuple[int, str]]], RankedFact]  # a question, and facts in the search's order: (id, text)


class Chosen:
    """The `part` that holds the facts; every fact that was `considered`, first those that are in, in their order; and
    who ordered them."""

    __slots__ = ("considered", "notes", "part", "ranked_by")

    def __init__(self, part: Part, considered: list[Considered], notes: list[str], ranked_by: str) -> None:
        self.part = part
        self.considered = considered
        self.notes = notes
        self.ranked_by = ranked_by


def choose(
    database: Database,
    search: Search,
    question: str,
    now: str,
    turns: Sequence[Turn],
    sent: dict[int, int],
    session: str,
    whole: Collection[str] = (),
    rank: Rank | None = None,
) -> Chosen:
    """The facts for a question. `turns` are the last ones that the model sees anyway, `sent` the keys of what the
    session was sent lately and with which turn, `session` its name (empty without one), `whole` the
    citations of those turns that are sent as a whole. `rank` may order anew those that the question is about."""
    answer = search(_words(question), POOL, kinds=("fact",)) if _words(question) else None
    hits = {hit.record.id: hit for hit in answer.hits} if answer else {}
    rows = database.rows(
        "SELECT id FROM facts WHERE status = 'active' AND pinned ORDER BY importance DESC, last_confirmed_at DESC, id"
        " LIMIT ?",
        (PINNED,),
    )
    named = {int(citation.target) for _, _, citation in find(question) if citation.kind == "fact"}
    numbers = list(dict.fromkeys([*hits, *sorted(named), *(number for (number,) in rows)]))
    facts = Facts(database).many(numbers)
    muted = Mutes(database).among(numbers)
    yes = accepted(database, facts)
    by_words = not any((hit.similarity or 0.0) >= ABOVE for hit in hits.values())
    judged: list[Considered] = []
    for fact in facts:
        hit = hits.get(fact.id)
        known = Circumstances(
            similarity=hit.similarity if hit else None,
            matched=fact.id in named or (hit is not None and _matched(hit)),
            by_words=by_words or fact.id in named,
            accepted=fact.id in yes,
            muted=fact.id in muted,
            said=_said(fact, turns, sent, whole),
            of_session=fact.scope != "session" or (bool(session) and fact.session == session),
        )
        included, word, why = judge(fact, now, known)
        judged.append(Considered(fact, included, word, why, known.similarity))
    about = [one for one in judged if one.included and one.word != "pinned"]
    by = RankedFact(()).by
    if rank is not None and len(about) > 1:
        ranked = rank(_words(question), [(one.fact.id, one.fact.fact) for one in about])
        place, by = {number: place for place, number in enumerate(ranked.ids)}, ranked.by
        about.sort(key=lambda one: place[one.fact.id])
    return _filled(judged, about, now, answer.notes if answer else [], by)


def _filled(judged: list[Considered], about: list[Considered], now: str, notes: list[str], by: str) -> Chosen:
    """Of the facts that may be in, those for which there is room, in the order in which they are sent: `about` is those
    that the question is about, in theirs."""
    beyond = about[MOST:]
    pinned = [one for one in judged if one.included and one.word == "pinned"]
    near = [one for one in pinned if one.similarity is not None and one.similarity >= ABOVE]
    far = [one for one in pinned if one not in near]
    first = first_that_fit("facts", [_piece(one.fact, now) for one in far], PINNED_TOKENS)
    early = {piece.key for piece in first.pieces}
    order = [
        *near,
        *(one for one in far if pack("fact", one.fact.id) in early),
        *about[:MOST],
        *(one for one in far if pack("fact", one.fact.id) not in early),
    ]
    part = first_that_fit("facts", [_piece(one.fact, now) for one in order], LIMITS["facts"])
    taken = {piece.key: _tokens(piece) for piece in part.pieces}
    considered, out = [], []
    for one in order:
        key = pack("fact", one.fact.id)
        if key in taken:
            considered.append(replace(one, tokens=taken[key]))
        else:
            out.append(replace(one, included=False, word=NO_ROOM[0], why=NO_ROOM[1]))
    out += [replace(one, included=False, word=BEYOND[0], why=BEYOND[1]) for one in beyond]
    return Chosen(part, [*considered, *out, *(one for one in judged if not one.included)], notes, by)


def _piece(fact: Fact, now: str) -> ContextPiece:
    """A fact as it is sent: cited, with who wrote it unless it was the person, and how long nobody confirmed it where
    that matters."""
    from store.records.ageing import state

    old = state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)
    notes = []
    if fact.origin != PERSON:
        notes.append(f"by {' '.join(fact.origin.split())[:40]}")
    if old in ("aging", "low"):
        notes.append(f"{'aging' if old == 'aging' else 'low priority'}, {ago(now, fact.last_confirmed_at)}")
    about = f" ({'; '.join(notes)})" if notes else ""
    return ContextPiece(fact.citation, pack("fact", fact.id), f"- [{fact.citation}]{about} ", fact.fact)


def _tokens(piece: ContextPiece) -> int:
    from store.base import token_count

    return token_count.count(piece.line)


def _words(question: str) -> str:
    """A question as it is searched for: not as filters, however it is punctuated."""
    words = " ".join(question.replace(":", " ").split())
    if len(words) <= ASKED:
        return words
    lines = [line for line in question.replace(":", " ").splitlines() if line.strip()]
    first, last = " ".join(lines[:1]).split(), " ".join(lines[-2:]).split()  # of what is pasted, it stands at one end
    return f"{' '.join(last)[-ASKED * 3 // 5 :]} {' '.join(first)[: ASKED * 2 // 5]}"


def _matched(hit: Hit) -> bool:
    return bool(hit.marks) or "citation" in hit.why


def _said(fact: Fact, turns: Sequence[Turn], sent: dict[int, int], whole: Collection[str]) -> str:
    """Where a fact was just said, or with which turn it was sent; empty if neither. A turn of which a part is cut off
    may have said it there, and a citation alone says nothing."""
    text = normal(fact.fact)
    for turn in reversed(turns):
        if turn.citation in fact.evidence and (turn.citation in whole or _tells(turn.text, text)):
            return turn.citation
        if f"[{fact.citation}]" in turn.text and _tells(turn.text, text):
            return turn.citation
        if len(text) >= SHORTEST and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", normal(turn.text)):
            return turn.citation
    key = pack("fact", fact.id)
    return f"sent with turn {sent[key]}" if key in sent else ""


def _tells(text: str, fact: str) -> bool:
    """Whether a text holds most words of a fact, in whatever form."""
    known = {word[:BEGINNING] for word in LETTERS.findall(normal(text))}
    wanted = {word[:BEGINNING] for word in LETTERS.findall(fact) if len(word) >= SHORTEST or word.isdigit()}
    return bool(wanted) and len(wanted & known) >= TOLD * len(wanted)


def accepted(database: Database, facts: Sequence[Fact]) -> Collection[int]:
    """Those of these facts that a person wrote, said, brought in, or said yes to since."""
    yes = {
        fact.id
        for fact in facts
        if fact.origin == PERSON
        or fact.origin.startswith(IMPORT)
        or (fact.origin.startswith(TALK) and fact.source == "explicit")
    }
    rest = [f"[{fact.id}]" for fact in facts if fact.id not in yes]
    if rest:
        verbs = " OR ".join(f"h.reason LIKE '{verb}%'" for verb in YES)
        rows = database.rows(
            f"SELECT DISTINCT r.pk FROM json_each(?) AS j CROSS JOIN {every_row(database)} AS r"
            " ON r.tbl = 'facts' AND r.pk = j.value JOIN history AS h ON h.seq = r.seq"
            f" WHERE (h.actor = ? OR (h.actor LIKE '{TALK}%' AND r.op = 'UPDATE')) AND ({verbs})"
            " AND h.undone_by IS NULL AND h.undoes IS NULL"
            # what put another in its place said no to it, though it may have been brought back since
            " AND coalesce(r.after ->> '$.status', 'active') = 'active'",
            (json.dumps(rest), PERSON),
        )
        yes |= {json.loads(key)[0] for (key,) in rows}
    return yes
