"""Connect to PostgreSQL, and say in a sentence why that fails. A password that an address holds is in no message."""

import os
import re
from typing import TYPE_CHECKING

from store.base.errors import InvalidInput, MemorandaError

if TYPE_CHECKING:
    import psycopg

VERSION = 4  # of schema.sql
CONNECT_SECONDS = 10
ANSWER_SECONDS = 15  # of what is asked by a reader
APPLICATION = "memoranda"
WRITTEN = "Write it as postgresql://user@host/name."
# what libpq says, in English, of a server that does not answer
AWAY = re.compile(
    "refused|resol|not known|nodename|timeout|timed out|No such file|No route|unreachable|closed the connection"
)


class ReplicaError(MemorandaError):
    """PostgreSQL cannot be reached, or refuses what is asked."""

    code = "replica"


def connect(address: str, reads: bool = False) -> "psycopg.Connection":
    """Open a connection that commits each statement, or with `reads` one that cannot write. Raise InvalidInput without
    psycopg or for what is no address, and ReplicaError."""
    where = place(address)
    import psycopg

    given = {"client_encoding": "utf8", "application_name": APPLICATION, "connect_timeout": CONNECT_SECONDS}
    try:
        connection = psycopg.connect(address, autocommit=True, **given)  # type: ignore[arg-type]
        if reads:
            connection.execute("SET default_transaction_read_only = on")
            connection.execute(f"SET statement_timeout = '{ANSWER_SECONDS}s'")
        return connection
    except psycopg.Error as error:
        said = first_line(error)
        if AWAY.search(said):
            raise ReplicaError(
                f"No PostgreSQL answers at {where}: {said}.", "Start it, or look at the address and the network."
            ) from None
        raise ReplicaError(
            f"PostgreSQL refused to let this in at {where}: {said}.",
            "Look at the user and the database; a password belongs in ~/.pgpass or PGPASSWORD.",
        ) from None


def place(address: str) -> str:
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
        raise InvalidInput("That address is not UTF-8.", WRITTEN) from None
    try:
        parts = {name: str(value) for name, value in conninfo.conninfo_to_dict(address).items()}
    except Error:  # which quotes the address
        raise InvalidInput("That is no address of a PostgreSQL database.", WRITTEN) from None
    host = parts.get("host") or parts.get("hostaddr") or os.environ.get("PGHOST") or "this machine"
    if service := parts.get("service"):
        host = parts.get("host") or f"service {service}"
    user, name = parts.get("user"), parts.get("dbname")
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"{user + '@' if user else ''}{host}{port}{'/' + name if name else ''}"


def version(connection: "psycopg.Connection") -> int:
    """Return the version of the tables; 0 where there are none."""
    if not connection.execute("SELECT to_regclass('memoranda.records')").fetchone()[0]:  # type: ignore[index]
        return 0
    if not connection.execute("SELECT to_regprocedure('memoranda.version()')").fetchone()[0]:  # type: ignore[index]
        return 1
    return int(connection.execute("SELECT memoranda.version()").fetchone()[0])  # type: ignore[index]


def newer(found: int, where: str) -> ReplicaError:
    """Return the error for tables of a newer version."""
    return ReplicaError(
        f"A newer Memoranda wrote {where} (version {found} of the tables; this one knows {VERSION}).",
        "Update Memoranda: pip install --upgrade memoranda.",
    )


def first_line(error: BaseException) -> str:
    """Return what PostgreSQL said, without what it quotes."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    line = line.removeprefix("connection failed: ").removeprefix("connection is bad: ")
    return line.removesuffix(".")[:200]
