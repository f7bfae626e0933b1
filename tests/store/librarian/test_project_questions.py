"""Questions about a small project: who did what, what a commit reverted, and what changed since a day."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Clock
from support.filled import share_memory
from support.repositories import create, git
from support.tables import each

from store.base.vocabulary import pack_key
from store.doors.pack import build_prompt_pack, recall_for_prompt
from store.git.repository import Repository
from store.librarian.answer import LibrarianAnswer
from store.librarian.librarian import Librarian
from store.librarian.question import parse_question
from store.memory import Memory
from store.records import commits as releases
from store.upkeep.as_of import PastMemory, point_in_time, read_past

TODAY = "2026-11-27"  # a Friday
# (day, author, message); the sha of the first is 1a1a…
COMMITS = (
    ("2026-03-10", "Ana", "Add the cache of pages"),
    ("2026-03-20", "Ana", "Read the tide tables"),
    ("2026-04-14", "Bruno", "Add the page of timetables"),
    ("2026-05-12", "Bruno", "Measure late ferries"),
    ("2026-06-02", "Ana", "Take the cache of pages out again"),
    ("2026-08-08", "Bruno", "Warn of storms"),
    ("2026-10-05", "Ana", "Version 1.0"),
    ("2026-11-10", "Bruno", "Fix the cache of tiles"),
)
REVERT, RELEASE, NEWEST = "C#5a5a5a5", "C#7a7a7a7", "C#8a8a8a8"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose person is Ana."""
    root = tmp_path_factory.mktemp("checkout")
    create(root)
    git(root, "config", "user.name", "Ana")
    git(root, "config", "user.email", "ana@example.org")
    return root


@pytest.fixture(autouse=True)
def repository(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "memory_repository", lambda database: Repository(str(checkout)))


def fill_ferry(memory: Memory, clock: Clock) -> None:
    """Eight commits, four decisions, five tasks and five facts from March to 27 November 2026."""

    def on(day: str, hour: int = 12) -> None:
        clock.now = f"{day}T{hour:02}:00:00.000Z"

    def log(first: int, end: int) -> None:
        for number, (day, author, message) in list(enumerate(COMMITS, 1))[first:end]:
            memory.commits.log(f"{number}a" * 20, message=message, author=author, committed_at=f"{day}T12:00:00.000Z")

    on("2026-03-10", 13)
    memory.decisions.decide("Cache of pages", "a file for each", alternatives=["none"], rationale="the net is slow")
    on("2026-04-14")
    memory.decisions.decide("Timetables of the port", "read at night", rationale="they keep them")
    memory.facts.remember("The harbour office opens at 9")
    memory.facts.remember("Bruno looks after the ferries")
    on("2026-05-12")
    memory.decisions.decide("Metrics in one table", "SQLite", actor="mcp:claude-code")
    memory.facts.remember("The winter timetable begins in December")
    on("2026-06-02", 13)
    log(0, 5)
    memory.commits.link("1a1a1a1", 1)
    memory.commits.link("5a5a5a5", 1, "reverts")
    on("2026-10-20")
    memory.tasks.add_task("write the help page")
    memory.tasks.add_task("translate the warnings")
    on("2026-11-02")
    memory.decisions.decide("Timetables by the minute", "poll each minute", supersedes=2)
    memory.tasks.add_task("measure the late ferries")
    memory.tasks.add_task("call the port")
    log(5, 8)
    on("2026-11-26")
    memory.tasks.move(3, "done")
    memory.tasks.move(2, "in_progress")
    memory.facts.remember("The key is at the kiosk")
    on(TODAY, 9)
    memory.facts.forget([2])
    memory.facts.correct(1, "The harbour office opens at 8")
    on(TODAY)


shared = share_memory(fill_ferry)


@pytest.fixture
def ferry(memory: Memory, clock: Clock) -> Memory:
    fill_ferry(memory, clock)
    return memory


def ask(memory: Memory, question: str) -> LibrarianAnswer:
    return Librarian(memory).ask(question)


def shown(answer: LibrarianAnswer) -> set[str]:
    """The records that an answer quotes, without those that are linked to them."""
    return {quote.citation for part in answer.parts for quote in part.quotes}.intersection(answer.sources)


# words for any person


@pytest.mark.parametrize(
    "question",
    [
        "did anybody commit anything last week?",
        "did anyone commit anything in July?",
        "has someone made a decision this week?",
        "did nobody commit in July?",
        "¿alguien hizo commits la semana pasada?",
        "¿alguien hizo algún commit en julio?",
        "¿nadie hizo commits en julio?",
    ],
)
def test_nothing_of_that_time_is_shown_where_there_was_nothing(shared: Memory, question: str) -> None:
    answer = ask(shared, question)
    assert answer.nothing and not answer.citations and answer.asked.lists and not answer.asked.rest


@pytest.mark.parametrize(
    "question",
    [
        "did Bruno commit anything about pages last week?",
        "show me the commits about storms in May",
        "¿qué commits hizo Bruno sobre mareas en mayo?",
        "commits by Ana about storms",
        "list the decisions about harbours by claude-code",
        "how many commits about storms in March?",
        "what did Bruno do about the harbour?",
    ],
)
def test_a_filter_is_never_shown_over_what_it_does_not_let_pass(shared: Memory, question: str) -> None:
    answer = ask(shared, question)
    assert parse_question(question, shared).lists
    if answer.filter:
        assert shown(answer) <= {hit.citation for hit in shared.search(answer.filter, 500, meaning=False).hits}


# the person who asks


@each(
    "question, cited",
    [
        ("what did I commit in May?", set()),
        ("what did I commit in March?", {"C#1a1a1a1", "C#2a2a2a2"}),
        ("which commits were made by me in March?", {"C#1a1a1a1", "C#2a2a2a2"}),
        ("what did I do on March 20?", {"C#2a2a2a2"}),
        ("what have I committed since August?", {RELEASE}),
        ("what was my last commit?", {RELEASE}),
        ("what did I decide in May?", set()),
        ("what did I decide in November?", {"D#4"}),
        ("what did I change about tiles in November?", set()),
        ("¿qué hice en mayo?", {"F#3"}),
        ("¿qué hice el 20 de marzo?", {"C#2a2a2a2"}),
        ("¿qué commits hice en marzo?", {"C#1a1a1a1", "C#2a2a2a2"}),
        ("¿cuál fue mi último commit?", {RELEASE}),
        ("¿qué decidí en noviembre?", {"D#4"}),
        ("¿qué he decidido en mayo?", set()),
    ],
)
def test_what_i_did_is_mine(shared: Memory, question: str, cited: set[str]) -> None:
    answer = ask(shared, question)
    assert answer.asked.filters["by"] == "you"
    assert (shown(answer) == cited if answer.filter else not answer.exact) or answer.nothing


@each(
    "question, number",
    [
        ("how many decisions did Ana make in March?", "1 decision:"),
        ("¿cuántas decisiones tomó Ana en marzo?", "1 decisión:"),
        ("how many commits did Ana make?", "4 commits:"),
        ("how many commits did I make this year?", "4 commits:"),
        ("¿cuántos commits hice este año?", "4 commits:"),
        ("how many commits did Bruno make?", "4 commits:"),
        ("how many decisions did Bruno make?", "0 decisions:"),
        # from history
        ("how many facts were corrected today?", "1 fact:"),
        ("how many tasks changed this week?", "2 tasks:"),
        ("¿cuántos hechos se olvidaron hoy?", "1 hecho:"),
    ],
)
def test_a_count_is_of_what_the_person_recorded_or_of_what_changed(shared: Memory, question: str, number: str) -> None:
    assert number in ask(shared, question).text


@each(
    "question",
    [
        *("what did we commit in May?", "¿qué hicimos en mayo?", "what are my open tasks?", "what are my tasks?"),
        *("which tasks do I have?", "how do I take the cache out?", "what do you know about me?", "what do I do?"),
        *("¿qué sabés de mí?", "¿qué tareas tengo?", "show me the decisions", "mostrame los commits de mayo"),
        *("what is my favourite cache?", "what should I decide about the cache?", "who am I?"),
        *("what is related to the cache?", "which commits are related to tides?"),
    ],
)
def test_what_others_did_too_or_is_only_for_me_is_not_mine_alone(shared: Memory, question: str) -> None:
    filters = set(parse_question(question, shared).filters)
    assert "by" not in filters and not ("related" in question and {"linked", "is"} & filters)


def test_without_a_name_in_git_i_am_the_writer(shared: Memory, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "memory_repository", lambda database: None)
    assert ask(shared, "what did I commit in March?").nothing
    assert shown(ask(shared, "what did I do in March?")) == {"D#1"}
    assert ask(shared, "how many decisions did Ana make in March?").text.startswith("0 decisions")


# links, and what was reverted


@each(
    "question, cited",
    [
        ("which commits reverted D#1?", {REVERT}),
        ("which commit undid D#1?", {REVERT}),
        ("what commit rolled back D#1?", {REVERT}),
        ("which commits reverted D#4?", set()),
        ("which decisions did commit 5a5a5a5 revert?", {"D#1"}),
        ("which decisions did commit 1a1a1a1 revert?", set()),
        ("which decisions are related to commit 5a5a5a5?", {"D#1"}),
        ("commits related to D#1", {REVERT, "C#1a1a1a1"}),
        ("which commits are connected with D#1?", {REVERT, "C#1a1a1a1"}),
        ("what is linked to D#1?", {REVERT, "C#1a1a1a1"}),
        ("¿qué commit revirtió D#1?", {REVERT}),
        ("¿qué commit deshizo D#1?", {REVERT}),
        ("¿qué decisiones revirtió el commit 5a5a5a5?", {"D#1"}),
        ("¿qué decisiones están relacionadas con el commit 5a5a5a5?", {"D#1"}),
        ("¿qué decisiones están vinculadas al commit 5a5a5a5?", {"D#1"}),
        ("¿qué commits pertenecen a D#1?", {REVERT, "C#1a1a1a1"}),
        ("¿qué está relacionado con D#1?", {REVERT, "C#1a1a1a1"}),
        ("what did we revert in June?", {"D#1"}),
        ("was anything reverted in June?", {"D#1"}),
        ("which decisions did we undo since May?", {"D#1"}),
        ("what did we revert in March?", set()),
        ("what did I revert in June?", {"D#1"}),
        ("¿se revirtió algo en junio?", {"D#1"}),
        ("¿qué decisiones revertimos este año?", {"D#1"}),
        ("¿qué revertimos en marzo?", set()),
    ],
)
def test_what_is_linked_is_of_that_link_and_a_revert_of_its_time(shared: Memory, question: str, cited: set[str]):
    answer = ask(shared, question)
    assert shown(answer) == cited
    assert answer.filter and set(() if answer.nothing else answer.sources) == cited


@each(
    "question, cited",
    [
        *(("was D#1 reverted?", "D#1"), ("was D#4 reverted?", "D#4"), ("who decided D#1?", "D#1")),
        *(("is A#3 done?", "A#3"), ("is A#4 open?", "A#4"), ("¿se revirtió D#4?", "D#4")),
        *(("what happened to A#3?", "A#3"), ("what happened to F#1 today?", "F#1"), ("who changed F#5?", "F#5")),
        *(("¿qué pasó con D#1 en junio?", "D#1"), ("what changed in D#1?", "D#1")),
        *(("when was D#4 decided?", "D#4"), ("¿cuándo se decidió D#4?", "D#4")),
    ],
)
def test_whether_a_record_is_so_is_answered_by_that_record_alone(shared: Memory, question: str, cited: str) -> None:
    assert ask(shared, question).sources == (cited,)


# what changed


@each(
    "question, cited",
    [
        ("what changed today?", {"F#1", "F#2", "F#5"}),
        ("what changed since last Tuesday?", {"F#1", "F#2", "F#4", "F#5", "A#2", "A#3"}),
        ("what has changed since Monday?", {"F#1", "F#2", "F#4", "F#5", "A#2", "A#3"}),
        ("what changed yesterday?", {"F#4", "A#2", "A#3"}),
        ("what did I do yesterday?", {"F#4", "A#2", "A#3"}),
        ("what happened yesterday?", {"F#4", "A#2", "A#3"}),
        ("which tasks changed this week?", {"A#2", "A#3"}),
        ("which facts changed this week?", {"F#1", "F#2", "F#4", "F#5"}),
        ("what did I finish yesterday?", {"A#3"}),
        ("what did I finish today?", set()),
        ("which tasks were started this week?", {"A#2"}),
        ("what was forgotten today?", {"F#2"}),
        ("what was forgotten yesterday?", set()),
        ("which facts were corrected today?", {"F#1", "F#5"}),
        ("was any fact corrected this week?", {"F#1", "F#5"}),
        ("which facts were corrected?", {"F#1"}),
        ("which decisions were replaced in November?", {"D#2"}),
        ("which decisions were replaced in April?", set()),
        ("what did agents do this week?", set()),
        ("what did Bruno do this week?", set()),
        ("¿qué cambió hoy?", {"F#1", "F#2", "F#5"}),
        ("¿qué cambió desde el martes?", {"F#1", "F#2", "F#4", "F#5", "A#2", "A#3"}),
        ("¿qué hice ayer?", {"F#4", "A#2", "A#3"}),
        ("¿qué tareas cambiaron esta semana?", {"A#2", "A#3"}),
        ("¿qué terminé ayer?", {"A#3"}),
        ("¿qué se olvidó hoy?", {"F#2"}),
        ("¿qué se corrigió hoy?", {"F#1", "F#5"}),
        ("¿qué hechos se corrigieron esta semana?", {"F#1", "F#5"}),
        ("¿qué decisiones se reemplazaron en noviembre?", {"D#2"}),
    ],
)
def test_what_changed_is_what_history_says(shared: Memory, question: str, cited: set[str]) -> None:
    answer = ask(shared, question)
    assert answer.asked.lists and set(() if answer.nothing else answer.sources) == shown(answer) == cited


def test_what_an_agent_of_a_like_name_did_is_not_what_the_person_did(ferry: Memory) -> None:
    with ferry.database.write("mcp:user-agent", "mcp") as write:
        write.execute("UPDATE tasks SET status = 'done' WHERE id = 4")
    assert shown(ask(ferry, "what did I finish today?")) == set()
    assert shown(ask(ferry, "what did agents do today?")) == {"A#4"}


@pytest.mark.parametrize("question", ["what changed yesterday?", "what did I finish yesterday?", "what changed today?"])
def test_no_filter_stands_over_what_only_history_knows(shared: Memory, question: str) -> None:
    assert ask(shared, question).filter == ""


def test_each_says_what_happened_to_it_and_when(shared: Memory) -> None:
    answer = ask(shared, "what changed this week?")
    assert "On 26 Nov 2026 “measure the late ferries” was finished [A#3]." in answer.text
    assert "On 26 Nov 2026 “translate the warnings” was started [A#2]." in answer.text
    assert "On 27 Nov 2026 “Bruno looks after the ferries” was forgotten [F#2]." in answer.text
    answer = ask(shared, "¿qué cambió esta semana?")
    assert "El 26 de noviembre de 2026 se terminó «measure the late ferries» [A#3]." in answer.text
    assert "El 27 de noviembre de 2026 se reemplazó «The harbour office opens at 9» [F#1]." in answer.text
    replaced = ask(shared, "which decisions were replaced in November?").text
    assert replaced.endswith("was replaced [D#2]. “Timetables by the minute” took its place [D#4].")


def test_a_question_of_changes_goes_on_from_the_one_before(shared: Memory) -> None:
    librarian = Librarian(shared)
    first = librarian.ask("what changed today?")
    assert set(librarian.ask("and yesterday?", last=first).sources) == {"F#4", "A#2", "A#3"}
    first = librarian.ask("which tasks are open?")
    assert librarian.ask("and yesterday?", last=first).asked.filters["is"] == "open"


def test_what_changed_is_known_at_an_earlier_moment_too(ferry: Memory) -> None:
    when = point_in_time(ferry, "2026-11-26T23:00:00Z")
    with PastMemory(ferry.location, "cli", read_past(ferry, when)) as then:
        answer = ask(then, "what changed today?")
    assert set(answer.sources) == {"F#4", "A#2", "A#3"} and "measure the late ferries” was finished" in answer.text


def test_an_agent_is_not_sent_what_was_forgotten(ferry: Memory) -> None:
    found = recall_for_prompt(ferry, "what changed today?")
    assert pack_key("fact", 2) in found, "the answer names it"
    assert "Bruno looks" not in build_prompt_pack(ferry, "claude-code", "s", "what changed today?", found=found).text


# other words for the same


OPEN, ALL_OF_THE_WEEK = {"A#1", "A#2", "A#4"}, {"F#1", "F#2", "F#4", "F#5", "A#2", "A#3"}
AFTER = {*ALL_OF_THE_WEEK, "A#1", "A#4", "D#2", "D#4", NEWEST}


@each(
    "question, cited",
    [
        ("what haven't we finished yet?", OPEN),
        ("what have we not finished yet?", OPEN),
        ("what didn't we finish?", OPEN),
        ("what hasn't been done yet?", OPEN),
        ("¿qué no terminamos todavía?", OPEN),
        ("¿qué no hemos terminado aún?", OPEN),
        ("¿qué nos falta terminar?", OPEN),
        ("which tasks has nobody finished?", OPEN),
        ("is there anything that still needs doing?", OPEN),
        ("can I see the commits from May?", {"C#4a4a4a4"}),
        ("¿qué tareas no terminó nadie?", OPEN),
        ("what are we doing right now?", {"A#2"}),
        ("what are we working on at the moment?", {"A#2"}),
        ("what am I working on?", {"A#2"}),
        ("¿qué estamos haciendo ahora mismo?", {"A#2"}),
        ("anything new since yesterday?", ALL_OF_THE_WEEK),
        ("is there anything new this week?", ALL_OF_THE_WEEK),
        ("what's new this week?", ALL_OF_THE_WEEK),
        ("did anything change this week?", ALL_OF_THE_WEEK),
        ("¿algo nuevo desde ayer?", ALL_OF_THE_WEEK),
        ("¿hay alguna novedad esta semana?", ALL_OF_THE_WEEK),
        ("what have we done since the release?", AFTER),
        ("what has been done since the last release?", AFTER),
        ("¿qué hemos hecho desde el lanzamiento?", AFTER),
        ("¿qué se ha hecho desde la versión?", AFTER),
        ("what has Bruno done in May?", {"C#4a4a4a4"}),
        ("which tasks were done this week?", {"A#3"}),
        ("did someone finish a task this week?", {"A#3"}),
        ("which commits came after the release?", {NEWEST}),
        ("which commits were made since the release?", {NEWEST}),
        ("how many commits came after the last release?", {NEWEST}),
        ("¿qué commits hubo después del lanzamiento?", {NEWEST}),
        ("los commits de Bruno tras la versión", {NEWEST}),
        ("who wrote the last commit?", {NEWEST}),
        ("who added the last commit?", {NEWEST}),
        ("who made the first commit?", {"C#1a1a1a1"}),
        ("¿quién escribió el último commit?", {NEWEST}),
        ("Bruno's work in May", {"C#4a4a4a4"}),
        ("what did Bruno work on in May?", {"C#4a4a4a4"}),
        ("Bruno's work in March", set()),
        ("el trabajo de Bruno en mayo", {"C#4a4a4a4"}),
        ("¿qué cambios metió Bruno en mayo?", {"C#4a4a4a4"}),
        ("my commits from March", {"C#1a1a1a1", "C#2a2a2a2"}),
        ("mis commits de marzo", {"C#1a1a1a1", "C#2a2a2a2"}),
        ("everything from November about the cache", {NEWEST}),
        ("everything about the cache from June", {REVERT}),
        ("todo lo de noviembre sobre la caché", {NEWEST}),
        ("what did Bruno do in the spring?", {"C#3a3a3a3", "C#4a4a4a4"}),
        ("what did Bruno do last summer?", {"C#6a6a6a6"}),
        ("¿qué hizo Bruno en primavera?", {"C#3a3a3a3", "C#4a4a4a4"}),
        ("¿qué hizo Bruno el verano pasado?", {"C#6a6a6a6"}),
        ("which tasks did we open in November?", {"A#3", "A#4"}),
        ("which tasks did I open in November?", {"A#3", "A#4"}),
        ("which tasks were opened in October?", {"A#1", "A#2"}),
        ("¿qué tareas abrimos en noviembre?", {"A#3", "A#4"}),
        ("¿qué tareas se abrieron en octubre?", {"A#1", "A#2"}),
        ("which facts are out of date?", {"F#3"}),
        ("which facts are outdated?", {"F#3"}),
        ("¿qué hechos están viejos?", {"F#3"}),
        ("¿qué hechos están desactualizados?", {"F#3"}),
        ("which decisions still stand?", {"D#3", "D#4"}),
        ("which decisions are still valid?", {"D#3", "D#4"}),
        ("¿qué decisiones siguen vigentes?", {"D#3", "D#4"}),
        ("¿qué decisiones siguen en pie?", {"D#3", "D#4"}),
        ("decisions that are no longer valid", {"D#1", "D#2"}),
        ("which decisions no longer apply?", {"D#1", "D#2"}),
        ("¿qué decisiones ya no son válidas?", {"D#1", "D#2"}),
        ("has anybody recorded a decision this month?", {"D#4"}),
        ("¿alguien tomó alguna decisión este mes?", {"D#4"}),
        ("¿quién hizo el primer commit?", {"C#1a1a1a1"}),
        ("Ana's decisions this year", {"D#1", "D#2", "D#4"}),
        ("commits by Bruno after the release", {NEWEST}),
        ("what did Ana do in the summer?", {REVERT, "D#1"}),
        ("¿qué hizo Ana el verano pasado?", {REVERT, "D#1"}),
        ("¿en qué estamos trabajando?", {"A#2"}),
        ("when did I last commit?", {RELEASE}),
        # a word for any person is no word of a record
        ("did anyone commit anything on March 20?", {"C#2a2a2a2"}),
        ("did somebody commit something on 20 March?", {"C#2a2a2a2"}),
        ("¿alguien hizo algún commit el 20 de marzo?", {"C#2a2a2a2"}),
    ],
)
def test_a_question_of_the_data_is_understood_in_other_words_too(shared: Memory, question: str, cited: set[str]):
    answer = ask(shared, question)
    assert answer.asked.lists and shown(answer) == cited


@pytest.mark.parametrize(
    "question",
    [
        *("who decided on the cache?", "who chose to have a cache?"),
        *("¿quién decidió lo de la cache?", "¿quién eligió la cache de pages?"),
    ],
)
def test_who_decided_is_told_by_a_decision(shared: Memory, question: str) -> None:
    assert ask(shared, question).citations[0] == "D#1"
    assert "kind" not in parse_question("who decides what a page looks like?", shared).filters, "a fact may tell that"


@each(
    "question",
    [
        *("how do I revert D#1?", "how can I undo commit 5a5a5a5?", "what happened after the last commit?"),
        *("how does the cache work since the release?", "who works in March?", "what is in the winter timetable?"),
        *("does the spring cleaning touch the cache?", "how old is the cache?", "where do we stand?"),
        *("what no longer works?", "did anyone say where the key is?", "what do I need to open the kiosk?"),
        *("when did we open the harbour office?", "what's new in the cache?", "where does Bruno work?"),
        *("what did the release change?", "what should we do in summer about storms?", "what must I never do?"),
        *("¿cómo abrimos el kiosco?", "¿alguien sabe dónde está la llave?", "¿dónde trabaja Bruno?"),
        *("¿cuándo empieza el horario de invierno?", "¿qué significa vigente?", "¿cuál es mi clave?"),
        *("¿qué es lo nuevo de la caché?", "¿cómo deshago D#1?", "¿qué trabajo hace Bruno?"),
    ],
)
def test_what_only_looks_like_a_question_of_the_data_is_none(shared: Memory, question: str) -> None:
    assert not parse_question(question, shared).lists
