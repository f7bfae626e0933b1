"""A summary is as old as the last turn that it sums up, wherever a time of it is shown or filtered."""

from __future__ import annotations

import pytest
from conftest import Clock

from store.base.vocabulary import pack_key
from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.database.values import Verbatim
from store.doors.mcp_answers import timestamp_of as sent
from store.librarian.answer import time_of_record as told
from store.memory import Memory
from store.search import lookup
from store.search.query_parser import CorpusFilters, parse_memory_query
from tui.render.lines import record_time as shown

JULY, SEPTEMBER = "2026-07-05T09:00:00.000Z", "2026-09-05T09:00:00.000Z"


@pytest.fixture(params=["as it is written", "as older versions wrote it"])
def imported(memory: Memory, clock: Clock, request: pytest.FixtureRequest) -> Memory:
    """A memory with two conversations of the past, brought in today, the older one last."""
    for session, price, at in (("b", "15.50", SEPTEMBER), ("a", "12.90", JULY)):
        memory.turns.add_turns(session, [NewTurn("user", f"The shipping price was set to {price}.", at=at)])
        assert Summaries(memory.database).summarize_due(session, all_of_it=True)
    if request.param == "as older versions wrote it":
        with memory.database.write("agent", "summarise") as write:
            write.execute("UPDATE summaries SET created_at = ?", (Verbatim(clock.now),))
    return memory


def test_its_time_is_shown(imported: Memory) -> None:
    newest, oldest = Summaries(imported.database).get(1), Summaries(imported.database).get(2)
    for moment in (sent, told, shown):
        assert (moment(newest), moment(oldest)) == (SEPTEMBER, JULY)


def test_a_span_of_time_has_it(imported: Memory) -> None:
    def found(query: str) -> list[str]:
        return [hit.citation for hit in imported.search(query).hits if hit.kind == "summary"]

    for words in ("shipping price", "kind:summary"):
        assert found(f"{words} before:2026-08-01") == ["S#2"]
        assert found(f"{words} before:2026-10-01") == ["S#1", "S#2"]
        assert found(f"{words} since:2026-08-01") == ["S#1"]
        assert found(f"{words} since:2026-11-01") == []
    answer = imported.search("shipping price", kinds=["summary"], since="2026-07-01", before="2026-08-01")
    assert [hit.citation for hit in answer.hits] == ["S#2"]


def test_lists_and_the_timeline_are_in_its_order(imported: Memory) -> None:
    assert [hit.citation for hit in imported.search("kind:summary").hits] == ["S#1", "S#2"]
    assert [one.citation for one in lookup.find_oldest(imported.database, "kind:summary")] == ["S#2"]
    entries = list(imported.timeline.stream(["summary"]))
    assert entries == [(pack_key("summary", 1), SEPTEMBER), (pack_key("summary", 2), JULY)]
    assert [at for _, at in imported.timeline.stream(["summary"], before="2026-08-01")] == [JULY]


def test_it_stays_where_the_turn_expires(imported: Memory, clock: Clock) -> None:
    imported.turns.add_turns("a", [NewTurn("user", "And nothing else was said there.", at="2026-07-08")])
    with imported.database.write("agent", "test") as write:
        write.execute("DELETE FROM turns WHERE session = 'a' AND number = 1")
    assert Summaries(imported.database).get(2).created_at[:7] == "2026-07"


def test_the_index_of_times_is_read_since_a_time(imported: Memory) -> None:
    filters = CorpusFilters(imported.database, parse_memory_query(imported.database, "since:1d"))
    sql = f"EXPLAIN QUERY PLAN SELECT c.id FROM corpus c WHERE {' AND '.join(filters.clauses)}"
    plan = imported.database.rows(sql, filters.parameters)
    assert any("at>?" in str(row[-1]) for row in plan), plan
