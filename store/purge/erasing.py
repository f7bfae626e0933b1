"""What would be purged, and its doing: one transaction over records, their history, and all that was made of them."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from store import spool, tombstones
from store.citations import cite
from store.contents import seal
from store.database import Database, Verbatim, Write
from store.database.ballast import with_room
from store.database.capture import TEXTS, columns, masked
from store.embedding.form import digest, form
from store.errors import Conflict, InvalidInput, NotFound
from store.facts import text_hash
from store.keys import pack
from store.packing import every_row, unpack
from store.purge import finishing
from store.purge.places import NAMES, Place, Ref, elsewhere, text_columns, where_key
from store.purge.words import Words
from store.vocabulary import PERSON

# what can be purged: a kind of record, its table, and the columns that hold its words, the first being its own text
SAID = {
    "fact": ("facts", ("fact",)),
    "decision": ("decisions", ("title", "chosen", "context", "rationale", "alternatives")),
    "task": ("tasks", ("text",)),
    "proposal": ("proposals", ("text",)),
    "turn": ("turns", ("text",)),
    "event": ("events", ("payload",)),
}
TABLES = {table: kind for kind, (table, _) in SAID.items()}
LONG = 16  # characters from which a decision's option, context or reason is looked for elsewhere; a title always is


@dataclass(frozen=True, slots=True)
class Going:
    """A record that goes: `kind`, `citation`, its row's `table` and `key`, its own `text`, `why` it is among them."""

    kind: str
    citation: str
    table: str
    key: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class PurgePlan:
    """What would go, and the other `places` that hold the same words. `texts` are those words: they are held in memory
    and written nowhere."""

    going: tuple[Going, ...]
    places: tuple[Place, ...]
    texts: tuple[str, ...] = field(repr=False)

    def proposed(self) -> frozenset[int]:
        """The places, by index, that are scrubbed unless a person says otherwise."""
        return frozenset(index for index, place in enumerate(self.places) if place.chosen)


@dataclass(frozen=True, slots=True)
class Done:
    """What a purge did: records `purged`, places `scrubbed`, the places `left` as they are, and what `finish` said."""

    purged: int
    scrubbed: int
    left: tuple[Place, ...]
    finished: finishing.Finished


class Purge:
    """What can be purged of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan(self, records: Iterable[tuple[str, int]]) -> PurgePlan:
        """What purging these records, each a kind of `SAID` and an id, would take away. With a record goes all that it
        superseded and that superseded it, and every fact that says the same. Raises NotFound, InvalidInput."""
        named = dict.fromkeys(records)
        if not named:
            raise InvalidInput("Nothing to purge was named.", "Name records: purge 12 D#3; or --query, or --origin.")
        for kind, _ in named:
            if kind not in SAID:
                raise InvalidInput(f"A {kind} cannot be purged.", f"What can: {', '.join(SAID)}.")
        with self._database.connection:  # all that is read is of the same moment
            going, texts = self._going(named)
            words = Words(texts)
            places = elsewhere(self._database, words, {(one.table, one.key) for one in going})
        if count := spool.holding(self._database.path, words) if words else 0:
            where = "1 line" if count == 1 else f"{count:,} lines"
            places.append(Place("spool", "spool", "[]", "not brought in yet", where, chosen=True))
        return PurgePlan(tuple(going), tuple(places), tuple(dict.fromkeys(texts)))

    def same(self, buried: tombstones.Buried, scrubbed: Collection[Ref], texts: Sequence[str] = ()) -> PurgePlan:
        """What was purged elsewhere, in a backup: its records are those whose text is `buried`, its places among the
        rows that were `scrubbed` there, or copies."""
        records = [
            (kind, number)
            for kind, (table, _) in SAID.items()
            if table != "events"
            for number, row in self._rows(table, None).items()
            if buried(grave(table, row))
        ]
        going, found = self._going(records)
        words = Words([*texts, *found])
        places = elsewhere(self._database, words, {(one.table, one.key) for one in going})
        kept = [one for one in places if one.can and (one.chosen or (one.table, one.key) in scrubbed)]
        return PurgePlan(tuple(going), tuple(kept), tuple(dict.fromkeys([*texts, *found])))

    def of_origin(self, origin: str) -> list[tuple[str, int]]:
        """All records that can be purged and that this origin wrote. Raises NotFound."""
        found = [
            (kind, number)
            for kind, (table, _) in SAID.items()
            for (number,) in self._database.rows(f"SELECT id FROM {table} WHERE origin = ? ORDER BY id", (origin,))
        ]
        if not found:
            raise NotFound("Nothing here was written by that origin.", "See who wrote: `memoranda history`.")
        return found

    def run(self, plan: PurgePlan, chosen: Collection[int] | None = None, *, actor: str = PERSON) -> Done:
        """Purge what the plan shows, and cut the words from the `chosen` places, those proposed without a choice; then
        clean up. On a full disk the ballast makes room. Raises Conflict when something changed since, StorageError."""
        picked = plan.proposed() if chosen is None else frozenset(chosen)
        self.erase(plan, picked, actor=actor)
        finished = finishing.finish(self._database, plan.texts)
        left = tuple(place for index, place in enumerate(plan.places) if index not in picked)
        return Done(len(plan.going), len(picked), left, finished)

    def erase(self, plan: PurgePlan, chosen: Collection[int], *, actor: str = PERSON) -> None:
        """The transaction of a purge, and the spool: what `finish` cleans up is still to be done. Raises as `run`."""
        places = [plan.places[index] for index in sorted(chosen)]
        if stuck := next((place for place in places if not place.can), None):
            raise InvalidInput(f"{stuck.citation} cannot be scrubbed: {stuck.what}.", "Leave it out.")
        with_room(self._database.path, lambda: self._erase(plan, places, actor))
        if any(place.table == "spool" for place in places):
            spool.drop(self._database.path, Words(plan.texts))

    # working out

    def _going(self, named: Iterable[tuple[str, int]]) -> tuple[list[Going], list[str]]:
        wanted: dict[str, dict[int, str]] = {}
        for kind, number in named:
            wanted.setdefault(SAID[kind][0], {})[number] = ""
        for table in ("facts", "decisions"):
            if table in wanted:
                self._with_chain(table, wanted[table])
        going, texts = list[Going](), list[str]()
        for table, why in wanted.items():
            kind = TABLES[table]
            rows = self._rows(table, why)
            for number, reason in sorted(why.items()):
                if number not in rows:
                    raise NotFound(
                        f"There is no {kind} {cite(kind, number)}.", "It may be purged already; look at the lists."
                    )
                said = list(_said(table, rows[number]))
                key = f"[{number}]"
                going.append(Going(kind, cite(kind, number), table, key, said[0] if said else "", reason))
                texts += said
                texts += self._said_before(table, key)
        return going, texts

    def _with_chain(self, table: str, wanted: dict[int, str]) -> None:
        """Add what belongs to these records: the chain of what superseded what, and the facts that say the same."""
        ways = [
            (f"SELECT supersedes FROM {table} WHERE supersedes IS NOT NULL AND id IN ids", "superseded by one of them"),
            (f"SELECT id FROM {table} WHERE supersedes IN ids", "supersedes one of them"),
        ]
        if table == "facts":
            hashes = "SELECT text_hash FROM facts WHERE id IN ids"
            ways.append((f"SELECT id FROM facts WHERE text_hash IN ({hashes})", "says the same"))
        new = list(wanted)
        while new:
            ids = json.dumps(new)
            new = []
            for sql, why in ways:
                for (number,) in self._database.rows(
                    f"WITH ids(id) AS MATERIALIZED (SELECT value FROM json_each(?)) {sql}", (ids,)
                ):
                    if number not in wanted:
                        wanted[number] = why
                        new.append(number)

    def _rows(self, table: str, numbers: Iterable[int] | None) -> dict[int, dict[str, Any]]:
        """The rows of these ids that are there, by column name; without ids all of them."""
        names = columns(self._database.connection, table)
        sql = f"SELECT {', '.join(names)} FROM {table}"
        if numbers is None:
            rows = self._database.rows(sql)
        else:
            rows = self._database.rows(
                f"{sql} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
            )
        return {row[0]: dict(zip(names, row, strict=True)) for row in rows}

    def _said_before(self, table: str, key: str) -> Iterator[str]:
        """What a record said in its history, where its own text may be changed in place."""
        if table == "tasks":
            for states in self._database.rows(
                f"SELECT before ->> '$.text', after ->> '$.text' FROM {every_row(self._database)}"
                " WHERE tbl = ? AND pk = ?",
                (table, key),
            ):
                yield from (text for text in states if text)

    # doing

    def _erase(self, plan: PurgePlan, places: Sequence[Place], actor: str) -> None:
        words = Words(plan.texts)
        gone = {(one.table, one.key) for one in plan.going}
        with self._database.write(actor, _reason(plan.going)) as write:
            named = [(one.kind, int(one.key[1:-1])) for one in plan.going]
            still, texts = self._going(named)
            if {(one.table, one.key) for one in still} != gone or not set(texts) <= set(plan.texts):
                raise Conflict("Something changed while you looked; nothing was purged.", "Look again.")
            tombstones.bury(write, _graves(self._rows_of(plan)))
            made = _embeddings(write, [*named, *_keys_of(places)])
            made |= _cached(write, plan.texts)
            write.purged |= gone
            unpack(write, gone | {(place.table, place.key) for place in places if place.table in TEXTS})
            for table, keys in _by_table(gone).items():
                _mask_history(write, table, keys)
                _delete(write, table, keys)
            for place in places:
                if place.table != "spool":
                    _scrub(write, place, words)
            _drop_unused(write, made)
            finishing.note(write, [(place.table, place.key) for place in places if place.table != "spool"])

    def _rows_of(self, plan: PurgePlan) -> list[tuple[str, dict[str, Any]]]:
        rows = []
        for table, keys in _by_table({(one.table, one.key) for one in plan.going}).items():
            rows += [(table, row) for row in self._rows(table, [int(key[1:-1]) for key in keys]).values()]
        return rows


def grave(table: str, row: dict[str, Any]) -> str:
    """The text that a record's tombstone is of."""
    if table == "decisions":
        return tombstones.decision_text(row["title"], row["chosen"])
    return str(row[SAID[TABLES[table]][1][0]])


def _graves(rows: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    return [grave(table, row) for table, row in rows if table != "events"]


def _said(table: str, row: dict[str, Any]) -> Iterator[str]:
    """The texts of a record that are looked for elsewhere, its own first."""
    first, *rest = SAID[TABLES[table]][1]
    if table == "events":
        yield from (text for text in _strings(json.loads(row[first])) if len(text) >= LONG)
        return
    yield str(row[first])
    for name in rest:
        texts = json.loads(row[name]) if name == "alternatives" else [row[name]]
        yield from (text for text in texts if isinstance(text, str) and len(text) >= LONG)


def _strings(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list | dict):
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from _strings(item)


def _reason(going: Sequence[Going]) -> str:
    more = f" +{len(going) - 10}" if len(going) > 10 else ""
    return f"purge {' '.join(one.citation for one in going[:10])}{more}"


def _by_table(refs: Iterable[Ref]) -> dict[str, list[str]]:
    """Keys by table; what refers to others before what it refers to does not matter: each table goes at once."""
    found: dict[str, list[str]] = {}
    for table, key in sorted(refs):
        found.setdefault(table, []).append(key)
    return found


def _mask_history(write: Write, table: str, keys: list[str]) -> None:
    """Take the words out of what history says of these records; that something was there, stays."""
    if table in TEXTS:
        write.rewrite(
            f"UPDATE history_row SET before = {masked(table, 'before')}, after = {masked(table, 'after')},"
            " salt = NULL, purged = 1 WHERE tbl = ? AND pk IN (SELECT value FROM json_each(?))",
            (Verbatim(table), Verbatim(json.dumps(keys))),
        )


def _delete(write: Write, table: str, keys: list[str]) -> None:
    ids = Verbatim(json.dumps([int(key[1:-1]) for key in keys]))
    if table == "decisions":
        write.execute("DELETE FROM commit_links WHERE decision_id IN (SELECT value FROM json_each(?))", (ids,))
    write.execute(f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))", (ids,))
    packed = Verbatim(json.dumps([pack(TABLES[table], int(key[1:-1])) for key in keys]))
    write.execute("DELETE FROM accesses WHERE key IN (SELECT value FROM json_each(?))", (packed,))


# scrubbing


def _scrub(write: Write, place: Place, words: Words) -> None:
    """Cut the words from a row and from what history says of it; a row whose key they are in goes."""
    database, table = write.database, place.table
    names = text_columns(database, table)
    row = write.execute(
        f"SELECT {', '.join(names)} FROM {table} WHERE {where_key(database, table)}", (Verbatim(place.key),)
    ).get
    if row is not None:
        values = (row,) if len(names) == 1 else row
        changed = _changed(table, dict(zip(names, values, strict=True)), words)
        keyed = database.rows("SELECT name FROM pragma_table_info(?) WHERE pk", (table,))
        if table == "queries" or any((name,) in keyed for name in changed):
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


def _scrub_history(write: Write, place: Place, words: Words) -> None:
    """The same words in the past of the same record: it can still be taken back, without them."""
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
    """A row's JSON without the words."""
    row = json.loads(text)
    return json.dumps({**row, **_changed(table, row, words)}, ensure_ascii=False, separators=(",", ":"))


def _changed(table: str, row: dict[str, Any], words: Words) -> dict[str, Any]:
    """The columns that are others without the words."""
    cut = {name: words.cut(value) for name, value in row.items()}
    changed = {name: value for name, value in cut.items() if value != row[name]}
    if table == "facts" and "fact" in changed:
        changed["text_hash"] = text_hash(changed["fact"])
    return changed


# vectors


def _keys_of(places: Iterable[Place]) -> Iterator[tuple[str, int]]:
    """The records among these places that can be found, and so have vectors."""
    for place in places:
        kind = NAMES.get(place.table) or ("commit" if place.table == "commits" else "")
        if kind and place.table != "commit_links":
            yield kind, int(json.loads(place.key)[0])


def _embeddings(write: Write, records: Iterable[tuple[str, int]]) -> set[int]:
    """The vectors that were made of these records."""
    keys = [pack(kind, number) * 2 + slot for kind, number in records for slot in (0, 1)]
    rows = write.rows(
        "SELECT embedding FROM vectors WHERE key IN (SELECT value FROM json_each(?))", (Verbatim(json.dumps(keys)),)
    )
    return {number for (number,) in rows}


def _cached(write: Write, texts: Iterable[str]) -> set[int]:
    """The vectors that were made of these very texts once, for whichever record."""
    models = [model for (model,) in write.rows("SELECT fingerprint FROM embedding_models")]
    names = [digest(model, form("fact", "", text)) for model in models for text in texts]
    found = (write.execute("SELECT id FROM embeddings WHERE digest = ?", (name,)).get for name in names)
    return {number for number in found if number is not None}


def _drop_unused(write: Write, embeddings: Iterable[int]) -> None:
    """Of these vectors, those that no record has any more."""
    for number in embeddings:
        write.execute(
            "DELETE FROM embeddings WHERE id = ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedding = ?)",
            (number, number),
        )
