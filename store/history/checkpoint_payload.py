"""The content of a checkpoint besides its place in history: what a session needs to continue.

The last turns of the session, the tasks that are not done, the names that both mention, the latest decisions, and a
summary; bounded, so that a recovery fits into a prompt however large the memory is. Every level has the same content: a
recovery must not have less because the newest checkpoint is one of every five minutes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from store.base.citations import cite
from store.base.clock import from_ms, to_ms
from store.base.vocabulary import PERSON_ORIGIN, TASK_STATUS_LABELS
from store.conversations.summaries import meaningful_sentences
from store.conversations.turns import Turns
from store.database.database import Database, Transaction
from store.database.values import Json, Verbatim
from store.history.compression import every_row_view
from store.records.decisions import Decisions
from store.records.workflow import ACTIVE_ITERATION, Tasks
from store.text.language import extract_names
from store.text.words import count_tokens, shorten_to_tokens

# at most
MOST_TASKS, MOST_DECISIONS = 20, 5
# tokens of a task, or of one field of a decision
FIELD_TOKENS = 75
# tokens of a summary
CHECKPOINT_SUMMARY_TOKENS = 50
# a session with a turn within this time is the subject of the memory
RECENT_TURN_MS = 1_800_000
# changes since the previous checkpoint that are counted
MOST_CHANGES = 2_000
# all fields of a checkpoint, except when it was recovered
SEALED_FIELDS = (
    "json_array(id, name, created_at, seq, trigger, origin, level, session, used, tokens, summary, changed, working,"
    " tasks, decisions, entities)"
)
# (table, change of the record) → the word for its count
CHANGE_WORDS = {
    ("facts", "INSERT"): "new fact",
    ("facts", "forgotten"): "fact forgotten",
    ("facts", "UPDATE"): "fact changed",
    ("decisions", "INSERT"): "decision",
    ("decisions", "UPDATE"): "decision changed",
    ("decisions", "forgotten"): "decision forgotten",
    ("tasks", "INSERT"): "new task",
    ("tasks", "done"): "task done",
    ("tasks", "UPDATE"): "task changed",
}


class CheckpointContents(NamedTuple):
    """`summary` is a line on the topic, `changed` one on how much happened since the previous checkpoint, both together
    CHECKPOINT_SUMMARY_TOKENS at most; `turns` are {citation, role, speaker, text}, oldest first; `tasks` {citation,
    status, text}, those in progress first; `decisions` {citation, title, chosen, rationale, origin}, newest first;
    `entities` the names that turns and tasks mention."""

    session: str
    summary: str
    changed: str
    turns: tuple[dict[str, Any], ...]
    tasks: tuple[dict[str, Any], ...]
    decisions: tuple[dict[str, Any], ...]
    entities: tuple[str, ...]


def insert_checkpoint(
    write: Transaction, name: str, trigger: str, level: str = "macro", session: str = "", used: int | None = None
) -> int:
    """Take a checkpoint of the moment at which this transaction begins; return its id. `session` is the one whose turns
    it holds, the newest unless named."""
    held = gather_contents(write.database, write.at, session)
    number = write.insert(
        "checkpoints",
        name=name,
        created_at=write.at,
        seq=write.database.newest_step(),
        trigger=Verbatim(trigger),
        origin=write.actor,
        level=Verbatim(level),
        session=held.session,
        used=used,
        tokens=count_tokens(format_contents(held)),
        summary=held.summary,
        changed=held.changed,
        working=Json(list(held.turns)),
        tasks=Json(list(held.tasks)),
        decisions=Json(list(held.decisions)),
        entities=Json(list(held.entities)),
    )
    seal_checkpoint(write, number)
    return number


def seal_checkpoint(write: Transaction, number: int) -> None:
    """Store the digest of a checkpoint's content, after it was written: nothing else in the memory duplicates it."""
    text = write.first(f"SELECT {SEALED_FIELDS} FROM checkpoints WHERE id = ?", (number,))
    if text is not None:
        write.execute("UPDATE checkpoints SET digest = ? WHERE id = ?", (digest_checkpoint(text), number))


def digest_checkpoint(text: str) -> bytes:
    """Return the digest of the SEALED_FIELDS of a checkpoint."""
    digest: bytes = sha256(text.encode()).digest()
    return digest


def find_damaged_checkpoints(database: Database) -> list[int]:
    """Return the checkpoints whose content differs from what was written."""
    return [
        number
        for number, digest, text in database.rows(
            f"SELECT id, digest, {SEALED_FIELDS} FROM checkpoints WHERE digest <> x''"
        )
        if digest_checkpoint(text) != digest
    ]


def gather_contents(database: Database, now: str, session: str = "") -> CheckpointContents:
    """Collect the content of a checkpoint of this moment; some milliseconds, however large the memory is."""
    window = Turns(database).window(session)
    open_tasks = Tasks(database)
    latest = Decisions(database)
    turns = tuple(
        {"citation": turn.citation, "role": turn.role, "speaker": turn.speaker, "text": turn.text}
        for turn in window
    )
    tasks = tuple(
        {"citation": task.citation, "status": task.status, "text": shorten_to_tokens(task.text, FIELD_TOKENS)}
        for task in open_tasks.get_many(open_tasks.ids(limit=MOST_TASKS))
    )
    numbers = database.column(
        "SELECT id FROM decisions WHERE status = 'active' ORDER BY decided_at DESC, id DESC LIMIT ?",
        (MOST_DECISIONS,),
    )
    decisions = tuple(
        {
            "citation": found.citation,
            "title": shorten_to_tokens(found.title, FIELD_TOKENS),
            "chosen": shorten_to_tokens(found.chosen, FIELD_TOKENS),
            "rationale": shorten_to_tokens(found.rationale, FIELD_TOKENS),
            "origin": found.origin,
        }
        for found in sorted(
            latest.get_many(numbers),
            key=lambda one: (one.decided_at, one.id),
            reverse=True,
        )
    )
    # decisions are found by themselves
    mentioned = tuple(extract_names(one["text"] for one in (*turns, *tasks)))
    held = CheckpointContents(
        window[-1].session if window else session, "", "", turns, tasks, decisions, mentioned
    )
    summary, changed = _summarize_contents(database, now, held)
    return held._replace(summary=summary, changed=changed)


# the summary: the topic, and how much changed


def _summarize_contents(database: Database, now: str, held: CheckpointContents) -> tuple[str, str]:
    """Return (the topic, how much happened since the previous checkpoint)."""
    before = database.row("SELECT id, seq, created_at FROM checkpoints ORDER BY id DESC LIMIT 1") or (0, 0, "")
    number, seq, at = before
    counts = _count_changes(database, seq)
    for table, column, word in ("turns", "at", "turn"), ("commits", "committed_at", "commit"):
        many = database.value(f"SELECT count(*) FROM {table} WHERE {column} > ? AND {column} <= ?", (at, now))
        counts.append((many, word))
    changed = ", ".join(_format_count(count, word) for count, word in counts if count) or "nothing new"
    changed = shorten_to_tokens(
        changed + (f" since {cite('checkpoint', number)}" if number else ""), CHECKPOINT_SUMMARY_TOKENS // 2
    )
    return _find_topic(
        database,
        held,
        min(at, from_ms(to_ms(now) - RECENT_TURN_MS)),
        CHECKPOINT_SUMMARY_TOKENS - count_tokens(changed),
    ), changed


def _count_changes(database: Database, seq: int) -> list[tuple[int, str]]:
    """Count the changes of records since a step, most first: four kinds of change at most. A step that was undone since
    is none, nor is its undo; one that was redone is."""
    rows = database.rows(
        "WITH RECURSIVE chain(seq, depth) AS ("
        "   SELECT seq, 0 FROM history WHERE seq > ?1 AND coalesce(undoes, 0) <= ?1"
        "   UNION ALL SELECT step.undone_by, depth + 1 FROM chain JOIN history AS step USING (seq)"
        "   WHERE step.undone_by IS NOT NULL),"
        " standing AS (SELECT seq FROM chain JOIN history USING (seq) WHERE depth % 2 = 0 AND undone_by IS NULL) "
        "SELECT tbl, iif(op = 'UPDATE' AND status IN ('forgotten', 'done'), status, op) AS what, count(DISTINCT pk)"
        " FROM (SELECT tbl, pk, op, json_extract(after, '$.status') AS status"
        f"   FROM {every_row_view(database)} WHERE seq > ?1 AND seq IN standing ORDER BY seq DESC LIMIT ?2)"
        " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
        (seq, MOST_CHANGES),
    )
    return [(count, CHANGE_WORDS[table, what]) for table, what, count in rows if (table, what) in CHANGE_WORDS][:4]


def _format_count(count: int, word: str) -> str:
    """Return a count with its word: `1 new fact`, `3 facts forgotten`."""
    noun = next(one for one in ("fact", "decision", "task", "turn", "commit") if one in word)
    return f"{count} {word}" if count == 1 else f"{count} {word.replace(noun, noun + 's')}"


def _find_topic(database: Database, held: CheckpointContents, since: str, room: int) -> str:
    """Return the topic, `room` tokens at most: a whole sentence of what the person last said in the session, if it went
    on since then; else the work in progress. Not the newest decision, which is found by itself."""
    asked = [turn["text"] for turn in held.turns if turn["role"] == PERSON_ORIGIN]
    newest = database.value("SELECT max(at) FROM turns WHERE session = ?", (held.session,)) or ""
    if asked and newest > since:
        sentences = (one for text in reversed(asked) for one in meaningful_sentences(text))
        return next((one for one in sentences if count_tokens(one) <= room), "")
    work = database.row(f"SELECT command, description FROM iterations WHERE {ACTIVE_ITERATION}")
    if work is not None:
        about = f"{work[0]}: {work[1]}" if work[1] else str(work[0])
    else:
        about = next((task["text"] for task in held.tasks if task["status"] == "in_progress"), "")
    return shorten_to_tokens(" ".join(about.split()), room)


# text for a prompt


def format_contents(held: CheckpointContents, notes: dict[str, str] | None = None) -> str:
    """Return the contents as text for the session that continues: one item a line, continued lines indented, so that no
    text looks like a heading or another turn. `notes` gives for a citation what happened to it since."""
    notes = notes or {}
    summary = " · ".join(filter(None, (held.summary, held.changed)))
    lines = [f"Summary: {_indent_lines(summary)}"] if summary else []
    if held.tasks:
        lines += ["", "To do:"]
        lines += [
            f"- [{task['citation']}] {TASK_STATUS_LABELS[task['status']]}: "
            f"{_indent_lines(task['text'])}{_format_note(notes, task)}"
            for task in held.tasks
        ]
    if held.decisions:
        lines += ["", "Decided:"]
        lines += [
            f"- [{one['citation']}] {_format_decision(one)}{_format_note(notes, one)}" for one in held.decisions
        ]
    if held.turns:
        lines += ["", "Said last:"]
        for turn in held.turns:
            lines.append(
                f"- [{turn['citation']}] {turn['speaker'] or turn['role']}: {_indent_lines(turn['text'])}"
            )
    if held.entities:
        lines += ["", f"Named: {', '.join(map(_indent_lines, held.entities))}"]
    return "\n".join(lines).strip("\n")


def _format_decision(one: dict[str, Any]) -> str:
    """Return a decision on one line, with its reason and who decided."""
    because = f", because {_indent_lines(one['rationale'])}" if one["rationale"] else ""
    by = "" if one["origin"] == "user" else f" (by {one['origin']})"
    return f"{_indent_lines(one['title'])}: {_indent_lines(one['chosen'])}{because}{by}"


def _format_note(notes: dict[str, str], one: dict[str, Any]) -> str:
    """Return what happened since to an item, in parentheses; empty if nothing did."""
    note = notes.get(one["citation"], "")
    return f"  ({note})" if note else ""


def _indent_lines(text: str) -> str:
    """Indent all lines of a text but the first."""
    return "\n    ".join(text.splitlines())
