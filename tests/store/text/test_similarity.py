"""Which questions have an answer that keeps, and which of those that are near in meaning are not the same."""

import pytest
from support.tables import each

from store.text.similarity import (
    CONTRADICTS,
    compare_sentences,
    is_contrary_question,
    is_deterministic,
    may_be_same_question,
    normalize_question,
    parse_sentence,
)

KEEPS = (
    "How big is the team?", "¿Por qué elegimos SQLite?", "what did we decide about the cache", "F#12?",
    "¿Qué hace el importador?", "Which port does the server use?", "¿Quién revisa el código de Ana?", "C++ or C?",
    "¿Cuántas personas hay en el equipo?", "why is the cache keyed by studio", "¿Dónde se guardan los PDF?",
    "Do snowflakes melt in the known-issues list?", "¿Cómo se llama el proyecto?", "what is a cache miss?",
)  # fmt: skip
PASSES = (
    "What time is it?", "¿Qué hora es?", "What are we doing now?", "what did I do today", "¿qué hice hoy?",
    "¿Qué hay que hacer ahora?", "what changed yesterday?", "¿Qué se decidió ayer?", "meetings this week",
    "reuniones de esta semana", "what is next week's plan?", "¿qué toca la semana que viene?",
    "What is the CURRENT plan?",
    "¿cuál es el plan actual?", "¿qué acabamos de hacer recién?", "who joined recently?", "how long until the release?",
    "¿cuánto falta para la demo?", "what happened 3 days ago?", "¿qué pasó hace dos semanas?",
    "what is due on this Friday", "what is the time", "what's the date?", "¿en qué año estamos?", "what's new?",
    "Do we still use Jenkins?", "¿Todavía usamos Jenkins?", "¿aún usamos Jenkins?", "What is the latest version?",
    "when is the next deploy?", "¿ya desplegamos?", "¿qué edad tiene Nadia?", "these days who deploys?",
    "¿Qué vence este viernes?", "tomorrow?", "¿mañana?", "ＮＯＷ?", "right-now, what?", "what's today's task?",
    "¿qué día es?", "es tarde esta noche?", "what day is the retro",
)  # fmt: skip
FEELS = (
    "Why do I feel so tired?", "I am sad, what now", "¿Por qué me siento así?", "estoy triste, ¿qué hago?",
    "Am I stressed?",
    "¿estoy estresada?", "I hate this, who wrote it?", "¿por qué estoy tan cansado?", "are you happy with the plan?",
    "estoy mal, ¿por qué?", "am I ok?", "how am I doing", "¿estoy nervioso?",
    "estoy harta de esto", "I'm afraid of the release: who helps?", "me preocupa la demo, ¿qué queda?",
)  # fmt: skip
LISTS = (
    "Which tasks are pending?", "what is pending?", "open tasks", "which decisions did we make", "list all the facts",
    "¿qué tareas quedan?", "¿Qué falta?", "¿cuáles son las decisiones?", "how many open questions are there", "to-do?",
    "any notes about the cache?", "¿hay tareas abiertas?", "what is still open?",
)  # fmt: skip


@each("question", KEEPS)
def test_what_the_records_alone_decide_keeps(question: str):
    assert is_deterministic(question)


@each("question", (*PASSES, *FEELS, *LISTS, "", "  ", "?!"))
def test_what_depends_on_the_moment_or_on_how_somebody_feels_does_not(question: str):
    assert not is_deterministic(question)


@each(
    "one, other, same",
    [
        ("What's the deployment?", "whats the deployment", False),
        ("¿Cómo se DESPLIEGA?", "como se despliega", True),
        ("the deployment?!", "The   deployment", True),
        ("does A depend on B", "does B depend on A", False),
        ("año 2026", "ano 2026", False),
        ("C++", "C", False),
        ("v1.2", "v12", False),
        ("F#1", "F#12", False),
        ("cafe\u0301", "café", True),
        ("is x > y?", "is x < y?", False),
        ("is x >= y?", "is x > y?", False),
        ("does it cost $5?", "does it cost €5?", False),
        ("is the limit -5?", "is the limit 5?", False),
        ("x86 & arm", "x86 | arm", False),
        ("the deployment — how?", "the deployment how", True),
    ],
)
def test_what_the_ways_of_writing_one_question_have_in_common(one: str, other: str, same: bool):
    assert (normalize_question(one) == normalize_question(other)) is same


@each(
    "one, other, same",
    [
        ("How do we deploy?", "What is the deployment process?", True),
        ("¿cómo se despliega?", "¿cuál es el proceso de despliegue?", True),
        ("how big is the team?", "what is the size of the team?", True),
        ("who reviews Ana's code?", "who reviews Greta's code?", False),
        ("does billing depend on ledger?", "does ledger depend on billing?", False),
        ("when do we deploy?", "where do we deploy?", False),
        ("¿cuándo se despliega?", "¿dónde se despliega?", False),
        ("what is the VAT rate in Spain?", "what is the VAT rate in Portugal?", False),
        ("do we use Docker?", "do we not use Docker?", False),
        ("¿usamos Docker?", "¿nunca usamos Docker?", False),
        ("what does D#3 say?", "what does D#4 say?", False),
        ("which port is 8080?", "which port is 8081?", False),
        ("¿por qué SQLite?", "¿cómo es SQLite?", False),
        ("why SQLite?", "¿por qué SQLite?", True),
    ],
)
def test_what_is_near_in_meaning_is_not_always_the_same(one: str, other: str, same: bool):
    assert may_be_same_question(one, other) is same and may_be_same_question(other, one) is same


OTHERS = """
    What happens before the deploy? | What happens after the deploy?
    Who is allergic to peanuts? | Who is allergic to something?
    How do I enable the cache? | How do I disable the cache?
    Can agents use emoji? | Must agents use emoji?
    What did we choose for the cache? | What did we reject for the cache?
    On which day do we deploy? | On which day do we not deploy?
    What is the first reminder? | What is the last reminder?
    Which is the fastest cache? | Which is the slowest cache?
    How do we add a client? | How do we remove a client?
    How are invoices imported? | How are invoices exported?
    How do clients get imported? | How do clients get deleted?
    ¿Qué se hace antes de desplegar? | ¿Qué se hace después de desplegar?
    What does the importer accept? | What does the importer refuse?
    Where are backups kept? | Where are secrets kept?
    Why did we choose Redis? | Why did we drop Redis?
    What is the maximum number of invoices? | What is the minimum number of invoices?
    Does Greta work on Mondays? | Does Greta work on Fridays?
    Who deploys to production? | Who deploys to staging?
    Is Nadia allergic to peanuts? | Is Nadia fond of peanuts?
    When does Greta start? | When does Greta stop?
    What may agents do? | What may users do?
    Who approved the cache? | Who rejected the cache?
    What is our rate limit? | What was our rate limit?
    What do we use instead of Postgres? | What do we use besides Postgres?
    What is public in the API? | What is private in the API?
    Who reviews the invoices? | Who writes the invoices?
    Which tests are slow? | Which tests are fast?
    Do we write tests first? | Do we write tests last?
    What do we cache? | What do we log?
    How often do we back up? | How often do we restore?
    How do I log in? | How do I log out?
    What increases the price? | What decreases the price?
    How do we deploy? | What do we deploy?
    What runs before a deploy? | ¿Qué se ejecuta después de un despliegue?
    ¿Por qué elegimos Redis? | Why was Redis rejected?
    How is staging deployed? | ¿Cómo se despliega producción?
"""


@each("pair", OTHERS.strip().splitlines())
def test_the_opposite_is_another_question_however_near_it_is(pair: str):
    one, other = pair.strip().split(" | ")
    for first, second in ((one, other), (other, one)):
        assert not may_be_same_question(first, second) or is_contrary_question(first, second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do we deploy?", "what is our way of deploying?"),
        ("which cache do we use?", "what cache do we use"),
        ("where does the server listen?", "where do the servers listen?"),
        ("what does the importer refuse?", "which rows are refused by the importer?"),
    ],
)
def test_other_words_for_the_same_are_not_told_apart(one: str, other: str):
    assert (
        may_be_same_question(one, other) and may_be_same_question(other, one) and not is_contrary_question(one, other)
    )


# what two sentences say of one name


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        ("The database is Postgres", "The database is Oracle", True),
        ("The database is Postgres", "The database is slow", False),
        ("The database is slow", "The database is Postgres", False),
        ("The database is slow", "The database is large", False),
    ],
)
def test_two_names_exclude_each_other_and_two_qualities_do_not(one: str, other: str, against: bool) -> None:
    assert (compare_sentences(parse_sentence(one), parse_sentence(other), 0.7) == CONTRADICTS) is against
