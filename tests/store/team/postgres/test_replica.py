"""A team's records in a real PostgreSQL: kept up to date, searched in both languages, read only by those who may."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from support.postgres import TEAM, VERSION_1, everything, replicate, rows, run
from support.team import Person

from store.base.errors import InvalidInput
from store.config.configuration import load_config
from store.embedding import provider_selection
from store.team.postgres import REPLICA_SCHEMA, REPLICA_VERSION, Replica, ReplicaError, ReplicationResult


def test_it_is_brought_up_to_date_and_twice_changes_nothing(shared: tuple[Person, Person], address: str) -> None:
    ana, bob = shared
    first = replicate(ana, address)
    assert (first.operations, first.records, first.replaced) == (5, 3, 0)
    found = rows(address, "SELECT kind, domain, title, status FROM memoranda.records ORDER BY kind, domain")
    facts = [("fact", domain, "", "active") for domain in ("projects", "work")]
    assert found == [("decision", "decisions", "Queue", "active"), *facts]
    before = everything(address)
    assert replicate(ana, address) == ReplicationResult() and everything(address) == before
    bob.memory.facts.correct(1, "Deployments need three reviews")
    bob.sync(), ana.sync()
    again = replicate(ana, address)
    assert (again.operations, again.records) == (1, 1)
    assert "three reviews" in everything(address)
    assert replicate(bob, address) == ReplicationResult(), "whoever of the team does it"


def test_what_was_interrupted_is_done_at_the_next_run(shared: tuple[Person, Person], address: str, monkeypatch) -> None:
    ana, _ = shared
    with monkeypatch.context() as broken:
        broken.setattr(Replica, "put_operations", lambda *_: (_ for _ in ()).throw(ReplicaError("the network was cut")))
        with pytest.raises(ReplicaError):
            replicate(ana, address)
    assert rows(address, "SELECT count(*) FROM memoranda.writers") == [(0,)]
    assert replicate(ana, address).operations == 5 and len(rows(address, "SELECT 1 FROM memoranda.records")) == 3


def test_a_purge_is_carried_through(shared: tuple[Person, Person], address: str) -> None:
    ana, bob = shared
    secret = bob.remember("The safe opens with swordfish")
    bob.sync(), ana.sync()
    replicate(ana, address)
    assert "swordfish" in everything(address)
    bob.purge(secret)
    bob.sync(), ana.sync()
    assert replicate(ana, address).replaced == 1
    assert "swordfish" not in everything(address)
    assert rows(address, "SELECT count(*) FROM memoranda.records WHERE status = 'purged'") == [(1,)]


def test_each_role_reads_what_it_may(shared: tuple[Person, Person], address: str) -> None:
    ana, _ = shared
    replicate(ana, address)
    suffix = abs(hash(address)) % 10**9
    for role, access in ((f"all{suffix}", "*"), (f"work{suffix}", "work"), (f"none{suffix}", None)):
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[call-overload]
            if access:
                connection.execute("INSERT INTO memoranda.access VALUES (%s, %s, %s)", (role, TEAM, access))
                connection.execute("INSERT INTO memoranda.access VALUES (%s, %s, %s)", (role, "another team", "*"))
        own = address.replace("postgres:@", f"{role}:@")
        seen = {domain for (domain,) in rows(own, "SELECT domain FROM memoranda.records")}
        assert seen == {"*": {"work", "projects", "decisions"}, "work": {"work"}, None: set()}[access]
        found = rows(own, "SELECT id FROM memoranda.search('reviews migraciones queue')")
        assert len(found) == len(seen)
        for table in ("operations", "writers", "access"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                rows(own, f"SELECT * FROM memoranda.{table}")
        for forbidden in ("DELETE FROM memoranda.records", "UPDATE memoranda.records SET body = ''"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                rows(own, forbidden)


def test_it_is_searched_in_both_languages_and_by_meaning(shared: tuple[Person, Person], address: str) -> None:
    ana, _ = shared
    provider = provider_selection.choose_provider(load_config(ana.memory.location)).provider
    assert provider is not None and provider.dimension == 384
    assert replicate(ana, address, provider=provider).embedded == 3
    assert replicate(ana, address, provider=provider).embedded == 0
    assert rows(address, "INSERT INTO memoranda.access VALUES (current_user, %s, '*') RETURNING team", TEAM)

    def found(words: str, near: str = "") -> list[str]:
        vector = str(provider.query(near).tolist()) if near else None
        sql = "SELECT coalesce(nullif(title, ''), body) FROM memoranda.search(%s, %s::vector)"
        return [text for (text,) in rows(address, sql, words, vector)]

    assert found("migración") == ["Las migraciones de la base corren los martes"]
    assert found("deployment review") == ["Deployments need two reviews"]
    assert found("zebra") == []
    assert found("", near="how many people must approve a deployment?")[0] == "Deployments need two reviews"
    run(address, "DROP TABLE memoranda.embeddings")
    with pytest.raises(ReplicaError, match=r"PostgreSQL refused: .*embeddings"):
        replicate(ana, address, provider=provider)


def test_an_address_that_leads_nowhere_is_said(shared: tuple[Person, Person]) -> None:
    ana, _ = shared
    with pytest.raises(ReplicaError, match=r"No PostgreSQL answers at nobody@127\.0\.0\.1:1/none: .*refused"):
        replicate(ana, "postgresql://nobody:swordfish@127.0.0.1:1/none")
    with pytest.raises(InvalidInput) as caught:
        replicate(ana, "nobody:swordfish@127.0.0.1")
    assert "swordfish" not in str(caught.value) and "postgresql://user@host/name" in caught.value.next


def test_what_others_have_that_is_nearer_hides_nothing(shared: tuple[Person, Person], address: str) -> None:
    """Of another team and of another domain: the nearest of what the reader may read are found all the same."""
    ana, _ = shared
    provider = provider_selection.choose_provider(load_config(ana.memory.location)).provider
    assert provider is not None
    replicate(ana, address, provider=provider)
    near = str(provider.query("how many people must approve a deployment?").tolist())
    fill = (
        "INSERT INTO memoranda.records(team, id, kind, author, domain, status, title, body, fields, conflict)"
        " SELECT %s, 'F' || n || '@aaaaaaaaaaaa', 'fact', 'aaaaaaaaaaaa', 'general', 'active', '', 'x', '{}', false"
        " FROM generate_series(1, 500) AS n RETURNING 1"
    )
    vectors = (
        "INSERT INTO memoranda.embeddings SELECT %s, 'F' || n || '@aaaaaaaaaaaa', 'x', %s::vector"
        " FROM generate_series(1, 500) AS n RETURNING 1"
    )
    for team in ("another", TEAM):
        assert len(rows(address, fill, team)) == len(rows(address, vectors, team, near)) == 500
    for domain in ("projects", "work"):
        assert rows(address, "INSERT INTO memoranda.access VALUES (current_user, %s, %s) RETURNING 1", TEAM, domain)
    found = rows(address, "SELECT body FROM memoranda.search('', %s::vector)", near)
    near = ["Deployments need two reviews", "Las migraciones de la base corren los martes"]
    assert [text for (text,) in found] == near


def test_what_others_wrote_with_the_same_words_is_not_fetched(shared: tuple[Person, Person], address: str) -> None:
    """Of other domains and teams; and once a hundred have all the words, those with some of them are not looked at."""
    ana, _ = shared
    replicate(ana, address)
    fill = (
        "INSERT INTO memoranda.records(team, id, kind, author, domain, status, title, body, fields, conflict)"
        " SELECT %s, 'F' || n || '@' || %s, 'fact', 'aaaaaaaaaaaa', %s, 'active', '', %s, '{}', false"
        " FROM generate_series(1, %s) AS n RETURNING 1"
    )
    for team, domain, body, count in (
        (TEAM, "general", "The ledger is heavy", 2_000),
        ("another", "work", "The ledger is heavy", 2_000),
        (TEAM, "work", "The ledger is heavy", 150),
        (TEAM, "work", "Any ledger", 1_000),
    ):
        assert rows(address, fill, team, f"{team}{domain}{body}", domain, body, count)
    for team in (TEAM, "third"):
        rows(address, "INSERT INTO memoranda.access VALUES (current_user, %s, 'work') RETURNING 1", team)
    run(address, "ANALYZE")

    def fetched(words: str) -> tuple[int, int]:
        with psycopg.connect(address) as connection:
            connection.execute("SET enable_seqscan = off; SET enable_indexscan = off")
            found = connection.execute("SELECT id FROM memoranda.search(%s, most => 1000)", (words,)).fetchall()
            counted = connection.execute(
                "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'memoranda.records'::regclass"
            ).fetchone()
            return len(found), int(counted[0]) if counted else 0

    found, looked_at = fetched("heavy ledger")
    assert found == 100 and looked_at <= 150 + 100, "the second time, those that are shown"
    found, looked_at = fetched("heavy zebra")
    assert found == 100 and looked_at <= 150 + 100
    assert fetched("zebra") == (0, 0)


def test_of_very_many_with_some_of_the_words_those_that_lack_least_are_found(address: str) -> None:
    """More than are ranked have a common word alone, and were written first."""
    Replica(address, TEAM).close()
    titles = ["A peacock walks", "The migration of the ledger", "A peacock and a ledger", "La migración del ledger"]
    sql = """INSERT INTO memoranda.records(team, id, kind, author, domain, status, title, body, fields, conflict)
        SELECT 'billing', 'F' || n || '@aaaaaaaaaaaa', 'fact', 'aaaaaaaaaaaa', 'work', 'active', title, '', '{}', false
        FROM (SELECT n, coalesce((%s::text[])[n - 5100], 'Line ' || n || ' of the ledger') AS title
          FROM generate_series(1, 5104) n) t RETURNING 1"""
    assert len(rows(address, sql, titles)) == 5104
    run(address, "INSERT INTO memoranda.access VALUES (current_user, 'billing', 'work')")
    run(address, "ANALYZE memoranda.records")
    search = "SELECT title, whole, score FROM memoranda.search(%s, most => 5)"
    found = rows(address, search, "peacock migration ledger")
    assert sorted(title for title, *_ in found[:2]) == [titles[2], titles[1]], "they lack one word"
    assert found[2][0] in (titles[0], titles[3]), "the rarest word alone"
    assert [whole for _, whole, _ in found] == [0] * 5 and found[0][2] == 1
    assert rows(address, search, "migración del ledger y un pavo")[0][0] == titles[3]
    assert rows(address, search, "it's a peacock\\ledger' & | !")[0][0] == titles[2], (
        "what it is written with is no matter"
    )
    assert rows(address, search, "") == []


def test_tables_that_are_partitioned_by_team_serve_as_well(shared: tuple[Person, Person], address: str) -> None:
    """As an organisation with very many records makes them, before the first replication."""
    ana, bob = shared
    sql = Path(REPLICA_SCHEMA).read_text(encoding="utf-8")
    for table in ("writers", "operations", "records", "embeddings"):
        start = sql.index(f"CREATE TABLE IF NOT EXISTS memoranda.{table}(")
        end = sql.index(");\n", start)
        parts = [
            f"CREATE TABLE memoranda.{table}_{part} PARTITION OF memoranda.{table}"
            f" FOR VALUES WITH (MODULUS 4, REMAINDER {part});\n"
            for part in range(4)
        ]
        sql = f"{sql[:end]}) PARTITION BY HASH (team);\n{''.join(parts)}{sql[end + 3 :]}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.encode())
    provider = provider_selection.choose_provider(load_config(ana.memory.location)).provider
    assert replicate(ana, address, provider=provider).records == 3
    assert rows(address, "INSERT INTO memoranda.access VALUES (current_user, %s, '*') RETURNING 1", TEAM)
    assert rows(address, "SELECT body FROM memoranda.search('reviews')") == [("Deployments need two reviews",)]
    assert provider is not None
    near = str(provider.query("how many people must approve a deployment?").tolist())
    assert rows(address, "SELECT body FROM memoranda.search('', %s::vector)", near)[0] == (
        "Deployments need two reviews",
    )
    bob.memory.facts.correct(1, "Deployments need three reviews")
    bob.sync(), ana.sync()
    assert replicate(ana, address).records == 1 and "three reviews" in everything(address)


def test_tables_of_an_older_version_are_brought_up_to_date(shared: tuple[Person, Person], address: str) -> None:
    """No record and no right is lost, and it is done once."""
    ana, bob = shared
    run(address, VERSION_1)
    assert rows(address, "INSERT INTO memoranda.access VALUES (current_user, %s, '*') RETURNING 1", TEAM)
    assert replicate(ana, address).records == 3
    assert rows(address, "SELECT memoranda.version()") == [(REPLICA_VERSION,)]
    assert rows(address, "SELECT body FROM memoranda.search('reviews')") == [("Deployments need two reviews",)]
    words = "SELECT indexname FROM pg_indexes WHERE indexdef ~ 'USING gin' AND schemaname = 'memoranda' ORDER BY 1"
    assert rows(address, words) == [("records_words_english",), ("records_words_spanish",)], "none is left of before"
    before = everything(address)
    assert replicate(bob, address) == ReplicationResult() and everything(address) == before


def test_tables_of_a_newer_version_are_left_alone(shared: tuple[Person, Person], address: str) -> None:
    ana, bob = shared
    replicate(ana, address)
    run(address, "CREATE OR REPLACE FUNCTION memoranda.version() RETURNS integer LANGUAGE sql AS 'SELECT 99'")
    before = everything(address)
    bob.remember("Releases are cut on Thursdays")
    bob.sync()
    with pytest.raises(ReplicaError, match="A newer Memoranda wrote") as caught:
        replicate(bob, address)
    assert "pip install --upgrade" in caught.value.next and everything(address) == before
