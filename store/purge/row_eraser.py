"""The effect of a purge on rows, inside its transaction: delete rows, cut words out of others, and remove what was
derived from both."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from store.base.citations import cite
from store.base.vocabulary import KIND_BY_TABLE, pack_key
from store.conversations.summaries import drop_summaries
from store.database.change_capture import PURGED_MARK, PURGED_VALUES, mask_texts_sql
from store.database.database import Transaction
from store.database.values import Verbatim, dump_compact_json
from store.embedding.provider import digest_input_text, format_input_text
from store.embedding.vector_codes import forget_deleted_codes
from store.history.checkpoint_payload import seal_checkpoint
from store.purge.registry import DROPPED_TABLE, INPUT_TABLE, RECORD_TABLE, TEXT_TABLES, TextTable
from store.purge.word_search import (
    PurgedCopies,
    PurgedTexts,
    RemainingMatch,
    RowRef,
    list_word_columns,
    row_key_condition,
)
from store.records.facts import text_hash

# The effect of a purge on proposals that are kept: remove digests of purged texts, and close those that are empty.

# columns of a proposal that only show whether a text was this one
DIGEST_COLUMNS = ("asked", "based_on")


def find_proposals_about(write: Transaction, facts: Collection[int]) -> set[str]:
    """Return the keys of the proposals about these facts."""
    cited = [cite("fact", number) for number in facts]
    return set(
        write.column(
            "SELECT json_array(id) FROM proposals WHERE target IN (SELECT value FROM json_each(?1))"
            " OR EXISTS (SELECT 1 FROM json_each(others) WHERE value IN (SELECT value FROM json_each(?2)))",
            (Verbatim(json.dumps(list(facts))), Verbatim(json.dumps(cited))),
        )
    )


def drop_proposal_digests(write: Transaction, keys: Collection[str]) -> None:
    """Remove the digests, of their own texts and of the facts that they are about, from proposals and their history."""
    among = "IN (SELECT value FROM json_each(?))"
    chosen = (Verbatim(json.dumps(sorted(keys))),)
    gone = ", ".join(f"{name} = ''" for name in DIGEST_COLUMNS)
    write.execute_unrecorded(f"UPDATE proposals SET {gone} WHERE json_array(id) {among}", chosen)
    blank = ", ".join(f"'$.{name}', ''" for name in DIGEST_COLUMNS)
    write.execute_unrecorded(
        f"UPDATE history_row SET before = json_replace(before, {blank}), after = json_replace(after, {blank}),"
        f" salt = NULL, purged = max(purged, 2) WHERE tbl = 'proposals' AND pk {among}",
        chosen,
    )


def close_empty_proposals(write: Transaction, keys: Iterable[str]) -> None:
    """Reject the proposals among these that are empty now, so that nobody has to decide them."""
    for key in sorted(keys):
        write.execute(
            "UPDATE proposals SET state = 'rejected', decided_at = ?1"
            " WHERE id = ?2 AND state = 'waiting' AND trim(text, ' .!;,') = ?3",
            (write.at, json.loads(key)[0], Verbatim(PURGED_MARK)),
        )


def group_by_table(refs: Iterable[RowRef]) -> dict[str, list[str]]:
    """Group keys by table. The order of references does not matter: each table is deleted at once."""
    found: dict[str, list[str]] = {}
    for table, key in sorted(refs):
        found.setdefault(table, []).append(key)
    return found


def mask_record_history(write: Transaction, table: str, keys: list[str]) -> None:
    """Remove the words from the history of these records; that a record existed remains."""
    if table in PURGED_VALUES:
        write.execute_unrecorded(
            "UPDATE history_row SET before = "
            f"{mask_texts_sql(table, 'before')}, after = {mask_texts_sql(table, 'after')},"
            " salt = NULL, purged = 1 WHERE tbl = ? AND pk IN (SELECT value FROM json_each(?))",
            (Verbatim(table), Verbatim(json.dumps(keys))),
        )


def delete_records(write: Transaction, table: str, keys: list[str]) -> None:
    """Delete records, with their links, their counters, the notes of secrets cut out of them, the summaries of turns,
    and everything about sessions that have no turn left."""
    ids = Verbatim(json.dumps([int(key[1:-1]) for key in keys]))
    among = "IN (SELECT value FROM json_each(?))"
    if table == "decisions":
        write.execute(f"DELETE FROM commit_links WHERE decision_id {among}", (ids,))
    sessions = (
        list(write.rows(f"SELECT DISTINCT session FROM turns WHERE id {among}", (ids,)))
        if table == "turns"
        else []
    )
    if table == "turns":
        drop_summaries(write, json.loads(ids))
        write.execute(f"DELETE FROM pending_extraction WHERE turn {among}", (ids,))
    write.execute(f"DELETE FROM {table} WHERE id {among}", (ids,))
    for (session,) in sessions:
        for owner, name in (("context_usage", "session"), ("agent_sessions", "session"), ("sessions", "id")):
            write.execute(
                f"DELETE FROM {owner} WHERE {name} = ?1 AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1)",
                (Verbatim(session),),
            )
    write.execute(f"DELETE FROM redactions WHERE tbl = ? AND record {among}", (Verbatim(table), ids))
    packed = Verbatim(json.dumps([pack_key(KIND_BY_TABLE[table], int(key[1:-1])) for key in keys]))
    for found in ("accesses", "sent", "injected", "muted"):
        write.execute(f"DELETE FROM {found} WHERE key {among}", (packed,))
    if table == "facts":
        write.execute(f"DELETE FROM mutes WHERE fact_id {among}", (ids,))


def find_successors(write: Transaction, gone: Collection[RowRef]) -> set[RowRef]:
    """Return the kept records that supersede a deleted record."""
    found = set[RowRef]()
    for table in ("facts", "decisions"):
        ids = Verbatim(json.dumps([int(key[1:-1]) for name, key in gone if name == table]))
        rows = write.column(
            f"SELECT json_array(id) FROM {table} WHERE supersedes IN (SELECT value FROM json_each(?))", (ids,)
        )
        found |= {(table, key) for key in rows}
    return found - set(gone)


def clear_supersedes(write: Transaction, refs: Iterable[RowRef]) -> None:
    """Clear what these records supersede, in their history too: the superseded records are deleted."""
    for table, key in refs:
        write.execute_unrecorded(
            f"UPDATE {table} SET supersedes = NULL WHERE json_array(id) = ?", (Verbatim(key),)
        )
        write.execute_unrecorded(
            "UPDATE history_row SET before = json_replace(before, '$.supersedes', NULL),"
            " after = json_replace(after, '$.supersedes', NULL), salt = NULL, purged = max(purged, 2)"
            " WHERE tbl = ? AND pk = ?",
            (Verbatim(table), Verbatim(key)),
        )


# scrubbing


def scrub_row(write: Transaction, place: RemainingMatch, words: PurgedTexts, copies: PurgedCopies) -> None:
    """Cut the words from a row and its history, in a copy the `copies` of them; delete a row whose key has them."""
    database, table = write.database, place.table
    becomes = TEXT_TABLES.get(table, TextTable(RECORD_TABLE)).becomes
    words = words if becomes == RECORD_TABLE else copies
    if table == "turns":
        drop_summaries(write, json.loads(place.key))
    names = list_word_columns(database, table)
    row = write.first(
        f"SELECT {', '.join(names)} FROM {table} WHERE {row_key_condition(database, table)}",
        (Verbatim(place.key),),
    )
    if row is not None:
        values = (row,) if len(names) == 1 else row
        changed = _changed_columns(table, dict(zip(names, values, strict=True)), words)
        keyed = database.rows("SELECT name FROM pragma_table_info(?) WHERE pk", (table,))
        if becomes in (INPUT_TABLE, DROPPED_TABLE) or any((name,) in keyed for name in changed):
            write.execute_unrecorded(
                f"DELETE FROM {table} WHERE {row_key_condition(database, table)}", (Verbatim(place.key),)
            )
        elif changed:
            write.execute_unrecorded(
                f"UPDATE {table} SET {', '.join(f'{name} = ?{at}' for at, name in enumerate(changed, start=2))}"
                f" WHERE {row_key_condition(database, table)}",
                (Verbatim(place.key), *map(Verbatim, changed.values())),
            )
    if table == "checkpoints":
        seal_checkpoint(write, int(place.key[1:-1]))
    if table in PURGED_VALUES:
        _scrub_row_history(write, place, words)


def _scrub_row_history(write: Transaction, place: RemainingMatch, words: PurgedTexts) -> None:
    """Cut the words out of the history of the record too: it can still be undone, without them."""
    at = (Verbatim(place.table), Verbatim(place.key))
    for seq, n, *states in list(
        write.rows("SELECT seq, n, before, after FROM history_row WHERE tbl = ? AND pk = ?", at)
    ):
        if any(words.occur_in(state) for state in states):
            cut = [state and _scrub_state(place.table, state, words) for state in states]
            replace_step_row(write, seq, n, cut)


def replace_step_row(write: Transaction, seq: int, n: int, states: Iterable[str | None]) -> None:
    """Put cut states in the row of a step, drop its salt and keep its leaf: the chain of digests stays valid without
    the text."""
    write.execute(
        "UPDATE history_row SET before = ?, after = ?, salt = NULL, purged = max(purged, 2) WHERE seq = ? AND n = ?",
        (*(Verbatim(state) if state else None for state in states), seq, n),
    )


def _scrub_state(table: str, text: str, words: PurgedTexts) -> str:
    """Return a row's JSON without the words."""
    row = json.loads(text)
    return dump_compact_json({**row, **_changed_columns(table, row, words)})


def _changed_columns(table: str, row: dict[str, Any], words: PurgedTexts) -> dict[str, Any]:
    """Return the columns that change when the words are cut."""
    cut = {name: words.cut(value) for name, value in row.items()}
    changed = {name: value for name, value in cut.items() if value != row[name]}
    if table == "facts" and "fact" in changed:
        changed["text_hash"] = text_hash(changed["fact"])
    if table == "proposals" and changed:
        changed |= {name: "" for name in DIGEST_COLUMNS if name in row}
    return changed


# vectors


def list_searchable_records(places: Iterable[RemainingMatch]) -> Iterator[tuple[str, int]]:
    """Yield the records among these places that are searchable, and so have vectors."""
    for place in places:
        kind = KIND_BY_TABLE.get(place.table)
        if kind and place.table != "commit_links":
            yield kind, int(json.loads(place.key)[0])


def find_record_vectors(write: Transaction, records: Iterable[tuple[str, int]]) -> set[int]:
    """Return the vectors made from these records."""
    keys = [pack_key(kind, number) for kind, number in records]
    return set(
        write.column(
            "SELECT v.embedding FROM json_each(?) j CROSS JOIN passages p ON p.row = j.value"
            " JOIN vectors v ON v.key IN (p.id * 2, p.id * 2 + 1)",
            (Verbatim(json.dumps(keys)),),
        )
    )


def find_cached_vectors(write: Transaction, texts: Iterable[str]) -> set[int]:
    """Return the vectors that were made from exactly these texts, for whichever record."""
    models = write.column("SELECT fingerprint FROM embedding_models")
    names = [digest_input_text(model, format_input_text("fact", "", text)) for model in models for text in texts]
    found = (write.first("SELECT id FROM embeddings WHERE digest = ?", (name,)) for name in names)
    return {number for number in found if number is not None}


def drop_unused_vectors(write: Transaction, vectors: Iterable[int]) -> None:
    """Delete the vectors that no record uses any more, and the binary signatures of all deleted vectors."""
    for number in vectors:
        write.execute(
            "DELETE FROM embeddings WHERE id = ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedding = ?)",
            (number, number),
        )
    forget_deleted_codes(write)
