"""Keep the tables of `schema.sql` like the streams of a team: idempotent, by the number of each operation.

Records first, then their streams, one transaction each: what was interrupted is done again at the next run. A stream
that its writer rewrote after a purge is replaced whole, and of a purged record the identity alone stays.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.team.operation import Operation
from store.team.postgres.connection import VERSION, ReplicaError, connect, first_line, newer, place, version
from store.team.team_file import StreamState
from store.team.view import SharedRecord

if TYPE_CHECKING:
    from store.embedding.provider import Provider

SCHEMA = os.path.join(os.path.dirname(__file__), "schema.sql")
DIMENSION = 384  # of `embeddings.vector`
LOCK = 7_461_883_305  # of PostgreSQL's advisory locks: one replication at a time
BATCH = 256  # records that are embedded in one transaction


@dataclass(slots=True)
class Replicated:
    """Result of a replication: `operations` and `records` that were written, records `embedded`, and `replaced`
    streams."""

    operations: int = 0
    records: int = 0
    embedded: int = 0
    replaced: int = 0


class Replica:
    """One database, open for one team. `address` is as psycopg takes it: postgresql://user@host/name. Raise
    InvalidInput without psycopg, and ReplicaError."""

    def __init__(self, address: str, team: str) -> None:
        self._connection = connect(address)
        import psycopg

        self._error = psycopg.Error
        self.team = team
        try:
            if not self._connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()[0]:  # type: ignore[index]
                raise ReplicaError("Another replication is writing to that database.", "Try again later.")
            if (found := version(self._connection)) > VERSION:
                raise newer(found, place(address))
            if found < VERSION:
                with open(SCHEMA, encoding="utf-8") as file, self._connection.transaction():
                    self._connection.execute(file.read().encode())
        except psycopg.Error as error:
            self._connection.close()
            raise ReplicaError(
                f"PostgreSQL refused: {first_line(error)}.", "Look at the address and its rights."
            ) from None
        except ReplicaError:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def heads(self) -> dict[str, tuple[int, str]]:
        """Return for each writer the newest operation that is in the database, and its commit."""
        rows = self._connection.execute("SELECT writer, seq, head FROM memoranda.writers WHERE team = %s", (self.team,))
        return {writer: (seq, head) for writer, seq, head in rows}

    def put(self, state: StreamState, operations: Iterable[Operation], replaces: bool) -> int:
        """Write operations of a stream, and up to where it is; return how many they were. With `replaces` what was
        there of it goes. Raise ReplicaError."""
        written = 0
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                if replaces:
                    cursor.execute(
                        "DELETE FROM memoranda.operations WHERE team = %s AND writer = %s", (self.team, state.writer)
                    )
                columns = "team, writer, seq, at, op, id, fields, base"
                with cursor.copy(f"COPY memoranda.operations({columns}) FROM STDIN") as copy:
                    for one in operations:
                        base = {name: list(several) for name, several in one.base.items()}
                        parts = (json.dumps(one.fields), json.dumps(base))
                        copy.write_row((self.team, one.writer, one.seq, one.at, one.op, one.id, *parts))
                        written += 1
                cursor.execute(
                    "INSERT INTO memoranda.writers(team, writer, name, seq, head) VALUES (%s, %s, %s, %s, %s)"
                    " ON CONFLICT (team, writer) DO UPDATE SET name = excluded.name, seq = excluded.seq,"
                    " head = excluded.head",
                    (self.team, state.writer, state.name, state.seq, state.head),
                )
        except self._error as error:
            raise ReplicaError(f"PostgreSQL refused: {first_line(error)}.") from None
        return written

    def put_records(self, records: Iterable[SharedRecord]) -> int:
        """Write records as they are now; return how many. Raise ReplicaError."""
        written = 0
        columns = "team, id, kind, author, domain, status, title, body, fields, conflict"
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                cursor.execute(
                    f"CREATE TEMP TABLE arriving ON COMMIT DROP AS SELECT {columns} FROM memoranda.records WITH NO DATA"
                )
                with cursor.copy(f"COPY arriving({columns}) FROM STDIN") as copy:
                    for one in records:
                        if one.status != "unknown":
                            copy.write_row((self.team, *_row(one)))
                            written += 1
                # a vector of other words goes with them
                cursor.execute(
                    "DELETE FROM memoranda.embeddings e USING arriving a, memoranda.records r WHERE e.team = a.team"
                    " AND e.id = a.id AND r.team = a.team AND r.id = a.id AND (r.title, r.body) <> (a.title, a.body)"
                )
                changed = ", ".join(f"{name} = excluded.{name}" for name in columns.split(", ")[2:])
                cursor.execute(
                    f"INSERT INTO memoranda.records({columns}) SELECT {columns} FROM arriving"
                    f" ON CONFLICT (team, id) DO UPDATE SET {changed}"
                )
        except self._error as error:
            raise ReplicaError(f"PostgreSQL refused: {first_line(error)}.") from None
        return written

    def embed(self, provider: "Provider", cancelled: Callable[[], bool] = lambda: False) -> int:
        """Compute the vectors that are missing, or of another model; return how many. Raise EmbeddingError,
        ReplicaError."""
        if provider.dimension != DIMENSION:
            return 0
        done = 0
        while not cancelled():
            rows = self._connection.execute(
                "SELECT r.id, r.title, r.body FROM memoranda.records r"
                " LEFT JOIN memoranda.embeddings e USING (team, id)"
                " WHERE r.team = %s AND r.status = 'active' AND e.model IS DISTINCT FROM %s LIMIT %s",
                (self.team, provider.fingerprint, BATCH),
            ).fetchall()
            if not rows:
                break
            vectors = provider.passages([f"{title}\n{body}".strip() for _, title, body in rows])
            values = [
                (self.team, id, provider.fingerprint, literal(vector.tolist()))
                for (id, *_), vector in zip(rows, vectors, strict=True)
            ]
            with self._connection.transaction(), self._connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO memoranda.embeddings(team, id, model, vector) VALUES (%s, %s, %s, %s)"
                    " ON CONFLICT (team, id) DO UPDATE SET model = excluded.model, vector = excluded.vector",
                    values,
                )
            done += len(rows)
        return done


def _row(one: SharedRecord) -> tuple[object, ...]:
    """Return a record's columns behind `team`."""
    fields = {} if one.purged else one.fields()
    if one.kind == "fact":
        domain, title, body = str(fields.get("domain", "general")), "", str(fields.get("fact", ""))
    else:
        domain, title = "decisions", str(fields.get("title", ""))
        parts = (fields.get("chosen"), fields.get("context"), fields.get("rationale"))
        body = "\n".join(str(part) for part in parts if part)
    return one.id, one.kind, one.author, domain, one.status, title, body, json.dumps(fields), bool(one.conflicts())


def literal(vector: Sequence[float]) -> str:
    """Return a vector as PostgreSQL reads it."""
    return f"[{','.join(f'{number:.7g}' for number in vector)}]"


def batches(records: Iterable[SharedRecord], size: int = 5_000) -> Iterator[list[SharedRecord]]:
    """Yield records in lists of at most `size`."""
    waiting: list[SharedRecord] = []
    for one in records:
        waiting.append(one)
        if len(waiting) == size:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
