"""Model pass: in the background, a model reads the turns that rules have read.

It can only add proposals to the inbox: quoting a sentence, about facts it was shown, up to a limit. What rules found,
what already waits, and what a person rejected is not proposed again. The pass stops at once while keys are pressed and
when the application closes; after three failures a turn is not given to the model again, and stays in the memory.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from store.base.errors import ModelFailed
from store.base.models import Turn
from store.base.vocabulary import MODEL
from store.conversations import extraction_queue
from store.conversations.extraction_queue import QueueEntry
from store.conversations.rule_summary import decides
from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.database.lease import LeaseLost
from store.database.values import Verbatim
from store.learning import known_facts
from store.learning.actions import LearningAction, apply_actions, as_found, disagrees, is_own, repeats
from store.learning.candidate_filter import candidates
from store.learning.known_facts import ALIKE
from store.learning.model_due import due, room
from store.learning.rule_pass import PassResult, QueueReader, is_unchanged
from store.learning.rules.extract_rules import extract
from store.learning.rules.reconfirm_rules import CONFIRM, SUPERSEDE, ComparedText, compared, share
from store.learning.rules.requests import REVISES
from store.learning.tasks import extract_decision, extract_facts, reconfirm
from store.llm.structured_output import ModelSession, selected
from store.llm.usage_stats import LEASE
from store.memory import Memory
from store.text.similarity import contradiction
from store.text.tokens import WORD

MOST = 30  # most proposals of one run
LOOKED_AT = 2_000  # newest proposals that a new one is compared with
# waiting proposals of sentences of a turn (?1: its citation, ?2: their quotes), as facts
TOLD = (
    "state = 'waiting' AND kind = 'add' AND json_extract(change, '$.decision') IS NULL"
    " AND json_extract(evidence, '$[0].citation') = ?1"
    " AND json_extract(evidence, '$[0].quote') IN (SELECT value FROM json_each(?2))"
)
LIKE = 5  # most similar of them that are compared closely
NEAR = 0.25  # least share of a fact's words in a sentence for the model to compare the two
FACTS = 4  # most facts compared with one sentence
SENTENCES = 3  # most sentences of one turn that the model is asked about
PASSING = ("absent", "missing", "busy")  # failures that are not the turn's fault
LATER = ("refused", "unloaded")  # failures after which other turns are tried first


@dataclass(slots=True)
class ModelPassResult(PassResult):
    """Result of a run of a model: ids of the proposals it `asked`; the model's name (`by`); the `trouble` that ended
    it, empty if none; `broken_off`: cancelled during a question."""

    asked: tuple[int, ...] = ()
    by: str = ""
    trouble: str = ""
    broken_off: bool = False


def run(
    memory: Memory, *, entries: int | None = None, cancelled: Callable[[], bool] = lambda: False
) -> ModelPassResult:
    """Let the model read waiting turns, until none is due, `entries` were read, or `cancelled` returns True. Does
    nothing without a model, or where another process runs it. Raise StorageError."""
    reading = _Reading(memory, cancelled, entries)
    if due(memory):
        reading.holding(reading.all)
    reading.done.left = extraction_queue.counts(memory.database, model=True)[0]
    return reading.done


class _Reading(QueueReader):
    """One run: at most `most` entries."""

    def __init__(self, memory: Memory, cancelled: Callable[[], bool], most: int | None) -> None:
        super().__init__(memory, LEASE)
        self.done: ModelPassResult = ModelPassResult()
        self._cancelled = cancelled
        self._most = most
        self._lost = False

    def _ends(self) -> bool:
        """Return whether to stop, and renew the lease; called twenty times a second while the model runs."""
        try:
            self._renew()
        except LeaseLost:
            self._lost = True
        return self._lost or self._cancelled()

    def all(self) -> None:
        """Read entries one by one."""
        memory = self._memory
        with selected(memory.config, memory.database, "agent.patience", cancelled=self._ends) as model:
            self.done.by = model.name if model else ""
            while model and not self._ends() and due(memory) and len(self.done.asked) < MOST and self._tried(model):
                pass

    def _tried(self, model: ModelSession) -> bool:
        """Read one entry; return whether to go on."""
        if self.done.read + self.done.failed == self._most:
            return False
        with self._writing() as write:
            entry = next(iter(extraction_queue.take(write, 1, model=True)), None)
        if entry is None:
            return False
        try:
            self._one(model, entry)
        except LeaseLost:
            raise
        except Exception as error:  # a turn that fails must not block the others
            if isinstance(error, ModelFailed) and error.kind in ("stopped", *PASSING, *LATER):
                self.done.broken_off = error.kind == "stopped"
                self.done.trouble = "" if self.done.broken_off else str(error)
                later_ms = extraction_queue.BACKOFF_MS[0] if error.kind in LATER else 0
                with self._memory.database.write("agent", "extraction") as write:
                    extraction_queue.untouched(write, [entry], later_ms)
                return False
            self._fail(entry, error)
        return True

    def _one(self, model: ModelSession, entry: QueueEntry) -> None:
        """Read one entry and write the result in the transaction that removes it."""
        memory = self._memory
        turn = next(iter(memory.turns.many([entry.turn])), None)  # None if it was purged
        planned = list[LearningAction]()
        if turn is not None and is_own(turn):
            task = added if entry.task == extraction_queue.MODEL + "extract_facts" else repeated
            planned = _new(memory, turn, self._wanted(turn, task(model, turn, memory.database)))
        with self._writing(f"{MODEL}{model.name}"[:80]) as write:
            if turn is None or not is_unchanged(write, turn):
                planned = []  # it was purged or changed while the model ran
            while turn and planned and (left := min(MOST - len(self.done.asked), room(memory.database))) > 0:
                decided = Verbatim(_decided(planned[:left]))  # what rules proposed of the sentence is replaced
                write.execute(f"DELETE FROM proposals WHERE {TOLD}", (turn.citation, decided))
                self.done.asked += apply_actions(write, turn, planned[:left], memory.inbox).proposed
                planned = planned[left:]
            if planned:
                extraction_queue.untouched(write, [entry])  # the rest waits for room in the inbox
            elif extraction_queue.done(write, entry):
                self.done.read += 1


def added(model: ModelSession, turn: Turn, database: Database) -> list[LearningAction]:
    """Return what a model finds in a turn and rules did not. Writes nothing. Raise ModelFailed."""
    taken = {one.quote for one in extract(turn.role, turn.text)}
    planned = list(_decisions(model, turn))
    decided = {one.found.quote for one in planned}
    for found in extract_facts.ask(model, turn.role, turn.text):
        if found.quote in taken:
            continue
        verdict, target, known = known_facts.best_verdict(database, found.text)
        if verdict == SUPERSEDE:
            planned.append(LearningAction("supersede", found, target, disagrees(target)))
        elif not (verdict == CONFIRM or found.quote in decided or _told(found.text, [text for _, text in known])):
            planned.append(LearningAction("add", found, None, found.why))
    return planned


def _decisions(model: ModelSession, turn: Turn) -> Iterator[LearningAction]:
    """Yield what a model finds decided in a turn, as proposals of decisions. Raise ModelFailed."""
    deciding = [one for one in candidates(turn.role, turn.text) if decides(one.text)]
    for sentence in deciding[:SENTENCES]:
        draft = extract_decision.ask(model, sentence)
        if draft is not None:
            found = replace(as_found(sentence, own=False), domain="decisions")
            yield LearningAction("add", found, None, f"it was decided, as {model.name} reads it", False, draft)


def repeated(model: ModelSession, turn: Turn, database: Database) -> list[LearningAction]:
    """Return actions for the facts that a turn repeats or contradicts according to the model, where rules left it open.
    Writes nothing. Raise ModelFailed."""
    # do not skip corrections: they concern a known fact, and rules only recognise their form
    taken = {found.quote for found in extract(turn.role, turn.text) if found.why not in REVISES}
    planned: dict[int, LearningAction] = {}  # by the fact
    for sentence in [one for one in candidates(turn.role, turn.text) if one.quote not in taken][:SENTENCES]:
        words = compared(sentence)
        verdict, _, known = known_facts.best_verdict(database, sentence.text, words)
        if verdict == CONFIRM:
            continue  # the rule pass confirmed it
        near = [one for one in known if one[0] not in planned and share(words, ComparedText(one[1])) >= NEAR]
        verdicts = reconfirm.ask(model, sentence.text, near[:FACTS])
        for number, verdict in verdicts.items():
            found = as_found(sentence, own=False)
            kind, why = ("supersede", disagrees(number)) if verdict == SUPERSEDE else ("confirm", repeats(number))
            planned[number] = LearningAction(kind, found, number, f"{why}, as {model.name} reads it")
    return list(planned.values())


def _new(memory: Memory, turn: Turn, planned: list[LearningAction]) -> list[LearningAction]:
    """Return the actions not proposed yet: not in other words, not about the same fact with this turn, and not once
    rejected."""
    if not planned:
        return []
    rows = memory.database.rows(
        "SELECT kind, text, target, state, instr(evidence, ?3) FROM proposals"
        f" WHERE NOT ({TOLD}) ORDER BY id DESC LIMIT ?4",
        (turn.citation, _decided(planned), f'"{turn.citation}"', LOOKED_AT),
    )
    texts = [text for kind, text, *_ in rows if kind not in ("confirm", "forget")]
    kept = []
    for action in planned:
        if action.target is None:
            asked = _told(action.found.text, texts)
            texts.append(action.found.text)
        else:
            asked = any(
                target == action.target and (here or (kind == action.kind and state != "accepted"))
                for kind, _, target, state, here in rows
            )
        if not asked:
            kept.append(action)
    return kept


def _decided(planned: Sequence[LearningAction]) -> str:
    """Return the quotes of the decisions among actions, as JSON."""
    return json.dumps([one.found.quote for one in planned if one.decision is not None])


def _told(text: str, others: Sequence[str]) -> bool:
    """Return whether one of the other texts says the same of the same subject, maybe in another order."""
    from rapidfuzz.fuzz import token_sort_ratio
    from rapidfuzz.process import extract as nearest

    near = nearest(text, others, scorer=token_sort_ratio, processor=normal, score_cutoff=ALIKE, limit=LIKE)
    return any(_same(text, other, score / 100) for other, score, _ in near)


def _same(one: str, other: str, likeness: float) -> bool:
    """Return whether two texts that are so similar by letters (0 to 1) have the same meaning and the same subject."""
    first, second = map(contradiction.taken_apart, (one, other))
    alike = contradiction.compare(first, second, likeness) in (contradiction.SAME, contradiction.ALIKE)
    return alike and _names(one, other) == _names(other, one)


def _names(text: str, other: str) -> list[str]:
    """Return the capitalised words of a text that another text has too, in order."""
    return [word for word in WORD.findall(text) if word[0].isupper() and word in WORD.findall(other)]
