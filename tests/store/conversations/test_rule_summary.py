"""What a rule writes of a conversation is what was said: whole sentences, word for word, each with its negation, its
condition, its question mark and its quotation; an answer stands beside its own question, or is left out.

The sentences here are generated whole, so that the tests know where each begins and ends without asking the code.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import load_cases

from store.base.models import Turn
from store.conversations.sessions import Sessions
from store.conversations.summaries import SUMMARY_TOKENS, Summaries, SummaryFields, summarize_by_rule
from store.conversations.turns import NewTurn
from store.exchange.exporter import save_export
from store.exchange.importer import Import
from store.history.checkpoint_payload import gather_contents
from store.inbox.duplicates import join_fact_texts
from store.ingest.runner import ingest_file
from store.learning.rules import extract_by_rule
from store.librarian.answer import MAX_QUOTE_CHARACTERS, find_quote_span
from store.memory import Memory
from store.text.sentences import is_small_talk
from store.upkeep import session_flush

CASES = load_cases(__file__)
OPENINGS = "|No, |Sí, |Bueno, |Ok, |Pero |Ya no |Yes, |No: |Well, |So |But |Gracias, ".split("|")
NAMES = ["MongoDB", "SQLite", "Redis", "el caché", "the queue", "`api.py`"]
TURNED_ROUND = "no usamos|no decidimos|never decided|nunca usamos|don't|mentira|no le creí|not so|no es cierto|not true"
TURNED_ROUND = (*TURNED_ROUND.split("|"), "ya no ")
SMALL = ["Hola!", "Gracias!", "¡Muchas gracias!", "Thanks a lot!", "Hi there!", "¿Qué tal?"]


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """One whole sentence, as somebody writes it."""
    name = draw(st.sampled_from(NAMES))
    if draw(st.integers(0, 3)) == 0:
        opening = draw(st.sampled_from(["", "No, ", "Sí, ", "Pero ", "But "]))
        return opening + draw(st.sampled_from(CASES["asked"])).format(name)
    said = draw(st.sampled_from(OPENINGS)) + draw(st.sampled_from(CASES["forms"])).format(name)
    return said[0].upper() + said[1:] + ("" if said.endswith("Kafka") else draw(st.sampled_from([".", "!", "…"])))


@st.composite
def talks(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Who said which sentences."""
    roles = st.sampled_from(["user", "assistant"])
    said = st.lists(st.one_of(sentences(), st.sampled_from(SMALL)), min_size=1, max_size=4)
    return draw(st.lists(st.tuples(roles, said), min_size=1, max_size=5))


def written(said: Sequence[str]) -> str:
    """Sentences as one turn: a list is a paragraph of its own."""
    return "".join(one + ("\n\n" if one.endswith("Kafka") else " ") for one in said)


def flat(text: str) -> str:
    return " ".join(text.split())


def turn(number: int, role: str, text: str) -> Turn:
    return Turn(number, "s", number, role, "", text, "2026-11-20T10:00:00.000Z", 5, None, "agent")


def turns(*said: tuple[str, str]) -> list[Turn]:
    return [turn(number, role, text) for number, (role, text) in enumerate(said, start=1)]


def say(memory: Memory, *texts: str) -> None:
    """A person and the assistant say this in the session `s`, in turn."""
    memory.turns.add_turns("s", [NewTurn(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)])


def fields(one: object) -> Iterator[str]:
    yield from (text for text in (one.topic, one.outcome, *one.decisions, *one.open_questions) if text)  # type: ignore[attr-defined]


@given(talks())
@settings(deadline=None, max_examples=examples(14))
def test_a_summary_holds_whole_sentences_and_no_small_talk(talk: list[tuple[str, list[str]]]) -> None:
    one = summarize_by_rule(turns(*((role, written(said)) for role, said in talk)))
    whole = {flat(sentence) for _, said in talk for sentence in said}
    assert set(fields(one)) <= whole - {flat(small) for small in SMALL}
    assert all(not text.endswith("?") for text in one.decisions)
    mine = {flat(sentence) for role, said in talk if role == "user" for sentence in said}
    assert set(one.decisions) <= mine, "what the assistant says decides nothing"
    told = [text.lower() for text in one.decisions]
    assert not any(form in text for text in told for form in TURNED_ROUND), "neither denied nor supposed nor quoted"
    assert_outcome_is_a_reply(one, talk)


PIECES = 'No usamos|MongoDB|si|que|.|\n|\n\n|:|- |> |```|"|«|»|(|~~|# |?| '.split("|")


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=14).map(" ".join))
@settings(deadline=None, max_examples=examples(17))
def test_of_any_text_only_its_own_words_in_a_row_are_told(text: str) -> None:
    """However its marks of quotation, lists and code are left open."""
    for one in fields(summarize_by_rule(turns(("user", text)))):
        assert one in flat(text)


def assert_outcome_is_a_reply(one: SummaryFields, talk: list[tuple[str, list[str]]]) -> None:
    """It was said between the turn of the topic and the next one of that person; and where the topic asks, it is the
    first thing that was answered, to the only question of the turn."""
    if not one.outcome:
        return
    meant = False
    for at, (role, said) in enumerate(talk):
        if role != "user" or one.topic not in map(flat, said):
            continue
        reply: list[str] = []
        for other, answer in talk[at + 1 :]:
            if other == "user":
                break
            reply += [flat(text) for text in answer if not is_small_talk(text)]
        asked = [flat(text) for text in said if text.endswith("?") and not is_small_talk(text)]
        meant |= one.outcome in reply and (one.topic not in asked or (len(asked) == 1 and reply[0] == one.outcome))
    assert meant


@given(st.lists(sentences(), min_size=1, max_size=4))
@settings(deadline=None, max_examples=examples(17))
def test_what_is_learned_by_rule_keeps_its_negation(said: list[str]) -> None:
    """It ends where its sentence does, and nothing that turns it round stands in what was cut off before it."""
    whole = {flat(sentence) for sentence in said}
    for found in extract_by_rule("user", written(said)):
        text = found.text.lower()
        fits = [one for one in whole if one.lower().rstrip(".!… ").endswith(text)]
        assert fits, found.text
        cut = [one.lower()[: one.lower().rindex(text)] for one in fits]
        left = {before.replace("recordá que", "").replace("remember that", "").strip(" ,:") for before in cut}
        assert left & {"", *(opening.strip(" ,:").lower() for opening in OPENINGS if opening != "Ya no ")}, cut


@pytest.mark.parametrize(
    "text",
    ["It is not true that we use MongoDB.", "It is not true that\nwe use MongoDB.", "No es cierto que usamos MongoDB."],
)
def test_what_is_said_not_to_be_true_is_not_learned(text: str) -> None:
    assert not extract_by_rule("user", text)


@pytest.mark.parametrize("said, kept", CASES["quotations"])
def test_a_quotation_is_not_parted(said: str, kept: list[str]) -> None:
    """A sentence ends where its own words do, not where those that it quotes do."""
    found = [found.text for found in extract_by_rule("user", said)]
    assert len(found) >= len(kept) and all(part in text for part, text in zip(kept, found, strict=False)), found


@pytest.mark.parametrize("said, kept", CASES["no"])
def test_a_no_that_no_sign_parts_from_its_verb_stays_with_it(said: str, kept: str) -> None:
    assert [found.text for found in extract_by_rule("user", said)] == [kept]


@given(st.lists(sentences(), min_size=1, max_size=4))
@settings(deadline=None, max_examples=examples(7))
def test_several_facts_in_one_say_each_of_them_whole(facts: list[str]) -> None:
    """Each as it is, none left out because another holds its words: `no usamos X` holds `usamos X`."""
    told = join_fact_texts(facts)
    for fact in facts if told else []:
        assert flat(fact).rstrip(".!… ").lower() in told.lower()
    parts = told.split("; ") if told else []
    assert {part.lower().rstrip(".!… ") for part in parts} <= {flat(fact).lower().rstrip(".!… ") for fact in facts}


@pytest.mark.parametrize("said", ["No usamos MongoDB", "Si no puede citar, no responde", "Yes, but not in production."])
def test_the_sentences_that_were_turned_round_stand_as_they_were(memory: Memory, said: str) -> None:
    """In the summary, and in what the Librarian and a checkpoint tell of it."""
    say(memory, said)
    session_flush.flush_session(memory)
    (one,) = Summaries(memory.database).list_of_session("s")
    assert (one.topic, one.decisions) == (said, ())
    assert gather_contents(memory.database, memory.now, "s").summary == said


def test_the_librarian_quotes_whole_sentences() -> None:
    text = "Usamos MongoDB en las pruebas. " * 8 + "En producción no usamos MongoDB, salvo que Ana diga lo contrario."
    start, end = find_quote_span(text, (), MAX_QUOTE_CHARACTERS)
    assert text[start:end] == ("Usamos MongoDB en las pruebas. " * 8).strip()


def test_a_retracted_decision_is_not_told(memory: Memory) -> None:
    for talk in (
        [("user", "Vamos con MongoDB."), ("assistant", "¿Seguro?"), ("user", "No.")],
        [("user", "We'll use MongoDB. Actually no, not MongoDB."), ("assistant", "Fine.")],
        [("user", "Usamos Redis."), ("assistant", "Listo."), ("user", "Ya no usamos Redis.")],
    ):
        assert summarize_by_rule(turns(*talk)).decisions == ()
    kept = summarize_by_rule(turns(("user", "Vamos con MongoDB."), ("user", "No, mejor vamos con SQLite.")))
    assert kept.decisions == ("No, mejor vamos con SQLite.",)
    second = f"En realidad decidimos usar {'otra cosa ' * 30}."
    first = summarize_by_rule(turns(("user", "Vamos con MongoDB."), ("user", second)))
    assert first.decisions == (), "a later one for which there is no room takes the earlier out with it"


def test_what_is_too_long_is_left_out_whole() -> None:
    long = "We keep the importer as it is, but only if the supplier " + "signs again and " * 12 + "pays."
    one = summarize_by_rule(turns(("user", f"{long} The rest is short."), ("assistant", long)))
    assert (one.topic, one.outcome) == ("The rest is short.", "")
    assert summarize_by_rule(turns(("user", long))).topic == ""
    assert SUMMARY_TOKENS == 50


def test_a_checkpoint_is_called_by_a_whole_sentence(memory: Memory) -> None:
    long = "We keep the importer as it is, but only if the supplier " + "signs again and " * 12 + "pays."
    said = ("Si falla la red,\nno guardamos nada.", f"Thanks! {long}")
    memory.turns.add_turns("s", [NewTurn("user", text) for text in said])
    assert gather_contents(memory.database, memory.now, "s").summary == "Si falla la red, no guardamos nada."


def test_code_quotations_and_lists_are_not_taken_apart() -> None:
    for said in (
        "No estoy de acuerdo con\n> usamos MongoDB\nporque es lento.",
        "No queremos\n```\nusamos MongoDB\n```\nen producción.",
        "~~Usamos MongoDB~~.",
    ):
        assert list(fields(summarize_by_rule(turns(("user", said))))) == []
    listed = summarize_by_rule(turns(("user", "We reject:\n\n- we'll use MongoDB.\n- Redis.")))
    assert listed.topic == "We reject: - we'll use MongoDB. - Redis." and listed.decisions == ()
    falls = summarize_by_rule(turns(("user", "This is false:\n\nWe'll use MongoDB.\n\nThe rest is fine.")))
    assert falls.topic == "This is false: We'll use MongoDB." and falls.decisions == ()


# sessions that nobody summarised -------------------------------------------------------------------------------------


def test_a_question_stays_with_its_answer(memory: Memory) -> None:
    """A summary of three turns does not end with what the fourth answers, and tells nothing answered as open."""
    ports = {"API": "8091", "metrics": "9100", "docs": "8092", "queue": "8093"}
    for name, port in ports.items():
        say(memory, f"Which port has {name}?", f"It is {port}.")
    session_flush.flush_session(memory)
    found = Summaries(memory.database).list_of_session("s")
    told = [(f"Which port has {name}?", f"It is {port}.") for name, port in ports.items()]
    assert [(one.topic, one.outcome) for one in found] == told
    assert [one.open_questions for one in found] == [()] * 4


def test_sessions_that_came_from_elsewhere_are_summarised(memory: Memory, tmp_path: Path) -> None:
    """However old they are: read from a transcript, or from another memory's export."""
    file = tmp_path / "talk.jsonl"
    file.write_text(
        '{"session": "old", "role": "user", "text": "No usamos MongoDB.", "at": "2026-01-02T10:00:00Z"}\n'
        '{"session": "old", "role": "assistant", "text": "Anotado.", "at": "2026-01-02T10:01:00Z"}\n'
    )
    ingest_file(memory.database, str(file))
    session_flush.flush_due_sessions(memory)
    (one,) = Summaries(memory.database).list_of_session("old")
    assert (one.topic, one.first, one.last) == ("No usamos MongoDB.", 1, 2)
    with Memory.open(str(tmp_path / "other" / "memory.db"), clock=memory.database.clock) as other:
        said = NewTurn("user", "Si falla la red, no guardamos nada.", at="2026-02-03T10:00:00Z")
        other.turns.add_turns("theirs", [said])
        document = tmp_path / "other.json"
        save_export(other.database, str(document), False)
    with Import(memory.database, str(document)) as brought:
        brought.apply_import()
    assert Sessions(memory.database).get("theirs").turns == 1
    session_flush.summarize_ended_sessions(memory)
    assert [one.topic for one in Summaries(memory.database).list_of_session("theirs")] == [
        "Si falla la red, no guardamos nada."
    ]
    session_flush.summarize_ended_sessions(memory)
    assert len(Summaries(memory.database).list_of_session("theirs")) == 1


def test_of_small_talk_nothing_is_told(memory: Memory) -> None:
    """It counts as summarised, and takes no place among the active ones."""
    say(memory, "Hola!", "¡Hola! ¿En qué te ayudo?")
    session_flush.flush_session(memory)
    (one,) = Summaries(memory.database).list_of_session("s")
    assert (one.topic, one.prompt_line, one.tokens, Summaries(memory.database).active("s")) == ("", "", 0, [])
    session_flush.flush_session(memory)
    assert len(Summaries(memory.database).list_of_session("s")) == 1


# a change of topic ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", CASES["changes"])
def test_a_change_of_topic_begins_the_window_and_closes_what_was_before(memory: Memory, said: str) -> None:
    say(memory, "No usamos MongoDB.", "Anotado.", said, "In May.")
    assert [turn.number for turn in memory.turns.window("s")] == [3, 4]
    before = {one.name: one.text for one in memory.context("", "s").parts}["summaries"]
    assert "[T#1] topic: No usamos MongoDB." in before, "it is told at once, though nobody summarised it yet"
    session_flush.flush_due_sessions(memory)
    (one,) = Summaries(memory.database).list_of_session("s")
    assert (one.first, one.last, one.topic) == (1, 2, "No usamos MongoDB.")
    context = memory.context("", "s")
    part = {one.name: one.text for one in context.parts}
    assert "No usamos MongoDB." in part["summaries"] and "MongoDB" not in part["window"]


@pytest.mark.parametrize("said", ["No cambiemos de tema.", "Dijo «otra cosa: la feria»", "Otra cosa sobre eso: el IVA"])
def test_what_goes_on_leaves_the_window_as_it_was(memory: Memory, said: str) -> None:
    say(memory, "Usamos Redis.", "Listo.", said)
    assert [turn.number for turn in memory.turns.window("s")] == [1, 2, 3]
