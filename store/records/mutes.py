"""Mutes: facts that a person excludes from every context. They are still searched, listed, cited, and ageing."""

import json
from collections.abc import Iterable, Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.values import Verbatim


class Mutes:
    """The muted facts of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mute(self, numbers: Sequence[int], *, actor: str = PERSON) -> None:
        """Exclude facts from every context. All of them or none; those muted already are unchanged. Raise NotFound,
        InvalidInput, and Conflict when all of them are, or one is forgotten."""
        with self._database.write(actor, _reason("mute", numbers)) as write:
            for number in numbers:
                status = write.execute("SELECT status FROM facts WHERE id = ?", (number,)).get
                if status is None:
                    raise NotFound(f"There is no fact {cite('fact', number)}.", "List them with `memoranda facts`.")
                if status == "forgotten":
                    raise Conflict(f"{cite('fact', number)} is forgotten already.", "It is in no context either.")
            known = self.among(numbers)
            if known.issuperset(numbers):
                raise Conflict("Muted already.", "`memoranda unmute` sends them to agents again.")
            for number in dict.fromkeys(numbers):
                if number not in known:
                    write.insert("mutes", fact_id=number, at=Verbatim(write.at), origin=actor)

    def unmute(self, numbers: Sequence[int], *, actor: str = PERSON) -> None:
        """Allow facts in contexts again. Raise InvalidInput, and Conflict when none of them is muted."""
        with self._database.write(actor, _reason("unmute", numbers)) as write:
            known = self.among(numbers)
            if not known:
                raise Conflict("Not muted.", "`memoranda context` says what keeps a fact out.")
            for number in known:
                write.execute("DELETE FROM mutes WHERE fact_id = ?", (number,))

    def among(self, numbers: Sequence[int]) -> frozenset[int]:
        """Return those of these facts that are muted."""
        rows = self._database.rows(
            "SELECT fact_id FROM mutes WHERE fact_id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
        )
        return frozenset(number for (number,) in rows)


def hand_on(write: Transaction, old: Iterable[int], new: int) -> None:
    """Mute a fact that replaces others if one of them is muted, as part of the same transaction."""
    write.execute(
        "INSERT INTO mutes(fact_id, at, origin) SELECT ?1, ?2, ?3"
        " WHERE EXISTS (SELECT 1 FROM mutes WHERE fact_id IN (SELECT value FROM json_each(?4)))"
        " AND NOT EXISTS (SELECT 1 FROM mutes WHERE fact_id = ?1)",
        (new, Verbatim(write.at), write.actor, Verbatim(json.dumps(list(old)))),
    )


def _reason(verb: str, numbers: Sequence[int]) -> str:
    if not numbers:
        raise InvalidInput(f"Nothing to {verb} was named.", f"Name facts by their numbers: {verb} 12 13.")
    more = f" +{len(numbers) - 10}" if len(numbers) > 10 else ""
    return f"{verb} {' '.join(cite('fact', number) for number in numbers[:10])}{more}"
