"""Two conversations of the demo: one that ended, and one interrupted an hour ago; the contexts that the agent received;
and when the conversations were processed for facts."""

from tui.demo.records import DemoSent, Read, Said

IMPORT, TODAY = "faster-import", "importer"

TALK = (
    Said(
        "+.165", IMPORT, "user", "¿Por qué busca la importación cada tipo de IVA mil veces? ¿Puedes hacerla más rápida?"
    ),
    Said(
        "+.17",
        IMPORT,
        "assistant",
        "Measured with the clients of Estudio Faro: 4.1 s, 3.6 of them in `rates.lookup`. A cache would do.",
    ),
    Said("+.175", IMPORT, "user", "Vale. Si cambia algo que ya decidimos, pregúntame antes."),
    Said(
        "+.26",
        IMPORT,
        "assistant",
        "The rates are in Redis for ten minutes now, see D#31: 0.5 s. I also wrote down two ideas, D#32 and D#33.",
    ),
    Said("+.29", IMPORT, "user", "Te pedí que preguntaras. No toques nada más hasta que lo miremos juntos."),
    Said(
        ".08",
        TODAY,
        "user",
        "Un estudio manda su CSV con punto y coma y sin la columna `name`. ¿Qué hace el importador?",
    ),
    Said(
        ".078",
        TODAY,
        "assistant",
        "It stops at the header and keeps nothing, as D#34 wants. It names the line, but not the missing column.",
    ),
    Said(
        ".072",
        TODAY,
        "user",
        "Que diga las dos cosas. Y prueba con Cuarto Menguante, que trae los NIF con guiones. "
        "Recuerda que los errores del importador se dicen en los dos idiomas.",
    ),
    Said(
        ".066",
        TODAY,
        "assistant",
        "Done: “line 1: no column `name`”. Three of their 312 rows had dashes; they are taken out before the check.",
    ),
    Said(".054", TODAY, "user", "Nunca usamos clientes de verdad en la demo. ¿Queda algo para el jueves?"),
    Said(
        ".05",
        TODAY,
        "assistant",
        "The page for the studios: how the CSV must look, in both languages. I would start from README.md.",
    ),
)

# between the user's message and the answer
SENT = (
    DemoSent("+.166", IMPORT, cites=("La caché cabe en 4 KB: un diccionario con límite de mil",)),
    DemoSent("+.176", IMPORT),
    DemoSent(".079", TODAY, cites=("Cuarto Menguante importó 312 clientes a la primera",)),
)

READ = (Read("+.3", IMPORT), Read(".045", TODAY))
