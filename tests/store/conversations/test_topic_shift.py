"""When somebody turns to another topic, by words, by meaning, by domain; and when it only looks so."""

from support.tables import each

from store.conversations.turns import MIN_CONTINUITY, guess_domain, why_topic_changes

CODE = "El test de la función de importación falla con un error en el parser."
CODE_EN = "The import function raises an exception and two tests are failing."
PLAN = "La reunión con el cliente es el jueves y el presupuesto cierra este sprint."
HOME = "Mi hija cumple años y quiero cocinar una cena para la familia."

PHRASES = [
    "Otra cosa: ¿cómo se llama el servidor de pruebas?",
    "ok, otra cosa, ¿qué hora es en Lima?",
    "Bueno, cambiando de tema: el logo nuevo",
    "cambiemos de tema por favor",
    "Cambio de tema. ¿Viste la propuesta?",
    "Hablemos de otra cosa.",
    "Pasemos a otro tema",
    "Te quería preguntar sobre las licencias",
    "quería preguntarte por el dominio web",
    "Dejando eso de lado, ¿cómo va la web?",
    "Dejemos eso por ahora y miremos el menú",
    "Olvidá eso. Ahora quiero un logo.",
    "Olvídate de eso, mejor haz el informe",
    "Por cierto, ¿quién tiene las llaves?",
    "Una pregunta aparte no es. Otra pregunta: ¿y el wifi?",
    "Perfecto. Siguiente tema: la impresora",
    "Nada que ver, pero ¿funciona el ascensor?",
    "Aparte de eso, necesito la dirección del hotel",
    "Gracias! Otro tema: las fotos",
    "Changing the subject: who owns the domain?",
    "Let's change the subject",
    "Let's switch gears and look at the invoices.",
    "New topic: onboarding",
    "ok, different question: where is the logo?",
    "Another thing, can you find the hotel?",
    "One more thing, the badge printer is out of ink",
    "On a different note, how was the talk?",
    "On another note, lunch is at one",
    "By the way, who has the keys?",
    "btw the printer works again",
    "Unrelated: what is the wifi password called?",
    "Let's talk about something else.",
    "Moving on. What about the menu?",
    "Setting that aside, what do we eat?",
    "Forget that. Draw me a logo instead.",
    "I wanted to ask you about the licence",
    "Great, thanks! Now, new topic: the fair in May",
    "Completely unrelated, but is the office open?",
    "Cambiemos de tema, no quiero hablar más sobre eso.",
    "Let's change the subject, I don't want to talk about it anymore.",
    "Pasemos a otro tema, ya no más con esto",
    "By the way, about this invoice of my landlord",
    "On a different topic: my sister's wedding, I forgot about it",
    "Something else: let's plan the trip, still about 3 weeks left",
    "New topic. We can do the same question later",
]
GOES_ON = [
    "Mismo tema, pero con la otra tabla",
    "Otra cosa sobre lo mismo: ¿y los decimales?",
    "Otra cosa más sobre eso, ¿qué pasa con los NIF?",
    "No cambiemos de tema: falta el caso vacío",
    "Sin cambiar de tema, ¿y el rendimiento?",
    "Siguiendo con la importación, falta el IVA",
    "Volviendo al tema, ¿cuántas filas son?",
    "Otra pregunta relacionada con eso: ¿y si falla?",
    "En la misma línea, ¿qué hacemos con las fechas?",
    "Por cierto, sobre eso: el cliente lo pidió así",
    "Hazlo con otra cosa que no sea una lista",
    "No es otra cosa que un error de redondeo",
    'El mensaje dice "otra cosa: cambiemos de tema" y no sé por qué',
    "`otro tema` es el nombre de la rama",
    "```\notra cosa\n```\n¿qué imprime esto?",
    "> cambiando de tema\nesto lo escribió el cliente",
    "Quick question about the same function",
    "quick question about it: does it retry?",
    "Quick question: does it retry?",
    "Same topic, different table",
    "Another thing about that: the empty case",
    "One more thing about this file",
    "By the way, about that bug: it also happens on Mondays",
    "Don't change the subject, answer me",
    "Not changing the subject, but why two loops?",
    "Speaking of that, what about dates?",
    "Back to that error: it still happens",
    "Following up: did it pass?",
    "Try something else than a list",
    "We tried another approach and it works",
    "Let's move on with this, write the test",
    "While we're at it, rename the variable",
    "Is there any other way to do it?",
    "Otra cosa: en la misma línea del archivo hay un bug",
    "Por cierto, lo mismo pasa en Windows",
    "¿Hay otra forma de hacerlo?",
    "Sí, la segunda",
    "ok",
    "",
]
MEANING = [
    ("¿Qué ciudad tiene el mejor clima en enero?", 0.1, "meaning"),
    ("What should we order for the office party?", 0.39, "meaning"),
    ("What should we order for the office party?", 0.4, ""),
    ("¿Y si la fila está vacía?", 0.55, ""),
    ("sí, la segunda", 0.0, ""),  # an answer is like nothing
    ("do it", 0.05, ""),
    ("mismo tema, pero en otra tabla de la base", 0.1, ""),  # said in so many words
    ("Otra cosa: ¿cómo se llama el servidor?", 0.9, "phrase"),
]
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


@each("text", PHRASES)
def test_a_phrase_says_so(text: str) -> None:
    assert why_topic_changes(text, CODE) == "phrase"


@each("text", GOES_ON)
def test_it_only_looks_so(text: str) -> None:
    """A negation, a quotation, code, an answer, or the same words in another place."""
    assert why_topic_changes(text, CODE) == ""


@each("text, alike, why", MEANING)
def test_how_alike_it_is_says_so(text: str, alike: float, why: str) -> None:
    assert why_topic_changes(text, "La función de importación.", alike) == why


@each("text, before, why", DOMAINS)
def test_another_domain_says_so_where_meaning_is_unknown(text: str, before: str, why: str) -> None:
    assert why_topic_changes(text, before) == why
    assert not why_topic_changes(text, before, MIN_CONTINUITY)  # known to be alike: one topic, whatever the words


def test_domains() -> None:
    domains = [guess_domain(text) for text in (CODE, CODE_EN, PLAN, HOME, "hola")]
    assert domains == ["code", "code", "planning", "personal", ""]
