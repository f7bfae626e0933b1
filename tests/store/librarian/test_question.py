"""Questions of the data: each is read as a filter of the search bar, or is searched for as it stands."""

from __future__ import annotations

import pytest
from conftest import Clock
from support.chats import Scripted
from support.filled import share_memory
from support.tables import each

from store.librarian.answer import LibrarianAnswer
from store.librarian.librarian import Librarian
from store.librarian.question import parse_question
from store.memory import Memory
from store.text.dates import find_period
from store.text.similarity import split_question

NOW = "2026-11-21T12:00:00.000Z"  # a Saturday
SHA = "a1b2c3d" + "0" * 33
TOMAS_IN_AUGUST = "kind:decision,commit,iteration,event,fact,task is:any since:2026-08-01 before:2026-09-01 by:Tomás"


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
    memory.decisions.decide(
        "Use SQLite, not PostgreSQL",
        "SQLite in WAL mode",
        alternatives=["Stay with PostgreSQL", "MongoDB"],
        rationale="One file and no service to run.",
        supersedes=1,
    )
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


shared = share_memory(fill_told)


@pytest.fixture
def told(memory: Memory, clock: Clock) -> Memory:
    fill_told(memory, clock)
    return memory


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


@pytest.mark.parametrize(
    "question",
    [
        *("who made most commits?", "how many authors are there?", "which file changes most often?"),
        *(
            "average commits per week",
            "who made the most decisions?",
            "how many people are in the team?",
            "¿qué más hay?",
        ),
    ],
)
def test_what_no_filter_counts_is_not_counted(shared: Memory, question: str) -> None:
    answer = ask(shared, question)
    assert not answer.filter and (answer.nothing or not answer.exact)


def test_what_is_dated_after_today_did_not_happen_today(memory: Memory) -> None:
    memory.commits.log(SHA, message="store: one file", author="Tomás", committed_at="2099-01-01T00:00:00Z")
    assert ask(memory, "what happened today?").nothing and not ask(memory, "which commits since monday?").nothing


# the time


@each(
    "question, since, before",
    [
        # a day by its number
        ("what did we decide on 19 November?", "2026-11-19", "2026-11-20"),
        ("what did we decide on November 19?", "2026-11-19", "2026-11-20"),
        ("what did we decide on the 19th of November, 2025?", "2025-11-19", "2025-11-20"),
        ("¿qué decidimos el 19 de noviembre?", "2026-11-19", "2026-11-20"),
        ("¿qué decidimos el primero de mayo?", "2026-05-01", "2026-05-02"),
        ("what happened on 16 Jan 2026?", "2026-01-16", "2026-01-17"),
        ("what happened on Monday, November 16?", "2026-11-16", "2026-11-17"),
        ("what happened on 30 November?", "2025-11-30", "2025-12-01"),
        ("what happened on 29 February?", "2024-02-29", "2024-03-01"),
        ("what happened on 31 February?", "", ""),
        # until and between
        ("what did we decide before October?", "", "2026-10-01"),
        ("¿qué decidimos antes de octubre?", "", "2026-10-01"),
        ("¿qué decidimos antes del 5 de octubre?", "", "2026-10-05"),
        ("what did we decide after October?", "2026-11-01", ""),
        ("what did we decide until October?", "", "2026-11-01"),
        ("what happened between March and May?", "2026-03-01", "2026-06-01"),
        ("¿qué pasó entre marzo y mayo?", "2026-03-01", "2026-06-01"),
        ("what happened from November to February?", "2025-11-01", "2026-03-01"),
        ("¿qué pasó del 3 al 5 de octubre?", "2026-10-03", "2026-10-06"),
        ("what happened between 2024 and 2025?", "2024-01-01", "2026-01-01"),
        ("what happened from Thursday to Tuesday?", "2026-11-12", "2026-11-18"),
        # so long ago
        ("what happened eight days ago?", "2026-11-13", "2026-11-14"),
        ("¿qué pasó hace ocho días?", "2026-11-13", "2026-11-14"),
        ("what happened a week ago?", "2026-11-14", "2026-11-21"),
        ("what happened a month ago?", "2026-10-01", "2026-11-01"),
        ("¿qué pasó hace un mes?", "2026-10-01", "2026-11-01"),
        ("what happened a year ago?", "2025-01-01", "2026-01-01"),
        ("what changed since two months ago?", "2026-09-22", ""),
        ("¿qué pasó hace un año y medio?", "", ""),
        # days near by
        ("what happened the day before yesterday?", "2026-11-19", "2026-11-20"),
        ("¿qué pasó anteayer?", "2026-11-19", "2026-11-20"),
        ("¿qué decidimos ayer por la tarde?", "2026-11-20", "2026-11-21"),
        ("what happened this morning?", "2026-11-21", "2026-11-22"),
        ("what happened last Monday?", "2026-11-16", "2026-11-17"),
        ("¿qué pasó el lunes?", "2026-11-16", "2026-11-17"),
        ("¿qué pasó el lunes pasado?", "2026-11-16", "2026-11-17"),
        ("what happened on Saturday?", "2026-11-14", "2026-11-15"),
        # the last week of the calendar, and the last seven days
        ("what happened last week?", "2026-11-09", "2026-11-16"),
        ("what happened in the last week?", "2026-11-14", "2026-11-22"),
        ("¿qué decidimos en la última semana?", "2026-11-14", "2026-11-22"),
        ("¿qué pasó la semana pasada?", "2026-11-09", "2026-11-16"),
        ("¿qué pasó el último mes?", "2026-10-22", "2026-11-22"),
        ("what happened last month?", "2026-10-01", "2026-11-01"),
        ("what happened in the last few days?", "2026-11-16", "2026-11-22"),
        ("what happened last weekend?", "2026-11-14", "2026-11-16"),
        ("what happened in early October?", "2026-10-01", "2026-10-11"),
        ("¿qué pasó a finales de octubre?", "2026-10-21", "2026-11-01"),
        ("what happened in Q1 2026?", "2026-01-01", "2026-04-01"),
        ("what happened in the third quarter of 2025?", "2025-07-01", "2025-10-01"),
        ("¿qué pasó en el cuarto trimestre?", "2026-10-01", "2027-01-01"),
        ("¿qué pasó en la primera mitad de 2025?", "2025-01-01", "2025-07-01"),
        ("what happened in the second half of 2025?", "2025-07-01", "2026-01-01"),
        ("what happened in h2 2025?", "2025-07-01", "2026-01-01"),
        ("¿qué pasó en 2024 y 2025?", "2024-01-01", "2026-01-01"),
        ("what happened between 2020 and 2022?", "2020-01-01", "2023-01-01"),
        ("commits of 2024", "2024-01-01", "2025-01-01"),
        ("the commits from March", "2026-03-01", "2026-04-01"),
        ("las tareas de marzo", "2026-03-01", "2026-04-01"),
        ("what happened from March on?", "2026-03-01", ""),
        ("¿qué pasó de marzo en adelante?", "2026-03-01", ""),
        ("from March on, what did we decide?", "2026-03-01", ""),
        ("commits from March on about docs", "2026-03-01", ""),
        ("commits in March on docs", "2026-03-01", "2026-04-01"),
        ("decisions from March on the cache", "2026-03-01", "2026-04-01"),
        ("what did we do in 2025 on caching?", "2025-01-01", "2026-01-01"),
        ("what did we decide yesterday on the cache?", "2026-11-20", "2026-11-21"),
        # a season of the north
        ("what happened in the spring?", "2026-03-01", "2026-06-01"),
        ("what happened last winter?", "2025-12-01", "2026-03-01"),
        ("what happened this autumn?", "2026-09-01", "2026-12-01"),
        ("what happened last fall?", "2025-09-01", "2025-12-01"),
        ("what happened in the winter of 2024?", "2024-12-01", "2025-03-01"),
        ("what happened since the summer?", "2026-06-01", ""),
        ("¿qué pasó en verano?", "2026-06-01", "2026-09-01"),
        ("¿qué pasó el otoño pasado?", "2025-09-01", "2025-12-01"),
        ("¿qué pasó antes del invierno?", "", "2025-12-01"),
        # before the last, and weeks of a month
        ("what happened the week before last?", "2026-11-02", "2026-11-09"),
        ("what happened the weekend before last?", "2026-11-07", "2026-11-09"),
        ("¿qué pasó la semana antepasada?", "2026-11-02", "2026-11-09"),
        ("¿qué pasó el mes antepasado?", "2026-09-01", "2026-10-01"),
        ("what happened in the second week of October?", "2026-10-08", "2026-10-15"),
        ("¿qué pasó la última semana de febrero de 2025?", "2025-02-22", "2025-03-01"),
        ("¿qué pasó en la segunda quincena de octubre?", "2026-10-16", "2026-11-01"),
        ("what happened a fortnight ago?", "2026-11-07", "2026-11-21"),
        ("¿qué cambió en la última quincena?", "2026-11-06", "2026-11-22"),
        # a number that is left open
        ("what happened a few days ago?", "2026-11-16", "2026-11-22"),
        ("¿qué pasó hace unas semanas?", "2026-10-17", "2026-11-22"),
        # what is none
        ("what happens next week?", "", ""),
        ("how long is the last hour of the deploy?", "", ""),
        ("does it take half an hour?", "", ""),
        ("¿qué pasó hace una hora y media?", "", ""),
        ("¿qué hacemos la semana que viene?", "", ""),
        ("why may we march?", "", ""),
        ("does the May release change?", "", ""),
        ("who comes on Tuesdays?", "", ""),
        ("why do we use spring?", "", ""),
        ("do the prices fall?", "", ""),
        ("what is in the winter timetable?", "", ""),
    ],
)
def test_a_time_is_read_as_it_is_said(question: str, since: str, before: str) -> None:
    assert span(question) == (since, before)


def test_what_changed_in_the_last_hour_is_no_question_about_hours(told: Memory) -> None:
    old, _ = told.facts.remember("The pump runs for an hour at most")
    told.decisions.decide("Pay the diver by the hour", "by the hour")
    new = told.facts.correct(old, "The pump runs for two hours at most")
    answer = ask(told, "what has changed in the last hour?")
    assert {f"F#{old}", f"F#{new}", "D#5"} >= set(answer.sources) and len(answer.sources) >= 2


@each(
    "question, since, before",
    [
        ("¿Qué pasó ayer a las 18:00?", "2026-11-20T18:00", "2026-11-20T19:00"),
        ("What happened yesterday at 6pm?", "2026-11-20T18:00", "2026-11-20T19:00"),
        ("¿Qué pasó ayer a las 6 de la tarde?", "2026-11-20T18:00", "2026-11-20T19:00"),
        ("¿Qué pasó anoche a las 11?", "2026-11-20T23:00", "2026-11-21T00:00"),
        ("What happened on 19 November at 10:30?", "2026-11-19T10:30", "2026-11-19T11:30"),
        ("What changed since yesterday 9am?", "2026-11-20T09:00", ""),
        ("What changed after yesterday at 18:00?", "2026-11-20T18:00", ""),
        ("What happened between yesterday at 9:00 and today at 11:00?", "2026-11-20T09:00", "2026-11-21T11:00"),
        ("What was decided on 29/10/2026?", "2026-10-29T00:00", "2026-10-30T00:00"),
        ("¿Qué decidimos el 29-10-2026?", "2026-10-29T00:00", "2026-10-30T00:00"),
        ("What was decided on 2026/10/29?", "2026-10-29T00:00", "2026-10-30T00:00"),
        ("¿Qué pasó en 2026-10?", "2026-10-01T00:00", "2026-11-01T00:00"),
        ("What was decided on 3/4/2026?", "", ""),  # in April or in March
        ("What happened yesterday at 25:00?", "", ""),
        ("Why do 11/12 of the tests pass?", "", ""),
        ("what happened last night?", "2026-11-20T18:00", "2026-11-21T06:00"),
        # hours and minutes are counted from now
        ("what has changed in the last hour?", "2026-11-21T11:00", "2026-11-21T12:01"),
        ("what changed in the past 2 hours?", "2026-11-21T10:00", "2026-11-21T12:01"),
        ("¿qué cambió en la última hora?", "2026-11-21T11:00", "2026-11-21T12:01"),
        ("¿qué cambió en los últimos veinte minutos?", "2026-11-21T11:40", "2026-11-21T12:01"),
        ("what changed in the last half hour?", "2026-11-21T11:30", "2026-11-21T12:01"),
        ("¿qué cambió en la última media hora?", "2026-11-21T11:30", "2026-11-21T12:01"),
        ("what did I do two hours ago?", "2026-11-21T10:00", "2026-11-21T11:00"),
        ("¿qué hice hace diez minutos?", "2026-11-21T11:50", "2026-11-21T12:01"),
        ("what changed since an hour ago?", "2026-11-21T11:00", ""),
    ],
)
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


# the filter that a question is read as


@each(
    "question, filters",
    [
        ("what did we decide in October?", "kind:decision is:any since:2026-10-01 before:2026-11-01"),
        ("¿qué decidimos en octubre?", "kind:decision is:any since:2026-10-01 before:2026-11-01"),
        ("what is still open?", "is:open"),
        ("¿qué queda por hacer?", "is:open"),
        ("¿qué tareas quedan pendientes?", "kind:task is:open"),
        ("which tasks are done?", "kind:task is:done"),
        ("what did we finish in October?", "is:done since:2026-10-01 before:2026-11-01"),
        ("what are we working on?", "is:progress"),
        ("¿qué se cerró la semana pasada?", "is:done since:2026-11-09 before:2026-11-16"),
        ("¿qué dejamos a medias?", "is:open"),
        ("¿qué anotaste ayer?", "kind:fact is:any since:2026-11-20 before:2026-11-21"),
        (
            "what did I add today?",
            "kind:decision,commit,iteration,event,fact,task is:any since:2026-11-21 before:2026-11-22 by:you",
        ),
        ("what commits came after 1 November?", "kind:commit is:any since:2026-11-02"),
        ("which decisions are no longer in force?", "kind:decision is:superseded"),
        ("¿qué decisiones se revirtieron?", "kind:decision is:reverted"),
        ("which decisions did we undo?", "kind:decision is:reverted"),
        ("list the decisions we took back", "kind:decision is:reverted"),
        ("¿en qué decisiones dimos marcha atrás?", "kind:decision is:reverted"),
        ("which decisions were superseded?", "kind:decision is:superseded"),
        ("¿qué decisiones ya no valen?", "kind:decision is:superseded"),
        ("which iteration is still running?", "kind:iteration is:open"),
        ("which decisions have been overturned?", "kind:decision is:reverted"),
        ("what decisions did we go back on?", "kind:decision is:reverted"),
        ("which choices did we change our minds about?", "kind:decision is:reverted"),
        ("which decisions did we walk back?", "kind:decision is:reverted"),
        ("¿qué decisiones se echaron atrás?", "kind:decision is:reverted"),
        ("¿de qué decisiones nos arrepentimos?", "kind:decision is:reverted"),
        ("¿qué decisiones se anularon?", "kind:decision is:void"),
        ("what has been undone?", "is:reverted"),
        ("what is undone?", "is:open"),
        ("any loose ends?", "is:open"),
        ("open items", "is:open"),
        ("is there any unfinished business?", "is:open"),
        ("what's on my plate?", "is:open"),
        ("¿qué está a medio hacer?", "is:open"),
        ("¿quedó algún cabo suelto?", "is:open"),
        ("what are we in the middle of?", "is:progress"),
        ("what is someone working on right now?", "is:progress"),
        ("which tasks did we start?", "kind:task is:progress"),
        ("¿qué tareas empezamos?", "kind:task is:progress"),
        ("¿qué tenemos entre manos?", "is:progress"),
        ("what is already done?", "is:done"),
        ("what have we already completed?", "is:done"),
        ("what did we abandon?", "is:abandoned"),
        ("todo lo de Tomás", "kind:decision,commit,iteration,event,fact,task is:any by:Tomás"),
        ("todo lo que hizo Tomás", "kind:decision,commit,iteration,event,fact,task is:any by:Tomás"),
        ("Tomás's last commit", "kind:commit is:any by:Tomás"),
        ("what has Tomás been up to lately?", "kind:decision,commit,iteration,event,fact,task is:any by:Tomás"),
        ("¿qué subió Tomás en agosto?", "kind:commit is:any since:2026-08-01 before:2026-09-01 by:Tomás"),
        ("which commits relate to D#2?", "kind:commit is:any linked:D#2"),
        ("which todos are still open?", "kind:task is:open"),
        ("¿qué es todo esto?", ""),
        ("how do we go back on a decision?", ""),
        ("what was Tomás working on in August?", TOMAS_IN_AUGUST),
        ("what did Tomás commit?", "kind:commit is:any by:Tomás"),
        ("¿qué commits son de Tomás?", "kind:commit is:any by:Tomás"),
        ("¿qué hizo Tomás en agosto?", TOMAS_IN_AUGUST),
        ("what did agents decide this week?", "kind:decision is:any since:2026-11-16 before:2026-11-23 by:agents"),
        ("how many decisions are there?", "kind:decision"),
        ("¿cuántos commits hay?", "kind:commit"),
        ("which commits implement D#2?", ""),
        ("how many commits implement D#2?", "kind:commit is:any linked:D#2"),
        ("¿cuántos commits implementan D#2?", "kind:commit is:any linked:D#2"),
        ("which commits belong to D#2?", "kind:commit is:any linked:D#2"),
        ("which commits are there for D#2?", "kind:commit is:any linked:D#2"),
        ("what decisions are there for commit a1b2c3d?", "kind:decision is:any linked:C#a1b2c3d"),
        ("¿qué pasó en la iteración 1?", "is:any linked:I#1"),
        ("what is the latest decision?", "kind:decision is:any"),
        ("what changed since Monday?", "kind:decision,commit,iteration,event,fact,task is:any since:2026-11-16"),
        (
            "what was going on two weeks ago?",
            "kind:decision,commit,iteration,event,fact,task is:any since:2026-11-07 before:2026-11-14",
        ),
        (
            "¿en qué anduvo Tomás la semana pasada?",
            "kind:decision,commit,iteration,event,fact,task is:any since:2026-11-09 before:2026-11-16 by:Tomás",
        ),
        # a word that is understood as none of these: it is searched for
        ("how do I undo a change?", ""),
        ("how do we roll back?", ""),
        ("what did we decide about SQLite in October?", ""),
        ("who is away in January?", ""),
        ("which contract must be signed by 30 October?", ""),
        ("¿cuántos veterinarios admite el plan básico?", ""),
        ("why was the decision reverted?", ""),
        ("how many people are in the team?", ""),
        ("who wrote the letter for reminders?", ""),
        ("is the office open on Fridays?", ""),
        ("what did Ana decide?", ""),
    ],
)
def test_a_question_of_the_data_is_read_as_a_filter_and_no_other_is(shared: Memory, question: str, filters: str):
    asked = parse_question(question, shared)
    assert (asked.filter if asked.lists and not asked.rest else "") == filters


@pytest.mark.parametrize(
    "question",
    [
        "who is Tomás?",
        "¿quién es Tomás?",
        "who was Tomás Arrieta?",
        "what do we know about Tomás?",
        "¿qué sabemos sobre Tomás?",
        "what did we note about Tomás?",
        "anything about Tomás?",
        "¿qué anotamos acerca de Tomás?",
    ],
)
def test_who_is_asked_about_is_not_whose_records_are_asked_for(told: Memory, question: str) -> None:
    """What records say of an author is searched for; the filter found what they wrote, or nothing."""
    number, _ = told.facts.remember("Tomás Arrieta moved to the office in Vigo")
    answer = ask(told, question)
    assert answer.sources[0] == f"F#{number}" and not answer.filter


@pytest.mark.parametrize("question", ["who left in November?", "¿quién falta?", "who remains in the team?"])
def test_who_did_so_is_no_state_of_a_task(shared: Memory, question: str) -> None:
    assert "is" not in parse_question(question, shared).filters
    assert parse_question("who has open tasks?", shared).filters == {"kind": "task", "is": "open"}


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("who recorded F#1?", "(recorded by you)"),
        ("¿quién anotó F#2?", "(anotado por ti)"),
        ("when was F#3 recorded?", "(recorded on 20 Nov 2026)"),
        ("¿cuándo se anotó F#3?", "(anotado el 20 de noviembre de 2026)"),
        ("when was D#4 reverted?", "(21 Nov 2026)"),
        ("¿cuándo se revirtió D#4?", "(21 de noviembre de 2026)"),
    ],
)
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


@each(
    "question, cited",
    [
        ("what happened yesterday?", {"F#3", "A#3"}),
        ("¿qué tareas anotamos ayer?", {"A#3"}),
        ("which commits were made in August?", {"C#a1b2c3d"}),
        ("which decisions were made in August?", {"D#2"}),
        ("¿qué decidieron los agentes en los últimos 10 días?", {"D#3"}),
        ("what did we decide this week?", {"D#3", "D#4"}),
        ("what did Tomás do on 2026-08-13?", {"C#a1b2c3d"}),
        ("¿qué hizo Tomás hace 100 días?", {"C#a1b2c3d"}),
        ("which tasks are still open?", {"A#1", "A#3"}),
        ("¿qué tareas están terminadas?", {"A#2"}),
        ("which decisions are there for commit a1b2c3d?", {"D#2"}),
        ("what was the first decision?", {"D#1"}),
        ("¿cuál fue la última decisión?", {"D#4"}),
        ("what happened in iteration 1?", {"D#1", "D#2", "C#a1b2c3d"}),
    ],
)
def test_a_filter_gives_all_that_it_lets_through_and_nothing_else(shared: Memory, question: str, cited: set[str]):
    answer = ask(shared, question)
    assert set(answer.sources) - {"I#1"} == cited and answer.filter


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
    assert ask(told, "how many commits did Tomás make?").text == (
        "There is 1 commit: “store: one file, no server” (recorded by agent) [C#a1b2c3d]."
    )
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


@each(
    "question, kind",
    [
        ("what did we decide?", "decision"),
        ("¿qué decidimos?", "decision"),
        ("what was decided?", "decision"),
        ("¿qué se decidió?", "decision"),
        ("list the decisions", "decision"),
        ("what decisions have we made?", "decision"),
        ("¿qué decisiones hay?", "decision"),
        ("what do you know about me?", "fact"),
        ("¿qué sabés de mí?", "fact"),
        ("which tasks are there?", "task"),
    ],
)
def test_a_question_that_names_only_a_kind_is_answered_with_all_of_it(shared: Memory, question: str, kind: str) -> None:
    answer = ask(shared, question)
    assert answer.filter == f"kind:{kind}" and not answer.nothing
    assert {one[0] for one in answer.citations} == {{"decision": "D", "fact": "F", "task": "A"}[kind]}
    for other in ("what did we decide about peanuts?", "what do you know about Redis?", "why did we decide?"):
        assert not parse_question(other, shared).lists, "with another word it is searched for"
