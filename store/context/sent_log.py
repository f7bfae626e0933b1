"""What was sent: of each context that an agent was handed, the records in it and what they took. Operational, bounded.

It tells which facts a session heard in its last turns, whether its last answer had the form that was asked for, and how
many of the tokens were of use: those of records that the answer cited.
"""

import json
from collections.abc import Iterable

from store.base.citations import parse
from store.base.errors import InvalidInput
from store.base.record_keys import NUMBERS, pack
from store.database.change_capture import PURGED
from store.database.database import Database
from store.database.purged_words import tells
from store.database.values import Verbatim
from store.records.open_counts import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.context.result import Context

KEPT = 500  # contexts
TURNS = 3  # turns back that count as just now


class Sent:
    """What was sent by one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, context: "Context", *, actor: str = "agent") -> int:
        """Note that an agent was handed this context; the number of the note. The oldest beyond KEPT go. In the
        place of a question that says what was purged a mark is kept."""
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
        """Note what came back: whether the answer had the form that was asked for, and which citations it made. What
        is no citation, or of a record that was not sent, counts for nothing."""
        keys = list(filter(None, map(_key, cited)))
        with self._database.write(actor, "answered") as write:
            write.execute("UPDATE contexts SET answered = ? WHERE id = ?", (int(valid), number))
            write.execute(
                "UPDATE sent SET cited = 1 WHERE context = ? AND key IN (SELECT value FROM json_each(?))",
                (number, Verbatim(json.dumps(keys))),
            )

    def last_was_valid(self, session: str) -> bool:
        """Whether the newest context of a session got an answer of the form that was asked for."""
        newest = self._database.row(
            "SELECT answered FROM contexts WHERE session = ? ORDER BY id DESC LIMIT 1", (session,)
        )
        return newest is not None and newest[0] == 1

    def lately(self, session: str, turn: int) -> dict[int, int]:
        """The keys of what was sent with one of the TURNS turns before this one of a session, and with which. What was
        sent with this very turn is not among it: to be asked twice is no reason to say less."""
        if not session or turn <= 0:
            return {}
        rows = self._database.rows(
            "SELECT s.key, max(c.turn) FROM contexts c JOIN sent s ON s.context = c.id"
            " WHERE c.session = ? AND c.turn >= ? AND c.turn < ? AND c.turn > 0 GROUP BY s.key",
            (session, turn - TURNS, turn),
        )
        return dict(rows)

    def last(self, session: str = "") -> tuple[str, str] | None:
        """(session, question) of the newest context, of this session if one is named; None if there is none."""
        where, parameters = ("session = ?", (session,)) if session else ("true", ())
        found = self._database.row(
            f"SELECT session, question FROM contexts WHERE {where} ORDER BY id DESC LIMIT 1", parameters
        )
        return None if found is None else (str(found[0]), str(found[1]))

    def figures(self) -> tuple[int, int, int]:
        """(how many contexts were handed out lately, how many of them were answered, what one takes: the median of
        their tokens, 0 without any)."""
        taken = self._database.rows("SELECT tokens, answered IS NOT NULL FROM contexts ORDER BY tokens")
        return len(taken), sum(answered for _, answered in taken), taken[len(taken) // 2][0] if taken else 0

    def mean(self) -> float | None:
        """The tokens that a context took lately, in the mean; None before the first."""
        found: float | None = self._database.value("SELECT avg(tokens) FROM contexts")
        return found

    def per_session(self, limit: int = 12) -> list[tuple[str, int, int]]:
        """(session, contexts, tokens) of the sessions that were sent something last, newest first."""
        return [
            (session, count, tokens)
            for session, count, tokens in self._database.rows(
                "SELECT session, count(*), sum(tokens) FROM contexts GROUP BY session ORDER BY max(id) DESC LIMIT ?",
                (limit,),
            )
        ]

    def useful(self) -> float | None:
        """The share of tokens that were of records which the answer cited, over all contexts that were answered; None
        until there is one."""
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
