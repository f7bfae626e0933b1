"""The memory as Markdown, for people: facts by domain with the word of their badge, decisions with the rejected options
and their commits, tasks, and the timeline. It cannot be imported."""

import json
import re
from collections.abc import Generator, Iterator

import apsw

from store.base.citations import cite
from store.base.clock import local_time
from store.base.models import head_of
from store.base.vocabulary import DOMAINS
from store.database.connection import explain
from store.database.database import Database
from store.exchange.exporter import moment
from store.records.ageing import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TITLE = "# What is remembered of "
_MARKS = re.compile(r"([\\`*_\[\]<>|~])")
_LEADS = re.compile(r"^(\s*)([#+-]|\d+[.)])", re.MULTILINE)
# control and format characters except line breaks: they could hide text, or reverse it
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
TIMELINE = """
SELECT at, kind, id FROM (
  SELECT decided_at AS at, 'decision' AS kind, id FROM decisions WHERE status <> 'forgotten'
  UNION ALL SELECT committed_at, 'commit', id FROM commits
  UNION ALL SELECT created_at, 'event', id FROM events
  UNION ALL SELECT started_at, 'iteration', id FROM iterations)
ORDER BY at DESC, kind, id DESC
"""
ENTRIES = {
    "decision": "SELECT title, 'D#' || id, '' FROM decisions WHERE id = ?",
    "commit": "SELECT substr(message, 1, instr(message || char(10), char(10)) - 1), 'C#' || substr(sha, 1, 7), author"
    " FROM commits WHERE id = ?",
    "event": "SELECT event_type, 'E#' || id, phase FROM events WHERE id = ?",
    "iteration": "SELECT command || ': ' || description, 'I#' || id, status FROM iterations WHERE id = ?",
}


def document(database: Database, name: str, now: str) -> "Generator[str, None, None]":
    """Yield the text, in pieces, from one moment of the memory named `name`; without forgotten records."""
    try:
        with moment(database.connection) as connection:
            yield f"{TITLE}{shown(name)}\n\nAs of {local_time(now)}.\n"
            yield from _facts(connection, now)
            yield from _decisions(connection)
            yield from _tasks(connection)
            yield from _timeline(connection)
    except apsw.Error as error:
        raise explain(error, database.path) from None


def shown(text: str, indent: str = "") -> str:
    """Escape a text so that Markdown shows it as it is; further lines are indented."""
    plain = _LEADS.sub(r"\1\\\2", _MARKS.sub(r"\\\1", _UNSEEN.sub("�", text)))
    return plain.strip().replace("\n", f"  \n{indent}")


def _facts(connection: apsw.Connection, now: str) -> Iterator[str]:
    yield "\n## Facts\n"
    found = False
    for domain in DOMAINS:
        rows = connection.execute(
            "SELECT id, fact, confidence, last_confirmed_at, pinned, origin, tags FROM facts"
            " WHERE domain = ? AND status = 'active' ORDER BY last_confirmed_at DESC, id DESC",
            (domain,),
        )
        title = f"\n### {domain.replace('_', ' ').capitalize()}\n\n"
        for number, fact, confidence, confirmed, pinned, origin, tags in rows:
            badge = "pinned" if pinned else state(now, confirmed, confidence, bool(pinned))
            about = [badge, f"{confidence} confidence", f"confirmed {local_time(confirmed)}", shown(origin)]
            about += [f"#{shown(tag)}" for tag in json.loads(tags)]
            yield f"{title}- **{cite('fact', number)}** {shown(fact, '  ')}  \n  *{', '.join(about)}*\n"
            title, found = "", True
    if not found:
        yield "\nNone.\n"


def _decisions(connection: apsw.Connection) -> Iterator[str]:
    yield "\n## Decisions\n"
    rows = connection.execute(
        "SELECT id, title, chosen, context, alternatives, rationale, impact, decided_at, status, supersedes, origin"
        " FROM decisions WHERE status <> 'forgotten' ORDER BY decided_at DESC, id DESC"
    )
    found = False
    for number, title, chosen, context, others, rationale, impact, at, status, supersedes, origin in rows:
        found = True
        state = "" if status == "active" else f", {status}"
        yield f"\n### {cite('decision', number)} {' '.join(shown(title).split())}\n\n"
        yield f"*{local_time(at)}, {impact} impact{state}, {shown(origin)}*\n\n"
        yield f"- Chosen: {shown(chosen, '  ')}\n"
        if alternatives := json.loads(others):
            yield f"- Instead of: {'; '.join(shown(str(other), '  ') for other in alternatives)}\n"
        for label, text in (("Why", rationale), ("Context", context)):
            if text:
                yield f"- {label}: {shown(text, '  ')}\n"
        if supersedes:
            yield f"- Supersedes: {cite('decision', supersedes)}\n"
        links = connection.execute(
            "SELECT l.link_type, c.sha, c.message FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
            " WHERE l.decision_id = ? ORDER BY c.committed_at, c.id",
            (number,),
        )
        for kind, sha, message in links:
            subject = " ".join(head_of(message).split())
            yield f"- {_VERBS[kind]} {cite('commit', sha)} {shown(subject)}\n"
    if not found:
        yield "\nNone.\n"


_VERBS = {"implements": "Implemented by", "reverts": "Reverted by", "relates": "Related to"}


def _tasks(connection: apsw.Connection) -> Iterator[str]:
    yield "\n## Tasks\n\n"
    found = False
    for number, text, status in connection.execute(
        "SELECT id, text, status FROM tasks ORDER BY status = 'done', status = 'pending', id"
    ):
        found = True
        doing = " (in progress)" if status == "in_progress" else ""
        yield f"- [{'x' if status == 'done' else ' '}] **{cite('task', number)}** {shown(text, '  ')}{doing}\n"
    if not found:
        yield "None.\n"


def _timeline(connection: apsw.Connection) -> Iterator[str]:
    yield "\n## Timeline\n"
    day = ""
    for at, kind, number in connection.execute(TIMELINE):
        text, citation, extra = _entry(connection, kind, number)
        date, time = local_time(at).rsplit(" ", 1)
        if date != day:
            day = date
            yield f"\n### {day}\n\n"
        yield f"- {time} {kind} **{citation}** {shown(text, '  ')}{f' ({shown(extra)})' if extra else ''}\n"
    if not day:
        yield "\nNone.\n"


def _entry(connection: apsw.Connection, kind: str, number: int) -> "tuple[Any, ...]":
    found: tuple[Any, ...] = connection.execute(ENTRIES[kind], (number,)).get
    return found
