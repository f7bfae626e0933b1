"""Select the facts for a question, with what is known of each: the pinned ones, and what a search for it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from store.base.citations import cite, find_citations
from store.base.clock import format_age, whole_days_between
from store.base.errors import InvalidInput
from store.base.models import Fact, GlobalFact, Turn, format_evidence_note
from store.base.vocabulary import PERSON_ORIGIN, pack_key, unpack_key
from store.database.database import Database
from store.database.tombstones import normal_form
from store.history.history import find_approved_ids
from store.personal.memory import GLOBAL_SCOPE, find_personal_memory
from store.records.facts import Facts, fact_age_state
from store.records.mutes import Mutes
from store.search.pipeline import Search
from store.text.fence import format_fence_item, is_suspicious, make_harmless, wrap_in_fence
from store.text.words import LETTERS_PATTERN, count_tokens, shorten_to_tokens

# Decide which facts a person wrote, said or approved: only those may be sent to a model or an agent.
#
# Apart from `selection`, because a hook that starts a session needs nothing else of it.


class AuthoredFact(Protocol):
    """A fact, or what is needed of one."""

    @property
    def id(self) -> int: ...
    @property
    def origin(self) -> str: ...
    @property
    def source(self) -> str: ...


# what the person said in a conversation, and what they imported
TALK_ORIGIN, IMPORT_ORIGIN = "talk:", "import:"


def find_accepted_ids(database: Database, facts: Sequence[AuthoredFact]) -> Collection[int]:
    """Return the ids of the facts that a person wrote, said, imported, or approved since; or that an agent
    recorded in the person's own words, where they trust it."""
    yes = {
        fact.id
        for fact in facts
        if fact.origin == PERSON_ORIGIN
        or fact.origin.startswith(IMPORT_ORIGIN)
        or (fact.origin.startswith(TALK_ORIGIN) and fact.source == "explicit")
    }
    rest = [fact.id for fact in facts if fact.id not in yes]
    return yes | find_approved_ids(database, "facts", rest) if rest else yes


# Limits in tokens, counted by `store/text/words.py`, and how a part is filled up to its limit.
#
# Every part has a limit, and so has the whole. Where the whole would exceed its limit, summaries are dropped first,
# then the window, from its oldest turn on; the question, the facts and the standing part never are.

# of everything that is sent
MAX_PROMPT_TOKENS = 3_050
# that the model keeps for its answer
ANSWER_TOKENS = 950
# prompt and answer together: above it a warning is shown
WARNING_TOKENS = 3_500
# `own` is taken from the window's, and `log` shares …
PART_LIMITS = {
    "static": 400,
    "own": 500,
    "facts": 150,
    "summaries": 200,
    "log": 200,
    "window": 2_000,
    "tools": 300,
}
# … this with the summaries
SHARED_LIMIT = 200
# tokens of a text that is cut: a shorter one is useless
MIN_CUT_TOKENS = 12
# parts that are lines of one document
LINE_PARTS = ("own", "log")
PART_HEADINGS = {
    "own": "What the person wrote for you",
    "facts": "What the person lets you remember:",
    "summaries": "What was talked about before, newest last:",
    "log": "Written down today",
    "window": "The conversation, newest last:",
    "tools": "What tools returned:",
}


class ContextPiece(NamedTuple):
    """One item that may be sent: its citation (empty for what has no record), its key (`store/base/vocabulary.py`,
    None without one), our own words before it, and its text as it was written."""

    citation: str
    key: int | None
    start: str
    text: str

    @property
    def line(self) -> str:
        """The item as a line of its fence."""
        return format_fence_item(self.start, self.text)

    @property
    def is_suspicious(self) -> bool:
        """Whether it looks like an instruction to agents."""
        return is_suspicious(self.text)


class ContextPart(NamedTuple):
    """One part of a context: `text` as it is sent, with heading and fence; `tokens` of that; its items, in order; and
    how many are `left_out` for lack of space."""

    name: str
    text: str
    tokens: int
    pieces: tuple[ContextPiece, ...] = ()
    left_out: int = 0

    @property
    def flagged(self) -> list[str]:
        """The names of the pieces that look like instructions to agents."""
        return [piece.citation or piece.start.strip(" :") for piece in self.pieces if piece.is_suspicious]


def make_empty_part(name: str) -> ContextPart:
    """Return a part without text."""
    return ContextPart(name, "", 0)


def render_part(name: str, pieces: Sequence[ContextPiece], left_out: int = 0) -> ContextPart:
    """Return a part with these pieces."""
    heading = PART_HEADINGS[name]
    # consecutive lines have one citation
    if name in LINE_PARTS and pieces:
        heading += f" [{pieces[0].citation}-{pieces[-1].citation.rpartition('#')[2]}]:"
    text = wrap_in_fence(name, heading, [piece.line for piece in pieces])
    return ContextPart(name, text, count_tokens(text), tuple(pieces), left_out)


def make_unfenced_part(name: str, text: str) -> ContextPart:
    """Return a part that consists of our own or the person's words."""
    return ContextPart(name, text, count_tokens(text))


def fit_first_pieces(name: str, pieces: Sequence[ContextPiece], limit: int) -> ContextPart:
    """Return a part with as many pieces as fit, the first ones first; one that is too long is skipped."""
    chosen: list[ContextPiece] = []
    part = make_empty_part(name)
    for piece in pieces:
        longer = render_part(name, [*chosen, piece])
        if longer.tokens <= limit:
            chosen.append(piece)
            part = longer
    return ContextPart(name, part.text, part.tokens, part.pieces, len(pieces) - len(chosen))


def fit_last_pieces(name: str, pieces: Sequence[ContextPiece], limit: int, cut: bool = False) -> ContextPart:
    """Return a part with as many of the last pieces, in order, as fit; with `cut` the first that does not fit is cut to
    the remaining space. The very last is cut instead of left out."""
    part = make_empty_part(name)
    for number in range(len(pieces) - 1, -1, -1):
        longer = render_part(name, pieces[number:], number)
        if longer.tokens > limit:
            if cut or not part.pieces:
                return _cut_to_fit(name, pieces, number, limit, part)
            break
        part = longer
    return ContextPart(name, part.text, part.tokens, part.pieces, len(pieces) - len(part.pieces))


def _cut_to_fit(
    name: str, pieces: Sequence[ContextPiece], number: int, limit: int, without: ContextPart
) -> ContextPart:
    """Return a part with the pieces from `number` on, the first of them cut so that they fit; `without` where the
    rest of it would be useless."""
    piece, later = pieces[number], pieces[number + 1 :]
    text = make_harmless(piece.text)
    low, high = 0, count_tokens(text)
    best: ContextPart | None = None
    while low <= high:
        room = (low + high) // 2
        shorter = ContextPiece(piece.citation, piece.key, piece.start, shorten_to_tokens(text, room))
        part = render_part(name, [shorter, *later], number)
        if part.tokens <= limit:
            best, low = part, room + 1
        else:
            high = room - 1
    if best is None or high < MIN_CUT_TOKENS:
        return ContextPart(name, without.text, without.tokens, without.pieces, number + 1)
    return best


def join_parts(parts: Iterable[ContextPart]) -> str:
    """Return the context as it is sent."""
    return "\n\n".join(part.text for part in parts if part.text)


def reduce_to_limit(parts: dict[str, ContextPart], limit: int = MAX_PROMPT_TOKENS) -> dict[str, ContextPart]:
    """Return the parts, by name and in order, reduced until the whole is within its limit. Raise InvalidInput for a
    limit that the parts which cannot be reduced exceed."""
    parts = dict(parts)
    while count_tokens(join_parts(parts.values())) > limit:
        name = next((name for name in ("summaries", "log") if parts[name].pieces), "window")
        part = parts[name]
        if len(part.pieces) > 1:
            parts[name] = render_part(name, part.pieces[1:], part.left_out + 1)
        elif name != "window":
            parts[name] = ContextPart(name, "", 0, (), part.left_out + 1)
        else:
            over = count_tokens(join_parts(parts.values())) - limit
            parts[name] = fit_last_pieces(name, part.pieces, max(0, part.tokens - over))
            if parts[name].tokens >= part.tokens:
                raise InvalidInput(
                    f"This context does not fit into {limit:,} tokens.", f"Allow {limit + over:,} or more."
                )
    return parts


# Decide why a fact is in a context, or is not: one pure function, with its words for a person.

# the calibrated similarity from which a fact is related to a question
MIN_FACT_SIMILARITY = 0.4
# and from which one of low priority is
MIN_LOW_SIMILARITY = 0.7
# facts that are included because they are related to a question
MAX_RELATED_FACTS = 5


class ConsideredFact(NamedTuple):
    """One fact that was considered. `word` is the reason in one word (see `judge_fact`), `why` as part of a sentence;
    `similarity` to the question is calibrated, None where no model was used; `tokens` is its size if it is `included`.
    """

    fact: Fact
    included: bool
    word: str
    why: str
    similarity: float | None = None
    tokens: int = 0
    # it is a global fact, of the person's own memory
    of_person: bool = False

    @property
    def record(self) -> Fact | GlobalFact:
        """The fact as the project's memory shows and cites it."""
        return GlobalFact(self.fact) if self.of_person else self.fact

    @property
    def key(self) -> int:
        """Its key (store/base/vocabulary.py)."""
        return pack_key("global" if self.of_person else "fact", self.fact.id)

    @property
    def is_suspicious(self) -> bool:
        """Whether it looks like an instruction to agents."""
        return is_suspicious(self.fact.fact)


class FactCircumstances(NamedTuple):
    """What is known of a fact besides its own columns. `matched`: it shares a word with the question, or the question
    cites it; `by_words`: no fact is similar to the question in meaning, so words decide."""

    similarity: float | None = None
    matched: bool = False
    by_words: bool = False
    accepted: bool = True
    muted: bool = False
    # where it was written or sent in the last turns, as a citation or a word; empty if it was not
    said: str = ""
    # of this session, if its scope is a session
    of_session: bool = True


def judge_fact(fact: Fact, now: str, known: FactCircumstances) -> tuple[bool, str, str]:
    """Return (whether it may be included, the reason in one word, the reason in words). Permanent reasons are checked
    first, so that the words name what a person would have to change."""
    old = fact_age_state(now, fact)
    days = whole_days_between(now, fact.last_confirmed_at)
    near = "" if known.similarity is None else f" ({known.similarity:.2f} relevant)"
    if fact.status != "active":
        return False, fact.status, fact.status
    if not known.accepted:
        return False, "unaccepted", f"by {fact.origin}, not confirmed by you: confirm it to let it in"
    if known.muted:
        return False, "muted", "muted: unmute it to let it in"
    if not known.of_session:
        of = f"session {fact.session}" if fact.session else "an unnamed session"
        return False, "session", f"only for {of}"
    if old == "stale":
        return False, "stale", f"stale, {days} days: confirm it to bring it back"
    if old == "low" and fact.confidence == "low":
        return False, "weak", f"low confidence, {days} days unconfirmed: confirm it to bring it back"
    if known.said:
        return False, "said", f"said a moment ago ({known.said})"
    if old == "low":
        if known.similarity is None or known.similarity < MIN_LOW_SIMILARITY:
            return (
                False,
                "low",
                f"low priority, {days} days: {_needed_similarity(known.similarity, MIN_LOW_SIMILARITY)}",
            )
        return True, "low", f"low priority, {days} days, yet {known.similarity:.2f} relevant"
    if fact.pinned:
        return True, "pinned", f"pinned{near}"
    aging = f"aging, {days} days; " if old == "aging" else ""
    if known.similarity is not None and known.similarity >= MIN_FACT_SIMILARITY:
        return True, "aging" if aging else "relevant", f"{aging}{known.similarity:.2f} relevant"
    if known.matched and (known.by_words or known.similarity is None):
        return True, "aging" if aging else "words", f"{aging}shares words with the question{near}"
    return (
        False,
        "far",
        _needed_similarity(known.similarity, MIN_FACT_SIMILARITY) if near else "shares no word with the question",
    )


REASON_BEYOND = ("beyond", f"about the question, but not among the {MAX_RELATED_FACTS} nearest")
REASON_NO_ROOM = ("room", f"no room left: all facts together may take {PART_LIMITS['facts']} tokens")


def _needed_similarity(similarity: float | None, threshold: float) -> str:
    """Say how relevant a fact is to the question, and how relevant it would have to be."""
    if similarity is None:
        return f"sent only if {threshold:.2f} relevant to the question"
    return f"{similarity:.2f} relevant to the question, {threshold:.2f} is needed"


# facts that a search may return
MAX_FOUND_FACTS = 40
# pinned facts that are considered, the most important first
MAX_PINNED_FACTS = 40
# for pinned facts not related to the question, before those related to it
MAX_PINNED_TOKENS = 90
# characters of a question used for the search: of a longer one, the end before the beginning
MAX_SEARCH_CHARACTERS = 500
# of the words of a fact that a text citing it must contain to count as containing it
TOLD_WORDS_SHARE = 0.6
# characters of a fact that is looked for in turns
MIN_FACT_CHARACTERS = 4
# letters of a word that identify it
FACT_WORD_LETTERS = 5


class RankedFacts(NamedTuple):
    """Keys of facts, the most relevant to a question first, and who ordered them: `rules`, or a model's name."""

    ids: tuple[int, ...]
    by: str = "rules"


RankFacts = Callable[
    [str, Sequence[tuple[int, str]]], RankedFacts
]  # a question, and facts in the search's order: (key, text)


@dataclass(slots=True, eq=False, repr=False)
class ChosenFacts:
    """The `part` with the facts; every fact that was `considered`, first those included, in order; and who ordered
    them."""

    part: ContextPart
    considered: list[ConsideredFact]
    notes: list[str]
    ranked_by: str


def choose_facts(
    database: Database,
    search: Search,
    question: str,
    now: str,
    turns: Sequence[Turn],
    sent: dict[int, int],
    session: str,
    whole: Collection[str] = (),
    rank: RankFacts | None = None,
) -> ChosenFacts:
    """Select the facts for a question. `turns` are the last turns, which the model receives anyway, `sent` the
    keys of what the session was sent recently and with which turn, `session` its name (empty without one),
    `whole` the citations of the turns that are sent whole. `rank` may reorder the facts related to the
    question."""
    answer = search(_search_words(question), MAX_FOUND_FACTS, kinds=("fact",)) if _search_words(question) else None
    hits = {hit.key: hit for hit in answer.hits} if answer else {}
    named = [
        pack_key(one.kind, int(one.target))
        for _, _, one in find_citations(question)
        if one.kind in ("fact", "global")
    ]
    by_words = not any((hit.similarity or 0.0) >= MIN_FACT_SIMILARITY for hit in hits.values())
    own = find_personal_memory(database)
    judged: list[ConsideredFact] = []
    for memory, kind in ((database, "fact"), *([(own, "global")] if own is not None else [])):
        facts = _load_candidates(memory, kind, [*hits, *sorted(named)])
        muted = Mutes(memory).filter_muted_facts([fact.id for fact in facts])
        yes = find_accepted_ids(memory, facts)
        for fact in facts:
            key = pack_key(kind, fact.id)
            hit = hits.get(key)
            known = FactCircumstances(
                similarity=hit.similarity if hit else None,
                matched=key in named or (hit is not None and (bool(hit.marks) or "citation" in hit.why)),
                by_words=by_words or key in named,
                accepted=fact.id in yes,
                muted=fact.id in muted,
                said=_where_said(
                    fact, cite(kind, fact.id), turns, f"sent with turn {sent[key]}" if key in sent else "", whole
                ),
                of_session=fact.scope != "session" or (bool(session) and fact.session == session),
            )
            included, word, why = judge_fact(fact, now, known)
            judged.append(ConsideredFact(fact, included, word, why, known.similarity, of_person=kind == "global"))
    about = [one for one in judged if one.included and one.word != "pinned"]
    by = RankedFacts(()).by
    if rank is not None and len(about) > 1:
        ranked = rank(_search_words(question), [(one.key, one.fact.fact) for one in about])
        place, by = {key: place for place, key in enumerate(ranked.ids)}, ranked.by
        about.sort(key=lambda one: place[one.key])
    return _fill_part(judged, about, now, answer.notes if answer else [], by)


def _load_candidates(database: Database, kind: str, keys: Sequence[int]) -> list[Fact]:
    """Return the facts of one memory among these keys, in their order, then its pinned ones: of the person's own, kind
    `global`, those of scope global."""
    # the facts of a past moment are a view
    index = "" if database.moment else " INDEXED BY facts_pinned"
    rows = database.column(
        f"SELECT id FROM facts{index} WHERE status = 'active' AND pinned"
        " ORDER BY importance DESC, last_confirmed_at DESC, id LIMIT ?",
        (MAX_PINNED_FACTS,),
    )
    numbers = [number for one, number in map(unpack_key, keys) if one == kind]
    found = Facts(database).get_many(list(dict.fromkeys([*numbers, *rows])))
    return [fact for fact in found if kind == "fact" or fact.scope == GLOBAL_SCOPE]


def _fill_part(
    judged: list[ConsideredFact], about: list[ConsideredFact], now: str, notes: list[str], by: str
) -> ChosenFacts:
    """Return the permitted facts that fit, in the order in which they are sent: `about` are the facts related to
    the question, in their own order."""
    beyond = about[MAX_RELATED_FACTS:]
    pinned = [one for one in judged if one.included and one.word == "pinned"]
    near = [one for one in pinned if one.similarity is not None and one.similarity >= MIN_FACT_SIMILARITY]
    far = [one for one in pinned if one not in near]
    first = fit_first_pieces("facts", [_fact_piece(one, now) for one in far], MAX_PINNED_TOKENS)
    early = {piece.key for piece in first.pieces}
    order = [
        *near,
        *(one for one in far if one.key in early),
        *about[:MAX_RELATED_FACTS],
        *(one for one in far if one.key not in early),
    ]
    part = fit_first_pieces("facts", [_fact_piece(one, now) for one in order], PART_LIMITS["facts"])
    taken = {piece.key: count_tokens(piece.line) for piece in part.pieces}
    considered, out = [], []
    for one in order:
        if one.key in taken:
            considered.append(one._replace(tokens=taken[one.key]))
        else:
            out.append(one._replace(included=False, word=REASON_NO_ROOM[0], why=REASON_NO_ROOM[1]))
    out += [one._replace(included=False, word=REASON_BEYOND[0], why=REASON_BEYOND[1]) for one in beyond]
    return ChosenFacts(part, [*considered, *out, *(one for one in judged if not one.included)], notes, by)


def _fact_piece(one: ConsideredFact, now: str) -> ContextPiece:
    """Return a fact as it is sent: with its citation, its author unless it was the person, and its age since
    confirmation where that matters."""
    fact, cited = one.fact, one.record.citation
    old = fact_age_state(now, fact)
    notes = []
    if fact.origin != PERSON_ORIGIN:
        notes.append(f"by {' '.join(fact.origin.split())[:40]}")
    if old in ("aging", "low"):
        notes.append(f"{'aging' if old == 'aging' else 'low priority'}, {format_age(now, fact.last_confirmed_at)}")
    notes += [make_harmless(note) for note in (fact.branch_note, format_evidence_note(fact)) if note]
    about = f" ({'; '.join(notes)})" if notes else ""
    return ContextPiece(cited, one.key, f"- [{cited}]{about} ", fact.fact)


def _search_words(question: str) -> str:
    """Return a question as a search query: without filters, whatever its punctuation."""
    words = " ".join(question.replace(":", " ").split())
    if len(words) <= MAX_SEARCH_CHARACTERS:
        return words
    lines = [line for line in question.replace(":", " ").splitlines() if line.strip()]
    # a pasted text has it at one end
    first, last = " ".join(lines[:1]).split(), " ".join(lines[-2:]).split()
    return (
        f"{' '.join(last)[-MAX_SEARCH_CHARACTERS * 3 // 5 :]} {' '.join(first)[: MAX_SEARCH_CHARACTERS * 2 // 5]}"
    )


def _where_said(fact: Fact, cited: str, turns: Sequence[Turn], sent: str, whole: Collection[str]) -> str:
    """Return where a fact, `cited` so, was just written, or else when it was `sent`; empty if neither. A turn that is
    cut may have contained it in the missing part, and a citation alone is not enough."""
    text = normal_form(fact.fact)
    for turn in reversed(turns):
        if turn.citation in fact.evidence and (turn.citation in whole or _tells_fact(turn.text, text)):
            return turn.citation
        if f"[{cited}]" in turn.text and _tells_fact(turn.text, text):
            return turn.citation
        if len(text) >= MIN_FACT_CHARACTERS and re.search(
            rf"(?<!\w){re.escape(text)}(?!\w)", normal_form(turn.text)
        ):
            return turn.citation
    return sent


def _tells_fact(text: str, fact: str) -> bool:
    """Return whether a text contains most words of a fact, in any form."""
    known = {word[:FACT_WORD_LETTERS] for word in LETTERS_PATTERN.findall(normal_form(text))}
    wanted = {
        word[:FACT_WORD_LETTERS]
        for word in LETTERS_PATTERN.findall(fact)
        if len(word) >= MIN_FACT_CHARACTERS or word.isdigit()
    }
    return bool(wanted) and len(wanted & known) >= TOLD_WORDS_SHARE * len(wanted)
