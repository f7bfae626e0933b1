"""Questions of the data: each is read as a filter of the search bar, or is searched for as it stands."""

from __future__ import annotations

import pytest
from conftest import Clock
from support.cases import load_cases
from support.chats import Scripted
from support.filled import own_memory, share_memory
from support.tables import each

from store.librarian.answer import LibrarianAnswer
from store.librarian.librarian import Librarian
from store.librarian.question import parse_question
from store.memory import Memory
from store.text.dates import find_period
from store.text.similarity import split_question

CASES = load_cases(__file__)
NOW = "2026-11-21T12:00:00.000Z"  # a Saturday
SHA = "a1b2c3d" + "0" * 33


def ask(memory: Memory, question: str, last: LibrarianAnswer | None = None) -> LibrarianAnswer:
    return Librarian(memory).ask(question, last=last)


def span(question: str) -> tuple[str, str]:
    since, before, _ = find_period(" ".join(split_question(question)), NOW)
    return since[:10], before[:10]


def fill_told(memory: Memory, clock: Clock) -> None:
    """Four months: an iteration with a decision, another that took its place, what agents wrote, facts and tasks."""
    clock.advance(days=-120)
    memory.iterations.start_iteration("feature", "keep invoices in one file")
    memory.decisions.decide("Store invoices in PostgreSQL", "PostgreSQL 16", rationale="everybody knows it")
    clock.advance(days=20)
    reasons = {"alternatives": ["Stay with PostgreSQL", "MongoDB"], "rationale": "One file and no service to run."}
    memory.decisions.decide("Use SQLite, not PostgreSQL", "SQLite in WAL mode", **reasons, supersedes=1)
    memory.commits.log(SHA, message="store: one file, no server", author="Tomás Arrieta")
    memory.commits.link(SHA, 2)
    memory.iterations.end_iteration()
    clock.advance(days=60)
    memory.facts.remember("Ana is allergic to peanuts")
    memory.facts.remember("La oficina está en la calle del Mar, tercer piso")
    memory.tasks.add_task("write the letter for reminders")
    memory.tasks.add_task("open the copy of Monday")
    memory.tasks.move(2, "done")
    clock.advance(days=36)
    memory.decisions.decide("Cache pages", "Redis 7", rationale="It takes load off.", actor="mcp:claude-code")
    clock.advance(days=2)
    memory.decisions.decide("Letters on Fridays", "One letter a week")
    clock.advance(days=1)
    memory.facts.remember("Elías, the accountant, comes on Tuesdays")
    memory.tasks.add_task("call the bank")
    clock.advance(days=1)


shared, told = share_memory(fill_told), own_memory(fill_told)


# numbers of nothing, and what is not worked out


@pytest.mark.parametrize(
    "question, says",
    [
        ("how many tasks are open?", "0 tasks: none matches “kind:task is:open”."),
        ("¿cuántas tareas hay abiertas?", "0 tareas: nada cumple «kind:task is:open»."),
        ("how many decisions were reverted?", "0 decisions: none matches “kind:decision is:reverted”."),
    ],
)
def test_of_nothing_the_number_is_zero(memory: Memory, question: str, says: str) -> None:
    memory.decisions.decide("Use SQLite", "SQLite")
    answer = ask(memory, question)
    assert answer.text == says and not answer.nothing and not answer.citations


@pytest.mark.parametrize("question", CASES["not_counted"])
def test_what_no_filter_counts_is_not_counted(shared: Memory, question: str) -> None:
    answer = ask(shared, question)
    assert not answer.filter and (answer.nothing or not answer.exact)


@pytest.mark.parametrize("question", CASES["reasons"])
def test_why_somebody_did_it_is_no_list_of_what_they_did(shared: Memory, question: str) -> None:
    """What passes a filter gives no reason: an answer is certain only where it has one."""
    answer = ask(shared, question)
    assert not answer.filter and (not answer.exact or "The reason: " in answer.text)


def test_what_is_dated_after_today_did_not_happen_today(memory: Memory) -> None:
    memory.commits.log(SHA, message="store: one file", author="Tomás", committed_at="2099-01-01T00:00:00Z")
    assert ask(memory, "what happened today?").nothing and not ask(memory, "which commits since monday?").nothing


# the time


@each("question, since, before", CASES["times"])
def test_a_time_is_read_as_it_is_said(question: str, since: str, before: str) -> None:
    assert span(question) == (since, before)


def test_what_changed_in_the_last_hour_is_no_question_about_hours(told: Memory) -> None:
    old, _ = told.facts.remember("The pump runs for an hour at most")
    told.decisions.decide("Pay the diver by the hour", "by the hour")
    new = told.facts.correct(old, "The pump runs for two hours at most")
    answer = ask(told, "what has changed in the last hour?")
    assert {f"F#{old}", f"F#{new}", "D#5"} >= set(answer.sources) and len(answer.sources) >= 2


@each("question, since, before", CASES["clocks"])
def test_a_clock_and_a_date_in_figures_are_read_in_a_question(question: str, since: str, before: str) -> None:
    start, end, _ = find_period(" ".join(split_question(question)), NOW)
    assert (start[:16], end[:16]) == (since, before)


@each("count", ["9999", "3000", "127"])
@each(
    "question",
    ["what happened {} years ago?", "¿qué pasó hace {} años?", "what happened {} months ago?"],
)
def test_in_a_time_before_all_times_nothing_was_recorded(shared: Memory, question: str, count: str) -> None:
    assert ask(shared, question.format(count)).nothing


@pytest.mark.parametrize("question", ["what changed in the last 9999 years?", "¿qué cambió desde hace 9999 semanas?"])
def test_what_began_before_all_times_holds_everything(shared: Memory, question: str) -> None:
    assert "D#1" in ask(shared, question).sources


def test_a_word_that_is_read_as_an_author_or_a_time_is_not_missed(shared: Memory) -> None:
    for question in ("what did Tomás write about zeppelins yesterday?", "did Tomás see zeppelins in october?"):
        missed = ask(shared, question).text.partition(";")[0]
        assert "zeppelins" in missed and not any(word in missed for word in ("Tomás", "yesterday", "october"))


# the filter that a question is read as


@each("question, filters", CASES["filters"])
def test_a_question_of_the_data_is_read_as_a_filter_and_no_other_is(shared: Memory, question: str, filters: str):
    asked = parse_question(question, shared)
    assert (asked.filter if asked.lists and not asked.rest else "") == filters


@pytest.mark.parametrize("question", CASES["about"])
def test_who_is_asked_about_is_not_whose_records_are_asked_for(told: Memory, question: str) -> None:
    """What records say of an author is searched for; the filter found what they wrote, or nothing."""
    number, _ = told.facts.remember("Tomás Arrieta moved to the office in Vigo")
    answer = ask(told, question)
    assert answer.sources[0] == f"F#{number}" and not answer.filter


@pytest.mark.parametrize("question", ["who left in November?", "¿quién falta?", "who remains in the team?"])
def test_who_did_so_is_no_state_of_a_task(shared: Memory, question: str) -> None:
    assert "is" not in parse_question(question, shared).filters
    assert parse_question("who has open tasks?", shared).filters == {"kind": "task", "is": "open"}


@pytest.mark.parametrize(("question", "says"), CASES["who_and_when"])
def test_who_and_when_of_a_cited_record_are_told(told: Memory, question: str, says: str) -> None:
    """Not only for decisions; and when a link was made by the commit's own date."""
    told.commits.log("b" * 40, message="Take the letters back", author="Ana")
    told.commits.link("b" * 40, 4, "reverts")
    assert says in ask(told, question).text and "recorded" not in ask(told, "what does F#1 say?").text


def test_what_was_done_about_a_thing_is_no_state_of_a_task(shared: Memory) -> None:
    asked = parse_question("was anything done about SQLite after June?", shared)
    assert "is" not in asked.filters and asked.rest == ("sqlite",)
    asked = parse_question("which tasks about SQLite are done since June?", shared)
    assert asked.filters["is"] == "done" and asked.lists


def test_an_agent_is_an_author_by_its_own_name(told: Memory) -> None:
    """It is recorded with the way by which it came."""
    with Memory(told.location, "mcp:claude-code") as memory:
        memory.decisions.decide("Cache pages", "Redis 7")
    asked = parse_question("what did claude-code decide?", told)
    assert asked.lists and asked.filter == "kind:decision is:any by:claude-code"
    assert Librarian(told).ask("what did claude-code decide?").citations == ("D#3",)


def test_since_the_release_begins_where_the_last_one_ended(told: Memory, clock: Clock) -> None:
    told.iterations.start_iteration("ship", "Release 2.0")
    clock.advance(days=1)
    told.iterations.end_iteration()
    told.decisions.decide("Ship monthly", "the first Monday")
    for question in ("what was decided since the last release?", "¿qué se decidió desde el lanzamiento?"):
        assert ask(told, question).sources == ("D#5",), question


# what the filter gives


@each("question, cited", CASES["records"])
def test_a_filter_gives_all_that_it_lets_through_and_nothing_else(shared: Memory, question: str, cited: str):
    answer = ask(shared, question)
    assert set(answer.sources) - {"I#1"} == set(cited.split()) and answer.filter


def test_the_search_bar_takes_the_same_filter_and_times_in_words(told: Memory, clock: Clock) -> None:
    answer = ask(told, "which tasks are still open?")
    assert {hit.citation for hit in told.search(answer.filter).hits} == {"A#1", "A#3"}
    edited = answer.filter.replace("open", "done")
    assert ask(told, edited).sources == ("A#2",), "a filter can be asked as it is, edited"
    assert {hit.citation for hit in told.search('kind:decision since:"2 weeks ago"').hits} == {"D#3", "D#4"}
    assert {hit.citation for hit in told.search('kind:decision since:"la semana pasada"').hits} == {"D#3", "D#4"}
    clock.advance(days=30)
    assert not told.search('kind:decision since:"2 weeks ago"').hits


def test_a_count_names_the_few_and_the_ends_of_many(told: Memory) -> None:
    assert ask(told, "¿cuántas tareas hay?").text.startswith("Hay 3 tareas: «write the letter for reminders» [A#1], ")
    said = "There is 1 commit: “store: one file, no server” (recorded by agent) [C#a1b2c3d]."
    assert ask(told, "how many commits did Tomás make?").text == said
    for number in range(9):
        told.facts.remember(f"a fact of its own, number {number}")
    many = ask(told, "how many facts are there?")
    assert many.text.startswith("There are 12 facts: “Ana is allergic") and many.text.endswith("number 8” [F#12].")


def test_a_long_list_says_how_many_it_leaves_out(memory: Memory, clock: Clock) -> None:
    for number in range(20):
        memory.decisions.decide(f"Rule {number} of the house", f"option {number}")
        clock.advance(days=1)
    answer = ask(memory, "what did we decide in the last 30 days?")
    assert answer.sentences[-1] == "These are the newest 12 of 20 [D#9]."
    assert "«Rule 19" in ask(memory, "¿qué decidimos en los últimos 30 días?").sentences[0]


def test_a_question_of_the_data_goes_on_from_the_one_before(shared: Memory) -> None:
    first = ask(shared, "which tasks are open?")
    done = ask(shared, "and done?", first)
    assert (done.filter, done.sources) == ("kind:task is:done", ("A#2",))
    august = ask(shared, "what was decided in August?")
    assert ask(shared, "and in July?", august).sources == ("D#1",)
    assert ask(shared, "¿y en noviembre?", august).sources == ("D#4", "D#3")


def test_no_model_is_asked_for_what_the_data_say(shared: Memory) -> None:
    chat = Scripted("{}")
    for question in ("which tasks are open?", "¿cuántas decisiones hay?", "what did Tomás commit?", "D#2"):
        Librarian(shared).ask(question, chat)
    assert not chat.asked and not chat.judged


@each("question, kind", CASES["kinds"])
def test_a_question_that_names_only_a_kind_is_answered_with_all_of_it(shared: Memory, question: str, kind: str) -> None:
    answer = ask(shared, question)
    assert answer.filter == f"kind:{kind}" and not answer.nothing
    assert {one[0] for one in answer.citations} == {{"decision": "D", "fact": "F", "task": "A"}[kind]}
    for other in ("what did we decide about peanuts?", "what do you know about Redis?", "why did we decide?"):
        assert not parse_question(other, shared).lists, "with another word it is searched for"
