"""A database of teams' records as one more source: found in both languages and by meaning, only what the role may read,
never written to, and each thing that can be wrong with it said in a sentence."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
from support.postgres import MIGRATIONS, REVIEWS, TEAM, VERSION_1, everything, reader, reading, replicate, rows, run
from support.team import Person

from store.base.errors import InvalidInput
from store.base.location import Location
from store.config.configuration import load_config, project_settings_path, user_settings_path, write_setting
from store.memory import Memory
from store.team import postgres as connection
from store.team.postgres import ANOTHER_MODEL, NO_VECTORS, ReplicaError, ReplicaReader, ReplicaTeam, format_address

ALL = (TEAM, "*")


def texts(found: list) -> list[str]:
    return [one.text for one in found]


def test_what_is_there_is_seen_with_its_team_and_who_wrote_it(filled: str, shared: tuple[Person, Person]) -> None:
    ana, bob = shared
    found = ReplicaReader(reading(reader(filled, ALL)))
    assert found.list_teams() == [ReplicaTeam(TEAM, 2, 1, 0)]
    newest = found.newest_records()
    assert texts(newest) == [REVIEWS, "Queue", MIGRATIONS], "the newest first"
    told = [(TEAM, "Bob", "projects"), (TEAM, "Ana", "decisions"), (TEAM, "Ana", "work")]
    assert [(one.team, one.name, one.domain) for one in newest] == told
    queue = found.find_records(newest[1].id)
    assert len(queue) == 1 and queue[0].fields["chosen"] == "NATS" and queue[0].fields["rationale"] == "small and quick"
    assert found.search_records(newest[1].id).records == queue, "an identity finds its record"
    assert texts(found.newest_records(limit=1)) == [REVIEWS] and found.newest_records("another") == []
    bob.memory.facts.forget([1])
    bob.sync(), ana.sync()
    replicate(ana, filled)
    assert found.list_teams() == [ReplicaTeam(TEAM, 1, 1, 1)] and texts(found.newest_records()) == ["Queue", MIGRATIONS]
    found.close()


def test_it_is_searched_in_both_languages_and_by_meaning(filled: str) -> None:
    found = ReplicaReader(reading(reader(filled, ALL)))
    assert texts(found.search_records("migración").records) == [MIGRATIONS]
    exact = found.search_records("deployment review")
    assert exact.records[0].text == REVIEWS and exact.records[0].exact and exact.meaning and not exact.note
    near = found.search_records("on which day does the database change?").records
    assert texts(near) == [MIGRATIONS] and not near[0].exact, "by meaning, in another language"
    assert found.search_records("what does the moon weigh?").records == [], "nothing is near it"
    assert texts(found.search_records("reviews Tuesday", meaning=False).records) == [REVIEWS], (
        "some of the words are near"
    )
    assert found.search_records("zebra", meaning=False).records == []
    assert found.search_records("\0 ' ; DROP TABLE memoranda.records", meaning=False).records == []
    assert len(found.newest_records()) == 3
    found.close()


def test_vectors_of_another_model_and_none_are_searched_by_words_alone(filled: str) -> None:
    config = reading(reader(filled, ALL))
    run(filled, "UPDATE memoranda.embeddings SET model = 'ollama other 384'")
    found = ReplicaReader(config)
    asked = found.search_records("reviews of a deployment")
    assert (asked.meaning, asked.note, texts(asked.records)) == (False, ANOTHER_MODEL, [REVIEWS])
    run(filled, "DELETE FROM memoranda.embeddings")
    assert found.search_records("reviews").note == NO_VECTORS
    found.close()


def test_only_vectors_of_ones_own_model_are_compared(filled: str) -> None:
    """One team may be of another model than the next."""
    fill = (
        "INSERT INTO memoranda.records(team, id, kind, author, domain, status, title, body, fields, conflict)"
        " VALUES ('other', 'F1@aaaaaaaaaaaa', 'fact', 'aaaaaaaaaaaa', 'work', 'active', '', 'Zebras graze', '{}',"
        " false)"
    )
    vector = "INSERT INTO memoranda.embeddings SELECT 'other', 'F1@aaaaaaaaaaaa', 'another', vector FROM"
    run(
        filled,
        fill,
        f"{vector} memoranda.embeddings e JOIN memoranda.records r USING (team, id) WHERE r.domain = 'work'",
    )
    found = ReplicaReader(reading(reader(filled, ALL, ("other", "*"))))
    every = texts(found.search_records("on which day does the database change?").records)
    assert MIGRATIONS in every and "Zebras graze" not in every
    found.close()


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ([ALL], {REVIEWS, "Queue", MIGRATIONS}),
        ([(TEAM, "work"), (TEAM, "decisions")], {"Queue", MIGRATIONS}),
        ([("shop", "*")], {"Shop opens at nine"}),
    ],
)
def test_a_role_sees_only_its_own(
    filled: str, shared: tuple[Person, Person], access: list[tuple[str, str]], expected: set[str]
) -> None:
    """Of each way in which the app asks."""
    _, bob = shared
    bob.remember("Shop opens at nine")
    bob.sync()
    replicate(bob, filled, "shop")
    run(filled, "DELETE FROM memoranda.records WHERE (team = 'shop') <> (body = 'Shop opens at nine')")
    if "shop" in dict(access):
        run(filled, "DELETE FROM memoranda.writers WHERE team = 'shop' AND name <> 'Bob'")
    ids = [id for (id,) in rows(filled, "SELECT id FROM memoranda.records")]
    found = ReplicaReader(reading(reader(filled, *access)))
    teams = {team for team, _ in access}
    assert {one.name for one in found.list_teams()} == teams
    assert sum(one.records for one in found.list_teams()) == len(expected)
    assert set(texts(found.newest_records())) == expected
    words = "migraciones reviews queue shop"
    assert set(texts(found.search_records(words, meaning=False).records)) == expected
    assert set(texts(found.search_records(words).records)) <= expected
    assert {one.text for id in ids for one in found.find_records(id)} == expected
    seen = {team for team, *_ in found._query("SELECT team, writer, name FROM memoranda.writers")}
    assert seen == teams
    found.close()


def test_nothing_can_be_written_even_by_the_owner(filled: str) -> None:
    run(filled, f"INSERT INTO memoranda.access VALUES (current_user, '{TEAM}', '*')")
    found = ReplicaReader(reading(filled.replace("postgres:@", "postgres@")))
    before = everything(filled)
    assert len(found.newest_records()) == 3
    for statement in ("DELETE FROM memoranda.records RETURNING 1", "CREATE TABLE memoranda.mine(n integer)"):
        with pytest.raises(ReplicaError, match="read-only transaction"):
            found._query(statement)
    assert everything(filled) == before
    found.close()


def test_what_is_wrong_there_is_a_sentence_with_the_next_step(shared: tuple[Person, Person], address: str) -> None:
    ana, _ = shared

    def refused(where: str) -> str:
        with pytest.raises(ReplicaError) as caught:
            ReplicaReader(reading(where)).newest_records()
        assert caught.value.next
        return str(caught.value)

    own = address.replace("postgres:@", "postgres@")
    assert "No PostgreSQL answers at ana@127.0.0.1:1/none" in refused("postgresql://ana@127.0.0.1:1/none")
    assert "No PostgreSQL answers at ana@nowhere.invalid" in refused("postgresql://ana@nowhere.invalid/none")
    said = refused(own.replace("@/t", "@/none"))
    assert 'database "none' in said and "~/.pgpass" in said
    assert 'role "nobody" does not exist' in refused(own.replace("postgres@", "nobody@"))
    assert "holds no team's records. `memoranda team replicate ADDRESS` writes" in refused(own)
    run(address, VERSION_1)
    said = refused(own)
    assert "An older Memoranda wrote" in said and "`memoranda team replicate ADDRESS`, run once more" in said
    replicate(ana, address)
    assert "The role postgres may read no team" in refused(own)
    assert "INSERT INTO memoranda.access VALUES ('postgres', 'TEAM', '*');" in refused(own)
    run(address, "REVOKE USAGE ON SCHEMA memoranda FROM PUBLIC")
    assert "does not let this role read: permission denied for schema memoranda" in refused(reader(address, ALL))
    run(address, "CREATE OR REPLACE FUNCTION memoranda.version() RETURNS integer LANGUAGE sql AS 'SELECT 99'")
    assert "A newer Memoranda wrote" in refused(own) and "pip install --upgrade memoranda" in refused(own)


def test_a_slow_answer_and_a_lost_connection_are_said_and_the_next_question_is_answered(filled: str, monkeypatch):
    monkeypatch.setattr(connection, "ANSWER_SECONDS", "0.2")
    found = ReplicaReader(reading(reader(filled, ALL)))
    with pytest.raises(ReplicaError, match="did not answer in time"):
        found._query("SELECT pg_sleep(60)")
    assert len(found.newest_records()) == 3
    run(filled, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'reader%'")
    with pytest.raises(ReplicaError, match="was lost"):
        found.newest_records()
    assert len(found.newest_records()) == 3
    found.close()
    found.close()


def test_what_is_asked_can_be_stopped(filled: str) -> None:
    found = ReplicaReader(reading(reader(filled, ALL)))
    assert found.newest_records()
    said: list[str] = []

    def ask() -> None:
        try:
            found._query("SELECT pg_sleep(10)")
        except ReplicaError as error:
            said.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(10)' AND state = 'active'"
    while asking.is_alive() and not rows(filled, asleep)[0][0]:
        pass
    found.stop_query()
    asking.join(5)
    assert said and "was stopped" in said[0]
    found.close()


def test_a_hostile_database_gives_text_and_nothing_else(filled: str) -> None:
    fields = '{"chosen": 7, "alternatives": [1, {}], "rationale": "x", "unknown": "y", "created": ["z"]}'
    run(
        filled,
        f"UPDATE memoranda.records SET fields = '{fields}' WHERE kind = 'decision'",
        "UPDATE memoranda.records SET fields = '[]' WHERE domain = 'work'",
    )
    found = ReplicaReader(reading(reader(filled, ALL)))
    by_kind = {one.text: one.fields for one in found.newest_records()}
    assert by_kind["Queue"] == {"rationale": "x"} and by_kind[MIGRATIONS] == {}
    found.close()


def test_a_password_is_never_shown_and_never_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGHOST", raising=False)
    shown = {
        "postgresql://ana:swordfish@db.example:5433/memories": "ana@db.example:5433/memories",
        "postgresql://db.example/memories?user=ana&password=swordfish": "ana@db.example/memories",
        "host=db.example user=ana password=swordfish dbname=memories": "ana@db.example/memories",
        "postgresql:///memories": "this machine/memories",
        "service=memories": "service memories",
    }
    for one, where in shown.items():
        assert format_address(one) == where
        if "swordfish" in one:
            with pytest.raises(InvalidInput, match=r"without a password .*\.pgpass") as caught:
                write_setting(user_settings_path(), "team.replica", one)
            assert "swordfish" not in str(caught.value)
        else:
            write_setting(user_settings_path(), "team.replica", one)
    with pytest.raises(InvalidInput):
        write_setting(user_settings_path(), "team.replica", "postgresql://h/d?p%61ssword=swordfish")
    with open(user_settings_path(), "w", encoding="utf-8") as file:  # by hand
        file.write('[team]\nreplica = "postgresql://ana:swordfish@db.example/memories"\n')
    config = load_config(Location("/nowhere/memory.db", "path", ""))
    assert config["team.replica"] == "" and len(config.problems) == 1 and "swordfish" not in config.problems[0]
    with pytest.raises(InvalidInput, match="No database is set"):
        ReplicaReader(config).newest_records()


def test_a_checkout_sets_no_database(tmp_path: Path) -> None:
    location = Location(str(tmp_path / "p" / ".memoranda" / "memory.db"), "new-project", "", str(tmp_path / "p"))
    with Memory(location, "cli"):
        path = project_settings_path(location)
        assert path is not None
        with pytest.raises(InvalidInput, match="only your own file sets it"):
            write_setting(path, "team.replica", "postgresql://h/d")
        with open(path, "w", encoding="utf-8") as file:
            file.write('[team]\nreplica = "postgresql://elsewhere.example/d"\n')
        os.chmod(path, 0o600)
        config = load_config(location)
    assert config["team.replica"] == "" and "says which server is asked" in config.problems[0]


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidInput, match=r"memoranda\[postgres\]"):
        format_address("postgresql://h/d")
