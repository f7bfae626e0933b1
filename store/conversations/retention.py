"""Expire turns that are summarised and not quoted, once `turns.retention_days` are over.

A turn is kept while something depends on it: a fact, a proposal, a decision, a task, a checkpoint or any other text
that cites it, a summary that quotes it, a pending reading. The last turn of a session is kept, as numbering continues
from it.
"""

import json
import time

from store.base.citations import find
from store.base.clock import days_before
from store.database.database import Database
from store.database.values import Verbatim

BATCH = 100  # turns of one transaction: some 20 ms, so that no writer waits long
BREATH = 0.002  # seconds between two transactions, in which other writers get the file
LEAST = 12  # characters of a summary's phrase that make it a quotation; a single word is in many turns
# texts that may cite a turn: table → columns
CITING = {
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
_OLD = (
    "FROM turns t JOIN summaries s ON s.session = t.session AND t.number BETWEEN s.first AND s.last WHERE t.at < ?"
    " AND t.number < (SELECT max(number) FROM turns l WHERE l.session = t.session)"
    " AND NOT EXISTS (SELECT 1 FROM pending_extraction p WHERE p.turn = t.id)"
)


def expire(database: Database, now: str, days: int) -> int:
    """Delete the turns older than `days` that are summarised and not quoted; return how many. With 0 days all are
    kept."""
    if not days or database.read_only:
        return 0
    cut = days_before(now, days)
    if not database.value(f"SELECT 1 {_OLD} LIMIT 1", (cut,)):
        return 0
    seen = database.changed()
    cited = _cited(database)
    old = database.rows(
        f"SELECT t.id, t.text, s.topic, s.discussed, s.outcome, s.decisions, s.open_questions {_OLD} ORDER BY t.id",
        (cut,),
    )
    going = [number for number, text, *fields in old if number not in cited and not _quotes(fields, text)]
    gone = 0
    for start in range(0, len(going), BATCH):
        with database.write("agent", "retention") as write:
            if database.changed() != seen:
                break  # another process wrote meanwhile, and may have cited one: the rest is left for the next time
            ids = Verbatim(json.dumps(going[start : start + BATCH]))
            write.execute("DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?))", (ids,))
            gone += database.connection.changes()
        time.sleep(BREATH)
    return gone


def _cited(database: Database) -> set[int]:
    """Return the turns that a text of the memory cites."""
    found: set[int] = set()
    for table, columns in CITING.items():
        for column in columns:
            rows = database.rows(f"SELECT {column} FROM {table} WHERE {column} LIKE '%T#%'")
            found |= {int(one.target) for (text,) in rows for _, _, one in find(text) if one.kind == "turn"}
    return found


def _quotes(fields: list[str], text: str) -> bool:
    """Return whether a summary quotes a turn word for word."""
    topic, discussed, outcome, decisions, questions = fields
    phrases = [topic, outcome, *json.loads(discussed), *json.loads(decisions), *json.loads(questions)]
    quote = " ".join(text.casefold().split())
    return any(
        len(phrase) >= LEAST and " ".join(phrase.casefold().split()).strip(" .,;:!?…") in quote for phrase in phrases
    )
