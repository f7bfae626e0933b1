"""`memoranda team replica`: a team's records in a database, on the command line."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.commands import COMMAND, Said
from support.postgres import MIGRATIONS, REVIEWS, TEAM, address, filled, reader, server, shared
from support.team import join, remote

__all__ = ["address", "filled", "join", "remote", "server", "shared"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def do(folder: Path, *words: str) -> Said:
    done = subprocess.run(
        [COMMAND, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, "HOME": str(folder.parent), "XDG_CONFIG_HOME": str(folder.parent / "config")},
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


def test_it_is_set_read_and_searched_and_starts_no_memory(
    filled: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    if "installed" in request.node.name:
        pytest.skip("tests/store/team/postgres asks each server")
    said = do(folder, "replica")
    assert said.status == 2 and "No database is set. memoranda config team.replica postgresql://" in said.err
    said = do(folder, "config", "team.replica", "postgresql://ana:swordfish@db.example/memories")
    assert said.status == 2 and "without a password" in said.err and "swordfish" not in said.err + said.out
    assert do(folder, "config", "team.replica", reader(filled, (TEAM, "*"))).status == 0
    said = do(folder, "replica")
    assert said.status == 0 and "billing: 2 facts, 1 decision" in said.out and "read-only" in said.out
    said = do(folder, "replica", "migración")
    assert "Exact 1" in said.out and MIGRATIONS in said.out and " · work · Ana · billing" in said.out
    found = json.loads(do(folder, "replica", "reviews", "--keywords", "--json").out)
    assert [(one["body"], one["name"], one["exact"]) for one in found["hits"]] == [(REVIEWS, "Bob", True)]
    queue = json.loads(do(folder, "replica", "queue", "--keywords", "--json").out)["hits"][0]
    whole = do(folder, "replica", queue["id"]).out
    assert "Chosen       NATS" in whole and "Because      small and quick" in whole and "(no" not in whole
    assert "0 found" in do(folder, "replica", "queue", "--team", "another", "--keywords").out
    assert not list(folder.iterdir())
