"""What of a memory is shared, and the operations that say how it differs from what was shared last.

Never shared: domains of the person's own, what belongs to one session or to no project, conversations and what was made
of them, what a redaction cut, an agent's decisions that no person confirmed, and other people's records as one's own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.base.citations import cite
from store.base.vocabulary import DOMAINS, PERSON_ORIGIN
from store.database.tombstones import decision_text, find_purge_time
from store.memory import Memory
from store.redaction import REDACTION_MARKER
from store.team.stream import (
    LIST_FIELDS,
    LONGEST_FIELD,
    SHARED_GLOBAL_SCOPE,
    SHARED_KIND_BY_LETTER,
    Operation,
    SharedRecord,
    identity_kind,
    join_value,
)
from store.team.team_file import HeldRecord, TeamFile
from store.text.display import visible

# records that changed, above which all are compared
MOST_CHANGED_RECORDS = 2_000
NEVER_SHARED = ("personal", "self_correction")
SHAREABLE_DOMAINS = tuple(domain for domain in DOMAINS if domain not in NEVER_SHARED)
# followed by the writer: the origin of what a teammate shared
TEAM_ORIGIN = "team:"
# each proposal about a shared record names it in its reason
PROPOSED_SQL = f"proposals WHERE origin LIKE '{TEAM_ORIGIN}%' AND instr(reason, ' ' || ?)"
# records of a preview
PREVIEW_RECORDS = 50
# what of a decision leaves this machine besides its title and what was chosen
SHARED_PARTS = {"instead of": "alternatives", "because": "rationale", "context": "context", "impact": "impact"}
SHARED_LETTER_BY_KIND = {kind: letter for letter, kind in SHARED_KIND_BY_LETTER.items()}
_LOCAL_FACTS = "SELECT id, fact, domain, confidence, tags, created_at, scope, last_confirmed_at, status FROM facts"
_LOCAL_DECISIONS = (
    "SELECT id, title, chosen, context, alternatives, rationale, impact, decided_at,"
    " coalesce(confirmed_at, decided_at), status FROM decisions"
)


@dataclass(frozen=True, slots=True)
class ShareChoice:
    """What a person wants to share: facts of these `domains`, and `decisions`; with `everywhere` facts of scope global
    too, which only a person's own memory has."""

    domains: tuple[str, ...] = ()
    decisions: bool = False
    everywhere: bool = False

    def __bool__(self) -> bool:
        return bool(self.domains or self.decisions)

    def as_text(self) -> str:
        """Return it as it is stored: `work projects decisions`."""
        more = (
            *(("+decisions",) if self.decisions else ()),
            *((f"+{SHARED_GLOBAL_SCOPE}",) if self.everywhere else ()),
        )
        return " ".join((*self.domains, *more))

    @classmethod
    def from_text(cls, text: str) -> ShareChoice:
        """Return the choice that `as_text` wrote."""
        words = text.split()
        domains = tuple(word for word in words if word in SHAREABLE_DOMAINS)
        return cls(domains, "+decisions" in words, f"+{SHARED_GLOBAL_SCOPE}" in words)

    def as_dict(self, new: Sequence[LocalRecord]) -> dict[str, object]:
        """Return the choice, and the records that it would share."""
        return {
            "share": self.as_text().replace("+", "").split(),
            "new": [{"kind": one.kind, "number": one.number, **one.fields} for one in new],
        }


@dataclass(slots=True)
class LocalRecord:
    """A record of the memory as it would be shared."""

    kind: str
    number: int
    fields: dict[str, Any]
    confirmed: str
    status: str
    scope: str = "project"

    def is_chosen(self, choice: ShareChoice) -> bool:
        """Tell whether its words are among what a person wants to share."""
        if self.kind == "decision":
            return choice.decisions
        scopes = ("project", SHARED_GLOBAL_SCOPE) if choice.everywhere else ("project",)
        return self.scope in scopes and self.fields["domain"] in choice.domains

    @property
    def is_clean(self) -> bool:
        """Whether a redaction cut nothing out of it, and no field is too long."""
        return not any(REDACTION_MARKER in text or len(text) > LONGEST_FIELD for text in _field_texts(self.fields))

    def describe(self) -> list[str]:
        """Return a line for each text of it, exactly as it would be shared."""
        here = f"{cite(self.kind, self.number):<6}"
        kind = str(self.fields.get("domain", "decision"))
        if self.kind == "fact":
            tags = "".join(f" #{tag}" for tag in self.fields["tags"])
            kind += f" {self.fields['scope']}" if "scope" in self.fields else ""
            return [f"{here}  {kind:<11}  {visible(self.fields['fact'] + tags)}"]
        lines = [f"{here}  {kind:<11}  {visible(self.fields['title'] + ': ' + self.fields['chosen'])}"]
        for label, name in SHARED_PARTS.items():
            if text := join_value(self.fields[name], "; "):
                lines.append(f"{'':<6}  {label:<11}  {visible(text)}")
        return lines


def preview_sharing(new: Sequence[LocalRecord]) -> list[str]:
    """Return the texts that would be shared."""
    lines = [line for one in new[:PREVIEW_RECORDS] for line in one.describe()]
    if len(new) > PREVIEW_RECORDS:
        lines.append(f"… and {len(new) - PREVIEW_RECORDS:,} more: team share --dry-run --json lists all of them.")
    return lines


def choice_words(choice: str) -> str:
    """Return a stored choice as a person types it."""
    return " ".join(dict.fromkeys(choice.replace("+", "").split()))


def find_touched(memory: Memory, since: str) -> set[tuple[str, int]] | None:
    """Return the facts and decisions, as (kind, number), that steps of history after the one numbered `since` changed;
    None where that is too many, or not known any more."""
    database = memory.database
    if not since or database.value("SELECT 1 FROM history_block WHERE last_seq > ? LIMIT 1", (int(since),)):
        return None
    tables = {"facts": "fact", "decisions": "decision"}
    rows = database.rows(
        "SELECT DISTINCT tbl, pk FROM history_row WHERE seq > ? AND tbl IN ('facts', 'decisions') LIMIT ?",
        (int(since), MOST_CHANGED_RECORDS + 1),
    )
    return (
        None if len(rows) > MOST_CHANGED_RECORDS else {(tables[table], json.loads(key)[0]) for table, key in rows}
    )


def chosen_records(
    memory: Memory, choice: ShareChoice, among: set[tuple[str, int]] | None = None
) -> Iterator[LocalRecord]:
    """Yield the records of a memory that its person chose to share; only those `among`, if they are given."""
    numbers = (
        {kind: json.dumps([number for one, number in among if one == kind]) for kind in SHARED_LETTER_BY_KIND}
        if among
        else {}
    )
    if among is not None and not among:
        return
    only = " AND id IN (SELECT value FROM json_each(?))" if numbers else ""
    if choice.domains:
        domains = [domain for domain in choice.domains if domain in SHAREABLE_DOMAINS]
        marks = ", ".join("?" * len(domains))
        scopes = f"('project', '{SHARED_GLOBAL_SCOPE}')" if choice.everywhere else "('project')"
        where = (
            f"status = 'active' AND scope IN {scopes} AND domain IN ({marks}) AND origin NOT LIKE '{TEAM_ORIGIN}%'"
        )
        values = [*domains, *([numbers["fact"]] if numbers else [])]
        for row in memory.database.rows(f"{_LOCAL_FACTS} WHERE {where}{only} ORDER BY id", values):
            if (found := _local_fact(row)).is_clean:
                yield found
    if choice.decisions:
        said = "status = 'active' AND (origin = ? OR confirmed_at IS NOT NULL)"
        where = f"{said} AND origin NOT LIKE '{TEAM_ORIGIN}%'{only} ORDER BY id"
        values = [PERSON_ORIGIN, *([numbers["decision"]] if numbers else [])]
        for row in memory.database.rows(f"{_LOCAL_DECISIONS} WHERE {where}", values):
            if (found := _local_decision(row)).is_clean:
                yield found


def local_record(memory: Memory, kind: str, number: int) -> LocalRecord | None:
    """Return a record of the memory, or the one that superseded it; None where a purge erased it."""
    table, sql, read = (
        ("facts", _LOCAL_FACTS, _local_fact)
        if kind == "fact"
        else ("decisions", _LOCAL_DECISIONS, _local_decision)
    )
    found = memory.database.row(f"{sql} WHERE id = ?", (number,))
    while found is not None and found[-1] == "superseded":
        newer = memory.database.value(
            f"SELECT max(id) FROM {table} WHERE supersedes = ? AND id > ?", (number, number)
        )
        if newer is None:
            break
        number = newer
        found = memory.database.row(f"{sql} WHERE id = ?", (number,))
    return None if found is None else read(found)


def accepted_records(memory: Memory, id: str) -> list[int]:
    """Return the facts or decisions that were made of a shared record as it was accepted, the newest first."""
    yes = f"{PROPOSED_SQL} AND state = 'accepted'"
    if identity_kind(id) == "fact":
        sql = f"SELECT made FROM {yes} AND made IS NOT NULL ORDER BY made DESC"
    else:  # which the proposal does not name
        chose = f"SELECT text, json_extract(change, '$.decision.chosen') AS chosen FROM {yes}"
        sql = (
            f"SELECT d.id FROM decisions d JOIN ({chose}) p ON d.title = "
            "p.text AND d.chosen = p.chosen ORDER BY 1 DESC"
        )
    return memory.database.column(sql, (id,))


@dataclass(slots=True)
class Collector:
    """The operations of one exchange, numbered on from `seq`."""

    memory: Memory
    team: TeamFile
    writer: str
    seq: int
    now: str
    operations: list[Operation] = field(default_factory=list)

    def collect_operations(
        self, choice: ShareChoice, changed: set[tuple[str, int]] | None = None, moved: Collection[str] = ()
    ) -> list[Operation]:
        """Return what was done since the last exchange, and what is new of what a person chose to share. All is
        compared; or, where they are given, what `changed` in the memory (see `touched`), is gone from it, or `moved`
        in the team."""
        numbers = self.team.held_numbers()
        taken = {(identity_kind(id), number) for id, number in numbers.items()}
        if changed is None:
            several: Iterable[HeldRecord] = self.team.held_records().values()
        else:
            there = {
                kind: set(self.memory.database.keys(f"SELECT id FROM {kind}s")) for kind in SHARED_LETTER_BY_KIND
            }
            ids = [
                id
                for id, number in numbers.items()
                if id in moved
                or (place := (identity_kind(id), number)) in changed
                or number not in there[place[0]]
            ]
            several = [held for id in ids if (held := self.team.get_held(id)) is not None]
        for one in several:
            self._compare_held(one, taken, choice)
        for found in chosen_records(self.memory, choice, changed):
            if (found.kind, found.number) not in taken:
                id = f"{SHARED_LETTER_BY_KIND[found.kind]}{found.number}@{self.writer}"
                self._add_operation(
                    "add", id, {name: value for name, value in found.fields.items() if value not in ("", [])}
                )
        return self.operations

    def _compare_held(self, one: HeldRecord, taken: set[tuple[str, int]], choice: ShareChoice) -> None:
        """Note how a held record changed in the memory."""
        record = self.team.get_record(one.id)
        own = record.author == self.writer
        found = local_record(self.memory, record.kind, one.number)
        # what was made of it here is about to be erased, and goes nowhere
        if record.purged:
            taken.update([(record.kind, found.number)] if found else [])
            return
        if found is None and self._was_purged(record.kind, one):
            # of another's record a question to its author
            self._add_operation("purge", one.id)
            return
        found = found or self._earlier_state(record, own)
        # the person took it back
        if found is None:
            if not own:
                self.team.drop_held(one.id)
            elif one.status == "active":
                self._add_operation("forget", one.id, base={"": one.base.get("", ())})
            return
        if found.number != one.number:
            one.number = found.number
            self.team.put_held(one)
            taken.add((record.kind, found.number))
        if found.status != "active":
            if one.status == "active":
                self._add_operation("forget", one.id, base={"": one.base.get("", ())})
            return
        if not own and self.writer not in record.endorsed:
            self._add_operation("accept", one.id)
        elif one.status != "active":
            self._add_operation("restore" if own else "accept", one.id)
        if not (found.is_clean and found.is_chosen(choice)):
            return
        changed = self._changed_fields(one, found, record)
        if changed:
            base = {name: one.base.get(name, ()) for name in changed}
            self._add_operation(
                "change", one.id, changed, {name: several for name, several in base.items() if several}
            )
        elif found.confirmed > one.confirmed and record.kind == "fact":
            self._add_operation("confirm", one.id, base={"": record.current_operations("fact")})

    def _was_purged(self, kind: str, one: HeldRecord) -> bool:
        """Tell whether a record that is not in the memory any more was purged from it, and not undone."""
        words = one.fields
        text = words["fact"] if kind == "fact" else decision_text(words["title"], words["chosen"])
        return find_purge_time(self.memory.database, str(text)) is not None

    def _earlier_state(self, record: SharedRecord, own: bool) -> LocalRecord | None:
        """Return what a record was before the change of it that was undone; None if it was nothing here."""
        numbers = [int(record.id[1:].partition("@")[0])] if own else accepted_records(self.memory, record.id)
        return next(
            (found for one in numbers if (found := local_record(self.memory, record.kind, one)) is not None),
            None,
        )

    def _changed_fields(self, one: HeldRecord, found: LocalRecord, record: SharedRecord) -> dict[str, Any]:
        """Return the fields that differ from what was known last, and the fields whose conflict a person settled."""
        changed = {}
        conflicts = record.conflicts()
        for name, value in found.fields.items():
            differs = name != "created" and value != one.fields.get(name, [] if name in LIST_FIELDS else "")
            settled = name in conflicts and set(record.current_operations(name)) <= set(one.base.get(name, ()))
            if differs or settled:
                changed[name] = value
        return changed

    def _add_operation(
        self,
        op: str,
        id: str,
        fields: dict[str, Any] | None = None,
        base: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Add an operation with the next number."""
        self.seq += 1
        based = {name: several[-64:] for name, several in (base or {}).items() if several}
        self.operations.append(Operation(self.writer, self.seq, self.now, op, id, fields or {}, based))


def fold_own_operation(team: TeamFile, operation: Operation) -> None:
    """Apply one's own operation to what is held of its record."""
    held = team.get_held(operation.id)
    if operation.op == "add":
        base: dict[str, tuple[str, ...]] = dict.fromkeys(operation.fields, (operation.reference,))
        number = int(operation.id[1:].partition("@")[0])
        team.put_held(HeldRecord(operation.id, number, dict(operation.fields), base, operation.at))
        return
    if held is None:
        return
    if operation.op == "purge":
        team.drop_held(operation.id)
        return
    if operation.op == "change":
        held.fields.update(operation.fields)
        held.base.update(dict.fromkeys(operation.fields, (operation.reference,)))
    elif operation.op == "forget":
        held.status = "forgotten"
    elif operation.op in ("restore", "accept"):
        held.status = "active"
    if operation.op in ("change", "confirm"):
        held.confirmed = operation.at
    team.put_held(held)


def _local_fact(row: Any) -> LocalRecord:
    """Return the record of a row of facts."""
    number, fact, domain, confidence, tags, created, scope, confirmed, status = row
    fields = {
        "fact": fact,
        "domain": domain,
        "confidence": confidence,
        "tags": json.loads(tags),
        "created": created,
    }
    if scope == SHARED_GLOBAL_SCOPE:
        fields["scope"] = scope
    return LocalRecord("fact", number, fields, confirmed, status, scope)


def _local_decision(row: Any) -> LocalRecord:
    """Return the record of a row of decisions."""
    number, title, chose, context, alternatives, rationale, impact, created, confirmed, status = row
    fields = {
        "title": title,
        "chosen": chose,
        "context": context,
        "alternatives": json.loads(alternatives),
        "rationale": rationale,
        "impact": impact,
        "created": created,
    }
    return LocalRecord("decision", number, fields, confirmed, status)


def _field_texts(fields: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of all fields."""
    for value in fields.values():
        yield from value if isinstance(value, list) else (value,)
