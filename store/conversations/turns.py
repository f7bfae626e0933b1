"""The turns, a journal; and the working window of each session, for a prompt or a checkpoint."""

import json
from collections.abc import Iterable, Sequence

from store.base.citations import cite
from store.base.errors import InvalidInput, NotFound
from store.base.vocabulary import PERSON, ROLES
from store.conversations import extraction_queue
from store.database.database import Database, Transaction
from store.database.values import Verbatim, clean
from store.text.one_line import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Turn

# the estimate for a text not yet counted is a quarter of its bytes (store/base/token_count.py)
COLUMNS = (
    "id, session, number, role, speaker, text, at, coalesce(tokens, (octet_length(text) + 3) / 4), continuity, origin"
)
WINDOW, LEAST, MOST = 6, 4, 8  # turns of the working window: usual, where topics vary, where one topic is kept
WANDERS, KEEPS = 0.3, 0.7  # calibrated continuity of the last turns, below and above which LEAST and MOST are used
JUDGED = 2  # number of last turns that decide it
WINDOW_TOKENS = 2_000
CONTEXT = 2  # turns before and after that are indexed and shown with a turn


class NewTurn:
    """A turn to be added. `role` is user or assistant, `speaker` a name where there is one, `at` its time (now, if
    empty)."""

    __slots__ = ("at", "role", "speaker", "text")

    def __init__(self, role: str, text: str, speaker: str = "", at: str = "") -> None:
        self.role = role
        self.text = text
        self.speaker = speaker
        self.at = at


class Turns:
    """The turns of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, session: str, turns: "Iterable[NewTurn | tuple[str, str, str]]", origin: str = "agent", *, key: str = ""
    ) -> list[int]:
        """Add turns, `NewTurn` or (role, text, at), to the end of a session, all or none; return their ids. With a
        `key` that was used before nothing is written, and the earlier ids are returned. Raise InvalidInput."""
        from store.base.clock import parse_moment

        name = named(session)
        added = [turn if isinstance(turn, NewTurn) else NewTurn(turn[0], turn[1], at=turn[2]) for turn in turns]
        for turn in added:
            if turn.role not in ROLES:
                raise InvalidInput("There is no such role.", f"Choose among: {', '.join(ROLES)}.")
            if not turn.text.strip():
                raise InvalidInput("A turn without words says nothing.", "Leave it out.")
        with self._database.write(origin, "turns", key) as write:
            if (answer := write.answer) is not None:
                return [int(number) for number in answer.split()]
            for turn in added:
                turn.at = parse_moment(turn.at, write.at) if turn.at else write.at
            ids = put(write, name, added)
            write.answered(*ids)
        return ids

    def get(self, number: int) -> "Turn":
        """Return one turn. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise NotFound(f"There is no turn {cite('turn', number)} in this memory.", "Search for it.")
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Turn]":
        """Return the turns of these ids that exist, in no particular order."""
        return self._read("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(list(numbers)))

    def last(self, session: str = "", n: int = 1) -> "list[Turn]":
        """Return the last `n` turns of a session, of the newest one unless named, in order."""
        name = clean(session.strip()) or self.newest_session()
        return self._read("WHERE session = ? ORDER BY number DESC LIMIT ?", name, n)[::-1]

    def since(self, session: str, number: int, limit: int = -1) -> "list[Turn]":
        """Return the turns of a session after the one with this number, in order."""
        return self._read("WHERE session = ? AND number > ? ORDER BY number LIMIT ?", session, number, limit)

    def newest_session(self) -> str:
        """Return the session of the newest turn; empty while there is none."""
        found: str | None = self._database.value("SELECT session FROM turns ORDER BY id DESC LIMIT 1")
        return found or ""

    def window(self, session: str = "") -> "list[Turn]":
        """Return the working window of a session, of the newest one unless named: its last turns, in order.

        WINDOW turns; LEAST where the continuity of the last JUDGED, as far as it is known, is below WANDERS, MOST where
        it is above KEEPS; none from before the person changed the topic; never more than WINDOW_TOKENS tokens, counted
        or estimated, whichever are more: the oldest are dropped. The last turn is always included, its end cut off if
        it alone is longer.
        """
        from dataclasses import replace

        from store.base import token_count

        found = self.last(session, MOST)
        found = _of_one_topic(found[-size([turn.continuity for turn in found[-JUDGED:]]) :])
        turns: list[Turn] = []
        room = WINDOW_TOKENS
        for turn in found[::-1]:
            takes = max(turn.tokens, token_count.count(turn.text))
            if not turns and takes > room:
                cut = token_count.cut(turn.text, room * token_count.count(turn.text) // takes)
                turn, takes = replace(turn, text=cut, tokens=room), room
            room -= takes
            if room < 0:
                break
            turns.append(turn)
        return turns[::-1]

    def around(self, number: int, context: int = CONTEXT) -> "list[Turn]":
        """Return a turn with the `context` turns before and after it in its session, in order; empty if there is
        none."""
        return self._read(
            "WHERE session = (SELECT session FROM turns WHERE id = ?1)"
            " AND number BETWEEN (SELECT number FROM turns WHERE id = ?1) - ?2"
            " AND (SELECT number FROM turns WHERE id = ?1) + ?2 ORDER BY number",
            number,
            context,
        )

    def _read(self, where: str, *parameters: object) -> "list[Turn]":
        from store.base.models import Turn

        return [Turn(*row) for row in self._database.rows(f"SELECT {COLUMNS} FROM turns {where}", parameters)]


def named(session: str) -> str:
    """Return the name of a session, as it is stored. Raise InvalidInput."""
    name = one_line(session)
    if not name:
        raise InvalidInput("A session has a name.", "Name one: the id that the agent gives it will do.")
    return clean(name)


def put(
    write: Transaction, session: str, turns: "Iterable[NewTurn]", source: str = "", cwd: str = "", origin: str = ""
) -> list[int]:
    """Add turns at the end of a session, inside a transaction; return their ids. The time of each is `at`, or now; the
    session is created if it is missing, and is under way again. `origin` is the writer's unless given."""
    last = write.execute("SELECT max(number) FROM turns WHERE session = ?", (session,)).get or 0
    ids = []
    for number, turn in enumerate(turns, start=last + 1):
        ids.append(
            write.insert(
                "turns",
                session=session,
                number=number,
                role=Verbatim(turn.role),
                speaker=one_line(turn.speaker),
                text=turn.text,
                at=Verbatim(turn.at),
                origin=origin or write.actor,
            )
        )
        if turn.role == "user":
            extraction_queue.put(write, ids[-1])
        if number == last + 1:
            write.execute(
                "INSERT INTO sessions(id, started_at, source, cwd) VALUES (?, ?, ?, ?)"
                " ON CONFLICT(id) DO UPDATE SET ended_at = NULL WHERE ended_at IS NOT NULL",
                (session, Verbatim(turn.at), source, cwd),
            )
    return ids


def _of_one_topic(turns: "list[Turn]") -> "list[Turn]":
    """Return the last of these turns, from the last change of topic on."""
    for place in range(len(turns) - 1, 0, -1):
        if turns[place].role == PERSON:
            from store.conversations.topic_shift import announces_change

            if announces_change(turns[place].text):
                return turns[place:]
    return turns


def size(continuity: "Sequence[float | None]") -> int:
    """Return how many turns a window holds, by the continuity of the last ones."""
    known = [one for one in continuity if one is not None]
    if known and all(one < WANDERS for one in known):
        return LEAST
    return MOST if known and all(one > KEEPS for one in known) else WINDOW
