"""The context: exactly what an agent is sent for a question, what it costs, and why each fact is in it or is not.

Standing part, facts, summaries, today's log, the conversation, tool results, and last the question itself. All but the
first and the last is recalled text, each part in a fence of its own (`fence`).
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from store.base.citations import Citation, parse_citation
from store.base.errors import InvalidInput, MemorandaError
from store.base.models import Turn, as_json, select_fields
from store.base.vocabulary import KIND_NUMBERS, pack_key
from store.context.selection import (
    ANSWER_TOKENS,
    MAX_PROMPT_TOKENS,
    PART_LIMITS,
    SHARED_LIMIT,
    WARNING_TOKENS,
    ConsideredFact,
    ContextPart,
    ContextPiece,
    RankFacts,
    choose_facts,
    fit_first_pieces,
    fit_last_pieces,
    join_parts,
    make_empty_part,
    make_unfenced_part,
    reduce_to_limit,
)
from store.conversations.summaries import MOST_ACTIVE, Summaries, summarize_by_rule
from store.conversations.turns import Turns
from store.database.change_capture import PURGED_MARK
from store.database.database import Database
from store.database.tombstones import has_purged_text
from store.database.values import Verbatim
from store.documents.documents import Documents
from store.documents.files import MEMORY_FILE
from store.documents.sections import accepted_digests, read_accepted_lines
from store.records.timeline import count_openings
from store.search.pipeline import Search
from store.text.fence import make_harmless
from store.text.words import count_tokens, shorten_middle

# The part of a context that is always the same: who the agent works for, what a record is, how to answer.
#
# At most 400 tokens together. `ANSWER_FORM` is left out while the session's last answer had the form it requests.

_TEXTS = tomllib.loads(Path(__file__).with_name("system_prompt.toml").read_text(encoding="utf-8"))
AGENT_ROLE, ANSWER_FORM = _TEXTS["role"], _TEXTS["form"]


def build_system_prompt(who: str = AGENT_ROLE, form: str = ANSWER_FORM) -> str:
    """Return the standing part, as it is sent."""
    return "\n\n".join(filter(None, (who.strip(), form.strip())))


# A context as it is sent, and its content.


class Context(NamedTuple):
    """One context. `text` is all of it as it is sent, of `tokens`; `parts` by name in order, the question last;
    `considered` are the facts that were considered, those in it first. `turn` is the number of the session's last turn.
    `notes` list what could not be read, `ranked_by` is who ordered the facts."""

    question: str
    session: str
    turn: int
    text: str
    tokens: int
    parts: tuple[ContextPart, ...]
    considered: tuple[ConsideredFact, ...]
    notes: tuple[str, ...]
    milliseconds: float
    ranked_by: str = "rules"

    def __str__(self) -> str:
        return self.text

    @property
    def costs(self) -> dict[str, int]:
        """The tokens of each part by name, which add up to `tokens`: the lines between the parts are of the last that
        is sent, the question, so that what is the same for all questions costs the same."""
        costs = {part.name: part.tokens for part in self.parts}
        last = next((name for name in reversed(costs) if costs[name]), "static")
        return {**costs, last: costs[last] + self.tokens - sum(costs.values())}

    @property
    def limit(self) -> int:
        return MAX_PROMPT_TOKENS

    @property
    def warning(self) -> str:
        """The warning to show; empty if prompt and answer are well within the model's limits."""
        if self.tokens + ANSWER_TOKENS <= WARNING_TOKENS:
            return ""
        return (
            f"More than {WARNING_TOKENS:,} tokens with the answer's "
            f"{ANSWER_TOKENS:,}: a small model may lose the beginning."
        )

    def as_dict(self) -> dict[str, object]:
        return {
            **select_fields(self, "question", "session", "tokens", "limit", "warning", "ranked_by"),
            "parts": [
                select_fields(part, "name", "tokens", "left_out", "text")
                | {"records": [piece.citation for piece in part.pieces], "flagged": part.flagged}
                for part in self.parts
            ],
            "facts": [
                as_json(one.record)
                | select_fields(one, "included", "why", "similarity", "tokens")
                | {"flagged": one.is_suspicious, "reason": one.word}
                for one in self.considered
            ],
            "notes": list(self.notes),
            "milliseconds": round(self.milliseconds, 3),
            "text": self.text,
        }

    def record_tokens(self) -> Iterator[tuple[int, int]]:
        """Yield (key, tokens) of each record that is in it."""
        for part in self.parts:
            for piece in part.pieces:
                if piece.key is not None:
                    yield piece.key, count_tokens(piece.line)


# The contexts sent to agents: of each the records in it and their tokens. Operational, bounded.
#
# It shows which facts a session received in its last turns, whether its last answer had the requested form, and how
# many of the tokens were useful: those of records that the answer cited.

# contexts
MAX_LOGGED_CONTEXTS = 500
# turns before the current one that count as recent
RECENT_TURNS = 3


class SentLog:
    """The contexts sent from one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def log_context(self, context: Context, *, actor: str = "agent") -> int:
        """Record that an agent was sent this context; return the number of the entry. The oldest beyond
        MAX_LOGGED_CONTEXTS are deleted. A question that contains a purged text is replaced by a mark."""
        taken: dict[int, int] = {}
        for key, tokens in context.record_tokens():
            taken[key] = taken.get(key, 0) + tokens
        question = PURGED_MARK if has_purged_text(self._database, context.question) else context.question
        with self._database.write(actor, "context") as write:
            number = write.insert(
                "contexts",
                at=write.at,
                session=context.session,
                turn=context.turn,
                question=question,
                tokens=context.tokens,
            )
            for key, tokens in taken.items():
                write.insert("sent", context=number, key=key, tokens=tokens)
            count_openings(write, taken)
            write.execute(
                "DELETE FROM contexts WHERE id <= (SELECT id FROM contexts ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (MAX_LOGGED_CONTEXTS,),
            )
        return number

    def log_answer(self, number: int, *, valid: bool, cited: Iterable[str] = (), actor: str = "agent") -> None:
        """Record the answer: whether it had the requested form, and which citations it contained. What is no citation,
        or of a record that was not sent, is ignored."""
        keys = list(filter(None, map(_parse_key, cited)))
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

    def recent_keys(self, session: str, turn: int) -> dict[int, int]:
        """Return the keys of what was sent with one of the RECENT_TURNS turns before this one of a session, and with
        which turn. What was sent with this very turn is left out: a repeated question is no reason to send less."""
        if not session or turn <= 0:
            return {}
        rows = self._database.rows(
            "SELECT s.key, max(c.turn) FROM contexts c JOIN sent s ON s.context = c.id"
            " WHERE c.session = ? AND c.turn >= ? AND c.turn < ? AND c.turn > 0 GROUP BY s.key",
            (session, turn - RECENT_TURNS, turn),
        )
        return dict(rows)

    def last_question(self, session: str = "") -> tuple[str, str] | None:
        """Return (session, question) of the newest context, of this session if named; None if there is none."""
        where, parameters = ("session = ?", (session,)) if session else ("true", ())
        found = self._database.row(
            f"SELECT session, question FROM contexts WHERE {where} ORDER BY id DESC LIMIT 1", parameters
        )
        return None if found is None else (str(found[0]), str(found[1]))

    def usage_counts(self) -> tuple[int, int, int]:
        """Return (how many recent contexts there are, how many of them were answered, the median of their tokens, 0
        without any)."""
        taken = self._database.rows("SELECT tokens, answered IS NOT NULL FROM contexts ORDER BY tokens")
        return len(taken), sum(answered for _, answered in taken), taken[len(taken) // 2][0] if taken else 0

    def mean_tokens(self) -> float | None:
        """Return the mean of the tokens of recent contexts; None before the first."""
        found: float | None = self._database.value("SELECT avg(tokens) FROM contexts")
        return found

    def tokens_per_session(self) -> list[tuple[str, int, int]]:
        """List (session, contexts, tokens) of the sessions that were sent something, the last first."""
        return list(
            self._database.rows(
                "SELECT session, count(*), sum(tokens) FROM contexts GROUP BY session ORDER BY max(id) DESC"
            )
        )

    def useful_share(self) -> float | None:
        """Return the share of tokens that were of records which the answer cited, over all contexts that were answered;
        None until there is one."""
        row = self._database.row(
            "SELECT sum(c.tokens), sum((SELECT coalesce(sum(tokens), 0) FROM sent WHERE context = c.id AND cited))"
            " FROM contexts AS c WHERE c.answered IS NOT NULL"
        )
        return None if row is None or not row[0] else row[1] / row[0]


def _parse_key(text: str) -> int | None:
    """Return the key of the record that a citation names; None for what is no citation of a record."""
    try:
        found = parse_citation(text)
    except InvalidInput:
        return None
    return (
        pack_key(found.kind, int(found.target))
        if found.kind in KIND_NUMBERS and isinstance(found.target, int)
        else None
    )


# of the person's own text, the first ones
MAX_OWN_LINES = 60
# of today's log, the last ones
MAX_LOG_LINES = 60
# tokens reserved for the log in the space that it shares with summaries
MIN_LOG_TOKENS = 100
# tokens of a question that are sent
MAX_QUESTION_TOKENS = 1_200
QUESTION_CUT_NOTE = "The question is long: its middle is left out."


class AgentTool(NamedTuple):
    """Result of a tool: its name, and its text unchanged."""

    name: str
    text: str


class ContextBuilder:
    """The contexts of one memory: `memory.context(question)`."""

    def __init__(self, database: Database, search: Search, documents: Documents) -> None:
        self._database = database
        self._search = search
        self._documents = documents

    @property
    def sent_log(self) -> SentLog:
        """The log of contexts sent to agents."""
        return SentLog(self._database)

    def __call__(
        self,
        question: str,
        session: str = "",
        *,
        who: str = AGENT_ROLE,
        form: str = ANSWER_FORM,
        tools: Sequence[AgentTool] = (),
        rank: RankFacts | None = None,
        limit: int = MAX_PROMPT_TOKENS,
    ) -> Context:
        """Return the context for a question in a session (the newest, unless named). Without a question it is the last
        thing that the person said in the session, or for which an agent was sent a context.

        `rank` reorders the facts related to the question (`store.learning.tasks`).

        `who` and `form` are the standing part; `form` is left out while the session's last answer had it. Takes some 30
        ms, and more where a model must be loaded: for a thread that may wait. Nothing is written; `sent.keep` records
        what was given to an agent. Raise InvalidInput for a standing part that is too long, and for a `limit` of tokens
        that is too small.
        """
        start = time.perf_counter()
        session, turns = self._load_turns(session)
        if not question.strip():
            question, turns = self._last_question(session, turns)
        number = turns[-1].number if turns else 0
        if turns and turns[-1].role == "user" and " ".join(turns[-1].text.split()) == " ".join(question.split()):
            turns = turns[:-1]
        last_valid = bool(session) and self.sent_log.last_was_valid(session)
        ours = make_unfenced_part("static", build_system_prompt(who, "" if last_valid else form))
        if ours.tokens > PART_LIMITS["static"]:
            raise InvalidInput(
                f"The fixed instructions take {ours.tokens:,} tokens, and may take {PART_LIMITS['static']:,}.",
                "Shorten them.",
            )
        asked = _question_part(question)
        own = fit_first_pieces("own", self._own_text_pieces(), PART_LIMITS["own"])
        room = PART_LIMITS["window"] - own.tokens - asked.tokens
        window = fit_last_pieces("window", [_turn_piece(turn) for turn in turns], room)
        # the parts that are sent
        seen = {piece.citation: piece.text for piece in window.pieces}
        shown = next((turn.number for turn in turns if turn.citation in seen), 0)
        recent = turns[-RECENT_TURNS:]
        latest = [replace(turn, text=seen[turn.citation]) for turn in recent if turn.citation in seen]
        uncut = {turn.citation for turn in recent if seen.get(turn.citation) == turn.text}
        sent = self.sent_log.recent_keys(session, number)
        chosen = choose_facts(
            self._database, self._search, question, self._database.clock(), latest, sent, session, uncut, rank
        )
        notes = [*([QUESTION_CUT_NOTE] if asked.left_out else []), *chosen.notes]
        written = self._daily_log_pieces()
        log = fit_last_pieces("log", written, PART_LIMITS["log"], cut=True)
        summaries = fit_last_pieces(
            "summaries", self._summary_pieces(session, shown), SHARED_LIMIT - min(log.tokens, MIN_LOG_TOKENS)
        )
        if log.tokens > SHARED_LIMIT - summaries.tokens:
            log = fit_last_pieces("log", written, SHARED_LIMIT - summaries.tokens, cut=True)
        parts = {
            "static": ours,
            "own": own,
            "facts": chosen.part,
            "summaries": summaries,
            "log": log,
            "window": window,
            "tools": fit_last_pieces(
                "tools", [_tool_piece(tool) for tool in tools], PART_LIMITS["tools"], cut=True
            ),
            "question": asked,
        }
        parts = reduce_to_limit(parts, min(limit, MAX_PROMPT_TOKENS))
        text = join_parts(parts.values())
        return Context(
            question,
            session,
            number,
            text,
            count_tokens(text),
            tuple(parts.values()),
            tuple(chosen.considered),
            tuple(notes),
            (time.perf_counter() - start) * 1000,
            chosen.ranked_by,
        )

    def _load_turns(self, session: str) -> tuple[str, list[Turn]]:
        """Return the session (the newest, unless named) and the turns of its window."""
        turns = Turns(self._database).window(session)
        return (turns[-1].session if turns else session), turns

    def _last_question(self, session: str, turns: list[Turn]) -> tuple[str, list[Turn]]:
        """Return the last question, when none is given, and the turns up to it."""
        for number in range(len(turns) - 1, -1, -1):
            if turns[number].role == "user":
                return turns[number].text, turns[: number + 1]
        last = self.sent_log.last_question(session)
        return (last[1] if last else ""), turns

    def _summary_pieces(self, session: str, shown: int) -> list[ContextPiece]:
        """Return the active summaries of a session, oldest first, of the turns before number `shown`, the first that is
        sent itself (0 if none is). Turns that just left the window, and have no summary yet, are summarised by rule."""
        if not session:
            return []
        summaries = Summaries(self._database)
        parts = [
            ContextPiece(
                summary.citation,
                pack_key("summary", summary.id),
                f"- [{summary.citation}] ",
                summary.prompt_line,
            )
            for summary in summaries.active(session)
            if not shown or summary.last < shown
        ]
        for part in summaries.find_due_turns(session)[-MOST_ACTIVE:]:
            entry = summarize_by_rule(part).prompt_line
            if entry and (not shown or part[-1].number < shown):
                parts.append(ContextPiece(part[0].citation, None, f"- [{part[0].citation}] ", entry))
        return parts[-MOST_ACTIVE:]

    def _own_text_pieces(self) -> list[ContextPiece]:
        """Return the lines of MEMORY.md outside of its section that the person accepted, the first ones, if the file is
        kept in sync."""
        if self._database.moment or not (synced := accepted_digests(self._database, MEMORY_FILE)):
            return []
        lines = read_accepted_lines(self._database, self._documents.roots, MEMORY_FILE, synced)
        return [
            ContextPiece(str(Citation("document", MEMORY_FILE, at, at)), None, "", line)
            for at, line in lines[:MAX_OWN_LINES]
        ]

    def _daily_log_pieces(self) -> list[ContextPiece]:
        """Return the last lines of today's daily log, if there is one."""
        today = datetime.fromisoformat(self._database.clock()).astimezone().date().isoformat()
        if self._database.moment:
            # former texts of documents are not kept
            return []
        try:
            found = self._documents.read_lines(f"{self._documents.roots.logs}/{today}.md")
        except MemorandaError:
            return []
        numbered = list(enumerate(found.text.split("\n"), found.first))
        return [
            ContextPiece(str(Citation("document", found.path, at, at)), None, "", line)
            for at, line in numbered[-MAX_LOG_LINES:]
            if line.strip()
        ]


def _turn_piece(turn: Turn) -> ContextPiece:
    """Return a turn as a piece of the conversation, with its citation and speaker."""
    speaker = " ".join(make_harmless(turn.speaker or turn.role).split())[:40]
    return ContextPiece(turn.citation, pack_key("turn", turn.id), f"[{turn.citation}] {speaker}: ", turn.text)


def _tool_piece(tool: AgentTool) -> ContextPiece:
    """Return the result of a tool as a piece, with the tool's name."""
    return ContextPiece("", None, f"{' '.join(make_harmless(tool.name).split())[:40]}: ", tool.text)


def _question_part(question: str) -> ContextPart:
    """Return the question, at the end and without a fence: it is the person's own words."""
    text = make_harmless(question).strip()
    if not text:
        return make_empty_part("question")
    text, gone = shorten_middle(text, MAX_QUESTION_TOKENS)
    shown = f"The person asks now:\n{text}"
    return ContextPart("question", shown, count_tokens(shown), left_out=int(gone > 0))
