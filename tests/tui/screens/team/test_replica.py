"""The screen of a database of teams' records: seen, searched, read-only, and what is wrong with it said there."""

import threading

import pytest
from support.postgres import MIGRATIONS, REVIEWS, TEAM, address, filled, reader, reading, run, server, shared
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story
from support.team import join, remote

from store.team.postgres import ReplicaReader
from tui.screens.team import ReplicaScreen

__all__ = ["address", "filled", "join", "remote", "server", "shared"]
ALL = (TEAM, "*")


@pytest.fixture(autouse=True)
def one_database(request: pytest.FixtureRequest) -> None:
    """The wheel's server is enough for a screen."""
    if "installed" in request.node.name:
        pytest.skip("tests/store/team/postgres asks each server")


def on_it(user: Person) -> bool:
    return isinstance(user.app.screen, ReplicaScreen)


async def test_none_is_set_and_how_one_is(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.press("0", "r")
        await user.until(lambda: on_it(user) and user.sees("No database is set", "memoranda config team.replica"))
        await user.press("t", "enter", "r")
        await user.until(lambda: user.sees("No database is set"))
        await user.press("escape")
        await user.until(lambda: not on_it(user))


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_records_are_seen_searched_and_opened(story: Story, filled: str, size: tuple[int, int]) -> None:
    run(
        filled,
        "INSERT INTO memoranda.records(team, id, kind, author, domain, status, title, body, fields, conflict)"
        " SELECT 'shop', id, kind, author, domain, status, '', 'Opens at \x1b[31mnine', '{}', true"
        " FROM memoranda.records WHERE domain = 'work'",
    )
    reading(reader(filled, ALL, ("shop", "*")))
    async with opened(story.folder, size) as user:
        await user.press("0", "r")
        await user.until(lambda: user.sees("REPLICA  read-only  4 records of 2 teams", f"▸• {REVIEWS}"))
        assert user.sees("projects · Bob · billing", "Written by   Bob (", "Team         billing")
        await user.press("slash")
        await user.paste("migración")
        await user.press("enter")
        await user.until(lambda: user.sees("Exact 1", MIGRATIONS, "1 found") and not user.sees(REVIEWS))
        await user.press("enter")
        await user.until(lambda: user.app.screen.has_class("-whole"))
        assert user.sees(MIGRATIONS, "Written by   Ana (") and not user.sees("Exact 1")
        await user.press("escape")
        assert user.sees("Exact 1"), "one thing at a time"
        await user.press("escape")
        await user.until(lambda: user.sees("4 records of 2 teams"))
        await user.press("t", "t")
        await user.until(lambda: user.sees("1 record of shop", "Opens at ␛[31mnine", "it has several texts"))
        await user.press("escape")
        await user.until(lambda: user.sees("4 records of 2 teams"))
        for key in "fcydpx":  # the keys of one's own records change nothing here
            await user.press(key)
        assert on_it(user)
        await user.press("escape")
        await user.until(lambda: not on_it(user))


async def test_a_search_is_typed_as_a_command_and_finds_nothing(story: Story, filled: str) -> None:
    reading(reader(filled, ALL))
    async with opened(story.folder) as user:
        await user.command("replica zebra crossing --team billing")
        await user.until(lambda: user.sees("No record contains “zebra crossing”.", "0 found in billing"))
        assert user.sees("billing: 2 facts, 1 decision")


async def test_what_is_wrong_is_said_and_the_screen_goes_on(story: Story, filled: str) -> None:
    reading("postgresql://ana@127.0.0.1:1/none")
    async with opened(story.folder) as user:
        await user.command("replica")
        await user.until(lambda: user.sees("No PostgreSQL answers at ana@127.0.0.1:1/none", "Start it"))
        await user.press("escape")
        reading(reader(filled))
        await user.command("replica")
        await user.until(lambda: user.sees("may read no team", "INSERT INTO memoranda.access"))
        run(filled, f"INSERT INTO memoranda.access SELECT usename, '{TEAM}', '*' FROM pg_user")
        await user.press("r")
        await user.until(lambda: user.sees(REVIEWS))


async def test_a_slow_database_holds_up_no_key(story: Story, filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked before is stopped, and its answer is not shown."""
    reading(reader(filled, ALL))
    asked, go_on = threading.Event(), threading.Event()
    search = ReplicaReader.search_records

    def slow(self: ReplicaReader, text: str, *more: object) -> object:
        if text == "slow":
            asked.set()
            go_on.wait(30)
        return search(self, text, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(ReplicaReader, "search_records", slow)
    async with opened(story.folder) as user:
        await user.press("0", "r")
        for words in ("slow", "reviews"):
            await user.pilot.press("slash")
            await user.until(lambda: user.at == "line")
            await user.paste_now(words)
            await user.pilot.press("enter")
            await user.until(asked.is_set)
        await user.until(lambda: user.sees("/ reviews", "reading …"))
        go_on.set()
        await user.until(lambda: user.sees("Exact 1", REVIEWS))
        await user.press("escape", "escape")
        await user.until(lambda: not on_it(user))
