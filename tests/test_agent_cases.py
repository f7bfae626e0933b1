"""The cases that judge the agent can be met, and the judge tells right from wrong."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bench.agent_answers import MEMORY, remembered, score
from bench.agent_asking import TASKS
from bench.agent_scores import cited, grounds, has, refused, rests, says, without_citations
from store.base.citations import parse_citation
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.librarian.question import ParsedQuestion
from store.search import lookup

CASES = [json.loads(line) for line in (Path(MEMORY).parent / "agent.jsonl").read_text(encoding="utf-8").splitlines()]
CONTENT = json.loads(Path(MEMORY).read_text(encoding="utf-8"))


def answer(*sentences: str, nothing: bool = False) -> LibrarianAnswer:
    told = tuple(CitedSentence(sentence, ()) for sentence in sentences)
    return LibrarianAnswer(ParsedQuestion("q", "en", "what", ()), told, (), seconds=0.1, nothing=nothing)


def of(kind: str) -> list[dict]:
    return [case for case in CASES if case["kind"] == kind]


def test_there_are_cases_of_every_task_in_both_languages_and_halves() -> None:
    assert {case["kind"] for case in CASES} == set(TASKS)
    for kind in TASKS:
        assert len({(case["lang"], case["split"]) for case in of(kind)}) == 4, kind
    assert Counter(case["split"] for case in CASES)["held"] > 60


def test_what_a_case_wants_stands_in_it() -> None:
    """Else nobody could find it."""
    for case in of("extract"):
        for fact in case["facts"]:
            assert all(has(case["text"], word) for word in fact["has"]), fact
        assert all(has(case["text"], word) for beside in case["also"] for word in beside), case["text"]
    for case in of("summarise"):
        said = " ".join(turn["text"] for turn in case["turns"])
        assert all(has(said, word) for word in (*case["topic"], *case["decided"], *case["refused"], *case["open"]))
        assert not any(has(said, word) for word in case["never"])
    for case in of("slug"):
        assert has(case["turns"][0]["text"], case["has"])


@pytest.mark.parametrize("name", ["agent", "clinic"])
def test_every_record_that_a_question_wants_is_in_the_memory_and_says_it(name: str, tmp_path: Path) -> None:
    folder = Path(MEMORY).parent
    clinic = (folder / "clinic.jsonl").read_text(encoding="utf-8").splitlines()
    content = CONTENT if name == "agent" else json.loads((folder / "clinic.json").read_text(encoding="utf-8"))
    known = grounds(content)
    with remembered(str(tmp_path / ".memoranda" / "memory.db"), content, embedded=False) as memory:
        for one in known:
            assert lookup.get_record(memory.database, parse_citation(one)), one
        times = dict(memory.database.rows("SELECT id, decided_at FROM decisions"))
    assert [times[number] for number in sorted(times)] == [one["at"] for one in content["decisions"]]
    for case in of("answer") if name == "agent" else map(json.loads, clinic):
        assert {*case["cites"], *case["also"]} <= set(known)
        if case["cites"]:
            said = " ".join(known[name] for name in case["cites"])
            assert all(has(said, word) for word in case["has"]), case["question"]


@pytest.mark.parametrize(
    ("said", "ground", "stands"),
    [
        ("Pays 0.8 % to Adyen", "We pay 0.8 % commission to Adyen", True),
        ("Pays 0.9 % to Adyen", "We pay 0.8 % commission to Adyen", False),
        ("We pay the whole commission to Stripe", "We pay the whole commission to Adyen", False),
        ("Es alérgica al maní", "soy alérgica al maní", True),
        ("Trabaja en una panadería de noche", "soy alérgica al maní", False),
    ],
)
def test_what_is_said_rests_on_what_was_said(said: str, ground: str, stands: bool) -> None:
    assert rests(said, ground) is stands


ALLERGIC, SESSIONS = "Ana is allergic to peanuts", "Sessions expire after 30 minutes"
RETRIES = "Login retries 3 times with a timeout of 10 seconds"


@pytest.mark.parametrize(
    ("said", "ground", "stands"),
    [
        (ALLERGIC, ALLERGIC, True),
        ("Ana can eat peanuts", ALLERGIC, False),
        ("Ana can safely eat peanuts", ALLERGIC, False),
        ("Ana loves peanuts", ALLERGIC, False),
        ("Ana is not allergic to peanuts", ALLERGIC, False),
        ("After 30 minutes sessions expire", SESSIONS, True),
        ("Sessions expire after 30 days", SESSIONS, False),
        ("Sessions never expire after 30 minutes", SESSIONS, False),
        (RETRIES, RETRIES, True),
        ("Login retries 10 times with a timeout of 3 seconds", RETRIES, False),
        ("Login retries 3 times with a timeout of 10 minutes", RETRIES, False),
        ("Elías comes on Tuesdays", "Elías, the accountant, comes on Tuesdays", True),
        ("Elías never comes on Tuesdays", "Elías, the accountant, comes on Tuesdays", False),
        ("Elías fired the accountant on Tuesday", "Elías, the accountant, comes on Tuesdays", False),
        ("One file, with no service to run", "One file and no service to run", True),
        ("One file, with a service to run", "One file and no service to run", False),
        ("Nadie abre las cajas", "Nadie abre las cajas viejas", True),
        ("La gente abre las cajas", "Nadie abre las cajas viejas", False),
        ("Over time MongoDB was chosen", "Use SQLite. SQLite in WAL mode. MongoDB", False),
        ("Redis 7 was chosen because it is slow", "Cache pages Redis 7 fast", False),
    ],
)
def test_a_record_says_what_is_said_of_it(said: str, ground: str, stands: bool) -> None:
    assert says(said, ground) is stands


@pytest.mark.parametrize(
    ("said", "sound"),
    [
        ("Kafka was chosen for the message queue [D#2].", 0),
        ("RabbitMQ was chosen, for Kafka needs three machines [D#2].", 1),
        ("Postgres was chosen [D#1].", 0),
        ("SQLite was chosen instead of Postgres [D#1].", 1),
        ("Over time MariaDB was chosen [D#1].", 0),
        ("Se eligió SQLite en lugar de Postgres y MariaDB [D#1].", 1),
        ("Se usa bcrypt para las contraseñas de los usuarios [D#4].", 0),
    ],
)
def test_an_option_that_was_not_taken_is_no_sound_answer(said: str, sound: int) -> None:
    case = next(case for case in of("answer") if case["question"].startswith("What was decided about message queues"))
    assert score(case, answer(said))["cited"] == sound


def test_an_option_in_a_list_of_what_was_not_taken_is_sound_however_long_the_list_is() -> None:
    long = "a very long option, of so many words that they fill a line"
    assert refused(f"It was “SQLite”, instead of “{long}”, “Postgres” [D#1].", ["Postgres"], "SQLite", "")
    assert not refused(f"It was “SQLite”, with “{long}”, “Postgres” [D#1].", ["Postgres"], "SQLite", "")


def test_an_answer_is_right_with_its_record_and_sound_with_its_words() -> None:
    case = next(case for case in of("answer") if case["question"].startswith("What was decided about message queues"))
    good = score(case, answer("RabbitMQ was chosen, for Kafka needs three machines [D#2]."))
    assert (good["answered"], good["cited"], good["sentences"], good["missed"]) == (1, 1, 1, 0)
    assert score(case, answer("RabbitMQ was chosen [D#3]."))["answered"] == 0, "from another record"
    both = "decisions with “rabbitmq”: “Message queue between offices” [D#2], “Formato de los reportes” [D#3]."
    assert score(case, answer(f"There are 2 {both}"))["cited"] == 1, "it names what it counts"
    assert score(case, answer(f"There are 9 {both}"))["cited"] == 0
    assert score(case, answer("RabbitMQ was chosen for 950 euros [D#2]."))["cited"] == 0, "a figure of nobody's"
    assert score(case, answer("RabbitMQ was chosen."))["cited"] == 0, "no citation"
    assert score(case, answer("There are no records about that.", nothing=True))["answered"] == 0
    nothing = next(case for case in of("answer") if case["sort"] == "nothing")
    assert score(nothing, answer("There are no records about that.", nothing=True))["refused"] == 1
    assert score(nothing, answer("It is blue [D#1]."))["refused"] == 0


def test_found_and_false_are_counted_of_what_was_told() -> None:
    case = next(case for case in of("extract") if "Adyen" in case["text"])
    count = TASKS["extract"].score(case, ([("We pay 0.8 % commission to Adyen", "work")], 1, 0))
    assert (count["found"], count["wanted"], count["false"], count["valid"], count["asked"]) == (1, 1, 0, 1, 1)
    count = TASKS["extract"].score(case, ([("Likes tea", "personal")], 1, 1))
    assert (count["found"], count["false"], count["grounded"], count["valid"]) == (0, 1, 0, 0)


def test_a_decision_for_what_was_left_is_wrong() -> None:
    from store.conversations.summaries import SummaryFields

    case = next(case for case in of("summarise") if "Grafana" in case["turns"][1]["text"])
    good = SummaryFields("the Datadog plan", (), "", ("Let's go with Grafana",))
    bad = SummaryFields("the Datadog plan", (), "", ("buy the Datadog plan",))
    assert TASKS["summarise"].score(case, (good, 1, 0))["right"] == 1
    assert TASKS["summarise"].score(case, (bad, 1, 0))["wrong"] == 1


def test_sentences_are_read_without_their_citations() -> None:
    said = "On 15 Jul 2026 it was decided [D#2]."
    assert cited(said) == ["D#2"] and "D#2" not in without_citations(said)
    assert says(without_citations(said), grounds(CONTENT)["D#2"])
