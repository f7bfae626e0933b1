"""The inbox: what a person did not say themselves waits here for their decision.

Code that infers, reads or imports calls `propose`; only a person decides, and `decide` is the only place where a
proposal becomes a fact. Each decision, of one or of many, is one step of history, and can be undone as one.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from store.base.citations import cite, parse_citation
from store.base.errors import Conflict, ExitStatus, InvalidInput, MemorandaError
from store.base.models import (
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Proposal,
    Quote,
    Record,
    Summary,
    Task,
    Turn,
)
from store.base.vocabulary import PERSON_ORIGIN, PROPOSAL_KINDS, PROPOSAL_STATES
from store.database.change_capture import PURGED_MARK
from store.database.database import Database, Transaction
from store.database.tombstones import decision_text, normal_form, refuse_purged
from store.database.values import Json, Verbatim
from store.documents.documents import Documents
from store.inbox.proposals import (
    ProposalAcceptance,
    ProposalQuestion,
    clean_change,
    clean_quote,
    digest_basis,
    digest_proposal,
    find_earlier_proposal,
    read_active_fact,
    undo_file_change,
)
from store.records.facts import clean_fact_text, find_same_fact
from store.records.table import cite_all, list_cited, require_one_of
from store.records.workflow import Proposals, proposal_fact_ids
from store.search.lookup import get_record

# Evidence: check whether quoted words are still in the place they were quoted from.


class Doubt(NamedTuple):
    """Why a piece of evidence no longer holds: `says` in a sentence, `then` what was quoted or known, `now` the current
    text (empty if there is none)."""

    says: str
    then: str
    now: str


def find_doubts(database: Database, documents: Documents, evidence: Iterable[Quote]) -> Iterator[Doubt]:
    """Yield what no longer holds of quotes. Files are read from the disk."""
    for one in evidence:
        try:
            citation = parse_citation(one.citation)
            if citation.kind == "document":
                text = documents.read_lines(str(citation.target)).text
            else:
                record = get_record(database, citation)
                text = record_text(record)
                if isinstance(record, Fact | Decision) and record.status != "active":
                    yield Doubt(f"{one.citation} is {record.status} since.", one.quote, "")
                    continue
        except MemorandaError as error:
            yield Doubt(f"{one.citation} is not there any more: {error.message}", one.quote, "")
            continue
        if one.quote and not contains_quote(one.quote, text):
            yield Doubt(f"{one.citation} no longer says what was quoted from it.", one.quote, text)


def contains_quote(quote: str, text: str) -> bool:
    """Return whether a text contains these words, whole, in any capitals and spaces."""
    return bool(re.search(rf"(?<!\w){re.escape(normal_form(quote))}(?!\w)", normal_form(text)))


def record_text(record: Record) -> str:
    """Return all that people wrote in a record."""
    parts: Sequence[str]
    match record:
        case (
            Fact(fact=text)
            | GlobalFact(fact=text)
            | Turn(text=text)
            | Task(text=text)
            | Chunk(text=text)
            | Proposal(text=text)
        ):
            parts = (text,)
        case Decision():
            parts = (record.title, record.chosen, record.context, record.rationale, *record.alternatives)
        case Commit(message=text):
            parts = (text,)
        case Iteration():
            parts = (record.command, record.description)
        case Event():
            parts = (record.event_type, record.phase, str(record.payload))
        case Summary():
            parts = (record.prompt_line,)
        case _:
            parts = (record.title, record.summary)
    return "\n".join(parts)


# the keys of `change` besides the text, "fact"
CHANGE_FIELDS = (
    "fact",
    "domain",
    "confidence",
    "importance",
    "pinned",
    "tags",
    "others",
    "decision",
    "created",
    "scope",
)
# kinds that have a target
TARGETED_KINDS = ("correct", "confirm", "supersede", "forget", "conflict")
INBOX_VERBS = ("accept", "reject", "merge", "supersede")
# begins the origin of what was read from other tools and documents
IMPORT_PREFIX = "import:"


class DoubtfulProposal(Conflict):
    """The basis of a proposal has changed; `doubts` list the old and the new."""

    code = "doubtful"
    exit_status = ExitStatus.PERSON

    def __init__(self, proposal: Proposal, found: Sequence[Doubt]) -> None:
        super().__init__(
            f"{proposal.citation} was left waiting: {found[0].says}",
            f"Look with `show {proposal.citation}`; `--anyway` accepts it all the same.",
        )
        self.doubts = tuple(found)


class InboxChoice(NamedTuple):
    """A person's decision on a proposal: `verb` is one of INBOX_VERBS, `edited` their own words instead of its text,
    `fact` the one to merge it with or to supersede."""

    number: int
    verb: str
    edited: str | None = None
    fact: int | None = None


class InboxDecision(NamedTuple):
    """Result of choices: the fact of each accepted proposal (None where one was forgotten, or a decision recorded), the
    ids that were `rejected`, those `left` waiting, each with the reason, and the `decisions` recorded, by proposal."""

    made: dict[int, int | None]
    rejected: tuple[int, ...]
    left: dict[int, MemorandaError]
    decisions: dict[int, int]

    def resulting_citation(self, number: int) -> str:
        """Return the citation of the record that an accepted proposal made or confirmed; empty if there is none."""
        if number in self.decisions:
            return cite("decision", self.decisions[number])
        fact = self.made.get(number)
        return "" if fact is None else cite("fact", fact)


class Inbox(Proposals):
    """The proposals of one memory."""

    def __init__(self, database: Database, documents: Documents) -> None:
        super().__init__(database)
        self._documents = documents

    # proposing

    def propose(
        self,
        kind: str,
        change: Mapping[str, Any],
        *,
        target: int | None = None,
        evidence: Sequence[Mapping[str, str]] = (),
        origin: str,
        reason: str = "",
        key: str = "",
    ) -> int:
        """Propose that something be remembered, changed or forgotten; return the proposal's id.

        `kind` is one of vocabulary.PROPOSAL_KINDS; `change` holds the text, `fact`, and the other fields of the fact
        (CHANGE_FIELDS; `others` are ids of further facts to be merged; with a `decision`, {chosen, alternatives,
        rationale, context, impact}, a decision with that title is added; `created` is when it was written elsewhere);
        `target` is the fact it is about; `evidence` lists {"citation", "quote"}. The same proposal (`digest_proposal`)
        of the same origin is not made again while it waits, after it was rejected, and while the resulting fact holds:
        its id is returned. An `add` with the text of an active fact becomes a proposal to confirm that one; `confirm`
        and `forget` take the fact's own text, and other words are added to the reason. With a `key` that was used
        before nothing is written.

        Raise InvalidInput, NotFound, Conflict (the target is not active) or Purged.
        """
        return self.propose_all(
            [ProposalQuestion(kind, change, target, tuple(evidence), origin, reason)], origin, key=key
        )[0]

    def propose_all(
        self, questions: Iterable[ProposalQuestion], actor: str, *, key: str = "", most: int | None = None
    ) -> list[int]:
        """Call `propose` for each, all or none, as one step of history; return their ids. With `most`, stop when so
        many are new. The questions are read one by one, inside the transaction."""
        with self._database.write(actor, "propose", key) as write:
            if (answer := write.earlier_answer) is not None:
                return [int(number) for number in answer.split()]
            asked: list[tuple[int, bool]] = []
            for question in questions:
                if most is not None and sum(fresh for _, fresh in asked) >= most:
                    break
                asked.append(self.propose_within(write, question))
            new = [number for number, fresh in asked if fresh]
            write.reason = proposing_reason(new)
            write.store_answer(*(number for number, _ in asked))
            return [number for number, _ in asked]

    def propose_within(self, write: Transaction, question: ProposalQuestion) -> tuple[int, bool]:
        """Propose as part of a transaction; return (the proposal's id, whether it is new). Every error is raised
        before anything is written."""
        kind, target = question.kind, question.target
        require_one_of("kind of proposal", kind, PROPOSAL_KINDS)
        change = dict(question.change)
        if unknown := [name for name in change if name not in CHANGE_FIELDS]:
            raise InvalidInput(f"A fact has no {unknown[0][:40]}.", f"What it has: {', '.join(CHANGE_FIELDS)}.")
        others = [number for number in dict.fromkeys(map(int, change.pop("others", ()))) if number != target]
        text = change.pop("fact", "")
        if kind == "merge" and (target is None or not others):
            raise InvalidInput("Merging takes two facts.", "Name one as the target, the rest as others.")
        if kind in TARGETED_KINDS and target is None:
            raise InvalidInput(f"To {kind} takes a fact.", "Name it as the target.")
        if kind == "add" and target is not None:
            raise InvalidInput("What is added is about no other fact.", "To change one, propose to correct it.")
        text = clean_fact_text(text) if text else ""
        if "decision" in change and kind != "add":
            raise InvalidInput("Only what is added can be a decision.", "Propose to add it.")
        if kind == "add" and text and "decision" not in change:
            known = find_same_fact(write, text)
            if known is not None:
                kind, target = "confirm", known
        about = [read_active_fact(write, number) for number in ([] if target is None else [target]) + others]
        text = text or (about[0][0] if about else clean_fact_text(text))
        reason = question.reason.strip()
        if kind not in ("confirm", "forget"):
            refuse_purged(write, text, again=False)
        elif normal_form(text) != normal_form(about[0][0]):
            refuse_purged(write, text, again=False)
            text, reason = about[0][0], f"{reason} “{text}”".strip()
        based_on = digest_basis(write, about)
        whole = decision_text(text, str(change["decision"]["chosen"])) if "decision" in change else text
        asked = digest_proposal(
            write, kind, whole, target, others, based_on, [confirmed for *_, confirmed in about]
        )
        before = find_earlier_proposal(write, asked, kind, question)
        if before is not None:
            return before, False
        number = write.insert(
            "proposals",
            kind=Verbatim(kind),
            text=text,
            asked=Verbatim(asked),
            change=Json(clean_change(change)),
            target=target,
            others=Json([cite("fact", number) for number in others]),
            based_on=Verbatim(based_on),
            evidence=Json([clean_quote(one) for one in question.evidence]),
            reason=reason,
            origin=question.origin,
            state=Verbatim("waiting"),
            created_at=write.at,
        )
        return number, True

    def propose_arrival(self, write: Transaction, question: ProposalQuestion, trusted: bool) -> tuple[int, bool]:
        """Propose an addition as part of a transaction, and accept it at once for a person who trusts where it comes
        from; return (the proposal's id, whether it is new). Nobody confirmed it now, so its age is counted from when it
        was written."""
        number, new = self.propose_within(write, question)
        if new and trusted:
            proposal = self.get(number)
            fact = ProposalAcceptance(write, proposal, None, False).accept()
            _settle_proposal(write, number, "accepted", fact)
            if fact is not None and proposal.kind == "add":
                write.execute("UPDATE facts SET last_confirmed_at = created_at WHERE id = ?", (fact,))
        return number, new

    def withdraw_confirmations(self, write: Transaction, facts: Sequence[int], origin: str) -> None:
        """Close the proposals of an origin to confirm these facts, which it changed since, as part of a transaction."""
        write.execute(
            "UPDATE proposals SET state = 'rejected', decided_at = ? WHERE state = 'waiting' AND kind = 'confirm'"
            " AND origin = ? AND target IN (SELECT value FROM json_each(?))",
            (write.at, Verbatim(origin), Json(list(facts))),
        )

    def close_proposal(self, write: Transaction, number: int) -> bool:
        """Close a waiting proposal whose origin says something else now, as part of a transaction; return whether it
        waited. Nobody rejected it: the same may be asked again."""
        closed = write.execute(
            "UPDATE proposals SET state = 'rejected', decided_at = ?, asked = '' WHERE id = ? AND state = 'waiting'"
            " RETURNING id",
            (write.at, number),
        )
        return closed.get is not None

    # reading

    def ids(self, *, state: str = "waiting", origin: str | None = None, limit: int = -1) -> list[int]:
        """List the ids of the proposals in a state, of one origin if named, newest first."""
        require_one_of("state", state, PROPOSAL_STATES)
        where = "WHERE state = ?1 AND (?2 IS NULL OR origin = ?2) ORDER BY created_at DESC, id DESC LIMIT ?3"
        return self._ids(where, state, origin, limit)

    def waiting(self, *, origin: str | None = None, limit: int = -1) -> list[Proposal]:
        """List the waiting proposals, newest first; `store.inbox.duplicates.alike` finds the facts similar to each."""
        return self.get_many(self.ids(origin=origin, limit=limit))

    def count_waiting(self) -> int:
        """Return how many proposals wait."""
        return self._database.number("SELECT count(*) FROM proposals WHERE state = 'waiting'")

    def origins(self) -> list[tuple[str, int]]:
        """List the origins of waiting proposals, and how many of each; most first."""
        return self._database.rows(
            "SELECT origin, count(*) FROM proposals WHERE state = 'waiting' GROUP BY origin ORDER BY 2 DESC, 1"
        )

    def doubts(self, proposal: Proposal) -> list[Doubt]:
        """Return what changed in the basis of a proposal: quotes that are no longer found, facts that changed."""
        return [*self._evidence_doubts(proposal), *self._fact_doubts(proposal)]

    def _evidence_doubts(self, proposal: Proposal) -> list[Doubt]:
        """Return what changed in a proposal's evidence. The facts that it is about are left out, since
        `_fact_doubts` covers them, and so are places outside of this memory, which an import names and nobody
        reads again."""
        about = {cite("fact", number) for number in proposal_fact_ids(proposal)}
        rest = [one for one in proposal.evidence if one.citation not in about]
        if proposal.origin.startswith(IMPORT_PREFIX):
            rest = [one for one in rest if not _is_outside(one.citation)]
        return list(find_doubts(self._database, self._documents, rest))

    def _fact_doubts(self, proposal: Proposal) -> list[Doubt]:
        """Return what changed in the facts that a proposal is about. Their texts are kept, except for what a purge
        cuts."""
        about = proposal_fact_ids(proposal)
        rows = self._database.rows(
            "SELECT id, fact, status, (SELECT max(id) FROM facts AS newer WHERE newer.supersedes = facts.id)"
            " FROM facts WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(about),),
        )
        found = {row[0]: row[1:] for row in rows}
        parts = []
        for number in about:
            cited = cite("fact", number)
            if number not in found:
                parts.append(Doubt(f"{cited}, which it is about, is not there any more.", "", ""))
                continue
            text, status, newer = found[number]
            if status != "active":
                now = self._database.value("SELECT fact FROM facts WHERE id = ?", (newer,)) if newer else ""
                place = f" by {cite('fact', newer)}" if newer else ""
                parts.append(Doubt(f"{cited}, which it is about, is {status}{place} since.", text, now or ""))
            elif PURGED_MARK in text and PURGED_MARK not in proposal.text:
                parts.append(Doubt(f"Words of {cited}, which it is about, were purged since.", "", text))
        return parts

    # deciding, by a person

    def accept(
        self, number: int, edited: str | None = None, *, anyway: bool = False, actor: str = PERSON_ORIGIN
    ) -> int | None:
        """Accept a proposal, in a person's own words if given; return the id of the resulting fact, or of the one it
        was about. Raise NotFound, Conflict, InvalidInput, Purged, and, unless `anyway`, Doubtful when its evidence or
        the fact it is about has changed."""
        return self._decide_one(InboxChoice(number, "accept", edited), anyway, actor)

    def merge(
        self,
        number: int,
        fact: int,
        edited: str | None = None,
        *,
        anyway: bool = False,
        actor: str = PERSON_ORIGIN,
    ) -> int | None:
        """Merge a proposal into the fact that says the same: the fact is confirmed, and gets its evidence and tags too.
        With `edited`, words for both, a new fact replaces it. Raise as `accept` does."""
        return self._decide_one(InboxChoice(number, "merge", edited, fact), anyway, actor)

    def join_facts(
        self,
        fact: int,
        others: Sequence[int],
        text: str = "",
        *,
        again: bool = False,
        actor: str = PERSON_ORIGIN,
    ) -> int:
        """Merge facts that say the same: the first is kept, with the evidence and tags of all; or with other words,
        `text`, a new one replaces them. Return its id. Raise NotFound, Conflict, InvalidInput or Purged."""
        rest = [number for number in dict.fromkeys(others) if number != fact]
        if not rest:
            raise InvalidInput("Merging takes two facts.", "Name another: merge 12 13.")
        with self._database.write(actor, f"merge {' '.join(cite_all('fact', (fact, *rest)[:10]))}") as write:
            joined = text or read_active_fact(write, fact)[0]
            both = Proposal(
                id=0, kind="merge", text=joined, change={}, target=fact,
                others=tuple(cite_all("fact", rest)), based_on="", evidence=(), reason="", origin=actor,
                state="waiting", created_at=write.at, decided_at=None, made=None,
            )  # fmt: skip
            made = ProposalAcceptance(write, both, None, again).accept()
            assert made is not None
            return made

    def reject(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Reject proposals, all or none; the same is not proposed again. Raise NotFound or Conflict."""
        decided = self.decide([InboxChoice(number, "reject") for number in numbers], actor=actor, whole=True)
        assert not decided.left

    def _decide_one(self, choice: InboxChoice, anyway: bool, actor: str) -> int | None:
        """Carry out one decision; return the resulting fact, if there is one."""
        return self.decide([choice], anyway=anyway, actor=actor, whole=True).made[choice.number]

    def decide(
        self,
        choices: Sequence[InboxChoice],
        *,
        anyway: bool = False,
        actor: str = PERSON_ORIGIN,
        whole: bool = False,
    ) -> InboxDecision:
        """Carry out a person's decisions on proposals, as one step of history. What cannot be done is left waiting and
        reported; with `whole` its error is raised, and nothing is done."""
        choices = list({choice.number: choice for choice in choices}.values())
        if not choices:
            raise InvalidInput("No proposal was named.", "Name them by their numbers: confirm P#8 P#9.")
        asked = {one.id: one for one in self.get_many([choice.number for choice in choices])}
        # reads files, so it is done before anything is locked
        found = {number: self._evidence_doubts(one) if not anyway else [] for number, one in asked.items()}
        made: dict[int, int | None] = {}
        rejected: list[int] = []
        left: dict[int, MemorandaError] = {}
        decisions: dict[int, int] = {}
        with self._database.write(actor, "decide") as write:
            for choice in choices:
                proposal = asked.get(choice.number)
                try:
                    if proposal is None:
                        raise self.missing(choice.number)
                    if (state := self.read_column(write, proposal.id, "state")) != "waiting":
                        raise Conflict(f"{proposal.citation} was {state} already.", "Undo lets it wait again.")
                    if choice.verb == "reject":
                        undo_file_change(write, proposal)
                        _settle_proposal(write, proposal.id, "rejected", None)
                        rejected.append(proposal.id)
                        continue
                    if not anyway and (wrong := [*found[proposal.id], *self._fact_doubts(proposal)]):
                        raise DoubtfulProposal(proposal, wrong)
                    accepting = ProposalAcceptance(write, proposal, choice.edited, anyway)
                    fact = _carry_out_choice(accepting, choice)
                except MemorandaError as error:
                    if whole:
                        raise
                    left[choice.number] = error
                    continue
                _settle_proposal(write, proposal.id, "accepted", fact)
                made[proposal.id] = fact
                if accepting.decision is not None:
                    decisions[proposal.id] = accepting.decision
            done = InboxDecision(made, tuple(rejected), left, decisions)
            write.reason = _decision_reason(choices, done)
        return done


def _carry_out_choice(accepting: ProposalAcceptance, choice: InboxChoice) -> int | None:
    """Carry out a person's choice that is no rejection; return the resulting fact, if there is one."""
    if choice.verb == "accept":
        return accepting.accept()
    if choice.fact is None or choice.verb not in INBOX_VERBS:
        raise InvalidInput(f"To {choice.verb} takes a fact.", "Name it: merge P#8 12.")
    return accepting.merge(choice.fact) if choice.verb == "merge" else accepting.supersede(choice.fact)


def _settle_proposal(write: Transaction, number: int, state: str, fact: int | None) -> None:
    """Record that a proposal was decided, and the fact that it made."""
    write.execute(
        "UPDATE proposals SET state = ?, decided_at = ?, made = ? WHERE id = ?",
        (Verbatim(state), write.at, fact, number),
    )


def proposing_reason(numbers: Sequence[int]) -> str:
    """Return the reason of a step of history that made these proposals."""
    return f"propose {list_cited(cite_all('proposal', numbers))}".strip()


def _decision_reason(choices: Sequence[InboxChoice], done: InboxDecision) -> str:
    """Return the reason of the step of history that decided proposals, by verb, with the resulting records."""
    words: dict[str, list[str]] = {}
    for choice in choices:
        if choice.number in done.made:
            cited = f"{cite('proposal', choice.number)} {done.resulting_citation(choice.number)}".rstrip()
            words.setdefault(choice.verb, []).append(cited)
    if done.rejected:
        words["reject"] = cite_all("proposal", done.rejected)
    return ", ".join(f"{verb} {list_cited(cited)}" for verb, cited in words.items()) or "decide"


def _is_outside(citation: str) -> bool:
    """Tell whether a citation names a document outside of the memory's project."""
    found = parse_citation(citation)
    return found.kind == "document" and os.path.isabs(str(found.target))
