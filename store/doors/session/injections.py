"""What was put into agents' contexts: kept for a while, so that a person can open it, and see why it was sent.

Operational, bounded. A prompt sends no record twice to a session, and which records a reply cited is noted here.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from store.base.citations import cite, find
from store.base.errors import NotFound
from store.base.record_keys import NUMBERS, pack, unpack
from store.database.database import Database, Transaction
from store.database.erasure.purged_words import tells
from store.database.values import Verbatim
from store.database.writing.change_capture import PURGED
from store.records.timeline import open_counts

KEPT = 1_000  # injections
SENT = (*NUMBERS, "global")  # kinds of records


@dataclass(frozen=True, slots=True)
class Injection:
    """One text that an agent was sent: for a start, a prompt, a context it asked for, or a recovery (`event`). `why`
    says of each citation in it why it was sent, `used` are those that the reply cited."""

    id: int
    at: str
    client: str
    session: str
    event: str
    question: str
    text: str
    tokens: int
    why: dict[str, str]
    used: tuple[str, ...]


def keep(
    write: Transaction,
    *,
    client: str,
    session: str,
    event: str,
    question: str,
    text: str,
    tokens: int,
    why: Mapping[str, str],
) -> int:
    """Keep a text that is about to be sent, inside a transaction: its number. The oldest beyond KEPT go. In the place
    of a question that says what was purged a mark is kept."""
    number = write.insert(
        "injections",
        at=Verbatim(write.at),
        client=Verbatim(client),
        session=session,
        event=Verbatim(event),
        question=PURGED if question and tells(write.database, question) else question,
        text=text,
        tokens=tokens,
    )
    keys = dict(_keys(why))
    for key, reason in keys.items():
        write.insert("injected", injection=number, key=key, why=Verbatim(reason))
    open_counts.count(write, keys)
    write.execute(
        "DELETE FROM injections WHERE id <= (SELECT id FROM injections ORDER BY id DESC LIMIT 1 OFFSET ?)", (KEPT,)
    )
    return number


def already_sent(database: Database, session: str) -> set[int]:
    """Return the keys of what a session was sent."""
    if not session:
        return set()
    rows = database.rows(
        "SELECT DISTINCT d.key FROM injections i JOIN injected d ON d.injection = i.id WHERE i.session = ?", (session,)
    )
    return {key for (key,) in rows}


def note_reply(write: Transaction, session: str, reply: str) -> int:
    """Note which of the records that a session was sent a reply cites, inside a transaction; how many."""
    cited = {
        pack(citation.kind, int(citation.target))
        for _, _, citation in find(reply)
        if citation.kind in SENT and isinstance(citation.target, int)
    }
    if not cited:
        return 0
    write.execute(
        "UPDATE injected SET used = 1 WHERE used = 0 AND key IN (SELECT value FROM json_each(?))"
        " AND injection IN (SELECT id FROM injections WHERE session = ?)",
        (Verbatim(json.dumps(sorted(cited))), session),
    )
    found: int = write.database.connection.changes()
    return found


def newest(database: Database, client: str = "", limit: int = 50, session: str = "") -> list[Injection]:
    """Return what agents were sent, newest first; one client's, one session's, if it is named."""
    return _read(
        database,
        "(?1 = '' OR client = ?1) AND (?2 = '' OR session = ?2) ORDER BY id DESC LIMIT ?3",
        (client, session, limit),
    )


def get(database: Database, number: int) -> Injection:
    """Return one text that an agent was sent. Raise NotFound."""
    found = _read(database, "id = ?", (number,))
    if not found:
        raise NotFound("That is not kept any more.", f"The newest {KEPT:,} are: memoranda agents")
    return found[0]


def _read(database: Database, where: str, parameters: tuple[object, ...]) -> list[Injection]:
    rows = database.rows(
        f"SELECT id, at, client, session, event, question, text, tokens FROM injections WHERE {where}", parameters
    )
    numbers = json.dumps([row[0] for row in rows])
    inside: dict[int, list[tuple[str, str, int]]] = {}
    for number, key, why, used in database.rows(
        "SELECT injection, key, why, used FROM injected WHERE injection IN (SELECT value FROM json_each(?))"
        " ORDER BY key",
        (numbers,),
    ):
        inside.setdefault(number, []).append((_cited(database, key), why, used))
    found = []
    for row in rows:
        those = inside.get(row[0], [])
        used = tuple(citation for citation, _, is_used in those if is_used)
        found.append(Injection(*(*row, {citation: why for citation, why, _ in those}, used)))
    return found


def _keys(why: Mapping[str, str]) -> Iterable[tuple[int, str]]:
    for text, reason in why.items():
        for _, _, citation in find(text):
            if citation.kind in SENT and isinstance(citation.target, int):
                yield pack(citation.kind, citation.target), reason


def _cited(database: Database, key: int) -> str:
    kind, number = unpack(key)
    if kind == "commit":
        return cite(kind, database.value("SELECT substr(sha, 1, 7) FROM commits WHERE id = ?", (number,)) or number)
    return cite(kind, number)
