"""When somebody turns to another topic, by words, by meaning, by domain; and when it only looks so."""

from support.cases import load_cases
from support.tables import each

from store.conversations.turns import MIN_CONTINUITY, guess_domain, why_topic_changes

CASES = load_cases(__file__)
CODE = "El test de la función de importación falla con un error en el parser."
CODE_EN = "The import function raises an exception and two tests are failing."
PLAN = "La reunión con el cliente es el jueves y el presupuesto cierra este sprint."
HOME = "Mi hija cumple años y quiero cocinar una cena para la familia."

DOMAINS = [
    (HOME, CODE, "domain"),
    (CODE, HOME, "domain"),
    (PLAN, CODE_EN, "domain"),
    (CODE_EN, PLAN, "domain"),
    ("My daughter's birthday is on Friday, what gift should I buy?", CODE_EN, "domain"),
    (CODE, CODE_EN, ""),
    ("¿Y qué opinas?", CODE, ""),
    (CODE, "¿Y qué opinas?", ""),
    ("Write a test for the meeting calendar endpoint", CODE, ""),  # of two domains: of none
]


@each("text", CASES["phrases"])
def test_a_phrase_says_so(text: str) -> None:
    assert why_topic_changes(text, CODE) == "phrase"


@each("text", CASES["goes_on"])
def test_it_only_looks_so(text: str) -> None:
    """A negation, a quotation, code, an answer, or the same words in another place."""
    assert why_topic_changes(text, CODE) == ""


@each("text, alike, why", CASES["meaning"])
def test_how_alike_it_is_says_so(text: str, alike: float, why: str) -> None:
    assert why_topic_changes(text, "La función de importación.", alike) == why


@each("text, before, why", DOMAINS)
def test_another_domain_says_so_where_meaning_is_unknown(text: str, before: str, why: str) -> None:
    assert why_topic_changes(text, before) == why
    assert not why_topic_changes(text, before, MIN_CONTINUITY)  # known to be alike: one topic, whatever the words


def test_domains() -> None:
    domains = [guess_domain(text) for text in (CODE, CODE_EN, PLAN, HOME, "hola")]
    assert domains == ["code", "code", "planning", "personal", ""]
