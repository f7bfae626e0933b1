"""The one door: what passes it is redacted, recorded and whole, or it does not pass."""

import json
import os
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.traces import traces

from store.base.errors import InvalidInput, MemorandaError, NotFound, StorageError
from store.conversations.summaries import Summaries, SummaryFields
from store.conversations.turns import NewTurn
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.database.values import Json, Verbatim, clean_text
from store.exchange import exporter
from store.memory import Memory

# A GitHub token that never was one, put together here so that no scanner finds it in this repository.
BODY = "Zq7Xv2Lk9Rt4Wm1Bn8Pc5Hd3Jf6Gs0Ya2UeQ"
SECRET = "ghp_" + BODY
MARK = "[REDACTED:GITHUB_TOKEN]"
SHA = "a1b2c3d4" * 5
CONTROL = "quetzalcoatlus"  # an ordinary word, written beside each secret: a scan that misses it proves nothing

# The TEXT columns that are written as Verbatim: words of closed lists, times, hashes, and history's own words.
VERBATIM = {
    "facts": "domain text_hash confidence source scope status created_at last_confirmed_at",
    "decisions": "impact decided_at status confirmed_at",
    "commit_links": "link_type",
    "tasks": "status created_at updated_at",
    "mutes": "at",
    "proposals": "kind asked others based_on state created_at decided_at",
    "iterations": "status started_at completed_at",
    "commits": "sha committed_at",
    "events": "created_at",
    "checkpoints": "created_at trigger level changed recovered_at",
    "turns": "role at",
    "summaries": "created_at",
    "history": "at door",
    "history_row": "tbl pk op",
}


def text_columns(memory: Memory) -> set[tuple[str, str]]:
    """(table, column) of every TEXT column of every table that holds records or tells of them."""
    look = "SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'"
    tables = (*RECORDED_TABLES, *JOURNAL_TABLES)
    return {(table, name) for table in tables for (name,) in memory.database.rows(look, (table,))}


def tell(memory: Memory, text: str) -> None:
    """Say `text` to every public writer, in every argument that takes a person's or an agent's own words."""
    by = f"import:{text}"
    fact, _ = memory.facts.remember(text, actor=by, domain=text, evidence=[text], tags=[text, "plain"])
    fact = memory.facts.correct(fact, f"{text} and more", actor=by)
    memory.facts.confirm([fact], actor=by)
    memory.facts.pin([fact], actor=by)
    memory.mutes.mute([fact], actor=by)
    memory.iterations.start_iteration(text, text, actor=by)
    words = {"context": text, "alternatives": [text, "other"], "rationale": text, "phase": text}
    decision = memory.decisions.decide(text, text, **words, actor=by)  # type: ignore[arg-type]
    decision = memory.decisions.correct(decision, f"{text} after all", actor=by)
    memory.commits.log(SHA, message=f"{text}\n\n{text}", author=text, actor=by)
    memory.commits.link(SHA, decision, actor=by)
    memory.commits.unlink(SHA, decision, actor=by)
    memory.history.undo(memory.history.steps(limit=1)[0].seq, actor=by)
    task = memory.tasks.add_task(text, actor=by)
    memory.tasks.move(task, "done", actor=by)
    memory.events.log(text, phase=text, payload={"steps": [{text: [text, {"deep": text}]}]}, actor=by)
    memory.iterations.end_iteration(phases=[text], artifacts=[{"path": text}], actor=by)
    quote = [{"citation": "F#1", "quote": text}]
    memory.inbox.propose("add", {"fact": f"{text} it seems", "tags": [text]}, evidence=quote, origin=by, reason=text)
    other, _ = memory.facts.remember(f"{text} once more", actor=by)
    memory.inbox.propose("merge", {"others": [other]}, target=fact, origin=by)
    memory.checkpoints.take_checkpoint(text, actor=by)
    memory.turns.add_turns(text, [NewTurn("user", text, speaker=text)], origin=by)
    memory.facts.forget([fact], actor=by)
    memory.checkpoints.restore(1, actor=by)
    memory.tasks.add_task(text, actor=by)
    memory.decisions.decide(text, text, actor=by)
    memory.turns.add_turns(text, [NewTurn("user", f"`{text}`")], origin=by)
    memory.facts.remember(f"{text} for now", actor=by, scope="session", session=text)
    one = SummaryFields(text, (text,), text, (text,), (text,))
    Summaries(memory.database).summarize_due(text, all_of_it=True, by=lambda part: one, actor=by)
    memory.checkpoints.record_usage(190_000, session=text, actor=by)
    memory.checkpoints.record_session_end(session=text, actor=by)
    with memory.database.write(by, text) as write:  # the door itself: a reason is cleaned as well
        times = {"created_at": Verbatim(write.at), "updated_at": Verbatim(write.at)}
        write.insert("tasks", text=text, status=Verbatim("pending"), origin=by, **times)


def leaked(memory: Memory) -> list[tuple[str, str]]:
    """The files beside a memory that hold a part of the secret, in capitals or not."""
    return traces(os.path.dirname(memory.location.path), BODY[8:24], BODY[8:24].lower())


def files_with(folder: str, words: str) -> set[str]:
    return {name for name, _ in traces(folder, words)}


# redaction ------------------------------------------------------------------------------------------------------------


def test_no_secret_reaches_the_disk(tmp_path, clock):
    """Told to every writer in every argument, a secret is in no byte of any file: database, WAL, shared memory,
    export; neither while the memory is open nor after it was closed. The word beside it is."""
    folder = str(tmp_path / ".memoranda")
    with Memory.open(f"{folder}/memory.db", "cli", clock) as memory:
        tell(memory, f"{CONTROL} {SECRET}")
        exporter.save_export(memory.database, f"{folder}/export.json")
        assert {"memory.db-wal", "export.json"} <= files_with(folder, CONTROL)
        assert leaked(memory) == []
        assert "memory.db-shm" in os.listdir(folder)
        assert MARK in memory.facts.get(1).fact
    assert files_with(folder, CONTROL) == {"memory.db", "export.json"}
    assert leaked(memory) == []


def test_every_text_column_is_redacted_or_known_to_be_ours(memory):
    """A new TEXT column fails here until a writer is shown to redact it, or until it is listed as Verbatim."""
    tell(memory, SECRET)
    memory.tagging.add_tags([("decision", 2), ("task", 1)], SECRET)
    with memory.database.write("user", "bind") as write:  # as `bind` writes it, which refuses a secret before
        write.execute("UPDATE decisions SET evidence = ?", (Json([SECRET]),))
    look = "SELECT 1 FROM {} WHERE instr({}, ?) LIMIT 1"
    covered = {place for place in text_columns(memory) if memory.database.value(look.format(*place), (MARK,))}
    ours = {(table, name) for table, names in VERBATIM.items() for name in names.split()}
    assert covered | ours == text_columns(memory)
    assert covered & ours == set(), "what is listed as Verbatim holds nobody's words"


@pytest.mark.parametrize(
    "attempt",
    [
        lambda memory: memory.facts.remember("x", confidence=SECRET),
        lambda memory: memory.facts.remember("x", source=SECRET),
        lambda memory: memory.facts.remember("x", scope=SECRET),
        lambda memory: memory.decisions.decide("x", "y", impact=SECRET),
        lambda memory: memory.commits.log(SECRET),
        lambda memory: memory.commits.log("b" * 40, committed_at=SECRET),
        lambda memory: memory.commits.link(SECRET, 1),
        lambda memory: memory.commits.link(SHA, 1, SECRET),
        lambda memory: memory.tasks.move(1, SECRET),
        lambda memory: memory.facts.ids(memory.now, statuses=[SECRET]),
        lambda memory: memory.decisions.ids(statuses=[SECRET]),
        lambda memory: memory.search("x", kinds=[SECRET]),
        lambda memory: memory.checkpoints.take_checkpoint(SECRET * 10),
        lambda memory: memory.facts.remember(f"{SECRET} " * 2_000),
        lambda memory: memory.events.log("x", payload={SECRET: {1, 2}}),
        lambda memory: memory.events.log("x", payload=[SECRET, float("nan")]),
    ],
)
def test_a_verbatim_argument_takes_no_words_and_no_error_repeats_them(memory, attempt: Callable[[Memory], object]):
    """What is written unredacted comes from a closed list or has a form of its own; anything else is refused, and
    the error, which may end in a log, does not hold what was refused."""
    memory.commits.log(SHA)
    memory.decisions.decide("x", "y")
    memory.tasks.add_task("x")
    with pytest.raises(InvalidInput) as caught:
        attempt(memory)
    assert BODY[8:24].lower() not in f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r}".lower()
    assert leaked(memory) == []


def test_an_unknown_domain_is_redacted_before_it_is_cut(memory):
    """A word outside the list becomes a tag of forty characters; the first forty of a longer secret are one too."""
    long = "github_pat_" + BODY[:22] + "_" + BODY + BODY[:23]
    key = "AKIA" + "Q7ZX2LK9RT4WM1BN"  # recognised by its capitals, and a tag has none
    for secret in (long, key):
        memory.facts.remember(f"about {len(secret)}", domain=secret)
    assert leaked(memory) == []
    assert traces(os.path.dirname(memory.location.path), key, key.lower()) == []
    assert all(tag.startswith("[redacted:") for number in (1, 2) for tag in memory.facts.get(number).tags)


def test_a_failing_statement_says_nothing_of_what_it_held(memory):
    """SQLite's own message can quote a value; ours never does."""
    with pytest.raises(StorageError) as caught, memory.database.write("user", "test") as write:
        write.execute("INSERT INTO facts(fact) VALUES (?)", (CONTROL,))
    assert CONTROL not in f"{caught.value!s} {caught.value!r}"
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_verbatim_is_the_only_way_around(memory):
    """A plain str is cleaned, a Verbatim is not, a number and bytes pass."""
    with memory.database.write("user", "test") as write:
        row = write.execute("SELECT ?, ?, ?, ?, ?", (SECRET, Verbatim(SECRET), 7, b"\0\1", None)).get
    assert row == (MARK, SECRET, 7, b"\0\1", None)


# what cannot be stored ------------------------------------------------------------------------------------------------


def test_nul_and_lone_surrogates_are_stored_safely(memory):
    """NUL would end the text in SQL functions, half a surrogate pair is no UTF-8: each becomes U+FFFD, and the rest
    of the text stays whole, found and exported. In JSON, where NUL is an escape of six letters, it stays."""
    number, _ = memory.facts.remember("before\0after \ud83d half \U0001f4a1 whole", tags=["a\0b", "\udfff"])
    fact = memory.facts.get(number)
    assert fact.fact == "before�after � half \U0001f4a1 whole"
    assert fact.tags == ("a\0b", "�")
    assert memory.database.value("SELECT length(fact) FROM facts") == len(fact.fact)
    assert [hit.citation for hit in memory.search("whole").hits] == ["F#1"]
    event = memory.events.log("\0", payload={"\ud800": ["\0", "\udfff!"]})
    assert memory.events.get(event).payload == {"�": ["\0", "�!"]}
    raw = memory.database.rows("SELECT event_type, payload FROM events")[0]
    assert not any("\0" in text for text in raw)
    json.loads("".join(exporter.export_text(memory.database)))


@given(st.text(st.characters(), max_size=60))
@example("\ud83d\ude00")
@example(f"{SECRET[:20]}\0{SECRET[20:]}")
@settings(deadline=None)
def test_what_is_clean_stays_as_it_is(text):
    """Cleaning twice is cleaning once, and what comes out is text that SQLite and UTF-8 can hold."""
    once = clean_text(text)
    assert clean_text(once) == once
    assert "\0" not in once
    once.encode()


def nested(depth: int, inmost: object) -> object:
    for level in range(depth):
        inmost = [inmost] if level % 2 else {"in": inmost}
    return inmost


def test_json_is_redacted_at_any_depth_or_refused(memory):
    """A secret a hundred levels down is found; what nests too deeply to be walked is refused, not stored unseen."""
    number = memory.events.log("deep", payload=nested(100, SECRET))
    assert MARK in json.dumps(memory.events.get(number).payload)
    with pytest.raises(InvalidInput):
        memory.events.log("too deep", payload=nested(50_000, SECRET))
    assert memory.database.value("SELECT count(*) FROM events") == 1
    assert leaked(memory) == []


# one transaction ------------------------------------------------------------------------------------------------------


def test_a_write_and_its_history_are_one(memory):
    """What fails inside leaves neither the change nor its step; what succeeds leaves both, visible together."""
    with pytest.raises(ZeroDivisionError), memory.database.write("user", "half") as write:
        write.execute("UPDATE meta SET value = 'changed'")
        write.insert("checkpoints", id=1, name="x", created_at="", seq=0, trigger=Verbatim("person"), origin="user")
        write.execute("INSERT INTO tasks VALUES (1, 'x', 'done', '', '', NULL, 'user', '[]')")
        assert write.execute("SELECT count(*) FROM corpus").get == 2
        assert 1 / 0
    with Memory.open(memory.location.path) as other:
        for table in ("tasks", "history", "history_row", "checkpoints", "corpus"):
            assert other.database.value(f"SELECT count(*) FROM {table}") == 0
        assert other.database.value("SELECT count(*) FROM meta WHERE value = 'changed'") == 0
        memory.tasks.add_task("whole")
        counts = [other.database.value(f"SELECT count(*) FROM {t}") for t in ("tasks", "history", "history_row")]
        assert counts == [1, 1, 1]


def test_a_change_whose_history_cannot_be_kept_does_not_happen(memory):
    """If the step cannot be written, the change is taken back as well, and the door opens again afterwards."""
    memory.tasks.add_task("first")
    refuse = "BEGIN SELECT raise(ABORT, 'no'); END"
    memory.database.connection.execute(f"CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.history_row {refuse}")
    with pytest.raises(StorageError):
        memory.tasks.add_task("second")
    memory.database.connection.execute("DROP TRIGGER refuse")
    assert memory.database.value("SELECT count(*) FROM tasks") == 1
    assert memory.tasks.add_task("third") > 1
    assert [step.seq for step in memory.history.steps()] == [2, 1]


def test_all_of_several_or_none(memory):
    """One bad number among good ones, and none of them changes."""
    for number in range(3):
        memory.facts.remember(f"fact {number}")
    for act in (memory.facts.forget, memory.facts.confirm, memory.facts.pin):
        before = memory.database.rows("SELECT * FROM facts")
        with pytest.raises(NotFound):
            act([1, 2, 99])
        assert memory.database.rows("SELECT * FROM facts") == before
    assert len(memory.history.steps()) == 3


def test_a_write_inside_a_write_is_refused(memory):
    """Two transactions of one connection would be one without saying so; the outer one is rolled back whole."""
    with pytest.raises(RuntimeError, match="write inside a write"), memory.database.write("user", "outer") as write:
        write.execute("UPDATE meta SET value = 'outer'")
        memory.facts.remember("inner")
    assert memory.database.value("SELECT count(*) FROM meta WHERE value = 'outer'") == 0
    assert memory.facts.remember("after") == (1, True)


def test_a_step_names_who_by_which_door_and_why(tmp_path, clock):
    """Actor, door, moment and reason of each writer; the reason is a verb and citations, never a record's text."""
    with Memory.open(str(tmp_path / "memory.db"), "mcp", clock) as memory:
        memory.commits.log(SHA)
        memory.facts.remember("alpha", actor="mcp:claude")
        memory.facts.remember("ALPHA.", actor="agent")
        memory.facts.correct(1, "beta")
        memory.facts.pin([2])
        memory.facts.pin([2], False)
        memory.facts.forget([1, 2])
        memory.decisions.decide("gamma", "delta")
        memory.commits.link(SHA, 1)
        memory.commits.unlink(SHA, 1)
        memory.decisions.correct(1, "epsilon")
        memory.decisions.forget([2])
        memory.tasks.add_task("zeta")
        memory.tasks.move(1, "done")
        steps = memory.history.steps()[::-1]
        assert [step.seq for step in steps] == list(range(1, 14))
        assert [step.actor for step in steps] == ["mcp:claude", "agent", *["user"] * 11]
        reasons = "remember F#1; confirm F#1; correct F#1; pin F#2; unpin F#2; forget F#1 F#2; decide D#1"
        reasons += "; link C#a1b2c3d D#1; unlink C#a1b2c3d D#1; decide D#2; forget D#2; task add A#1; task done A#1"
        assert [step.reason for step in steps] == reasons.split("; ")
        assert {step.door for step in steps} == {"mcp"}
        assert [step.at for step in steps] == sorted({step.at for step in steps})
        assert steps[0].at == memory.facts.get(1).created_at


def test_what_changes_nothing_leaves_no_step(memory):
    """Journal rows, operational rows and an update to the same value are no change of a recorded table."""
    memory.facts.remember("alpha", pinned=True)
    before = memory.history.steps()
    memory.facts.pin([1])
    memory.events.log("looked")
    memory.checkpoints.take_checkpoint("here")
    memory.commits.log(SHA)
    memory.commits.log(SHA)
    assert memory.history.steps() == before


def test_what_expires_is_what_is_older_than_the_moment(memory, clock):
    """Where nothing is, nothing is written."""
    for _ in range(3):
        memory.events.log("seen")
        clock.advance(days=1)
    moments = [event.created_at for event in memory.events.get_many([1, 2, 3])]
    for moment, gone, left in ((moments[0], 0, [1, 2, 3]), (moments[1], 1, [2, 3]), (moments[1], 0, [2, 3])):
        assert memory.database.delete_before("events", "created_at", moment, "retention") == gone
        assert [event.id for event in memory.events.get_many([1, 2, 3])] == left


def test_two_connections_write_in_turn(memory):
    """Steps are numbered in the order of commit, whoever wrote them, and each holds its own change alone."""
    with Memory.open(memory.location.path, "mcp") as other:
        for number in range(5):
            memory.tasks.add_task(f"mine {number}")
            other.tasks.add_task(f"theirs {number}")
    doors = [step.door for step in memory.history.steps()[::-1]]
    assert doors == ["cli", "mcp"] * 5
    assert all(step.changes == 1 for step in memory.history.steps())


def test_errors_are_ours(memory):
    """What a person meets at this edge is a MemorandaError that says the cause and the next step."""
    for attempt in (lambda: memory.facts.remember(" \n"), lambda: memory.facts.get(7), lambda: memory.tasks.get(7)):
        with pytest.raises(MemorandaError) as caught:
            attempt()
        assert caught.value.message
    with pytest.raises(InvalidInput), memory.database.write("user", "test") as write:
        write.execute("SELECT ?", (Json({"set": {1}}),))


def test_a_step_is_all_that_is_written_in_it_or_nothing(memory):
    """A fact and a decision that one key forgets come back with one undo, and neither goes if the other cannot."""
    fact, _ = memory.facts.remember("the team is five")
    decision = memory.decisions.decide("Queue", "a table")
    with memory.database.step("user", "forget F#1 D#1"):
        memory.facts.forget([fact])
        memory.decisions.forget([decision])
    assert memory.database.last_step == memory.history.steps(limit=1)[0].seq
    assert [step.reason for step in memory.history.steps(limit=2)] == ["forget F#1 D#1", "decide D#1"]
    memory.history.undo()
    assert memory.facts.get(fact).status == memory.decisions.get(decision).status == "active"
    with pytest.raises(NotFound), memory.database.step("user", "forget F#1 D#9"):
        memory.facts.forget([fact])
        memory.decisions.forget([9])
    assert memory.facts.get(fact).status == "active"
    with pytest.raises(RuntimeError, match="a step of its own"), memory.database.step("user", "remember"):
        memory.facts.remember("the wiki moves", key="once")
    memory.facts.remember("and writing goes on")
