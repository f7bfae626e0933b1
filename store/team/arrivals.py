"""What teammates shared becomes proposals in the inbox; what a person decided about them becomes known to the team.

Nothing that arrives changes the memory by itself, but a purge by a record's author, and additions by writers whom a
person believes. These are never pinned, and what reads like instructions to an agent is always asked about.
"""

from dataclasses import dataclass, field
from typing import Any

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.location import is_personal_memory
from store.base.vocabulary import DOMAINS
from store.database.values import clean_text
from store.inbox.inbox import proposing_reason
from store.inbox.proposals import ProposalQuestion
from store.memory import Memory
from store.team.collect import (
    NEVER_SHARED,
    PROPOSED_SQL,
    TEAM_ORIGIN,
    LocalRecord,
    ShareChoice,
    accepted_records,
    local_record,
)
from store.team.merge import read_former_writers
from store.team.stream import (
    LIST_FIELDS,
    SHARED_FIELDS,
    SHARED_GLOBAL_SCOPE,
    SharedRecord,
    identity_kind,
    identity_writer,
)
from store.team.team_file import HeldRecord, RecordOffer, StreamState, TeamFile
from store.text.fence import is_suspicious

WORD_FIELDS = (
    "fact",
    "title",
    "chosen",
)  # fields that a person can edit while they accept, which is a change of theirs
# proposals of one transaction
PROPOSALS_AT_ONCE = 500


@dataclass(slots=True)
class ArrivalResult:
    """What came of the records that changed: proposals of additions (`new`) and of changes (`changed`) by writer,
    `believed` ones, what was `purged` here as (kind, number), of how many shared records (`erased`), and `notes` for a
    person to read."""

    new: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    believed: int = 0
    purged: list[tuple[str, int]] = field(default_factory=list)
    erased: int = 0
    notes: list[str] = field(default_factory=list)


def settle_offers(memory: Memory, team: TeamFile) -> set[str]:
    """Note what a person decided about what was put into the inbox: an accepted record is held from then on. Return the
    records about which they did."""
    decided: set[str] = set()
    offers = team.list_offers()
    if not offers:
        return decided
    proposals = {one.id: one for one in memory.inbox.get_many([offer.proposal for offer in offers.values()])}
    for offer in offers.values():
        proposal = proposals.get(offer.proposal)
        if proposal is not None and proposal.state == "waiting":
            continue
        held = team.get_held(offer.id)
        if proposal is not None and proposal.state == "accepted" and held is None:
            number = proposal.made
            if number is None and "decision" in proposal.change:
                number = memory.database.value(
                    "SELECT max(id) FROM decisions WHERE title = ? AND chosen = ?",
                    (clean_text(str(offer.fields["title"])), clean_text(str(offer.fields["chosen"]))),
                )
            if number is not None:
                held = HeldRecord(offer.id, number, offer.fields, offer.base, memory.now)
                held.fields.update(_accepted_fields(memory, held))
                team.put_held(held)
        elif proposal is not None and held is not None:
            if proposal.state == "accepted":
                held.fields.update({**offer.fields, **_accepted_fields(memory, held)})
            held.base.update(offer.base)
            team.put_held(held)
        team.drop_offer(offer.id)
        decided.add(offer.id)
    return decided


def hold_former_records(memory: Memory, team: TeamFile, writer: str, sent: str) -> None:
    """Hold the records that `writer`, who one was before, shared and that are here in the same words, or were before
    another changed them: they are not shared again. What the other half of that stream has under the same number in
    other words is another record. One that was `sent` from here, up to that number, and purged by either half since,
    is held until it is erased."""
    for id, held in team.held_records().items():
        if identity_writer(id) != writer:
            continue
        gone = (
            local_record(memory, identity_kind(id), held.number) is None
        )  # perhaps purged since, which is to be said
        words = {name: held.fields[name] for name in WORD_FIELDS if name in held.fields}
        here = _has_words(memory, identity_kind(id), held.number, words)
        if not (_was_sent(held, int(sent)) and (gone or (team.get_record(id).purged and here))):
            team.drop_held(id)
    for record in team.all_records():
        if record.author == writer and record.status in ("active", "forgotten"):
            found = local_record(memory, record.kind, _author_number(record))
            if found is not None and found.status == "active" and _is_same_record(memory, record, found):
                known = [
                    name
                    for name in record.values
                    if record.field_writer(name) == writer or name not in found.fields
                ]
                base = {name: record.current_operations(name) for name in known}
                said = {name: record.shown_value(name) for name in known if name in found.fields}
                team.put_held(HeldRecord(record.id, found.number, found.fields | said, base, found.confirmed))


def hold_copied_records(memory: Memory, team: TeamFile) -> None:
    """Hold the records that are here because this memory was copied, alone, from where they were shared: of an author
    of whom one is here in the same words, those with the number and the moment that they gave them, and what is older.
    They are not shared again."""
    there = _creation_times(memory)
    newest = _newest_recognized(memory, team, there)
    for record in team.all_records() if newest else ():
        number, most = _author_number(record), newest.get((record.author, record.kind), 0)
        same = most and record.shown_value("created") == there.get((record.kind, number), "")
        older = record.purged and number <= most
        found = local_record(memory, record.kind, number) if same or older else None
        if found is not None and found.status == "active":
            known = [name for name, value in found.fields.items() if record.shown_value(name) == (value or None)]
            base = {name: record.current_operations(name) for name in known}
            team.put_held(HeldRecord(record.id, found.number, found.fields, base, found.confirmed))


def came_from_writer(memory: Memory, team: TeamFile, writer: str) -> bool:
    """Tell whether a record of this memory is what a writer shared under its number."""
    return any(author == writer for author, _ in _newest_recognized(memory, team, _creation_times(memory)))


def _newest_recognized(
    memory: Memory, team: TeamFile, there: dict[tuple[str, int], str]
) -> dict[tuple[str, str], int]:
    """Return the highest number, by author and kind, of those that are here with their number, moment and words."""
    newest: dict[tuple[str, str], int] = {}
    for record in team.all_records():
        number, place = _author_number(record), (record.author, record.kind)
        if record.shown_value("created") == there.get((record.kind, number), "") and number > newest.get(place, 0):
            words = {name: record.shown_value(name) for name in WORD_FIELDS if name in record.values}
            newest |= {place: number} if _has_words(memory, record.kind, number, words) else {}
    return newest


def _creation_times(memory: Memory) -> dict[tuple[str, int], str]:
    """Return when each fact and decision was made that came from no team, by (kind, number)."""
    ours = f"origin NOT LIKE '{TEAM_ORIGIN}%'"
    facts = memory.database.rows(f"SELECT id, created_at FROM facts WHERE {ours}")
    decisions = memory.database.rows(f"SELECT id, decided_at FROM decisions WHERE {ours}")
    return {("fact", id): at for id, at in facts} | {("decision", id): at for id, at in decisions}


def _author_number(record: SharedRecord) -> int:
    """Return the number that a record has at its author."""
    return int(record.id[1:].partition("@")[0])


def _was_sent(held: HeldRecord, newest: int) -> bool:
    """Tell whether an operation of one's own, not newer than this number, set what is held of a record."""
    own = f"@{identity_writer(held.id)}"
    known = (one for several in held.base.values() for one in several if one.endswith(own))
    return any(int(one.removesuffix(own)) <= newest for one in known)


def _has_words(memory: Memory, kind: str, number: int, words: dict[str, Any]) -> bool:
    """Tell whether the fact or decision with this number is here in these words."""
    kept: Any = memory.facts if kind == "fact" else memory.decisions
    return any(
        all(getattr(one, name) == value for name, value in words.items()) for one in kept.get_many([number])
    )


def _is_same_record(memory: Memory, record: SharedRecord, found: LocalRecord) -> bool:
    """Tell whether a record of the memory is the shared one: in the same words, now or before a correction that
    was not sent, or of the same moment where another person changed the words since."""
    words = [name for name in WORD_FIELDS if name in found.fields]
    shared = {name: record.shown_value(name) for name in words}
    if shared == {name: found.fields[name] for name in words} or _has_words(
        memory, record.kind, _author_number(record), shared
    ):
        return True
    changed = any(record.field_writer(name) != record.author for name in words)
    return changed and record.shown_value("created") == found.fields["created"]


def _accepted_fields(memory: Memory, held: HeldRecord) -> dict[str, Any]:
    """Return the fields, but for the words themselves, that an accepted record has here: where they are others than its
    author's, as its confidence is, nobody changed them."""
    found = local_record(memory, identity_kind(held.id), held.number)
    return (
        {name: value for name, value in found.fields.items() if name not in WORD_FIELDS}
        if found is not None
        else {}
    )


def _words_field(record: SharedRecord) -> str:
    """Return the field with a record's own words."""
    return SHARED_FIELDS[record.kind][0]


def _purging_writer(record: SharedRecord, held: HeldRecord, values: dict[str, object]) -> str:
    """Return the writer who purged the change that is held of these fields; empty if nobody did."""
    there = {
        one
        for name in values
        for several in (record.current_operations(name), record.replaced.get(name, ()))
        for one in several
    }
    gone = {identity_writer(one) for name in values for one in held.base.get(name, ()) if one not in there}
    return min(gone & record.questions["purge"].keys(), default="")


class Arrivals:
    """The records of a team that changed, brought to the person of one memory. `writer` is their own."""

    def __init__(self, memory: Memory, team: TeamFile, writer: str) -> None:
        self._memory = memory
        self._team = team
        self._writer = writer
        self._streams = team.stream_states()
        self._former = {one.writer for one in read_former_writers(team).values() if one.is_owned}
        self._found = ArrivalResult()
        self._offers: dict[str, RecordOffer] = {}
        # by the person, while this compared: looked at again at the next exchange
        self._decided: set[str] = set()
        self._asked: list[
            tuple[str, RecordOffer, ProposalQuestion, bool]
        ] = []  # of a writer; whether they are believed

    def bring_arrivals(self) -> ArrivalResult:
        """Compare every record that changed with the memory, and propose what differs."""
        moved = self._team.moved_records()
        self._offers = self._team.list_offers()
        for id in moved:
            record = self._team.get_record(id)
            self._bring_record(record, self._team.get_held(id), self._offers.get(id))
        taken = sum(believed for *_, believed in self._asked)
        self._memory.checkpoints.take_before("sync with the team", taken, actor=f"{TEAM_ORIGIN}{self._writer}")
        for first in range(0, len(self._asked), PROPOSALS_AT_ONCE):
            self._write_proposals(self._asked[first : first + PROPOSALS_AT_ONCE])
        self._team.mark_compared([id for id in moved if id not in self._decided])
        return self._found

    def _bring_record(self, record: SharedRecord, held: HeldRecord | None, offer: RecordOffer | None) -> None:
        """Compare one record with the memory, and note what to propose."""
        own = record.author == self._writer
        if held is None and self._writer in record.endorsed and not own:
            held = self._hold_again(record)
        if not record.purged and record.questions["purge"] and self._note_unsaid(record, offer):
            offer = None
        if record.purged:
            self._note_purged(record, held, offer, own)
        elif record.status == "unknown":
            return
        elif held is None:
            if record.status == "active" and not own:
                self._prepare_proposal(record, "add", None, record.field_writer(_words_field(record)))
            elif offer is not None:
                self._withdraw_offer(offer, f"{self._display_name(record.author)} took {record.id} back")
        elif held.status == "active":
            if (known := record.confirmations()) != held.base.get("", ()):
                # from now on this person knows who confirmed it
                held.base[""] = known
                self._team.put_held(held)
            if not self._propose_changes(record, held, own) and offer is not None:
                self._withdraw_offer(offer, f"What was asked about {record.id} is settled")
        elif own and (others := record.unseen_confirmers()):
            names = ", ".join(self._display_name(one) for one in others)
            self._found.notes.append(f"{record.id}, which you forgot, was confirmed by {names}.")

    def _hold_again(self, record: SharedRecord) -> HeldRecord | None:
        """Hold a record again that was accepted, undone and accepted again; return None for any other record."""
        number = next(iter(accepted_records(self._memory, record.id)), None)
        found = local_record(self._memory, record.kind, number) if number is not None else None
        if found is None or found.status != "active":
            return None
        held = HeldRecord(record.id, found.number, found.fields, {}, self._memory.now)
        self._team.put_held(held)
        return held

    def _propose_changes(self, record: SharedRecord, held: HeldRecord, own: bool) -> bool:
        """Propose what others made of a record that is held; return whether they made anything."""
        # by field, the operation of the first value that is not known here
        theirs = {
            name: new[0]
            for name in SHARED_FIELDS[record.kind][: None if record.kind == "decision" else 1]
            if name != "created" and (new := self._unseen_operations(record, held, name))
        }
        if record.status == "forgotten" and not own:
            return self._propose_forgetting(record, held, record.author)
        if theirs:
            values = {name: record.values[name][one] for name, one in theirs.items()}
            kind = "correct" if record.kind == "fact" else "decide"
            self._prepare_proposal(record, kind, held, identity_writer(next(iter(theirs.values()))), values)
            return True
        asked = {*record.questions["purge"], *record.questions["forget"]} - {self._writer, *self._former}
        if asked and (own or record.author in self._former):
            return self._propose_forgetting(record, held, min(asked))
        return False

    def _unseen_operations(self, record: SharedRecord, held: HeldRecord, name: str) -> list[str]:
        """Return the operations that set a field to something else than is held, and were not asked about yet."""
        known, here = held.base.get(name, ()), held.fields.get(name, [] if name in LIST_FIELDS else "")
        return [
            one for one in record.current_operations(name) if one not in known and record.values[name][one] != here
        ]

    def _propose_forgetting(self, record: SharedRecord, held: HeldRecord, writer: str) -> bool:
        """Propose what somebody else wants forgotten, or say it of a decision; return whether it is proposed."""
        if record.kind == "fact":
            self._prepare_proposal(record, "forget", held, writer)
            return True
        found = local_record(self._memory, record.kind, held.number)
        if found is not None and found.status == "active":
            here = cite("decision", found.number)
            self._found.notes.append(
                f"{self._display_name(writer)} wants {record.id} forgotten; {here} holds here: memoranda forget {here}."
            )
        return False

    def _prepare_proposal(
        self,
        record: SharedRecord,
        kind: str,
        held: HeldRecord | None,
        writer: str,
        values: dict[str, object] | None = None,
    ) -> None:
        """Note a proposal to `add` a record, to `correct` or `forget` the fact or to `decide` anew the decision that is
        held of it, with these `values` of somebody else."""
        fields = {**record.shown_fields(), **(values or {})}
        base = {name: record.current_operations(name) for name in record.values}
        change: dict[str, object]
        evidence: tuple[dict[str, str], ...] = ()
        if kind in ("add", "decide"):
            domain = str(fields.get("domain", "general"))
            change = {
                "fact": str(fields[_words_field(record)]),
                "domain": domain if domain in DOMAINS and domain not in NEVER_SHARED else "general",
                "confidence": "medium",
                "tags": fields.get("tags", []),
                "created": min(str(fields.get("created", "")) or self._memory.now, self._memory.now),
            }
            if fields.get("scope") and is_personal_memory(self._memory.database.path):
                change["scope"] = SHARED_GLOBAL_SCOPE
            if record.kind == "decision":
                rest = ("chosen", "alternatives", "rationale", "context", "impact")
                change["decision"] = {name: fields[name] for name in rest if fields.get(name)}
                change = {name: change[name] for name in ("fact", "created", "decision")}
            reason = f"{self._display_name(record.author)} shared {record.id}."
            if held is None and writer != record.author:
                reason += f" {self._display_name(writer)} changed it since."
        elif kind == "correct":
            change = {"fact": str(fields["fact"])}
        else:
            change = {}
            reason = f"{self._display_name(writer)} wants {record.id} forgotten."
            own = record.author in (self._writer, *self._former)
            if held is not None and own and writer not in record.questions["forget"]:
                here = cite(record.kind, held.number)
                reason = f"{self._display_name(writer)} purged {record.id}, and asks you to: purge {here}."
        if values:
            reason = f"{self._display_name(writer)} changed {record.id}."
            if held is not None and (who := _purging_writer(record, held, values)):
                reason = (
                    f"{self._display_name(who)} purged their change of "
                    f"{record.id}, which holds here: so it was before."
                )
            if record.conflicts().keys() & values.keys():
                reason += " You changed it too: what you choose here holds for both."
        if kind == "decide" and held is not None:
            found = local_record(self._memory, record.kind, held.number)
            if found is None or found.status != "active":
                return
            evidence = ({"citation": cite("decision", found.number), "quote": str(found.fields["title"])},)
            kind = "add"
        words = " ".join(str(one) for one in change.values())
        if is_suspicious(words):
            reason += " It reads like instructions to an agent."
        target = held.number if held and not evidence else None
        question = ProposalQuestion(
            kind, change, target, evidence, f"{TEAM_ORIGIN}{self._display_name(writer)}", reason
        )
        said_by = {record.field_writer(name) for name in fields}
        believed = held is None and not is_suspicious(words)
        believed = believed and all(self._believes(one, record.kind, change) for one in said_by)
        self._asked.append((writer, RecordOffer(record.id, 0, fields, base), question, believed))

    def _write_proposals(self, several: list[tuple[str, RecordOffer, ProposalQuestion, bool]]) -> None:
        """Put proposals into the inbox in one transaction."""
        inbox = self._memory.inbox
        with self._memory.database.write(f"{TEAM_ORIGIN}{self._writer}", "propose") as write:
            new = []
            for writer, offer, question, believed in several:
                older = self._offers.get(offer.id)
                if older is not None and [one.state for one in inbox.get_many([older.proposal])] != ["waiting"]:
                    self._decided.add(offer.id)
                    continue
                # which says what the record said before
                if older is not None and older.fields != offer.fields:
                    inbox.close_proposal(write, older.proposal)
                try:
                    number, fresh = inbox.propose_arrival(write, question, believed)
                except MemorandaError as error:  # purged here, or the fact changed meanwhile
                    self._found.notes.append(f"{offer.id} was left out: {error.message}")
                    continue
                # the same about another state of what is here
                if older is not None and older.proposal != number:
                    inbox.close_proposal(write, older.proposal)
                self._team.put_offer(RecordOffer(offer.id, number, offer.fields, offer.base))
                if fresh:
                    new.append(number)
                    if believed:
                        self._found.believed += 1
                        continue
                    added = question.kind == "add" and not question.evidence
                    counts = self._found.new if added else self._found.changed
                    counts[writer] = counts.get(writer, 0) + 1
            write.reason = proposing_reason(new)
            if not new:
                write.discard()

    def _note_purged(
        self, record: SharedRecord, held: HeldRecord | None, offer: RecordOffer | None, own: bool
    ) -> None:
        """Note everything here that is, or was, a text of a record that its author purged."""
        known = len(self._found.purged)
        if offer is not None:
            self._team.drop_offer(offer.id)
        asked = self._memory.database.rows(
            f"SELECT id, made FROM {PROPOSED_SQL}", (record.id,)
        )  # whatever was answered
        self._found.purged += [("proposal", number) for number, _ in asked]
        made = {fact for _, fact in asked if fact is not None}
        if record.author in read_former_writers(self._team):
            made.add(_author_number(record))
        # accepted again since it was undone
        number = held.number if held is not None else max(made, default=None)
        if (
            number is not None
            and not own
            and (found := local_record(self._memory, record.kind, number)) is not None
        ):
            self._found.purged.append((record.kind, found.number))
            if record.kind == "fact":
                self._found.purged += self._earlier_facts(found.number, made)
        if held is not None and not own:
            self._team.drop_held(held.id)
        self._found.erased += len(self._found.purged) > known

    def _note_unsaid(self, record: SharedRecord, offer: RecordOffer | None) -> bool:
        """Note what waits here, or was rejected, of changes that a teammate purged since; return whether the `offer`
        is among it. What was accepted is the person's own."""
        gone: set[int] = set()
        for writer in record.questions["purge"].keys() - {self._writer}:
            if not record.was_changed_by(writer):
                sql = f"SELECT id FROM {PROPOSED_SQL} AND instr(origin, ?) AND state <> 'accepted'"
                gone.update(self._memory.database.column(sql, (record.id, writer)))
        self._found.purged += [("proposal", number) for number in sorted(gone)]
        if offer is None or offer.proposal not in gone:
            return False
        self._team.drop_offer(offer.id)
        return True

    def _earlier_facts(self, number: int, made: set[int]) -> list[tuple[str, int]]:
        """Return the facts that this fact superseded, back to the first that was made of a shared record; none if
        there is no such fact."""
        line: list[int] = []
        reached = 0
        while number is not None and number not in line:
            line.append(number)
            if number in made:
                reached = len(line)
            number = self._memory.database.value("SELECT supersedes FROM facts WHERE id = ?", (number,))
        return [("fact", one) for one in line[1:reached]]

    def _withdraw_offer(self, offer: RecordOffer, why: str) -> None:
        """Take a proposal out of the inbox, if it waits there, since nobody says it any more."""
        with self._memory.database.write(f"{TEAM_ORIGIN}{self._writer}", "withdraw") as write:
            if self._memory.inbox.close_proposal(write, offer.proposal):
                self._found.notes.append(f"{why}: {cite('proposal', offer.proposal)} waits no longer.")
            else:
                write.discard()
        self._team.drop_offer(offer.id)

    def _display_name(self, writer: str) -> str:
        """Return the name of a writer as it is shown."""
        return self._streams.get(writer, StreamState(writer)).display_name

    def _believes(self, writer: str, kind: str, change: dict[str, object]) -> bool:
        """Tell whether the person takes this writer's change without a question."""
        believed = ShareChoice.from_text(self._streams.get(writer, StreamState(writer)).believed)
        if kind == "decision":
            return believed.decisions
        return change.get("domain") in believed.domains and (believed.everywhere or "scope" not in change)
