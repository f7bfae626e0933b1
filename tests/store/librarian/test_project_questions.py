"""Questions about a small project: who did what, what a commit reverted, and what changed since a day."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Clock
from support.cases import load_cases
from support.filled import own_memory, share_memory
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

CASES = load_cases(__file__)
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


shared, ferry = share_memory(fill_ferry), own_memory(fill_ferry)


def ask(memory: Memory, question: str) -> LibrarianAnswer:
    return Librarian(memory).ask(question)


def shown(answer: LibrarianAnswer) -> set[str]:
    """The records that an answer quotes, without those that are linked to them."""
    return {quote.citation for part in answer.parts for quote in part.quotes}.intersection(answer.sources)


# words for any person


@pytest.mark.parametrize("question", CASES["nothing"])
def test_nothing_of_that_time_is_shown_where_there_was_nothing(shared: Memory, question: str) -> None:
    answer = ask(shared, question)
    assert answer.nothing and not answer.citations and answer.asked.lists and not answer.asked.rest


@pytest.mark.parametrize("question", CASES["filtered"])
def test_a_filter_is_never_shown_over_what_it_does_not_let_pass(shared: Memory, question: str) -> None:
    answer = ask(shared, question)
    assert parse_question(question, shared).lists
    if answer.filter:
        assert shown(answer) <= {hit.citation for hit in shared.search(answer.filter, 500, meaning=False).hits}


# the person who asks


@each("question, cited", CASES["mine"])
def test_what_i_did_is_mine(shared: Memory, question: str, cited: str) -> None:
    answer = ask(shared, question)
    assert answer.asked.filters["by"] == "you"
    assert (shown(answer) == set(cited.split()) if answer.filter else not answer.exact) or answer.nothing


@each("question, number", CASES["counts"])
def test_a_count_is_of_what_the_person_recorded_or_of_what_changed(shared: Memory, question: str, number: str) -> None:
    assert number in ask(shared, question).text


@each("question", CASES["not_mine"])
def test_what_others_did_too_or_is_only_for_me_is_not_mine_alone(shared: Memory, question: str) -> None:
    filters = set(parse_question(question, shared).filters)
    assert "by" not in filters and not ("related" in question and {"linked", "is"} & filters)


def test_without_a_name_in_git_i_am_the_writer(shared: Memory, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "memory_repository", lambda database: None)
    assert ask(shared, "what did I commit in March?").nothing
    assert shown(ask(shared, "what did I do in March?")) == {"D#1"}
    assert ask(shared, "how many decisions did Ana make in March?").text.startswith("0 decisions")


# links, and what was reverted


@each("question, cited", CASES["linked"])
def test_what_is_linked_is_of_that_link_and_a_revert_of_its_time(shared: Memory, question: str, cited: str):
    answer = ask(shared, question)
    assert shown(answer) == set(() if answer.nothing else answer.sources) == set(cited.split()) and answer.filter


@each("question, cited", CASES["whether"])
def test_whether_a_record_is_so_is_answered_by_that_record_alone(shared: Memory, question: str, cited: str) -> None:
    assert ask(shared, question).sources == (cited,)


# what changed


@each("question, cited", CASES["changed"])
def test_what_changed_is_what_history_says(shared: Memory, question: str, cited: str) -> None:
    answer = ask(shared, question)
    assert answer.asked.lists
    assert set(() if answer.nothing else answer.sources) == shown(answer) == set(cited.split())


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


@each("question, cited", CASES["other_words"])
def test_a_question_of_the_data_is_understood_in_other_words_too(shared: Memory, question: str, cited: str):
    answer = ask(shared, question)
    assert answer.asked.lists and shown(answer) == set(cited.split())


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


@each("question", CASES["no_data"])
def test_what_only_looks_like_a_question_of_the_data_is_none(shared: Memory, question: str) -> None:
    assert not parse_question(question, shared).lists
