"""The timeline: everything that happened, as one stream."""

import pytest
from conftest import tried
from hypothesis import given
from hypothesis import strategies as st

from store.base.clock import DAY_MS, from_ms, to_ms
from store.base.errors import InvalidInput
from store.base.vocabulary import pack_key, unpack_key
from store.conversations.summaries import Summaries
from store.memory import Memory
from store.records.timeline import ONLY_ON_REQUEST, TIMELINE_SOURCES
from store.search.lookup import records_by_key


def stream(memory: Memory, **filters: object) -> list[str]:
    """The stream as citations, newest first."""
    keys = [key for key, _ in memory.timeline.stream(**filters)]  # type: ignore[arg-type]
    records = records_by_key(memory.database, keys)
    return [records[key].citation for key in keys]


@pytest.fixture
def month(memory: Memory, clock) -> dict[str, str]:
    """A month of work, one thing a day; (name → its day). Git is read at the end, as it is in life."""
    days: dict[str, str] = {}
    for name, act in (
        ("iteration", lambda: memory.iterations.start_iteration("feature")),
        ("event", lambda: memory.events.log("phase_completed")),
        ("decision", lambda: memory.decisions.decide("Cache", "Redis")),
        ("commit", lambda: None),
        ("forgotten", lambda: memory.decisions.forget([memory.decisions.decide("Queue", "None")])),
        ("superseding", lambda: memory.decisions.decide("Cache", "Valkey", supersedes=1)),
        ("checkpoint", lambda: memory.checkpoints.take_checkpoint("done")),
        ("turn", lambda: memory.turns.add_turns("s", [("user", "no part of the stream", "")])),
        ("summary", lambda: Summaries(memory.database).summarize_due(all_of_it=True)),
        ("task", lambda: memory.tasks.add_task("no part of the stream")),
        ("fact", lambda: memory.facts.remember("no part of it either")),
    ):
        days[name] = clock.now
        act()
        clock.advance(days=1)
    memory.commits.log("c" * 40, committed_at=days["commit"])
    return days


def test_everything_that_happened_is_one_stream_newest_first(memory: Memory, month: dict[str, str]) -> None:
    """All kinds together, in order of when they happened and not of when they were read."""
    assert stream(memory) == "K#1 D#3 C#ccccccc D#1 E#1 I#1".split()
    assert stream(memory, kinds=["summary", "checkpoint"]) == ["S#1", "K#1"]  # only where it is asked for


def test_forgotten_decisions_are_out_and_superseded_ones_stay(memory: Memory, month: dict[str, str]) -> None:
    """What was decided and reversed is history; what was forgotten is not shown, until undone."""
    assert "D#2" not in stream(memory) and "D#1" in stream(memory)
    undoable = next(step.seq for step in memory.history.steps() if step.reason == "forget D#2")
    memory.history.undo(undoable)
    assert "D#2" in stream(memory)


@pytest.mark.parametrize("kind", TIMELINE_SOURCES)
def test_one_kind_alone(memory: Memory, month: dict[str, str], kind: str) -> None:
    """Each kind can be chosen, and only that kind comes."""
    found = [unpack_key(key)[0] for key, _ in memory.timeline.stream([kind])]
    assert set(found) == {kind}
    assert len(found) == (2 if kind == "decision" else 1)


def test_some_kinds_some_days_some_rows(memory: Memory, month: dict[str, str]) -> None:
    """Kinds together; `since` counts its own moment and `before` does not; a limit takes the newest."""
    assert stream(memory, kinds=["event", "iteration"]) == ["E#1", "I#1"]
    (moment,) = [at for key, at in memory.timeline.stream(["decision"]) if key == pack_key("decision", 1)]
    assert stream(memory, since=moment) == "K#1 D#3 C#ccccccc D#1".split()
    assert stream(memory, before=moment) == "E#1 I#1".split()
    assert stream(memory, since=moment, before=month["commit"]) == ["D#1"]
    assert stream(memory, since=month["commit"], kinds=["commit"]) == ["C#ccccccc"]
    assert stream(memory, limit=2) == ["K#1", "D#3"]
    assert stream(memory, since="2030") == []


@pytest.mark.parametrize("kind", ["fact", "task", "turn", "", "decision; DROP TABLE facts"])
def test_a_kind_that_is_not_of_the_stream_is_refused(memory: Memory, kind: str) -> None:
    """A mistake is said, with the kinds there are."""
    with pytest.raises(InvalidInput, match="decision, commit, event, iteration, checkpoint"):
        list(memory.timeline.stream([kind]))


def test_an_empty_memory_has_an_empty_timeline(memory: Memory) -> None:
    """No rows, no error."""
    assert stream(memory) == []


@tried(3)
@given(st.lists(st.tuples(st.sampled_from(["decision", "commit", "event"]), st.integers(0, 5)), max_size=15))
def test_the_merge_is_a_sort(memory: Memory, clock, happened: list[tuple[str, int]]) -> None:
    """However the kinds interleave, and with several in one moment, the stream is by (moment, key), newest first."""
    start = memory.now
    for kind, day in happened:
        at = from_ms(to_ms(start) + day * DAY_MS)
        clock.now = at
        if kind == "decision":
            memory.decisions.decide("Title", "Choice")
        elif kind == "event":
            memory.events.log("gate")
        else:
            count = memory.database.value("SELECT count(*) FROM commits")
            memory.commits.log(f"{count + 1:040x}", committed_at=at)
    rows = list(memory.timeline.stream())
    assert rows == sorted(rows, key=lambda row: (row[1], row[0]), reverse=True)
    counts = [memory.database.value(f"SELECT count(*) FROM {kind}s") for kind in ("decision", "commit", "event")]
    assert len(rows) == sum(counts)


@pytest.mark.parametrize(
    "filters", [{}, {"since": "2026-01-01", "before": "2027-01-01"}, {"kinds": ["commit", "event"]}]
)
def test_the_whole_stream_is_merged_and_never_sorted(memory: Memory, filters: dict[str, object]) -> None:
    """The first page of 100,000 entries is there at once: each arm comes in order from its own index."""
    connection, said = memory.database.connection, []
    connection.exec_trace = lambda cursor, sql, bindings: said.append((sql, bindings)) or True
    list(memory.timeline.stream(**filters))  # type: ignore[arg-type]
    connection.exec_trace = None
    ((sql, bindings),) = said
    plan = "\n".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings))
    assert "TEMP B-TREE" not in plan
    for kind in filters.get("kinds", [kind for kind in TIMELINE_SOURCES if kind not in ONLY_ON_REQUEST]):  # type: ignore[attr-defined]
        assert f"INDEX {kind}s_at" in plan
    # and a plan that does sort is told apart
    sorted_plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM ({sql}) ORDER BY key", bindings)
    assert any("TEMP B-TREE" in row[3] for row in sorted_plan)
