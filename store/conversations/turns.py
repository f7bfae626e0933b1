"""The turns, a journal; and the working window of each session, for a prompt or a checkpoint."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from store.base.citations import find_citations
from store.base.clock import days_before, from_ms, parse_moment, to_ms
from store.base.errors import InvalidInput
from store.base.models import Turn
from store.base.vocabulary import PERSON_ORIGIN, TURN_ROLES
from store.conversations.extraction_queue import enqueue_turn
from store.database.database import Database, Transaction
from store.database.values import Verbatim, clean_text
from store.records.table import RecordTable
from store.text.words import any_of_regex, count_tokens, load_words, reduce_to_one_line, shorten_to_tokens

# Expire turns that are summarised and not quoted, once `turns.retention_days` are over.
#
# A turn is kept while something depends on it: a fact, a proposal, a decision, a task, a checkpoint or any other text
# that cites it, a summary that quotes it, a pending reading. The last turn of a session is kept, as numbering continues
# from it.

# turns of one transaction: some 20 ms, so that no writer waits long
EXPIRE_BATCH = 100
# seconds between two transactions, in which other writers get the file
EXPIRE_PAUSE_SECONDS = 0.002
# characters of a summary's phrase that make it a quotation; a single word is in many turns
MIN_QUOTE = 12
# texts that may cite a turn: table → columns
CITING_COLUMNS = {
    "facts": ("fact", "evidence"),
    "decisions": ("title", "context", "chosen", "alternatives", "rationale", "evidence"),
    "tasks": ("text",),
    "events": ("payload",),
    "iterations": ("description", "artifacts"),
    "commits": ("message",),
    "proposals": ("text", "change", "evidence", "reason"),
    "checkpoints": ("name", "summary", "working", "tasks", "decisions"),
    "summaries": ("topic", "discussed", "outcome", "decisions", "open_questions"),
    "turns": ("text",),
}
_OLD_TURNS_SQL = (
    "FROM turns t JOIN summaries s ON s.session = t.session AND t.number BETWEEN s.first AND s.last WHERE t.at < ?"
    " AND t.number < (SELECT max(number) FROM turns l WHERE l.session = t.session)"
    " AND NOT EXISTS (SELECT 1 FROM pending_extraction p WHERE p.turn = t.id)"
)


def expire_turns(database: Database, now: str, days: int) -> int:
    """Delete the turns older than `days` that are summarised and not quoted; return how many. With 0 days all are
    kept."""
    if not days or database.read_only:
        return 0
    cut = days_before(now, days)
    if not database.value(f"SELECT 1 {_OLD_TURNS_SQL} LIMIT 1", (cut,)):
        return 0
    seen = database.data_version()
    cited = _find_cited_turns(database)
    old = database.rows(
        "SELECT t.id, t.text, s.topic, s.discussed, s.outcome, s.decisions, "
        f"s.open_questions {_OLD_TURNS_SQL} ORDER BY t.id",
        (cut,),
    )
    going = [number for number, text, *fields in old if number not in cited and not _summary_quotes(fields, text)]
    gone = 0
    for start in range(0, len(going), EXPIRE_BATCH):
        with database.write("agent", "retention") as write:
            if database.data_version() != seen:
                # another process wrote meanwhile, and may have cited one: the rest is left for the next time
                break
            ids = Verbatim(json.dumps(going[start : start + EXPIRE_BATCH]))
            write.execute("DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?))", (ids,))
            gone += write.changed_rows()
        time.sleep(EXPIRE_PAUSE_SECONDS)
    return gone


def _find_cited_turns(database: Database) -> set[int]:
    """Return the turns that a text of the memory cites."""
    found: set[int] = set()
    for table, columns in CITING_COLUMNS.items():
        for column in columns:
            rows = database.rows(f"SELECT {column} FROM {table} WHERE {column} LIKE '%T#%'")
            found |= {
                int(one.target) for (text,) in rows for _, _, one in find_citations(text) if one.kind == "turn"
            }
    return found


def _summary_quotes(fields: list[str], text: str) -> bool:
    """Return whether a summary quotes a turn word for word."""
    topic, discussed, outcome, decisions, questions = fields
    phrases = [topic, outcome, *json.loads(discussed), *json.loads(decisions), *json.loads(questions)]
    quote = " ".join(text.casefold().split())
    return any(
        len(phrase) >= MIN_QUOTE and " ".join(phrase.casefold().split()).strip(" .,;:!?…") in quote
        for phrase in phrases
    )


# Keep a turn once that arrives twice: from a hook at once, and later from the transcript.
#
# Each turn of one source is claimed by one of the other, so a turn that somebody wrote twice is kept twice.

# characters of a turn; the rest of a longer one is cut off
LONGEST_TURN = 200_000
# a hook reports a reply when it ends, the transcript has the time it began
SAME_TURN_MS = 30 * 60_000
# prefix of the origin of a turn that a hook reported
HOOK_PREFIX = "hook:"


def claim_same_turn(write: Transaction, session: str, role: str, text: str, at: str, *, of_hook: bool) -> int:
    """Find the turn of the other source, a hook's if `of_hook`, with this text and role at about this time; claim
    it inside a transaction and return its id, 0 if there is none."""
    rows = write.rows(
        "SELECT id, text, origin FROM turns WHERE session = ? AND role = ? AND at BETWEEN ? AND ? ORDER BY id",
        (
            clean_text(session),
            Verbatim(role),
            Verbatim(from_ms(max(0, to_ms(at) - SAME_TURN_MS))),
            Verbatim(from_ms(to_ms(at) + SAME_TURN_MS)),
        ),
    )
    cleaned = clean_text(text).strip()
    for number, other, origin in list(rows):
        if origin.startswith(HOOK_PREFIX) == of_hook and other.strip() == cleaned:
            write.execute("INSERT OR IGNORE INTO ingested(key) VALUES (?)", (b"turn %d" % number,))
            if write.changed_rows():
                return int(number)
    return 0


# Detect that somebody changes the topic: rules on what they say, its similarity to what was said before, and its
# domain.
#
# "mismo tema, pero…" and "quick question about the same…" do not change it.

# calibrated similarity to the text before, below which the topic is another
MIN_CONTINUITY = 0.4
# words: a shorter text ("sí, la segunda") has no meaningful similarity, and answers what was said
SHORT_TEXT_WORDS = 4
# characters that are searched for a phrase that changes the topic
SEARCHED_CHARACTERS = 2_000
# different words of a domain that assign a text to it
MIN_DOMAIN_WORDS = 2

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*+`|\"[^\"\n]*+\"|“[^“”\n]*+”|«[^«»\n]*+»|^[^\S\n]*+>[^\n]*+",
    re.DOTALL | re.MULTILINE,
)
_SENTENCES = re.compile(r"(?<=[.!?…;:])\s+|\n+")
# characters before such words in which they may be negated
NEGATION_REACH = 60
_OF_MINE = re.compile(r"\s+\w+ (?:of|from|for|to) my\b|\s+\w+ (?:de|con|para) mis?\b", re.IGNORECASE)


@cache
def _phrases() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("topic_shift.toml").read_text(encoding="utf-8"))


def _any_of(name: str) -> str:
    return "|".join(_phrases()[name])


@cache
def _another_topic() -> re.Pattern[str]:
    """Return the pattern of a sentence that announces another topic."""
    opening = rf"^\W*(?:(?:{_any_of('opening')})\b[\s,.!:;…—–-]*)*"
    return re.compile(rf"{opening}(?:{_any_of('another')})", re.IGNORECASE)


@cache
def _same_topic() -> re.Pattern[str]:
    """Return the pattern of words that stay with the topic."""
    return re.compile(rf"\b(?:{_any_of('same').replace('{it}', '(?:' + _any_of('it') + ')')})", re.IGNORECASE)


@cache
def _enough_of_it() -> re.Pattern[str]:
    """Return the pattern of what negates such words."""
    return re.compile(
        rf"\b(?:{any_of_regex(load_words('negations', 'core'))}|don'?t|stop|basta|enough)\b.*"
        r"\b(?:quiero|hablar|hablemos|hables|sigas|sigamos|m[áa]s|want|talk\w*|thinking|more)\b",
        re.IGNORECASE,
    )


@cache
def _domains() -> dict[str, re.Pattern[str]]:
    """Return the pattern of the words of each domain."""
    domains = _phrases()["domains"].items()
    return {name: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE) for name, words in domains}


def why_topic_changes(text: str, before: str = "", continuity: float | None = None) -> str:
    """Return why a text changes the topic from the text `before`: `phrase`, `meaning` or `domain`; empty where it does
    not. `continuity` is the calibrated similarity of the two, None while it is unknown."""
    if announces_topic_change(text):
        return "phrase"
    plain = _QUOTED.sub(" ", text)
    if any(_continues_topic(part) is not None for part in _SENTENCES.split(plain)):
        return ""
    if continuity is not None:
        return "meaning" if continuity < MIN_CONTINUITY and len(plain.split()) >= SHORT_TEXT_WORDS else ""
    now, then = guess_domain(plain), guess_domain(before)
    return "domain" if now and then and now != then else ""


def announces_topic_change(text: str) -> bool:
    """Return whether the first SEARCHED_CHARACTERS say that the topic changes: longer texts are pasted."""
    parts = _SENTENCES.split(_QUOTED.sub(" ", text[:SEARCHED_CHARACTERS]))
    for at, part in enumerate(parts):
        if _another_topic().match(part) and _continues_topic(part) is None:
            after = _continues_topic(parts[at + 1]) if part.endswith(":") and at + 1 < len(parts) else None
            # "otra cosa: en la misma línea …" does not change it
            if after is None or after > 0:
                return True
    return False


def _continues_topic(sentence: str) -> int | None:
    """Return where a sentence says that it is about the same; None if it does not, or negates it."""
    for match in _same_topic().finditer(sentence):
        clause = sentence[max(0, match.start() - NEGATION_REACH) : match.start()].rpartition(",")[2]
        if not _enough_of_it().search(clause) and not _OF_MINE.match(sentence, match.end()):
            return match.start()
    return None


def guess_domain(text: str) -> str:
    """Return code, planning or personal: the domain with the most different words in the text, MIN_DOMAIN_WORDS at
    least; empty if there is none."""
    found = {name: len({word.casefold() for word in words.findall(text)}) for name, words in _domains().items()}
    best = max(found, key=lambda name: found[name])
    alone = list(found.values()).count(found[best]) == 1
    return best if found[best] >= MIN_DOMAIN_WORDS and alone else ""


WINDOW_TURNS, MIN_WINDOW_TURNS, MAX_WINDOW_TURNS = (
    6,
    4,
    8,
)  # turns of the working window: usual, where topics vary, where one topic is kept
WANDERING_BELOW, KEEPING_ABOVE = (
    0.3,
    0.7,
)  # calibrated continuity of the last turns, below and above which MIN_WINDOW_TURNS and MAX_WINDOW_TURNS are used
# number of last turns that decide it
JUDGED_TURNS = 2
WINDOW_TOKENS = 2_000
# turns before and after that are indexed and shown with a turn
CONTEXT_TURNS = 2


@dataclass(slots=True, eq=False, repr=False)
class NewTurn:
    """A turn to be added. `role` is user or assistant, `speaker` a name where there is one, `at` its time (now, if
    empty)."""

    role: str
    text: str
    speaker: str = ""
    at: str = ""


class Turns(RecordTable[Turn]):
    """The turns of one memory."""

    kind, source = "turn", "turns"
    # the estimate for a text not yet counted is a quarter of its bytes (store/text/words.py)
    columns = (
        "id, session, number, role, speaker, text, at, coalesce(tokens, (octet_length(text) + 3) / 4), continuity,"
        " origin"
    )
    absence = "There is no turn {} in this memory.", "Search for it."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Turn:
        return Turn(*row)

    def add_turns(
        self,
        session: str,
        turns: Iterable[NewTurn | tuple[str, str, str]],
        origin: str = "agent",
        *,
        key: str = "",
    ) -> list[int]:
        """Add turns, `NewTurn` or (role, text, at), to the end of a session, all or none; return their ids. With a
        `key` that was used before nothing is written, and the earlier ids are returned. Raise InvalidInput."""
        name = clean_session_name(session)
        added = [turn if isinstance(turn, NewTurn) else NewTurn(turn[0], turn[1], at=turn[2]) for turn in turns]
        for turn in added:
            if turn.role not in TURN_ROLES:
                raise InvalidInput("There is no such role.", f"Choose among: {', '.join(TURN_ROLES)}.")
            if not turn.text.strip():
                raise InvalidInput("A turn without words says nothing.", "Leave it out.")
        with self._database.write(origin, "turns", key) as write:
            if (answer := write.earlier_answer) is not None:
                return [int(number) for number in answer.split()]
            for turn in added:
                turn.at = parse_moment(turn.at, write.at) if turn.at else write.at
            ids = insert_turns(write, name, added)
            write.store_answer(*ids)
        return ids

    def last_turns(self, session: str = "", n: int = 1) -> list[Turn]:
        """Return the last `n` turns of a session, of the newest one unless named, in order."""
        name = clean_text(session.strip()) or self.newest_session()
        return self._read("WHERE session = ? ORDER BY number DESC LIMIT ?", name, n)[::-1]

    def since(self, session: str, number: int, limit: int = -1) -> list[Turn]:
        """Return the turns of a session after the one with this number, in order."""
        return self._read("WHERE session = ? AND number > ? ORDER BY number LIMIT ?", session, number, limit)

    def newest_session(self) -> str:
        """Return the session of the newest turn; empty while there is none."""
        found: str | None = self._database.value("SELECT session FROM turns ORDER BY id DESC LIMIT 1")
        return found or ""

    def window(self, session: str = "") -> list[Turn]:
        """Return the working window of a session, of the newest one unless named: its last turns, in order.

        WINDOW turns; MIN_WINDOW_TURNS where the continuity of the last JUDGED_TURNS, as far as it is known, is below
        WANDERING_BELOW, MAX_WINDOW_TURNS where it is above KEEPING_ABOVE; none from before the person changed the
        topic; never more than WINDOW_TOKENS tokens, counted or estimated, whichever are more: the oldest are dropped.
        The last turn is always included, its end cut off if it alone is longer.
        """
        found = self.last_turns(session, MAX_WINDOW_TURNS)
        found = _since_topic_change(found[-window_size([turn.continuity for turn in found[-JUDGED_TURNS:]]) :])
        turns: list[Turn] = []
        room = WINDOW_TOKENS
        for turn in found[::-1]:
            takes = max(turn.tokens, count_tokens(turn.text))
            if not turns and takes > room:
                cut = shorten_to_tokens(turn.text, room * count_tokens(turn.text) // takes)
                turn, takes = replace(turn, text=cut, tokens=room), room
            room -= takes
            if room < 0:
                break
            turns.append(turn)
        return turns[::-1]

    def get_with_neighbours(self, number: int, context: int = CONTEXT_TURNS) -> list[Turn]:
        """Return a turn with the `context` turns before and after it in its session, in order; empty if there is
        none."""
        return self._read(
            "WHERE session = (SELECT session FROM turns WHERE id = ?1)"
            " AND number BETWEEN (SELECT number FROM turns WHERE id = ?1) - ?2"
            " AND (SELECT number FROM turns WHERE id = ?1) + ?2 ORDER BY number",
            number,
            context,
        )


def clean_session_name(session: str) -> str:
    """Return the name of a session, as it is stored. Raise InvalidInput."""
    name = reduce_to_one_line(session)
    if not name:
        raise InvalidInput("A session has a name.", "Name one: the id that the agent gives it will do.")
    return clean_text(name)


def insert_turns(
    write: Transaction, session: str, turns: Iterable[NewTurn], source: str = "", cwd: str = "", origin: str = ""
) -> list[int]:
    """Add turns at the end of a session, inside a transaction; return their ids. The time of each is `at`, or now; the
    session is created if it is missing, and is under way again. `origin` is the writer's unless given."""
    last = write.first("SELECT max(number) FROM turns WHERE session = ?", (session,)) or 0
    ids = []
    for number, turn in enumerate(turns, start=last + 1):
        ids.append(
            write.insert(
                "turns",
                session=session,
                number=number,
                role=Verbatim(turn.role),
                speaker=reduce_to_one_line(turn.speaker),
                text=turn.text,
                at=Verbatim(turn.at),
                origin=origin or write.actor,
            )
        )
        if turn.role == "user":
            enqueue_turn(write, ids[-1])
        if number == last + 1:
            write.execute(
                "INSERT INTO sessions(id, started_at, source, cwd) VALUES (?, ?, ?, ?)"
                " ON CONFLICT(id) DO UPDATE SET ended_at = NULL WHERE ended_at IS NOT NULL",
                (session, Verbatim(turn.at), source, cwd),
            )
    return ids


def _since_topic_change(turns: list[Turn]) -> list[Turn]:
    """Return the last of these turns, from the last change of topic on."""
    for place in range(len(turns) - 1, 0, -1):
        if turns[place].role == PERSON_ORIGIN and announces_topic_change(turns[place].text):
            return turns[place:]
    return turns


def window_size(continuity: Sequence[float | None]) -> int:
    """Return how many turns a window holds, by the continuity of the last ones."""
    known = [one for one in continuity if one is not None]
    if known and all(one < WANDERING_BELOW for one in known):
        return MIN_WINDOW_TURNS
    return MAX_WINDOW_TURNS if known and all(one > KEEPING_ABOVE for one in known) else WINDOW_TURNS
