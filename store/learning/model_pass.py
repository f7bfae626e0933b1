"""What a model adds to what rules found, afterwards: it reads the turns that they have read, when nobody waits.

All it can do is put questions into the inbox: with the sentence they rest on, for facts that it was shown, so many and
no more. What rules found already, what waits, and what a person said no to is not asked again. While keys are pressed
and when the application closes it stops at once; a turn is given up for the model after three failures, and stays.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.base.citations import cite
from store.base.errors import ModelFailed
from store.base.vocabulary import MODEL
from store.conversations import extraction_queue
from store.conversations.extraction_queue import QueueEntry
from store.conversations.rule_summary import decides
from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.database.lease import Lease, LeaseLost
from store.learning import known_facts
from store.learning.actions import LearningAction, apply_actions, as_found, disagrees, is_own
from store.learning.candidate_filter import worth
from store.learning.known_facts import ALIKE
from store.learning.model_due import due, room
from store.learning.rule_pass import QueueReader, stands
from store.learning.rules.extract_rules import ExtractedFact, extract
from store.learning.rules.reconfirm_rules import CONFIRM, SUPERSEDE, ComparedText, against, compared, kin, share
from store.learning.rules.requests import REVISES
from store.learning.rules.sentences import fold
from store.llm import model_selection
from store.llm.structured_output import ModelSession
from store.memory import Memory
from store.text.similarity import contradiction
from store.text.tokens import WORD

if TYPE_CHECKING:
    from store.base.models import Turn
    from store.llm.clients.chat_client import ChatClient

LEASE = "model"
MOST = 30  # questions of one run
LOOKED_AT = 2_000  # proposals, the newest, that a new one is compared with
LIKE = 5  # of them that are alike and looked at
NEAR = 0.25  # of a fact's words that a sentence has, for a model to be asked about the two
FACTS = 4  # of one sentence
SENTENCES = 3  # of one turn that a model is asked to compare with what is known
PASSING = ("absent", "missing", "busy")  # failures that are no turn's fault …
LATER = ("refused", "unloaded")  # … and those after which another turn is tried first


@dataclass(frozen=True, slots=True)
class ModelPassResult:
    """What a run did: turns' entries that were `read`, the ids of the questions it `asked`, entries that `failed`, how
    many turns are `left`; `by` which model, and the `trouble` that ended it, empty if nothing did; `broken_off`: a
    question was taken back on its way."""

    read: int = 0
    asked: tuple[int, ...] = ()
    failed: int = 0
    left: int = 0
    by: str = ""
    trouble: str = ""
    broken_off: bool = False


def run(
    memory: Memory,
    *,
    seconds: float | None = None,
    entries: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    loading: Callable[[], None] = lambda: None,
) -> ModelPassResult:
    """Let the model read the turns that wait for it, until none is due, so many `entries` of theirs were read,
    `seconds` have passed or it is `cancelled`.
    Nothing is done where there is no model, or where another process is at it. Raises StorageError."""
    if not due(memory):
        return ModelPassResult(left=_left(memory))
    lease = Lease(memory.database, LEASE)
    if not lease.take():
        return ModelPassResult(left=_left(memory))
    reading = _Reading(memory, lease, cancelled, None if seconds is None else time.monotonic() + seconds)
    try:
        chat = model_selection.found(memory.config, cancelled=reading.ends, loading=loading)
        if chat is None:
            return ModelPassResult(left=_left(memory))
        try:
            return reading.all(chat, entries)
        finally:
            chat.close()
    except LeaseLost:
        return reading.result("")
    finally:
        lease.release()


class _Reading(QueueReader):
    """One run."""

    def __init__(self, memory: Memory, lease: Lease, cancelled: Callable[[], bool], until: float | None) -> None:
        super().__init__(memory, lease)
        self._cancelled = cancelled
        self._until = until
        self._lost = False
        self._asked = list[int]()
        self._name = ""

    def ends(self) -> bool:
        """Whether to stop; asked twenty times a second while the model thinks, and keeps the lease meanwhile."""
        if self._cancelled() or self._lost or (self._until is not None and time.monotonic() >= self._until):
            return True
        try:
            self._renew()
        except LeaseLost:
            self._lost = True
        return self._lost

    def all(self, chat: "ChatClient", most: int | None) -> ModelPassResult:
        """Read one entry after the other, `most` of them."""
        memory = self._memory
        self._name = chat.name
        asking = ModelSession(chat, float(memory.config["agent.patience"]), memory.database)
        while not self.ends() and due(memory) and len(self._asked) < MOST and self._tried() != most:
            with memory.database.write("agent", "extraction") as write:
                self._lease.renew(write)
                entries = extraction_queue.take(write, 1, model=True)
            if not entries:
                break
            (entry,) = entries
            try:
                self._one(asking, entry)
            except LeaseLost:
                raise
            except ModelFailed as failed:
                if failed.kind == "stopped":
                    self._give_back(entry, 0)
                    return self.result("", broken_off=True)
                if failed.kind in (*PASSING, *LATER):
                    self._give_back(entry, extraction_queue.BACKOFF_MS[0] if failed.kind in LATER else 0)
                    return self.result(str(failed))
                self._fail(entry, failed)
            except Exception as error:  # one turn that cannot be read keeps no other from being read
                self._fail(entry, error)
        return self.result("")

    def _one(self, asking: ModelSession, entry: QueueEntry) -> None:
        """Read one entry, and write what came of it in the transaction that takes it off."""
        memory = self._memory
        turn = next(iter(memory.turns.many([entry.turn])), None)  # a turn that was purged is read by nobody
        planned = list[LearningAction]()
        if turn is not None and is_own(turn):
            if entry.task == extraction_queue.MODEL + "extract_facts":
                planned = added(asking, turn, memory.database)
            else:
                planned = repeated(asking, turn, memory.database)
            planned = _new(memory, turn, [one for one in planned if not self._settled.after(turn, one.found.text)])
        with memory.database.write(f"{MODEL}{asking.name}"[:80], "extraction") as write:
            self._lease.renew(write)
            if turn is None or not stands(write, turn):
                planned = []  # it was purged while the model thought
            while turn and planned and (left := min(MOST - len(self._asked), room(memory.database))) > 0:
                self._asked += apply_actions(write, turn, planned[:left], memory.inbox).proposed
                planned = planned[left:]
            if planned:
                extraction_queue.untouched(write, [entry])  # the rest is asked when there is room
            elif extraction_queue.done(write, [entry]):
                self._read += 1

    def _tried(self) -> int:
        return self._read + self._failed

    def _give_back(self, entry: QueueEntry, later_ms: int) -> None:
        with self._memory.database.write("agent", "extraction") as write:
            extraction_queue.untouched(write, [entry], later_ms)

    def result(self, trouble: str, broken_off: bool = False) -> ModelPassResult:
        left = _left(self._memory)
        return ModelPassResult(self._read, tuple(self._asked), self._failed, left, self._name, trouble, broken_off)


def added(asking: ModelSession, turn: "Turn", database: Database) -> list[LearningAction]:
    """What a model finds in a turn and rules did not. Writes nothing. Raises ModelFailed."""
    from store.learning.tasks import extract_facts

    taken = {one.quote for one in extract(turn.role, turn.text).facts}
    decided = list(_decisions(asking, turn))
    planned = list(decided)
    for found in extract_facts.ask(asking, turn.role, turn.text).facts:
        if found.quote in taken:
            continue
        known = known_facts.near(database, found.text)
        verdict, target = known_facts.judged(ComparedText(fold(found.text)), known)
        if verdict == SUPERSEDE:
            planned.append(LearningAction("ask", found, target, "supersede", disagrees(target)))
            continue
        if any(found.quote == one.found.quote for one in decided):
            continue  # it is proposed as a decision
        alike = known_facts.alike(found.text, known)
        if verdict != CONFIRM and (alike is None or not _same(normal(found.text), normal(alike[1]))):
            planned.append(LearningAction("ask", found, None, "add", found.why))
    return planned


def _decisions(asking: ModelSession, turn: "Turn") -> Iterator[LearningAction]:
    """What a model finds decided in a turn, each to be asked about as a decision. Raises ModelFailed."""
    from store.learning.tasks import extract_decision

    deciding = [one for one in worth(turn.role, turn.text) if decides(one.text)]
    for sentence in deciding[:SENTENCES]:
        draft = extract_decision.ask(asking, sentence)
        if draft is not None:
            found = ExtractedFact(draft.title, "decisions", "medium", sentence.quote, False, False, "")
            yield LearningAction("ask", found, None, "add", f"it was decided, as {asking.name} reads it", draft)


def repeated(asking: ModelSession, turn: "Turn", database: Database) -> list[LearningAction]:
    """Return which facts a model says that a turn repeats or speaks against, where rules left it open. Writes nothing.
    Raises ModelFailed."""
    from store.learning.tasks import reconfirm

    # a correction speaks of a fact that is known, and rules know only its form
    taken = {found.quote for found in extract(turn.role, turn.text).facts if found.why not in REVISES}
    planned, touched = list[LearningAction](), set[int]()
    for sentence in [one for one in worth(turn.role, turn.text) if one.quote not in taken][:SENTENCES]:
        words, known = compared(sentence), known_facts.near(database, sentence.text)
        if known_facts.judged(words, known)[0] == CONFIRM:
            continue  # the rule has heard it
        near = [one for one in known if one[0] not in touched and share(words, ComparedText(fold(one[1]))) >= NEAR]
        verdicts = reconfirm.ask(asking, sentence.text, near[:FACTS])
        for number, verdict in verdicts.facts.items():
            touched.add(number)
            supersedes = verdict == SUPERSEDE
            why = disagrees(number) if supersedes else f"it says the same as {cite('fact', number)}"
            kind = "supersede" if supersedes else "confirm"
            found = as_found(sentence, own=False)
            planned.append(LearningAction("ask", found, number, kind, f"{why}, as {verdicts.by} reads it"))
    return planned


def _within(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a text's words are among another's, in whatever form."""
    return all(any(kin(word, other) for other in others) for word in words)


def _new(memory: Memory, turn: "Turn", planned: list[LearningAction]) -> list[LearningAction]:
    """What of it nobody asked yet: not in other words, not about that fact with this turn, and not once a person said
    no."""
    from rapidfuzz.fuzz import ratio, token_set_ratio
    from rapidfuzz.process import extract as nearest

    if not planned:
        return []
    rows = memory.database.rows(
        "SELECT kind, text, target, state, instr(evidence, ?) FROM proposals ORDER BY id DESC LIMIT ?",
        (f'"{turn.citation}"', LOOKED_AT),
    )
    texts = [text for kind, text, *_ in rows if kind not in ("confirm", "forget")]
    kept = []
    for lesson in planned:
        about = [
            (kind, state, here)
            for kind, _, target, state, here in rows
            if target == lesson.target and lesson.target is not None
        ]
        if any(here or (kind == lesson.kind and state != "accepted") for kind, state, here in about):
            continue
        text = lesson.found.text
        if lesson.kind != "confirm" and lesson.target is None:
            near = nearest(text, texts, scorer=ratio, processor=normal, score_cutoff=ALIKE, limit=LIKE)
            turned = nearest(text, texts, scorer=token_set_ratio, processor=normal, score_cutoff=ALIKE, limit=LIKE)
            if any(_same(text, other) for other, *_ in near) or any(_reworded(text, other) for other, *_ in turned):
                continue
            texts.append(text)
        kept.append(lesson)
    return kept


def _same(one: str, other: str) -> bool:
    """Whether two texts that are alike letter by letter say the same, and not the same of something else."""
    return one == other or contradiction.compare(
        contradiction.taken_apart(one), contradiction.taken_apart(other), 1.0
    ) in (contradiction.SAME, contradiction.ALIKE)


def _reworded(one: str, other: str) -> bool:
    """Return whether two texts have the same words in other forms or places, and no two of them changed places."""
    words, others = ComparedText(fold(one)), ComparedText(fold(other))
    alike = _within(words.words, others.words) and _within(others.words, words.words) and not against(words, others)
    return alike and _names(one, other) == _names(other, one)


def _names(text: str, other: str) -> list[str]:
    """Return the capitalised words of a text that another text has too, in order."""
    return [word for word in WORD.findall(text) if word[0].isupper() and word in WORD.findall(other)]


def _left(memory: Memory) -> int:
    return extraction_queue.counts(memory.database, model=True)[0]
