"""What a session needs to go on: held by checkpoints, taken by themselves, recovered after a compaction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.older import begun
from support.ours import ours

from store.base.errors import InvalidInput, NotFound
from store.config.configuration import project_settings_path, write_setting
from store.conversations.turns import WINDOW_TOKENS, WINDOW_TURNS, NewTurn
from store.database.database import Lease
from store.history.checkpoint_payload import CHECKPOINT_SUMMARY_TOKENS, format_contents
from store.memory import Memory
from store.records.timeline import LEVEL_INTERVALS_MS, due_checkpoint_level, passed_threshold, usage_percent
from store.search import fulltext as corpus
from store.text import words as tokens
from store.text.language import MAX_ENTITIES, extract_names
from store.upkeep import maintenance
from store.upkeep.session_flush import find_related_records

MINUTE = 60_000

TALK = (
    ("user", "¿Qué hace el importador sin la columna `name`?"),
    ("assistant", "It stops at the header, as D#3 says."),
    ("user", "Que diga también cuál falta."),
    ("assistant", "Done, in billing/importing.py."),
)


@pytest.fixture
def session(memory: Memory) -> Memory:
    """An agent at work: two tasks of three open, two decisions of three active, eight turns of two sessions."""
    memory.turns.add_turns("monday", [NewTurn("user", "Yesterday's question"), NewTurn("assistant", "An answer")])
    memory.tasks.add_task("Write the importer, see billing/importing.py", actor="agent")
    memory.tasks.add_task("Tell Cuarto Menguante")
    memory.tasks.add_task("Sweep the yard")
    memory.tasks.move(1, "in_progress")
    memory.tasks.move(3, "done")
    memory.decisions.decide("Cache", "Redis", rationale="habit")
    memory.decisions.decide("Cache", "a dictionary", rationale="one service less", supersedes=1)
    memory.decisions.decide("Import from CSV", "one column `name`", actor="mcp:claude-code")
    turns = [NewTurn(role, text, "Nadia" if role == "user" else "") for role, text in TALK]
    memory.turns.add_turns("tuesday", turns)
    return memory


# what is held


def test_a_compaction_loses_nothing_that_a_checkpoint_holds(session: Memory, clock):
    """A long session fills its window; the agent's context is compacted away; a new process knows only the
    file, and has the tasks, the decisions and the last turns again."""
    before = format_contents(session.checkpoints.contents(session.checkpoints.take_checkpoint("by hand")))
    taken = session.checkpoints.record_usage(192_000, session="tuesday")
    assert taken is not None
    path = session.location.path
    session.close()
    with Memory.open(path, "hook", clock) as anew:
        found = anew.checkpoints.recover(actor="hook")
        held = found.held
        assert found.checkpoint.id == taken and (found.checkpoint.level, found.checkpoint.used) == ("macro", 96)
        tasks = [(task["citation"], task["status"]) for task in held.tasks]
        assert tasks == [("A#1", "in_progress"), ("A#2", "pending")]
        decisions = [(one["citation"], one["chosen"]) for one in held.decisions]
        assert decisions == [("D#3", "one column `name`"), ("D#2", "a dictionary")]
        assert [(turn["role"], turn["text"]) for turn in held.turns] == [*TALK]
        assert held.session == "tuesday" and held.summary == "Que diga también cuál falta."
        assert {"billing/importing.py", "name", "D#3", "Cuarto Menguante"} <= set(held.entities)
        text = format_contents(held, found.notes)
        for piece in ("- [A#1] in progress: Write the importer", "because one service less", "(by mcp:claude-code)"):
            assert piece in text and piece in before
        assert found.checkpoint.recovered_at == anew.checkpoints.get(taken).recovered_at is not None
        assert tokens.count_tokens(text) == found.checkpoint.tokens


def test_the_window_is_bounded(memory: Memory):
    """Six turns, two thousand tokens, the newest first in line; one that alone is longer is cut."""
    memory.turns.add_turns("s", [NewTurn("user", f"turn {number}") for number in range(20)])
    assert [turn.text for turn in memory.turns.window()] == [f"turn {number}" for number in range(14, 20)]
    assert len(memory.turns.window()) == WINDOW_TURNS
    memory.turns.add_turns("long", [NewTurn("user", "ab cd " * 700), NewTurn("user", "ef gh " * 800)])
    (only,) = memory.turns.window()
    assert only.text.startswith("ef gh") and tokens.count_tokens(only.text) <= WINDOW_TOKENS
    memory.turns.add_turns("long", [NewTurn("user", "ñ" * 9_000)])
    (only,) = memory.turns.window()
    assert only.text.endswith("…") and WINDOW_TOKENS - 2 <= tokens.count_tokens(only.text) <= WINDOW_TOKENS
    assert [turn.text for turn in memory.turns.window("s")][-1] == "turn 19"


def test_a_checkpoint_stays_small_whatever_the_memory_holds(memory: Memory):
    long = "A very long Name of `things` in some/file.py\nand more " * 200
    for number in range(40):
        memory.tasks.add_task(f"{number} {long}")
    for number in range(12):
        memory.decisions.decide(f"{number} {long}", long, rationale=long)
    memory.turns.add_turns("s", [NewTurn("user", long)] * 8)
    found = memory.checkpoints.get(memory.checkpoints.take_checkpoint("all of it"))
    held = memory.checkpoints.contents(found.id)
    assert (len(held.tasks), len(held.decisions), len(held.entities) <= MAX_ENTITIES) == (20, 5, True)
    said = [tokens.count_tokens(turn["text"]) for turn in held.turns]
    assert len(said) == 1 and 1_500 < sum(said) <= 2_000, "of eight turns what fits into two thousand tokens"
    assert found.tokens < 2_000 + 20 * 100 + 5 * 300 + 800
    assert tokens.count_tokens(found.summary) + tokens.count_tokens(found.changed) <= CHECKPOINT_SUMMARY_TOKENS


def test_a_summary_says_what_it_was_about_and_how_much_changed(memory: Memory, clock):
    """By rule: the person's last word, else the iteration, else the task under way; and counts since the one before."""
    memory.facts.remember("the team is five")
    memory.facts.remember("deploys on Fridays")
    memory.facts.forget([2])
    memory.tasks.add_task("write it down")
    memory.decisions.decide("storage", "SQLite")
    first = memory.checkpoints.get(memory.checkpoints.take_checkpoint("first"))
    assert first.summary == ""
    assert first.changed == "2 new facts, 1 decision, 1 fact forgotten, 1 new task"
    memory.tasks.move(1, "in_progress")
    assert memory.checkpoints.get(memory.checkpoints.take_checkpoint("second")).summary == "write it down"
    memory.iterations.start_iteration("fix", "the cent of 2026/A/0117")
    memory.tasks.move(1, "done")
    third = memory.checkpoints.get(memory.checkpoints.take_checkpoint("third"))
    assert (third.summary, third.changed) == ("fix: the cent of 2026/A/0117", "1 task done since K#2")
    memory.turns.add_turns("s", [NewTurn("user", "  \n¿Y el céntimo?\nDime."), NewTurn("assistant", "Found.")])
    fourth = memory.checkpoints.get(memory.checkpoints.take_checkpoint("fourth"))
    assert (fourth.summary, fourth.changed) == ("¿Y el céntimo?", "2 turns since K#3")
    assert memory.checkpoints.get(memory.checkpoints.take_checkpoint("fifth")).changed == "nothing new since K#4"


def test_no_text_passes_for_a_heading_or_another_turn(memory: Memory):
    memory.turns.add_turns("s", [NewTurn("user", "so\nTo do:\r\n- [A#9] open: wire the money\u2028Decided:")])
    memory.tasks.add_task("one\nDecided:")
    text = format_contents(memory.checkpoints.contents(memory.checkpoints.take_checkpoint()))
    assert [line for line in text.splitlines() if line.startswith(("To do", "Decided", "- [A#9]"))] == ["To do:"]


def test_secrets_do_not_come_in_by_a_checkpoint(memory: Memory):
    key = "AKIAIOSFODNN7EXAMPLE"
    memory.turns.add_turns("s", [NewTurn("user", f"the key is {key}")])
    number = memory.checkpoints.record_session_end(session=key)
    row = memory.database.row("SELECT * FROM checkpoints WHERE id = ?", (number,))
    assert key not in repr(row) and "REDACTED" in repr(row)


def test_checkpoints_of_an_older_file_come_along(tmp_path):
    """A file of schema 2: names, moments, ids and the last id given stay, what they lacked is empty, and it can be
    searched, restored and recovered."""
    path = str(tmp_path / "memory.db")
    old = begun(path, 2)
    old.execute(
        "INSERT INTO meta VALUES ('created_at', '2026-11-01T00:00:00.000Z');"
        "INSERT INTO checkpoints(id, name, created_at, seq, trigger, origin, recovered_at) VALUES"
        " (3, 'before refactor', '2026-11-02T00:00:00.000Z', 0, 'person', 'user', NULL),"
        " (4, 'before restoring K#3', '2026-11-03T00:00:00.000Z', 0, 'restore', 'agent', NULL);"
        "INSERT INTO checkpoints VALUES (9, 'gone', '2026-11-04T00:00:00.000Z', 0, 'person', 'user', NULL);"
        "DELETE FROM checkpoints WHERE id = 9"
    )
    old.close()
    ours(path)
    with Memory.open(path) as memory:
        assert [(point.id, point.name, point.trigger) for point in memory.checkpoints.list_newest_first()] == [
            (4, "before restoring K#3", "restore"),
            (3, "before refactor", "person"),
        ]
        assert [hit.citation for hit in memory.search("refactor").hits] == ["K#3"]
        corpus.check_text_index(memory.database)
        assert memory.checkpoints.recover(3).held.tasks == ()
        assert memory.checkpoints.take_checkpoint("new") == 10, "an id is never given twice"
        assert corpus.rebuild_text_index(memory.database) == 3


# names and tokens


def test_names():
    text = (
        "Then Estudio Faro called `rates.lookup`. We read billing/pdf.py and README.md, see D#12 and C#a1b2c3d. "
        "¿Y Elías? It was 0.4 s, e.g. Elías uses PostgreSQL at https://example.com/a/b.py."
    )
    assert extract_names([text]) == [
        "Elías", "https://example.com/a/b.py", "rates.lookup", "D#12", "C#a1b2c3d", "billing/pdf.py", "README.md",
        "Estudio Faro", "PostgreSQL",
    ]  # fmt: skip
    assert extract_names(["The importer is done. Stop."]) == []


@given(st.text(max_size=400))
def test_names_and_tokens_of_any_text(text: str):
    assert all(1 < len(name) <= 60 for name in extract_names([text]))
    for limit in (1, 7, 50):
        assert tokens.count_tokens(tokens.shorten_to_tokens(text, limit)) <= limit
    assert tokens.shorten_to_tokens(text, 400) == text


# when one is taken


def test_levels_by_time():
    """The highest that is due, and a higher one counts for those below it; a clock set back makes one due."""
    start, later = "2026-11-21T08:00:00.000Z", "2026-11-21T08:{:02}:00.000Z".format
    levels = [due_checkpoint_level(later(minute), {}, start) for minute in (4, 5, 29, 30)]
    assert levels == [None, "micro", "micro", "meso"]
    assert due_checkpoint_level(later(31), {"micro": later(30), "meso": later(30)}, start) is None
    assert due_checkpoint_level(later(36), {"micro": later(10), "macro": later(32)}, start) is None
    assert due_checkpoint_level("2026-11-22T08:00:00.000Z", {"macro": "2026-11-22T07:59:00.000Z"}, start) == "archival"
    assert due_checkpoint_level("2026-11-21T07:00:00.000Z", {"archival": later(0)}, start) == "archival"
    assert list(LEVEL_INTERVALS_MS) == ["archival", "meso", "micro"]


def test_time_takes_one_only_if_something_changed(memory: Memory, clock):
    """Every five minutes, every thirty, daily; not twice, not while nothing happens, and not when switched off."""
    memory.facts.remember("one")
    assert maintenance.take_due_checkpoint(memory) is None, "nothing is due in the first five minutes"
    taken = []
    for minutes in (6, 6, 31, 2, 24 * 60):
        clock.advance(milliseconds=minutes * MINUTE)
        if minutes != 24 * 60:
            memory.facts.confirm([1])
        number = maintenance.take_due_checkpoint(memory)
        taken.append(memory.checkpoints.get(number).level if number else None)
        assert maintenance.take_due_checkpoint(memory) is None
    assert taken == ["micro", "micro", "meso", None, "archival"]
    clock.advance(days=3)
    assert maintenance.take_due_checkpoint(memory) is None, "nothing happened since"
    memory.turns.add_turns("s", [NewTurn("user", "hello")])
    found = memory.checkpoints.get(maintenance.take_due_checkpoint(memory) or 0)
    assert (found.level, found.trigger, found.origin, found.name) == ("archival", "interval", "agent", "")
    memory.facts.confirm([1])
    clock.advance(days=1)
    write_setting(project_settings_path(memory.location), "checkpoints.automatic", "false")
    with Memory(memory.location, "worker", clock) as told:
        assert maintenance.take_due_checkpoint(told) is None, "the person wants none"


def test_whoever_holds_the_lease_takes_it(memory: Memory, clock):
    memory.facts.remember("one")
    clock.advance(milliseconds=10 * MINUTE)
    with Memory.open(memory.location.path, "worker", clock) as other:
        lease = Lease(other.database)
        assert lease.acquire()
        assert maintenance.take_due_checkpoint(memory) is None
        lease.release()
        assert maintenance.take_due_checkpoint(memory) == 1
        assert maintenance.take_due_checkpoint(other) is None, "the other sees that it was done"


def test_usage_passes_each_threshold_once(session: Memory):
    """At 70 and 85 percent a meso one, at 90 and 95 a macro one; a window that was emptied passes them again."""
    told = [30_000, 139_999, 140_000, 150_000, 171_000, 181_000, 199_000, 199_500, 20_000, 142_000]
    taken = [session.checkpoints.record_usage(tokens, session="tuesday") for tokens in told]
    assert taken == [None, None, 1, None, 2, 3, 4, None, None, 5]
    levels = [(point.level, point.used) for point in session.checkpoints.list_newest_first()][::-1]
    assert levels == [("meso", 70), ("meso", 85), ("macro", 90), ("macro", 99), ("meso", 71)]
    assert session.checkpoints.record_usage(150_000, session="other") == 6, "each session has its own window"
    assert session.checkpoints.record_usage(80_000, session="third", window=100_000) == 7
    assert (usage_percent(139_999), passed_threshold(89), passed_threshold(69), usage_percent(5, 0)) == (69, 85, 0, 500)
    with pytest.raises(InvalidInput):
        session.checkpoints.record_usage(-1)


def test_the_end_of_a_session_is_told_once(session: Memory):
    """A hook that runs three times ends a session once; after it more may be said, and it ends again."""
    first = [session.checkpoints.record_session_end(session="tuesday") for _ in range(3)]
    assert first == [1, 1, 1]
    found = session.checkpoints.get(1)
    assert (found.level, found.trigger, found.session) == ("macro", "session_end", "tuesday")
    session.turns.add_turns("tuesday", [NewTurn("user", "One more thing")])
    assert session.checkpoints.record_session_end() == 2
    assert session.checkpoints.get(2).summary == "One more thing"


# how long it is kept


def test_each_level_is_kept_as_long_as_it_is_worth(session: Memory, clock):
    """A day, a week, three months, a year; what somebody asked for stays, and so does the newest of all."""
    named_one = session.checkpoints.take_checkpoint("mine")
    for level in ("micro", "meso", "archival"):
        session.facts.remember(f"before {level}")
        session.checkpoints.take_due(level)
    session.facts.remember("before the end")
    session.checkpoints.record_session_end()
    left = []
    for days in (0.9, 0.2, 6, 84, 275):
        clock.advance(days=days)
        maintenance.run_maintenance(session, ".")
        left.append([point.id for point in session.checkpoints.list_newest_first()][::-1])
    assert left == [[1, 2, 3, 4, 5], [1, 3, 4, 5], [1, 4, 5], [1, 4, 5], [1, 5]]
    session.checkpoints.take_checkpoint("later")
    maintenance.expire_checkpoints(session)
    assert [point.id for point in session.checkpoints.list_newest_first()] == [6, named_one]
    assert session.checkpoints.expire(session.now, {"macro": 0, "archival": 0}) == 0
    corpus.check_text_index(session.database)


# recovering


def test_a_recovery_knows_what_became_of_things(session: Memory):
    """Done since, replaced since: noted. Forgotten, or taken back: left out, and counted."""
    number = session.checkpoints.take_checkpoint("then")
    session.tasks.move(1, "done")
    session.decisions.correct(2, "a dictionary with a limit")
    session.decisions.forget([3])
    found = session.checkpoints.recover(number)
    assert found.notes == {"A#1": "done since", "D#2": "replaced since by [D#4]"}
    assert [one["citation"] for one in found.held.decisions] == ["D#2"] and found.left_out == 1
    assert "Import from CSV" not in format_contents(found.held, found.notes)
    assert "(replaced since by [D#4])" in format_contents(found.held, found.notes)
    assert session.checkpoints.contents(number).decisions[0]["citation"] == "D#3", "what it holds stays"
    with pytest.raises(NotFound):
        session.checkpoints.recover(99)


def test_nothing_to_recover_is_said(memory: Memory):
    with pytest.raises(NotFound, match="no checkpoint yet"):
        memory.checkpoints.recover()


def test_a_session_that_broke_off_is_offered_once(session: Memory, clock):
    """Not while it is under way, not when it was ended or recovered, not after a week; and nothing of it is lacking."""
    assert maintenance.offer_recovery(session) is None, "it is under way"
    clock.advance(milliseconds=31 * MINUTE)
    found = maintenance.offer_recovery(session)
    assert found is not None and (found.level, found.session) == ("meso", "tuesday")
    assert [turn["citation"] for turn in session.checkpoints.contents(found.id).turns][-1] == "T#6"
    session.facts.remember("something else")
    assert maintenance.offer_recovery(session) is None, "it was offered"

    session.turns.add_turns("wednesday", [NewTurn("user", "Next")])
    session.checkpoints.record_session_end()
    clock.advance(milliseconds=40 * MINUTE)
    assert maintenance.offer_recovery(session) is None, "it was ended"

    session.turns.add_turns("wednesday", [NewTurn("user", "And again")])
    session.checkpoints.take_due("micro")
    session.checkpoints.recover()
    clock.advance(milliseconds=40 * MINUTE)
    assert maintenance.offer_recovery(session) is None, "it was recovered"

    session.turns.add_turns("thursday", [NewTurn("user", "Once more")])
    clock.advance(days=8)
    assert maintenance.offer_recovery(session) is None, "that is too long ago"


def test_related_memories_come_along(session: Memory, clock):
    """What is near to what the session was about, without what the checkpoint holds and without what is too old."""
    session.facts.remember("El importador acepta la columna nombre", domain="work")
    session.facts.remember("El importador viejo leía la columna de Excel", confidence="low")
    clock.advance(days=40)
    session.facts.confirm([1])
    found = session.checkpoints.recover(session.checkpoints.take_checkpoint())
    near = [hit.citation for hit in find_related_records(session.search, found, session.now)]
    assert "F#1" in near and "F#2" not in near
    assert not set(near) & {"A#1", "A#2", "D#2", "D#3", "T#3", "T#4", "T#5", "T#6"}
    assert len(find_related_records(session.search, found, session.now, limit=1)) == 1


def test_checkpoints_are_found_by_what_they_are_about(session: Memory):
    """By name, by summary, by the names in it; those of every few minutes are not in the way."""
    session.checkpoints.take_due("micro")
    session.turns.add_turns("tuesday", [NewTurn("user", "La factura de Estudio Faro tiene un céntimo de más")])
    session.checkpoints.take_due("meso")
    ended = f"K#{session.checkpoints.record_session_end()}"
    named_one = f"K#{session.checkpoints.take_checkpoint('before refactor')}"

    def found(query: str) -> set[str]:
        return {hit.citation for hit in session.search(f"{query} kind:checkpoint").hits}

    assert ended in found("céntimo") and ended in found("estudio faro")
    assert found("refactor") == {named_one}
    assert not found("céntimo") & {"K#1", "K#2"}
    rows = session.database.value("SELECT count(*) FROM corpus WHERE kind = 'checkpoint'")
    sql = "SELECT count(*) FROM corpus WHERE kind = 'checkpoint'"
    assert corpus.rebuild_text_index(session.database) and rows == session.database.value(sql)
    corpus.check_text_index(session.database)


def test_the_timeline_has_the_checkpoints_that_their_list_shows(session: Memory):
    """Both lists bear one word and one number."""
    session.checkpoints.take_due("micro")
    session.checkpoints.record_usage(150_000)
    session.checkpoints.take_checkpoint("mine")
    session.checkpoints.record_session_end()
    keys = [key // 16 for key, _ in session.timeline.stream(["checkpoint"])]
    assert keys == list(session.checkpoints.ids(every=False)) == [3]
    assert session.timeline.count_kinds()["checkpoint"] == 1 and session.checkpoints.count_automatic() == 3
