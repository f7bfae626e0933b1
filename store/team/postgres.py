"""Read teams' shared records from the database that `team replicate` wrote, as one more source. Nothing is ever written
there, and what is read has no power here: it reaches no memory, no answer and no prompt."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from store.base.clock import format_local_time
from store.base.errors import InvalidInput, MemorandaError
from store.base.models import select_fields
from store.config.configuration import Config
from store.embedding.model_registry import calibrate_cosine, get_calibration
from store.embedding.provider import EmbeddingError, EmbeddingProvider
from store.embedding.provider_selection import choose_provider
from store.search.ranking import MIN_NEAR_SIMILARITY, compute_near_line
from store.team.stream import LIST_FIELDS, RECORD_ID_PATTERN, SHARED_FIELDS, Operation, SharedRecord, join_value
from store.team.team_file import StreamState
from store.text.display import format_count, visible
from store.text.language import detect_language, is_other_language

if TYPE_CHECKING:
    import psycopg


# Connect to PostgreSQL, and say in a sentence why that fails. A password that an address holds is in no message.

REPLICA_VERSION = 4  # of schema.sql
CONNECT_SECONDS = 10
# of what is asked by a reader
ANSWER_SECONDS = 15
APPLICATION_NAME = "memoranda"
ADDRESS_HINT = "Write it as postgresql://user@host/name."
# what libpq says, in English, of a server that does not answer
NO_ANSWER = re.compile(
    "refused|resol|not known|nodename|timeout|timed out|No such file|No route|unreachable|closed the connection"
)


class ReplicaError(MemorandaError):
    """PostgreSQL cannot be reached, or refuses what is asked."""

    code = "replica"


def connect_replica(address: str, reads: bool = False) -> psycopg.Connection:
    """Open a connection that commits each statement, or with `reads` a connection that cannot write. Raise
    InvalidInput if psycopg is missing or the address is invalid, and ReplicaError."""
    where = format_address(address)
    import psycopg

    given = {"client_encoding": "utf8", "application_name": APPLICATION_NAME, "connect_timeout": CONNECT_SECONDS}
    try:
        connection = psycopg.connect(address, autocommit=True, **given)  # type: ignore[arg-type]
        if reads:
            connection.execute("SET default_transaction_read_only = on")
            connection.execute(f"SET statement_timeout = '{ANSWER_SECONDS}s'")
        return connection
    except psycopg.Error as error:
        said = postgres_message(error)
        if NO_ANSWER.search(said):
            raise ReplicaError(
                f"No PostgreSQL answers at {where}: {said}.", "Start it, or look at the address and the network."
            ) from None
        raise ReplicaError(
            f"PostgreSQL refused to let this in at {where}: {said}.",
            "Look at the user and the database; a password belongs in ~/.pgpass or PGPASSWORD.",
        ) from None


def format_address(address: str) -> str:
    """Return an address as it is shown: user@host/name, whatever else it holds. Raise InvalidInput."""
    try:
        from psycopg import Error, conninfo
    except ImportError:
        raise InvalidInput(
            "PostgreSQL needs one more package.", "Install it: pip install 'memoranda[postgres]'."
        ) from None
    try:
        address.encode()
    except UnicodeEncodeError:
        raise InvalidInput("That address is not UTF-8.", ADDRESS_HINT) from None
    try:
        parts = {name: str(value) for name, value in conninfo.conninfo_to_dict(address).items()}
    except Error:  # which quotes the address
        raise InvalidInput("That is no address of a PostgreSQL database.", ADDRESS_HINT) from None
    host = parts.get("host") or parts.get("hostaddr") or os.environ.get("PGHOST") or "this machine"
    if service := parts.get("service"):
        host = parts.get("host") or f"service {service}"
    user, name = parts.get("user"), parts.get("dbname")
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"{user + '@' if user else ''}{host}{port}{'/' + name if name else ''}"


def tables_version(connection: psycopg.Connection) -> int:
    """Return the version of the tables; 0 where there are none."""
    if not connection.execute("SELECT to_regclass('memoranda.records')").fetchone()[0]:  # type: ignore[index]
        return 0
    if not connection.execute("SELECT to_regprocedure('memoranda.version()')").fetchone()[0]:  # type: ignore[index]
        return 1
    return int(connection.execute("SELECT memoranda.version()").fetchone()[0])  # type: ignore[index]


def newer_tables_error(found: int, where: str) -> ReplicaError:
    """Return the error for tables of a newer version."""
    return ReplicaError(
        f"A newer Memoranda wrote {where} (version {found} of the tables; this one knows {REPLICA_VERSION}).",
        "Update Memoranda: pip install --upgrade memoranda.",
    )


def postgres_message(error: BaseException) -> str:
    """Return what PostgreSQL said, without what it quotes."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    line = line.removeprefix("connection failed: ").removeprefix("connection is bad: ")
    return line.removesuffix(".")[:200]


# Keep the tables of `schema.sql` like the streams of a team: idempotent, by the number of each operation.
#
# Records first, then their streams, one transaction each: what was interrupted is done again at the next run. A stream
# that its writer rewrote after a purge is replaced whole, and of a purged record the identity alone stays.

REPLICA_SCHEMA = os.path.join(os.path.dirname(__file__), "schema.sql")
# of `embeddings.vector`
VECTOR_DIMENSION = 384
# of PostgreSQL's advisory locks: one replication at a time
REPLICATION_LOCK = 7_461_883_305
# records that are embedded in one transaction
EMBED_BATCH = 256


@dataclass(slots=True)
class ReplicationResult:
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
        self._connection = connect_replica(address)
        import psycopg

        self._error = psycopg.Error
        self.team = team
        try:
            if not self._connection.execute("SELECT pg_try_advisory_lock(%s)", (REPLICATION_LOCK,)).fetchone()[0]:  # type: ignore[index]
                raise ReplicaError("Another replication is writing to that database.", "Try again later.")
            if (found := tables_version(self._connection)) > REPLICA_VERSION:
                raise newer_tables_error(found, format_address(address))
            if found < REPLICA_VERSION:
                with open(REPLICA_SCHEMA, encoding="utf-8") as file, self._connection.transaction():
                    self._connection.execute(file.read().encode())
        except psycopg.Error as error:
            self._connection.close()
            raise ReplicaError(
                f"PostgreSQL refused: {postgres_message(error)}.", "Look at the address and its rights."
            ) from None
        except ReplicaError:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def writer_heads(self) -> dict[str, tuple[int, str]]:
        """Return for each writer the newest operation that is in the database, and its commit."""
        rows = self._connection.execute(
            "SELECT writer, seq, head FROM memoranda.writers WHERE team = %s", (self.team,)
        )
        return {writer: (seq, head) for writer, seq, head in rows}

    def put_operations(self, state: StreamState, operations: Iterable[Operation], replaces: bool) -> int:
        """Write operations of a stream, and up to where it is; return how many they were. With `replaces` what was
        there of it goes. Raise ReplicaError."""
        written = 0
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                if replaces:
                    cursor.execute(
                        "DELETE FROM memoranda.operations WHERE team = %s AND writer = %s",
                        (self.team, state.writer),
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
            raise ReplicaError(f"PostgreSQL refused: {postgres_message(error)}.") from None
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
                            copy.write_row((self.team, *_record_row(one)))
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
            raise ReplicaError(f"PostgreSQL refused: {postgres_message(error)}.") from None
        return written

    def embed_records(self, provider: EmbeddingProvider, cancelled: Callable[[], bool] = lambda: False) -> int:
        """Compute the vectors that are missing, or of another model; return how many. Raise EmbeddingError,
        ReplicaError."""
        if provider.dimension != VECTOR_DIMENSION:
            return 0
        done = 0
        try:
            while not cancelled() and (embedded := self._embed_batch(provider)):
                done += embedded
        except self._error as error:
            raise ReplicaError(f"PostgreSQL refused: {postgres_message(error)}.") from None
        return done

    def _embed_batch(self, provider: EmbeddingProvider) -> int:
        """Compute some of the vectors that are missing; return how many. Raise EmbeddingError, and psycopg's errors."""
        rows = self._connection.execute(
            "SELECT r.id, r.title, r.body FROM memoranda.records r"
            " LEFT JOIN memoranda.embeddings e USING (team, id)"
            " WHERE r.team = %s AND r.status = 'active' AND e.model IS DISTINCT FROM %s LIMIT %s",
            (self.team, provider.fingerprint, EMBED_BATCH),
        ).fetchall()
        if not rows:
            return 0
        vectors = provider.passages([f"{title}\n{body}".strip() for _, title, body in rows])
        values = [
            (self.team, id, provider.fingerprint, vector_literal(vector.tolist()))
            for (id, *_), vector in zip(rows, vectors, strict=True)
        ]
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO memoranda.embeddings(team, id, model, vector) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (team, id) DO UPDATE SET model = excluded.model, vector = excluded.vector",
                values,
            )
        return len(rows)


def _record_row(one: SharedRecord) -> tuple[object, ...]:
    """Return a record's columns behind `team`."""
    fields = {} if one.purged else one.shown_fields()
    if one.kind == "fact":
        domain, title, body = str(fields.get("domain", "general")), "", str(fields.get("fact", ""))
    else:
        domain, title = "decisions", str(fields.get("title", ""))
        parts = (fields.get("chosen"), fields.get("context"), fields.get("rationale"))
        body = "\n".join(str(part) for part in parts if part)
    return (
        one.id,
        one.kind,
        one.author,
        domain,
        one.status,
        title,
        body,
        json.dumps(fields),
        bool(one.conflicts()),
    )


def vector_literal(vector: Sequence[float]) -> str:
    """Return a vector as PostgreSQL reads it."""
    return f"[{','.join(f'{number:.7g}' for number in vector)}]"


def record_batches(records: Iterable[SharedRecord], size: int = 5_000) -> Iterator[list[SharedRecord]]:
    """Yield records in lists of at most `size`."""
    waiting: list[SharedRecord] = []
    for one in records:
        waiting.append(one)
        if len(waiting) == size:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


REPLICA_SETTING = "team.replica"
ANOTHER_MODEL = "By words alone: the vectors there are of another model than yours."
NO_MODEL = "By words alone: no model for vectors runs here. See `memoranda health --check`."
NO_VECTORS = "By words alone: no vectors are there."
_RECORD_COLUMNS = (
    "r.team, r.id, r.kind, r.author, coalesce(w.name, ''), r.domain, r.status, r.title, r.body,"
    " r.fields, r.conflict"
)
_WRITER_JOIN = "LEFT JOIN memoranda.writers w ON w.team = r.team AND w.writer = r.author"
# what row-level security lets the role read, and of its owner, whom it does not hold back, the same
_MAY_READ = "EXISTS (SELECT 1 FROM memoranda.readable() m WHERE m.team = r.team AND m.domain IN ('*', r.domain))"


DECISION_FIELDS = {
    "chosen": "Chosen",
    "context": "Context",
    "alternatives": "Instead of",
    "rationale": "Because",
}
OTHER_FIELDS = {"impact": "Impact", "confidence": "Confidence", "tags": "Tags"}


class ReplicaRecord(NamedTuple):
    """One record: its stable identity `id`, who wrote it (`author`, their `name` if they gave one), its `fields`.
    `conflict`: it has several texts, of which one is shown. Of a search: whether all its words are there (`exact`)."""

    team: str
    id: str
    kind: str
    author: str
    name: str
    domain: str
    status: str
    title: str
    body: str
    fields: dict[str, Any]
    conflict: bool
    exact: bool = False

    @property
    def text(self) -> str:
        """Its text in a line: a decision's title, or a fact."""
        return self.title or self.body

    def describe(self) -> list[str]:
        """Return all of it in lines: its own words, then each field that is known beside its label."""
        domain, status = (
            self.domain if self.kind == "fact" else "",
            self.status if self.status != "active" else "",
        )
        fields = {
            "": self.text,
            **{label: join_value(self.fields.get(name), "; ") for name, label in DECISION_FIELDS.items()},
            "Kind": " · ".join(filter(None, (self.kind, domain, status))),
            "Team": self.team,
            "Written by": f"{self.name} ({self.author})" if self.name else self.author,
            "Created": format_local_time(self.created_at) if self.created_at else "",
            **{label: join_value(self.fields.get(name), ", ") for name, label in OTHER_FIELDS.items()},
            "Conflict": "it has several texts, of which its author's is shown" if self.conflict else "",
            "Identity": self.id,
        }
        lines = []
        for label, text in fields.items():
            first, *rest = [visible(line) for line in text.split("\n")]
            known = [f"{label:<12} {first}" if label else first, *(f"{'':<12} {line}" for line in rest)]
            lines += known if text else []
        return lines

    def summarize(self) -> tuple[str, str]:
        """Return its whole text in a line, and who wrote it, where and when."""
        day = format_local_time(self.created_at).rpartition(" ")[0] if self.created_at else ""
        several = "several texts" if self.conflict else ""
        text = ": ".join(filter(None, (self.text, str(self.fields.get("chosen") or "")))).replace("\n", " ")
        about = self.id, self.domain, self.name or self.author, self.team, day, several
        return visible(text), visible(" · ".join(filter(None, about)))

    @property
    def created_at(self) -> str:
        """Return when the record was written, in UTC; empty where this is not known."""
        return str(self.fields.get("created") or "")


class ReplicaTeam(NamedTuple):
    """One team that may be read: how many facts and decisions hold, and how many records were forgotten."""

    name: str
    facts: int
    decisions: int
    forgotten: int

    @property
    def records(self) -> int:
        return self.facts + self.decisions

    def describe(self) -> str:
        """Return a line about what of it may be read."""
        forgotten = f", {self.forgotten:,} forgotten, not shown" if self.forgotten else ""
        known = f"{format_count(self.facts, 'fact')}, {format_count(self.decisions, 'decision')}"
        return f"{visible(self.name)}: {known}{forgotten}"

    def as_dict(self) -> dict[str, object]:
        return {"team": self.name, **select_fields(self, "facts", "decisions", "forgotten")}


@dataclass(slots=True)
class ReplicaFound:
    """What a search found, the best first; whether `meaning` was searched too, and `note`, why not."""

    records: list[ReplicaRecord] = field(default_factory=list)
    meaning: bool = False
    note: str = ""


class ReplicaReader:
    """The database that a person set as `team.replica`, read by one thread at a time; it is connected to when it is
    first asked. Each question raises InvalidInput or ReplicaError."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._address = str(config[REPLICA_SETTING])
        self._busy = Lock()
        self._connection: psycopg.Connection | None = None
        self._provider: EmbeddingProvider | None = None
        # for a provider
        self._looked = False
        self.place = format_address(self._address) if self._address else ""

    def close(self) -> None:
        """End the connection, and what is asked there."""
        self.stop_query()
        with self._busy:
            if self._connection is not None:
                self._connection.close()
            if self._provider is not None:
                self._provider.close()
            self._connection = self._provider = None
            self._looked = False

    def stop_query(self) -> None:
        """End what another thread asks: it raises ReplicaError there."""
        connection = self._connection
        if connection is not None and not connection.closed:
            connection.cancel_safe(timeout=2)

    def list_teams(self) -> list[ReplicaTeam]:
        """Return each team of which something may be read."""
        rows = self._query(
            "SELECT y.team, count(*) FILTER (WHERE r.status = 'active' AND r.kind = 'fact'),"
            " count(*) FILTER (WHERE r.status = 'active' AND r.kind = 'decision'),"
            " count(*) FILTER (WHERE r.status = 'forgotten')"
            " FROM (SELECT DISTINCT a.team FROM memoranda.readable() a) y"
            f" LEFT JOIN memoranda.records r ON r.team = y.team AND {_MAY_READ} GROUP BY y.team ORDER BY y.team"
        )
        return [ReplicaTeam(*row) for row in rows]

    def newest_records(self, team: str = "", limit: int = 200) -> list[ReplicaRecord]:
        """Return the newest records that hold, of one team or of all."""
        rows = self._query(
            f"SELECT {_RECORD_COLUMNS} FROM (SELECT DISTINCT a.team FROM memoranda.readable() a) y CROSS JOIN LATERAL ("
            " SELECT r.team, r.id, r.kind, r.author, r.domain, r.status, r.title, r.body, r.fields, r.conflict"
            f" FROM memoranda.records r WHERE r.team = y.team AND r.status = 'active' AND {_MAY_READ}"
            f" ORDER BY r.fields->>'created' DESC NULLS LAST LIMIT %(limit)s) r {_WRITER_JOIN}"
            " WHERE %(team)s = '' OR y.team = %(team)s"
            " ORDER BY r.fields->>'created' DESC NULLS LAST, r.team, r.id LIMIT %(limit)s",
            {"team": team, "limit": limit},
        )
        return [_parse_record(row) for row in rows]

    def find_records(self, id: str, team: str = "") -> list[ReplicaRecord]:
        """Return the records with this identity, one from each team that has it."""
        rows = self._query(
            f"SELECT {_RECORD_COLUMNS} FROM memoranda.records r {_WRITER_JOIN}"
            f" WHERE r.id = %s AND r.status <> 'purged' AND (%s = '' OR r.team = %s) AND {_MAY_READ} ORDER BY r.team",
            (id, team, team),
        )
        return [_parse_record(row) for row in rows]

    def search_records(self, text: str, team: str = "", limit: int = 50, meaning: bool = True) -> ReplicaFound:
        """Search by words in English and Spanish, and by meaning where the vectors are of this person's own model: what
        shares no word with the question is as near as at home. An identity, F2@…, finds its record. The question leaves
        this machine, for that database."""
        text = text.replace("\0", " ").strip()
        if RECORD_ID_PATTERN.match(text):
            return ReplicaFound(self.find_records(text, team))
        vector, note = self._question_vector(text, team) if meaning and text else (None, "")
        rows = self._query(
            f"SELECT {_RECORD_COLUMNS}, s.whole, s.cosine FROM memoranda.search(%s, %s::vector, %s, %s, %s) s"
            f" JOIN memoranda.records r ON r.team = s.team AND r.id = s.id {_WRITER_JOIN}"
            " ORDER BY s.score DESC, s.team, s.id",
            (text, vector and vector[0], limit, vector and vector[1], team or None),
        )
        found = ReplicaFound(meaning=vector is not None, note=note)
        spoken = detect_language(text)
        seen = [
            (_parse_record(row, exact=whole == 1), whole, self._similarity(cosine)) for *row, whole, cosine in rows
        ]
        across = [is_other_language(spoken, detect_language(record.text)) for record, *_ in seen]
        best = max((near for (*_, near), other in zip(seen, across, strict=True) if not other), default=0.0)
        least = compute_near_line(best, len(text.split()))
        for (record, whole, near), other in zip(seen, across, strict=True):
            if whole is not None or near >= (MIN_NEAR_SIMILARITY if other else least):
                found.records.append(record)
        # each part stays in its order
        found.records.sort(key=lambda one: not one.exact)
        return found

    def _question_vector(self, text: str, team: str) -> tuple[tuple[str, str] | None, str]:
        """Return (the question's vector, what computed it), or (None, why there is none)."""
        models = {
            model
            for name, model in self._query("SELECT team, model FROM memoranda.models()")
            if team in ("", name)
        }
        if not models:
            return None, NO_VECTORS
        if not self._looked:
            self._provider, self._looked = choose_provider(self._config).provider, True
        provider = self._provider
        if provider is None:
            return None, NO_MODEL
        if provider.fingerprint not in models or provider.dimension != VECTOR_DIMENSION:
            return None, ANOTHER_MODEL
        try:
            return (vector_literal(provider.query(text).tolist()), provider.fingerprint), ""
        except EmbeddingError as error:
            return None, f"By words alone: {error}"

    def _similarity(self, cosine: float | None) -> float:
        """Return a cosine as a similarity from 0 to 1; 0 where there is none."""
        if self._provider is None or cosine is None:
            return 0.0
        scale = get_calibration(self._provider)
        return calibrate_cosine(cosine, scale.zero, scale.one)

    def _query(self, sql: str, values: Sequence[object] | dict[str, object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query. Raise ReplicaError or InvalidInput."""
        import psycopg

        with self._busy:
            connection = self._open_connection()
            try:
                return connection.execute(sql, values).fetchall()
            except psycopg.errors.QueryCanceled:
                raise ReplicaError(
                    f"{self.place} did not answer in time, and was stopped.", "Ask for less, or for one team."
                ) from None
            except psycopg.errors.InsufficientPrivilege as error:
                raise self._access_error(error) from None
            except psycopg.OperationalError as error:
                connection.close()
                raise ReplicaError(
                    f"The connection to {self.place} was lost: {postgres_message(error)}.", "Try again."
                ) from None
            except psycopg.Error as error:
                raise ReplicaError(
                    f"{self.place} refused: {postgres_message(error)}.",
                    "Show this to whoever runs that database.",
                ) from None

    def _open_connection(self) -> psycopg.Connection:
        """Return the connection, after a look at what is there."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if not self._address:
            raise InvalidInput(
                "No database is set.", f"memoranda config {REPLICA_SETTING} postgresql://user@host/name"
            )
        import psycopg

        connection = connect_replica(self._address, reads=True)
        try:
            found = tables_version(connection)
            if not found:
                raise ReplicaError(
                    f"{self.place} holds no team's records.",
                    "`memoranda team replicate ADDRESS` writes what a team shared.",
                )
            if found > REPLICA_VERSION:
                raise newer_tables_error(found, self.place)
            if found < REPLICA_VERSION:
                raise ReplicaError(
                    f"An older Memoranda wrote {self.place} (version {found} of the "
                    f"tables; this one reads {REPLICA_VERSION}).",
                    "Whoever writes it brings it up to date: `memoranda team replicate ADDRESS`, run once more.",
                )
            if not connection.execute("SELECT 1 FROM memoranda.readable() LIMIT 1").fetchone():
                role = connection.info.user
                raise ReplicaError(
                    f"The role {role} may read no team in {self.place}.",
                    f"Whoever runs it says what: INSERT INTO memoranda.access VALUES ('{role}', 'TEAM', '*');",
                )
        except psycopg.Error as error:
            connection.close()
            raise self._access_error(error) from None
        except ReplicaError:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _access_error(self, error: psycopg.Error) -> ReplicaError:
        """Return the error for a database that does not let this role read."""
        return ReplicaError(
            f"{self.place} does not let this role read: {postgres_message(error)}.",
            "Whoever runs it grants that, and says in memoranda.access what may be read.",
        )


def _parse_record(row: Sequence[Any], exact: bool = False) -> ReplicaRecord:
    """Return the record of a row; of its fields those that are what they should be."""
    team, id, kind, author, name, domain, status, title, body, fields, conflict = row
    known = fields if isinstance(fields, dict) else {}
    kept = {
        part: known[part]
        for part in SHARED_FIELDS.get(kind, ())
        if part in known and _is_text_field(part, known[part])
    }
    return ReplicaRecord(team, id, kind, author, name, domain, status, title, body, kept, conflict, exact)


def _is_text_field(name: str, value: object) -> bool:
    """Tell whether the value of a field is a text, or a list of texts."""
    several = value if isinstance(value, list) and name in LIST_FIELDS else [value]
    return all(isinstance(one, str) for one in several)
