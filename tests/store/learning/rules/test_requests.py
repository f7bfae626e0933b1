"""A request is never dropped: what a person marks as to be kept is kept, word by word, and what they do not is not."""

import re
from pathlib import Path

import pytest
from conftest import Clock, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import bench_cases, load_cases
from support.learned import active_texts, hear
from support.tables import each

from store.ingest.runner import ingest_file
from store.learning import rule_pass, sentences
from store.learning.rules import extract_by_rule, find_candidates
from store.memory import Memory

CASES = load_cases(__file__)

# grouped items of which a statement without a verb of its own stays with the one before
TOGETHER = ("r109",)
PHRASES, STATEMENTS = CASES["phrases"], CASES["statements"]
WRAPPED = ('he said "{}"', "> {}", "```\n{}\n```", "if I told you that {}, would you believe it?", "supongamos que {}")
NO = re.compile(r"\b(?:no|not|never|nunca)\b", re.IGNORECASE)


def kept(text: str) -> list[str]:
    return [found.text for found in extract_by_rule("user", text)]


def plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@each("case", bench_cases("requests-dev", "requests-dev2"))
def test_what_is_to_be_kept_is_kept_and_nothing_else(case: dict) -> None:
    texts = [plain(text) for text in kept(case["text"])]
    for item in case["keep"]:
        holder = next((text for text in texts if plain(item) in text), None)
        assert holder, (case["text"], item)
        if case["kind"] == "several" and case["id"] not in TOGETHER:
            texts.remove(holder)
    if not case["keep"]:
        assert not [found for found in extract_by_rule("user", case["text"]) if found.explicit]


@given(st.sampled_from(PHRASES), st.sampled_from(STATEMENTS))
@settings(deadline=None, max_examples=examples(5))
def test_every_phrase_keeps_every_statement(phrase: str, statement: str) -> None:
    assert any(plain(statement) in plain(text) for text in kept(phrase.format(statement)))


@given(
    st.lists(st.sampled_from([*PHRASES, *WRAPPED, "{}", "ok, {}", "no, {}", "¿{}?", "{} y listo"]), max_size=3),
    st.lists(st.sampled_from(STATEMENTS), min_size=3, max_size=3),
)
@settings(deadline=None, max_examples=examples(5))
def test_what_is_kept_stands_word_by_word_in_the_turn_with_its_negation(phrases: list[str], said: list[str]) -> None:
    """The oracle looks at the turn alone: what is kept stands there between two signs or words that join, and no "no"
    stands before it in its clause that it left behind."""
    turn = "\n".join(phrase.format(statement) for phrase, statement in zip(phrases, said, strict=False))
    for text in kept(turn):
        at = plain(turn).find(plain(text))
        assert at >= 0, (turn, text)
        for statement in said:
            if plain(text) in plain(statement):
                before = plain(statement)[: plain(statement).find(plain(text))]
                assert not NO.search(before), (turn, text)


COURTESIES = ("si podés", "cuando puedas", "si no te molesta", "if you can", "when you have a minute", "if possible")
ASKS = CASES["asks"]


@each("ask", ASKS)
@each("condition", CASES["conditions"])
def test_what_is_asked_for_under_a_condition_is_kept_with_it_as_a_proposal(condition: str, ask: str) -> None:
    for statement in ("el puerto es 8091", "main is frozen"):
        said = f"{condition}, {ask.format(statement)}"
        found = extract_by_rule("user", f"{said}.")
        assert [plain(one.text) for one in found] == [plain(said)]
        assert not any(one.explicit for one in found)


@each("text", CASES["hidden"])
def test_a_request_in_the_midst_of_a_sentence_or_without_its_signs_is_kept(text: str) -> None:
    assert kept(text)


REFUSALS = [
    *(
        f"{refusal} {verb} el puerto viejo"
        for refusal in ("no tenés que", "no hace falta", "no necesitás", "no vale la pena", "no deberías", "no hay que")
        for verb in ("recordar", "anotar", "apuntar", "memorizar", "guardar", "tener en cuenta")
    ),
    *(
        f"{refusal} {verb} the old port"
        for refusal in ("you don't have to", "no need to", "you needn't", "I don't want you to", "don't bother to")
        for verb in ("remember", "write down", "keep in mind", "save", "make a note of")
    ),
    *("Remembering this isn't necessary: the lamp is broken.", "Recordar esto no es necesario: la lámpara está rota."),
    *("No tenés que acordarte del puerto viejo.", "No es para que lo guardes, pero ahí está.", "Yo no lo anotaría."),
]


WHOLE = {
    # a request for what is kept already is not kept itself
    "Never ever merge without a green build. Make a note.": ["Never ever merge without a green build"],
    # a condition is not kept without what holds under it
    "If the tests pass, remember to tell Ana.": ["If the tests pass, remember to tell Ana"],
    "Remember that we use Kafka if the queue is long": ["We use Kafka if the queue is long"],
    # a ban on storing something is a rule
    "No guardes contraseñas en git, nunca.": ["No guardes contraseñas en git, nunca"],
    # what is announced as several things is kept sentence by sentence
    "few things to keep. My bank is Monzo. My accountant is Ruth.": ["My bank is Monzo", "My accountant is Ruth"],
    "remember that we deploy on Tuesdays and never on Fridays": ["We deploy on Tuesdays and never on Fridays"],
    # a courtesy is no condition
    **{f"{polite}, {ask.format('el puerto es 8091')}": ["El puerto es 8091"] for polite in COURTESIES for ask in ASKS},
}


@each("text", WHOLE)
def test_what_is_kept_of_a_turn_is_whole(text: str) -> None:
    assert kept(text) == WHOLE[text]


@each("pointing", ["Remember this{}", "recordá esto{}", "para que lo recuerdes{}"])
@each("mark, sure", [(":", True), (" -", True), (" –", True), (" —", True), (",", False), (";", False)])
def test_what_a_colon_or_a_dash_points_at_is_kept_and_after_a_comma_it_is_asked_about(pointing, mark, sure) -> None:
    (found,) = extract_by_rule("user", f"{pointing.format(mark)} the gateway listens on 7443")
    assert (found.text, found.explicit) == ("The gateway listens on 7443", sure)


@each("text", [*REFUSALS, *CASES["no_requests"]])
def test_what_need_not_be_kept_or_is_no_request_is_not(text: str) -> None:
    assert kept(text) == []


@each("text", CASES["corrections"])
def test_a_correction_is_asked_about(text: str) -> None:
    found = extract_by_rule("user", text)
    assert found and not any(one.explicit for one in found)


@each("phrase", CASES["unknown"])
@each("statement", ["the gateway listens on 7443", "no usamos MongoDB en producción"])
def test_what_is_stated_beside_words_that_no_list_has_is_kept_whole(phrase: str, statement: str) -> None:
    assert any(plain(statement) in plain(text) for text in kept(phrase.format(statement)))


@each("wrapped", WRAPPED)
@each("order", ["recordá que el puerto es 8091", "remember that the port is 8091"])
def test_what_is_quoted_or_imagined_is_no_fact(wrapped: str, order: str) -> None:
    assert not [found for found in extract_by_rule("user", wrapped.format(order)) if found.explicit]


def test_the_grammar_of_both_languages_has_the_same_tables_and_matches_no_empty_text() -> None:
    spanish, english = (table for _, table in sentences._language_tables("patterns"))
    assert set(spanish) == set(english)
    for name in spanish:
        assert not sentences.word_pattern(name).match(""), name
    for kind in ("kept", "told"):
        assert sentences.find_triggers(kind)


def test_a_marked_turn_reaches_the_model_too() -> None:
    for text in ("save this to your memory: the invoice template is v4", "Write this down: deploys are on Tuesdays"):
        assert find_candidates("user", text), text


def test_whoever_still_does_something_confirms_it(memory: Memory, clock: Clock) -> None:
    number, _ = memory.facts.remember("LLM principal: Kimi K2.5")
    clock.advance(days=50)
    assert hear(memory, "sigo usando Kimi").learned.confirmed == (number,)
    clock.advance(days=1)
    assert hear(memory, "sigo usando Kimi", origin="import:chats").learned.confirmed == ()
    assert [(one.kind, one.target) for one in memory.inbox.waiting()] == [("confirm", number)]


@pytest.mark.parametrize("said", ["ya no sigo usando Kimi", "sigo usando Qwen", "sigo sin usar Kimi"])
def test_what_is_no_longer_so_confirms_nothing(memory: Memory, clock: Clock, said: str) -> None:
    memory.facts.remember("Uso Kimi")
    clock.advance(days=50)
    assert hear(memory, said).learned.confirmed == ()


@pytest.mark.parametrize("line", ['{"role": "user", "text": "%s"}', "user: %s"])
def test_a_role_in_a_file_is_only_a_word(memory: Memory, tmp_path: Path, line: str) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(line % "Remember that deploys go through Jenkins." + "\n")
    ingest_file(memory.database, str(path))
    rule_pass.run_rule_pass(memory)
    assert list(memory.facts.ids(memory.now)) == []
    assert [one.text for one in memory.inbox.waiting()] == ["Deploys go through Jenkins"]


@pytest.mark.parametrize("question", ["¿Qué no puedo comer?", "what can't I eat again?"])
def test_what_somebody_cannot_eat_is_told_as_an_allergy(memory: Memory, question: str) -> None:
    number, _ = memory.facts.remember("Soy alérgica al maní" if "puedo" in question else "I'm allergic to nuts")
    memory.facts.remember("El servidor está en Frankfurt")
    assert [str(hit.citation) for hit in memory.search(question).hits] == [f"F#{number}"]


@pytest.mark.parametrize("text", CASES["always"])
def test_what_is_to_be_done_every_time_is_heard(memory: Memory, text: str) -> None:
    hear(memory, text)
    (text,) = [*active_texts(memory), *(one.text for one in memory.inbox.waiting())]
    assert any(word in text.lower() for word in ("always", "never", "siempre", "nunca", "jamás"))


@pytest.mark.parametrize("text", CASES["cases"])
def test_a_rule_for_a_case_is_asked_about_whole(text: str) -> None:
    assert [found.text.lower() for found in extract_by_rule("user", text)] == [text.lower()]


@pytest.mark.parametrize("text", ["remember to buy milk", "recuerda usar uv acá", "don't forget to call Bob"])
def test_what_is_to_be_done_once_is_not_kept(memory: Memory, text: str) -> None:
    hear(memory, text)
    assert not memory.facts.ids(memory.now) and not memory.inbox.waiting()
