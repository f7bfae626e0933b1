"""Detect that somebody changes the topic: rules on what they say, its similarity to what was said before, and its
domain.

"mismo tema, pero…" and "quick question about the same…" do not change it.
"""

import re

from store.text import vocabulary

ALIKE = 0.4  # calibrated similarity to the text before, below which the topic is another
BRIEF = 4  # words: a shorter text ("sí, la segunda") has no meaningful similarity, and answers what was said
READ = 2_000  # characters that are searched for a phrase that changes the topic
TOLD = 2  # different words of a domain that assign a text to it

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*+`|\"[^\"\n]*+\"|“[^“”\n]*+”|«[^«»\n]*+»|^[^\S\n]*+>[^\n]*+", re.DOTALL | re.MULTILINE
)
_SENTENCES = re.compile(r"(?<=[.!?…;:])\s+|\n+")
_OPENING = (
    r"^\W*(?:(?:ok(?:ay)?|bueno|vale|dale|listo|perfecto|genial|gracias|bien|ah|eh|oye|che|mira|hola|y|pero"
    r"|ahora|así que"
    r"|por favor|well|so|alright|all right|right|great|thanks|thank you|cool|hey|hi|and|but|now|oh|then|anyway"
    r"|please|nada|(?:no|sí|si|yes)(?=\s*,))"
    r"\b[\s,.!:;…—–-]*)*"
)
_IT = (
    r"(?:es[oea]|est[oea]|aquello|lo mismo|el mismo|la misma|lo de (?:antes|recién)|lo anterior|th(?:at|is"
    r"|e same|e above)"
    r"|it|the previous|what (?:you|we) (?:just )?said)"
)
_ANOTHER = re.compile(
    _OPENING + r"(?:"
    r"(?:una |la )?otra (?:cosa|pregunta|consulta|cuestión)|otro (?:tema|asunto)|(?:el )?siguiente (?:tema|asunto)"
    r"|(?:te |les |os )?(?:cambi(?:ando|emos|o|amos|á|a)|(?:vamos a|quiero|quer(?:ía|ia|emos)|podemos"
    r"|podr(?:ía|ia)(?:mos)?|es hora de|hay que|toca|me gustaría) cambiar) (?:un poco )?(?:de"
    r"|el) (?:tema|asunto)"
    r"|(?:hablemos|hablando|pasemos|pasando|vamos|pasamos|pasa) (?:de|a|con) otr[oa]s? (?:cosas?|tema|asunto)"
    r"|(?:te |les |os )?quer(?:ía|ia) (?:preguntar|consultar)(?:te|les|os)? (?:sobre|por|acerca de|otra)"
    r"|dej(?:ando|emos|á|a) (?:(?:a un lado|de lado) )?(?:eso|esto|ese tema|este tema|aquello)\b"
    r"|(?:olvid(?:á|a|ate de|émonos de|emos)|olvídate de) (?:eso|esto|lo anterior)\b"
    r"|por cierto\b|a propósito[,:]|aparte de (?:eso|esto)\b|nada que ver\b|tema (?:nuevo|aparte)"
    r"|cambio y fuera de tema"
    r"|(?:let'?s |can we |could we |we should |(?:i(?:'d like| want)|(?:it'?s )?time) to )?"
    r"(?:chang(?:e|ing)|switch(?:ing)?) (?:the )?"
    r"(?:subjects?|topics?|gears|tack)"
    r"|change of (?:subject|topic)|(?:a )?(?:new|another|different|separate|next) (?:topic|subject|question"
    r"|matter|thing)\b"
    r"|one (?:other|more|another) thing|on (?:an(?:other)?|a (?:different|separate"
    r"|completely different)) (?:note|topic|subject)"
    r"|on an unrelated (?:note|matter)|unrelated(?: question|ly)?\b|by the way\b|btw\b|something else\s*[:,.]"
    r"|(?:let'?s )?(?:mov(?:e|ing)) on\b(?! with (?:this|that|it))|let'?s (?:talk|chat) about something else"
    r"|(?:put(?:ting)?|set(?:ting)?|leav(?:e|ing)) (?:that|this|it|all that) aside|forget (?:about )?(?:that"
    r"|this|it)\b"
    r"|i wanted to ask (?:you )?about|(?:completely|totally) (?:unrelated|different)|separately\b|switching over to"
    r")",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"\b(?:"
    r"(?:mismo|misma) (?:tema|asunto|cosa|línea|hilo|pregunta|archivo)|lo mismo\b|(?:siguiendo|sigamos|seguimos"
    r"|continuando"
    r"|continuemos|sigo) con|en (?:la misma línea|relación (?:a|con) (?:eso|esto|lo))|volviendo (?:a|al) (?:eso"
    r"|esto|tema|lo)"
    r"|(?:no|sin) (?:quiero |vamos a |hay que )?cambi(?:es|emos|ar|ando|o|amos) de (?:tema|asunto)"
    r"|(?:sobre|acerca de|respecto (?:a|de)|con|relacionad[oa] con) " + _IT + r"(?!\s*(?:no|nada))\b"
    r"|same (?:topic|subject|thing|line|thread|question|file|issue)|about " + _IT + r"\b|related to " + _IT + r"\b"
    r"|speaking of (?:that|which|this|it)|back to (?:that|this|it|what)|following up|follow[- ]up"
    r"|while we(?:'re| are) (?:at|on) it"
    r"|(?:on|along) (?:the same|that) (?:note|lines?|topic)|still (?:on|about)|(?:do not|don'?t|not|without|never) "
    r"(?:want to )?(?:chang|switch)(?:e|ing) (?:the )?(?:subject|topic)s?"
    r")",
    re.IGNORECASE,
)
CLAUSE = 60  # characters before such words in which they may be negated
_ENOUGH = re.compile(
    rf"\b(?:{vocabulary.alternatives(vocabulary.words('negations', 'core'))}|don'?t|stop|basta|enough)\b.*"
    r"\b(?:quiero|hablar|hablemos|hables|sigas|sigamos|m[áa]s|want|talk\w*|thinking|more)\b",
    re.IGNORECASE,
)
_OF_MINE = re.compile(r"\s+\w+ (?:of|from|for|to) my\b|\s+\w+ (?:de|con|para) mis?\b", re.IGNORECASE)
_DOMAINS = {
    "code": re.compile(
        r"\b(?:c[óo]digo|funci[óo]n(?:es)?|clase|m[ée]todo|tests?|prueba unitaria|bugs?|error(?:es)?"
        r"|excepci[óo]n|traceback"
        r"|commits?|ramas?|branch(?:es)?|merge|deploy(?:ment)?|despliegue|compila\w*|refactor\w*|endpoints?|api"
        r"|sql|query"
        r"|consulta sql|base de datos|database|servidor|server|import\w*|script|regex|docker|kubernetes|python|rust"
        r"|typescript|javascript|code|functions?|class|exceptions?|stack trace|compil\w+|schema|migraci[óo]n"
        r"|migration"
        r"|falla(?:n|ndo)?|fails?|failing|parser|variables?)\b",
        re.IGNORECASE,
    ),
    "planning": re.compile(
        r"\b(?:reuni[óo]n(?:es)?|agenda|calendario|plazos?|entregas?|hitos?|presupuesto|sprints?|roadmap"
        r"|planific\w+|equipo"
        r"|clientes?|contrat\w+|meetings?|calendar|deadlines?|milestones?|budget|plan(?:ning)?|schedule|quarter"
        r"|trimestre"
        r"|team|clients?|hir(?:e|ing)|stakeholders?|demo|jueves|viernes|lunes|thursday|friday|monday)\b",
        re.IGNORECASE,
    ),
    "personal": re.compile(
        r"\b(?:familia|hij[oa]s?|madre|padre|mam[áa]|pap[áa]|herman[oa]s?|pareja|novi[oa]|espos[oa]"
        r"|cumplea[ñn]os|regal\w+"
        r"|vacaciones|viaj\w+|cenas?|recetas?|cocin\w+|m[ée]dic[oa]|doctor|al[ée]rgic\w+|gimnasio|perr[oa]"
        r"|gat[oa]|pel[íi]cula"
        r"|family|sons?|daughters?|mother|father|mom|dad|brothers?|sisters?|wife|husband|partner|birthday"
        r"|gifts?|presents?"
        r"|holidays?|vacations?|trips?|dinner|recipes?|cook\w*|doctor|allerg\w+|gym|dogs?|cats?|movies?)\b",
        re.IGNORECASE,
    ),
}


def shift(text: str, before: str = "", continuity: float | None = None) -> str:
    """Return why a text changes the topic from the text `before`: `phrase`, `meaning` or `domain`; empty where it does
    not. `continuity` is the calibrated similarity of the two, None while it is unknown."""
    if announces_change(text):
        return "phrase"
    plain = _QUOTED.sub(" ", text)
    if any(_goes_on(part) is not None for part in _SENTENCES.split(plain)):
        return ""
    if continuity is not None:
        return "meaning" if continuity < ALIKE and len(plain.split()) >= BRIEF else ""
    now, then = domain(plain), domain(before)
    return "domain" if now and then and now != then else ""


def announces_change(text: str) -> bool:
    """Return whether the first READ characters say that the topic changes: longer texts are pasted."""
    parts = _SENTENCES.split(_QUOTED.sub(" ", text[:READ]))
    for at, part in enumerate(parts):
        if _ANOTHER.match(part) and _goes_on(part) is None:
            after = _goes_on(parts[at + 1]) if part.endswith(":") and at + 1 < len(parts) else None
            if after is None or after > 0:  # "otra cosa: en la misma línea …" does not change it
                return True
    return False


def _goes_on(sentence: str) -> int | None:
    """Return where a sentence says that it is about the same; None if it does not, or negates it."""
    for match in _SAME.finditer(sentence):
        clause = sentence[max(0, match.start() - CLAUSE) : match.start()].rpartition(",")[2]
        if not _ENOUGH.search(clause) and not _OF_MINE.match(sentence, match.end()):
            return match.start()
    return None


def shifts(text: str, before: str = "", continuity: float | None = None) -> bool:
    """Return whether a text changes the topic; see `shift`."""
    return bool(shift(text, before, continuity))


def domain(text: str) -> str:
    """Return code, planning or personal: the domain with the most different words in the text, TOLD at least."""
    found = {name: len({word.casefold() for word in words.findall(text)}) for name, words in _DOMAINS.items()}
    best = max(found, key=lambda name: found[name])
    alone = list(found.values()).count(found[best]) == 1
    return best if found[best] >= TOLD and alone else ""
