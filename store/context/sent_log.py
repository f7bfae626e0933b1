"""The contexts sent to agents: of each the records in it and their tokens. Operational, bounded.

It shows which facts a session received in its last turns, whether its last answer had the requested form, and how many
of the tokens were useful: those of records that the answer cited.
"""

import json
from collections.abc import Iterable

from store.base.citations import parse
from store.base.errors import InvalidInput
from store.base.record_keys import NUMBERS, pack
from store.database.database import Database
from store.database.erasure.purged_words import tells
from store.database.values import Verbatim
from store.database.writing.change_capture import PURGED
from store.records.timeline.open_counts import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.context.result import Context

KEPT = 500  # contexts
TURNS = 3  # turns before the current one that count as recent


class Sent:
    """The contexts sent from one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, context: "Context", *, actor: str = "agent") -> int:
        """Record that an agent was sent this context; return the number of the entry. The oldest beyond KEPT are
        deleted. A question that contains a purged text is replaced by a mark."""
        taken: dict[int, int] = {}
        for key, tokens in context.records():
            taken[key] = taken.get(key, 0) + tokens
        question = PURGED if tells(self._database, context.question) else context.question
        with self._database.write(actor, "context") as write:
            number = write.insert(
                "contexts",
                at=Verbatim(write.at),
                session=context.session,
                turn=context.turn,
                question=question,
                tokens=context.tokens,
            )
            for key, tokens in taken.items():
                write.insert("sent", context=number, key=key, tokens=tokens)
            count(write, taken)
            write.execute(
                "DELETE FROM contexts WHERE id <= (SELECT id FROM contexts ORDER BY id DESC LIMIT 1 OFFSET ?)", (KEPT,)
            )
        return number

    def answered(self, number: int, *, valid: bool, cited: Iterable[str] = (), actor: str = "agent") -> None:
        """Record the answer: whether it had the requested form, and which citations it contained. What is no citation,
        or of a record that was not sent, is ignored."""
        keys = list(filter(None, map(_key, cited)))
        with self._database.write(actor, "answered") as write:
            write.execute("UPDATE contexts SET answered = ? WHERE id = ?", (int(valid), number))
            write.execute(
                "UPDATE sent SET cited = 1 WHERE context = ? AND key IN (SELECT value FROM json_each(?))",
                (number, Verbatim(json.dumps(keys))),
            )

    def last_was_valid(self, session: str) -> bool:
        """Return whether the newest context of a session got an answer of the requested form."""
        newest = self._database.row(
            "SELECT answered FROM contexts WHERE session = ? ORDER BY id DESC LIMIT 1", (session,)
        )
        return newest is not None and newest[0] == 1

    def lately(self, session: str, turn: int) -> dict[int, int]:
        """Return the keys of what was sent with one of the TURNS turns before this one of a session, and with which
        turn. What was sent with this very turn is left out: a repeated question is no reason to send less."""
        if not session or turn <= 0:
            return {}
        rows = self._database.rows(
            "SELECT s.key, max(c.turn) FROM contexts c JOIN sent s ON s.context = c.id"
            " WHERE c.session = ? AND c.turn >= ? AND c.turn < ? AND c.turn > 0 GROUP BY s.key",
            (session, turn - TURNS, turn),
        )
        return dict(rows)

    def last(self, session: str = "") -> tuple[str, str] | None:
        """Return (session, question) of the newest context, of this session if named; None if there is none."""
        where, parameters = ("session = ?", (session,)) if session else ("true", ())
        found = self._database.row(
            f"SELECT session, question FROM contexts WHERE {where} ORDER BY id DESC LIMIT 1", parameters
        )
        return None if found is None else (str(found[0]), str(found[1]))

    def figures(self) -> tuple[int, int, int]:
        """Return (how many recent contexts there are, how many of them were answered, the median of their tokens, 0
        without any)."""
        taken = self._database.rows("SELECT tokens, answered IS NOT NULL FROM contexts ORDER BY tokens")
        return len(taken), sum(answered for _, answered in taken), taken[len(taken) // 2][0] if taken else 0

    def mean(self) -> float | None:
        """Return the mean of the tokens of recent contexts; None before the first."""
        found: float | None = self._database.value("SELECT avg(tokens) FROM contexts")
        return found

    def per_session(self, limit: int = 12) -> list[tuple[str, int, int]]:
        """List (session, contexts, tokens) of the sessions that were sent something last, newest first."""
        return [
            (session, count, tokens)
            for session, count, tokens in self._database.rows(
                "SELECT session, count(*), sum(tokens) FROM contexts GROUP BY session ORDER BY max(id) DESC LIMIT ?",
                (limit,),
            )
        ]

    def useful(self) -> float | None:
        """Return the share of tokens that were of records which the answer cited, over all contexts that were answered;
        None until there is one."""
        row = self._database.row(
            "SELECT sum(c.tokens), sum((SELECT coalesce(sum(tokens), 0) FROM sent WHERE context = c.id AND cited))"
            " FROM contexts AS c WHERE c.answered IS NOT NULL"
        )
        return None if row is None or not row[0] else row[1] / row[0]


def _key(text: str) -> int | None:
    try:
        found = parse(text)
    except InvalidInput:
        return None
    return pack(found.kind, int(found.target)) if found.kind in NUMBERS and isinstance(found.target, int) else None
