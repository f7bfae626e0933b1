"""What a text is about, by the words that tell; a model is believed where they do not."""

import pytest
from support.asked import asking

from store.learning.domain_rules import classify
from store.learning.tasks import classify_domain

ABOUT = [
    ("personal", "Mi suegra cumple en mayo"),
    ("personal", "Corro la maratón de Rosario"),
    ("work", "Mi sueldo se paga el 5"),
    ("work", "The client wants weekly meetings"),
    ("projects", "El servicio de pagos corre en Go"),
    ("projects", "The queue is drained by two workers"),
    ("preferences", "Me gusta que los commits sean chicos"),
    ("preferences", "I hate long emails from clients"),
    ("preferences", "No soporto los popups en la app"),
    ("decisions", "We decided to keep the old database"),
    ("decisions", "Descartamos contratar a otra empresa"),
    ("decisions", "Why did we choose Rust for the parser?"),
    ("decisions", "¿Qué decidimos sobre el deploy?"),
    ("general", "El cielo es azul"),
]


@pytest.mark.parametrize(("domain", "text"), ABOUT)
def test_a_text_is_about_what_its_words_tell_and_first_of_all_what_it_begins_with(domain: str, text: str) -> None:
    assert classify(text).name == domain


def test_where_words_tell_a_model_does_not_say_otherwise() -> None:
    for text, says in (
        ("Me gusta que los commits del proyecto sean chicos", "projects"),
        ("The queue of the billing service is drained by two workers on a server", "work"),
        ("My manager has a dog", "preferences"),
    ):
        way, _ = asking({"domain": says})
        assert (answer := classify_domain.ask(way, text)) == classify(text) and answer.by == "rules"


@pytest.mark.parametrize(
    ("text", "says", "name"),
    [
        ("I had my wisdom teeth out", "personal", "personal"),
        ("Kafka lost against RabbitMQ", "decisions", "decisions"),
        ("El cielo es azul", "preferences", "general"),
        ("The museum is shut on Mondays", "projects", "general"),
        ("Paris is two hours away by train", "health", "general"),
    ],
)
def test_where_none_does_a_model_is_believed_in_what_it_can_tell(text: str, says: str, name: str) -> None:
    way, _ = asking({"domain": says})
    answer = classify_domain.ask(way, text)
    assert (answer.name, answer.by) == (name, "qwen2.5:test")
