"""Rule pass: one process at a time reads turns from the extraction queue.

An entry's attempt is counted before it is read, so that one that kills the process is not retried forever; its results
are written in the transaction that removes it. A crash at any time loses nothing and writes nothing twice.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from operator import add
from typing import Any, NamedTuple

from store.base.citations import cite
from store.base.clock import days_before
from store.base.errors import MemorandaError, ModelFailed
from store.base.models import Decision, Turn
from store.base.vocabulary import TALK_ORIGIN_PREFIX
from store.conversations.extraction_queue import (
    QueueEntry,
    complete_entry,
    count_queued_turns,
    enqueue_for_model,
    has_due_entries,
    record_failure,
    return_entries,
    take_entries,
)
from store.database.database import Database, Lease, LeaseLost, Transaction
from store.database.tombstones import find_purge_time, normal_form
from store.database.values import Json, Verbatim
from store.history.compression import every_row_view
from store.history.history import History
from store.inbox.duplicates import find_facts_sharing_words, find_named_decision
from store.inbox.inbox import Inbox
from store.inbox.proposals import ProposalQuestion
from store.ingest.runner import TRANSCRIPT_ORIGIN
from store.learning.rules import (
    CONFIRM_FACT,
    NO_VERDICT,
    PROPOSE_FACT,
    SUPERSEDE_FACT,
    ComparedText,
    ExtractedFact,
    extract_by_rule,
    find_candidates,
    judge_text,
    says_still_holds,
    text_to_compare,
)
from store.learning.sentences import Sentence, sign_pattern, split_own_sentences, word_pattern
from store.learning.tasks import DecisionDraft, decision_by_rule
from store.memory import Memory
from store.records.facts import Facts, find_same_fact, insert_fact, text_hash
from store.text.display import format_count
from store.text.similarity import parse_sentence, text_ratio
from store.text.words import fold_text

# Active facts that a sentence may be about, found by shared words, and what the sentence does to them.

# percent of similarity from which a text becomes a proposal and not a second fact
MIN_LIKENESS = 80
KnownFact = tuple[int, str]
"""(id, text) of a fact."""


def find_known_facts(database: Database, text: str) -> list[KnownFact]:
    """Return the active facts that share words with a text, the facts that share the rarest words first."""
    numbers = find_facts_sharing_words(database, parse_sentence(text))
    return [(one.id, one.fact) for one in Facts(database).get_many(numbers) if one.status == "active"]


def best_verdict(
    database: Database, text: str, words: ComparedText | None = None
) -> tuple[str, int | None, list[KnownFact]]:
    """Return (verdict, fact id, the facts near it) of a text, compared by these `words` of it if given, on the known
    facts: the first that it confirms, else the first that it speaks against, else the first it concerns."""
    known, words = find_known_facts(database, text), words or ComparedText(text)
    verdicts = [(judge_text(words, ComparedText(text)), number) for number, text in known]
    ordered = (
        found
        for wanted in (CONFIRM_FACT, SUPERSEDE_FACT, PROPOSE_FACT)
        for found in verdicts
        if found[0] == wanted
    )
    return *next(ordered, (NO_VERDICT, None)), known


def find_still_holding(text: str, known: Sequence[KnownFact]) -> int | None:
    """Return the id of the one fact that a text says still holds; None if there is none, or several."""
    found = [number for number, fact in known if says_still_holds(text, ComparedText(fact))]
    return found[0] if len(found) == 1 else None


def find_most_alike(text: str, known: Sequence[KnownFact]) -> KnownFact | None:
    """Return the fact most similar to a text by letters, if at least MIN_LIKENESS percent."""
    likeness, fact = max(
        ((text_ratio(normal_form(text), normal_form(fact[1])), fact) for fact in known), default=(0.0, None)
    )
    return fact if likeness >= MIN_LIKENESS else None


# Actions that a turn leads to: planned outside any transaction, then written in one.
#
# What the person asked to be remembered becomes a fact, or confirms one, at once; everything else becomes a proposal in
# the inbox. All of it has the origin `talk:SESSION`, so that what was learned from one conversation can be undone
# together.

# origins of turns that are not trusted as the person's, whatever their role, except ORIGIN, of their own transcripts
STRANGER_ORIGINS = ("mcp:", "import:", "file")


class LearningAction(NamedTuple):
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
    found = extract_by_rule(turn.role, turn.text)
    planned = [*_plan_extracted(found, database), *_plan_repeated(turn, {one.quote for one in found}, database)]
    if is_own_turn(turn):
        return planned
    why = "it came with a conversation that was brought in"
    return [action._replace(at_once=False, why=why) if action.at_once else action for action in planned]


def is_own_turn(turn: Turn) -> bool:
    """Return whether a turn has an origin that carries the person's own words."""
    return turn.origin == TRANSCRIPT_ORIGIN or not turn.origin.startswith(STRANGER_ORIGINS)


def _plan_extracted(every: Sequence[ExtractedFact], database: Database) -> Iterator[LearningAction]:
    """Yield the actions for what rules extracted."""
    for found in every:
        takes_back = word_pattern("reverses").match(fold_text(found.text))
        if takes_back and (old := find_named_decision(database, found.text)):
            back = DecisionDraft(found.text, (old.chosen,))
            yield LearningAction("add", found, None, f"it takes back {old.citation}", False, back, old)
            continue
        verdict, target, known = best_verdict(database, found.text)
        if not found.explicit and (still := find_still_holding(found.text, known)):
            verdict, target = CONFIRM_FACT, still
        if verdict == CONFIRM_FACT:
            yield LearningAction("confirm", found, target, found.why, found.own)
        elif verdict == SUPERSEDE_FACT:
            yield LearningAction("supersede", found, target, disagreement_reason(target))
        elif alike := find_most_alike(found.text, known):
            yield LearningAction("correct", found, alike[0], f"it is much like {cite('fact', alike[0])}")
        else:
            draft = decision_by_rule(found.text) if found.domain == "decisions" and not found.explicit else None
            yield LearningAction("add", found, None, found.why, found.explicit, draft)


def _plan_repeated(turn: Turn, taken: Collection[str], database: Database) -> Iterator[LearningAction]:
    """Yield the actions for facts that a turn repeats, in sentences other than the `taken` ones."""
    touched = set[int]()
    for sentence in split_own_sentences(turn.text):
        if sentence.question or sentence.doubt or sentence.quote in taken:
            continue
        verdict, target, _ = best_verdict(database, sentence.text, text_to_compare(sentence))
        if verdict != CONFIRM_FACT or target is None or target in touched:
            continue
        touched.add(target)
        yield LearningAction(
            "confirm", fact_of_sentence(sentence), target, repetition_reason(target), not sentence.later
        )


def disagreement_reason(target: int | None) -> str:
    """Return the reason of a proposal about a fact that disagrees."""
    return f"it does not agree with {cite('fact', target or 0)}"


def repetition_reason(target: int) -> str:
    """Return the reason of a proposal about a fact that is said again."""
    return f"it says the same as {cite('fact', target)}"


def fact_of_sentence(sentence: Sentence, own: bool = True) -> ExtractedFact:
    """Return a sentence as an extracted fact; `own`: the person certainly said it themselves."""
    text = sentence.text.rstrip(".!;,… ")
    return ExtractedFact(text[:1].upper() + text[1:], "", "medium", sentence.quote, False, own, "")


def apply_actions(
    write: Transaction, turn: Turn, planned: Sequence[LearningAction], inbox: Inbox
) -> LearningResult:
    """Write the planned actions, in the transaction that removes the queue entry. Skip what no longer holds, was
    purged, or is older than what the person did since."""
    facts, confirmed, proposed = list[int](), list[int](), list[int]()
    for action in planned:
        known = (
            find_same_fact(write, action.found.text) if action.at_once and action.target is None else action.target
        )
        if action.at_once and known is not None:
            if _confirm_fact(write, turn, known):
                confirmed.append(known)
        elif _is_settled(write.database, turn, action.found.text):
            continue
        elif action.at_once:
            number = insert_fact(
                write,
                action.found.text,
                domain=action.found.domain,
                confidence=action.found.confidence,
                source="explicit",
                origin=write.actor,
                evidence=Json([turn.citation]),
                at=min(turn.at, write.at),
            )
            facts.append(number)
        elif question := _action_as_of_now(write, turn, action):
            proposed += filter(None, [_propose_action(write, turn, question, inbox)])
    learned = LearningResult(tuple(facts), tuple(confirmed), tuple(proposed))
    verbs = (("remember", "fact"), ("confirm", "fact"), ("propose", "proposal"))
    written = ((verb, [cite(kind, one) for one in ids]) for (verb, kind), ids in zip(verbs, learned, strict=True))
    parts = [" ".join([verb, *cited]) for verb, cited in written if cited]
    write.reason = f"{', '.join(parts)}: {turn.citation}"
    return learned


def _confirm_fact(write: Transaction, turn: Turn, number: int) -> bool:
    """Set a fact's last confirmation to the time of the turn, if that is later; return whether it was."""
    later = (
        "UPDATE facts SET last_confirmed_at = ?1 WHERE id = ?2 AND status = 'active' AND last_confirmed_at < ?1"
    )
    return write.first(f"{later} RETURNING 1", (Verbatim(min(turn.at, write.at)), number)) is not None


def _propose_action(write: Transaction, turn: Turn, action: LearningAction, inbox: Inbox) -> int | None:
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
        turn.at if found.explicit and is_own_turn(turn) else "",
        anyone=True,
    )
    try:
        number, new = inbox.propose_within(write, question)
    except MemorandaError:  # the target was removed meanwhile
        return None
    return number if new else None


def _is_settled(database: Database, turn: Turn, text: str) -> bool:
    """Return whether the person purged, forgot or replaced this text after they said it in this turn. Old conversations
    must not restore it."""
    if find_purge_time(database, text) is not None:
        return True
    gone = database.value(
        "SELECT max(id) FROM facts WHERE text_hash = ? AND status <> 'active'", (text_hash(text),)
    )
    if gone is None:
        return False
    steps = History(database).steps(record=("fact", gone), limit=1)
    return not steps or turn.at <= steps[0].at


def _action_as_of_now(write: Transaction, turn: Turn, action: LearningAction) -> LearningAction | None:
    """Return the action as it can be proposed now. A turn older than the target's last confirmation does not
    contradict it: the action becomes a proposal of a new fact if it was explicitly asked for, else None."""
    if action.target is None:
        return action
    confirmed = write.first("SELECT last_confirmed_at FROM facts WHERE id = ?", (action.target,))
    if confirmed is not None and turn.at >= confirmed:
        return action
    if not action.found.explicit:
        return None
    why = f"it was said before {cite('fact', action.target)} was, and does not agree with it"
    return action._replace(target=None, kind="add", why=why)


# Texts that a person dismissed: facts removed by an undo, rejected proposals. A turn older than that does not propose
# them again.


class DismissedTexts:
    """The dismissed texts of one memory and when each was dismissed; kept up to date."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # normalised text → timestamp
        self._at: dict[str, str] = {}
        self._step = 0

    def was_dismissed_after(self, turn: Turn, text: str) -> bool:
        """Return whether this text was dismissed after the turn."""
        newest = self._database.newest_step()
        if newest != self._step:
            rows = self._database.rows(
                "SELECT h.at, r.before ->> 'fact' FROM "
                f"{every_row_view(self._database)} r JOIN history h ON h.seq = r.seq"
                " WHERE r.seq > ? AND r.tbl = 'facts' AND r.op = 'DELETE' UNION ALL SELECT decided_at, text"
                " FROM proposals WHERE state = 'rejected' AND kind NOT IN ('confirm', 'forget')",
                (self._step,),
            )
            for at, gone in filter(all, rows):
                self._at[normal_form(gone)] = max(at, self._at.get(normal_form(gone), ""))
            self._step = newest
        return turn.at <= self._at.get(normal_form(text), "")


# Counts of turns that ask for something to be remembered, and of those that led to a fact.
#
# Independent of the learning rules on purpose, so that the counts show what the rules miss. The patterns are few and
# simple, and a turn counts once.

# keys in meta
ASKED_COUNT, KEPT_COUNT = "requests.asked", "requests.kept"
# characters of a turn that are read
READ_CHARACTERS = 5_000


def asks_for_memory(turn: Turn) -> bool:
    """Return whether a turn asks for something to be remembered, by its words."""
    text = fold_text(turn.text[:READ_CHARACTERS])
    return any(
        not sign_pattern("before_question").search(text[max(0, one.start() - 12) : one.start()])
        for one in sign_pattern("asks_for_memory").finditer(text)
    )


def read_request_counts(database: Database) -> tuple[int, int]:
    """Return (how many turns asked, how many of them created or confirmed a fact), since counting began."""
    return database.get_count(ASKED_COUNT), database.get_count(KEPT_COUNT)


# entries taken at once
READ_BATCH = 50
EXTRACTION_LEASE = "extraction"
RENEW_SECONDS = 1.0
# age up to which a turn is given to a model
MODEL_RECENT_DAYS = 14


@dataclass(slots=True)
class PassResult:
    """Result of a run: entries `read`, entries that `failed` (retried later or given up), turns `left`."""

    read: int = 0
    failed: int = 0
    left: int = 0


LEARNED_WORDS = {
    "facts": ("fact", "Learned", ""),
    "confirmed": ("fact", "Confirmed", ""),
    "proposed": ("proposal", "Asks", ": see memoranda today"),
}


@dataclass(slots=True)
class RulePassResult(PassResult):
    """Result of a run of the rules: what was `learned`; `busy`: another process runs it."""

    learned: LearningResult = field(default_factory=LearningResult)
    busy: bool = False

    def describe(self) -> list[str]:
        """Return a line for each kind of records that were learned, and for what is left."""
        learned, lines = self.as_dict(), []
        for name, (_, done, where) in LEARNED_WORDS.items():
            cited = learned[name]
            more = f" and {len(cited) - 10:,} more" if len(cited) > 10 else ""
            lines += [f"{done} {' '.join(cited[:10])}{more}{where}"] if cited else []
        turns = format_count(self.left, "turn")
        left = f"{turns} still to be learned from: the application continues, or session flush"
        return [*lines, left] if self.left else lines

    def as_dict(self) -> dict[str, Any]:
        """Return the citations of what was learned, and how many turns are left."""
        cited = {
            name: [cite(kind, number) for number in getattr(self.learned, name)]
            for name, (kind, _, _) in LEARNED_WORDS.items()
        }
        return {**cited, "left": self.left}


def run_rule_pass(
    memory: Memory, *, seconds: float | None = None, cancelled: Callable[[], bool] = lambda: False
) -> RulePassResult:
    """Read waiting turns until none is due, `seconds` have passed, or `cancelled` returns True. Raise StorageError."""
    until = None if seconds is None else time.monotonic() + seconds
    reading = _RuleReading(memory, lambda: cancelled() or (until is not None and time.monotonic() >= until))
    database = memory.database
    due = not database.read_only and memory.config["enabled"] and has_due_entries(database, memory.now)
    reading.done.busy = bool(due) and not reading.work_with_lease(reading.read_all)
    reading.done.left = count_queued_turns(database)[0]
    return reading.done


class QueueReader:
    """Reads queue entries while holding a lease, and counts them in its result."""

    done: PassResult

    def __init__(self, memory: Memory, lease: str) -> None:
        self._memory = memory
        self._lease = Lease(memory.database, lease)
        self._dismissed = DismissedTexts(memory.database)
        self._renewed = time.monotonic()

    def work_with_lease(self, work: Callable[[], None]) -> bool:
        """Do this work while holding the lease; return whether the lease was held to the end."""
        if not self._lease.acquire():
            return False
        try:
            work()
        except LeaseLost:
            return False
        finally:
            self._lease.release()
        return True

    @contextmanager
    def _open_step(self, actor: str = "agent") -> Iterator[Transaction]:
        """Open a transaction that renews the lease. Raise LeaseLost."""
        with self._memory.database.write(actor, "extraction") as write:
            self._lease.renew(write)
            yield write

    def _renew(self) -> None:
        """Renew the lease if RENEW_SECONDS have passed. Raise LeaseLost."""
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            with self._open_step():
                self._renewed = time.monotonic()

    def _without_dismissed(self, turn: Turn, planned: Sequence[LearningAction]) -> list[LearningAction]:
        """Return the actions that the person did not dismiss since the turn."""
        return [one for one in planned if not self._dismissed.was_dismissed_after(turn, one.found.text)]

    def _fail(self, entry: QueueEntry, error: Exception) -> None:
        """Mark an entry as failed, with the kind of the error; not its message, which may contain text of the turn."""
        self.done.failed += 1
        name = error.code if isinstance(error, MemorandaError) else type(error).__name__
        with self._open_step() as write:
            record_failure(write, entry, error.kind if isinstance(error, ModelFailed) else name)


class _RuleReading(QueueReader):
    """One run."""

    def __init__(self, memory: Memory, ends: Callable[[], bool]) -> None:
        super().__init__(memory, EXTRACTION_LEASE)
        self.done: RulePassResult = RulePassResult()
        self._ends = ends
        off = memory.config["agent.mode"] == "off"
        self._since = "9" if off else days_before(memory.now, MODEL_RECENT_DAYS)

    def read_all(self) -> None:
        """Read until nothing is due."""
        while not self._ends() and self._read_some():
            pass

    def _read_some(self) -> bool:
        """Take and read the next entries; return whether to go on."""
        with self._open_step() as write:
            entries = take_entries(write, READ_BATCH)
        turns = {turn.id: turn for turn in self._memory.turns.get_many([entry.turn for entry in entries])}
        empty, untouched = list[tuple[QueueEntry, bool]](), list[QueueEntry]()
        for entry in entries:
            if self._ends():
                untouched.append(entry)
                continue
            self._renew()
            turn = turns.get(entry.turn)
            try:
                planned = self._without_dismissed(turn, plan_actions(turn, self._memory.database)) if turn else []
                recent = turn is not None and turn.at >= self._since and is_own_turn(turn)
                for_model = bool(turn and recent and find_candidates(turn.role, turn.text))
                if turn and planned:
                    with self._open_step(TALK_ORIGIN_PREFIX + turn.session) as write:
                        self._complete_entry(write, entry, turn, for_model, planned)
                else:
                    empty.append((entry, for_model))
            except LeaseLost:
                raise
            except Exception as error:  # a turn that fails must not block the others
                self._fail(entry, error)
        if empty or untouched:
            with self._open_step() as write:
                for entry, for_model in empty:
                    self._complete_entry(write, entry, turns.get(entry.turn), for_model, [])
                return_entries(write, untouched)
        return bool(entries) and not untouched

    def _complete_entry(
        self,
        write: Transaction,
        entry: QueueEntry,
        turn: Turn | None,
        for_model: bool,
        planned: list[LearningAction],
    ) -> None:
        """Write what a turn taught, in the transaction that removes its entry; count it, and queue it for a model."""
        if not complete_entry(write, entry) or (turn is not None and not is_turn_unchanged(write, turn)):
            return
        learned = apply_actions(write, turn, planned, self._memory.inbox) if turn and planned else LearningResult()
        self.done.read += 1
        self.done.learned = LearningResult(*map(add, self.done.learned, learned))
        if turn is not None and is_own_turn(turn) and asks_for_memory(turn):
            write.add_to_count(ASKED_COUNT, 1)
            write.add_to_count(KEPT_COUNT, int(bool(learned.facts or learned.confirmed)))
        if for_model:
            enqueue_for_model(write, entry.turn)


def is_turn_unchanged(write: Transaction, turn: Turn) -> bool:
    """Return whether a turn's text is still what was read; it may have been purged or redacted since."""
    return bool(write.first("SELECT text FROM turns WHERE id = ?", (turn.id,)) == turn.text)
