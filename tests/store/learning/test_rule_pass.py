"""Conversations become memory: what was said is learned once, from whom and when it was said, and never guessed."""

import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import NOON, Clock, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import bench_cases, load_cases
from support.learned import active_facts, active_texts, hear, say

from store.base.clock import days_before
from store.base.errors import InvalidInput
from store.base.models import Proposal
from store.conversations import extraction_queue
from store.conversations.turns import NewTurn
from store.database.database import Lease
from store.history.restore_plan import Plans
from store.inbox.duplicates import FACT_CANDIDATES
from store.learning import rule_pass
from store.learning.rules import MIN_CONFLICT_SHARE
from store.memory import Memory
from store.upkeep.checks import WRONG
from store.upkeep.doctor import examine

CASES = load_cases(__file__)
ROOT = Path(__file__).parents[3]
BENCH = bench_cases("extraction")


NOTHING = rule_pass.LearningResult()


def waiting(memory: Memory) -> list[tuple[str, str, int | None]]:
    return [(one.kind, one.text, one.target) for one in reversed(memory.inbox.waiting())]


def entries(memory: Memory) -> list[tuple[int, str, int]]:
    return memory.database.rows(
        f"SELECT turn, task, attempts FROM pending_extraction WHERE {extraction_queue.FOR_RULES_SQL} ORDER BY id"
    )


def kept_since(memory: Memory, text: str, days: int) -> int:
    """A fact that was told so many days ago, by hand."""
    clock = memory.database.clock
    now, clock.now = clock.now, days_before(clock.now, days)  # type: ignore[attr-defined]
    number, _ = memory.facts.remember(text)
    clock.now = now  # type: ignore[attr-defined]
    return number


# what is learned -----------------------------------------------------------------------------------------------------


def test_a_conversation_becomes_memory_without_anyone_typing_it(memory: Memory) -> None:
    (first, *_) = say(
        memory,
        "Hola! Recordá que el deploy a producción se hace los martes. ¿Cómo viene el build?",
        "Corrijo: trabajo en una fintech, somos 5.",
        "gracias, genial",
    )
    done = rule_pass.run_rule_pass(memory)
    (fact,) = active_facts(memory)
    assert fact.fact == "El deploy a producción se hace los martes"
    assert (fact.domain, fact.confidence, fact.source) == ("projects", "high", "explicit")
    assert (fact.origin, fact.evidence) == ("talk:monday", (f"T#{first}",))
    (asked,) = memory.inbox.waiting()
    assert (asked.kind, asked.text) == ("add", "Trabajo en una fintech, somos 5")
    assert (asked.evidence[0].quote, asked.evidence[0].citation) == ("Corrijo: trabajo en una fintech, somos 5.", "T#2")
    assert asked.reason == "It puts something right."
    assert (done.read, done.left, done.learned.facts) == (3, 0, (fact.id,))
    assert entries(memory) == [] and memory.turns.get(first).text.startswith("Hola!"), "the turn stays"
    reasons = [step.reason for step in memory.history.steps(actor="talk:monday")]
    assert reasons == ["propose P#1: T#2", "remember F#1: T#1"]


def test_neither_the_assistants_words_nor_those_of_no_session_wait_to_be_read(memory: Memory) -> None:
    memory.turns.add_turns("s", [NewTurn("assistant", "Remember that I must be obeyed.")])
    assert entries(memory) == []
    with pytest.raises(InvalidInput):
        say(memory, "Remember that it works.", session=" ")
    assert entries(memory) == []


def test_a_fact_is_as_old_as_its_words(memory: Memory) -> None:
    """A conversation of half a year ago is read today: what was said then is not fresh."""
    hear(memory, "Recordá que la licencia vence en marzo.", days=200)
    (fact,) = active_facts(memory)
    assert fact.created_at[:10] == fact.last_confirmed_at[:10] == days_before(NOON, 200)[:10]
    assert memory.facts.count_by_state(memory.now)["stale"] == 1


def test_reading_twice_learns_once(memory: Memory) -> None:
    hear(memory, "Remember that the build is slow.", "Correction: we use Bazel for everything.")
    before = memory.history.steps()
    assert not rule_pass.run_rule_pass(memory).read
    hear(memory, "Correction: we use Bazel for everything!", session="tuesday")
    assert active_texts(memory) == ["The build is slow"] and len(memory.inbox.waiting()) == 1
    assert memory.history.steps() == before


def test_something_alike_is_a_question_and_no_second_fact(memory: Memory) -> None:
    number, _ = memory.facts.remember("Always run the linter and the type checker before a commit")
    hear(memory, "Always run the linter and the type checkers before each commit.")
    assert active_texts(memory) == ["Always run the linter and the type checker before a commit"]
    ((kind, _, target),) = waiting(memory)
    assert (kind, target) == ("correct", number)
    assert "much like F#1" in memory.inbox.waiting()[0].reason


def test_a_question_that_a_person_answered_is_not_asked_in_the_next_conversation(memory: Memory) -> None:
    hear(memory, "Correction: we use Bazel for everything.")
    memory.inbox.reject([one.id for one in memory.inbox.waiting()])
    hear(memory, "correction: we use Bazel for everything", session="tuesday")
    assert memory.inbox.waiting() == [] and active_texts(memory) == []


# said again ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", [case for case in BENCH if case["kind"] == "reconfirm"], ids=lambda case: case["text"][:40]
)
def test_only_the_same_words_confirm_and_a_contradiction_never_does(memory: Memory, case: dict[str, str]) -> None:
    number = kept_since(memory, case["fact"], 50)
    before = memory.facts.get(number)
    hear(memory, case["text"])
    after = memory.facts.get(number)
    assert after.status == "active" and after.fact == case["fact"]
    assert (after.last_confirmed_at > before.last_confirmed_at) == (case["verdict"] == "confirm")
    assert all(target in (number, None) for _, _, target in waiting(memory)), "a rule that speaks against it is asked"


@pytest.mark.parametrize(("fact", "said"), CASES["opposite"])
def test_the_opposite_in_nearly_the_same_words_confirms_nothing(memory: Memory, fact: str, said: str) -> None:
    number = kept_since(memory, fact, 50)
    hear(memory, f"{said}.")
    assert memory.facts.get(number).last_confirmed_at[:10] == days_before(NOON, 50)[:10]
    assert {target for _, _, target in waiting(memory)} <= {number}, "a rule is asked about, all else waits for a model"


def test_a_confirmation_is_as_old_as_its_words_and_never_turns_a_clock_back(memory: Memory) -> None:
    number = kept_since(memory, "The API freeze starts in May", 50)
    (turn,) = say(memory, "The API freeze starts in May", days=20)
    assert rule_pass.run_rule_pass(memory).learned.confirmed == (number,)
    assert memory.facts.get(number).last_confirmed_at[:10] == days_before(NOON, 20)[:10]
    assert memory.history.steps(limit=1)[0].reason == f"confirm F#{number}: T#{turn}"
    assert rule_pass.run_rule_pass(memory).learned == NOTHING
    assert hear(memory, "The API freeze starts in May.", days=30).learned == NOTHING, "older than what is known"


def test_what_others_change_meanwhile_is_known(memory: Memory) -> None:
    """Another process remembers, corrects and forgets beside a long reading."""
    first, _ = memory.facts.remember("The API freeze starts in May")
    with Memory.open(memory.location.path, "app", memory.database.clock) as other:
        second, _ = other.facts.remember("The nightly build runs on Jenkins")
        third = other.facts.correct(first, "The API freeze starts in June, on the 3rd")
    build = rule_pass.find_known_facts(memory.database, "the nightly build runs on jenkins")
    assert build == [(second, "The nightly build runs on Jenkins")]
    freeze = rule_pass.find_known_facts(memory.database, "the api freeze starts in may")
    assert [number for number, _ in freeze] == [third]
    assert rule_pass.find_most_alike("The nightly build runs on Jenkins!", build) == build[0]
    with Memory.open(memory.location.path, "app", memory.database.clock) as other:
        other.facts.forget([second])
    assert rule_pass.find_known_facts(memory.database, "the nightly build runs on jenkins") == []
    assert rule_pass.find_most_alike("The nightly build runs on Jenkins", []) is None


@settings(max_examples=examples(4), deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta eta theta iota kappa".split()), min_size=1)),
    st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta eta theta iota kappa".split()), min_size=1),
)
def test_every_fact_that_shares_enough_words_is_found(tmp_path_factory, told: list[list[str]], said: list[str]) -> None:
    with Memory.open(str(tmp_path_factory.mktemp("known") / "memory.db")) as memory:
        known = {memory.facts.remember(" ".join(words))[0]: set(words) for words in told[:FACT_CANDIDATES]}
        wanted = {one for one, words in known.items() if len(words & set(said)) >= MIN_CONFLICT_SHARE * len(words)}
        assert wanted <= {number for number, _ in rule_pass.find_known_facts(memory.database, " ".join(said))}


def test_what_was_said_before_the_fact_was_told_does_not_speak_against_it(memory: Memory) -> None:
    memory.facts.remember("The API freeze starts on the 16th")
    assert hear(memory, "The API freeze starts on the 14th", days=3).learned == NOTHING
    hear(memory, "Remember that the API freeze starts on the 14th", days=3)
    assert waiting(memory) == [("add", "The API freeze starts on the 14th", None)]


@pytest.mark.parametrize("said", CASES["a_changed_mind_is_a_decision_in_the_place_of_the_one_it_names"])
def test_a_changed_mind_is_a_decision_in_the_place_of_the_one_it_names(memory: Memory, said: str) -> None:
    memory.decisions.decide("How pages are drawn", "htmx on the server", alternatives=["React"])
    memory.decisions.decide("Where it runs", "Hetzner")
    hear(memory, said)
    (asked,) = memory.inbox.waiting()
    assert [one.citation for one in asked.evidence] == ["T#1", "D#1"] and asked.reason == "It takes back D#1."
    assert memory.decisions.get_many([1])[0].status == "active", "nothing is believed without a person"
    memory.inbox.accept(asked.id)
    old, new = memory.decisions.get_many([1])[0], memory.decisions.get_many([3])[0]
    assert (old.status, new.supersedes, new.alternatives) == ("superseded", 1, ("htmx on the server",))
    memory.history.undo()
    assert memory.decisions.get_many([1])[0].status == "active" and not memory.decisions.get_many([3])


@pytest.mark.parametrize("said, chosen, alternatives, rationale", CASES["decided"])
def test_a_decision_that_was_told_waits_with_its_parts_as_they_were_said(
    memory: Memory, said: str, chosen: str, alternatives: list[str], rationale: str
) -> None:
    done = hear(memory, said)
    assert done.learned.facts == () and active_texts(memory) == []
    (asked,) = memory.inbox.waiting()
    told = asked.change["decision"]
    assert (told["chosen"], told["alternatives"], told["rationale"]) == (chosen, alternatives, rationale)
    assert (asked.kind, asked.text, asked.evidence[0].quote) == ("add", said[:1].upper() + said[1:].rstrip("."), said)
    memory.inbox.accept(asked.id)
    assert memory.decisions.get(1).chosen == chosen and active_texts(memory) == []


@pytest.mark.parametrize(
    "said", ["I have decided against microservices", "Decidimos, después de hablarlo mucho, mudar todo a Rosario"]
)
def test_a_decision_whose_words_do_not_part_it_waits_as_a_fact_or_is_one(memory: Memory, said: str) -> None:
    hear(memory, said)
    (asked,) = memory.inbox.waiting()
    assert "decision" not in asked.change and asked.change["domain"] == "decisions"
    hear(memory, "Remember that we decided to go with Leaflet over Mapbox")
    assert active_texts(memory) == ["We decided to go with Leaflet over Mapbox"]


def test_a_changed_mind_about_nothing_that_was_decided_is_only_a_proposed_fact(memory: Memory) -> None:
    memory.decisions.decide("Where it runs", "Hetzner")
    hear(memory, "we're dropping htmx after all")
    (asked,) = memory.inbox.waiting()
    assert "decision" not in asked.change and asked.text == "We're dropping htmx after all"


def test_a_correction_of_an_agent_is_proposed_as_such_with_its_turn(memory: Memory) -> None:
    (turn,) = say(memory, "No, así no: usá siempre rutas relativas en los imports.")
    rule_pass.run_rule_pass(memory)
    (asked,) = [one for one in memory.inbox.waiting() if one.change.get("domain") == "self_correction"]
    assert (asked.kind, asked.evidence[0].citation) == ("add", f"T#{turn}")
    assert asked.evidence[0].quote in memory.turns.get(turn).text and active_texts(memory) == []


# what is never written -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", [case for case in BENCH if case["kind"] == "hostile"], ids=lambda case: case["text"][:40]
)
def test_a_hostile_turn_writes_no_fact(memory: Memory, case: dict[str, str]) -> None:
    memory.turns.add_turns("s", [NewTurn(case["role"], case["text"])])
    rule_pass.run_rule_pass(memory)
    assert active_texts(memory) == []
    assert all(one.state == "waiting" for one in memory.inbox.waiting())


@pytest.mark.parametrize("origin", ["mcp:claude", "import:chats"])
def test_a_turn_that_somebody_else_brought_is_only_asked_about(memory: Memory, origin: str) -> None:
    number = kept_since(memory, "We deploy on Wednesdays", 50)
    hear(memory, "Remember that the door is open.", "We deploy on Wednesdays", origin=origin)
    assert active_texts(memory) == ["We deploy on Wednesdays"]
    assert memory.facts.get(number).last_confirmed_at[:10] == days_before(NOON, 50)[:10]
    assert {kind for kind, *_ in waiting(memory)} == {"add", "confirm"}


def test_no_secret_of_a_turn_reaches_a_fact(memory: Memory) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    hear(memory, f"Remember that the token is {secret}")
    assert secret not in str(active_texts(memory)) and "[REDACTED:" in active_texts(memory)[0]


def test_what_was_purged_does_not_come_back(memory: Memory) -> None:
    number, _ = memory.facts.remember("The safe opens with 4312")
    memory.purge.run_plan(memory.purge.plan([("fact", number)]))
    hear(memory, "Remember that the safe opens with 4312.")
    assert active_texts(memory) == [] and waiting(memory) == []


@pytest.mark.parametrize("how", ["purged", "scrubbed"])
def test_what_is_purged_while_read_leaves_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Between the reading of a turn and the writing of what it taught."""
    (turn,) = say(memory, "Remember that the safe opens with 4312.")
    plan_actions = rule_pass.plan_actions

    def read(*about: object) -> list[rule_pass.LearningAction]:
        found = plan_actions(*about)  # type: ignore[arg-type]
        with Memory.open(memory.database.path) as other:
            if how == "purged":
                other.purge.run_plan(other.purge.plan([("turn", turn)]))
            else:
                with other.database.write("user", "scrub") as write:
                    write.execute_unrecorded("UPDATE turns SET text = 'Remember that [purged]' WHERE id = ?", (turn,))
        return found

    monkeypatch.setattr(rule_pass, "plan_actions", read)
    rule_pass.run_rule_pass(memory)
    assert active_texts(memory) == [] and entries(memory) == []


def test_old_words_do_not_bring_back_what_a_person_did_away_with_and_new_ones_do(memory: Memory) -> None:
    number, _ = memory.facts.remember("The standup is at nine")
    memory.facts.forget([number])
    assert hear(memory, "Remember that the standup is at nine.", days=1).learned == NOTHING
    assert hear(memory, "Remember that the standup is at nine.").learned.facts
    assert active_texts(memory) == ["The standup is at nine"]


# taken back ----------------------------------------------------------------------------------------------------------


def test_old_words_do_not_bring_back_what_was_undone_or_rejected_and_new_ones_do(memory: Memory) -> None:
    hear(memory, "Remember that the standup is at nine.", days=3)
    memory.history.undo(memory.history.steps()[0].seq)
    assert active_texts(memory) == []
    assert hear(memory, "remember that the standup is at nine", session="older", days=4).learned == NOTHING
    assert hear(memory, "remember that the standup is at nine", session="newer").learned.facts
    memory.inbox.propose("add", {"fact": "The office closes at six"}, origin="mcp:claude-code")
    (number,) = memory.inbox.ids()
    memory.inbox.reject([number])
    assert hear(memory, "remember that the office closes at six", session="older", days=4).learned == NOTHING
    assert active_texts(memory) == ["The standup is at nine"]


def test_all_that_one_conversation_taught_is_taken_back_together(memory: Memory) -> None:
    mine, _ = memory.facts.remember("Mine")
    old = kept_since(memory, "We deploy on Wednesdays", 50)
    said = ("Remember that the build is slow.", "We deploy on Wednesdays.", "Correction: we use Bazel for everything.")
    hear(memory, *said)
    hear(memory, "Remember that Laura approves.", session="tuesday")
    plan = Plans(memory.database).plan_origin("talk:monday")
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    assert active_texts(memory) == ["Mine", "We deploy on Wednesdays", "Laura approves"]
    assert memory.facts.get(old).last_confirmed_at[:10] == days_before(NOON, 50)[:10]
    assert memory.inbox.waiting() == []
    memory.history.undo()
    assert len(active_texts(memory)) == 4 and len(memory.inbox.waiting()) == 1
    assert rule_pass.run_rule_pass(memory).read == 0 and mine


def test_undo_without_a_number_takes_back_the_persons_own_change_and_not_what_was_learned(memory: Memory) -> None:
    memory.facts.remember("Mine")
    hear(memory, "Remember that the build is slow.")
    assert memory.history.undo().reason == "remember F#1"
    assert active_texts(memory) == ["The build is slow"]


# the queue -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def stumbling(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[int]]:
    """Turns on which reading fails, with a message that holds what was said."""
    bad: set[int] = set()
    real = rule_pass.plan_actions

    def lessons(turn: object, *rest: object) -> object:
        if turn.id in bad:  # type: ignore[attr-defined]
            raise ValueError(turn.text)  # type: ignore[attr-defined]
        return real(turn, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(rule_pass, "plan_actions", lessons)
    yield bad


def test_what_fails_is_tried_three_times_later_and_later_and_keeps_nothing_else_from_being_read(
    memory: Memory, clock: Clock, stumbling: set[int]
) -> None:
    bad, _ = say(memory, "Remember that it hurts.", "Remember that it works.")
    stumbling.add(bad)
    done = rule_pass.run_rule_pass(memory)
    assert active_texts(memory) == ["It works"] and done.failed == 1
    assert entries(memory) == [(bad, "extract_facts", 1)]
    sql = f"SELECT DISTINCT error FROM pending_extraction WHERE {extraction_queue.FOR_RULES_SQL}"
    assert memory.database.rows(sql) == [("ValueError",)]
    assert rule_pass.run_rule_pass(memory).failed == 0, "not before a minute has passed"
    for wait in (70_000, 700_000):
        clock.advance(milliseconds=wait)
        assert rule_pass.run_rule_pass(memory).failed == 1
    clock.advance(days=30)
    assert rule_pass.run_rule_pass(memory) == rule_pass.RulePassResult()
    assert extraction_queue.count_queued_turns(memory.database) == (0, 1)
    (told,) = [one for one in examine(memory.location) if one.subject == "learning"]
    assert (told.state, told.command) == (WRONG, "session flush") and "1 turn, tried 3 times" in told.says
    assert extraction_queue.count_attempts(memory.database) == (1, 3)
    assert extraction_queue.list_given_up(memory.database, 5) == [(bad, "ValueError")]
    stumbling.clear()
    assert extraction_queue.retry_given_up(memory.database) == 1
    rule_pass.run_rule_pass(memory)
    assert active_texts(memory) == ["It works", "It hurts"] and entries(memory) == []


def test_a_clock_that_was_set_back_does_not_keep_a_turn_waiting(memory: Memory, clock: Clock) -> None:
    say(memory, "Remember that it works.")
    clock.advance(days=-30)
    rule_pass.run_rule_pass(memory)
    assert active_texts(memory) == ["It works"]


def test_a_long_queue_is_taken_from_without_sorting_it(memory: Memory) -> None:
    for model, index in ((False, "pending_extraction_next"), (True, "pending_extraction_model")):
        sql = f"EXPLAIN QUERY PLAN {extraction_queue.due_entries_sql(model)}"
        plan = " ".join(row[-1] for row in memory.database.rows(sql, ("", "", 3, 50)))
        assert index in plan and "TEMP B-TREE" not in plan


@pytest.mark.parametrize("older", ["both tasks", "the second task", "the first failed"])
def test_a_turn_with_an_entry_for_each_task_as_older_files_have_is_read_once(memory: Memory, older: str) -> None:
    kept_since(memory, "We deploy on Wednesdays", 50)
    (turn, *_) = say(memory, "Remember that it works. We deploy on Wednesdays.", "gracias, genial")
    with memory.database.write("agent", "extraction") as write:
        write.execute(
            "INSERT INTO pending_extraction(turn, task, next_at) SELECT turn, 'reconfirm', '' FROM pending_extraction"
        )
        if older == "the second task":
            write.execute("DELETE FROM pending_extraction WHERE task = 'extract_facts'")
        elif older == "the first failed":
            sql = "UPDATE pending_extraction SET attempts = 3 WHERE task = 'extract_facts' AND turn = ?"
            write.execute(sql, (turn,))
    done = rule_pass.run_rule_pass(memory)
    assert (done.read, len(done.learned.facts), len(done.learned.confirmed)) == (2, 1, 1) and entries(memory) == []
    assert rule_pass.read_request_counts(memory.database) == (1, 1)
    (step,) = memory.history.steps(actor="talk:monday")
    assert step.reason == f"remember F#2, confirm F#1: T#{turn}"


def test_a_turn_that_is_gone_leaves_no_entry(memory: Memory) -> None:
    (turn,) = say(memory, "Remember that it works.")
    with memory.database.write("user", "purge") as write:
        write.execute("DELETE FROM turns WHERE id = ?", (turn,))
    rule_pass.run_rule_pass(memory)
    assert entries(memory) == [] and active_texts(memory) == []


def test_one_process_at_a_time(memory: Memory) -> None:
    say(memory, "Remember that it works.")
    other = Lease(memory.database, rule_pass.EXTRACTION_LEASE)
    assert other.acquire()
    assert rule_pass.run_rule_pass(memory).busy and active_texts(memory) == []
    other.release()
    assert rule_pass.run_rule_pass(memory).read == 1


def test_a_run_that_is_stopped_leaves_the_rest_as_it_was(memory: Memory) -> None:
    say(memory, *(f"Remember that {name(number)} {name(-number)}." for number in range(30)))
    asked = iter(range(1000))
    done = rule_pass.run_rule_pass(memory, cancelled=lambda: next(asked) > 7)
    assert 0 < len(active_texts(memory)) < 30 and done.left
    assert all(attempts == 0 for *_, attempts in entries(memory))
    rule_pass.run_rule_pass(memory)
    assert len(active_texts(memory)) == 30
    assert rule_pass.run_rule_pass(memory, seconds=0).read == 0


THREE = """
import sys
from store.learning.rule_pass import run_rule_pass
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    sys.stdin.readline()
    for _ in range(200):
        done = run_rule_pass(memory)
        if not done.left:
            break
print(done.failed)
"""


def test_three_processes_learn_everything_once(memory: Memory) -> None:
    say(memory, *(f"Remember that {name(number)} {name(-number)}." for number in range(60)))
    command = [sys.executable, "-c", THREE, memory.location.path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    others = [subprocess.Popen(command, cwd=ROOT, text=True, **pipes) for _ in range(3)]
    for other in others:
        assert other.stdin
        other.stdin.write("go\n")
        other.stdin.flush()
    assert [other.communicate(timeout=60)[0].strip() for other in others] == ["0"] * 3
    rule_pass.run_rule_pass(memory)
    learned = sorted(step.reason for step in memory.history.steps(actor="talk:monday"))
    assert entries(memory) == [] and len(learned) == len(active_texts(memory)) + len(waiting(memory)) == 60


def name(number: int) -> str:
    """A name unlike all others."""
    return sha256(str(number).encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))


def test_an_answer_to_a_question_is_a_fact_with_its_evidence(memory: Memory) -> None:
    (turn,) = say(memory, "Correction: we use Bazel for everything.")
    rule_pass.run_rule_pass(memory)
    (asked,) = memory.inbox.waiting()
    assert isinstance(asked, Proposal)
    number = memory.inbox.accept(asked.id)
    fact = memory.facts.get(number or 0)
    assert (fact.fact, fact.origin, fact.evidence) == ("We use Bazel for everything", "talk:monday", (f"T#{turn}",))
