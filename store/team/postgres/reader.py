"""Read teams' shared records from the database that `replicate` wrote, as one more source. Nothing is ever written
there, and what is read has no power here: it reaches no memory, no answer and no prompt."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from store.base.errors import InvalidInput
from store.config.configuration import Config
from store.embedding import provider_selection
from store.embedding.calibration import calibrated, calibration
from store.embedding.provider import EmbeddingError
from store.search.signals.verdict import LEAST, near_from
from store.team.operation import FIELDS, LISTS, RECORD
from store.team.postgres.connection import VERSION, ReplicaError, connect, first_line, newer, place, version
from store.team.postgres.replica import DIMENSION, literal
from store.text.language import foreign, language

if TYPE_CHECKING:
    import psycopg

    from store.embedding.provider import Provider

SETTING = "team.replica"
ANOTHER_MODEL = "By words alone: the vectors there are of another model than yours."
NO_MODEL = "By words alone: no model for vectors runs here. See `memoranda doctor`."
NO_VECTORS = "By words alone: no vectors are there."
_COLUMNS = (
    "r.team, r.id, r.kind, r.author, coalesce(w.name, ''), r.domain, r.status, r.title, r.body, r.fields, r.conflict"
)
_WRITER = "LEFT JOIN memoranda.writers w ON w.team = r.team AND w.writer = r.author"
# what row-level security lets the role read, and of its owner, whom it does not hold back, the same
_MAY = "EXISTS (SELECT 1 FROM memoranda.readable() m WHERE m.team = r.team AND m.domain IN ('*', r.domain))"


@dataclass(frozen=True, slots=True)
class ReplicaRecord:
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

    @property
    def created(self) -> str:
        """When it was written, in UTC; empty where that is not known."""
        return str(self.fields.get("created") or "")


@dataclass(frozen=True, slots=True)
class ReplicaTeam:
    """One team that may be read: how many facts and decisions hold, and how many records were forgotten."""

    name: str
    facts: int
    decisions: int
    forgotten: int

    @property
    def records(self) -> int:
        return self.facts + self.decisions


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
        self._address = str(config[SETTING])
        self._busy = Lock()
        self._connection: psycopg.Connection | None = None
        self._provider: Provider | None = None
        self._looked = False  # for a provider
        self.place = place(self._address) if self._address else ""

    def close(self) -> None:
        """End the connection, and what is asked there."""
        self.stop()
        with self._busy:
            if self._connection is not None:
                self._connection.close()
            if self._provider is not None:
                self._provider.close()
            self._connection = self._provider = None
            self._looked = False

    def stop(self) -> None:
        """End what another thread asks: it raises ReplicaError there."""
        connection = self._connection
        if connection is not None and not connection.closed:
            connection.cancel_safe(timeout=2)

    def teams(self) -> list[ReplicaTeam]:
        """Return each team of which something may be read."""
        rows = self._ask(
            "SELECT y.team, count(*) FILTER (WHERE r.status = 'active' AND r.kind = 'fact'),"
            " count(*) FILTER (WHERE r.status = 'active' AND r.kind = 'decision'),"
            " count(*) FILTER (WHERE r.status = 'forgotten')"
            " FROM (SELECT DISTINCT a.team FROM memoranda.readable() a) y"
            f" LEFT JOIN memoranda.records r ON r.team = y.team AND {_MAY} GROUP BY y.team ORDER BY y.team"
        )
        return [ReplicaTeam(*row) for row in rows]

    def newest(self, team: str = "", limit: int = 200) -> list[ReplicaRecord]:
        """Return the newest records that hold, of one team or of all."""
        rows = self._ask(
            f"SELECT {_COLUMNS} FROM (SELECT DISTINCT a.team FROM memoranda.readable() a) y CROSS JOIN LATERAL ("
            " SELECT r.team, r.id, r.kind, r.author, r.domain, r.status, r.title, r.body, r.fields, r.conflict"
            f" FROM memoranda.records r WHERE r.team = y.team AND r.status = 'active' AND {_MAY}"
            f" ORDER BY r.fields->>'created' DESC NULLS LAST LIMIT %(limit)s) r {_WRITER}"
            " WHERE %(team)s = '' OR y.team = %(team)s"
            " ORDER BY r.fields->>'created' DESC NULLS LAST, r.team, r.id LIMIT %(limit)s",
            {"team": team, "limit": limit},
        )
        return [_record(row) for row in rows]

    def called(self, id: str, team: str = "") -> list[ReplicaRecord]:
        """Return the records of this identity, one of each team that has it."""
        rows = self._ask(
            f"SELECT {_COLUMNS} FROM memoranda.records r {_WRITER}"
            f" WHERE r.id = %s AND r.status <> 'purged' AND (%s = '' OR r.team = %s) AND {_MAY} ORDER BY r.team",
            (id, team, team),
        )
        return [_record(row) for row in rows]

    def search(self, text: str, team: str = "", limit: int = 50, meaning: bool = True) -> ReplicaFound:
        """Search by words in English and Spanish, and by meaning where the vectors are of this person's own model: what
        shares no word with the question is as near as at home. An identity, F2@…, finds its record. The question leaves
        this machine, for that database."""
        text = text.replace("\0", " ").strip()
        if RECORD.match(text):
            return ReplicaFound(self.called(text, team))
        vector, note = self._vector(text, team) if meaning and text else (None, "")
        rows = self._ask(
            f"SELECT {_COLUMNS}, s.whole, s.cosine FROM memoranda.search(%s, %s::vector, %s, %s, %s) s"
            f" JOIN memoranda.records r ON r.team = s.team AND r.id = s.id {_WRITER}"
            " ORDER BY s.score DESC, s.team, s.id",
            (text, vector and vector[0], limit, vector and vector[1], team or None),
        )
        found = ReplicaFound(meaning=vector is not None, note=note)
        spoken = language(text)
        seen = [(_record(row, exact=whole == 1), whole, self._similarity(cosine)) for *row, whole, cosine in rows]
        across = [foreign(spoken, language(record.text)) for record, *_ in seen]
        best = max((near for (*_, near), other in zip(seen, across, strict=True) if not other), default=0.0)
        least = near_from(best, len(text.split()))
        for (record, whole, near), other in zip(seen, across, strict=True):
            if whole is not None or near >= (LEAST if other else least):
                found.records.append(record)
        found.records.sort(key=lambda one: not one.exact)  # each part stays in its order
        return found

    def _vector(self, text: str, team: str) -> tuple[tuple[str, str] | None, str]:
        """Return (the question's vector, what computed it), or (None, why there is none)."""
        models = {
            model for name, model in self._ask("SELECT team, model FROM memoranda.models()") if team in ("", name)
        }
        if not models:
            return None, NO_VECTORS
        if not self._looked:
            self._provider, self._looked = provider_selection.open(self._config).provider, True
        provider = self._provider
        if provider is None:
            return None, NO_MODEL
        if provider.fingerprint not in models or provider.dimension != DIMENSION:
            return None, ANOTHER_MODEL
        try:
            return (literal(provider.query(text).tolist()), provider.fingerprint), ""
        except EmbeddingError as error:
            return None, f"By words alone: {error}"

    def _similarity(self, cosine: float | None) -> float:
        """Return a cosine as a similarity from 0 to 1; 0 where there is none."""
        if self._provider is None or cosine is None:
            return 0.0
        scale = calibration(self._provider)
        return calibrated(cosine, scale.zero, scale.one)

    def _ask(self, sql: str, values: Sequence[object] | dict[str, object] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        with self._busy:
            connection = self._open()
            try:
                return connection.execute(sql, values).fetchall()
            except psycopg.errors.QueryCanceled:
                raise ReplicaError(
                    f"{self.place} did not answer in time, and was stopped.", "Ask for less, or for one team."
                ) from None
            except psycopg.errors.InsufficientPrivilege as error:
                raise self._refused(error) from None
            except psycopg.OperationalError as error:
                connection.close()
                raise ReplicaError(
                    f"The connection to {self.place} was lost: {first_line(error)}.", "Try again."
                ) from None
            except psycopg.Error as error:
                raise ReplicaError(
                    f"{self.place} refused: {first_line(error)}.", "Show this to whoever runs that database."
                ) from None

    def _open(self) -> "psycopg.Connection":
        """Return the connection, after a look at what is there."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if not self._address:
            raise InvalidInput("No database is set.", f"memoranda config {SETTING} postgresql://user@host/name")
        import psycopg

        connection = connect(self._address, reads=True)
        try:
            found = version(connection)
            if not found:
                raise ReplicaError(
                    f"{self.place} holds no team's records.", "`memoranda replicate ADDRESS` writes what a team shared."
                )
            if found > VERSION:
                raise newer(found, self.place)
            if found < VERSION:
                raise ReplicaError(
                    f"An older Memoranda wrote {self.place} (version {found} of the tables; this one reads {VERSION}).",
                    "Whoever writes it brings it up to date: `memoranda replicate ADDRESS`, run once more.",
                )
            if not connection.execute("SELECT 1 FROM memoranda.readable() LIMIT 1").fetchone():
                raise self._nothing(connection.info.user)
        except psycopg.Error as error:
            connection.close()
            raise self._refused(error) from None
        except ReplicaError:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _nothing(self, role: str) -> ReplicaError:
        return ReplicaError(
            f"The role {role} may read no team in {self.place}.",
            f"Whoever runs it says what: INSERT INTO memoranda.access VALUES ('{role}', 'TEAM', '*');",
        )

    def _refused(self, error: "psycopg.Error") -> ReplicaError:
        return ReplicaError(
            f"{self.place} does not let this role read: {first_line(error)}.",
            "Whoever runs it grants that, and says in memoranda.access what may be read.",
        )


def _record(row: Sequence[Any], exact: bool = False) -> ReplicaRecord:
    """Return the record of a row; of its fields those that are what they should be."""
    team, id, kind, author, name, domain, status, title, body, fields, conflict = row
    known = fields if isinstance(fields, dict) else {}
    kept = {part: known[part] for part in FIELDS.get(kind, ()) if part in known and _valid(part, known[part])}
    return ReplicaRecord(team, id, kind, author, name, domain, status, title, body, kept, conflict, exact)


def _valid(name: str, value: object) -> bool:
    several = value if isinstance(value, list) and name in LISTS else [value]
    return all(isinstance(one, str) for one in several)
