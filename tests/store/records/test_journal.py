"""The journal of a project: iterations, decisions, events, commits and their links, tasks."""

import pytest
from support.tables import refuses

from store.base.citations import parse_citation
from store.base.clock import days_before, from_ms, to_ms
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.models import Commit, Link
from store.base.vocabulary import IMPACTS, LINK_TYPES
from store.memory import Memory
from store.records.workflow import EVENT_RETENTION_DAYS
from store.search.lookup import get_record, records_by_key

SHA = "a1b2c3d4e5f6071829304150617283940a1b2c3d"


def everything(memory: Memory) -> list[list[tuple[object, ...]]]:
    """Every row of every table of the journal and of history."""
    tables = "iterations decisions commits commit_links events tasks checkpoints history".split()
    return [memory.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


# iterations ----------------------------------------------------------------------------------------------------------


def test_one_iteration_is_under_way_at_a_time(memory: Memory, clock) -> None:
    """Starting a second one is refused and names the first; after its end the next may start."""
    first = memory.iterations.start_iteration("feature", "Persistent memory", actor="agent")
    begun = clock.now
    with pytest.raises(Conflict, match=r"I#1 is still active\. Complete or abandon it first"):
        memory.iterations.start_iteration("fix")
    active = memory.iterations.active()
    assert active is not None
    told = (active.id, active.command, active.description, active.origin)
    assert told == (first, "feature", "Persistent memory", "agent")
    assert (active.started_at, active.completed_at) == (begun, None)

    assert memory.iterations.end_iteration(phases=["design", {"name": "build"}], artifacts=["docs/design.md"]) == first
    assert memory.iterations.active() is None
    ended = memory.iterations.get(first)
    assert (ended.status, ended.completed_at) == ("completed", clock.now)
    assert (ended.phases_completed, ended.artifacts) == (("design", {"name": "build"}), ("docs/design.md",))
    assert memory.iterations.start_iteration("fix") == 2


def test_an_iteration_ends_once(memory: Memory) -> None:
    """Completed or abandoned, it stays so: a second end is refused and changes nothing."""
    first = memory.iterations.start_iteration("spike")
    memory.iterations.end_iteration(first, abandoned=True)
    before = everything(memory)
    refuses(Conflict, "I#1 was abandoned already", memory.iterations.end_iteration, first)
    refuses(NotFound, r"No iteration is active\. Start one", memory.iterations.end_iteration)
    refuses(NotFound, "I#9", memory.iterations.end_iteration, 9)
    refuses(NotFound, "I#9", memory.iterations.get, 9)
    refuses(InvalidInput, "feature, fix", memory.iterations.start_iteration, "  ")
    assert everything(memory) == before
    assert memory.iterations.get(first).status == "abandoned"


# decisions -----------------------------------------------------------------------------------------------------------


def test_a_decision_is_kept_whole(memory: Memory, clock) -> None:
    """What was chosen, instead of what, and why, with its weight and phase."""
    why = {"context": "Agents forget", "alternatives": ["Postgres", "JSON"], "rationale": "No server"}
    weight = {"impact": "critical", "phase": "architecture", "actor": "agent"}
    number = memory.decisions.decide(" Where memory lives ", "One SQLite file", **why, **weight)
    decision = memory.decisions.get(number)
    told = (decision.title, decision.chosen, decision.context)
    assert told == ("Where memory lives", "One SQLite file", "Agents forget")
    assert (decision.alternatives, decision.rationale) == (("Postgres", "JSON"), "No server")
    assert (decision.impact, decision.phase, decision.origin) == ("critical", "architecture", "agent")
    assert (decision.status, decision.supersedes, decision.decided_at) == ("active", None, clock.now)
    assert decision.citation == "D#1"


def test_a_record_joins_the_active_iteration_and_none_that_is_not_there(memory: Memory) -> None:
    """Decisions, events and tasks made during an iteration are its own; before and after they are nobody's."""

    def made(**iteration: int) -> list[int | None]:
        decision = memory.decisions.get(memory.decisions.decide("Title", "Choice", **iteration))  # type: ignore[arg-type]
        event = memory.events.get(memory.events.log("gate_passed", **iteration))  # type: ignore[arg-type]
        task = memory.tasks.get(memory.tasks.add_task("write it down", **iteration))  # type: ignore[arg-type]
        return [decision.iteration_id, event.iteration_id, task.iteration_id]

    assert made() == [None, None, None]
    first = memory.iterations.start_iteration("feature")
    assert made() == [first] * 3
    memory.iterations.end_iteration()
    assert made() == [None, None, None]
    second = memory.iterations.start_iteration("fix")
    assert made(iteration_id=first) == [first] * 3
    assert made() == [second] * 3
    before = everything(memory)
    for act in (
        lambda: memory.decisions.decide("Title", "Choice", iteration_id=7),
        lambda: memory.events.log("gate_passed", iteration_id=7),
        lambda: memory.tasks.add_task("write it down", iteration_id=7),
    ):
        with pytest.raises(NotFound, match=r"no iteration I#7\. List them"):
            act()
    assert everything(memory) == before


def test_a_decision_can_be_superseded_corrected_and_forgotten(memory: Memory, clock) -> None:
    """The reversed one steps aside and points to its successor; correcting keeps everything but the choice."""
    first = memory.decisions.decide("Cache", "Redis", alternatives=["none"], impact="high", rationale="fast")
    clock.advance(days=1)
    second = memory.decisions.decide("No cache at all", "Nothing", supersedes=first)
    assert (memory.decisions.get(first).status, memory.decisions.get(second).supersedes) == ("superseded", first)
    assert (memory.decisions.successor(first), memory.decisions.successor(second)) == (second, None)
    third = memory.decisions.correct(second, " An LRU in the process ", actor="agent")
    corrected = memory.decisions.get(third)
    told = (corrected.title, corrected.chosen, corrected.supersedes)
    assert told == ("No cache at all", "An LRU in the process", second)
    assert corrected.origin == "agent"
    assert memory.decisions.ids() == [third]
    assert memory.decisions.ids(statuses=("active", "superseded")) == [third, second, first]
    assert memory.decisions.ids(statuses=("active", "superseded"), limit=2) == [third, second]
    memory.decisions.forget([third])
    assert memory.decisions.ids() == []
    assert memory.decisions.get(third).status == "forgotten"
    memory.history.undo()
    assert memory.decisions.ids() == [third]


def test_a_correction_keeps_all_but_the_choice(memory: Memory) -> None:
    """Title, context, alternatives, reasons, impact, phase and iteration go along."""
    memory.iterations.start_iteration("feature")
    details = {"context": "slow", "alternatives": ["none"], "rationale": "fast", "impact": "high", "phase": "design"}
    old = memory.decisions.get(memory.decisions.decide("Cache", "Redis", **details))
    memory.iterations.end_iteration()
    new = memory.decisions.get(memory.decisions.correct(old.id, "Valkey"))
    kept = "title context alternatives rationale impact phase iteration_id".split()
    assert [getattr(new, name) for name in kept] == [getattr(old, name) for name in kept]


def test_decisions_that_make_no_sense_are_refused_and_nothing_changes(memory: Memory) -> None:
    """Empty, unknown impact, missing, superseded or forgotten targets; of many to forget, all or none."""
    first = memory.decisions.decide("Cache", "Redis")
    second = memory.decisions.decide("Cache", "Valkey", supersedes=first)
    gone = memory.decisions.decide("Queue", "None")
    memory.decisions.forget([gone])
    before = everything(memory)
    decisions = memory.decisions
    refuses(InvalidInput, "title", decisions.decide, " ", "Redis")
    refuses(InvalidInput, "chosen option", decisions.decide, "Cache", "\n")
    refuses(InvalidInput, ", ".join(IMPACTS), decisions.decide, "Cache", "Redis", impact="huge")
    refuses(NotFound, "D#99", decisions.decide, "Cache", "Redis", supersedes=99)
    refuses(Conflict, "D#1 is superseded", decisions.decide, "Cache", "Redis", supersedes=first)
    refuses(Conflict, "D#3 is forgotten", decisions.decide, "Cache", "Redis", supersedes=gone)
    refuses(InvalidInput, "D#2 chose exactly that", decisions.correct, second, "Valkey ")
    refuses(NotFound, "D#99", decisions.correct, 99, "Valkey")
    refuses(Conflict, "superseded", decisions.correct, first, "None")
    refuses(NotFound, "D#99", decisions.forget, [second, 99])
    refuses(Conflict, "D#3 is forgotten already", decisions.forget, [second, gone])
    refuses(InvalidInput, "active", decisions.ids, statuses=("gone",))
    assert everything(memory) == before


# events and their retention ------------------------------------------------------------------------------------------


def test_an_event_carries_any_json(memory: Memory, clock) -> None:
    """The payload comes back as it went in; what is no JSON is refused."""
    payload = {"fase": "diseño", "artefactos": ["a.md"], "n": 3, "ok": None}
    event = memory.events.get(memory.events.log("phase_completed", phase="design", payload=payload, actor="hook"))
    assert (event.event_type, event.phase, event.payload) == ("phase_completed", "design", payload)
    assert (event.created_at, event.origin) == (clock.now, "hook")
    with pytest.raises(InvalidInput, match="phase_completed"):
        memory.events.log(" ")
    with pytest.raises(InvalidInput, match="JSON"):
        memory.events.log("gate", payload=object())
    with pytest.raises(NotFound, match="E#2"):
        memory.events.get(2)


def test_events_expire_after_a_year_to_the_millisecond(memory: Memory, clock) -> None:
    """365 whole days old stays; one millisecond older goes; `expire` says how many went."""
    old = memory.events.log("old")
    exact = memory.events.log("exactly a year")  # one millisecond after, as the clock goes
    new = memory.events.log("new")
    a_year_later = from_ms(to_ms(memory.events.get(exact).created_at) + EVENT_RETENTION_DAYS * 86_400_000)
    assert EVENT_RETENTION_DAYS == 365
    assert days_before(a_year_later, 365) == memory.events.get(exact).created_at
    assert memory.events.expire(a_year_later) == 1
    assert {event.id for event in memory.events.get_many([old, exact, new])} == {exact, new}
    assert memory.events.expire(a_year_later) == 0
    assert memory.events.expire(a_year_later, retention_days=0) == 0, "0 keeps them for ever"
    assert memory.events.expire(a_year_later, retention_days=364) == 2
    assert memory.events.log("newer") == new + 1, "a citation never comes to mean another record"


def test_nothing_but_events_ever_expires(memory: Memory, clock) -> None:
    """Decisions, commits, iterations, links, tasks, facts and checkpoints outlive any retention."""
    memory.iterations.start_iteration("feature")
    decision = memory.decisions.decide("Cache", "Redis")
    memory.commits.log(SHA, message="feat: cache")
    memory.commits.link(SHA, decision)
    memory.tasks.add_task("tune it")
    memory.facts.remember("We cache")
    memory.checkpoints.take_checkpoint("before tuning")
    memory.iterations.end_iteration()
    before = everything(memory), memory.database.rows("SELECT * FROM facts")
    event = memory.events.log("phase_completed")
    clock.advance(days=10 * 365)
    assert memory.events.expire(memory.now) == 1
    assert (everything(memory), memory.database.rows("SELECT * FROM facts")) == before
    with pytest.raises(NotFound, match=f"E#{event}"):
        memory.events.get(event)


# commits -------------------------------------------------------------------------------------------------------------


def test_logging_a_commit_again_is_ignored_and_changes_nothing(memory: Memory, clock) -> None:
    """The first telling stands, whatever a second one says."""
    at = "2026-02-16T10:00:00.000Z"
    told = {"message": "feat: memory\n\nWhy.", "author": "Lucía", "files_changed": 3, "insertions": 40, "deletions": 2}
    assert memory.commits.log(SHA, **told, committed_at=at)  # type: ignore[arg-type]
    commit = memory.commits.get("a1b2")
    assert (commit.sha, commit.subject, commit.author, commit.committed_at) == (SHA, "feat: memory", "Lucía", at)
    assert (commit.files_changed, commit.insertions, commit.deletions, commit.reachable) == (3, 40, 2, True)
    before = everything(memory)
    assert not memory.commits.log(SHA.upper(), message="another message", author="somebody else")
    assert everything(memory) == before
    assert memory.search("another").total == 0


@pytest.mark.parametrize("sha", ["", "abc", "a1b2c3", "g" * 40, "a" * 65, "HEAD", "a1b2c3d; rm"])
def test_what_is_no_sha_is_not_logged(memory: Memory, sha: str) -> None:
    """Seven to sixty-four hexadecimal digits; nothing else becomes a commit."""
    with pytest.raises(InvalidInput, match="hexadecimal"):
        memory.commits.log(sha)
    assert memory.database.value("SELECT count(*) FROM commits") == 0


def test_a_commit_belongs_to_the_iteration_of_its_time(memory: Memory, clock) -> None:
    """Not to the one that happens to be active when it is read: git is often read much later."""
    first = memory.iterations.start_iteration("feature")
    begun = clock.now
    clock.advance(days=2)
    memory.iterations.end_iteration()
    ended = clock.now
    clock.advance(days=2)
    between = clock.now
    clock.advance(days=2)
    second = memory.iterations.start_iteration("fix")
    clock.advance(days=2)
    for number, (moment, iteration) in enumerate(
        [
            (days_before(begun, 1), None),
            (begun, first),
            (days_before(ended, 1), first),
            (ended, first),
            (between, None),
            (clock.now, second),
            (days_before(clock.now, -30), second),
        ]
    ):
        sha = f"{number + 1:x}" * 40
        memory.commits.log(sha, committed_at=moment)
        assert memory.commits.get(sha).iteration_id == iteration, moment
    memory.commits.log(SHA)
    assert memory.commits.get(SHA).iteration_id == second


def test_a_commit_of_the_second_an_iteration_starts_in_belongs_to_it_or_the_later_of_two(memory: Memory, clock) -> None:
    """Git knows whole seconds only. A time that has milliseconds is believed to the millisecond."""
    for number, milliseconds in enumerate((0, 1, 500, 998)):
        clock.now = f"2026-11-22T0{number}:00:07.{milliseconds:03}Z"
        iteration = memory.iterations.start_iteration("fix")
        begun = memory.iterations.get(iteration).started_at
        second = begun[:20] + "000Z"
        for name, moment, expected in (
            ("a", second, iteration),
            ("b", begun, iteration),
            ("c", begun[:20] + "001Z", iteration if begun[20:23] == "001" else None),
            ("d", f"2026-11-22T0{number}:00:06.000Z", None),
        ):
            sha = f"{name}{number}" * 20
            memory.commits.log(sha, committed_at=moment)
            assert memory.commits.get(sha).iteration_id == expected, (begun, moment)
        clock.advance(milliseconds=100)
        memory.iterations.end_iteration()
    clock.now = "2026-11-22T10:00:07.100Z"
    memory.iterations.start_iteration("spike")
    memory.iterations.end_iteration()
    later = memory.iterations.start_iteration("feature")
    memory.commits.log(SHA, committed_at="2026-11-22T10:00:07.000Z")
    assert memory.commits.get(SHA).iteration_id == later


def test_a_commit_is_logged_with_the_decisions_it_implements(memory: Memory, clock) -> None:
    """All of it is one step; told again nothing changes; with a decision that is not there nothing is logged."""
    first, second = memory.decisions.decide("Cache", "Redis"), memory.decisions.decide("Queue", "None")
    iteration = memory.iterations.start_iteration("fix")
    memory.iterations.end_iteration()
    steps = len(memory.history.steps())
    before = everything(memory)
    refuses(NotFound, "D#99", memory.commits.log, SHA, decisions=[first, 99])
    refuses(NotFound, "I#99", memory.commits.log, SHA, iteration_id=99)
    assert everything(memory) == before
    assert memory.commits.log(SHA, decisions=[first, second, first], iteration_id=iteration)
    commit = memory.commits.get(SHA)
    assert commit.iteration_id == iteration
    links = [(link.decision, link.link_type) for link in memory.commits.links_of_commit(commit.id)]
    assert links == [("D#1", "implements"), ("D#2", "implements")]
    assert len(memory.history.steps()) == steps + 1
    before = everything(memory)
    assert not memory.commits.log(SHA, decisions=[second, first])
    assert everything(memory) == before
    third = memory.decisions.decide("Log", "SQLite")
    assert not memory.commits.log(SHA, decisions=[third]), "the commit is known, and its new link is made"
    assert len(memory.commits.links_of_commit(commit.id)) == 3


def test_a_sha_is_found_by_what_nobody_else_starts_with(memory: Memory) -> None:
    """A prefix that two share is refused with longer ones to choose from; none at all is said so."""
    one, other = "abcd1" + "0" * 35, "abcd2" + "0" * 35
    memory.commits.log(one)
    memory.commits.log(other)
    memory.commits.log("f" * 40)
    assert memory.commits.get("ABCD1").sha == one
    assert memory.commits.get("f" * 4).sha == "f" * 40
    several = r"Several commits start with abcd\. Write more of it: C#abcd10000000, C#abcd2"
    refuses(Conflict, several, memory.commits.get, "abcd")
    refuses(NotFound, "C#beef", memory.commits.get, "beef")
    with pytest.raises(NotFound):
        memory.commits.get(one + "0")
    for nonsense in ("", "xyz", "%", "abcd*"):
        with pytest.raises(InvalidInput):
            memory.commits.get(nonsense)


def test_a_commits_citation_is_as_long_as_it_takes_to_open_it(memory: Memory) -> None:
    """Seven digits, more where another commit shares them, and the whole of a short sha that begins another one."""
    shas = ["abcdef1" + "2" * 33, "abcdef1" + "2" * 9 + "3" * 24, "0" * 40, "f" * 40, "f" * 7]
    for sha in shas:
        memory.commits.log(sha)
    cited = {sha: memory.commits.get(sha).citation for sha in shas}
    shared = "C#abcdef1" + "2" * 9
    assert list(cited.values()) == [f"{shared}2", f"{shared}3", "C#0000000", "C#ffffffff", "C#fffffff"]
    for sha, citation in cited.items():
        record = get_record(memory.database, parse_citation(citation))
        assert isinstance(record, Commit) and record.sha == sha


# links ---------------------------------------------------------------------------------------------------------------


def test_a_link_is_seen_from_both_ends(memory: Memory) -> None:
    """A commit knows its decisions and a decision its commits, oldest first, with the kind of link."""
    first, second = memory.decisions.decide("Cache", "Redis"), memory.decisions.decide("Queue", "None")
    memory.commits.log("b" * 40, committed_at="2026-03-02T00:00:00.000Z")
    memory.commits.log("a" * 40, committed_at="2026-03-01T00:00:00.000Z")
    memory.commits.link("bbbb", first)
    memory.commits.link("aaaa", first, "reverts", actor="agent")
    memory.commits.link("bbbb", second, "relates")
    implements = Link("C#bbbbbbb", "D#1", "implements")
    assert memory.commits.links_of_decision(first) == [Link("C#aaaaaaa", "D#1", "reverts"), implements]
    links = memory.commits.links_of_commit(memory.commits.get("bbbb").id)
    assert links == [implements, Link("C#bbbbbbb", "D#2", "relates")]
    memory.commits.unlink("bbbb", first)
    assert [link.commit for link in memory.commits.links_of_decision(first)] == ["C#aaaaaaa"]
    memory.history.undo()
    assert len(memory.commits.links_of_decision(first)) == 2


def test_linking_twice_changes_nothing_and_says_so(memory: Memory) -> None:
    """No row, no step of history; and what was linked by somebody else stays theirs."""
    decision = memory.decisions.decide("Cache", "Redis")
    memory.commits.log(SHA)
    assert memory.commits.link(SHA, decision, "relates", actor="agent")
    before = everything(memory)
    assert not memory.commits.link("a1b2c3d", decision, "relates")
    assert everything(memory) == before
    memory.commits.unlink(SHA, decision)
    assert memory.commits.link(SHA, decision, "relates")


def test_links_that_make_no_sense_are_refused(memory: Memory) -> None:
    """Of another kind than it has, to nothing, of no kind, or taken away where there is none: refused, unchanged."""
    decision = memory.decisions.decide("Cache", "Redis")
    memory.commits.log(SHA)
    memory.commits.link(SHA, decision)
    before = everything(memory)
    link, unlink = memory.commits.link, memory.commits.unlink
    refuses(Conflict, "C#a1b2c3d implements D#1 already", link, "a1b2c3d", decision, "reverts")
    refuses(NotFound, "D#99", link, SHA, 99)
    refuses(NotFound, "C#beef", link, "beef", decision)
    refuses(InvalidInput, ", ".join(LINK_TYPES), link, SHA, decision, "loves")
    refuses(NotFound, "not linked", unlink, SHA, 99)
    refuses(NotFound, "C#beef", unlink, "beef", decision)
    assert everything(memory) == before


# tasks ---------------------------------------------------------------------------------------------------------------


def test_a_task_goes_from_pending_to_done_and_back(memory: Memory, clock) -> None:
    """Any status may follow any other, each move is a step that can be undone, and the time of the move is kept."""
    number = memory.tasks.add_task(" Write the tests ", actor="agent")
    created = clock.now
    assert (memory.tasks.get(number).text, memory.tasks.get(number).status) == ("Write the tests", "pending")
    for status in ("in_progress", "done", "pending", "done", "in_progress", "pending", "in_progress"):
        clock.advance(days=1)
        memory.tasks.move(number, status)
        task = memory.tasks.get(number)
        assert (task.status, task.created_at, task.updated_at, task.origin) == (status, created, clock.now, "agent")
    memory.history.undo()
    assert memory.tasks.get(number).status == "pending"
    before = everything(memory)
    refuses(InvalidInput, "pending, in_progress, done", memory.tasks.move, number, "blocked")
    refuses(NotFound, "A#9", memory.tasks.move, 9, "done")
    refuses(NotFound, "A#9", memory.tasks.get, 9)
    with pytest.raises(InvalidInput):
        memory.tasks.add_task("\t")
    assert everything(memory) == before


# any of them ---------------------------------------------------------------------------------------------------------


def test_every_citation_of_a_record_opens_it(memory: Memory) -> None:
    """What is shown as its citation leads back to the record, for every kind there is; the rest is said plainly."""
    memory.facts.remember("We cache")
    memory.decisions.decide("Cache", "Redis")
    memory.commits.log(SHA)
    memory.events.log("gate_passed")
    memory.iterations.start_iteration("fix")
    memory.tasks.add_task("tune it")
    memory.checkpoints.take_checkpoint("before tuning")
    memory.inbox.propose("add", {"fact": "Likes tea"}, origin="agent")
    records = records_by_key(memory.database, [16, 17, 18, 19, 20, 21, 22, 26, 16 * 99])
    assert sorted(records) == [16, 17, 18, 19, 20, 21, 22, 26]
    assert [record.citation for record in records.values()] == "F#1 D#1 C#a1b2c3d E#1 I#1 A#1 K#1 P#1".split()
    for record in records.values():
        assert get_record(memory.database, parse_citation(f"[{record.citation}]")) == record
    with pytest.raises(NotFound, match="no fact F#99"):
        get_record(memory.database, parse_citation("F#99"))
    with pytest.raises(NotFound, match="no summary S#1"):
        get_record(memory.database, parse_citation("S#1"))
    with pytest.raises(NotFound, match="no global fact G#1"):
        get_record(memory.database, parse_citation("G#1"))
