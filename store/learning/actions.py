"""Actions that a turn leads to: planned outside any transaction, then written in one.

What the person asked to be remembered becomes a fact, or confirms one, at once; everything else becomes a proposal in
the inbox. All of it has the origin `talk:SESSION`, so that what was learned from one conversation can be undone
together.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.models import Decision, Turn
from store.database.database import Database, Transaction
from store.database.erasure.tombstones import purged_at
from store.database.values import Json, Verbatim
from store.history.history import History
from store.inbox import decision_conflicts
from store.inbox.inbox import Inbox
from store.inbox.proposal_basis import ProposalQuestion
from store.ingest.runner import ORIGIN
from store.learning import known_facts
from store.learning.grammar import pattern
from store.learning.rules import reconfirm_rules
from store.learning.rules.extract_rules import ExtractedFact, extract
from store.learning.rules.reconfirm_rules import CONFIRM, SUPERSEDE
from store.learning.rules.sentences import Sentence, fold, sentences
from store.learning.tasks import extract_decision
from store.learning.tasks.extract_decision import DecisionDraft
from store.records.fact_rows import insert, same, text_hash

# origins of turns that are not trusted as the person's, whatever their role, except ORIGIN, of their own transcripts
STRANGERS = ("mcp:", "import:", "file")


@dataclass(frozen=True, slots=True)
class LearningAction:
    """One planned write: a proposal of this `kind` (`add`, `confirm`, `supersede`, `correct`), or `at_once` a new or a
    confirmed fact. `found` is what was said, `target` the fact concerned, `why` the reason shown with a proposal,
    `decision` the draft of a decision that is proposed and no fact, `instead_of` the one that it takes the place of."""

    kind: str
    found: ExtractedFact
    target: int | None = None
    why: str = ""
    at_once: bool = False
    decision: DecisionDraft | None = None
    instead_of: Decision | None = None


class LearningResult(NamedTuple):
    """Ids of what was written: new facts, confirmed facts, proposals."""

    facts: tuple[int, ...] = ()
    confirmed: tuple[int, ...] = ()
    proposed: tuple[int, ...] = ()


def plan_actions(turn: Turn, database: Database) -> list[LearningAction]:
    """Return what rules find in a turn. Writes nothing."""
    if turn.role != "user":
        return []
    found = extract(turn.role, turn.text)
    planned = [*_extracted(found, database), *_repeated(turn, {one.quote for one in found}, database)]
    if is_own(turn):
        return planned
    why = "it came with a conversation that was brought in"
    return [replace(action, at_once=False, why=why) if action.at_once else action for action in planned]


def is_own(turn: Turn) -> bool:
    """Return whether a turn has an origin that carries the person's own words."""
    return turn.origin == ORIGIN or not turn.origin.startswith(STRANGERS)


def _extracted(every: Sequence[ExtractedFact], database: Database) -> Iterator[LearningAction]:
    for found in every:
        takes_back = pattern("reverses").match(fold(found.text))
        if takes_back and (old := decision_conflicts.named(database, found.text)):
            back = DecisionDraft(found.text, (old.chosen,))
            yield LearningAction("add", found, None, f"it takes back {old.citation}", False, back, old)
            continue
        verdict, target, known = known_facts.best_verdict(database, found.text)
        if not found.explicit and (still := known_facts.still_holds(found.text, known)):
            verdict, target = CONFIRM, still
        if verdict == CONFIRM:
            yield LearningAction("confirm", found, target, found.why, found.own)
        elif verdict == SUPERSEDE:
            yield LearningAction("supersede", found, target, disagrees(target))
        elif alike := known_facts.alike(found.text, known):
            yield LearningAction("correct", found, alike[0], f"it is much like {cite('fact', alike[0])}")
        else:
            draft = extract_decision.by_rule(found.text) if found.domain == "decisions" and not found.explicit else None
            yield LearningAction("add", found, None, found.why, found.explicit, draft)


def _repeated(turn: Turn, taken: Collection[str], database: Database) -> Iterator[LearningAction]:
    """Yield the facts that a turn repeats in sentences other than those `taken`."""
    touched = set[int]()
    for sentence in sentences(turn.text):
        if sentence.question or sentence.doubt or sentence.quote in taken:
            continue
        verdict, target, _ = known_facts.best_verdict(database, sentence.text, reconfirm_rules.compared(sentence))
        if verdict != CONFIRM or target is None or target in touched:
            continue
        touched.add(target)
        yield LearningAction("confirm", as_found(sentence), target, repeats(target), not sentence.later)


def disagrees(target: int | None) -> str:
    """Return the reason of a proposal about a fact that disagrees."""
    return f"it does not agree with {cite('fact', target or 0)}"


def repeats(target: int) -> str:
    """Return the reason of a proposal about a fact that is said again."""
    return f"it says the same as {cite('fact', target)}"


def as_found(sentence: Sentence, own: bool = True) -> ExtractedFact:
    """Return a sentence as an extracted fact; `own`: the person certainly said it themselves."""
    text = sentence.text.rstrip(".!;,… ")
    return ExtractedFact(text[:1].upper() + text[1:], "", "medium", sentence.quote, False, own, "")


def apply_actions(write: Transaction, turn: Turn, planned: Sequence[LearningAction], inbox: Inbox) -> LearningResult:
    """Write the planned actions, in the transaction that removes the queue entry. Skip what no longer holds, was
    purged, or is older than what the person did since."""
    facts, confirmed, proposed = list[int](), list[int](), list[int]()
    for action in planned:
        known = same(write, action.found.text) if action.at_once and action.target is None else action.target
        if action.at_once and known is not None:
            if _confirm(write, turn, known):
                confirmed.append(known)
        elif _settled(write.database, turn, action.found.text):
            continue
        elif action.at_once:
            facts.append(_remember(write, turn, action.found))
        elif question := _dated(write, turn, action):
            proposed += filter(None, [_ask(write, turn, question, inbox)])
    learned = LearningResult(tuple(facts), tuple(confirmed), tuple(proposed))
    write.reason = _reason(turn, learned)
    return learned


def _remember(write: Transaction, turn: Turn, found: ExtractedFact) -> int:
    return insert(
        write,
        found.text,
        domain=found.domain,
        confidence=found.confidence,
        source="explicit",
        origin=write.actor,
        evidence=Json([turn.citation]),
        at=min(turn.at, write.at),
    )


def _confirm(write: Transaction, turn: Turn, number: int) -> bool:
    """Set a fact's last confirmation to the time of the turn, if that is later; return whether it was."""
    later = "UPDATE facts SET last_confirmed_at = ?1 WHERE id = ?2 AND status = 'active' AND last_confirmed_at < ?1"
    return write.execute(f"{later} RETURNING 1", (Verbatim(min(turn.at, write.at)), number)).get is not None


def _ask(write: Transaction, turn: Turn, action: LearningAction, inbox: Inbox) -> int | None:
    """Add a proposal to the inbox; return its id. Return None if the same was asked before, in any conversation, unless
    the person explicitly asked for it again since."""
    found, old = action.found, action.instead_of
    of_fact = {"confidence": found.confidence, "domain": found.domain}
    change = {"fact": found.text} | ({"decision": asdict(action.decision)} if action.decision else of_fact)
    evidence = [{"citation": turn.citation, "quote": found.quote}]
    if old is not None:
        evidence.append({"citation": old.citation, "quote": old.title})
    question = ProposalQuestion(
        action.kind,
        {} if action.kind == "confirm" else change,
        action.target,
        tuple(evidence),
        write.actor,
        f"{action.why[:1].upper()}{action.why[1:]}.",
        turn.at if found.explicit and is_own(turn) else "",
        anyone=True,
    )
    try:
        number, new = inbox.ask(write, question)
    except MemorandaError:  # the target was removed meanwhile
        return None
    return number if new else None


def _settled(database: Database, turn: Turn, text: str) -> bool:
    """Return whether the person purged, forgot or replaced this text after they said it in this turn. Old conversations
    must not restore it."""
    if purged_at(database, text) is not None:
        return True
    gone = database.value("SELECT max(id) FROM facts WHERE text_hash = ? AND status <> 'active'", (text_hash(text),))
    if gone is None:
        return False
    steps = History(database).steps(record=("fact", gone), limit=1)
    return not steps or turn.at <= steps[0].at


def _dated(write: Transaction, turn: Turn, action: LearningAction) -> LearningAction | None:
    """Return the proposal as it can be made now. A turn older than the target's last confirmation does not contradict
    it: it becomes a proposal of a new fact if it was explicitly asked for, else None."""
    if action.target is None:
        return action
    confirmed = write.execute("SELECT last_confirmed_at FROM facts WHERE id = ?", (action.target,)).get
    if confirmed is not None and turn.at >= confirmed:
        return action
    if not action.found.explicit:
        return None
    why = f"it was said before {cite('fact', action.target)} was, and does not agree with it"
    return replace(action, target=None, kind="add", why=why)


def _reason(turn: Turn, learned: LearningResult) -> str:
    """Return the reason of the step of history, in verbs and citations."""
    verbs = (("remember", "fact"), ("confirm", "fact"), ("propose", "proposal"))
    written = ((verb, [cite(kind, one) for one in ids]) for (verb, kind), ids in zip(verbs, learned, strict=True))
    parts = [" ".join([verb, *cited]) for verb, cited in written if cited]
    return f"{', '.join(parts)}: {turn.citation}"
