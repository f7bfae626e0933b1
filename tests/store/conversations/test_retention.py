"""Turns expire where they are summarised and nothing rests on them; off unless it is set."""

import re

import pytest
from conftest import Clock

from store.config.configuration import load_config, user_settings_path, write_setting
from store.config.settings import ENVIRONMENT_SETTINGS, SETTINGS
from store.conversations import turns as retention
from store.conversations.summaries import Summaries, SummaryFields
from store.conversations.summaries import insert_summary as put_summary
from store.conversations.turns import CITING_COLUMNS, NewTurn
from store.learning import rule_pass
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep import doctor as health
from store.upkeep import maintenance
from store.upkeep.checks import WRONG

DAYS = 30
TOPIC = "the importer reads commas"


@pytest.fixture
def told(memory: Memory, clock: Clock) -> Memory:
    """A session of eight turns that were read, the first six of them summarised in the words of the second, and now it
    is much later."""
    said = [f"The importer says {word}." for word in "one two three four five six".split()]
    memory.turns.add_turns("s", [NewTurn("user", text) for text in said])
    memory.turns.add_turns("s", [NewTurn("assistant", "It is seven."), NewTurn("user", "And eight.")])
    with memory.database.write("user", "test") as write:
        write.execute("UPDATE turns SET text = ? WHERE id = 2", (f"We found that {TOPIC.upper()},  and says two.",))
        for first in (1, 4):
            put_summary(write, "s", first, first + 2, SummaryFields(TOPIC, ("two",), by="rules"))
    rule_pass.run_rule_pass(memory)
    assert not memory.database.value("SELECT count(*) FROM pending_extraction WHERE task NOT LIKE 'model%'")
    with memory.database.write("user", "test") as write:
        write.execute("DELETE FROM pending_extraction")
    clock.advance(days=DAYS + 1)
    return memory


def left(memory: Memory) -> list[int]:
    return [number for (number,) in memory.database.rows("SELECT number FROM turns ORDER BY number")]


def test_what_is_summarised_and_not_quoted_expires(told: Memory) -> None:
    """The one whose words a summary has stays, and so do those that no summary stands for or that are still to be read;
    and nothing goes before its time."""
    for days in (DAYS + 2, 0):
        retention.expire_turns(told.database, told.now, days)
        assert len(left(told)) == 8
    pending = "INSERT INTO pending_extraction(turn, task, next_at) VALUES (4, 'reconfirm', '2026-01-01T00:00:00.000Z')"
    with told.database.write("user", "test") as write:
        write.execute(pending)
    assert retention.expire_turns(told.database, told.now, DAYS) == 4
    assert left(told) == [2, 4, 7, 8]
    with told.database.write("user", "test") as write:
        write.execute("DELETE FROM pending_extraction")
    assert retention.expire_turns(told.database, told.now, DAYS) == 1
    assert left(told) == [2, 7, 8]
    assert told.search("three").total == 0 and told.search("seven").total >= 1
    assert len(Summaries(told.database).list_of_session("s")) == 2
    assert retention.expire_turns(told.database, told.now, DAYS) == 0
    (new,) = told.turns.add_turns("s", [NewTurn("user", "And nine.")])
    assert told.turns.get(new).number == 9
    assert [one.says for one in health.examine(told.location, clock=told.database.clock) if one.state == WRONG] == []


def test_it_is_off_unless_it_is_set(told: Memory) -> None:
    assert told.config["turns.retention_days"] == 0
    maintenance.run_maintenance(told, "")
    assert len(left(told)) == 8
    write_setting(user_settings_path(), "turns.retention_days", str(DAYS))
    with Memory.open(told.location.path, "cli", told.database.clock) as again:
        maintenance.run_maintenance(again, "")
        assert left(again) == [2, 7, 8]


@pytest.mark.parametrize(
    "table, column", [(table, column) for table, columns in CITING_COLUMNS.items() for column in columns]
)
def test_a_turn_that_is_cited_anywhere_stays(told: Memory, table: str, column: str) -> None:
    """Whoever cites it, and in whatever column."""
    told.facts.remember("the team is five")
    told.decisions.decide("Cache", "Redis")
    told.tasks.add_task("buy tea")
    told.iterations.start_iteration("fix", "x")
    told.events.log("gate")
    told.commits.log("a" * 40, message="x")
    told.facts.remember("the team is six")
    told.checkpoints.take_checkpoint("a moment")
    with told.database.write("user", "test") as write:
        write.execute(
            "INSERT INTO proposals(kind, text, asked, origin, state, created_at)"
            " VALUES ('add', 'x', 'x', 'agent', 'waiting', '2026-01-01T00:00:00.000Z')"
        )
        text = '["see T#3"]'
        write.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})", (text,))
    retention.expire_turns(told.database, told.now, DAYS)
    assert 3 in left(told) and 1 not in left(told)


def test_every_text_that_a_person_or_an_agent_writes_is_looked_through(memory: Memory) -> None:
    """A column that is added later is not forgotten: of the tables of records all that is text and no closed word."""
    closed = re.compile(
        r"id|.*_at|at|status|state|kind|impact|confidence|source|scope|domain|origin|sha|author|session|role|speaker|tags"
        r"|text_hash|asked|based_on|others|command|phase|phases_completed|event_type|trigger|level|entities|changed"
    )
    for table in CITING_COLUMNS:
        rows = memory.database.rows(f"SELECT name FROM pragma_table_info('{table}') WHERE type = 'TEXT'")
        open_ = {name for (name,) in rows if not closed.fullmatch(name)}
        assert open_ == set(CITING_COLUMNS[table]), table


def test_the_evidence_of_a_fact_stays_with_it(memory: Memory, clock: Clock) -> None:
    said = ["Remember that the importer runs at night.", *["And?"] * 3]
    memory.turns.add_turns("s", [NewTurn("user", text) for text in said])
    rule_pass.run_rule_pass(memory)
    assert memory.facts.get(1).evidence == ("T#1",)
    with memory.database.write("user", "test") as write:
        put_summary(write, "s", 1, 3, SummaryFields("what runs when", by="rules"))
        write.execute("DELETE FROM pending_extraction")
    clock.advance(days=DAYS + 1)
    memory.facts.forget([1])
    retention.expire_turns(memory.database, memory.now, DAYS)
    assert left(memory) == [1, 4], "also while the fact is forgotten: that may be undone"


def test_somebody_who_writes_meanwhile_is_waited_for(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was cited after the look is not deleted by it."""
    real = retention._summary_quotes

    def interrupted(fields: list[str], text: str) -> bool:
        with Memory.open(told.location.path) as other:
            other.facts.remember("as said in T#3")
        monkeypatch.setattr(retention, "_summary_quotes", real)
        return real(fields, text)

    monkeypatch.setattr(retention, "_summary_quotes", interrupted)
    assert retention.expire_turns(told.database, told.now, DAYS) == 0
    assert retention.expire_turns(told.database, told.now, DAYS) == 4
    assert left(told) == [2, 3, 7, 8]


def test_the_environment_sets_how_long_what_is_kept(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the person's file and the project's; what it says and cannot be used is said, and the files stand."""
    place = locate(memory.location.path, {}, "")
    write_setting(user_settings_path(), "retention_days", "200")
    assert load_config(place)["retention_days"] == 200
    for setting in SETTINGS:
        variable = f"MEMORANDA_{setting.name.replace('.', '_').upper()}"
        assert setting.variable == (variable if setting.name in ENVIRONMENT_SETTINGS else "")
        if not setting.variable:
            continue
        flag = isinstance(setting.default, bool)
        monkeypatch.setenv(variable, "true" if flag else "17")
        found = load_config(place)
        assert found[setting.name] == (True if flag else 17)
        value = found.find_value(setting.name)
        assert value is not None and (value.source, value.path) == ("environment", variable)
        for wrong in ("-1", "ten", "1e3"):
            monkeypatch.setenv(variable, wrong)
            found = load_config(place)
            assert found[setting.name] == (200 if setting.name == "retention_days" else setting.default)
            assert found.problems == [f"${variable}: {setting.name} takes {setting.allowed_values}."]
        monkeypatch.setenv(variable, "")
        assert load_config(place).problems == []
    assert {name for name in ENVIRONMENT_SETTINGS if name.endswith("_days")} == set(ENVIRONMENT_SETTINGS) - {"plain"}


def test_a_variable_decides_what_expires(memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.events.log("gate")
    clock.advance(days=20)
    path = memory.location.path
    for days, kept in (("", 1), ("21", 1), ("19", 0)):
        monkeypatch.setenv("MEMORANDA_RETENTION_DAYS", days)
        with Memory.open(path, "cli", clock) as again:
            maintenance.run_maintenance(again, "")
            assert again.database.value("SELECT count(*) FROM events") == kept
