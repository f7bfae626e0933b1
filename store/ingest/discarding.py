"""Discardable matter [003 §1.3]: what no session needs tomorrow. It has a place of its own for a day, for a person who
looks for it, and no way to a search or a prompt.

An answer is never small talk, however short: "sí", "ok" and "dale" decide things.
"""

import re

from store.clock import DAY_MS, days_before, from_ms, to_ms
from store.database import Database, Verbatim, Write

KEPT_DAYS = 1
WHY = {"talk": "a greeting, thanks or the like", "tool": "what a tool wrote"}
LONGEST = 2_000  # characters that are kept of one
TALK = 90  # characters: nothing longer is small talk

_EMOJI = r"\U0001F300-\U0001FAFF☀-➿️‍"
_SMALL = (
    r"(?:hola+|holi|buenas|buen[oa]s? (?:días|dias|tardes|noches)|buen día|buen dia|qué tal|que tal"
    r"|cómo (?:estás|está|va|andás|andas|vas)|como (?:estas|va|andas)|todo (?:bien|tranqui)|qué hay|saludos"
    r"|(?:muchas |mil |muchísimas )?gracias(?: (?:por (?:todo|la ayuda|tu ayuda)|de nuevo|igual|totales))?"
    r"|te agradezco(?: mucho)?"
    r"|de nada|no hay de qué|con gusto|un placer|a vos|a ti|igualmente|chau|chao|adiós|adios|hasta (?:luego"
    r"|mañana|pronto|la próxima)"
    r"|nos vemos|buen fin de semana|feliz (?:día|finde)|que (?:descanses|te vaya bien)|ja(?:ja)+|je(?:je)+"
    r"|hi+|hello+|hey+|hiya|yo|good (?:morning|afternoon|evening|night)|morning"
    r"|how are you(?: doing)?(?: today)?|how'?s it going"
    r"|what'?s up|sup|nice to meet you|(?:many )?thanks?(?: (?:a (?:lot|ton|million)|so much|again|very much"
    r"|for (?:everything|the help|your help)))?"
    r"|thank you(?: (?:so|very) much| again| for (?:everything|the help|your help))?|thx|ty|cheers"
    r"|much appreciated|appreciate it"
    r"|you(?:'re| are) (?:very |most )?welcome|no problem|my pleasure|anytime|happy to help|glad (?:i could|to) help"
    r"|(?:good)?bye+|see you(?: (?:later|tomorrow|soon))?|see ya|have a (?:great|good|nice) (?:day|one|weekend"
    r"|evening)|take care"
    r"|ha(?:ha)+|lol|lmao|(?:en qué|cómo) (?:te )?(?:puedo ayudarte|puedo ayudar|ayudo)(?: hoy)?"
    r"|(?:how|what) can i (?:help|do for) (?:you)?(?: with)?(?: today)?)"
)
_WHOLE = re.compile(
    rf"[\s{_EMOJI}]*(?:{_SMALL}(?:[\s,]+(?:there|everyone|all|claude|amigo|amiga|equipo|team|che|todos|man|mate))?"
    rf"[\s,.!¡¿?:;)…{_EMOJI}-]*)+",
    re.IGNORECASE,
)
_SIGNS = re.compile(rf"[\s.!¡¿?:;()…{_EMOJI}-]+")


def small_talk(text: str) -> bool:
    """Whether a turn is nothing but a greeting, thanks, a farewell or laughter, in Spanish or English."""
    plain = text.strip()
    if len(plain) > TALK:
        return False
    bare = plain.lstrip("¡¿ ")
    return bool(_WHOLE.fullmatch(bare) or _SIGNS.fullmatch(bare)) if bare else True


def keep(write: Write, session: str, role: str, kind: str, text: str, at: str) -> None:
    """Put what is discardable where it may be looked at for a day after it was said; older is gone at once."""
    if at < days_before(write.at, KEPT_DAYS):
        return
    write.insert("discarded", session=session, role=role, kind=Verbatim(kind), text=text[:LONGEST], at=Verbatim(at))


def kept(database: Database, now: str, limit: int = -1) -> "list[dict[str, str]]":
    """What is there, newest first: session, role, kind, `why` it was put there, text, when it was said (`at`) and when
    it will be gone (`until`)."""
    rows = database.rows(
        "SELECT session, role, kind, text, at FROM discarded WHERE at >= ? ORDER BY at DESC, id DESC LIMIT ?",
        (days_before(now, KEPT_DAYS), limit),
    )
    return [
        {
            "session": session,
            "role": role,
            "kind": kind,
            "why": WHY.get(kind, kind),
            "text": text,
            "at": at,
            "until": from_ms(to_ms(at) + KEPT_DAYS * DAY_MS),
        }
        for session, role, kind, text, at in rows
    ]


def expire(database: Database, now: str) -> int:
    """Drop what its day is over; how many went."""
    cut = Verbatim(days_before(now, KEPT_DAYS))
    if not database.value("SELECT 1 FROM discarded WHERE at < ? LIMIT 1", (cut,)):
        return 0
    with database.write("agent", "retention") as write:
        write.execute("DELETE FROM discarded WHERE at < ?", (cut,))
        gone: int = database.connection.changes()
        return gone
