"""Detect small talk: a greeting, thanks, a farewell or laughter, in Spanish or English.

An answer is never small talk, however short: "sí", "ok" and "dale" decide things.
"""

import re

TALK = 90  # characters: a longer text is not small talk

_EMOJI = r"\U0001F300-\U0001FAFF☀-➿️‍"
_SMALL = (
    r"(?:hola+|holi|buenas|buen[oa]s? (?:días|dias|tardes|noches)|buen día|buen dia|qué tal|que tal"
    r"|cómo (?:estás|está|va|andás|andas|vas)|como (?:estas|va|andas)|todo (?:bien|tranqui)|qué hay|saludos"
    r"|(?:muchas |mil |muchísimas )?gracias(?: (?:por (?:todo|la ayuda|tu ayuda)|de nuevo|igual|totales))?"
    r"|te agradezco(?: mucho)?"
    r"|de nada|no hay de qué|con gusto|un placer|a vos|a ti|igualmente|chau|chao|adiós|adios|hasta (?:luego"
    r"|mañana|pronto|la próxima)"
    r"|nos vemos|buen fin de semana|feliz (?:día|finde)|que (?:descanses|te vaya bien)|(?:ja){2,}+|(?:je){2,}+"
    r"|hi+|hello+|hey+|hiya|yo|good (?:morning|afternoon|evening|night)|morning"
    r"|how are you(?: doing)?(?: today)?|how'?s it going"
    r"|what'?s up|sup|nice to meet you|(?:many )?thanks?(?: (?:a (?:lot|ton|million)|so much|again|very much"
    r"|for (?:everything|the help|your help)))?"
    r"|thank you(?: (?:so|very) much| again| for (?:everything|the help|your help))?|thx|ty|cheers"
    r"|much appreciated|appreciate it"
    r"|you(?:'re| are) (?:very |most )?welcome|no problem|my pleasure|anytime|happy to help|glad (?:i could|to) help"
    r"|(?:good)?bye+|see you(?: (?:later|tomorrow|soon))?|see ya|have a (?:great|good|nice) (?:day|one|weekend"
    r"|evening)|take care"
    r"|(?:ha){2,}+|lol|lmao|(?:en qué|cómo) (?:te )?(?:puedo ayudarte|puedo ayudar|ayudo)(?: hoy)?"
    r"|(?:how|what) can i (?:help|do for) (?:you)?(?: with)?(?: today)?)"
)
_WHOLE = re.compile(
    rf"[\s{_EMOJI}]*(?:{_SMALL}(?!\w)(?:[\s,]+(?:there|everyone|all|claude|amigo|amiga|equipo|team|che|todos|man|mate))?"
    rf"[\s,.!¡¿?:;)…{_EMOJI}-]*)+",
    re.IGNORECASE,
)
_SIGNS = re.compile(rf"[\s.!¡¿?:;()…{_EMOJI}-]+")


def small_talk(text: str) -> bool:
    """Return whether a turn is only a greeting, thanks, a farewell or laughter, in Spanish or English."""
    plain = text.strip()
    if len(plain) > TALK:
        return False
    bare = plain.lstrip("¡¿ ")
    return bool(_WHOLE.fullmatch(bare) or _SIGNS.fullmatch(bare)) if bare else True
