"""What may be shown of a model's answer: what its record says, and nothing else. A true sentence may be cut; then the
records answer by rule."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from conftest import Clock
from support.chats import Scripted

from store.base.citations import parse
from store.librarian.checks.sentence_check import Check
from store.librarian.librarian import Answer, Librarian
from store.librarian.rule_answer import NOTHING
from store.librarian.sentence_stream import LONGEST, Sentences
from store.librarian.sources import sources
from store.llm import usage_stats
from store.memory import Memory
from store.search import lookup

SHA = "a1b2c3d" + "0" * 33
CITED = (
    *("I#1", "D#1", "D#2", "D#3", "D#4", "D#5", "C#a1b2c3d", "C#b2c3d4e", "E#1"),
    *("F#1", "F#2", "F#3", "F#4", "F#5", "F#6", "F#7", "F#8", "F#9", "F#10", "F#11"),
    *("F#12", "F#13", "A#1", "A#2"),
)


@pytest.fixture
def told(memory: Memory, clock: Clock) -> Memory:
    clock.advance(days=-120)  # 24 July 2026
    memory.iterations.start("feature", "keep invoices in one file")
    memory.decisions.decide("Store invoices in PostgreSQL", "PostgreSQL 16", rationale="everybody knows it")
    clock.advance(days=20)  # 13 August
    memory.decisions.decide(
        "Use SQLite",
        "SQLite in WAL mode",
        context="Deployment may not depend on an external service.",
        alternatives=["MongoDB", "a folder of files"],
        rationale="One file and no service to run.",
        supersedes=1,
    )
    memory.commits.log(SHA, message="store: one file, no server\n\nImplements D#2.", author="Tomás Arrieta")
    memory.commits.link(SHA, 2)
    memory.commits.log("b2c3d4e" + "0" * 33, message="chore: remove the mobile client", author="Wanda Mills")
    memory.events.log("deployed", phase="operations", payload={"version": "0.9.0"})
    memory.iterations.end()
    clock.advance(days=60)  # 12 October
    memory.facts.remember("Ana is allergic to peanuts")
    memory.facts.remember("La oficina está en la calle del Mar, tercer piso")
    memory.facts.remember("Elías, the accountant, comes on Tuesdays")
    memory.facts.remember("Sessions expire after 30 minutes")
    memory.facts.remember("Login retries 3 times with a timeout of 10 seconds")
    memory.facts.remember("There is no data in the staging database")
    memory.facts.remember("La panadera viene los jueves")
    memory.facts.remember("We pay 0.8 % commission to Adyen")
    memory.facts.remember("Staging has 2 servers and production has 5 servers")
    memory.facts.remember("Marta manages Luis")
    memory.facts.remember("Use tabs, not spaces")
    memory.facts.remember("The migration is atomic")
    memory.facts.remember("There is no information about the prices")
    memory.tasks.add("write the letter for reminders")
    memory.tasks.add("open the copy of Monday")
    memory.tasks.move(2, "done")
    memory.decisions.decide("Cache pages", "Redis 7", rationale="fast", alternatives=["memcached"])
    memory.decisions.decide(
        "Message queue",
        "RabbitMQ",
        alternatives=["Kafka"],
        rationale="Kafka needs three machines and we send four hundred messages a day",
    )
    memory.decisions.decide("Texto de las facturas", "Typst", alternatives=["LaTeX", "hojas de estilo"])
    clock.advance(days=40)
    return memory


@pytest.fixture
def check(told: Memory) -> Check:
    those = [lookup.lookup(told.database, parse(name)) for name in CITED]
    return Check(sources(told.database, those, told.now))


def ask(memory: Memory, question: str, chat: Scripted | None = None) -> Answer:
    return Librarian(memory).ask(question, chat)


# what the record does not say

WORDS = "words that the record does not have"
CONTRARY = "the contrary of what the record says"
OPTION = "an option that was not taken, told as the choice"
THING = "a number that is another thing's in the record"
NUMBER = "a number that the record does not have"
UNDONE = "what is to be done, or was only proposed, told as if it were so"
PAST = "what was replaced since, told as if it still held"


@pytest.mark.parametrize(
    ("why", "sentences"),
    [
        (
            WORDS,
            """
            Ana can eat peanuts [F#1].
            Ana can safely eat peanuts [F#1].
            Ana loves peanuts [F#1].
            Ana odia el maní [F#1].
            Ana may safely have peanuts [F#1].
            Only peanuts are safe for Ana [F#1].
            Ana is hardly allergic to peanuts [F#1].
            Ana is allergic only to peanuts [F#1].
            Ana is allergic to all peanuts [F#1].
            Ana es alérgica a los perros [F#1].
            Sessions expire before 30 minutes [F#4].
            Elías leaves on Tuesdays, says the accountant [F#3].
            Elías could come on Tuesdays [F#3].
            The accountant hates Elías on Tuesdays [F#3].
            Elías fired the accountant on Tuesday [F#3].
            Elías contrata al contador los martes [F#3].
            La oficina se mudó de la calle del Mar, tercer piso [F#2].
            La oficina está cerca de la calle del Mar [F#2].
            Iteration 1 failed and ended on 13 August 2026 [I#1].
            SQLite was rejected in favour of a file [D#2].
            SQLite in WAL mode was removed on 13 August 2026 [D#2].
            SQLite was dropped on 13 August 2026 [D#2].
            Se descartó SQLite [D#2].
            SQLite in WAL mode needs many files and more services to run [D#2].
            SQLite was chosen to run more services [D#2].
            Deployment must not depend on an external service [D#2].
            Redis 7 was chosen because it is slow [D#3].
            Redis 7 was chosen as it is slow but fast [D#3].
            Pages are cached in Redis 7 and it is expensive [D#3].
            Usamos Redis 7 para las páginas porque es lento [D#3].
            Tomás Arrieta deleted the store: one file, no server [C#a1b2c3d].
            Tomás Arrieta reverted one file, no server [C#a1b2c3d].
            Wanda Mills added the mobile client [C#b2c3d4e].
            The task to write the letter for reminders is done [A#1].
            """,
        ),
        (
            CONTRARY,
            """
            Elías never comes on Tuesdays [F#3].
            Elías nunca viene los martes [F#3].
            Ana is not allergic to peanuts [F#1].
            Ana no es alérgica al maní [F#1].
            Ana is allergic to peanuts? No [F#1].
            Peanuts are allergic to Ana [F#1].
            Sessions never expire after 30 minutes [F#4].
            La oficina ya no está en la calle del Mar [F#2].
            The office is not in calle del Mar [F#2].
            One service to run and no file [D#2].
            SQLite es un servicio [D#2].
            SQLite no es un archivo [D#2].
            El despliegue depende de un servicio externo [D#2].
            An external service may not depend on deployment [D#2].
            Three machines need Kafka [D#4].
            Adyen pays 0.8 % commission [F#8].
            Luis manages Marta [F#10].
            Marta is managed by Luis [F#10].
            Use spaces, not tabs [F#11].
            Use spaces [F#11].
            Redis 7 was chosen because it is not fast [D#3].
            Redis 7 was chosen because it is not as fast but cheap [D#3].
            There is data in the staging database [F#6].
            """,
        ),
        (
            OPTION,
            """
            After some consideration, MongoDB was chosen [D#2].
            We considered everything and chose MongoDB [D#2].
            We considered MongoDB and chose it [D#2].
            We rejected MongoDB and then chose it [D#2].
            MongoDB was considered and chosen [D#2].
            MongoDB was rejected but then chosen [D#2].
            Over time MongoDB was chosen [D#2].
            Not only SQLite but also MongoDB is used [D#2].
            Without doubt MongoDB was chosen [D#2].
            Before deciding, we tested; MongoDB won [D#2].
            MongoDB replaced SQLite [D#2].
            PostgreSQL replaced SQLite [D#2].
            SQLite was replaced by PostgreSQL [D#1].
            It is MongoDB [D#2].
            Tras considerarlo se eligió MongoDB [D#2].
            Se consideró MongoDB y se eligió [D#2].
            No cabe duda: se eligió MongoDB [D#2].
            No se eligió SQLite sino MongoDB [D#2].
            Elegimos MongoDB en lugar de SQLite [D#2].
            PostgreSQL reemplazó a SQLite [D#2].
            We use memcached to cache pages instead of Redis 7 [D#3].
            Las páginas se guardan en memcached [D#3].
            LaTeX was used for the text of invoices [D#5].
            """,
        ),
        (
            THING,
            """
            Sessions expire after 30 days [F#4].
            Sessions expire after 30 seconds [F#4].
            Las sesiones expiran a los 30 días [F#4].
            There are 30 sessions [F#4].
            Login retries 10 times with a timeout of 3 seconds [F#5].
            Login retries 10 times with a timeout of 3 minutes [F#5].
            Login retries 3 times with a timeout of 10 minutes [F#5].
            El acceso reintenta 10 veces con un timeout de 3 segundos [F#5].
            The timeout is 3 seconds [F#5].
            Staging has 5 servers [F#9].
            Staging has 5 servers and production has 2 servers [F#9].
            Hay 5 servidores en staging y 2 servidores en producción [F#9].
            Kafka needs four hundred machines and three messages a day [D#4].
            """,
        ),
        (
            NUMBER,
            """
            Ana became allergic to peanuts on 12 October 2026 [F#1].
            Ana is allergic to peanuts since 12 October 2026 [F#1].
            Ana es alérgica al maní desde octubre de 2026 [F#1].
            """,
        ),
        (
            PAST,
            """
            We use PostgreSQL 16 for invoices [D#1].
            Invoices are stored in PostgreSQL 16 [D#1].
            Everybody knows PostgreSQL [D#1].
            """,
        ),
        (
            "what is to be done, or was only proposed, told as if it were so",
            "The letter for reminders was written [A#1].",
        ),
        # the words of one record with those of another, or of one part with those of another part
        (
            WORDS,
            """
            Ana is allergic to peanuts and comes on Tuesdays [F#1] [F#3].
            Elías is allergic to peanuts [F#3] [F#1].
            Ana, the accountant, comes on Tuesdays [F#3] [F#1].
            Redis 7 is one file with no service to run [D#2] [D#3].
            Ana implemented peanuts [F#1] [D#2].
            Ana is allergic to the letter for reminders, a task [F#1] [A#1].
            Kafka sends four hundred messages a day [D#4].
            Kafka was chosen [D#4].
            RabbitMQ needs three machines [D#4].
            Ana is allergic to peanuts, and comes on Tuesdays [F#1] [F#3].
            It was Kafka [D#4].
            """,
        ),
    ],
)
def test_what_the_record_does_not_say_is_not_shown(check: Check, why: str, sentences: str) -> None:
    for sentence in filter(None, map(str.strip, sentences.splitlines())):
        checked = check(sentence)
        assert (checked.text, checked.why) == ("", why), sentence
        bare = check(sentence.partition(" [")[0] + ".")
        assert not bare.text and not bare.nothing, f"nor without its citation: {bare}"


@pytest.mark.parametrize(
    "sentence",
    [
        "Ana es alérgica al maní [F#1].",
        "Sí, Ana es alérgica a los cacahuetes [F#1].",
        "Peanuts are what Ana is allergic to [F#1].",
        "According to the records, Ana is allergic to peanuts [F#1].",
        "Ana is allergic to peanuts, as was recorded on 12 October 2026 [F#1].",
        "Las sesiones expiran a los 30 minutos [F#4].",
        "In 30 minutes sessions expire [F#4].",
        "Login retries 3 times [F#5].",
        "The timeout is 10 seconds [F#5].",
        "With a timeout of 10 seconds, login retries 3 times [F#5].",
        "El acceso reintenta 3 veces con un timeout de 10 segundos [F#5].",
        "Los martes viene Elías [F#3].",
        "Elías, el contador, viene los martes [F#3].",
        "The office is in calle del Mar, on the third floor [F#2].",
        "There is no data in the staging database [F#6].",
        "Deployment cannot depend on an external service [D#2].",
        "El despliegue no puede depender de un servicio externo [D#2].",
        "There is no service to run and it is one file [D#2].",
        "SQLite no es un servicio [D#2].",
        "SQLite replaced PostgreSQL [D#2].",
        "SQLite reemplazó a PostgreSQL [D#2].",
        "PostgreSQL was replaced by SQLite [D#1].",
        "Invoices were stored in PostgreSQL 16 until it was replaced by SQLite [D#1].",
        "SQLite was chosen over MongoDB and a folder of files [D#2].",
        "The alternatives to SQLite were MongoDB and a folder of files [D#2].",
        "Las alternativas eran MongoDB y una carpeta de archivos [D#2].",
        "No se eligió MongoDB sino SQLite [D#2].",
        "Se eligió SQLite y no MongoDB [D#2].",
        "MongoDB se descartó [D#2].",
        "We did not use MongoDB [D#2].",
        "RabbitMQ was chosen; Kafka was rejected [D#4].",
        "Kafka needs three machines [D#4].",
        "It was decided to use RabbitMQ instead of Kafka, as Kafka needs three machines [D#4].",
        "We pay a commission of 0.8 % to Adyen [F#8].",
        "Staging has 2 servers [F#9].",
        "There are 5 servers in production [F#9].",
        "Luis is managed by Marta [F#10].",
        "Use tabs [F#11].",
        "La migración es atómica [F#12].",
        "Redis 7 was chosen because it is fast [D#3].",
        "Usamos Redis 7 para las páginas porque es rápido [D#3].",
        "Wanda Mills removed the mobile client [C#b2c3d4e].",
        "There is an open task to write the letter for reminders [A#1].",
        "The task to open the copy of Monday is done [A#2].",
    ],
)
def test_what_the_record_says_is_shown_in_either_language(check: Check, sentence: str) -> None:
    checked = check(sentence)
    assert checked.text and not checked.why, checked


def test_what_is_not_shown_gives_way_to_the_records(told: Memory) -> None:
    for question, says in (
        ("when do sessions expire?", "Sessions expire after 30 days [F#4]."),
        ("who is allergic to peanuts?", "Ana loves peanuts [F#1]."),
        ("when does Elías come?", "Elías never comes on Tuesdays [F#3]."),
    ):
        answer = ask(told, question, Scripted(says))
        assert answer.by == "" and answer.cut == 1 and answer.sentences == ask(told, question).sentences


# what answers


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("when does Elías come?", "Elías, the accountant, comes on Tuesdays [F#3]."),
        ("when do sessions expire?", "Sessions expire after 30 minutes [F#4]."),
        ("¿cuándo viene la panadera?", "La panadera viene los jueves [F#7]."),
    ],
)
def test_when_is_answered_of_a_fact_by_what_it_says(told: Memory, question: str, says: str) -> None:
    """Its day is that on which it was written down: none needs to be told."""
    answer = ask(told, question, Scripted(says))
    assert (answer.sentences, answer.by, answer.note) == ((says,), "scripted:1b", "")
    assert [(one.asked, one.fell_back) for one in usage_stats.by_task(told.database)] == [(1, 0)]


def test_a_fact_about_nothing_is_no_word_about_the_records(told: Memory) -> None:
    for question, says, cited in (
        ("what does the staging database hold?", "There is no data in the staging database", "F#6"),
        ("what about the prices?", "There is no information about the prices", "F#13"),
    ):
        answer = ask(told, question, Scripted(f"{says}."))
        assert (answer.sentences, answer.nothing) == ((f"{says} [{cited}].",), False)


@pytest.mark.parametrize(
    ("says", "nothing"),
    [
        ("There are no records about Bruno.", True),
        ("There is no information about the mail provider in the records.", True),
        ("No hay registros sobre el proveedor de correo.", True),
        ("No information.", True),
        ("There is no data in the office.", False),
        ("No hay datos en la oficina.", False),
    ],
)
def test_no_records_is_said_of_the_records_only(check: Check, says: str, nothing: bool) -> None:
    checked = check(says)
    assert (checked.nothing, checked.text) == (nothing, "")


# what was answered before


def test_a_kept_answer_is_given_again_in_its_language_only(told: Memory) -> None:
    english = "SQLite in WAL mode was chosen because it is one file and no service to run [D#2]."
    spanish = "Se eligió SQLite porque es un archivo y no hay servicio que ejecutar [D#2]."
    told.answers.keep("¿por qué SQLite?", english, ["D#2"], by="scripted:1b")
    chat = Scripted(spanish)
    answer = ask(told, "¿por qué SQLite?", chat)
    assert (answer.sentences, len(chat.asked)) == ((spanish,), 1)
    assert ask(told, "¿por qué SQLite?", chat).sentences == (spanish,) and len(chat.asked) == 1


def test_a_question_that_means_the_same_in_the_other_language_is_answered_anew(told: Memory) -> None:
    from store.services import background_embedding

    if not told.search.meaning:
        pytest.skip("there is no model of meanings")
    background_embedding.embed(told)
    ask(told, "why do we use SQLite?", Scripted("SQLite was chosen because it is one file [D#2]."))
    chat = Scripted("Se eligió SQLite porque es un archivo y no hay servicio que ejecutar [D#2].")
    assert ask(told, "¿por qué usamos SQLite?", chat).text.startswith("Se eligió") and len(chat.asked) == 1


def test_no_model_signs_what_another_said(told: Memory) -> None:
    small, big = Scripted("SQLite is one file [D#2]."), Scripted("SQLite was chosen, for it is one file [D#2].")
    small.name, big.name = "small:0.5b", "big:7b"
    ask(told, "why do we use SQLite?", small)
    again = ask(told, "why do we use SQLite?", small)
    assert again.by == "small:0.5b" and "given before" in again.note
    answer = ask(told, "why do we use SQLite?", big)
    assert (answer.by, answer.text, len(big.asked)) == ("big:7b", "SQLite was chosen, for it is one file [D#2].", 1)


# a sentence without an end


def pieces(number: int) -> Iterator[str]:
    return (f"palabra{place} sin punto " for place in range(number))


def seconds(number: int) -> float:
    start, cut = time.process_time(), Sentences()
    assert [one for piece in pieces(number) for one in cut.add(piece)] == []
    assert len(cut.rest()) > LONGEST
    return time.process_time() - start


def test_a_sentence_without_an_end_takes_time_in_proportion() -> None:
    short, long = min(seconds(300) for _ in range(3)), seconds(3_000)
    assert long < 24 * max(short, 0.01), "in squares it takes a hundred times as long"


def test_a_sentence_that_is_too_long_is_cut_and_the_next_one_heard(told: Memory) -> None:
    says = f"SQLite is one file {'and it runs ' * 2_000}[D#2]. SQLite was chosen, for it is one file [D#2]."
    answer = ask(told, "why do we use SQLite?", Scripted(says))
    assert answer.sentences == ("SQLite was chosen, for it is one file [D#2].",) and answer.doubts == ("too long",)
    cut = Sentences()
    assert [*cut.add("ab " * 401)] == [] and len(cut.rest()) > LONGEST, "what is dropped leaves it too long"
    spaces = [*cut.add("SQLite is" + " " * 5_000 + "one file. And"), cut.rest()]
    assert all(Check(())(one).why in ("too long", "cites nothing") for one in spaces)
    assert NOTHING["en"] not in answer.sentences
