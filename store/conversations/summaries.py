"""Summaries: three turns at a time, as keys and values; written once, never summarised again.

The newest ACTIVE of a session are put into a prompt; the older ones are kept, cited and found by a search.
"""

import json
from collections.abc import Callable, Sequence
from itertools import takewhile

from store.base.citations import cite
from store.base.errors import NotFound
from store.base.vocabulary import MODEL, PERSON, RULES
from store.database.database import Database, Transaction
from store.database.schema.tables import SUMMED_UP
from store.database.values import Json, Verbatim, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Summary, Turn
    from store.conversations.rule_summary import Summarised

    Summarise = Callable[[Sequence[Turn]], Summarised]

COLUMNS = f"id, session, first, last, topic, discussed, outcome, decisions, open_questions, tokens, {SUMMED_UP}, origin"
LISTS = (5, 7, 8)  # columns that are lists
ORIGIN = "agent"
ACTIVE = 4  # summaries of a session in a prompt
TURNS = 3  # of one summary, at most
BATCH = 50  # summaries of one transaction


class Summaries:
    """The summaries of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, number: int) -> "Summary":
        """Return one summary. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise NotFound(f"There is no summary {cite('summary', number)} in this memory.", "Search for it.")
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Summary]":
        """Return the summaries of these ids that exist, in no particular order."""
        return self._read("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(list(numbers)))

    def active(self, session: str = "") -> "list[Summary]":
        """Return the summaries that a prompt of this session may hold, ACTIVE at most, the oldest first; of the newest
        session unless named. Those of small talk are empty and left out."""
        where = "WHERE session = ? AND tokens > 0 ORDER BY first DESC LIMIT ?"
        return self._read(where, session or self._newest_session(), ACTIVE)[::-1]

    def of(self, session: str, limit: int = -1) -> "list[Summary]":
        """Return the last `limit` summaries of a session, the oldest first; without a limit the archived ones too."""
        return self._read("WHERE session = ? ORDER BY first DESC LIMIT ?", session, limit)[::-1]

    def due(self, session: str, *, all_of_it: bool = False) -> "list[list[Turn]]":
        """Return the turns of a session that are to be summarised: those that left its window, TURNS at a time, fewer
        where the topic changes, or where the last of them asks what the next one answers. With `all_of_it` also those
        still in the window, and the last few that make no whole group."""
        from store.conversations.topic_shift import shifts
        from store.conversations.turns import Turns
        from store.text.clauses import asks, statements

        turns = Turns(self._database)
        done = self._database.value("SELECT max(last) FROM summaries WHERE session = ?", (session,)) or 0
        waiting = turns.since(session, done, BATCH * TURNS)
        more = len(waiting) == BATCH * TURNS
        parts: list[list[Turn]] = []
        for turn in waiting:
            last = parts[-1] if parts else []
            if not last or (turn.role == PERSON and shifts(turn.text, last[-1].text, turn.continuity)):
                parts.append([])
            elif len(last) == TURNS:
                answers = turn.role != last[-1].role and any(map(asks, statements(last[-1].text)))
                parts.append([last.pop()] if answers else [])
            parts[-1].append(turn)
        if all_of_it:
            return parts[:-1] if more else parts
        inside = {turn.number for turn in turns.window(session)}
        left = takewhile(lambda part: part[-1].number not in inside, parts)
        return [part for part in left if not (more and part is parts[-1])]

    def behind(self, quiet: str, limit: int) -> list[str]:
        """List the sessions that are over, or have no turn since `quiet`, and are not fully summarised; by their last
        turn, the newest first."""
        newest = "(SELECT {} FROM turns t WHERE t.session = s.id ORDER BY t.number DESC LIMIT 1)"
        rows = self._database.rows(
            f"SELECT s.id FROM sessions s WHERE (s.ended_at IS NOT NULL OR {newest.format('t.at')} < ?)"
            f" AND {newest.format('t.number')} >"
            " coalesce((SELECT max(m.last) FROM summaries m WHERE m.session = s.id), 0)"
            f" ORDER BY {newest.format('t.id')} DESC LIMIT ?",
            (quiet, limit),
        )
        return [session for (session,) in rows]

    def write(
        self, session: str = "", *, all_of_it: bool = False, by: "Summarise | None" = None, actor: str = ORIGIN
    ) -> list[int]:
        """Summarise what is due of a session, the newest unless named; return the ids of the summaries. `by` makes
        them, by default the rule; those of another are written one by one as they are made. `by` runs outside of any
        transaction; turns that another process summarised meanwhile, or that were purged, are skipped. Raise what `by`
        raises; what was written is kept."""
        from store.conversations.rule_summary import by_rule

        name = clean(session.strip()) or self._newest_session()
        made: list[int] = []
        while parts := self.due(name, all_of_it=all_of_it):
            for some in [parts] if by is None else [[part] for part in parts]:
                summaries = [(part[0].number, part[-1].number, (by or by_rule)(part)) for part in some]
                with self._database.write(actor, "summarise") as write:
                    stand = takewhile(lambda one: _stand(write, one[0]), zip(some, summaries, strict=True))
                    fresh = [put(write, name, *one) for _, one in stand]
                made += [number for number in fresh if number is not None]
                if None in fresh:
                    return made
                if len(fresh) < len(some):
                    break
        return made

    def _newest_session(self) -> str:
        from store.conversations.turns import Turns

        return Turns(self._database).newest_session()

    def _read(self, where: str, *parameters: object) -> "list[Summary]":
        from store.base.models import Summary

        rows = self._database.rows(f"SELECT {COLUMNS} FROM summaries {where}", parameters)
        return [Summary(*map(_read, range(len(row)), row)) for row in rows]


def drop(write: Transaction, turns: Sequence[int]) -> None:
    """Delete the summaries of these turns, whose words are to be removed: a summary may contain a part of them."""
    write.execute(
        "DELETE FROM summaries WHERE EXISTS (SELECT 1 FROM turns t WHERE t.id IN (SELECT value FROM json_each(?))"
        " AND t.session = summaries.session AND t.number BETWEEN summaries.first AND summaries.last)",
        (Json(list(turns)),),
    )


def _stand(write: Transaction, part: "Sequence[Turn]") -> bool:
    """Return whether turns still have the text that was read: one may have been purged or scrubbed since."""
    numbers = Json([turn.id for turn in part])
    rows = write.rows("SELECT id, text FROM turns WHERE id IN (SELECT value FROM json_each(?))", (numbers,))
    return dict(rows) == {turn.id: turn.text for turn in part}


def _read(place: int, value: "Any") -> "Any":
    return tuple(json.loads(value)) if place in LISTS else value


def put(write: Transaction, session: str, first: int, last: int, one: "Summarised") -> int | None:
    """Write the summary of the turns `first` to `last`, inside a transaction, unless they have one; return its id.
    It is as old as the last of them."""
    from store.base import token_count
    from store.base.models import line

    if write.execute("SELECT 1 FROM summaries WHERE session = ? AND last >= ?", (session, first)).get:
        return None
    at = write.execute("SELECT at FROM turns WHERE session = ? AND number = ?", (session, last)).get or write.at
    return write.insert(
        "summaries",
        session=session,
        first=first,
        last=last,
        topic=one.topic,
        discussed=Json(list(one.discussed)),
        outcome=one.outcome,
        decisions=Json(list(one.decisions)),
        open_questions=Json(list(one.open_questions)),
        tokens=token_count.count(line(one.topic, one.discussed, one.outcome, one.decisions, one.open_questions)),
        created_at=Verbatim(min(at, write.at)),
        origin=write.actor if one.by == RULES else f"{MODEL}{one.by}",
    )
