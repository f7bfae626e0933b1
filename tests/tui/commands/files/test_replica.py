"""`memoranda team replica`: a team's records in a database, on the command line."""

import re
from pathlib import Path

import pytest
from support.commands import Do
from support.postgres import MIGRATIONS, REVIEWS, TEAM, address, filled, reader, run, server, shared
from support.team import join, remote

__all__ = ["address", "filled", "join", "remote", "server", "shared"]


def test_it_is_set_read_and_searched_and_starts_no_memory(filled: str, do: Do, request: pytest.FixtureRequest) -> None:
    if "installed" in request.node.name:
        pytest.skip("tests/store/team/postgres asks each server")
    said = do("replica")
    assert said.status == 2 and "No database is set. memoranda config team.replica postgresql://" in said.err
    said = do("config", "team.replica", "postgresql://ana:swordfish@db.example/memories")
    assert said.status == 2 and "without a password" in said.err and "swordfish" not in said.err + said.out
    assert do("config", "team.replica", reader(filled, (TEAM, "*"))).status == 0
    said = do("replica")
    assert said.status == 0 and "billing: 2 facts, 1 decision" in said.out and "read-only" in said.out
    assert re.search(r" · work · Ana · billing · \d+ \w{3} \d{4}\n", said.out)
    assert "Newest 3" in said.out and f"• {REVIEWS}" in said.out and "◆ Queue: NATS" in said.out
    said = do("replica", "--team", "another")
    assert "billing" not in said.out and "Newest" not in said.out
    assert len(do("replica", "--limit", "1", "--json").data["newest"]) == 1
    said = do("replica", "migración")
    assert "Exact 1" in said.out and MIGRATIONS in said.out and " · work · Ana · billing" in said.out
    found = do("replica", "reviews", "--keywords", "--json").data
    assert [(one["body"], one["name"], one["exact"]) for one in found["hits"]] == [(REVIEWS, "Bob", True)]
    queue = do("replica", "queue", "--keywords", "--json").data["hits"][0]
    whole = do("replica", queue["id"]).out
    assert "Chosen       NATS" in whole and "Because      small and quick" in whole and "(no" not in whole
    assert "0 found" in do("replica", "queue", "--team", "another", "--keywords").out
    conflicting = "UPDATE memoranda.records SET conflict = true, body = 'Opens at \x1b[31mnine' WHERE domain = 'work'"
    run(filled, conflicting)
    said = do("replica", "--team", TEAM).out
    assert "Opens at ␛[31mnine" in said and "several texts" in said
    assert do("config", "team.replica", "postgresql://ana@127.0.0.1:1/none").status == 0
    assert "No PostgreSQL answers at ana@127.0.0.1:1/none" in do("replica").err
    assert do("config", "team.replica", reader(filled)).status == 0
    said = do("replica")
    assert "may read no team" in said.err and "INSERT INTO memoranda.access" in said.err
    assert not list(Path.cwd().iterdir())
