"""Write what a merge takes from a file, as one step of history, and ask in the inbox about the rest."""

from collections.abc import Sequence

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.vocabulary import FILE, PERSON
from store.database.database import Transaction
from store.database.erasure import tombstones
from store.database.values import Json, Verbatim
from store.inbox.inbox import Inbox
from store.inbox.proposal_basis import ProposalQuestion
from store.records.fact_rows import checked, insert, same, supersede
from store.sync.lines import SectionLine
from store.sync.merge import DELETED, LineChange

# the verb of a change → the kind of its proposal
KINDS = {"add": "add", "correct": "correct", "conflict": "conflict", "forget": "forget"}


class Applied:
    """What one step changed: `added` facts, `corrected` as (old, new), `forgotten` and `moved` ones; new `proposed`
    proposals; and what could not be taken, each with its line and the reason."""

    __slots__ = ("added", "corrected", "forgotten", "left", "moved", "proposed")

    def __init__(self) -> None:
        self.added: list[int] = []
        self.corrected: list[tuple[int, int]] = []
        self.forgotten: list[int] = []
        self.moved: list[int] = []
        self.proposed: list[int] = []
        self.left: list[tuple[int, str]] = []

    @property
    def reason(self) -> str:
        """The reason of the step: verbs and citations."""
        parts = []
        for verb, numbers in (
            ("add", self.added),
            ("correct", [number for pair in self.corrected for number in pair]),
            ("forget", self.forgotten),
            ("move", self.moved),
        ):
            if numbers:
                more = f" +{len(numbers) - 10}" if len(numbers) > 10 else ""
                parts.append(f"{verb} {' '.join(cite('fact', number) for number in numbers[:10])}{more}")
        if self.proposed and not parts:
            more = f" +{len(self.proposed) - 10}" if len(self.proposed) > 10 else ""
            parts.append(f"propose {' '.join(cite('proposal', number) for number in self.proposed[:10])}{more}")
        return f"sync {', '.join(parts)}" if parts else "sync"


class LineApply:
    """Applies the changes of one file, as part of a transaction; `key` makes digests as its lines have them."""

    def __init__(self, write: Transaction, inbox: Inbox, file: int, path: str) -> None:
        self._write = write
        self._inbox = inbox
        self._file = file
        self._path = path
        self.done = Applied()

    def apply(self, changes: Sequence[LineChange], digests: dict[SectionLine, bytes]) -> Applied:
        """Apply all changes; one that is refused stays in the file as it is."""
        for change in changes:
            try:
                if change.why:
                    self._ask(change, digests)
                else:
                    getattr(self, f"_{change.verb}")(change)
            except MemorandaError as error:
                self.done.left.append((change.line.number if change.line else 0, error.message))
        self._confirmable()
        self._write.reason = self.done.reason
        return self.done

    def _add(self, change: LineChange) -> None:
        assert change.line is not None
        text = checked(change.line.text)
        if same(self._write, text) is not None:  # another line of this file
            return
        tombstones.refuse(self._write, text, again=False)
        heading = "-".join(change.line.heading.split())[:40]
        person = self._write.actor == PERSON
        number = insert(
            self._write,
            text,
            domain=change.line.domain or "general",
            confidence="high" if person else "medium",
            source="explicit" if person else "inferred",
            origin=self._write.actor,
            evidence=Json([]),
            tags=Json([heading] if heading else []),
        )
        if person:
            self._write.execute("INSERT INTO uncompared VALUES (?)", (number,))  # see store/inbox/new_fact_check.py
        self.done.added.append(number)

    def _correct(self, change: LineChange) -> None:
        assert change.line is not None and change.fact is not None
        text = checked(change.line.text)
        known = same(self._write, text)
        if known is not None and known != change.fact.id:
            self._forget(change)  # the line says what another fact says
            return
        tombstones.refuse(self._write, text, again=False)
        new = supersede(self._write, change.fact.id, text)
        self.done.corrected.append((change.fact.id, new))
        self._inbox.withdraw(self._write, [change.fact.id], FILE)

    def _forget(self, change: LineChange) -> None:
        assert change.fact is not None
        self._write.execute("UPDATE facts SET status = 'forgotten' WHERE id = ?", (change.fact.id,))
        self.done.forgotten.append(change.fact.id)
        self._inbox.withdraw(self._write, [change.fact.id], FILE)

    def _move(self, change: LineChange) -> None:
        assert change.line is not None and change.fact is not None
        domain = Verbatim(change.line.domain)
        self._write.execute("UPDATE facts SET domain = ? WHERE id = ?", (domain, change.fact.id))
        self.done.moved.append(change.fact.id)

    def _ask(self, change: LineChange, digests: dict[SectionLine, bytes]) -> None:
        """Propose a change, and note that the line waits for it."""
        place = f"{self._path}, line {change.line.number}" if change.line else self._path
        fields: dict[str, object] = {}
        if change.line is not None:
            fields["fact"] = change.line.text
            if change.verb == "add":
                fields["domain"] = change.line.domain or "general"
        target = change.fact.id if change.fact is not None else None
        question = ProposalQuestion(KINDS[change.verb], fields, target, (), FILE, f"{place}. {change.why}")
        number, new = self._inbox.ask(self._write, question)
        if new:
            self.done.proposed.append(number)
        text = digests[change.line] if change.line is not None else DELETED
        self._write.execute(
            "INSERT OR REPLACE INTO synced_proposals(file, fact, digest, proposal) VALUES (?, ?, ?, ?)",
            (self._file, change.cited, text, number),
        )

    def _confirmable(self) -> None:
        """Ask about each fact that the file wrote: no agent is sent it until a person accepts it."""
        if self._write.actor == PERSON:
            return
        old = {new: f" It took the place of {cite('fact', old)}." for old, new in self.done.corrected}
        for number in [*self.done.added, *old]:
            why = f"{self._path}.{old.get(number, '')} It holds, and no agent is sent it until you accept it."
            question = ProposalQuestion("confirm", {}, number, (), FILE, why)
            self.done.proposed.append(self._inbox.ask(self._write, question)[0])
