"""What a hook's process does after the client went on: the exchange with the team, where a person said so."""

from __future__ import annotations

from support.team import Join, join, remote

from store.config.configuration import user_settings_path, write_setting
from store.conversations.summaries import Summaries
from store.doors import hook_background as background
from store.doors.hook_events import EVENT_END, EVENT_START, EVENT_STOP
from store.memory import Memory
from store.team.exchange import Team

__all__ = ["join", "remote"]


def arrived(memory: Memory) -> list[str]:
    return [one.text for one in memory.inbox.waiting()]


def test_hooks_exchange_with_the_team_where_a_person_said_so(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    path = bob.memory.database.path

    def after(kind: str, minutes: int | None = 0) -> list[str]:
        """Let a hook's process work; as if the last exchange was so many minutes ago, or never was."""
        if minutes is None or minutes:
            with Team(bob.memory) as team, team._file:
                team._file.put_choice("tried", "" if minutes is None else f"2020-01-01T00:{minutes:02}:00.000Z")
        background.do_background_work(path, kind, "s", 0, 0)
        return arrived(bob.memory)

    assert after(EVENT_START, None) == [], "off until it is wanted"
    write_setting(user_settings_path(), "team.hooks", "true")
    assert after(EVENT_START, None) == ["Releases are cut on Tuesdays"]
    ana.remember("The wiki is at wiki.example")
    ana.sync()
    assert len(after(EVENT_STOP)) == 1, "not again within team.minutes"
    assert len(after(EVENT_STOP, 1)) == 2
    ana.remember("The office is in Lugo")
    ana.sync()
    write_setting(user_settings_path(), "team.minutes", "0")
    assert len(after(EVENT_END, 1)) == 2, "only when told"
    write_setting(user_settings_path(), "team.minutes", "5")
    assert len(after(EVENT_END, 1)) == 3


def test_hooks_exchange_nothing_of_a_memory_that_is_not_shared_and_hold_up_nothing_where_no_remote_answers(join: Join):
    ana = join("Ana")
    ana.memory.turns.add_turns("s", [("user", "We write the parser", ""), ("assistant", "Yes.", "")])
    write_setting(user_settings_path(), "team.hooks", "true")
    with Team(ana.memory) as team:
        team.choose(team.choice.from_text(""))
    background.do_background_work(ana.memory.database.path, EVENT_STOP, "s", 0, 0)
    with Team(ana.memory) as team:
        assert team.last_attempt == "" and team.members() == []
        team.choose(team.choice.from_text("work"), remote="/nowhere/at/all.git")
    background.main(ana.memory.database.path, EVENT_END, "s", "0", "0")
    with Team(ana.memory) as team:
        assert team.last_attempt
    assert Summaries(ana.memory.database).active("s"), "what is done before it is done"
