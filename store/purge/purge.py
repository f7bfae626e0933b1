"""Plan a purge and run it: one transaction over records, their history, and all that was derived from them."""

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from store.base import hook_resident
from store.base.citations import cite
from store.base.errors import Conflict, DiskFull, InvalidInput, MemorandaError, NotFound
from store.base.vocabulary import PERSON
from store.conversations import hook_spool
from store.database.database import Database
from store.database.erasure import purged_words, tombstones
from store.database.erasure.purge_state import pending
from store.database.writing import disk_reserve
from store.database.writing.change_capture import TEXTS, columns
from store.documents.documents import Documents
from store.exchange import noted_exports
from store.history.compression import every_row, unpack
from store.purge import documents as files
from store.purge import finalize, guarded, proposals, row_eraser
from store.purge.scan.column_scan import Elsewhere, Ref, RemainingMatch, elsewhere
from store.purge.scan.pattern import Copies, Words
from store.purge.scan.unique_words import distinct, said_elsewhere

# what can be purged: a kind of record, its table, and the columns that hold its words, its own text first
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
CAME = {  # when a record was created
    "facts": "created_at",
    "decisions": "decided_at",
    "tasks": "created_at",
    "proposals": "created_at",
    "turns": "at",
    "events": "created_at",
    "summaries": "created_at",
}
CHAINED = ("facts", "decisions")  # one record supersedes another
# a fact, another that was merged into it and is among its evidence since, and the step that changed both
MERGED = """
SELECT {0} FROM facts AS stays, json_each(stays.evidence) AS cited
JOIN facts AS gone ON gone.id = CAST(substr(cited.value, 3) AS INTEGER)
WHERE {2} AND stays.evidence LIKE '%F#%' AND cited.value LIKE 'F#%' AND gone.status = 'superseded' AND EXISTS (
  SELECT 1 FROM {1} AS one JOIN {1} AS other USING(seq)
  WHERE one.tbl = 'facts' AND one.pk = json_array(gone.id) AND other.tbl = 'facts' AND other.pk = json_array(stays.id))
"""
OF_PERSON = ("export", guarded.TABLE)  # places outside of the memory, of which its backups know nothing
ELSEWHERE = ("spool", "file", guarded.TABLE)  # places that are no row of the memory
LONG = 16  # characters from which a decision's option, context or reason is looked for elsewhere; a title always is


@dataclass(frozen=True, slots=True)
class Going:
    """A record to be purged: `kind`, `citation`, its row's `table` and `key`, its own `text`, and `why` it is
    listed."""

    kind: str
    citation: str
    table: str
    key: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class PurgePlan:
    """What would be purged, and the other `places` that contain the same words. `texts` are those words, `names` those
    that only these records contain: both are held in memory and never stored. `alone` means that only these records are
    purged, and not those that supersede them; `unsought` are then the texts that records which are kept contain too."""

    going: tuple[Going, ...]
    places: tuple[RemainingMatch, ...]
    texts: tuple[str, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False, default=())
    alone: bool = False
    unsought: tuple[str, ...] = field(repr=False, default=())

    def proposed(self) -> frozenset[int]:
        """Return the places, by index, that are scrubbed unless a person decides otherwise: all that can be."""
        return frozenset(index for index, place in enumerate(self.places) if place.can)

    def sought(self) -> tuple[str, ...]:
        """Return all texts that a proof searches for."""
        return (*self.texts, *self.names)


@dataclass(frozen=True, slots=True)
class Done:
    """Result of a purge: records `purged`, places `scrubbed`, places `left` unchanged, what `finish` returned, and the
    `files` that were cut, each with what remains in it."""

    purged: int
    scrubbed: int
    left: tuple[RemainingMatch, ...]
    finished: finalize.Finished
    files: tuple[tuple[str, str], ...] = ()


class Purge:
    """Purging in one memory."""

    def __init__(self, database: Database, documents: Documents | None = None) -> None:
        """Prepare purging; without `documents`, as for a backup, no file is read."""
        self._database = database
        self._documents = documents

    def plan(self, records: Iterable[tuple[str, int]], quotes: Iterable[str] = (), *, alone: bool = False) -> PurgePlan:
        """Return what purging these records, each a kind of `SAID` and an id, would remove. Include with a record all
        that it superseded and that superseded it, and every fact with the same text; with `alone` only the record
        itself, whose text is then looked for elsewhere only if no record that is kept contains it. `quotes` are further
        words to remove wherever they are. Raise NotFound or InvalidInput."""
        named = dict.fromkeys(records)
        if not named:
            raise InvalidInput("Nothing to purge was named.", "Name records: purge 12 D#3; or --query, or --origin.")
        for kind, _ in named:
            if kind not in SAID:
                raise InvalidInput(f"A {kind} cannot be purged.", f"What can: {', '.join(SAID)}.")
        with self._database.read_snapshot():
            going, texts = self._going(named, alone)
        # the rest is read table by table without a transaction: `erase` refuses if one of these records changed since,
        # and the proof that follows finds what was written elsewhere
        gone = {(one.table, one.key) for one in going}
        unsought = said_elsewhere(self._database, texts, gone) if alone else ()
        texts = list(dict.fromkeys([*texts, *(text.strip() for text in quotes)]))
        texts = [text for text in texts if text not in unsought]
        words = Words(texts)
        search = Elsewhere(self._database, words, gone)
        holding = search.records()
        names = distinct(self._database, texts, gone, holding)
        copies = Copies(texts, names)
        places = search.rest(holding, copies, dropped=False) if copies else []
        if count := hook_spool.holding(self._database.path, words) if words else 0:
            where = "1 line" if count == 1 else f"{count:,} lines"
            places.append(RemainingMatch("spool", "spool", "[]", "not brought in yet", where))
        if words and self._documents is not None:
            places += files.places(self._database, self._documents.places, words)
            places += guarded.places(words)
        return PurgePlan(tuple(going), tuple(places), tuple(texts), tuple(names), alone, tuple(unsought))

    def same(
        self,
        memory: Database,
        buried: tombstones.Tombstones,
        left: Collection[Ref],
        texts: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> PurgePlan:
        """Return what was purged in a memory, for a backup of it: records whose text has a tombstone in `buried` and
        which the memory no longer holds, and all places but those that a person `left` unchanged."""
        records = []
        for kind, (table, _) in SAID.items():
            found = [number for number, row in self._rows(table, None).items() if buried(tombstone_of(table, row))]
            stay = {
                number
                for (number,) in memory.rows(
                    f"SELECT id FROM {table} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(found),)
                )
            }
            records += [(kind, number) for number in found if number not in stay]
        going, texts_found = self._going(records, alone=True)
        erased = list(dict.fromkeys(texts or texts_found))
        gone = {(one.table, one.key) for one in going}
        places = elsewhere(self._database, Words(erased), Copies(erased, names), gone, dropped=False)
        kept = [one for one in places if one.can and (one.table, one.key) not in left]
        return PurgePlan(tuple(going), tuple(kept), tuple(erased), tuple(names), alone=True)

    def of_origin(self, origin: str) -> list[tuple[str, int]]:
        """List all records written by this origin that can be purged. Raise NotFound."""
        found = [
            (kind, number)
            for kind, (table, _) in SAID.items()
            for (number,) in self._database.rows(f"SELECT id FROM {table} WHERE origin = ? ORDER BY id", (origin,))
        ]
        if not found:
            raise NotFound("Nothing here was written by that origin.", "See who wrote: `memoranda history`.")
        return found

    def before(self, at: str, kind: str | None = None) -> list[tuple[str, int]]:
        """List all records created before a moment that can be purged, of one kind or of all. Raise InvalidInput."""
        if kind is not None and kind not in SAID:
            raise InvalidInput(f"Records of the kind “{kind}” cannot be purged.", f"What can: {', '.join(SAID)}.")
        return [
            (one, number)
            for one, (table, _) in SAID.items()
            if kind in (None, one)
            for (number,) in self._database.rows(f"SELECT id FROM {table} WHERE {CAME[table]} < ? ORDER BY id", (at,))
        ]

    def run(self, plan: PurgePlan, chosen: Collection[int] | None = None, *, actor: str = PERSON) -> Done:
        """Purge what the plan lists, cut the words from the `chosen` places (by default those proposed), then clean up.
        A file that changed since the plan was made is skipped. On a full disk the ballast is freed. Raise Conflict when
        the memory changed since, StorageError."""
        picked = plan.proposed() if chosen is None else frozenset(chosen)
        self.erase(plan, picked, actor=actor)
        chosen_places = [plan.places[index] for index in picked]
        refused = self._cut_files(chosen_places) | guarded.cut(chosen_places, Words(plan.texts))
        disk_reserve.renew(self._database.path)
        hook_resident.release()
        finished = finish(self._database, plan.texts, plan.names)
        left = tuple(place for index, place in enumerate(plan.places) if index not in picked) + tuple(
            replace(place, what=f"{guarded.WHAT if place.table == guarded.TABLE else 'your file'}: {why}", can=False)
            for place, why in refused.items()
        )
        were_cut = [one for one in (plan.places[index] for index in sorted(picked)) if one.table == "file"]
        notes = dict.fromkeys((one.key, one.note) for one in were_cut if one not in refused)
        return Done(len(plan.going), len(picked) - len(refused), left, finished, tuple(notes))

    def _cut_files(self, places: Iterable[RemainingMatch]) -> dict[RemainingMatch, str]:
        """Cut the words out of files; return why some were skipped."""
        chosen = [place for place in places if place.table == "file"]
        if not chosen or self._documents is None:
            return {}
        refused = files.cut(self._documents.places, chosen)
        with contextlib.suppress(MemorandaError):  # what is not read now is read by the next scan
            self._documents.scan()
        return refused

    def erase(self, plan: PurgePlan, chosen: Collection[int], *, actor: str = PERSON) -> None:
        """Run the transaction of a purge, and clean the spool; `finish` must follow. Raise as `run` does."""
        places = [plan.places[index] for index in sorted(chosen)]
        if stuck := next((place for place in places if not place.can), None):
            raise InvalidInput(f"{stuck.citation} cannot be erased: {stuck.what}.", "Leave it out.")
        chosen_files = {place.key for place in places if place.table == "file"}
        stay = {place.key for place in plan.places if place.table == "file"} - chosen_files
        disk_reserve.with_room(self._database.path, lambda: self._erase(plan, places, stay, actor))
        if any(place.table == "spool" for place in places):
            hook_spool.drop(self._database.path, Words(plan.texts))

    # planning

    def _going(self, named: Iterable[tuple[str, int]], alone: bool) -> tuple[list[Going], list[str]]:
        wanted: dict[str, dict[int, str]] = {}
        for kind, number in named:
            wanted.setdefault(SAID[kind][0], {})[number] = ""
        for table in CHAINED:
            if table in wanted and not alone:
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
                values = list(_said(table, rows[number]))
                key = f"[{number}]"
                going.append(Going(kind, cite(kind, number), table, key, values[0] if values else "", reason))
                texts += values
                texts += self._said_before(table, key)
        return going, texts

    def _with_chain(self, table: str, wanted: dict[int, str]) -> None:
        """Add to `wanted` the chain of records that superseded one another, and the facts with the same text."""
        ways = [
            (f"SELECT supersedes FROM {table} WHERE supersedes IS NOT NULL AND id IN ids", "replaced by one of them"),
            (f"SELECT id FROM {table} WHERE supersedes IN ids", "replaces one of them"),
        ]
        if table == "facts":
            hashes = "SELECT text_hash FROM facts WHERE id IN ids"
            ways.append((f"SELECT id FROM facts WHERE text_hash IN ({hashes})", "says the same"))
            source = every_row(self._database)
            ways.append((MERGED.format("gone.id", source, "stays.id IN ids"), "replaced by one of them"))
            ways.append((MERGED.format("stays.id", source, "gone.id IN ids"), "replaces one of them"))
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
        """Return the existing rows of these ids, by column name; without ids all rows."""
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
        """Yield the texts of a record in its history, where its own text may be changed in place."""
        if table == "tasks":
            for states in self._database.rows(
                f"SELECT before ->> '$.text', after ->> '$.text' FROM {every_row(self._database)}"
                " WHERE tbl = ? AND pk = ?",
                (table, key),
            ):
                yield from (text for text in states if text)

    # running

    def _erase(self, plan: PurgePlan, chosen: Sequence[RemainingMatch], stay: Collection[str], actor: str) -> None:
        """`stay` are the files whose words, and their rows in the index, are kept."""
        words = Words(plan.texts)
        copies = Copies(plan.texts, plan.names)
        places = [place for place in chosen if place.table not in ELSEWHERE]
        left = [place for place in plan.places if place not in chosen and place.table not in OF_PERSON]
        indexed = [path for path in files.indexed(self._database, words) if path not in stay] if words else []
        gone = {(one.table, one.key) for one in plan.going}
        with self._database.write(actor, _reason(plan.going)) as write:
            named = [(one.kind, int(one.key[1:-1])) for one in plan.going]
            still, texts = self._going(named, plan.alone)
            sought = {one.text for one in plan.going}.union(plan.texts, plan.unsought)
            if {(one.table, one.key) for one in still} != gone or not sought.issuperset(texts):
                raise Conflict("Something changed while you looked; nothing was purged.", "Look again.")
            tombstones.add_tombstones(write, _graves(self._rows_of(plan), plan))
            purged_words.add_purged_words(write, plan.texts, () if left else plan.names)
            tombstones.cut_out(write)
            noted_exports.drop_deleted(write)
            write.execute("DELETE FROM answers_cache")  # an answer may contain it in other words
            write.execute("DELETE FROM model_calls")
            made = row_eraser.embeddings(write, [*named, *row_eraser.keys_of(places)])
            made |= row_eraser.cached(write, plan.texts)
            write.purged |= gone
            cut = {(place.table, place.key) for place in places if place.table in TEXTS}
            facts = [int(key[1:-1]) for table, key in gone | cut if table == "facts"]
            doubts = {key for table, key in cut if table == "proposals"} | proposals.about(write, facts)
            doubts = {key for key in doubts if ("proposals", key) not in gone}
            freed = row_eraser.successors(write, gone) if plan.alone else set()
            unpack(write, gone | cut | freed | {("proposals", key) for key in doubts})
            row_eraser.unlink(write, freed)
            for table, keys in row_eraser.by_table(gone).items():
                row_eraser.mask_history(write, table, keys)
                row_eraser.delete(write, table, keys)
            for place in places:
                row_eraser.scrub(write, place, words, copies)
            proposals.drop_digests(write, doubts)
            proposals.close_emptied(write, doubts)
            made |= files.drop(write, indexed)
            row_eraser.drop_unused(write, made)
            of_guard = {place in chosen for place in plan.places if place.table == guarded.TABLE}
            finalize.note(write, [(place.table, place.key) for place in left], of_guard == {True})

    def _rows_of(self, plan: PurgePlan) -> list[tuple[str, dict[str, Any]]]:
        rows = []
        for table, keys in row_eraser.by_table({(one.table, one.key) for one in plan.going}).items():
            rows += [(table, row) for row in self._rows(table, [int(key[1:-1]) for key in keys]).values()]
        return rows


def tombstone_of(table: str, row: dict[str, Any]) -> str:
    """Return the text that a record's tombstone is made of. Several events may have the same text, so the time is part
    of it."""
    if table == "decisions":
        return tombstones.decision_text(row["title"], row["chosen"])
    if table == "events":
        return "\n".join(row[name] for name in ("event_type", "phase", "payload", "created_at"))
    return str(row[SAID[TABLES[table]][1][0]])


def _graves(rows: Iterable[tuple[str, dict[str, Any]]], plan: PurgePlan) -> list[str]:
    """Return the texts that tombstones are written for: none for a text that a kept record also contains."""
    unsought = set(plan.unsought)
    return [tombstone_of(table, row) for table, row in rows if not unsought.intersection(_said(table, row))]


def _said(table: str, row: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a record that are looked for elsewhere, its own first."""
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


def finish(database: Database, texts: Sequence[str] = (), names: Sequence[str] = ()) -> finalize.Finished:
    """Clean up after a purge, as far as possible now (`finalize.finish`)."""
    return finalize.finish(database, _out_of_backup, texts, names)


def _out_of_backup(
    backup: Database,
    memory: Database,
    buried: tombstones.Tombstones,
    left: Sequence[Ref],
    texts: Sequence[str],
    names: Sequence[str],
) -> bool:
    """Remove from a backup what was purged; return whether there was something. Raise MemorandaError."""
    unfinished = pending(backup)  # it was made while a purge was not finished: its index may contain words
    purge = Purge(backup)
    plan = purge.same(memory, buried, left, texts, names)
    if plan.going or plan.places or files.indexed(backup, Words(plan.texts)):
        finished = purge.run(plan, range(len(plan.places)), actor="agent").finished
    elif unfinished:
        finished = finish(backup, texts, names)
    else:
        return False
    if finished.pending:
        raise DiskFull(finished.pending)
    return True
