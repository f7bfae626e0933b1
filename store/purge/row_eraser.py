"""The effect of a purge on rows, inside its transaction: delete rows, cut words out of others, and remove what was
derived from both."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from store.base.record_keys import pack
from store.conversations import summaries
from store.database.database import Transaction
from store.database.values import Verbatim
from store.database.writing.change_capture import TEXTS, masked
from store.embedding import vector_backends
from store.embedding.input_text import digest, form
from store.history.checkpoint_payload import seal
from store.purge.proposals import DIGESTS
from store.purge.registry import DROPPED, INPUT, RECORD, TABLES, Table
from store.purge.scan.column_scan import NAMES, Ref, RemainingMatch, where_key, words_of
from store.purge.scan.pattern import Copies, Words
from store.records.fact_rows import text_hash


def by_table(refs: Iterable[Ref]) -> dict[str, list[str]]:
    """Group keys by table. The order of references does not matter: each table is deleted at once."""
    found: dict[str, list[str]] = {}
    for table, key in sorted(refs):
        found.setdefault(table, []).append(key)
    return found


def mask_history(write: Transaction, table: str, keys: list[str]) -> None:
    """Remove the words from the history of these records; that a record existed remains."""
    if table in TEXTS:
        write.rewrite(
            f"UPDATE history_row SET before = {masked(table, 'before')}, after = {masked(table, 'after')},"
            " salt = NULL, purged = 1 WHERE tbl = ? AND pk IN (SELECT value FROM json_each(?))",
            (Verbatim(table), Verbatim(json.dumps(keys))),
        )


def delete(write: Transaction, table: str, keys: list[str]) -> None:
    """Delete records, with their links, their counters, the notes of secrets cut out of them, the summaries of turns,
    and everything about sessions that have no turn left."""
    ids = Verbatim(json.dumps([int(key[1:-1]) for key in keys]))
    among = "IN (SELECT value FROM json_each(?))"
    if table == "decisions":
        write.execute(f"DELETE FROM commit_links WHERE decision_id {among}", (ids,))
    sessions = (
        list(write.rows(f"SELECT DISTINCT session FROM turns WHERE id {among}", (ids,))) if table == "turns" else []
    )
    if table == "turns":
        summaries.drop(write, json.loads(ids))
        write.execute(f"DELETE FROM pending_extraction WHERE turn {among}", (ids,))
    write.execute(f"DELETE FROM {table} WHERE id {among}", (ids,))
    for (session,) in sessions:
        for owner, name in (("context_usage", "session"), ("agent_sessions", "session"), ("sessions", "id")):
            write.execute(
                f"DELETE FROM {owner} WHERE {name} = ?1 AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1)",
                (Verbatim(session),),
            )
    write.execute(f"DELETE FROM redactions WHERE tbl = ? AND record {among}", (Verbatim(table), ids))
    packed = Verbatim(json.dumps([pack(NAMES[table], int(key[1:-1])) for key in keys]))
    for found in ("accesses", "sent", "injected", "muted"):
        write.execute(f"DELETE FROM {found} WHERE key {among}", (packed,))
    if table == "facts":
        write.execute(f"DELETE FROM mutes WHERE fact_id {among}", (ids,))


def successors(write: Transaction, gone: Collection[Ref]) -> set[Ref]:
    """Return the kept records that supersede one that is deleted."""
    found = set[Ref]()
    for table in ("facts", "decisions"):
        ids = Verbatim(json.dumps([int(key[1:-1]) for name, key in gone if name == table]))
        rows = write.rows(
            f"SELECT json_array(id) FROM {table} WHERE supersedes IN (SELECT value FROM json_each(?))", (ids,)
        )
        found |= {(table, key) for (key,) in rows}
    return found - set(gone)


def unlink(write: Transaction, refs: Iterable[Ref]) -> None:
    """Clear what these records supersede, in their history too: the superseded records are deleted."""
    for table, key in refs:
        write.rewrite(f"UPDATE {table} SET supersedes = NULL WHERE json_array(id) = ?", (Verbatim(key),))
        write.rewrite(
            "UPDATE history_row SET before = json_replace(before, '$.supersedes', NULL),"
            " after = json_replace(after, '$.supersedes', NULL), salt = NULL, purged = max(purged, 2)"
            " WHERE tbl = ? AND pk = ?",
            (Verbatim(table), Verbatim(key)),
        )


# scrubbing


def scrub(write: Transaction, place: RemainingMatch, words: Words, copies: Copies) -> None:
    """Cut the words from a row and its history, in a copy the `copies` of them; delete a row whose key has them."""
    database, table = write.database, place.table
    becomes = TABLES.get(table, Table(RECORD)).becomes
    words = words if becomes == RECORD else copies
    if table == "turns":
        summaries.drop(write, json.loads(place.key))
    names = words_of(database, table)
    row = write.execute(
        f"SELECT {', '.join(names)} FROM {table} WHERE {where_key(database, table)}", (Verbatim(place.key),)
    ).get
    if row is not None:
        values = (row,) if len(names) == 1 else row
        changed = _changed(table, dict(zip(names, values, strict=True)), words)
        keyed = database.rows("SELECT name FROM pragma_table_info(?) WHERE pk", (table,))
        if becomes in (INPUT, DROPPED) or any((name,) in keyed for name in changed):
            write.rewrite(f"DELETE FROM {table} WHERE {where_key(database, table)}", (Verbatim(place.key),))
        elif changed:
            write.rewrite(
                f"UPDATE {table} SET {', '.join(f'{name} = ?{at}' for at, name in enumerate(changed, start=2))}"
                f" WHERE {where_key(database, table)}",
                (Verbatim(place.key), *map(Verbatim, changed.values())),
            )
    if table == "checkpoints":
        seal(write, int(place.key[1:-1]))
    if table in TEXTS:
        _scrub_history(write, place, words)


def _scrub_history(write: Transaction, place: RemainingMatch, words: Words) -> None:
    """Cut the same words from the history of the record: it can still be undone, without them."""
    at = (Verbatim(place.table), Verbatim(place.key))
    for seq, n, *states in list(
        write.rows("SELECT seq, n, before, after FROM history_row WHERE tbl = ? AND pk = ?", at)
    ):
        if any(words.inside(state) for state in states):
            cut = [state and _state(place.table, state, words) for state in states]
            write.rewrite(
                "UPDATE history_row SET before = ?, after = ?, salt = NULL, purged = max(purged, 2)"
                " WHERE seq = ? AND n = ?",
                (*(Verbatim(state) if state else None for state in cut), seq, n),
            )


def _state(table: str, text: str, words: Words) -> str:
    """Return a row's JSON without the words."""
    row = json.loads(text)
    return json.dumps({**row, **_changed(table, row, words)}, ensure_ascii=False, separators=(",", ":"))


def _changed(table: str, row: dict[str, Any], words: Words) -> dict[str, Any]:
    """Return the columns that change when the words are cut."""
    cut = {name: words.cut(value) for name, value in row.items()}
    changed = {name: value for name, value in cut.items() if value != row[name]}
    if table == "facts" and "fact" in changed:
        changed["text_hash"] = text_hash(changed["fact"])
    if table == "proposals" and changed:
        changed |= {name: "" for name in DIGESTS if name in row}
    return changed


# vectors


def keys_of(places: Iterable[RemainingMatch]) -> Iterator[tuple[str, int]]:
    """Yield the records among these places that are searchable, and so have vectors."""
    for place in places:
        kind = NAMES.get(place.table) or ("commit" if place.table == "commits" else "")
        if kind and place.table != "commit_links":
            yield kind, int(json.loads(place.key)[0])


def embeddings(write: Transaction, records: Iterable[tuple[str, int]]) -> set[int]:
    """Return the vectors made from these records."""
    keys = [pack(kind, number) for kind, number in records]
    rows = write.rows(
        "SELECT v.embedding FROM json_each(?) j CROSS JOIN passages p ON p.row = j.value"
        " JOIN vectors v ON v.key IN (p.id * 2, p.id * 2 + 1)",
        (Verbatim(json.dumps(keys)),),
    )
    return {number for (number,) in rows}


def cached(write: Transaction, texts: Iterable[str]) -> set[int]:
    """Return the vectors that were once made from exactly these texts, for whichever record."""
    models = [model for (model,) in write.rows("SELECT fingerprint FROM embedding_models")]
    names = [digest(model, form("fact", "", text)) for model in models for text in texts]
    found = (write.execute("SELECT id FROM embeddings WHERE digest = ?", (name,)).get for name in names)
    return {number for number in found if number is not None}


def drop_unused(write: Transaction, vectors: Iterable[int]) -> None:
    """Delete those of these vectors that no record uses any more, and the binary signatures of all deleted ones."""
    for number in vectors:
        write.execute(
            "DELETE FROM embeddings WHERE id = ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedding = ?)",
            (number, number),
        )
    vector_backends.forget(write)
