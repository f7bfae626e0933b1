"""The Librarian: a question about the past gets a short answer, each sentence of which cites the record it rests
on. What cannot be cited is not said; where nothing is recorded it says so.

A local model may put it into words, and what it says is checked sentence by sentence before anything is shown. Without
one, or where what it says does not stand, the records speak themselves, by rule. The model calls nothing, and what it
says is text: an answer changes no record.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from store.base.errors import ModelFailed
from store.base.models import Fact, Proposal, Record
from store.context.result import Context
from store.context.selection import accepted
from store.librarian import prompt, relevance_model
from store.librarian.checks.sentence_check import Check
from store.librarian.checks.sufficiency import is_sufficient
from store.librarian.question import ParsedQuestion, read, spoken
from store.librarian.retrieval import Retrieval, chosen, find
from store.librarian.rule_answer import NOTHING, CitedSentence, attributed, compose, nearest
from store.librarian.sentence_stream import Sentences
from store.librarian.sources import Source
from store.llm import usage_stats
from store.llm.chat import Chat
from store.memory import Memory
from store.search.answer_cache import Answer as Kept

PREDICT = 300  # tokens of an answer
TASK = "answer"  # as its use is counted
SENTENCES = 6  # of an answer
STOPPED = "stopped before the model had answered; here are the records themselves"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `told` are its sentences as they were shown; `citations` are all that they make, `sources` the records
    that were looked at; `by` names the model, empty where rules answered; `cut` counts its sentences that did not
    stand, and `doubts` says why each. `note` is for the person: why a model did not answer, or that the answer was
    given before. `nothing`: there are no records, and `near` names what comes nearest. `topic` and `ground` are the
    question and the citations that the next question may lean on: its own, or where it leant itself or found nothing
    those of the answers before."""

    question: str
    language: str
    kind: str
    told: tuple[CitedSentence, ...]
    citations: tuple[str, ...]
    sources: tuple[str, ...]
    by: str
    seconds: float
    topic: str = ""
    ground: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    note: str = ""
    nothing: bool = False
    cancelled: bool = False
    near: CitedSentence | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.told)

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def cut(self) -> int:
        return len(self.doubts)

    @property
    def line(self) -> str:
        """Who answered, from how much, and in how long: `2 sources · qwen2.5:3b · 1.4 s`."""
        count = len(self.citations)
        said = [] if self.nothing else [f"{count} source{'' if count == 1 else 's'}"]
        said += [self.by or "by rule", f"{self.seconds:.1f} s"]
        if self.cut:
            said.append(f"{self.cut} sentence{'' if self.cut == 1 else 's'} cut: {self.doubts[0]}")
        if self.cancelled:
            said.append("stopped")
        return " · ".join(said)


class Librarian:
    """Answers questions about one memory, on a thread that may wait."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def ask(
        self,
        question: str,
        chat: Chat | None = None,
        *,
        last: Answer | None = None,
        said: Callable[[str], None] = lambda sentence: None,
        cancelled: Callable[[], bool] = lambda: False,
        waiting: Callable[[int], None] = lambda records: None,
    ) -> Answer:
        """Answer a question; `said` is given each sentence once it stands and what stands by then answers, so that none
        is taken back; `waiting` how many records were found when a model begins to read them. `last` is the answer
        before it, for a question that leans on it. Without a `chat` rules answer, in some 50 ms. Raises StorageError;
        never because of a model."""
        start = time.monotonic()
        asking = _Asking(self._memory, chat, last, said, cancelled, waiting)
        return asking.answer(question, lambda: time.monotonic() - start)


class _Asking:
    """One question on its way to an answer."""

    def __init__(
        self,
        memory: Memory,
        chat: Chat | None,
        last: Answer | None,
        said: Callable[[str], None],
        cancelled: Callable[[], bool],
        waiting: Callable[[int], None],
    ) -> None:
        self._memory, self._chat, self._last = memory, chat, last
        self._said, self._cancelled, self._waiting = said, cancelled, waiting
        self._told: list[CitedSentence] = []
        self._shown = 0  # sentences that were handed on
        self._citations: dict[str, None] = {}
        self._doubts: list[str] = []
        self._patience = float(memory.config["agent.patience"])

    def answer(self, question: str, seconds: Callable[[], float]) -> Answer:
        memory, last = self._memory, self._last
        asked = read(question, memory.now, last.topic if last else "")
        by, note, nothing = "", "", False
        found = Retrieval(())
        if self._chat is not None and (known := self._known(self._chat, asked)):
            by, note = self._chat.name, known.note or "given before, and nothing of it has changed"
            for sentence in _sentences(known.answer):
                self._say(_as_kept(sentence, known.citations))
        else:
            newest = memory.database.value("SELECT max(seq) FROM history") or 0
            found = find(memory, asked, last.ground if last else (), last.topic if last else "")
            readable = found.sources or self._given(found.candidates)
            if self._chat is not None and readable and not found.ruled:
                found, by, note, nothing = self._by_model(self._chat, asked, found, newest)
            if not self._told and not nothing:
                by = ""
                for told in compose(asked, found, memory.now):
                    self._say(told)
                nothing = not self._told
        if nothing:
            self._say(CitedSentence(NOTHING[asked.language], ()))
        return Answer(
            asked.text,
            asked.language,
            asked.kind,
            tuple(self._told),
            tuple(self._citations),
            tuple(source.citation for source in found.sources),
            by,
            seconds(),
            last.topic if last and (asked.follows or nothing) else asked.text,
            last.ground if last and nothing else tuple(self._citations),
            tuple(self._doubts),
            note,
            nothing,
            self._cancelled(),
            nearest(found.near or found.sources, asked.language) if nothing else None,
        )

    def _say(self, told: CitedSentence) -> None:
        self._hold(told)
        self._show()

    def _hold(self, told: CitedSentence) -> None:
        self._told.append(told)
        self._citations.update(dict.fromkeys(told.citations))

    def _show(self) -> None:
        """Hand on what was held."""
        for told in self._told[self._shown :]:
            self._said(told.text)
        self._shown = len(self._told)

    def _known(self, chat: Chat, asked: ParsedQuestion) -> Kept | None:
        """What this model answered before, in the language of the question."""
        if asked.follows:
            return None
        return self._memory.answers.lookup(
            asked.text, by=chat.name, fits=lambda question, answer: spoken(answer, question) == asked.language
        )

    # with a model

    def _by_model(
        self, chat: Chat, asked: ParsedQuestion, found: Retrieval, newest: int
    ) -> tuple[Retrieval, str, str, bool]:
        """Let a model say which records answer, and answer from these: (those it goes by, its name, what a person
        should know, whether it says that nothing is recorded). Nothing is said where nothing of it stands."""
        began = time.monotonic()
        try:
            found = self._judged(chat, asked, found)
        except ModelFailed as error:
            self._count(chat.name, began, error.kind)
            return found, chat.name, STOPPED if self._cancelled() else str(error), False
        if not found.sources:
            self._count(chat.name, began, "")
            return found, chat.name, "", True
        memory = self._memory
        given = self._given(found.sources)
        if not given:
            return found, "", "no record that a model may read", False
        built = prompt.context(asked, given, *self._before(asked, given))
        number = self._sent(built)
        self._waiting(len(given))
        note, nothing = "", False
        kind = ""
        try:
            nothing = self._listen(chat, prompt.messages(built), self._hearing(asked, found, given))
        except ModelFailed as error:
            note, kind = str(error), error.kind
        if self._told and not self._shown:
            self._told.clear()
            self._citations.clear()
            note = note or f"what {chat.name} said does not tell it all; here are the records themselves"
        if self._cancelled() and not self._told:
            note = STOPPED
        if not (self._told or nothing or kind):
            kind = "broken"  # nothing of it stood
        self._count(chat.name, began, kind)
        if nothing and found.sure and not self._told:
            nothing, note = False, f"{chat.name} sees no answer in them; these are the nearest records"
        elif self._doubts and not self._told and not nothing and not note:
            note = "what the model said does not stand in the records; here they are themselves"
        if number is not None:
            memory.context.sent.answered(number, valid=not self._doubts and not note, cited=list(self._citations))
        if self._told and not note and not asked.follows and not self._cancelled():
            text = " ".join(told.text for told in self._told)
            memory.answers.keep(asked.text, text, list(self._citations), seq=newest, by=chat.name)
        return found, chat.name, note, nothing and not self._told

    def _judged(self, chat: Chat, asked: ParsedQuestion, found: Retrieval) -> Retrieval:
        """What answers, where no rule is sure of it, by a model that reads each record by itself: those it is for, and
        beside them those that it did not read and that are near enough by rule. Raises ModelFailed."""
        if found.sure:
            return found
        given = self._given(found.candidates)[: relevance_model.LOOKED]
        if not given:
            return found
        self._waiting(len(given))
        yes, sure, no = relevance_model.judged(chat, found.about, asked.language, given, self._patience, found.strange)
        if yes:
            beside = [one for one in found.sources[: found.direct] if one not in (*yes, *no)]
            return chosen(self._memory, asked, [*yes, *beside], sure)
        return replace(found, sources=(), near=found.near or found.sources)

    def _hearing(self, asked: ParsedQuestion, found: Retrieval, given: Sequence[Source]) -> Callable[[str], bool]:
        """What takes each sentence of a model: it holds what stands, shows it once that answers, and tells whether the
        sentence says that nothing is recorded."""
        check, stands = Check(given), dict[str, None]()
        first = dict.fromkeys(one for told in compose(asked, found, self._memory.now) for one in told.citations)

        def heard(sentence: str) -> bool:
            checked = check(sentence)
            if checked.text and checked.text not in stands:
                stands[checked.text] = None
                those = [source for source in given if source.citation in checked.cited]
                self._hold(CitedSentence(attributed(checked.text, those, asked.language), checked.cited))
                if self._shown or is_sufficient(asked, found, list(stands), list(self._citations), list(first)):
                    self._show()
            elif not checked.text and not checked.nothing and checked.why != "empty":
                self._doubts.append(checked.why)
            return checked.nothing

        return heard

    def _before(self, asked: ParsedQuestion, given: Sequence[Source]) -> tuple[str, Sequence[CitedSentence]]:
        """The exchange that a question leans on, as far as a model may hear it: of the answer what rests on records
        that it is given now."""
        last, may = self._last, {source.citation for source in given}
        if last is None or not asked.follows:
            return "", ()
        return last.question, [one for one in last.told if one.citations and may.issuperset(one.citations)]

    def _count(self, name: str, began: float, kind: str) -> None:
        """Count the answer among what the model was asked; one that nobody wants any more is none."""
        database = self._memory.database
        if database.read_only or database.moment or kind == "stopped" or self._cancelled():
            return
        usage_stats.count(database, TASK, name, round((time.monotonic() - began) * 1000), kind)
        if not self._told and kind:
            usage_stats.fell_back(database, TASK)

    def _listen(self, chat: Chat, messages: list[prompt.Message], heard: Callable[[str], bool]) -> bool:
        """Let each sentence be `heard` as it comes; whether the model said that nothing is recorded."""
        stream, whole = chat.stream(messages, predict=PREDICT, seconds=self._patience), Sentences()
        nothing = False
        try:
            for piece in stream:
                if self._cancelled():
                    return False
                for sentence in whole.add(piece):
                    nothing = heard(sentence) or nothing
                if len(self._told) >= SENTENCES:
                    return nothing
        finally:
            if close := getattr(stream, "close", None):
                close()  # the server stops as well
        if rest := whole.rest():
            nothing = heard(rest) or nothing
        return nothing

    def _given(self, sources: Sequence[Source]) -> list[Source]:
        """The sources that a model is given: no fact that a person has not accepted, or keeps out of every context, no
        proposal that waits for an answer or got a no, and nothing that reads like an order."""
        facts = [source.record for source in sources if isinstance(source.record, Fact)]
        yes = set(accepted(self._memory.database, facts)) - self._memory.mutes.among([fact.id for fact in facts])

        def may(record: Record) -> bool:
            if isinstance(record, Proposal):
                return record.state == "accepted"
            return not isinstance(record, Fact) or record.id in yes

        return [source for source in sources if not source.hostile and may(source.record)]

    def _sent(self, built: Context) -> int | None:
        """Note what was sent to the model, where notes can be made."""
        database = self._memory.database
        return None if database.read_only or database.moment else self._memory.context.sent.keep(built)


def _sentences(text: str) -> list[str]:
    whole = Sentences()
    return [*whole.add(f"{text} "), *filter(None, [whole.rest()])]


def _as_kept(sentence: str, citations: Sequence[str]) -> CitedSentence:
    """A sentence of an answer that was kept, with those of its citations that it makes."""
    return CitedSentence(sentence, tuple(one for one in citations if f"[{one}]" in sentence) or tuple(citations))
