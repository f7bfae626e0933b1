"""Mutes: records that a person excludes from contexts. They are still searched, listed, cited, and ageing.

Mutes of facts are recorded: undone, exported, in every context. Those of the other kinds that agents are sent by
themselves are of this machine, and taken back as they were made.
"""

import json
from collections.abc import Collection, Iterable, Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import PERSON_ORIGIN, pack_key, unpack_key
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.records.table import cite_all, step_reason

# kinds that can be muted → their tables
MUTE_TABLES = {"fact": "facts", "decision": "decisions", "task": "tasks", "summary": "summaries"}
MUTE_KINDS = tuple(MUTE_TABLES)


class Mutes:
    """The muted records of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mute(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Exclude facts from every context. All of them or none; those muted already are unchanged. Raise NotFound,
        InvalidInput, and Conflict when all of them are, or one is forgotten."""
        with self._database.write(actor, step_reason("mute", cite_all("fact", numbers))) as write:
            for number in numbers:
                status = write.first("SELECT status FROM facts WHERE id = ?", (number,))
                if status is None:
                    raise NotFound(f"There is no fact {cite('fact', number)}.", "List them with `memoranda list`.")
                if status == "forgotten":
                    raise Conflict(f"{cite('fact', number)} is forgotten already.", "It is in no context either.")
            known = self.filter_muted_facts(numbers)
            if known.issuperset(numbers):
                raise Conflict("Muted already.", "`memoranda mute --off` sends them to agents again.")
            for number in dict.fromkeys(numbers):
                if number not in known:
                    write.insert("mutes", fact_id=number, at=write.at, origin=actor)

    def unmute(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Allow facts in contexts again. Raise InvalidInput, and Conflict when none of them is muted."""
        with self._database.write(actor, step_reason("unmute", cite_all("fact", numbers))) as write:
            known = self.filter_muted_facts(numbers)
            if not known:
                raise Conflict("Not muted.", "`memoranda context` says what keeps a fact out.")
            for number in known:
                write.execute("DELETE FROM mutes WHERE fact_id = ?", (number,))

    def filter_muted_facts(self, numbers: Sequence[int]) -> frozenset[int]:
        """Return which of these facts are muted."""
        rows = self._database.column(
            "SELECT fact_id FROM mutes WHERE fact_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        return frozenset(rows)

    def mute_keys(self, keys: Collection[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Exclude records of MUTE_KINDS, given by their keys, from agents' contexts. Those muted already are unchanged,
        and so are facts that are forgotten. Raise InvalidInput for another kind, NotFound, and Conflict when all of
        them are muted."""
        facts, others = _split_keys(keys)
        known = self.filter_muted_keys(keys)
        if known.issuperset(keys):
            raise Conflict("Muted already.", "`memoranda mute --off` sends them to agents again.")
        with self._database.write(actor, "mute") as write:
            there = write.column(
                "SELECT id FROM facts WHERE status <> 'forgotten' AND id IN (SELECT value FROM json_each(?))",
                (Verbatim(json.dumps(facts)),),
            )
            fresh = [number for number in there if pack_key("fact", number) not in known]
            for number in fresh:
                write.insert("mutes", fact_id=number, at=write.at, origin=actor)
            for key in others:
                kind, number = unpack_key(key)
                if not write.first(f"SELECT 1 FROM {MUTE_TABLES[kind]} WHERE id = ?", (number,)):
                    raise NotFound(f"There is no {kind} {cite(kind, number)}.", "Find it with `memoranda search`.")
                write.execute("INSERT OR IGNORE INTO muted(key, at) VALUES (?, ?)", (key, write.at))
            if fresh:
                write.reason = step_reason("mute", cite_all("fact", fresh))

    def unmute_keys(self, keys: Collection[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Allow records in agents' contexts again. Raise InvalidInput, and Conflict when none of them is muted."""
        facts, others = _split_keys(keys)
        known = self.filter_muted_keys(keys)
        if not known:
            raise Conflict("Not muted.", "`memoranda context` says what keeps a fact out.")
        with self._database.write(actor, "unmute") as write:
            muted = [number for number in facts if pack_key("fact", number) in known]
            for number in muted:
                write.execute("DELETE FROM mutes WHERE fact_id = ?", (number,))
            for key in others:
                write.execute("DELETE FROM muted WHERE key = ?", (key,))
            if muted:
                write.reason = step_reason("unmute", cite_all("fact", muted))

    def filter_muted_keys(self, keys: Collection[int]) -> frozenset[int]:
        """Return which of these keys belong to a muted record."""
        rows = self._database.column(
            "SELECT key FROM muted WHERE key IN (SELECT value FROM json_each(?1)) UNION ALL"
            " SELECT fact_id * 16 FROM mutes WHERE fact_id * 16 IN (SELECT value FROM json_each(?1))",
            (json.dumps(list(keys)),),
        )
        return frozenset(rows)


def _split_keys(keys: Collection[int]) -> tuple[list[int], list[int]]:
    """Split record keys into the numbers of facts and the keys of all other records. Raise InvalidInput."""
    facts: list[int] = []
    others: list[int] = []
    for key in dict.fromkeys(keys):
        kind, number = unpack_key(key)
        if kind not in MUTE_KINDS:
            raise InvalidInput(f"A {kind} cannot be muted.", "Facts, decisions, tasks and summaries can be.")
        if kind == "fact":
            facts.append(number)
        else:
            others.append(key)
    if not facts and not others:
        step_reason("mute", ())
    return facts, others


def pass_on_mute(write: Transaction, old: Iterable[int], new: int) -> None:
    """Mute a fact that replaces others if one of them is muted, as part of the same transaction."""
    write.execute(
        "INSERT INTO mutes(fact_id, at, origin) SELECT ?1, ?2, ?3"
        " WHERE EXISTS (SELECT 1 FROM mutes WHERE fact_id IN (SELECT value FROM json_each(?4)))"
        " AND NOT EXISTS (SELECT 1 FROM mutes WHERE fact_id = ?1)",
        (new, write.at, write.actor, Verbatim(json.dumps(list(old)))),
    )
