"""Long texts are found by passage, what stands word for word comes first, code weighs less than speech."""

import textwrap
from collections.abc import Iterator

import pytest

from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.memory import Memory

PADDING = "The weather in the valley was mild and the road was dry. " * 12
REPLY = f"{PADDING}\n\nThe staging password rotates every ninety days.\n\n{PADDING}"
WORDS = "northern southern eastern western upper lower inner outer first second third fourth fifth sixth".split()
CODE = "```python\ndef getUserName(account):\n    return account.rotation_days\n```"


@pytest.fixture(params=["", "fts5"])
def memory(request: pytest.FixtureRequest, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """With the keyword index, and without it."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", f"model {request.param}")
    with Memory.open(memory.database.path, clock=memory.database.clock) as again:
        yield again


def say(memory: Memory, *texts: str) -> None:
    roles = ("user", "assistant")
    memory.turns.add_turns("s", [NewTurn(roles[place % 2], text) for place, text in enumerate(texts)])


def test_a_long_reply_is_found_by_its_passage_once(memory: Memory) -> None:
    """With the passage as its snippet, and where it begins."""
    say(memory, "How long is it valid?", REPLY)
    (hit,) = [hit for hit in memory.search("staging password ninety").hits if hit.citation == "T#2"]
    assert "rotates every ninety days" in hit.snippet and hit.level == "exact"
    assert hit.start > 400 and "The staging password" in REPLY[hit.start : hit.start + 600]


def test_a_reply_does_not_hide_the_sentence_it_repeats(memory: Memory) -> None:
    """Word for word in both: the shorter one first."""
    asked = "The staging password rotates every ninety days."
    say(memory, asked, f"{PADDING}{asked} {asked} You said: {asked}")
    answer = memory.search(asked)
    assert [hit.citation for hit in answer.hits[:2]] == ["T#1", "T#2"] and answer.verdict == "exact"


def test_what_was_said_stands_above_the_summary_that_repeats_it(memory: Memory) -> None:
    """Although the summary is shorter."""
    said = "The staging password rotates every ninety days since the audit."
    say(memory, f"{said} The weather in the valley was mild.\n\n{PADDING}", "Noted.")
    assert Summaries(memory.database).summarize_due("s", all_of_it=True)
    found = [(hit.kind, hit.level) for hit in memory.search(said).hits[:2]]
    assert found == [("turn", "exact"), ("summary", "exact")]


def test_a_sentence_of_a_text_with_short_lines_is_exact(memory: Memory) -> None:
    """As agents that write for a terminal break theirs: no passage ends within one."""
    said = [f"The {word} gate of the old harbour is kept by a guard who has the {word} key of it." for word in WORDS]
    say(memory, "Who has them?", textwrap.fill(" ".join(said), 72))
    for sentence in said:
        assert memory.search(sentence).hits[0].level == "exact"
        assert [hit.citation for hit in memory.search(f'"{sentence}"').hits] == ["T#2"]


def test_quotes_force_what_they_hold(memory: Memory) -> None:
    """In this order, or nothing is found."""
    memory.facts.remember("the ninety days of the staging password")
    memory.facts.remember("the password of staging lasts ninety days")
    assert {hit.citation for hit in memory.search("staging password").hits} == {"F#1", "F#2"}
    assert {hit.citation for hit in memory.search('"staging password"').hits} == {"F#1"}
    assert memory.search('"password staging"').verdict == "nothing"


def test_a_question_that_quotes_what_no_record_contains_is_asked_without_the_quotes(memory: Memory) -> None:
    """As somebody asks in another language than the records; what is quoted alone is a demand."""
    memory.facts.remember("The staging password rotates every ninety days")
    answer = memory.search("how long is the «contraseña» of staging valid, the password?")
    assert [hit.citation for hit in answer.hits] == ["F#1"] and answer.verdict == "near"
    assert answer.notes == ["No record contains “contraseña”: searched without the quotation marks."]
    assert not memory.search('a "zyxwvu" vwxyz').hits
    quoted = memory.search('how long is the "staging password" valid?')
    assert [hit.citation for hit in quoted.hits] == ["F#1"] and not quoted.notes


def test_an_identifier_is_found_whole_and_by_its_words(memory: Memory) -> None:
    """As it is written first; by its parts too."""
    say(memory, "Who wrote it?", CODE, "The name of the user is Ana.")
    assert memory.search("getUserName").hits[0].citation == "T#2"
    assert memory.search("getUserName").hits[0].level == "exact"
    assert "T#2" in {hit.citation for hit in memory.search("user name").hits}
    assert memory.search("rotation_days").hits[0].citation == "T#2"


def test_code_is_looked_for_alone_where_that_is_asked(memory: Memory) -> None:
    """in:code passes nothing else."""
    say(memory, "account rotation is due", CODE)
    assert {hit.citation for hit in memory.search("account").hits} == {"T#1", "T#2"}
    assert {hit.citation for hit in memory.search("account in:code").hits} == {"T#2"}
    assert memory.search("account in:speech").notes == ["in: takes code, inbox"]


def test_code_alone_is_shown_by_its_code_and_not_by_how_the_reply_begins(memory: Memory) -> None:
    """Without a word to look for."""
    say(memory, "Who wrote it?", f"{PADDING}\n\n{CODE}")
    (hit,) = memory.search("in:code").hits
    assert hit.snippet.startswith("… ```python") and hit.line == 3


def test_a_log_pasted_without_a_fence_is_found_as_code(memory: Memory) -> None:
    """As it is pasted, one line or many."""
    say(memory, '10.2.3.4 - - [24/Nov/2026:10:00:10 +0000] "GET /health HTTP/1.1" 504 2 "-" "kube-probe/1.27"')
    assert [hit.citation for hit in memory.search("504 in:code").hits] == ["T#1"]


def test_a_word_that_stands_nowhere_finds_the_longer_ones_that_begin_with_it(memory: Memory) -> None:
    """One that stands somewhere is looked for as it is."""
    memory.facts.remember("Las tarjetas españolas fallan en el cobro")
    memory.facts.remember("El espacio de la oficina es pequeño")
    assert [hit.citation for hit in memory.search("¿español, por qué?").hits] == ["F#1"]
    memory.facts.remember("El manual está en español")
    assert [hit.citation for hit in memory.search("¿español, por qué?").hits] == ["F#3"]


def test_a_nonsense_word_finds_nothing(memory: Memory) -> None:
    """And nothing is shown as near."""
    say(memory, "account rotation is due", REPLY)
    answer = memory.search("xqzzy")
    assert (answer.verdict, answer.hits, answer.nearest, answer.total) == ("nothing", [], [], 0)


def test_some_of_the_words_are_near_and_all_are_exact(memory: Memory) -> None:
    """And how many are exact is counted."""
    memory.facts.remember("the red kettle is in the kitchen")
    memory.facts.remember("the red door is open")
    answer = memory.search("red kettle")
    assert [(hit.citation, hit.level) for hit in answer.hits] == [("F#1", "exact"), ("F#2", "near")]
    assert (answer.exact, answer.total, answer.verdict) == (1, 2, "exact")


@pytest.mark.parametrize(
    ("query", "level"),
    [
        ("marta.quiroga@tienda.example", "exact"),
        ("who is marta.quiroga@tienda.example?", "exact"),
        ("marta.quiroga@otra.example", "near"),
        ("https://tienda.example/api/all", "exact"),
        ("tienda.example/que/donde", "near"),
        ("config/on/start", "near"),
        ("the config of the start", "exact"),
    ],
)
def test_words_that_say_little_tell_one_name_from_another(memory: Memory, query: str, level: str) -> None:
    """Elsewhere they are left out."""
    memory.facts.remember("Write to marta.quiroga@tienda.example for the invoices")
    memory.facts.remember("Orders are at https://tienda.example/api/all for partners")
    memory.facts.remember("The config/start file is read first")
    assert memory.search(query, meaning=False).hits[0].level == level


def test_what_a_long_text_holds_in_several_passages_is_near(memory: Memory) -> None:
    filler = "A feature flag hides the button until the warehouse confirms stock. " * 12
    memory.turns.add_turns("s", [NewTurn("user", f"Stripe closes idle connections. {filler} Adyen keeps them open.")])
    assert memory.search("Stripe connections idle").hits[0].level == "exact"
    assert memory.search("Stripe Adyen connections").hits[0].level == "near"


def test_words_that_symbols_join_are_searched_for_together(memory: Memory) -> None:
    """Though each of them occurs more often in another record."""
    memory.facts.remember("Version 9 of the sphinx theme and version 9 of the sphinx builder came after sphinx 8 and 9")
    memory.facts.remember("The build has a pin on sphinx<9 since the autumn, which nobody likes")
    assert memory.search("why is there a sphinx<9 there?", meaning=False).hits[0].citation == "F#2"


def test_a_last_word_that_says_nothing_is_not_taken_for_the_beginning_of_another(memory: Memory) -> None:
    """Whoever types a question leaves its mark out."""
    memory.facts.remember("The harbour is dredged with a withered bucket")
    memory.facts.remember("Our airline is the one of the island")
    assert [hit.citation for hit in memory.search("which airline do we fly with", meaning=False).hits] == ["F#2"]
    assert memory.search("with", meaning=False).hits[0].citation == "F#1"


def test_a_decision_holds_the_options_that_it_did_not_take(memory: Memory) -> None:
    """As it is shown with them; what stands around a turn is not in it."""
    memory.decisions.decide("Store of invoices", "SQLite", alternatives=("DuckDB",))
    assert [(hit.citation, hit.level) for hit in memory.search("DuckDB invoices").hits] == [("D#1", "exact")]
    say(memory, "Shall we look at Parquet?", "Rather not, no.")
    levels = {hit.citation: hit.level for hit in memory.search("Parquet").hits}
    assert levels["T#1"] == "exact" and levels.get("T#2") != "exact"


def test_a_conversation_that_was_brought_in_is_as_old_as_it_is(memory: Memory) -> None:
    """What the latest of two says stands first, though the older one was summed up last."""
    said = (
        ("b", "raised the rate limit to 250 for all clients", "2026-10-10"),
        ("a", "the rate limit is 100", "2026-08-01"),
    )
    for session, text, at in said:
        memory.turns.add_turns(session, [NewTurn("user", text, at=at)])
        assert Summaries(memory.database).summarize_due(session, all_of_it=True)
    found = [hit.record.session for hit in memory.search("what is the rate limit now").hits if hit.kind == "summary"]
    assert found == ["b", "a"]


def test_before_and_since_a_date_is_the_time_on_that_side_of_it(memory: Memory) -> None:
    for text, at in (("the rate limit is 100", "2026-08-01"), ("the rate limit is 250", "2026-10-10")):
        memory.turns.add_turns(at, [NewTurn("user", text, at=at)])
    assert memory.search("what was the rate limit before October?").hits[0].citation == "T#1"
    assert memory.search("what is the rate limit since September?").hits[0].citation == "T#2"


def test_several_are_asked_for_and_one_talk_does_not_take_all_places(memory: Memory) -> None:
    """The answers to "which trips" are in several conversations."""
    lake = ("we booked the boat for the lake tour", "we ate trout at the lake", "the lake was cold", "the lake house")
    say(memory, *lake)
    seldom = "my sister once went to a lake with all of her school friends from the village"
    memory.turns.add_turns("other", [NewTurn("user", seldom)])
    found = [hit.record.text for hit in memory.search("which trips to the lake were there").hits]
    assert found.index(seldom) < len(lake) and set(lake) < set(found)
