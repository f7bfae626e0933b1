"""Plan a purge and run it: one transaction over records, their history, and all that was derived from them."""

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from store.base.citations import cite, list_citations
from store.base.errors import Conflict, DiskFull, InvalidInput, MemorandaError, NotFound
from store.base.hook_resident import release_memories
from store.base.vocabulary import KIND_BY_TABLE, PERSON_ORIGIN, PURGEABLE_KINDS, unpack_key
from store.conversations.hook_spool import count_matching_lines, drop_matching_lines
from store.database.change_capture import PURGED_VALUES, list_table_columns
from store.database.database import Database
from store.database.files import renew_reserve, run_with_reserve
from store.database.tombstones import (
    HasTombstone,
    add_purged_words,
    add_tombstones,
    decision_text,
    is_purge_pending,
    record_removal,
)
from store.documents.documents import Documents
from store.exchange.exporter import drop_deleted_exports
from store.history.compression import every_row_view, unpack_records
from store.purge import cleanup
from store.purge.cleanup import CleanupResult, save_cleanup_note
from store.purge.file_eraser import (
    GUARD_LABEL,
    GUARD_TABLE,
    cut_from_documents,
    cut_from_guard,
    drop_from_index,
    find_file_matches,
    find_guard_matches,
    find_indexed_documents,
)
from store.purge.row_eraser import (
    clear_supersedes,
    close_empty_proposals,
    delete_records,
    drop_proposal_digests,
    drop_unused_vectors,
    find_cached_vectors,
    find_proposals_about,
    find_record_vectors,
    find_successors,
    group_by_table,
    list_searchable_records,
    mask_record_history,
    scrub_row,
)
from store.purge.word_search import (
    MemorySearch,
    PurgedCopies,
    PurgedTexts,
    RemainingMatch,
    RowRef,
    find_remaining_matches,
    find_strings,
    find_texts_elsewhere,
    find_unique_words,
)
from store.search.pipeline import Search
from store.search.query_parser import parse_query, require_valid_query

# hits of a search that are purged at once
MAX_FOUND_RECORDS = 100_000
# what can be purged: a kind of record, its table, and the columns that hold its words, its own text first
PURGED_TEXT_COLUMNS = {
    "fact": ("facts", ("fact",)),
    "decision": ("decisions", ("title", "chosen", "context", "rationale", "alternatives")),
    "task": ("tasks", ("text",)),
    "proposal": ("proposals", ("text",)),
    "turn": ("turns", ("text",)),
    "event": ("events", ("payload",)),
    "summary": ("summaries", ("topic", "outcome", "discussed", "decisions", "open_questions")),
}
# when a record was created
CREATION_COLUMNS = {
    "facts": "created_at",
    "decisions": "decided_at",
    "tasks": "created_at",
    "proposals": "created_at",
    "turns": "at",
    "events": "created_at",
    "summaries": "created_at",
}
# one record supersedes another
SUPERSEDING_TABLES = ("facts", "decisions")
# a fact, another that was merged into it and is among its evidence since, and the step that changed both
MERGED_FACTS_SQL = """
SELECT {0} FROM facts AS stays, json_each(stays.evidence) AS cited
JOIN facts AS gone ON gone.id = CAST(substr(cited.value, 3) AS INTEGER)
WHERE {2} AND stays.evidence LIKE '%F#%' AND cited.value LIKE 'F#%' AND gone.status = 'superseded' AND EXISTS (
  SELECT 1 FROM {1} AS one JOIN {1} AS other USING(seq)
  WHERE one.tbl = 'facts' AND one.pk = json_array(gone.id) AND other.tbl = 'facts' AND other.pk = json_array(stays.id))
"""
# places outside of the memory, of which its backups know nothing
OUTSIDE_MEMORY = ("export", GUARD_TABLE)
# places that are no row of the memory
OUTSIDE_TABLES = ("spool", "file", GUARD_TABLE)
MIN_SEARCHED_LENGTH = (
    # characters from which a decision's option, context or reason is looked for elsewhere; a title always is
    16
)


class PlannedRecord(NamedTuple):
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

    going: tuple[PlannedRecord, ...]
    places: tuple[RemainingMatch, ...]
    texts: tuple[str, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False, default=())
    alone: bool = False
    unsought: tuple[str, ...] = field(repr=False, default=())

    def default_places(self) -> frozenset[int]:
        """Return the places, by index, that are scrubbed unless a person decides otherwise: all that can be."""
        return frozenset(index for index, place in enumerate(self.places) if place.can)


class PurgeResult(NamedTuple):
    """Result of a purge: records `purged`, places `scrubbed`, places `left` unchanged, what `complete_purge` returned,
    and the `files` that were cut, each with what remains in it."""

    purged: int
    scrubbed: int
    left: tuple[RemainingMatch, ...]
    finished: CleanupResult
    files: tuple[tuple[str, str], ...] = ()


class Purge:
    """Purging in one memory."""

    def __init__(self, database: Database, documents: Documents | None = None) -> None:
        """Prepare purging; without `documents`, as for a backup, no file is read."""
        self._database = database
        self._documents = documents

    def plan(
        self, records: Iterable[tuple[str, int]], quotes: Iterable[str] = (), *, alone: bool = False
    ) -> PurgePlan:
        """Return what purging these records, each a kind of `PURGED_TEXT_COLUMNS` and an id, would remove. Include with
        a record all that it superseded and that superseded it, and every fact with the same text; with `alone` only the
        record itself, whose text is then looked for elsewhere only if no record that is kept contains it. `quotes` are
        further words to remove wherever they are. Raise NotFound or InvalidInput."""
        named = dict.fromkeys(records)
        if not named:
            raise InvalidInput(
                "Nothing to purge was named.", "Name records: purge 12 D#3; or --query, or --origin."
            )
        for kind, _ in named:
            if kind not in PURGED_TEXT_COLUMNS:
                raise InvalidInput(f"A {kind} cannot be purged.", f"What can: {', '.join(PURGED_TEXT_COLUMNS)}.")
        with self._database.read_snapshot():
            going, texts = self._collect_records(named, alone)
        # the rest is read table by table without a transaction: `erase` refuses if one of these records changed since,
        # and the proof that follows finds what was written elsewhere
        gone = {(one.table, one.key) for one in going}
        unsought = find_texts_elsewhere(self._database, texts, gone) if alone else ()
        texts = list(dict.fromkeys([*texts, *(text.strip() for text in quotes)]))
        texts = [text for text in texts if text not in unsought]
        words = PurgedTexts(texts)
        search = MemorySearch(self._database, words, gone)
        holding = search.find_records()
        names = find_unique_words(self._database, texts, gone, holding)
        copies = PurgedCopies(texts, names)
        places = search.find_rest(holding, copies, dropped=False) if copies else []
        if count := count_matching_lines(self._database.path, words) if words else 0:
            where = "1 line" if count == 1 else f"{count:,} lines"
            places.append(RemainingMatch("spool", "spool", "[]", "not brought in yet", where))
        if words and self._documents is not None:
            places += find_file_matches(self._database, self._documents.roots, words)
            places += find_guard_matches(words)
        return PurgePlan(tuple(going), tuple(places), tuple(texts), tuple(names), alone, tuple(unsought))

    def plan_for_backup(
        self,
        memory: Database,
        buried: HasTombstone,
        left: Collection[RowRef],
        texts: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> PurgePlan:
        """Return what was purged in a memory, as a plan for a backup of it: the records whose text has a tombstone
        and which the memory no longer holds, and all places except the rows that a person left unchanged."""
        records = []
        for kind, (table, _) in PURGED_TEXT_COLUMNS.items():
            found = [
                number
                for number, row in self._read_rows(table, None).items()
                if buried(tombstone_text(table, row))
            ]
            stay = set(
                memory.column(
                    f"SELECT id FROM {table} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(found),)
                )
            )
            records += [(kind, number) for number in found if number not in stay]
        going, texts_found = self._collect_records(records, alone=True)
        erased = list(dict.fromkeys(texts or texts_found))
        gone = {(one.table, one.key) for one in going}
        places = find_remaining_matches(
            self._database, PurgedTexts(erased), PurgedCopies(erased, names), gone, dropped=False
        )
        kept = [one for one in places if one.can and (one.table, one.key) not in left]
        return PurgePlan(tuple(going), tuple(kept), tuple(erased), tuple(names), alone=True)

    def list_by_origin(self, origin: str) -> list[tuple[str, int]]:
        """List all records written by this origin that can be purged. Raise NotFound."""
        found = [
            (kind, number)
            for kind, (table, _) in PURGED_TEXT_COLUMNS.items()
            for (number,) in self._database.rows(f"SELECT id FROM {table} WHERE origin = ? ORDER BY id", (origin,))
        ]
        if not found:
            raise NotFound("Nothing here was written by that origin.", "See who wrote: `memoranda history`.")
        return found

    def list_by_words(self, search: Search, query: str) -> tuple[list[tuple[str, int]], list[str]]:
        """Return the records that can be purged and contain every word of a query literally, and the words, which are
        erased too. Raise InvalidInput, and NotFound if there is none."""
        now = self._database.clock()

        def words_of(text: str) -> set[str]:
            return {word.casefold() for word in parse_query(text, now).words}

        require_valid_query(self._database, query)
        words = words_of(query)
        found = []
        for hit in search(query, MAX_FOUND_RECORDS, meaning=False).hits:
            kind, number = unpack_key(hit.key)
            said = self._database.row("SELECT title, text FROM corpus WHERE id = ?", (hit.key,)) or ()
            if kind in PURGEABLE_KINDS and words <= words_of("\n".join(said)):
                found.append((kind, number))
        if not found:
            raise NotFound(
                "That search finds nothing that can be purged.",
                "It leaves out what was forgotten or rejected, and earlier versions:"
                " memoranda purge --check TEXT names the records that hold it, to be purged by their numbers.",
            )
        return found, [parse_query(query, now).text]

    def list_created_before(self, at: str, kind: str | None = None) -> list[tuple[str, int]]:
        """List all records created before a moment that can be purged, of one kind or of all kinds. Raise
        InvalidInput."""
        if kind is not None and kind not in PURGED_TEXT_COLUMNS:
            raise InvalidInput(
                f"Records of the kind “{kind}” cannot be purged.", f"What can: {', '.join(PURGED_TEXT_COLUMNS)}."
            )
        return [
            (one, number)
            for one, (table, _) in PURGED_TEXT_COLUMNS.items()
            if kind in (None, one)
            for (number,) in self._database.rows(
                f"SELECT id FROM {table} WHERE {CREATION_COLUMNS[table]} < ? ORDER BY id", (at,)
            )
        ]

    def run_plan(
        self, plan: PurgePlan, chosen: Collection[int] | None = None, *, actor: str = PERSON_ORIGIN
    ) -> PurgeResult:
        """Purge what the plan lists, cut the words out of the `chosen` places (by default all that can be), then
        clean up. A file that changed since the plan was made is skipped. On a full disk the reserve is freed.
        Raise Conflict if the memory changed since, or StorageError."""
        picked = plan.default_places() if chosen is None else frozenset(chosen)
        self.erase(plan, picked, actor=actor)
        chosen_places = [plan.places[index] for index in picked]
        refused = self._cut_files(chosen_places) | cut_from_guard(chosen_places, PurgedTexts(plan.texts))
        renew_reserve(self._database.path)
        release_memories()
        finished = complete_purge(self._database, plan.texts, plan.names)
        left = tuple(place for index, place in enumerate(plan.places) if index not in picked) + tuple(
            place._replace(what=f"{GUARD_LABEL if place.table == GUARD_TABLE else 'your file'}: {why}", can=False)
            for place, why in refused.items()
        )
        were_cut = [one for one in (plan.places[index] for index in sorted(picked)) if one.table == "file"]
        notes = dict.fromkeys((one.key, one.note) for one in were_cut if one not in refused)
        return PurgeResult(len(plan.going), len(picked) - len(refused), left, finished, tuple(notes))

    def _cut_files(self, places: Iterable[RemainingMatch]) -> dict[RemainingMatch, str]:
        """Cut the words out of files; return why some were skipped."""
        chosen = [place for place in places if place.table == "file"]
        if not chosen or self._documents is None:
            return {}
        refused = cut_from_documents(self._documents.roots, chosen)
        # what is not read now is read by the next scan
        with contextlib.suppress(MemorandaError):
            self._documents.update_index()
        return refused

    def erase(self, plan: PurgePlan, chosen: Collection[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Run the transaction of a purge, and clean the spool; `complete_purge` must follow. Raise as `run_plan`
        does."""
        places = [plan.places[index] for index in sorted(chosen)]
        if stuck := next((place for place in places if not place.can), None):
            raise InvalidInput(f"{stuck.citation} cannot be erased: {stuck.what}.", "Leave it out.")
        chosen_files = {place.key for place in places if place.table == "file"}
        stay = {place.key for place in plan.places if place.table == "file"} - chosen_files
        run_with_reserve(self._database.path, lambda: self._erase_in_transaction(plan, places, stay, actor))
        if any(place.table == "spool" for place in places):
            drop_matching_lines(self._database.path, PurgedTexts(plan.texts))

    # planning

    def _collect_records(
        self, named: Iterable[tuple[str, int]], alone: bool
    ) -> tuple[list[PlannedRecord], list[str]]:
        """Return the records to purge, and their texts. Raise NotFound for a record that does not exist."""
        wanted: dict[str, dict[int, str]] = {}
        for kind, number in named:
            wanted.setdefault(PURGED_TEXT_COLUMNS[kind][0], {})[number] = ""
        for table in SUPERSEDING_TABLES:
            if table in wanted and not alone:
                self._add_chain(table, wanted[table])
        going, texts = list[PlannedRecord](), list[str]()
        for table, why in wanted.items():
            kind = KIND_BY_TABLE[table]
            rows = self._read_rows(table, why)
            for number, reason in sorted(why.items()):
                if number not in rows:
                    raise NotFound(
                        f"There is no {kind} {cite(kind, number)}.",
                        "It may be purged already; look at the lists.",
                    )
                values = list(_searched_texts(table, rows[number]))
                key = f"[{number}]"
                going.append(
                    PlannedRecord(kind, cite(kind, number), table, key, values[0] if values else "", reason)
                )
                texts += values
                texts += self._past_texts(table, key)
        return going, texts

    def _add_chain(self, table: str, wanted: dict[int, str]) -> None:
        """Add to `wanted` the records that supersede each other in a chain, and the facts of equal text."""
        ways = [
            (
                f"SELECT supersedes FROM {table} WHERE supersedes IS NOT NULL AND id IN ids",
                "replaced by one of them",
            ),
            (f"SELECT id FROM {table} WHERE supersedes IN ids", "replaces one of them"),
        ]
        if table == "facts":
            hashes = "SELECT text_hash FROM facts WHERE id IN ids"
            ways.append((f"SELECT id FROM facts WHERE text_hash IN ({hashes})", "says the same"))
            source = every_row_view(self._database)
            ways.append((MERGED_FACTS_SQL.format("gone.id", source, "stays.id IN ids"), "replaced by one of them"))
            ways.append((MERGED_FACTS_SQL.format("stays.id", source, "gone.id IN ids"), "replaces one of them"))
        new = list(wanted)
        while new:
            ids = json.dumps(new)
            new = []
            for sql, why in ways:
                for number in self._database.column(
                    f"WITH ids(id) AS MATERIALIZED (SELECT value FROM json_each(?)) {sql}", (ids,)
                ):
                    if number not in wanted:
                        wanted[number] = why
                        new.append(number)

    def _read_rows(self, table: str, numbers: Iterable[int] | None) -> dict[int, dict[str, Any]]:
        """Return the existing rows of these ids, by column name; without ids all rows."""
        names = list_table_columns(self._database.connection, table)
        sql = f"SELECT {', '.join(names)} FROM {table}"
        if numbers is None:
            rows = self._database.rows(sql)
        else:
            rows = self._database.rows(
                f"{sql} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
            )
        return {row[0]: dict(zip(names, row, strict=True)) for row in rows}

    def _past_texts(self, table: str, key: str) -> Iterator[str]:
        """Yield the texts of a record in its history, where its own text may be changed in place."""
        if table == "tasks":
            for states in self._database.rows(
                f"SELECT before ->> '$.text', after ->> '$.text' FROM {every_row_view(self._database)}"
                " WHERE tbl = ? AND pk = ?",
                (table, key),
            ):
                yield from (text for text in states if text)

    # running

    def _erase_in_transaction(
        self, plan: PurgePlan, chosen: Sequence[RemainingMatch], stay: Collection[str], actor: str
    ) -> None:
        """Erase the records, cut the words out of the chosen places, and record what is left to do, all in one
        transaction. `stay` are the files whose words, and their rows in the index, are kept."""
        words = PurgedTexts(plan.texts)
        copies = PurgedCopies(plan.texts, plan.names)
        places = [place for place in chosen if place.table not in OUTSIDE_TABLES]
        left = [place for place in plan.places if place not in chosen and place.table not in OUTSIDE_MEMORY]
        indexed = (
            [path for path in find_indexed_documents(self._database, words) if path not in stay] if words else []
        )
        gone = {(one.table, one.key) for one in plan.going}
        with self._database.write(actor, f"purge {list_citations([one.citation for one in plan.going])}") as write:
            named = [(one.kind, int(one.key[1:-1])) for one in plan.going]
            still, texts = self._collect_records(named, plan.alone)
            sought = {one.text for one in plan.going}.union(plan.texts, plan.unsought)
            if {(one.table, one.key) for one in still} != gone or not sought.issuperset(texts):
                raise Conflict("Something changed while you looked; nothing was purged.", "Look again.")
            add_tombstones(write, _tombstone_texts(self._planned_rows(plan), plan))
            add_purged_words(write, plan.texts, () if left else plan.names)
            record_removal(write)
            drop_deleted_exports(write)
            # an answer may contain it in other words
            write.execute("DELETE FROM answers_cache")
            write.execute("DELETE FROM model_calls")
            made = find_record_vectors(write, [*named, *list_searchable_records(places)])
            made |= find_cached_vectors(write, plan.texts)
            write.purged |= gone
            cut = {(place.table, place.key) for place in places if place.table in PURGED_VALUES}
            facts = [int(key[1:-1]) for table, key in gone | cut if table == "facts"]
            doubts = {key for table, key in cut if table == "proposals"} | find_proposals_about(write, facts)
            doubts = {key for key in doubts if ("proposals", key) not in gone}
            freed = find_successors(write, gone) if plan.alone else set()
            unpack_records(write, gone | cut | freed | {("proposals", key) for key in doubts})
            clear_supersedes(write, freed)
            for table, keys in group_by_table(gone).items():
                mask_record_history(write, table, keys)
                delete_records(write, table, keys)
            for place in places:
                scrub_row(write, place, words, copies)
            drop_proposal_digests(write, doubts)
            close_empty_proposals(write, doubts)
            made |= drop_from_index(write, indexed)
            drop_unused_vectors(write, made)
            of_guard = {place in chosen for place in plan.places if place.table == GUARD_TABLE}
            save_cleanup_note(write, [(place.table, place.key) for place in left], of_guard == {True})

    def _planned_rows(self, plan: PurgePlan) -> list[tuple[str, dict[str, Any]]]:
        """Return (table, row) of each record in a plan."""
        rows = []
        for table, keys in group_by_table({(one.table, one.key) for one in plan.going}).items():
            rows += [(table, row) for row in self._read_rows(table, [int(key[1:-1]) for key in keys]).values()]
        return rows


def tombstone_text(table: str, row: dict[str, Any]) -> str:
    """Return the text that a record's tombstone is made of. Several events may have the same text, so the time is part
    of it."""
    if table == "decisions":
        return decision_text(row["title"], row["chosen"])
    if table == "events":
        return "\n".join(row[name] for name in ("event_type", "phase", "payload", "created_at"))
    return str(row[PURGED_TEXT_COLUMNS[KIND_BY_TABLE[table]][1][0]])


def _tombstone_texts(rows: Iterable[tuple[str, dict[str, Any]]], plan: PurgePlan) -> list[str]:
    """Return the texts that tombstones are written for: none for a text that a kept record also contains."""
    unsought = set(plan.unsought)
    return [
        tombstone_text(table, row) for table, row in rows if not unsought.intersection(_searched_texts(table, row))
    ]


def _searched_texts(table: str, row: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a record that are looked for elsewhere, its own first."""
    first, *rest = PURGED_TEXT_COLUMNS[KIND_BY_TABLE[table]][1]
    if table == "events":
        yield from (text for text in find_strings(json.loads(row[first])) if len(text) >= MIN_SEARCHED_LENGTH)
        return
    yield str(row[first])
    for name in rest:
        texts = json.loads(row[name]) if name == "alternatives" else [row[name]]
        yield from (text for text in texts if isinstance(text, str) and len(text) >= MIN_SEARCHED_LENGTH)


def complete_purge(database: Database, texts: Sequence[str] = (), names: Sequence[str] = ()) -> CleanupResult:
    """Clean up after a purge, as far as possible now (`clean_up_after_purge`)."""
    return cleanup.clean_up_after_purge(database, _purge_backup, texts, names)


def _purge_backup(
    backup: Database,
    memory: Database,
    buried: HasTombstone,
    left: Sequence[RowRef],
    texts: Sequence[str],
    names: Sequence[str],
) -> bool:
    """Remove from a backup what was purged; return whether there was something. Raise MemorandaError."""
    # it was made while a purge was not finished: its index may contain words
    unfinished = is_purge_pending(backup)
    purge = Purge(backup)
    plan = purge.plan_for_backup(memory, buried, left, texts, names)
    if plan.going or plan.places or find_indexed_documents(backup, PurgedTexts(plan.texts)):
        finished = purge.run_plan(plan, range(len(plan.places)), actor="agent").finished
    elif unfinished:
        finished = complete_purge(backup, texts, names)
    else:
        return False
    if finished.pending:
        raise DiskFull(finished.pending)
    return True
