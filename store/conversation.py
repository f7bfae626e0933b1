"""Conversations: the turns that were said, a journal. Sources, window and summaries build on it."""

import json
from collections.abc import Iterable, Sequence

from store import pending
from store.citations import cite
from store.database import Database, Verbatim
from store.errors import InvalidInput, NotFound
from store.vocabulary import ROLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Turn

COLUMNS = "id, session, number, role, speaker, text, at, origin"
WINDOW_TURNS, WINDOW_TOKENS = 6, 2_000  # of the working window, at most
CONTEXT = 2  # turns before and after that a turn is found by, and shown with


class Said:
    """One turn to be added: who said what. `role` is user or assistant, `speaker` a name where there is one, `at` when
    (now, if empty)."""

    __slots__ = ("at", "role", "speaker", "text")

    def __init__(self, role: str, text: str, speaker: str = "", at: str = "") -> None:
        self.role = role
        self.text = text
        self.speaker = speaker
        self.at = at


class Conversation:
    """The turns of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_turns(self, session: str, turns: Iterable[Said], *, actor: str = "agent", key: str = "") -> list[int]:
        """Add turns to the end of a session, all or none; their ids. With a `key` that was given before nothing is
        written, and the answer is the one of then. Raises InvalidInput."""
        from store.clock import parse_moment

        if not session.strip():
            raise InvalidInput("A session has a name.", "Name one: the id that the agent gives it will do.")
        said = list(turns)
        for turn in said:
            if turn.role not in ROLES:
                raise InvalidInput("There is no such role.", f"Choose among: {', '.join(ROLES)}.")
            if not turn.text.strip():
                raise InvalidInput("A turn without words says nothing.", "Leave it out.")
        ids = []
        with self._database.write(actor, "turns", key) as write:
            if (answer := write.answer) is not None:
                return [int(number) for number in answer.split()]
            last = write.execute("SELECT max(number) FROM turns WHERE session = ?", (session.strip(),)).get or 0
            for number, turn in enumerate(said, start=last + 1):
                ids.append(
                    write.insert(
                        "turns",
                        session=session.strip(),
                        number=number,
                        role=Verbatim(turn.role),
                        speaker=turn.speaker.strip(),
                        text=turn.text,
                        at=Verbatim(parse_moment(turn.at, write.at) if turn.at else write.at),
                        origin=actor,
                    )
                )
                if turn.role == "user":
                    pending.put(write, ids[-1])
            write.answered(*ids)
        return ids

    def get(self, number: int) -> "Turn":
        """One turn. Raises NotFound."""
        found = self.many([number])
        if not found:
            raise NotFound(f"There is no turn {cite('turn', number)} in this memory.", "Search for it.")
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Turn]":
        """The turns of these ids that exist, in no particular order."""
        from store.models import Turn

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM turns WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
        )
        return [Turn(*row) for row in rows]

    def window(self, session: str = "") -> "list[Turn]":
        """The working window of a session, of the newest one unless named: its last turns, in order, WINDOW_TURNS and
        WINDOW_TOKENS at most. The last turn is always among them, its end cut off if it alone is longer."""
        from dataclasses import replace

        from store import tokens
        from store.models import Turn

        if not session:
            session = self._database.value("SELECT session FROM turns ORDER BY id DESC LIMIT 1") or ""
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM turns WHERE session = ? ORDER BY number DESC LIMIT ?", (session, WINDOW_TURNS)
        )
        turns: list[Turn] = []
        room = WINDOW_TOKENS
        for row in rows:
            turn = Turn(*row)
            if not turns:
                turn = replace(turn, text=tokens.cut(turn.text, room))
            room -= tokens.count(turn.text)
            if room < 0:
                break
            turns.append(turn)
        return turns[::-1]

    def around(self, number: int, context: int = CONTEXT) -> "list[Turn]":
        """A turn between the `context` turns before and after it in its session, in order; empty if there is none."""
        from store.models import Turn

        rows = self._database.rows(
            f"SELECT {', '.join(f't.{name}' for name in COLUMNS.split(', '))} FROM turns t JOIN turns m ON m.id = ?"
            " WHERE t.session = m.session AND t.number BETWEEN m.number - ? AND m.number + ? ORDER BY t.number",
            (number, context, context),
        )
        return [Turn(*row) for row in rows]
