"""`team.db`, in the installation's folder: which streams are known and up to where, the merged records, and which
records of the memory they are. Everything in it but a person's choices can be made again from the streams.
"""

from __future__ import annotations

import json
import os
import re
import socket
from base64 import b32encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import apsw

from store.base.errors import Busy, StorageError
from store.base.state_files import read_state, state_folder_error, write_state
from store.team.stream import SharedRecord
from store.upkeep.optional import TEAM_FILE

# kind of entry of the installation: the writer of each memory
WRITERS_ENTRY = "writers"
TEAM_BUSY_MS = 2_000
# columns of `streams`, fields of StreamState
STREAM_COLUMNS = "writer, head, seq, digest, name, at, said, believed, key"
TEAM_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
-- up to where each writer's stream was merged; `said` is what is wrong with it now, `believed` the kinds and domains
-- that are taken without a question
CREATE TABLE IF NOT EXISTS streams(
  writer TEXT PRIMARY KEY NOT NULL,
  head TEXT NOT NULL DEFAULT '',
  seq INTEGER NOT NULL DEFAULT 0,
  digest TEXT NOT NULL DEFAULT '',
  name TEXT NOT NULL DEFAULT '',
  at TEXT NOT NULL DEFAULT '',
  said TEXT NOT NULL DEFAULT '',
  believed TEXT NOT NULL DEFAULT '',
  key TEXT NOT NULL DEFAULT ''      -- the fingerprint of the key that signs it, and whose that is
) WITHOUT ROWID;
-- the segments of each stream that were merged, by their newest number; of the first, what it replaces
CREATE TABLE IF NOT EXISTS segments(
  writer TEXT NOT NULL,
  seq INTEGER NOT NULL,
  digest TEXT NOT NULL,
  rewrites TEXT NOT NULL,
  PRIMARY KEY(writer, seq)
) WITHOUT ROWID;
-- up to where a witness saw another writer's stream, as they said last
CREATE TABLE IF NOT EXISTS seen(
  witness TEXT NOT NULL,
  writer TEXT NOT NULL,
  seq INTEGER NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY(witness, writer)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records(
  id TEXT PRIMARY KEY NOT NULL,
  state TEXT NOT NULL,              -- SharedRecord.packed
  moved INTEGER NOT NULL            -- 1: changed since it was last compared with the memory
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_moved ON records(id) WHERE moved;
-- a shared record that is in the memory too: own ones, and those of others that were accepted
CREATE TABLE IF NOT EXISTS held(
  id TEXT PRIMARY KEY NOT NULL,
  number INTEGER NOT NULL,          -- of the record here, when it was last looked at
  fields TEXT NOT NULL,             -- JSON: the values that both sides knew last
  base TEXT NOT NULL,               -- JSON: by field, the operations that set them; by "" the last confirmations
  confirmed TEXT NOT NULL,
  status TEXT NOT NULL              -- active, forgotten
) WITHOUT ROWID;
-- commits that were linked to a shared decision which their message names
CREATE TABLE IF NOT EXISTS linked(id TEXT NOT NULL, sha TEXT NOT NULL, PRIMARY KEY(id, sha)) WITHOUT ROWID;
-- what was put into the inbox: the newest proposal about a record, and the state of the record that it was about
CREATE TABLE IF NOT EXISTS offers(
  id TEXT PRIMARY KEY NOT NULL,
  proposal INTEGER NOT NULL,
  fields TEXT NOT NULL,
  base TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(slots=True)
class StreamState:
    """How far one writer's stream was merged; see `streams` in SCHEMA."""

    writer: str
    head: str = ""
    seq: int = 0
    digest: str = ""
    name: str = ""
    at: str = ""
    said: str = ""
    believed: str = ""
    key: str = ""

    @property
    def display_name(self) -> str:
        """Return the writer's own name, which anybody can take, with the identity that cannot be faked."""
        return f"{self.name} ({self.writer})" if self.name else self.writer


@dataclass(slots=True)
class HeldRecord:
    """A shared record that is in the memory; see `held` in SCHEMA."""

    id: str
    number: int
    fields: dict[str, Any]
    base: dict[str, tuple[str, ...]]
    confirmed: str
    status: str = "active"


class RecordOffer(NamedTuple):
    """The newest proposal about a shared record, with the values it would bring and the operations they are of."""

    id: str
    proposal: int
    fields: dict[str, Any]
    base: dict[str, tuple[str, ...]]


class TeamFile:
    """The open file of one memory's team. One process at a time changes it (`exclusive`)."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, TEAM_FILE)
        self._entry = os.path.join(WRITERS_ENTRY, os.path.basename(folder))
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if not os.path.lexists(self.path):
                os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))
            self._connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
            self._connection.set_busy_timeout(TEAM_BUSY_MS)
            self._connection.pragma("secure_delete", 1)
            # without its comments, which SQLite would store: their words would be found after a purge
            self._connection.execute(re.sub(r"--[^\n]*", "", TEAM_SCHEMA))
            if "key" not in self._table_columns("streams"):
                self._connection.execute("ALTER TABLE streams ADD COLUMN key TEXT NOT NULL DEFAULT ''")
            if "author" in self._table_columns("records"):
                self._upgrade_records()
        except (OSError, apsw.Error) as error:
            raise StorageError(f"{self.path} cannot be used: {error}.", "Delete it: it is made again.") from None

    def close(self) -> None:
        self._connection.close()

    def _table_columns(self, table: str) -> set[str]:
        """Return the names of a table's columns."""
        return {row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")}

    def _upgrade_records(self) -> None:
        """Bring a file of the first version up to date: `records` had an author, and a longer state."""
        with self._connection:
            self._connection.execute("DROP INDEX records_moved; ALTER TABLE records RENAME TO records_before")
            self._connection.execute(re.sub(r"--[^\n]*", "", TEAM_SCHEMA))
            self._connection.executemany(
                "INSERT INTO records(id, state, moved) VALUES (?, ?, ?)",
                (
                    (id, SharedRecord.from_json(state).to_packed(), moved)
                    for id, state, moved in self._connection.execute("SELECT id, state, moved FROM records_before")
                ),
            )
            self._connection.execute("DROP TABLE records_before")

    # one exchange at a time

    def __enter__(self) -> TeamFile:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            raise Busy("Another program is exchanging with the team.", "Try again in a moment.") from None
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._connection.execute("COMMIT" if error is None else "ROLLBACK")

    def commit(self) -> None:
        """Commit what was done so far, and continue in a new transaction."""
        self._connection.execute("COMMIT; BEGIN IMMEDIATE")

    # the writer

    @property
    def writer(self) -> str:
        """This installation's writer for this memory; empty before the first share, and for a copied installation."""
        writer, _, machine = read_state(self._entry).partition("\n")
        return writer if machine == machine_id() else ""

    @property
    def left_writer(self) -> str:
        """The writer that this installation was on the machine that it was copied from; empty where it was not."""
        writer, _, machine = read_state(self._entry).partition("\n")
        return writer if machine != machine_id() else ""

    def become_new_writer(self) -> str:
        """Give this installation a new writer for this memory; return it. Raise StorageError."""
        writer = b32encode(os.urandom(8)).decode().lower()[:12]
        if not write_state(self._entry, f"{writer}\n{machine_id()}"):
            raise state_folder_error()
        return writer

    # choices of the person

    def get_choice(self, key: str) -> str:
        """Return a stored choice or mark; empty if there is none."""
        found = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).get
        return "" if found is None else str(found)

    def put_choice(self, key: str, value: str) -> None:
        """Store a choice or mark."""
        self._connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, value))

    # streams

    def stream_states(self) -> dict[str, StreamState]:
        """Return the state of each known stream, by writer."""
        rows = self._connection.execute(f"SELECT {STREAM_COLUMNS} FROM streams")
        return {row[0]: StreamState(*row) for row in rows}

    def put_stream(self, state: StreamState) -> None:
        self._connection.execute(
            f"INSERT OR REPLACE INTO streams({STREAM_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            tuple(getattr(state, name) for name in STREAM_COLUMNS.split(", ")),
        )

    def put_segment(self, writer: str, seq: int, digest: str, rewrites: str) -> None:
        """Note a segment that was merged."""
        self._connection.execute(
            "INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?)", (writer, seq, digest, rewrites)
        )

    def segment_digests(self, writer: str) -> set[str]:
        """Return the digests of the segments of a stream."""
        return {
            row[0] for row in self._connection.execute("SELECT digest FROM segments WHERE writer = ?", (writer,))
        }

    def replaced_digest(self, writer: str) -> str:
        """Return the digest of the stream that this stream replaces, as after a purge; empty if it replaces none."""
        sql = "SELECT rewrites FROM segments WHERE writer = ? ORDER BY seq LIMIT 1"
        return str(self._connection.execute(sql, (writer,)).get or "")

    def put_seen(self, witness: str, writer: str, seq: int, digest: str) -> None:
        """Store up to where a witness says that they saw another writer's stream."""
        self._connection.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (witness, writer, seq, digest))

    def list_seen(self) -> list[tuple[str, str, int, str]]:
        """Return what each writer said last of what they saw: (witness, writer, number, digest)."""
        rows = self._connection.execute("SELECT witness, writer, seq, digest FROM seen ORDER BY writer, witness")
        return list(rows)

    # records

    def get_record(self, id: str) -> SharedRecord:
        """Return a record as it is known; a new record if it is not."""
        state = self._connection.execute("SELECT state FROM records WHERE id = ?", (id,)).get
        return SharedRecord(id) if state is None else SharedRecord.from_packed(id, state)

    def put_records(self, records: Iterable[SharedRecord]) -> None:
        """Store records; those that changed are compared with the memory at the next occasion."""
        self._connection.executemany(
            "INSERT INTO records(id, state, moved) VALUES (?, ?, 1)"
            " ON CONFLICT(id) DO UPDATE SET state = excluded.state, moved = 1 WHERE state <> excluded.state",
            ((one.id, one.to_packed()) for one in records),
        )

    def moved_records(self) -> list[str]:
        """Return the records that changed since they were last compared with the memory, in order."""
        return [id for (id,) in self._connection.execute("SELECT id FROM records WHERE moved ORDER BY id")]

    def purged_records(self) -> set[str]:
        """Return the records that were purged by their authors since they were last compared with the memory."""
        return {id for (id,) in self._connection.execute("SELECT id FROM records WHERE moved AND state = ''")}

    def mark_compared(self, ids: Iterable[str]) -> None:
        """Note that records were compared with the memory."""
        self._connection.executemany("UPDATE records SET moved = 0 WHERE id = ?", ((id,) for id in ids))

    def forget_records(self) -> None:
        """Drop what was merged, to merge it again from the streams: after one was rewritten."""
        self._connection.execute("DELETE FROM records; DELETE FROM segments; DELETE FROM seen")
        self._connection.execute("UPDATE streams SET head = '', seq = 0, digest = ''")

    def all_records(self) -> Iterator[SharedRecord]:
        """Yield every record, by identity."""
        for id, state in self._connection.execute("SELECT id, state FROM records ORDER BY id"):
            yield SharedRecord.from_packed(id, state)

    def questioned_records(self, author: str) -> Iterator[SharedRecord]:
        """Yield the records of an author that somebody else wanted forgotten or purged, and that are not purged."""
        sql = "SELECT id, state FROM records WHERE substr(id, -12) = ? AND instr(state, '\"q\":') ORDER BY id"
        for id, state in self._connection.execute(sql, (author,)).fetchall():
            yield SharedRecord.from_packed(str(id), str(state))

    def count_records(self) -> dict[str, int]:
        """Return how many records of each writer are known and not purged."""
        sql = "SELECT substr(id, -12) AS author, count(*) FROM records WHERE state <> '' GROUP BY author"
        return {str(author): int(str(number)) for author, number in self._connection.execute(sql)}

    # records of the memory

    def held_records(self) -> dict[str, HeldRecord]:
        """Return the shared records that are in the memory, by identity."""
        rows = self._connection.execute("SELECT id, number, fields, base, confirmed, status FROM held")
        return {
            id: HeldRecord(id, number, json.loads(fields), _parse_base(base), *rest)
            for id, number, fields, base, *rest in rows
        }

    def held_numbers(self) -> dict[str, int]:
        """Return the number in the memory of each shared record that is there, by identity."""
        return {
            str(id): int(str(number)) for id, number in self._connection.execute("SELECT id, number FROM held")
        }

    def get_held(self, id: str) -> HeldRecord | None:
        """Return what is held of a shared record; None if nothing is."""
        row = self._connection.execute(
            "SELECT number, fields, base, confirmed, status FROM held WHERE id = ?", (id,)
        ).get
        if row is None:
            return None
        number, fields, base, *rest = row
        return HeldRecord(id, number, json.loads(fields), _parse_base(base), *rest)

    def put_held(self, one: HeldRecord) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO held(id, number, fields, base, confirmed, status) VALUES (?, ?, ?, ?, ?, ?)",
            (one.id, one.number, json.dumps(one.fields), json.dumps(one.base), one.confirmed, one.status),
        )

    def drop_held(self, id: str) -> None:
        self._connection.execute("DELETE FROM held WHERE id = ?", (id,))

    def note_link(self, id: str, sha: str) -> bool:
        """Note that a commit names a shared decision; return whether that is new."""
        self._connection.execute("INSERT OR IGNORE INTO linked(id, sha) VALUES (?, ?)", (id, sha))
        return bool(self._connection.changes())

    def list_offers(self) -> dict[str, RecordOffer]:
        """Return the newest proposal about each record, by identity."""
        rows = self._connection.execute("SELECT id, proposal, fields, base FROM offers")
        return {
            id: RecordOffer(id, number, json.loads(fields), _parse_base(base)) for id, number, fields, base in rows
        }

    def put_offer(self, one: RecordOffer) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO offers(id, proposal, fields, base) VALUES (?, ?, ?, ?)",
            (one.id, one.proposal, json.dumps(one.fields), json.dumps(one.base)),
        )

    def drop_offer(self, id: str) -> None:
        self._connection.execute("DELETE FROM offers WHERE id = ?", (id,))


def machine_id() -> str:
    """Return what tells this machine from another that this installation was copied to."""
    try:
        with open("/etc/machine-id", encoding="ascii") as file:
            name = file.read().strip()
    except (OSError, ValueError):
        name = socket.gethostname()
    return sha256(f"memoranda {name}".encode()).hexdigest()[:32]


def _parse_base(text: str) -> dict[str, tuple[str, ...]]:
    """Parse the operations that set each field."""
    return {name: tuple(several) for name, several in json.loads(text).items()}
