"""What comes of a turn: worked out first, outside any transaction, then written in one.

The person's own word becomes a fact, or confirms one, at once; whatever else was found becomes a question in the inbox.
All of it bears the origin `talk:SESSION`, so that what was learned from one conversation can be taken back together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.models import Turn
from store.base.vocabulary import TALK
from store.database.database import Database, Transaction
from store.database.erasure.tombstones import purged_at
from store.database.values import Json, Verbatim
from store.history.history import History
from store.inbox.inbox import Inbox
from store.inbox.proposal_basis import ProposalQuestion
from store.ingest.runner import ORIGIN
from store.learning import known_facts
from store.learning.rules import reconfirm_rules
from store.learning.rules.extract_rules import ExtractedFact, extract
from store.learning.rules.reconfirm_rules import CONFIRM, SUPERSEDE, ComparedText
from store.learning.rules.sentences import Sentence, fold, sentences
from store.learning.tasks.extract_decision import DecisionDraft
from store.records.fact_rows import insert, same, text_hash

STRANGERS = ("mcp:", "import:", "file")  # whose turns are nobody's own word here, whatever role they claim …
INGESTED = ORIGIN  # … but for a person's own transcripts


@dataclass(frozen=True, slots=True)
class LearningAction:
    """One thing to be written: a fact to `remember`, one to `confirm`, or a question to `ask`, of the kind of proposal
    that it becomes; `target` is the fact it is about, `found` what was said, `why` the reason of a question, `decision`
    what is proposed where that is no fact."""

    act: str
    found: ExtractedFact
    target: int | None = None
    kind: str = ""
    why: str = ""
    decision: DecisionDraft | None = None


@dataclass(frozen=True, slots=True)
class LearningResult:
    """What was written: ids of new facts, of confirmed ones, and of proposals."""

    facts: tuple[int, ...] = ()
    confirmed: tuple[int, ...] = ()
    proposed: tuple[int, ...] = ()

    def __add__(self, other: "LearningResult") -> "LearningResult":
        facts, confirmed = self.facts + other.facts, self.confirmed + other.confirmed
        return LearningResult(facts, confirmed, self.proposed + other.proposed)

    def __bool__(self) -> bool:
        return bool(self.facts or self.confirmed or self.proposed)


def origin(turn: Turn) -> str:
    """Who is said to have written what was learned from a turn: its conversation."""
    return TALK + turn.session


def plan_actions(task: str, turn: Turn, database: Database) -> list[LearningAction]:
    """What a task finds in a turn. Writes nothing."""
    if turn.role != "user":
        return []
    found = _extracted(turn, database) if task == "extract_facts" else _repeated(turn, database)
    return list(found) if is_own(turn) else [_as_question(lesson) for lesson in found]


def is_own(turn: Turn) -> bool:
    """Whether a turn came by a door that a person's own words come by."""
    return turn.origin == INGESTED or not turn.origin.startswith(STRANGERS)


def _as_question(lesson: LearningAction) -> LearningAction:
    """A lesson from a turn that somebody else may have written."""
    if lesson.act == "ask":
        return lesson
    kind = "add" if lesson.act == "remember" else "confirm"
    return LearningAction("ask", lesson.found, lesson.target, kind, "it came with a conversation that was brought in")


def _extracted(turn: Turn, database: Database) -> Iterator[LearningAction]:
    for found in extract(turn.role, turn.text).facts:
        known = known_facts.near(database, found.text)
        verdict, target = known_facts.judged(ComparedText(fold(found.text)), known)
        if not found.explicit and (still := known_facts.still_holds(found.text, known)):
            verdict, target = CONFIRM, still
        if verdict == CONFIRM and found.own:
            yield LearningAction("confirm", found, target)
        elif verdict == CONFIRM:
            yield LearningAction("ask", found, target, "confirm", found.why)
        elif verdict == SUPERSEDE:
            yield LearningAction("ask", found, target, "supersede", disagrees(target))
        elif alike := known_facts.alike(found.text, known):
            yield LearningAction("ask", found, alike[0], "correct", f"it is much like {cite('fact', alike[0])}")
        elif found.explicit:
            yield LearningAction("remember", found)
        else:
            yield LearningAction("ask", found, None, "add", found.why)


def _repeated(turn: Turn, database: Database) -> Iterator[LearningAction]:
    taken = {found.quote for found in extract(turn.role, turn.text).facts}  # the other task's
    touched = set[int]()
    for sentence in sentences(turn.text):
        if sentence.question or sentence.doubt or sentence.quote in taken:
            continue
        known = known_facts.near(database, sentence.text)
        verdict, target = known_facts.judged(reconfirm_rules.compared(sentence), known)
        if verdict != CONFIRM or target is None or target in touched:
            continue
        touched.add(target)
        found = as_found(sentence)
        if sentence.later:
            yield LearningAction("ask", found, target, "confirm", f"it says the same as {cite('fact', target)}")
        else:
            yield LearningAction("confirm", found, target)


def disagrees(target: int | None) -> str:
    """Why it is asked about a fact that no longer agrees."""
    return f"it does not agree with {cite('fact', target or 0)}"


def as_found(sentence: Sentence, own: bool = True) -> ExtractedFact:
    """Return a sentence as what was found in it; `own`: the person surely said it themselves."""
    text = sentence.text.rstrip(".!;,… ")
    return ExtractedFact(text[:1].upper() + text[1:], "", "medium", sentence.quote, False, own, "")


def apply_actions(write: Transaction, turn: Turn, planned: Sequence[LearningAction], inbox: Inbox) -> LearningResult:
    """Write what was learned, as part of the transaction that takes the entry off. What does not hold any more by now,
    was purged, or is older than what the person did since, is left out."""
    facts, confirmed, proposed = list[int](), list[int](), list[int]()
    for lesson in planned:
        database = write.database
        if lesson.act == "remember":
            known = same(write, lesson.found.text)
            if known is not None:
                lesson = LearningAction("confirm", lesson.found, known)
            elif not _settled(database, turn, lesson.found.text):
                facts.append(_remember(write, turn, lesson.found))
        if lesson.act == "confirm" and lesson.target is not None and _confirm(write, turn, lesson.target):
            confirmed.append(lesson.target)
        if lesson.act == "ask" and not _settled(database, turn, lesson.found.text):
            question = _dated(write, turn, lesson)
            asked = question and _ask(write, turn, question, inbox)
            proposed += [asked] if asked else []
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
        scope="project",
        importance=0.5,
        pinned=0,
        origin=write.actor,
        evidence=Json([turn.citation]),
        tags=Verbatim("[]"),
        at=min(turn.at, write.at),
    )


def _confirm(write: Transaction, turn: Turn, number: int) -> bool:
    """Let a fact's clock start again when the turn was said, if that is news."""
    write.execute(
        "UPDATE facts SET last_confirmed_at = ?1 WHERE id = ?2 AND status = 'active' AND last_confirmed_at < ?1",
        (Verbatim(min(turn.at, write.at)), number),
    )
    return bool(write.database.connection.changes())


def _ask(write: Transaction, turn: Turn, lesson: LearningAction, inbox: Inbox) -> int | None:
    """Put a question into the inbox; its id, None if it was asked before, in whatever conversation, and the person did
    not ask for it in so many words since."""
    found = lesson.found
    change: dict[str, Any] = {} if lesson.kind == "confirm" else {"fact": found.text, "confidence": found.confidence}
    if lesson.decision is not None:
        draft = lesson.decision
        change = {
            "fact": draft.title,
            "decision": {
                "chosen": draft.chosen,
                "alternatives": list(draft.alternatives),
                "rationale": draft.rationale,
            },
        }
    elif change and found.domain:
        change["domain"] = found.domain
    evidence = ({"citation": turn.citation, "quote": found.quote},)
    try:
        number, new = inbox.ask(
            write,
            ProposalQuestion(
                lesson.kind,
                change,
                lesson.target,
                evidence,
                write.actor,
                f"{lesson.why[:1].upper()}{lesson.why[1:]}.",
                turn.at if found.explicit and is_own(turn) else "",
                anyone=True,
            ),
        )
    except MemorandaError:  # the fact it is about went meanwhile
        return None
    return number if new else None


def _settled(database: Database, turn: Turn, text: str) -> bool:
    """Whether the person did away with this text after they said it here: purged it, forgot it, put another in its
    place. Old conversations do not bring it back."""
    if purged_at(database, text) is not None:
        return True
    gone = database.value("SELECT max(id) FROM facts WHERE text_hash = ? AND status <> 'active'", (text_hash(text),))
    if gone is None:
        return False
    steps = History(database).steps(record=("fact", gone), limit=1)
    return not steps or turn.at <= steps[0].at


def _dated(write: Transaction, turn: Turn, lesson: LearningAction) -> LearningAction | None:
    """A question as it is to be asked now: what was said before the fact that it is about was last confirmed does not
    speak against that one. It is a fact of its own, if it was asked to be remembered; else there is nothing to ask."""
    if lesson.target is None:
        return lesson
    confirmed = write.execute("SELECT last_confirmed_at FROM facts WHERE id = ?", (lesson.target,)).get
    if confirmed is not None and turn.at >= confirmed:
        return lesson
    if not lesson.found.explicit:
        return None
    why = f"it was said before {cite('fact', lesson.target)} was, and does not agree with it"
    return LearningAction("ask", lesson.found, None, "add", why)


def _reason(turn: Turn, learned: LearningResult) -> str:
    """The step of history, in verbs and citations."""
    parts = []
    for verb, kind, numbers in (
        ("remember", "fact", learned.facts),
        ("confirm", "fact", learned.confirmed),
        ("propose", "proposal", learned.proposed),
    ):
        if numbers:
            parts.append(f"{verb} {' '.join(cite(kind, number) for number in numbers)}")
    return f"{', '.join(parts)}: {turn.citation}"
