"""The context: exactly what an agent is sent for a question, what it costs, and why each fact is in it or is not.

Standing part, facts, summaries, today's log, the conversation, tool results, and last the question itself. All but the
first and the last is recalled text, each part in a fence of its own (`fence`).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from store.base import token_count
from store.base.citations import Citation
from store.base.errors import InvalidInput, MemorandaError
from store.base.models import line
from store.base.record_keys import pack
from store.context import system_prompt
from store.context.budget import (
    LIMITS,
    SHARED,
    ContextPiece,
    Part,
    empty,
    first_that_fit,
    last_that_fit,
    unfenced,
    whole,
    within,
)
from store.context.result import Context
from store.context.selection import Rank, choose
from store.context.sent_log import TURNS, Sent
from store.conversations.rule_summary import by_rule
from store.conversations.summaries import ACTIVE, Summaries
from store.conversations.turns import Turns
from store.database.database import Database
from store.documents.documents import Documents
from store.documents.own_text import accepted_in, accepted_text
from store.documents.paths import MEMORY_FILE
from store.search.pipeline import Search
from store.text.fence import harmless

if TYPE_CHECKING:
    from store.base.models import Turn

OWN_LINES = 60  # of the person's own text, the first ones
LOG_LINES = 60  # of today's log, the last ones
LOG_LEAST = 100  # tokens reserved for the log in the space that it shares with summaries
ASKED = 1_200  # tokens of a question that are sent
CUT = "The question is long: its middle is left out."


@dataclass(frozen=True, slots=True)
class AgentTool:
    """Result of a tool: its name, and its text unchanged."""

    name: str
    text: str


class Contexts:
    """The contexts of one memory: `memory.context(question)`."""

    def __init__(self, database: Database, search: Search, documents: Documents) -> None:
        self._database = database
        self._search = search
        self._documents = documents

    @property
    def sent(self) -> Sent:
        """The log of contexts sent to agents."""
        return Sent(self._database)

    def __call__(
        self,
        question: str,
        session: str = "",
        *,
        who: str = system_prompt.WHO,
        form: str = system_prompt.FORM,
        tools: Sequence[AgentTool] = (),
        rank: Rank | None = None,
    ) -> Context:
        """Return the context for a question in a session (the newest, unless named). Without a question it is the last
        thing that the person said in the session, or for which an agent was sent a context.

        `rank` reorders the facts related to the question (`store.learning.summarizers`).

        `who` and `form` are the standing part; `form` is left out while the session's last answer had it. Takes some 30
        ms, and more where a model must be loaded: for a thread that may wait. Nothing is written; `sent.keep` records
        what was given to an agent. Raise InvalidInput for a standing part that is too long.
        """
        start = time.perf_counter()
        session, turns = self._turns(session)
        if not question.strip():
            question, turns = self._last_question(session, turns)
        number = turns[-1].number if turns else 0
        if turns and turns[-1].role == "user" and _same(turns[-1].text, question):
            turns = turns[:-1]
        last_valid = bool(session) and self.sent.last_was_valid(session)
        ours = unfenced("static", system_prompt.text(who, "" if last_valid else form))
        if ours.tokens > LIMITS["static"]:
            raise InvalidInput(
                f"The fixed instructions take {ours.tokens:,} tokens, and may take {LIMITS['static']:,}.",
                "Shorten them.",
            )
        asked = _asked(question)
        own = first_that_fit("own", self._own(), LIMITS["own"])
        room = LIMITS["window"] - own.tokens - asked.tokens
        window = last_that_fit("window", [_turn(turn) for turn in turns], room)
        seen = {piece.citation: piece.text for piece in window.pieces}  # the parts of them that are sent
        shown = next((turn.number for turn in turns if turn.citation in seen), 0)
        latest = [replace(turn, text=seen[turn.citation]) for turn in turns[-TURNS:] if turn.citation in seen]
        uncut = {turn.citation for turn in turns[-TURNS:] if seen.get(turn.citation) == turn.text}
        sent = self.sent.lately(session, number)
        chosen = choose(
            self._database,
            self._search,
            question,
            self._database.clock(),
            latest,
            sent,
            session,
            uncut,
            rank,
        )
        notes = [*([CUT] if asked.left_out else []), *chosen.notes]
        written = self._log()
        log = last_that_fit("log", written, LIMITS["log"], cut=True)
        summaries = last_that_fit("summaries", self._summaries(session, shown), SHARED - min(log.tokens, LOG_LEAST))
        if log.tokens > SHARED - summaries.tokens:
            log = last_that_fit("log", written, SHARED - summaries.tokens, cut=True)
        parts = {
            "static": ours,
            "own": own,
            "facts": chosen.part,
            "summaries": summaries,
            "log": log,
            "window": window,
            "tools": last_that_fit("tools", [_tool(tool) for tool in tools], LIMITS["tools"], cut=True),
            "question": asked,
        }
        parts = within(parts)
        text = whole(parts.values())
        return Context(
            question,
            session,
            number,
            text,
            token_count.count(text),
            tuple(parts.values()),
            tuple(chosen.considered),
            tuple(notes),
            (time.perf_counter() - start) * 1000,
            chosen.ranked_by,
        )

    def _turns(self, session: str) -> "tuple[str, list[Turn]]":
        turns = Turns(self._database).window(session)
        return (turns[-1].session if turns else session), turns

    def _last_question(self, session: str, turns: "list[Turn]") -> "tuple[str, list[Turn]]":
        """Return the last question, when none is given, and the turns up to it."""
        for number in range(len(turns) - 1, -1, -1):
            if turns[number].role == "user":
                return turns[number].text, turns[: number + 1]
        last = self.sent.last(session)
        return (last[1] if last else ""), turns

    def _summaries(self, session: str, shown: int) -> list[ContextPiece]:
        """Return the active summaries of a session, oldest first, of the turns before number `shown`, the first that is
        sent itself (0 if none is). Turns that just left the window, and have no summary yet, are summarised by rule."""
        if not session:
            return []
        summaries = Summaries(self._database)
        parts = [
            ContextPiece(summary.citation, pack("summary", summary.id), f"- [{summary.citation}] ", summary.line)
            for summary in summaries.active(session)
            if not shown or summary.last < shown
        ]
        for part in summaries.due(session)[-ACTIVE:]:
            one = by_rule(part)
            entry = line(one.topic, one.discussed, one.outcome, one.decisions, one.open_questions)
            if entry and (not shown or part[-1].number < shown):
                parts.append(ContextPiece(part[0].citation, None, f"- [{part[0].citation}] ", entry))
        return parts[-ACTIVE:]

    def _own(self) -> list[ContextPiece]:
        """Return the lines of MEMORY.md outside of its section that the person accepted, the first ones, if the file is
        kept in sync."""
        if self._database.moment or not (synced := accepted_in(self._database, MEMORY_FILE)):
            return []
        lines = accepted_text(self._database, self._documents.places, MEMORY_FILE, synced)
        return [
            ContextPiece(str(Citation("document", MEMORY_FILE, at, at)), None, "", line)
            for at, line in lines[:OWN_LINES]
        ]

    def _log(self) -> list[ContextPiece]:
        """Return the last lines of today's daily log, if there is one."""
        from datetime import datetime

        today = datetime.fromisoformat(self._database.clock()).astimezone().date().isoformat()
        if self._database.moment:
            return []  # former texts of documents are not kept
        try:
            found = self._documents.read(f"{self._documents.places.logs}/{today}.md")
        except MemorandaError:
            return []
        numbered = list(enumerate(found.text.split("\n"), found.first))
        return [
            ContextPiece(str(Citation("document", found.path, at, at)), None, "", line)
            for at, line in numbered[-LOG_LINES:]
            if line.strip()
        ]


def _turn(turn: "Turn") -> ContextPiece:
    speaker = " ".join(harmless(turn.speaker or turn.role).split())[:40]
    return ContextPiece(turn.citation, pack("turn", turn.id), f"[{turn.citation}] {speaker}: ", turn.text)


def _tool(tool: AgentTool) -> ContextPiece:
    return ContextPiece("", None, f"{' '.join(harmless(tool.name).split())[:40]}: ", tool.text)


def _asked(question: str) -> Part:
    """Return the question, at the end and without a fence: it is the person's own words."""
    text = harmless(question).strip()
    if not text:
        return empty("question")
    text, gone = token_count.cut_middle(text, ASKED)
    shown = f"The person asks now:\n{text}"
    return Part("question", shown, token_count.count(shown), left_out=int(gone > 0))


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())
