"""What would be purged, and its doing: one transaction over records, their history, and all that was made of them."""

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from store import spool, tombstones
from store.citations import cite
from store.database import Database
from store.database.ballast import with_room
from store.database.capture import TEXTS, columns
from store.documents import Documents
from store.errors import Conflict, InvalidInput, MemorandaError, NotFound
from store.packing import every_row, unpack
from store.purge import asked, files, finishing, wiping
from store.purge.places import Place, Ref, elsewhere
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
    "summary": ("summaries", ("topic", "outcome", "discussed", "decisions", "open_questions")),
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
    """What a purge did: records `purged`, places `scrubbed`, the places `left` as they are, what `finish` said, and the
    `files` that were cut, each with what even so stays."""

    purged: int
    scrubbed: int
    left: tuple[Place, ...]
    finished: finishing.Finished
    files: tuple[tuple[str, str], ...] = ()


class Purge:
    """What can be purged of one memory."""

    def __init__(self, database: Database, documents: Documents | None = None) -> None:
        """Without `documents`, as for a backup, no file is looked at."""
        self._database = database
        self._documents = documents

    def plan(self, records: Iterable[tuple[str, int]]) -> PurgePlan:
        """What purging these records, each a kind of `SAID` and an id, would take away. With a record goes all that it
        superseded and that superseded it, and every fact that says the same. Raises NotFound, InvalidInput."""
        named = dict.fromkeys(records)
        if not named:
            raise InvalidInput("Nothing to purge was named.", "Name records: purge 12 D#3; or --query, or --origin.")
        for kind, _ in named:
            if kind not in SAID:
                raise InvalidInput(f"A {kind} cannot be purged.", f"What can: {', '.join(SAID)}.")
        with self._database.one_moment():
            going, texts = self._going(named)
            words = Words(texts)
            places = elsewhere(self._database, words, {(one.table, one.key) for one in going})
        if count := spool.holding(self._database.path, words) if words else 0:
            where = "1 line" if count == 1 else f"{count:,} lines"
            places.append(Place("spool", "spool", "[]", "not brought in yet", where, chosen=True))
        if words and self._documents is not None:
            lie = self._documents.places
            places += files.found(self._database, lie, words)
            places += files.exports((os.path.dirname(self._database.path), lie.base), words)
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
        clean up. A file that was changed since it was looked at is left. On a full disk the ballast makes room. Raises
        Conflict when something changed since in the memory, StorageError."""
        picked = plan.proposed() if chosen is None else frozenset(chosen)
        self.erase(plan, picked, actor=actor)
        refused = self._cut_files([plan.places[index] for index in picked])
        finished = finishing.finish(self._database, plan.texts)
        left = tuple(place for index, place in enumerate(plan.places) if index not in picked) + tuple(
            replace(place, what=f"your file: {why}", can=False) for place, why in refused.items()
        )
        were_cut = [one for one in (plan.places[index] for index in sorted(picked)) if one.table == "file"]
        told = dict.fromkeys((one.key, one.note) for one in were_cut if one not in refused)
        return Done(len(plan.going), len(picked) - len(refused), left, finished, tuple(told))

    def _cut_files(self, places: Iterable[Place]) -> dict[Place, str]:
        """Cut the words out of files; why some were left."""
        chosen = [place for place in places if place.table == "file"]
        if not chosen or self._documents is None:
            return {}
        refused = files.cut(self._documents.places, chosen)
        with contextlib.suppress(MemorandaError):  # what is not read now is read by the next scan
            self._documents.scan()
        return refused

    def erase(self, plan: PurgePlan, chosen: Collection[int], *, actor: str = PERSON) -> None:
        """The transaction of a purge, and the spool: what `finish` cleans up is still to be done. Raises as `run`."""
        places = [plan.places[index] for index in sorted(chosen)]
        if stuck := next((place for place in places if not place.can), None):
            raise InvalidInput(f"{stuck.citation} cannot be scrubbed: {stuck.what}.", "Leave it out.")
        chosen_files = {place.key for place in places if place.table == "file"}
        stay = {place.key for place in plan.places if place.table == "file"} - chosen_files
        with_room(self._database.path, lambda: self._erase(plan, places, stay, actor))
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

    def _erase(self, plan: PurgePlan, chosen: Sequence[Place], stay: Collection[str], actor: str) -> None:
        """`stay` are the files whose words, and what the index has of them, stay as they are."""
        words = Words(plan.texts)
        places = [place for place in chosen if place.table not in ("spool", "file")]
        indexed = [path for path in files.indexed(self._database, words) if path not in stay] if words else []
        gone = {(one.table, one.key) for one in plan.going}
        with self._database.write(actor, _reason(plan.going)) as write:
            named = [(one.kind, int(one.key[1:-1])) for one in plan.going]
            still, texts = self._going(named)
            if {(one.table, one.key) for one in still} != gone or not set(texts) <= set(plan.texts):
                raise Conflict("Something changed while you looked; nothing was purged.", "Look again.")
            tombstones.bury(write, _graves(self._rows_of(plan)))
            tombstones.cut_out(write)
            write.execute("DELETE FROM answers_cache")  # an answer may say it in other words
            made = wiping.embeddings(write, [*named, *wiping.keys_of(places)])
            made |= wiping.cached(write, plan.texts)
            write.purged |= gone
            cut = {(place.table, place.key) for place in places if place.table in TEXTS}
            facts = [int(key[1:-1]) for table, key in gone | cut if table == "facts"]
            told = {key for table, key in cut if table == "proposals"} | asked.about(write, facts)
            told = {key for key in told if ("proposals", key) not in gone}
            unpack(write, gone | cut | {("proposals", key) for key in told})
            for table, keys in wiping.by_table(gone).items():
                wiping.mask_history(write, table, keys)
                wiping.delete(write, table, keys)
            for place in places:
                wiping.scrub(write, place, words)
            asked.drop_digests(write, told)
            asked.close_emptied(write, told)
            made |= files.drop(write, indexed)
            wiping.drop_unused(write, made)
            finishing.note(write, [(place.table, place.key) for place in places])

    def _rows_of(self, plan: PurgePlan) -> list[tuple[str, dict[str, Any]]]:
        rows = []
        for table, keys in wiping.by_table({(one.table, one.key) for one in plan.going}).items():
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
