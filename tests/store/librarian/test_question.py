"""What a question to the Librarian asks, and what is found on it: its time, what it counts, what it goes on from."""

from __future__ import annotations

import pytest
from conftest import Clock

from store.librarian.librarian import Answer, Librarian
from store.librarian.question import CHRONOLOGY, IMPLEMENTATION, WHAT, WHEN, read
from store.librarian.rule_answer import NOTHING
from store.memory import Memory
from store.text.dates import period
from store.text.question_similarity import words

NOW = "2026-11-21T12:00:00.000Z"  # a Saturday
SHA = "a1b2c3d" + "0" * 33


def ask(memory: Memory, question: str, last: Answer | None = None) -> Answer:
    return Librarian(memory).ask(question, last=last)


def span(question: str) -> tuple[str, str]:
    since, before, _ = period(" ".join(words(question)), NOW)
    return since[:10], before[:10]


@pytest.fixture
def told(memory: Memory, clock: Clock) -> Memory:
    """Four months: an iteration with a decision, another that took its place, what agents wrote, facts and tasks."""
    clock.advance(days=-120)
    memory.iterations.start("feature", "keep invoices in one file")
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
    memory.iterations.end()
    clock.advance(days=60)
    memory.facts.remember("Ana is allergic to peanuts")
    memory.facts.remember("La oficina está en la calle del Mar, tercer piso")
    memory.tasks.add("write the letter for reminders")
    memory.tasks.add("open the copy of Monday")
    memory.tasks.move(2, "done")
    clock.advance(days=36)
    memory.decisions.decide("Cache pages", "Redis 7", rationale="It takes load off.", actor="mcp:claude-code")
    clock.advance(days=2)
    memory.decisions.decide("Letters on Fridays", "One letter a week")
    clock.advance(days=1)
    memory.facts.remember("Elías, the accountant, comes on Tuesdays")
    memory.tasks.add("call the bank")
    clock.advance(days=1)
    return memory


# the time


@pytest.mark.parametrize(
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
        ("what happened this morning?", "2026-11-21", ""),
        ("what happened last Monday?", "2026-11-16", "2026-11-17"),
        ("¿qué pasó el lunes?", "2026-11-16", "2026-11-17"),
        ("¿qué pasó el lunes pasado?", "2026-11-16", "2026-11-17"),
        ("what happened on Saturday?", "2026-11-14", "2026-11-15"),
        # the last week of the calendar, and the last seven days
        ("what happened last week?", "2026-11-09", "2026-11-16"),
        ("what happened in the last week?", "2026-11-14", ""),
        ("¿qué decidimos en la última semana?", "2026-11-14", ""),
        ("¿qué pasó la semana pasada?", "2026-11-09", "2026-11-16"),
        ("¿qué pasó el último mes?", "2026-10-22", ""),
        ("what happened last month?", "2026-10-01", "2026-11-01"),
        ("what happened in the last few days?", "2026-11-16", ""),
        ("what happened last weekend?", "2026-11-14", "2026-11-16"),
        ("what happened in early October?", "2026-10-01", "2026-10-11"),
        ("¿qué pasó a finales de octubre?", "2026-10-21", "2026-11-01"),
        # what is none
        ("what happens next week?", "", ""),
        ("¿qué hacemos la semana que viene?", "", ""),
        ("why may we march?", "", ""),
        ("does the May release change?", "", ""),
        ("who comes on Tuesdays?", "", ""),
    ],
)
def test_a_time_is_read_as_it_is_said(question: str, since: str, before: str) -> None:
    assert span(question) == (since, before)


def test_last_night_is_a_night() -> None:
    assert period("what happened last night", NOW)[:2] == ("2026-11-20T18:00:00.000Z", "2026-11-21T06:00:00.000Z")


@pytest.mark.parametrize("count", ["9999", "3000", "127"])
@pytest.mark.parametrize(
    "question",
    ["what happened {} years ago?", "¿qué pasó hace {} años?", "what happened {} months ago?"],
)
def test_a_time_before_all_times_is_none_in_which_something_was_recorded(
    told: Memory, question: str, count: str
) -> None:
    assert ask(told, question.format(count)).nothing


@pytest.mark.parametrize("question", ["what changed in the last 9999 years?", "¿qué cambió desde hace 9999 semanas?"])
def test_what_began_before_all_times_holds_everything(told: Memory, question: str) -> None:
    assert "D#1" in ask(told, question).citations


@pytest.mark.parametrize(
    "question, time",
    [
        ("who is away on Friday?", False),
        ("what is there on Friday?", False),
        ("¿qué hay el viernes?", False),
        ("what happened on Friday?", True),
        ("¿qué decidimos el viernes?", True),
        ("last Friday?", True),
    ],
)
def test_a_day_of_the_week_is_one_that_was_only_where_the_past_is_asked(question: str, time: bool) -> None:
    assert bool(read(question, NOW).since) is time


@pytest.mark.parametrize(
    "question",
    [
        "what happened in the last 10 days?",
        "what changed in the last 10 days?",
        "¿qué cambió en los últimos 10 días?",
        "¿qué hicimos en los últimos 10 días?",
        "what has changed over the past week?",
        "what did we do in the last 10 days?",
        "¿qué se hizo esta semana?",
        "what did we work on this week?",
        "¿qué pasó estos últimos días?",
        "¿qué cambios hubo esta semana?",
        "what's new this week?",
        "¿hay novedades de esta semana?",
        "did anything happen this week?",
    ],
)
def test_whatever_the_verb_what_happened_is_told(told: Memory, question: str) -> None:
    asked = read(question, NOW)
    assert (asked.kind, asked.words) == (CHRONOLOGY, ())
    assert {"D#3", "D#4", "F#3", "A#3"} <= set(ask(told, question).citations)


def test_facts_and_tasks_happened_too(told: Memory) -> None:
    """Of a task also that it was moved."""
    assert ask(told, "what happened yesterday?").citations == ("F#3", "A#3")
    assert ask(told, "¿qué tareas anotamos ayer?").citations == ("A#3",)
    assert ask(told, "what facts were recorded yesterday?").citations == ("F#3",)
    assert ask(told, "what did we note yesterday?").citations == ("F#3", "A#3")
    told.tasks.move(1, "done")
    assert ask(told, "how many tasks were done today?").text.startswith("There is 1 done task: “write the letter")
    assert ask(told, "how many tasks were added today?").nothing
    assert set(ask(told, "¿qué hicimos hoy?").citations) == {"A#1"}


@pytest.mark.parametrize(
    "question, cited",
    [
        ("which commits were made in August?", ("C#a1b2c3d",)),
        ("what was committed on 13 August?", ("C#a1b2c3d",)),
        ("¿qué commits hubo en agosto?", ("C#a1b2c3d",)),
        ("which decisions were made in August?", ("D#2",)),
        ("¿qué decisiones se tomaron en agosto?", ("D#2",)),
        ("what did we decide about SQLite in August?", ("D#2",)),
        ("which iterations were there in July?", ("I#1",)),
        ("which tasks were there in August?", ()),
    ],
)
def test_of_a_time_only_the_kind_that_is_asked_for_is_told(told: Memory, question: str, cited: tuple[str, ...]) -> None:
    assert ask(told, question).citations == cited


@pytest.mark.parametrize(
    "question",
    [
        "what did Tomás do in the last 120 days?",
        "what did Tomás do on 2026-08-13?",
        "what did Tomás do on August 13?",
        "¿qué hizo Tomás hace 100 días?",
        "¿qué hizo Tomás el 13 de agosto?",
        "¿qué hizo Tomás en agosto de 2026?",
    ],
)
def test_the_words_of_a_time_are_no_names(told: Memory, question: str) -> None:
    assert ask(told, question).citations == ("C#a1b2c3d",)


def test_a_record_that_says_the_time_answers_where_none_of_that_time_does(memory: Memory) -> None:
    memory.facts.remember("The invoice of 5 March was lost in the post")
    assert ask(memory, "what happened with the invoice of 5 March?").citations == ("F#1",)
    assert ask(memory, "what happened with the invoice of 6 March?").nothing


@pytest.mark.parametrize(
    "question, cited",
    [
        ("what did the agent decide since Monday?", ("D#3",)),
        ("¿qué decidió el agente desde el lunes?", ("D#3",)),
        ("what was decided by agents this week?", ("D#3",)),
        ("¿qué decidieron los agentes en los últimos 10 días?", ("D#3",)),
        ("what have agents decided?", ("D#3",)),
        ("what did the agent decide today?", ()),
        ("what did we decide this week?", ("D#3", "D#4")),
    ],
)
def test_what_agents_decided_is_told_apart(told: Memory, question: str, cited: tuple[str, ...]) -> None:
    assert ask(told, question).citations == cited


def test_what_is_too_much_to_tell_is_counted(memory: Memory, clock: Clock) -> None:
    for number in range(20):
        memory.decisions.decide(f"Rule {number} of the house", f"option {number}")
        clock.advance(days=1)
    english = ask(memory, "what did we decide in the last 30 days?")
    assert english.sentences[-1] == "These are the newest 12 of 20, from 29 Nov 2026 [D#9] to 10 Dec 2026 [D#20]."
    assert len(english.sentences) == 13 and len(english.citations) == 12
    spanish = ask(memory, "¿qué pasó en los últimos 30 días?")
    assert spanish.sentences[-1] == "Son 12 de 20, del 29 de noviembre de 2026 [D#9] al 10 de diciembre de 2026 [D#20]."
    assert not any("newest" in sentence for sentence in ask(memory, "what did we decide in the last 7 days?").sentences)


def test_an_iteration_that_is_too_much_to_tell_is_counted(memory: Memory) -> None:
    memory.iterations.start("feature", "many rules")
    for number in range(9):
        memory.decisions.decide(f"Rule {number} of the house", f"option {number}")
    assert (
        ask(memory, "what happened in iteration 1?").sentences[-1].startswith("These are 5 of 10, from 21 Nov 2026 [")
    )


# what is counted


@pytest.mark.parametrize(
    "question, says",
    [
        # all of them, whatever was done with them
        ("how many decisions did we take?", "There are 3 decisions: "),
        ("¿cuántas decisiones hemos tomado?", "Hay 3 decisiones: "),
        ("¿cuántas decisiones se tomaron?", "Hay 3 decisiones: "),
        ("¿cuántas decisiones tomamos en total?", "Hay 3 decisiones: "),
        ("¿cuántos hechos se guardaron?", "Hay 3 hechos: "),
        ("how many facts do we know so far?", "There are 3 facts: "),
        # of a time
        ("how many facts were added this week?", "There is 1 fact: “Elías, the accountant, comes on Tuesdays” [F#3]."),
        (
            "how many decisions since October?",
            "There are 2 decisions: “Cache pages” (recorded by mcp:claude-code) [D#3], “Letters on Fridays” [D#4].",
        ),
        # not in a state
        ("how many tasks are not done?", "There are 2 tasks not done: “write the letter for reminders” [A#1], "),
        ("how many tasks aren't done?", "There are 2 tasks not done: "),
        ("¿cuántas tareas no están hechas?", "Hay 2 tareas que no están hechas: "),
        ("¿cuántas tareas no se han terminado?", "Hay 2 tareas que no están hechas: "),
        ("¿cuántas tareas hay sin terminar?", "Hay 2 tareas que no están hechas: "),
        ("how many tasks remain?", "There are 2 open tasks: "),
        ("how many unfinished tasks are there?", "There are 2 open tasks: "),
        ("¿cuántas tareas quedan por hacer?", "Hay 2 tareas abiertas: "),
        ("how many tasks have been done?", "There is 1 done task: “open the copy of Monday” [A#2]."),
        ("how many decisions were not superseded?", "There are 3 decisions not superseded: “Use SQLite"),
        ("how many facts are not pinned?", "There are 3 facts not pinned: "),
        ("how many iterations are not completed?", NOTHING["en"]),
        # what belongs to a record
        ("how many decisions in iteration 1?", "There is 1 decision of [I#1]: “Use SQLite, not PostgreSQL” [D#2]."),
        ("how many commits does iteration 1 have?", "There is 1 commit of [I#1]: “store: one file, no server” [C#a1b"),
        ("how many commits implement decision 2?", "There is 1 commit of [D#2]: “store: one file, no server” [C#a1b"),
        ("¿cuántos commits implementan D#2?", "Hay 1 commit de [D#2]: "),
        ("how many commits revert decision 2?", NOTHING["en"]),
        ("how many decisions does commit a1b2c3d implement?", "There is 1 decision of [C#a1b2c3d]: “Use SQLite"),
        ("how many decisions replaced D#1?", "There is 1 decision of [D#1]: “Use SQLite"),
        ("how many decisions in iteration 99?", NOTHING["en"]),
        # names, who did it, and what stands after “about”
        ("how many facts mention Ana?", "There is 1 fact with “Ana”: “Ana is allergic to peanuts” [F#1]."),
        ("how many facts are recorded about peanuts?", "There is 1 fact with “peanuts”: “Ana is allergic to peanuts”"),
        (
            "¿cuántas decisiones hay sobre redis?",
            "Hay 1 decisión con «redis»: «Cache pages» (anotada por mcp:claude-code) [D#3].",
        ),
        ("how many commits did tomás make?", "There is 1 commit with “tomás”: "),
        ("how many commits did Ana make?", NOTHING["en"]),
        ("how many decisions about Kubernetes?", NOTHING["en"]),
        (
            "how many decisions were made by agents?",
            "There is 1 decision by agents: “Cache pages” (recorded by mcp:claude-code) [D#3].",
        ),
        # what narrows nothing is said to
        ("how many commits fix the printer?", "There is 1 commit in all, without regard to “fix”, “printer”: “store"),
        ("¿cuántas decisiones son reversibles?", "Hay 3 decisiones en total, sin tener en cuenta «reversibles»: "),
        ("how many important decisions are there?", "There are 3 decisions in all, without regard to “important”: "),
        ("how many tasks cite decision 2?", "There are 3 tasks in all, without regard to “D#2”: "),
    ],
)
def test_a_count_is_narrowed_by_what_says_so_alone(told: Memory, question: str, says: str) -> None:
    assert ask(told, question).text.startswith(says)


# decisions that hold no longer, and records by their number


@pytest.mark.parametrize(
    "question, first",
    [
        ("when did we choose PostgreSQL?", "D#1"),
        ("why did we store invoices in PostgreSQL?", "D#1"),
        ("¿por qué elegimos PostgreSQL?", "D#1"),
        ("why was PostgreSQL chosen?", "D#1"),
        ("why do we use SQLite?", "D#2"),
        ("¿por qué no usamos PostgreSQL?", "D#2"),
    ],
)
def test_a_decision_that_was_superseded_is_found_by_what_it_chose(told: Memory, question: str, first: str) -> None:
    answer = ask(told, question)
    assert answer.citations[:1] == (first,)
    assert ("superseded" in answer.sentences[0] or "ya reemplazada" in answer.sentences[0]) is (first == "D#1")


def test_a_decision_of_the_same_name_that_holds_stands_before_one_that_does_not(told: Memory) -> None:
    told.decisions.correct(3, "Redis 8")
    decisions = [one for one in ask(told, "why do we use Redis for the cache of pages?").citations if one[0] == "D"]
    assert decisions[0] == "D#5"
    assert ask(told, "what about Redis 7?").citations[:1] == ("D#3",)


def test_what_was_superseded_answers_where_nothing_that_holds_does(told: Memory) -> None:
    told.decisions.decide("Print on paper", "A4, recycled", rationale="The archive wants signatures.")
    told.decisions.decide("Send by mail", "PDF", supersedes=5)
    assert ask(told, "what about signatures for the archive?").citations[:1] == ("D#5",)


@pytest.mark.parametrize(
    "question, first",
    [
        ("what about decision 2?", "D#2"),
        ("decision #2", "D#2"),
        ("explain decision number 2", "D#2"),
        ("¿qué dice la decisión 1?", "D#1"),
        ("¿qué es la decisión número 3?", "D#3"),
        ("what is fact 1?", "F#1"),
        ("¿qué dice el hecho 2?", "F#2"),
        ("task 2", "A#2"),
        ("the commit a1b2c3d", "C#a1b2c3d"),
        ("¿quién hizo el commit #a1b2c3d?", "C#a1b2c3d"),
        ("which commit implements decision 2?", "C#a1b2c3d"),
        ("¿qué pasó en la iteración #1?", "I#1"),
    ],
)
def test_a_record_is_named_in_words(told: Memory, question: str, first: str) -> None:
    assert ask(told, question).citations[:1] == (first,)


@pytest.mark.parametrize(
    "question",
    ["decision 99", "what is fact 1.5?", "how are 2 decisions made?", "decision 0", "the commit defaced the wall"],
)
def test_not_every_number_names_a_record(told: Memory, question: str) -> None:
    assert ask(told, question).nothing
    assert not read("the commit defaced the wall", NOW).cited


# what goes on


@pytest.mark.parametrize(
    "question, cited, says",
    [
        ("which commit?", "C#a1b2c3d", "committed “store: one file, no server”"),
        ("¿qué commit la implementa?", "C#a1b2c3d", "hizo el commit"),
        ("was it reverted?", "D#2", "Use SQLite"),
        ("is it still valid?", "D#2", "Use SQLite"),
        ("¿sigue vigente?", "D#2", "Use SQLite"),
        ("what else was considered?", "D#2", "MongoDB"),
        ("¿y qué más se consideró?", "D#2", "MongoDB"),
        ("who decided it?", "D#2", "recorded by"),
        ("¿quién la decidió?", "D#2", "La anotó"),
        ("¿cuándo lo cambiamos?", "D#2", "El 13 de agosto de 2026"),
        ("why was that?", "D#2", "The reason"),
    ],
)
def test_what_says_too_little_alone_goes_on(told: Memory, question: str, cited: str, says: str) -> None:
    first = ask(told, "why do we use SQLite?")
    answer = ask(told, question, first)
    assert answer.citations[:1] == (cited,) and says in answer.text
    assert answer.topic == "why do we use SQLite?"


def test_whether_it_holds_is_told_by_what_became_of_it(told: Memory) -> None:
    first = ask(told, "why did we store invoices in PostgreSQL?")
    for question in ("is it still valid?", "was it superseded?", "¿sigue vigente?"):
        answer = ask(told, question, first)
        assert any(one in answer.text for one in ("took its place [D#2]", "La reemplazó «Use SQLite")), question


@pytest.mark.parametrize(
    "question, follows",
    [
        ("¿dónde está la oficina?", False),
        ("donde esta la oficina", False),
        ("¿quién trajo los libros?", False),
        ("¿por qué usamos las colas?", False),
        ("¿qué le gusta a Ana?", False),
        ("¿lo que dijo Ana?", False),
        ("is there a fact about Ana?", False),
        ("who said that Ana is allergic?", False),
        ("¿quién la decidió?", True),
        ("¿por qué las elegimos?", True),
        ("¿cuándo lo cambiamos en la API?", True),
        ("¿y la oficina?", True),
        ("¿por qué esta decisión?", True),
        ("who wrote that?", True),
        ("why was that decided?", True),
        ("what did they say?", True),
    ],
)
def test_a_question_goes_on_only_where_it_points_back(question: str, follows: bool) -> None:
    assert read(question, NOW, before="why do we use SQLite?").follows is follows


def test_a_short_question_of_its_own_is_answered_by_itself(told: Memory) -> None:
    answer = ask(told, "¿dónde está la oficina?", ask(told, "why do we use SQLite?"))
    assert (answer.citations, answer.topic) == (("F#2",), "¿dónde está la oficina?")


def test_a_kind_of_record_is_asked_for_of_what_went_before(told: Memory) -> None:
    told.facts.remember("SQLite is opened by the tests as it is by the service")
    assert ask(told, "and facts?", ask(told, "why do we use SQLite?")).citations == ("F#4",)


def test_after_a_count_it_is_counted_on(told: Memory) -> None:
    first = ask(told, "how many decisions are there?")
    for question, says in (
        ("and how many are superseded?", "There is 1 superseded decision: “Store invoices in PostgreSQL” [D#1]."),
        ("and facts?", "There are 3 facts: "),
        (
            "and since October?",
            "There are 2 decisions: “Cache pages” (recorded by mcp:claude-code) [D#3], “Letters on Fridays” [D#4].",
        ),
        ("and about Redis?", "There is 1 decision with “Redis”: “Cache pages” (recorded by mcp:claude-code) [D#3]."),
        ("and in iteration 1?", "There is 1 decision of [I#1]: "),
        ("and how many commits implement decision 2?", "There is 1 commit of [D#2]: "),
        ("y reemplazadas?", "Hay 1 decisión reemplazada: "),
    ):
        assert ask(told, question, first).text.startswith(says), question
    assert not ask(told, "and why Redis?", first).text.startswith("There")


def test_what_was_counted_is_listed(told: Memory, clock: Clock) -> None:
    for number in range(20):
        told.facts.remember(f"a fact of its own, number {number}")
    decisions = ask(told, "how many decisions are there?")
    assert ask(told, "which ones?", decisions).citations == ("D#2", "D#3", "D#4")
    assert ask(told, "¿cuáles son?", decisions).citations == ("D#2", "D#3", "D#4")
    assert ask(told, "which are superseded?", decisions).citations == ("D#1",)
    gone = ask(told, "and how many are superseded?", decisions)
    assert ask(told, "which one?", gone).citations == ("D#1",)
    facts = ask(told, "and facts?", decisions)
    listed = ask(told, "which ones?", facts)
    assert listed.citations == tuple(f"F#{number}" for number in range(12, 24))
    assert listed.sentences[-1] == "These are the newest 12 of 23, from 21 Nov 2026 [F#12] to 21 Nov 2026 [F#23]."
    assert ask(told, "which?", ask(told, "how many tasks are open?")).citations == ("A#1", "A#3")


@pytest.mark.parametrize(
    ("question", "aspect"),
    [
        ("which tool tells us when something blows up", WHAT),
        ("what was decided when we moved?", WHAT),
        ("when did we choose Rust?", WHEN),
        ("who did it, and when?", WHEN),
        ("¿quién lo hizo y cuándo?", WHEN),
        ("do you know when it was decided?", WHEN),
        ("¿desde cuándo usamos SQLite?", WHEN),
    ],
)
def test_when_asks_for_a_time_only_where_nothing_else_is_asked_before_it(question: str, aspect: str) -> None:
    assert read(question, NOW).aspect == aspect


@pytest.mark.parametrize(
    "question", ["who wrote the code for the login?", "¿quién programó la subida?", "did anybody fix it? who coded it?"]
)
def test_who_made_something_is_asked_of_commits(question: str) -> None:
    assert read(question, NOW).kind == IMPLEMENTATION


def test_a_little_word_in_capitals_is_no_name(told: Memory) -> None:
    """“IT” stands in no record as a name, and “it” in many."""
    assert ask(told, "what does IT say of one file and no service to run?").citations
