"""Which questions have an answer that keeps, and which of those that are near in meaning are not the same."""

import pytest

from store.questions import deterministic, may_be_same, normal

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
    "what is due on this Friday",
    "¿Qué vence este viernes?", "tomorrow?", "¿mañana?", "ＮＯＷ?", "right-now, what?", "what's today's task?",
    "¿qué día es?", "es tarde esta noche?", "what day is the retro",
)  # fmt: skip
FEELS = (
    "Why do I feel so tired?", "I am sad, what now", "¿Por qué me siento así?", "estoy triste, ¿qué hago?",
    "Am I stressed?",
    "¿estoy estresada?", "I hate this, who wrote it?", "¿por qué estoy tan cansado?", "are you happy with the plan?",
    "estoy harta de esto", "I'm afraid of the release: who helps?", "me preocupa la demo, ¿qué queda?",
)  # fmt: skip


@pytest.mark.parametrize("question", KEEPS)
def test_what_the_records_alone_decide_keeps(question: str):
    assert deterministic(question)


@pytest.mark.parametrize("question", (*PASSES, *FEELS, "", "  ", "?!"))
def test_what_depends_on_the_moment_or_on_how_somebody_feels_does_not(question: str):
    assert not deterministic(question)


@pytest.mark.parametrize(
    ("one", "other", "same"),
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
    ],
)
def test_what_the_ways_of_writing_one_question_have_in_common(one: str, other: str, same: bool):
    assert (normal(one) == normal(other)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
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
    assert may_be_same(one, other) is same and may_be_same(other, one) is same
