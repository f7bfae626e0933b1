"""Model pass: in the background, a model reads the turns that rules have read.

It can only add proposals to the inbox: quoting a sentence, about facts it was shown, up to a limit. What rules found,
what already waits, and what a person rejected is not proposed again. The pass stops at once while keys are pressed and
when the application closes; after three failures a turn is not given to the model again, and stays in the memory.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from store.base.errors import ModelFailed
from store.base.models import Turn
from store.base.vocabulary import MODEL_ORIGIN_PREFIX
from store.conversations import extraction_queue
from store.conversations.extraction_queue import (
    MODEL_PREFIX,
    QueueEntry,
    complete_entry,
    count_queued_turns,
    has_due_entries,
    return_entries,
    take_entries,
)
from store.conversations.summaries import states_decision
from store.database.database import Database, LeaseLost
from store.database.tombstones import normal_form
from store.database.values import Verbatim
from store.learning.rule_pass import (
    MIN_LIKENESS,
    LearningAction,
    PassResult,
    QueueReader,
    apply_actions,
    best_verdict,
    disagreement_reason,
    fact_of_sentence,
    is_own_turn,
    is_turn_unchanged,
    repetition_reason,
)
from store.learning.rules import (
    CONFIRM_FACT,
    REVISING_REASONS,
    SUPERSEDE_FACT,
    ComparedText,
    extract_by_rule,
    find_candidates,
    shared_word_ratio,
    text_to_compare,
)
from store.learning.tasks import ask_decision, ask_facts, ask_reconfirm
from store.librarian.chat import breaker_of, get_server_address
from store.librarian.model_selection import why_model_disabled
from store.librarian.structured_output import MODEL_LEASE, ModelSession, open_model_session
from store.memory import Memory
from store.text.similarity import SAME_STATEMENT, SIMILAR_STATEMENT, compare_sentences, parse_sentence
from store.text.words import WORD_PATTERN, load_rapidfuzz

# most proposals by a model that may wait in the inbox, as nobody would review more
MOST_MODEL_PROPOSALS = 60
# most proposals of one run
MOST_PROPOSED = 30
# newest proposals that a new one is compared with
MOST_EARLIER = 2_000
# waiting proposals of sentences of a turn (?1: its citation, ?2: their quotes), as facts
TOLD_SQL = (
    "state = 'waiting' AND kind = 'add' AND json_extract(change, '$.decision') IS NULL"
    " AND json_extract(evidence, '$[0].citation') = ?1"
    " AND json_extract(evidence, '$[0].quote') IN (SELECT value FROM json_each(?2))"
)
# most similar of them that are compared closely
MOST_SIMILAR = 5
# least share of a fact's words in a sentence for the model to compare the two
MIN_NEAR_SHARE = 0.25
# most facts compared with one sentence
MOST_FACTS_SHOWN = 4
# most sentences of one turn that the model is asked about
MOST_SENTENCES_ASKED = 3
# failures that are not the turn's fault
PASSING_FAILURES = ("absent", "missing", "busy")
# failures after which other turns are tried first
LATER_FAILURES = ("refused", "unloaded")


def is_model_due(memory: Memory) -> bool:
    """Return whether a model has something to read, and may be asked."""
    database, config = memory.database, memory.config
    if database.read_only or not config["enabled"] or why_model_disabled(config) is not None:
        return False
    if not has_due_entries(database, memory.now, model=True) or proposal_room(database) <= 0:
        return False
    return breaker_of(get_server_address(config)).why_open() is None


def proposal_room(database: Database) -> int:
    """Return how many more proposals by a model the inbox has room for."""
    sql = "SELECT count(*) FROM proposals WHERE state = 'waiting' AND origin GLOB ?"
    return MOST_MODEL_PROPOSALS - database.number(sql, (f"{MODEL_ORIGIN_PREFIX}*",))


@dataclass(slots=True)
class ModelPassResult(PassResult):
    """Result of a run of a model: ids of the proposals it `asked`; the model's name (`by`); the `trouble` that ended
    it, empty if none; `broken_off`: cancelled during a question."""

    asked: tuple[int, ...] = ()
    by: str = ""
    trouble: str = ""
    broken_off: bool = False


def run_model_pass(
    memory: Memory, *, entries: int | None = None, cancelled: Callable[[], bool] = lambda: False
) -> ModelPassResult:
    """Let the model read waiting turns, until none is due, `entries` were read, or `cancelled` returns True. Does
    nothing without a model, or where another process runs it. Raise StorageError."""
    reading = _ModelReading(memory, cancelled, entries)
    if is_model_due(memory):
        reading.work_with_lease(reading.read_all)
    reading.done.left = count_queued_turns(memory.database, model=True)[0]
    return reading.done


class _ModelReading(QueueReader):
    """One run: at most `most` entries."""

    def __init__(self, memory: Memory, cancelled: Callable[[], bool], most: int | None) -> None:
        super().__init__(memory, MODEL_LEASE)
        self.done: ModelPassResult = ModelPassResult()
        self._cancelled = cancelled
        self._most = most
        self._lost = False

    def _must_end(self) -> bool:
        """Return whether to stop, and renew the lease; called twenty times a second while the model runs."""
        try:
            self._renew()
        except LeaseLost:
            self._lost = True
        return self._lost or self._cancelled()

    def read_all(self) -> None:
        """Read entries one by one."""
        memory = self._memory
        with open_model_session(
            memory.config, memory.database, "agent.patience", cancelled=self._must_end
        ) as model:
            self.done.by = model.name if model else ""
            while (
                model
                and not self._must_end()
                and is_model_due(memory)
                and len(self.done.asked) < MOST_PROPOSED
                and self._try_entry(model)
            ):
                pass

    def _try_entry(self, model: ModelSession) -> bool:
        """Read one entry; return whether to go on."""
        if self.done.read + self.done.failed == self._most:
            return False
        with self._open_step() as write:
            entry = next(iter(take_entries(write, 1, model=True)), None)
        if entry is None:
            return False
        try:
            self._read_entry(model, entry)
        except LeaseLost:
            raise
        except Exception as error:  # a turn that fails must not block the others
            if isinstance(error, ModelFailed) and error.kind in ("stopped", *PASSING_FAILURES, *LATER_FAILURES):
                self.done.broken_off = error.kind == "stopped"
                self.done.trouble = "" if self.done.broken_off else str(error)
                later_ms = extraction_queue.BACKOFF_MS[0] if error.kind in LATER_FAILURES else 0
                with self._memory.database.write("agent", "extraction") as write:
                    return_entries(write, [entry], later_ms)
                return False
            self._fail(entry, error)
        return True

    def _read_entry(self, model: ModelSession, entry: QueueEntry) -> None:
        """Read one entry and write the result in the transaction that removes it."""
        memory = self._memory
        # None if it was purged
        turn = next(iter(memory.turns.get_many([entry.turn])), None)
        planned = list[LearningAction]()
        if turn is not None and is_own_turn(turn):
            task = plan_additions if entry.task == MODEL_PREFIX + "extract_facts" else plan_repetitions
            planned = _not_yet_proposed(
                memory, turn, self._without_dismissed(turn, task(model, turn, memory.database))
            )
        with self._open_step(f"{MODEL_ORIGIN_PREFIX}{model.name}"[:80]) as write:
            if turn is None or not is_turn_unchanged(write, turn):
                # it was purged or changed while the model ran
                planned = []
            while (
                turn
                and planned
                and (left := min(MOST_PROPOSED - len(self.done.asked), proposal_room(memory.database))) > 0
            ):
                decided = Verbatim(
                    _decision_quotes(planned[:left])
                )  # what rules proposed of the sentence is replaced
                write.execute(f"DELETE FROM proposals WHERE {TOLD_SQL}", (turn.citation, decided))
                self.done.asked += apply_actions(write, turn, planned[:left], memory.inbox).proposed
                planned = planned[left:]
            if planned:
                # the rest waits for room in the inbox
                return_entries(write, [entry])
            elif complete_entry(write, entry):
                self.done.read += 1


def plan_additions(model: ModelSession, turn: Turn, database: Database) -> list[LearningAction]:
    """Return the actions for what a model finds in a turn and rules did not. Writes nothing. Raise ModelFailed."""
    taken = {one.quote for one in extract_by_rule(turn.role, turn.text)}
    planned = list(_plan_decisions(model, turn))
    decided = {one.found.quote for one in planned}
    for found in ask_facts(model, turn.role, turn.text):
        if found.quote in taken:
            continue
        verdict, target, known = best_verdict(database, found.text)
        if verdict == SUPERSEDE_FACT:
            planned.append(LearningAction("supersede", found, target, disagreement_reason(target)))
        elif not (
            verdict == CONFIRM_FACT
            or found.quote in decided
            or _is_already_told(found.text, [text for _, text in known])
        ):
            planned.append(LearningAction("add", found, None, found.why))
    return planned


def _plan_decisions(model: ModelSession, turn: Turn) -> Iterator[LearningAction]:
    """Yield what a model finds decided in a turn, as proposals of decisions. Raise ModelFailed."""
    deciding = [one for one in find_candidates(turn.role, turn.text) if states_decision(one.text)]
    for sentence in deciding[:MOST_SENTENCES_ASKED]:
        draft = ask_decision(model, sentence)
        if draft is not None:
            found = fact_of_sentence(sentence, own=False)._replace(domain="decisions")
            yield LearningAction("add", found, None, f"it was decided, as {model.name} reads it", False, draft)


def plan_repetitions(model: ModelSession, turn: Turn, database: Database) -> list[LearningAction]:
    """Return actions for the facts that a turn repeats or contradicts according to the model, where rules left it open.
    Writes nothing. Raise ModelFailed."""
    # do not skip corrections: they concern a known fact, and rules only recognise their form
    taken = {found.quote for found in extract_by_rule(turn.role, turn.text) if found.why not in REVISING_REASONS}
    # by the fact
    planned: dict[int, LearningAction] = {}
    for sentence in [one for one in find_candidates(turn.role, turn.text) if one.quote not in taken][
        :MOST_SENTENCES_ASKED
    ]:
        words = text_to_compare(sentence)
        verdict, _, known = best_verdict(database, sentence.text, words)
        if verdict == CONFIRM_FACT:
            # the rule pass confirmed it
            continue
        near = [
            one
            for one in known
            if one[0] not in planned and shared_word_ratio(words, ComparedText(one[1])) >= MIN_NEAR_SHARE
        ]
        verdicts = ask_reconfirm(model, sentence.text, near[:MOST_FACTS_SHOWN])
        for number, verdict in verdicts.items():
            found = fact_of_sentence(sentence, own=False)
            kind, why = (
                ("supersede", disagreement_reason(number))
                if verdict == SUPERSEDE_FACT
                else ("confirm", repetition_reason(number))
            )
            planned[number] = LearningAction(kind, found, number, f"{why}, as {model.name} reads it")
    return list(planned.values())


def _not_yet_proposed(memory: Memory, turn: Turn, planned: list[LearningAction]) -> list[LearningAction]:
    """Return the actions not proposed yet: not in other words, not about the same fact with this turn, and not once
    rejected."""
    if not planned:
        return []
    rows = memory.database.rows(
        "SELECT kind, text, target, state, instr(evidence, ?3) FROM proposals"
        f" WHERE NOT ({TOLD_SQL}) ORDER BY id DESC LIMIT ?4",
        (turn.citation, _decision_quotes(planned), f'"{turn.citation}"', MOST_EARLIER),
    )
    texts = [text for kind, text, *_ in rows if kind not in ("confirm", "forget")]
    kept = []
    for action in planned:
        if action.target is None:
            asked = _is_already_told(action.found.text, texts)
            texts.append(action.found.text)
        else:
            asked = any(
                target == action.target and (here or (kind == action.kind and state != "accepted"))
                for kind, _, target, state, here in rows
            )
        if not asked:
            kept.append(action)
    return kept


def _decision_quotes(planned: Sequence[LearningAction]) -> str:
    """Return the quotes of the decisions among actions, as JSON."""
    return json.dumps([one.found.quote for one in planned if one.decision is not None])


def _is_already_told(text: str, others: Sequence[str]) -> bool:
    """Return whether one of the other texts says the same of the same subject, maybe in another order."""
    rapidfuzz = load_rapidfuzz()
    near = rapidfuzz.process.extract(
        text,
        others,
        scorer=rapidfuzz.fuzz.token_sort_ratio,
        processor=normal_form,
        score_cutoff=MIN_LIKENESS,
        limit=MOST_SIMILAR,
    )
    return any(_means_same(text, other, score / 100) for other, score, _ in near)


def _means_same(one: str, other: str, likeness: float) -> bool:
    """Return whether two texts that are so similar by letters (0 to 1) have the same meaning and the same subject."""
    first, second = map(parse_sentence, (one, other))
    alike = compare_sentences(first, second, likeness) in (SAME_STATEMENT, SIMILAR_STATEMENT)
    return alike and _shared_names(one, other) == _shared_names(other, one)


def _shared_names(text: str, other: str) -> list[str]:
    """Return the capitalised words of a text that another text has too, in order."""
    return [
        word for word in WORD_PATTERN.findall(text) if word[0].isupper() and word in WORD_PATTERN.findall(other)
    ]
